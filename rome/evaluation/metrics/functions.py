"""What a metric is to the evaluation; the trivial baselines that a table must beat, and the user's own ``module:function``."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rome.exceptions import InputError

References = Sequence[Sequence[str]]
"""For each hypothesis its references, at least one: ``[segment][reference]``."""

Scores = NDArray[np.float64]
"""(n,) one number a segment, higher is better."""


class Metric(Protocol):
    """Any metric that can be judged; higher is better.

    Attributes
    ----------
    name
        How tables call it.
    signature
        Every choice that changes a number, ``key:value|key:value``.
    """

    @property
    def name(self) -> str:
        """How tables call it."""

    @property
    def signature(self) -> str:
        """Every choice that changes a number."""

    def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
        """(n,) float64, one finite score a hypothesis; hypotheses may be empty texts."""


def checked_scores(found: Any, count: int, name: str) -> Scores:
    """What a metric returned as (n,) float64. Raises InputError unless that is one finite number for each of so many hypotheses."""
    try:
        scores = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} returned {type(found).__name__} ({error}): return one number a hypothesis") from error
    if scores.shape != (count,):
        raise InputError(f"{name} returned shape {scores.shape} for {count} hypotheses: return one number each")
    wrong = np.flatnonzero(~np.isfinite(scores))
    if wrong.size:
        raise InputError(f"{name} returned {scores[wrong[0]]} for segment {wrong[0]}: return finite numbers")
    return scores


def imported(specification: str) -> Callable[..., Any]:
    """The function of a module that Python finds; the working directory is searched too, last.

    Raises InputError when there is no such module or attribute, or when it is no function.
    """
    module, _, attribute = specification.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f"{specification} cannot be imported ({error}): name a module that Python finds and a function in it"
        ) from error
    if not callable(found):
        raise InputError(f"{specification} is no function: name one")
    function: Callable[..., Any] = found
    return function


class Length:
    """Minus the number of characters of the hypothesis: long outputs are often judged worse."""

    name, signature = "length", "length:characters.negated"

    def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
        """(n,) whole numbers, at most 0."""
        return -np.array([len(hypothesis) for hypothesis in hypotheses], dtype=np.float64)


class Random:
    """A number in [0, 1) that depends on nothing but the seed and the texts: what chance reaches."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    @property
    def signature(self) -> str:
        """The seed."""
        return f"random:uniform|seed:{self.seed}"

    def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
        """(n,) in [0, 1)."""
        return np.array([self._draw(r, h) for r, h in zip(references, hypotheses, strict=True)], dtype=np.float64)

    def _draw(self, references: Sequence[str], hypothesis: str) -> float:
        text = "\0".join([str(self.seed), hypothesis, *references])
        return int.from_bytes(hashlib.blake2b(text.encode("utf-8"), digest_size=6).digest(), "big") / 2**48


class UserMetric:
    """A function that takes references (``[segment][reference]``) and hypotheses and returns one number a segment, higher is better.

    Its results are not stored, because nobody can say when the function changes.
    """

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name, self.function = name, function

    @property
    def signature(self) -> str:
        """Where the function is from, and a digest of its module's source where there is one."""
        try:
            source = inspect.getsource(sys.modules[self.function.__module__])
        except (OSError, TypeError, KeyError, AttributeError):
            return f"user:{self.name}|source:unknown"
        return f"user:{self.name}|source:{hashlib.blake2b(source.encode('utf-8'), digest_size=4).hexdigest()}"

    def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
        """What the function returns, checked: one finite number a hypothesis."""
        return checked_scores(self.function([list(row) for row in references], list(hypotheses)), len(hypotheses), self.name)

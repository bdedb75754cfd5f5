"""Metrics as the evaluation sees them: the protocol, metrics of pairs of texts, baselines, and functions of the user."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rome.exceptions import InputError
from rome.progress import progress_bar
from rome.text_table import shorten

References = Sequence[Sequence[str]]
"""For each hypothesis its references, at least one: ``[segment][reference]``."""

Scores = NDArray[np.float64]
"""(n,) one number per segment, higher is better."""

TextPair = tuple[str, str]
"""Reference and hypothesis."""

BLOCK = 256
"""Pairs that are computed at a time."""


class Metric(Protocol):
    """Any metric that can be judged; higher is better.

    Attributes
    ----------
    name
        The name in tables.
    signature
        Every choice that changes a number, ``key:value|key:value``.
    """

    @property
    def name(self) -> str:
        """Return the name in tables."""

    @property
    def signature(self) -> str:
        """Return every choice that changes a number."""

    def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
        """Return (n,) float64, one finite score per hypothesis; hypotheses may be empty texts."""


def checked_scores(returned: Any, count: int, name: str) -> Scores:
    """Return the scores of a metric as (n,) float64.

    Raises InputError unless they are one finite number per hypothesis.
    """
    try:
        scores = np.asarray(returned, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} returned {type(returned).__name__} ({error}): return one number per hypothesis") from error
    if scores.shape != (count,):
        raise InputError(f"{name} returned shape {scores.shape} for {count} hypotheses: return one number each")
    wrong = np.flatnonzero(~np.isfinite(scores))
    if wrong.size:
        raise InputError(f"{name} returned {scores[wrong[0]]} for segment {wrong[0]}: return finite numbers")
    return scores


class PairValues:
    """Compute numbers of pairs of texts, each distinct pair once.

    Parameters
    ----------
    label
        Name of the metric in messages and beside the progress bar.
    function
        (pairs) -> (n, width), or (n,) if width is 1.
    progress
        True, False, or None for a bar if stderr is a terminal.
    """

    def __init__(
        self, label: str, function: Callable[[Sequence[TextPair]], ArrayLike], *, width: int = 1, progress: bool | None = None
    ) -> None:
        self.label, self.function, self.width, self.progress = label, function, width, progress
        self._known: dict[TextPair, NDArray[np.float64]] = {}

    def of(self, pairs: Sequence[TextPair]) -> NDArray[np.float64]:
        """Return (n, width) float64.

        Raises InputError, naming the pair, if the function returns another number of rows or a number that is not finite.
        """
        wanted = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        with progress_bar(self.progress, len(wanted), unit="pair", desc=self.label) as bar:
            for start in range(0, len(wanted), BLOCK):
                block = wanted[start : start + BLOCK]
                self._known |= zip(block, self._computed(block), strict=True)
                bar.update(len(block))
        return np.array([self._known[pair] for pair in pairs], dtype=np.float64).reshape(-1, self.width)

    def _computed(self, block: Sequence[TextPair]) -> NDArray[np.float64]:
        """Return the checked rows of one block."""
        rows = np.asarray(self.function(block), dtype=np.float64)
        if rows.size != len(block) * self.width:
            raise InputError(f"{self.label} returned shape {rows.shape} for {len(block)} pairs: return one score per pair")
        rows = rows.reshape(len(block), self.width)
        for row, pair in zip(rows, block, strict=True):
            if not np.isfinite(row).all():
                texts = " against ".join(repr(shorten(text, 60)) for text in reversed(pair))
                raise InputError(f"{self.label} returned {row.tolist()} for {texts}: return a finite number for every pair")
        return rows


def candidates(references: References, hypotheses: Sequence[str]) -> tuple[list[TextPair], NDArray[np.int64]]:
    """Return every pair of a hypothesis and one of its references, and (n,) the first pair of each segment.

    Raises InputError for unequal lengths, a bare string among the references, or a segment without reference.
    """
    if len(references) != len(hypotheses):
        raise InputError(
            f"{len(references)} lists of references and {len(hypotheses)} hypotheses: give one list per hypothesis"
        )
    for number, row in enumerate(references):
        if isinstance(row, str) or not row:
            raise InputError(f"references[{number}] is {'a bare text' if row else 'empty'}: give a list of at least one text")
    pairs = [(text, hypothesis) for row, hypothesis in zip(references, hypotheses, strict=True) for text in row]
    ends = np.cumsum([0, *map(len, references)], dtype=np.int64)
    return pairs, ends[:-1]


class BestReferenceMetric:
    """Score pairs of one reference and one hypothesis; with several references the best one counts.

    Parameters
    ----------
    signature
        Every choice that changes a number of `function`.
    function
        (pairs) -> (n,), higher is better.
    """

    def __init__(
        self,
        name: str,
        signature: str,
        function: Callable[[Sequence[TextPair]], ArrayLike],
        *,
        progress: bool | None = None,
    ) -> None:
        self.name, self.signature = name, f"{signature}|references:best"
        self.values = PairValues(name, function, progress=progress)

    def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
        """Return (n,) float64, the score against the best reference of each hypothesis."""
        pairs, starts = candidates(references, hypotheses)
        return np.maximum.reduceat(self.values.of(pairs)[:, 0], starts) if pairs else np.zeros(0)


def imported(specification: str) -> Callable[..., Any]:
    """Return the function that ``module:function`` names; the working directory is searched last.

    Raises InputError if there is no such module or attribute, or if it is not a function.
    """
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        value = resolve_name(specification)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f"{specification} cannot be imported ({error}): name a module that Python finds and a function in it"
        ) from error
    if not callable(value):
        raise InputError(f"{specification} must be a function, got {type(value).__name__}: name a function")
    function: Callable[..., Any] = value
    return function


class Length:
    """Score by minus the number of characters of the hypothesis: long outputs are often judged worse."""

    name, signature = "length", "length:characters.negated"

    def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
        """Return (n,) whole numbers, at most 0."""
        return -np.array([len(hypothesis) for hypothesis in hypotheses], dtype=np.float64)


class Random:
    """Score at random in [0, 1), depending on the seed and the texts only."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self.seed, self.signature = seed, f"random:uniform|seed:{seed}"

    def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
        """Return (n,) in [0, 1)."""
        return np.array([self._draw(r, h) for r, h in zip(references, hypotheses, strict=True)], dtype=np.float64)

    def _draw(self, references: Sequence[str], hypothesis: str) -> float:
        text = "\0".join([str(self.seed), hypothesis, *references])
        return int.from_bytes(hashlib.blake2b(text.encode("utf-8"), digest_size=6).digest(), "big") / 2**48


class UserMetric:
    """Wrap a function of references (``[segment][reference]``) and hypotheses that returns one number per segment, higher is better."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name, self.function = name, function

    @property
    def signature(self) -> str:
        """Return the name of the function, and a digest of the source of its module if there is one."""
        try:
            source = inspect.getsource(inspect.getmodule(self.function) or self.function)
        except (OSError, TypeError):
            return f"user:{self.name}|source:unknown"
        return f"user:{self.name}|source:{hashlib.blake2b(source.encode('utf-8'), digest_size=4).hexdigest()}"

    def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
        """Return the checked scores of the function, one finite number per hypothesis."""
        return checked_scores(self.function([list(row) for row in references], list(hypotheses)), len(hypotheses), self.name)

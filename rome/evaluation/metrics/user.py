"""The user's own metric: a function named ``module:function``, called as it is."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Sequence

import numpy as np

from rome.evaluation.metrics.protocol import References, Scores
from rome.evaluation.user_code import imported
from rome.exceptions import InputError

__all__ = ["UserMetric"]


class UserMetric:
    """``module:function``; the function takes references (``[segment][reference]``) and hypotheses and returns one number a segment,
    higher is better. The working directory is searched too.

    Its results are not stored, because nobody can say when the function changes. Raises InputError when it cannot be imported.
    """

    def __init__(self, specification: str) -> None:
        self.name = specification
        self.function = imported(specification)

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
        found = self.function([list(row) for row in references], list(hypotheses))
        try:
            scores = np.asarray(found, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{self.name} returned {type(found).__name__} ({error}): return one number a hypothesis"
            ) from error
        if scores.shape != (len(hypotheses),):
            raise InputError(
                f"{self.name} returned shape {scores.shape} for {len(hypotheses)} hypotheses: return one number each"
            )
        if not np.isfinite(scores).all():
            raise InputError(
                f"{self.name} returned {scores[~np.isfinite(scores)][0]} for segment {np.flatnonzero(~np.isfinite(scores))[0]}: "
                "return finite numbers"
            )
        return scores

"""A pair laid side by side: the alignment, the edits with their judgements, and the errors of the surface."""

from __future__ import annotations

from dataclasses import dataclass

from ..values import Analysis
from .alignment import WordMatch
from .edits import Edit
from .severity import Judgement
from .values import ErrorSpan

__all__ = ["Compared"]


@dataclass(frozen=True, slots=True)
class Compared:
    """What every estimator of errors starts from; made by `compare` in estimator.py.

    matches : in the order of the reference. edits : each with what the rules say of it. surface : what characters alone show.
    """

    reference: Analysis
    hypothesis: Analysis
    matches: tuple[WordMatch, ...]
    edits: tuple[tuple[Edit, Judgement], ...]
    surface: tuple[ErrorSpan, ...]

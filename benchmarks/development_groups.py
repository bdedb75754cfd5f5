"""Measure on annotated groups whether scores are in order, and whether errors are listed at the right place with the right severity and type.

Each group yields its acceptable texts and every text with exactly one error. The reference's own text scores 1, so it is only the base of the
texts made from it. A listed error is an item of ``evidence.errors.errors``. The functions take and return plain values and need no model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rome.data.readers.groups import SEVERITIES, AnnotatedGroup, SingleError
from rome.features.errors.evidence import ErrorSpan, TextSpan

HARDEST_FIRST = SEVERITIES[::-1]
BINS = 5
Scores = NDArray[np.float64]
Figures = Iterator[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class GroupText:
    """Hold one text of a group, acceptable or with one error.

    Attributes
    ----------
    group
        Index of the group.
    number
        Index of the acceptable text, in the group, that it is or that was changed; 0 is the reference's own text.
    error
        None for an acceptable text.
    """

    group: int
    number: int
    reference: str
    hypothesis: str
    error: SingleError | None = None

    @property
    def severity(self) -> str:
        """Return the severity of the error; ``acceptable`` without one, ``reference`` for the reference's own text."""
        return self.error.severity if self.error else "acceptable" if self.number else "reference"

    @property
    def wrong_characters(self) -> set[int]:
        """Return the places of the error in the hypothesis; none for an acceptable text and for a gap."""
        if self.error is None or not self.error.wrong.strip():
            return set()
        return set(range(self.error.start, self.error.start + len(self.error.wrong)))

    @property
    def base(self) -> tuple[int, int]:
        """Return the key that an acceptable text shares with the texts made from it."""
        return self.group, self.number


def texts_of(groups: Iterable[AnnotatedGroup]) -> list[GroupText]:
    """Return every acceptable text of every group, each followed by the texts with one of its errors."""
    texts = []
    for number, group in enumerate(groups):
        for place, annotated in enumerate(group.texts):
            if place and annotated.text == group.reference:
                continue
            texts.append(GroupText(number, place, group.reference, annotated.text))
            texts += [
                GroupText(number, place, group.reference, annotated.with_errors(error), error) for error in annotated.errors
            ]
    return texts


def order_figures(texts: Sequence[GroupText], scores: Scores) -> Figures:
    """Yield shares of pairs in order in percent (ties are wrong), and mean scores, by severity."""
    for severity in HARDEST_FIRST:
        yield f"acceptable above {severity}", _above(texts, scores, lambda text, kind=severity: text.severity == kind)
    yield (
        "acceptable above near critical",
        _above(texts, scores, lambda text: text.severity == "critical" and text.number == 0),
    )
    base = {text.base: score for text, score in zip(texts, scores, strict=True) if text.error is None}
    for severity in HARDEST_FIRST:
        won = [base[text.base] > score for text, score in zip(texts, scores, strict=True) if text.severity == severity]
        yield f"own base above {severity}", _percent(won)
    for severity in ("acceptable", *SEVERITIES):
        yield f"mean score, {severity}", _mean([s for text, s in zip(texts, scores, strict=True) if text.severity == severity])


def _above(texts: Sequence[GroupText], scores: Scores, wrong: Callable[[GroupText], bool]) -> float:
    """Return how often an acceptable text scores strictly above a wrong one of its group, in percent of all such pairs."""
    groups = np.array([text.group for text in texts])
    sides = np.array([text.severity == "acceptable" for text in texts]), np.array([wrong(text) for text in texts])
    won: list[bool] = []
    for group in np.unique(groups):
        acceptable, worse = (scores[side & (groups == group)] for side in sides)
        won += (acceptable[:, None] > worse[None, :]).ravel().tolist()
    return _percent(won)


def explanation_figures(texts: Sequence[GroupText], listed: Sequence[Sequence[ErrorSpan]]) -> Figures:
    """Yield how often the errors listed for each text are true, at the right place, of the right severity and type.

    Parameters
    ----------
    listed
        The errors of each text; those of severity ``none`` do not count.
    """
    errors = [[one for one in some if one.severity != "none"] for some in listed]
    rows = list(zip(texts, errors, strict=True))
    acceptable = [some for text, some in rows if text.severity == "acceptable"]
    yield "errors listed in an acceptable text", _mean([float(len(some)) for some in acceptable])
    yield (
        "acceptable texts with a major or critical error",
        _percent([any(one.severity in ("major", "critical") for one in some) for some in acceptable]),
    )
    matches = [(text, [one for one in some if is_at(text, one)]) for text, some in rows if text.error is not None]
    heaviest = [(text, max(some, key=lambda one: one.weight)) for text, some in matches if some]
    for severity in HARDEST_FIRST:
        yield f"place found, {severity}", _percent([bool(some) for text, some in matches if text.severity == severity])
    for severity in HARDEST_FIRST:
        overlaps = [_agreement(text, some) for text, some in rows if text.severity == severity and text.wrong_characters]
        yield f"F1 of the wrong characters, {severity}", 100.0 * _mean(overlaps)
    for severity in HARDEST_FIRST:
        right = [one.severity == severity for text, one in heaviest if text.severity == severity]
        yield f"severity right where found, {severity}", _percent(right)
    types = [one.type == text.error.type for text, one in heaviest if text.error is not None]
    yield "type right where found", _percent(types)
    yield from reliability(
        [(one.confidence, is_at(text, one)) for text, some in rows if text.severity != "reference" for one in some]
    )


def reliability(judged: Sequence[tuple[float, bool]]) -> Figures:
    """Yield for equal bins of confidence how many errors they hold and how many of these are true, then the calibration error."""
    confidences = np.array([confidence for confidence, _ in judged])
    true = np.array([right for _, right in judged], dtype=bool)
    bins = np.minimum((confidences * BINS).astype(int), BINS - 1)
    gaps = []
    for number in range(BINS):
        chosen = bins == number
        name = f"confidence {number / BINS:.1f} to {(number + 1) / BINS:.1f}"
        yield f"{name}, errors", float(chosen.sum())
        yield f"{name}, true", _percent(true[chosen].tolist())
        gaps.append(abs(float(true[chosen].sum() - confidences[chosen].sum())))
    yield "expected calibration error", 100.0 * sum(gaps) / len(judged) if judged else np.nan


def _agreement(text: GroupText, listed: Sequence[ErrorSpan]) -> float:
    """Return F1 of the characters in the spans of the hypothesis against the wrong ones; wide spans find the place, but lose here."""
    spans = [one.hypothesis for one in listed if one.hypothesis is not None]
    found = {n for span in spans for n in range(span.start, span.end)}
    return 2.0 * len(found & text.wrong_characters) / (len(found) + len(text.wrong_characters))


def is_at(text: GroupText, listed: ErrorSpan) -> bool:
    """Return whether a listed error is at the place of the text's error; False for an acceptable text.

    Notes
    -----
    A listed error is at the place if it overlaps the wrong characters in the hypothesis, or touches the gap that an omission leaves. If the
    error was made in the reference's own text, overlapping the right characters in the reference counts too. If an omission was made in another
    text, its characters in the reference are unknown: then the listed error's part of the reference must share a content word with it.
    """
    error = text.error
    if error is None:
        return False
    start, end = error.start, error.start + len(error.wrong)
    if _overlaps(listed.hypothesis, text.hypothesis, start, end):
        return True
    if listed.reference is None:
        return False
    if text.number == 0:
        return bool(error.right) and _overlaps(listed.reference, text.reference, error.start, error.end)
    return not error.wrong.strip() and bool(_content(listed.reference.text) & _content(error.right))


def _overlaps(span: TextSpan | None, text: str, start: int, end: int) -> bool:
    """Return whether a span shares a character with a range of the text, white space at its ends aside; an empty range may be touched."""
    if span is None:
        return False
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        return span.start < end and start < span.end
    while start and text[start - 1].isspace():
        start -= 1
    while end < len(text) and text[end].isspace():
        end += 1
    return span.start <= end and start <= span.end


def _content(text: str) -> set[str]:
    """Return the words of more than three letters, and those with digits, in lower case."""
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 3 or any(c.isdigit() for c in word)}


def _percent(right: Sequence[bool]) -> float:
    return 100.0 * _mean([float(one) for one in right])


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else np.nan

"""MQM error annotation of translations (Freitag et al. 2021): what errors cost, and where the marks of the raters lie."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rome.data.readers.lines import same_words
from rome.exceptions import InputError

__all__ = ["FREITAG_2021", "PLAIN", "MqmWeights", "map_span", "mqm_score", "split_marks"]


@dataclass(frozen=True, slots=True)
class MqmWeights:
    """What an error costs, by its severity, and for two categories of Freitag et al. 2021, table 4, more or less than that.

    most : what one rater can take from a segment at most; None for no limit. Severities that are not named cost nothing.
    """

    minor: float = 1.0
    major: float = 5.0
    critical: float = 25.0
    non_translation: float = 25.0
    minor_punctuation: float = 0.1
    most: float | None = None

    def cost(self, severity: str, category: str) -> float:
        """The cost of one error; severity in any case, category such as ``Fluency/Punctuation``."""
        if severity.lower() in ("neutral", "no-error"):
            return 0.0
        if "non-translation" in category.lower():
            return self.non_translation
        if severity.lower() == "minor" and category.lower().startswith("fluency/punctuation"):
            return self.minor_punctuation
        return {"minor": self.minor, "major": self.major, "critical": self.critical}.get(severity.lower(), 0.0)


FREITAG_2021 = MqmWeights()
"""The weights of the published scores: minor 1, major 5, non-translation 25, minor punctuation 0.1, no limit."""

PLAIN = MqmWeights(minor_punctuation=1.0, most=25.0)
"""Minor 1 whatever its category, at most 25 a rater: the weights of RoMe's own error count and of its development figures."""


def mqm_score(errors_by_rater: Mapping[str, Sequence[tuple[str, str]]], weights: MqmWeights = FREITAG_2021) -> float:
    """Minus the cost of the errors, (severity, category) pairs, averaged over the raters; 0 where they found nothing.

    Raises InputError without any rater.
    """
    if not errors_by_rater:
        raise InputError(
            "no rater looked at this segment: give at least one, with an empty list of errors where there are none"
        )
    totals = []
    for errors in errors_by_rater.values():
        total = sum(weights.cost(severity, category) for severity, category in errors)
        totals.append(total if weights.most is None else min(weights.most, total))
    return -sum(totals) / len(totals)


def split_marks(text: str, place: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without its ``<v>`` and ``</v>``, and the characters that they enclosed. Raises InputError where they do not pair."""
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    start, length = -1, 0
    for piece in re.split("(</?v>)", text):
        if piece in ("<v>", "</v>"):
            if (piece == "<v>") == (start >= 0):
                raise InputError(f"{place}: <v> and </v> do not pair: fetch the file again")
            if piece == "</v>":
                spans.append((start, length))
            start = length if piece == "<v>" else -1
            continue
        parts.append(piece)
        length += len(piece)
    if start >= 0:
        raise InputError(f"{place}: <v> and </v> do not pair: fetch the file again")
    return "".join(parts), spans


def map_span(marked: str, hypothesis: str, span: tuple[int, int], place: str) -> tuple[int, int]:
    """The characters of the hypothesis that a span of the marked text covers; the two may differ in white space and in nothing else.

    White space at the ends of the span is left off where the texts differ. Raises InputError for other differences and for a
    span outside the marked text.
    """
    start, end = span
    if not 0 <= start <= end <= len(marked):
        raise InputError(f"{place}: a mark covers characters {start} to {end} of a text of {len(marked)}: pair mark and text")
    if marked == hypothesis:
        return start, end
    if not same_words(marked, hypothesis):
        raise InputError(
            f"{place}: the marked text is not the hypothesis but {marked[:40]!r}: pair the marks with the text that was marked"
        )
    places = [at for at, character in enumerate(hypothesis) if not character.isspace()]
    before, inside = (len("".join(part.split())) for part in (marked[:start], marked[start:end]))
    if not inside:
        at = places[before] if before < len(places) else len(hypothesis)
        return at, at
    return places[before], places[before + inside - 1] + 1

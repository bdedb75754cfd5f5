"""Which mistakes went and which came between two results of the same segments: "12 wrong numbers fewer, 3 lost negations more"."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rome.features.errors.evidence import ErrorSpan
from rome.results import SegmentScore
from rome.results.counterfactual import errors_of, unmatched

DEEDS = {"missing": "lost", "unnecessary": "added", "replacement": "wrong", "order": "misplaced", "surface": "wrong"}
"""What was done to the word that an error is about."""
NAMES = {
    "addition": ("addition", "additions"),
    "agreement": ("agreement mistake", "agreement mistakes"),
    "antonym": ("opposite", "opposites"),
    "article": ("wrong article", "wrong articles"),
    "casing": ("casing mistake", "casing mistakes"),
    "generalisation": ("generalisation", "generalisations"),
    "omission": ("omission", "omissions"),
    "order": ("wrong order", "wrong orders"),
    "punctuation": ("punctuation mistake", "punctuation mistakes"),
    "repetition": ("repetition", "repetitions"),
    "roles": ("exchange of roles", "exchanges of roles"),
    "spacing": ("spacing mistake", "spacing mistakes"),
    "spelling": ("misspelling", "misspellings"),
    "style": ("matter of style", "matters of style"),
    "tense": ("wrong tense", "wrong tenses"),
}
"""Types whose name says already what was done, one and several."""
PLURALS = {"modality": "modalities", "frequency": "frequencies"}


@dataclass(frozen=True, slots=True)
class ErrorChange:
    """One kind of mistake in two results of the same segments.

    Attributes
    ----------
    name, plural
        Such as ``wrong number``, ``wrong numbers``.
    gone, come
        The numbers of the segments with such a mistake before and not after, after and not before; a segment stands there once for each.
    """

    name: str
    plural: str
    gone: tuple[int, ...]
    come: tuple[int, ...]

    @property
    def difference(self) -> int:
        """How many such mistakes there are more afterwards; negative: fewer."""
        return len(self.come) - len(self.gone)

    def to_dict(self) -> dict[str, Any]:
        """Plain values only, ready for JSON."""
        return {"name": self.name, "difference": self.difference, "gone": list(self.gone), "come": list(self.come)}

    def __str__(self) -> str:
        """``12 wrong numbers fewer``."""
        count = abs(self.difference)
        if not count:
            return f"as many {self.plural}, {len(self.come)} of them elsewhere"
        return f"{count} {self.name if count == 1 else self.plural} {'more' if self.difference > 0 else 'fewer'}"


def error_changes(before: Iterable[SegmentScore], after: Iterable[SegmentScore]) -> tuple[ErrorChange, ...]:
    """Return the kinds of mistakes that went or came, the largest change first.

    A mistake is the same in both when kind, type, severity, the place in the reference and the words of the hypothesis are. Segments
    without evidence say nothing.

    Parameters
    ----------
    before, after
        Scores of the same segments, in one order.
    """
    gone: dict[tuple[str, str], list[int]] = defaultdict(list)
    come: dict[tuple[str, str], list[int]] = defaultdict(list)
    for one, other in zip(before, after, strict=True):
        if one.evidence.errors is None or other.evidence.errors is None:
            continue
        for found, alone in (
            (gone, unmatched(errors_of(one), errors_of(other))),
            (come, unmatched(errors_of(other), errors_of(one))),
        ):
            for error in alone:
                found[error_name(error)].append(one.segment)
    names = sorted(gone.keys() | come.keys())
    made = [ErrorChange(*name, tuple(gone.get(name, ())), tuple(come.get(name, ()))) for name in names]
    return tuple(sorted(made, key=lambda change: (-abs(change.difference), -len(change.come) - len(change.gone))))


def error_name(error: ErrorSpan) -> tuple[str, str]:
    """Return the name of a mistake, singular and plural: ``lost negation``, ``lost negations``."""
    if error.type in NAMES:
        return NAMES[error.type]
    noun, deed = error.type.replace("_", " "), DEEDS[error.kind]
    plural = PLURALS.get(noun, noun if noun.endswith("s") else f"{noun}s")
    return f"{deed} {noun}", f"{deed} {plural}"

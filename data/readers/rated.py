"""The values of judged texts: one rated output, what its raters marked, and a whole set of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rome.data.readers.lines import json_objects, number, texts_of
from rome.exceptions import InputError
from rome.storage.rows import shown

SEVERITIES = ("neutral", "minor", "major", "critical")


@dataclass(frozen=True, slots=True)
class ErrorMark:
    """One error that a rater marked.

    Attributes
    ----------
    start, end
        The characters ``hypothesis[start:end]``; both None when the mark is in the source (an omission) or the whole segment is meant.
    severity
        One of SEVERITIES.
    category
        As the rater's guideline names it, such as ``Accuracy/Mistranslation``.
    """

    start: int | None
    end: int | None
    severity: str
    category: str = ""


@dataclass(frozen=True, slots=True)
class RatedSegment:
    """One output with its references and people's judgements.

    Attributes
    ----------
    item
        Outputs that answer the same input share it (unique together with language_pair).
    system
        "" when unknown.
    ratings
        Dimension -> mean rating over the raters, **higher is better**; every segment of a set has the same dimensions.
    marks
        Rater -> the errors that this rater marked (an empty tuple: looked and found none); empty without span annotation.
    published
        Name of a metric -> its score as published with the data.
    place
        ``file:line``, for messages.
    """

    item: str
    references: tuple[str, ...]
    hypothesis: str
    ratings: Mapping[str, float]
    system: str = ""
    language_pair: str = ""
    marks: Mapping[str, tuple[ErrorMark, ...]] = field(default_factory=dict)
    published: Mapping[str, float] = field(default_factory=dict)
    source: str = ""
    place: str = ""

    @property
    def group(self) -> tuple[str, str]:
        """Return what outputs for the same input share: language pair and item."""
        return self.language_pair, self.item


@dataclass(frozen=True, slots=True)
class RatedSet:
    """All rated segments of one corpus, checked when made.

    Raises InputError that names the place for: no segment, a segment without reference or rating, an empty reference, dimensions that differ
    between segments, an output that appears twice, an item with other references or another source elsewhere, a mark outside its text.
    """

    name: str
    segments: tuple[RatedSegment, ...]

    def __post_init__(self) -> None:
        """Check that segments, dimensions and texts fit together."""
        if not self.segments:
            raise InputError(f"{self.name} holds no rated segment: give at least one")
        seen: dict[tuple[str, str, str], str] = {}
        first: dict[tuple[str, str], RatedSegment] = {}
        for segment in self.segments:
            _check(segment, self.dimensions)
            check_shared_texts(first.setdefault(segment.group, segment), segment)
            key = (*segment.group, segment.system)
            if key in seen:
                raise InputError(
                    f"{segment.place}: {segment.system or 'this system'} has item {segment.item} already in {seen[key]}: "
                    "give each output once, with the mean of its ratings"
                )
            seen[key] = segment.place

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Return the names of the human dimensions, in the order of the first segment."""
        return tuple(self.segments[0].ratings)

    @property
    def published(self) -> tuple[str, ...]:
        """Return the names of the metrics whose published scores every segment has."""
        names = self.segments[0].published
        return tuple(name for name in names if all(name in segment.published for segment in self.segments))

    @property
    def digest(self) -> str:
        """Return 16 hexadecimal digits that change when any text, rating or mark does; places and the set's name do not count."""
        results = hashlib.blake2b(digest_size=8)
        for segment in self.segments:
            row = asdict(segment)
            del row["place"]
            results.update(json.dumps(row, sort_keys=True, ensure_ascii=False).encode("utf-8"))
        return results.hexdigest()


def _check(segment: RatedSegment, dimensions: tuple[str, ...]) -> None:
    if not segment.references or not all(text.strip() for text in segment.references):
        raise InputError(f"{segment.place}: the reference is missing or empty: give at least one reference text")
    if not segment.ratings or set(segment.ratings) != set(dimensions):
        raise InputError(
            f"{segment.place}: ratings are {', '.join(segment.ratings) or 'missing'} where the first segment has "
            f"{', '.join(dimensions)}: rate every segment in the same dimensions"
        )
    if any(value != value or abs(value) == float("inf") for value in segment.ratings.values()):
        raise InputError(f"{segment.place}: a rating must be a finite number. Leave the segment out or rate it")
    for marks in segment.marks.values():
        check_marks(marks, len(segment.hypothesis), segment.place)


def marks_of(errors: object, length: int, place: str) -> tuple[ErrorMark, ...]:
    """Return the marks of a JSON list, in a text of that length. Raises InputError naming the place."""
    if not isinstance(errors, list):
        raise InputError(f"{place}: errors must be a list. Give one object for each error, [] for none")
    return tuple(mark_of(error, length, place) for error in errors)


def mark_of(error: object, length: int, place: str) -> ErrorMark:
    """Return the mark of one JSON object. Raises InputError naming the place."""
    if not isinstance(error, Mapping) or "severity" not in error:
        raise InputError(f"{place}: {shown(repr(error))} must be an object with start, end, severity and category")
    start, end = error.get("start"), error.get("end")
    if any(side is not None and type(side) is not int for side in (start, end)):
        raise InputError(
            f"{place}: characters {shown(repr((start, end)))} must be whole numbers. Give start and end, or neither"
        )
    mark = ErrorMark(start, end, str(error["severity"]).lower(), str(error.get("category") or ""))
    check_marks([mark], length, place)
    return mark


def check_marks(marks: Iterable[ErrorMark], length: int, place: str) -> None:
    """Raise InputError, naming the place, for a mark of unknown severity, with one end only, or outside a text of that length."""
    for mark in marks:
        if mark.severity not in SEVERITIES:
            raise InputError(f"{place}: severity {mark.severity!r} is unknown: use one of {', '.join(SEVERITIES)}")
        if (mark.start is None) != (mark.end is None):
            raise InputError(f"{place}: an error mark has one end only: give start and end, or neither")
        if mark.start is not None and mark.end is not None and not 0 <= mark.start <= mark.end <= length:
            raise InputError(
                f"{place}: a mark covers characters {mark.start} to {mark.end} of a text of {length}: "
                "pair the marks with the text that was marked"
            )


def development_rows(
    path: str | Path, needed: Sequence[str] = (), *, rating: str = "scores"
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ``(file:line, row)`` of each line that has a reference, a hypothesis, ratings under the key ``rating``, and what is needed.

    Raises InputError naming the line where one is missing.
    """
    for place, row in json_objects(path, ("reference", "hypothesis", rating, *needed)):
        filled = all(row[name] or row[name] == 0 for name in ("reference", rating, *needed))
        if not filled or not isinstance(row["hypothesis"], str):
            raise InputError(
                f"{place}: an item needs {', '.join(('a reference', 'a hypothesis', 'a rating', *needed))}: fetch the file again"
            )
        yield place, row


def numbers(values: object, place: str) -> dict[str, float]:
    """Return name -> finite number, as read from JSON. Raises InputError for anything else."""
    if not isinstance(values, Mapping):
        raise InputError(f"{place}: ratings and scores are objects of numbers: fetch the file again")
    return {str(name): number(value, place, str(name)) for name, value in values.items()}


def segment_of(row: Mapping[str, Any], place: str, item: str, ratings: Mapping[str, float] | None = None) -> RatedSegment:
    """Return the rated segment of one row.

    Parameters
    ----------
    item
        What it shares with other outputs for the same input.
    ratings
        By default the row's scores.
    """
    references, published = texts_of(row["reference"], place, "reference"), numbers(row.get("published", {}), place)
    system, pair, source = (str(row.get(name, "")) for name in ("system", "lp", "mr"))
    rated = numbers(row["scores"], place) if ratings is None else ratings
    return RatedSegment(item, references, row["hypothesis"], rated, system, pair, {}, published, source, place)


def check_shared_texts(first: RatedSegment, other: RatedSegment) -> None:
    """Check that two outputs of one item have the same references and source. Raises InputError naming both places."""
    for what in ("references", "source"):
        if getattr(first, what) != getattr(other, what):
            raise InputError(
                f"{other.place}: the {what.removesuffix('s')} of item {other.item} is another than in {first.place}: "
                "give outputs of one input the same texts, and other inputs another item"
            )

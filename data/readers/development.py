"""The development sets under human/: one judged output a line, with its reference, its ratings and what was published beside them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rome.data.readers.lines import json_objects, number, texts_of
from rome.data.readers.rated import RatedSegment
from rome.exceptions import InputError

__all__ = ["check_shared_texts", "development_rows", "numbers", "segment_of"]


def development_rows(path: str | Path, rating: str = "scores") -> list[tuple[str, dict[str, Any]]]:
    """``(file:line, row)`` of each line that has a reference, a hypothesis and ratings under the key rating.

    Raises InputError naming the line that has not.
    """
    rows = list(json_objects(path, ("reference", "hypothesis", rating)))
    for place, row in rows:
        if not row["reference"] or not row[rating] or not isinstance(row["hypothesis"], str):
            raise InputError(f"{place}: an item needs a reference, a hypothesis and a rating: fetch the file again")
    return rows


def numbers(values: object, place: str) -> dict[str, float]:
    """Name -> finite number, as read from JSON. Raises InputError for anything else."""
    if not isinstance(values, Mapping):
        raise InputError(f"{place}: ratings and scores are objects of numbers: fetch the file again")
    return {str(name): number(value, place, str(name)) for name, value in values.items()}


def segment_of(row: Mapping[str, Any], place: str, item: str, ratings: Mapping[str, float]) -> RatedSegment:
    """The rated segment of one row; item : what it shares with other outputs for the same input."""
    return RatedSegment(
        item=item,
        references=texts_of(row["reference"], place, "reference"),
        hypothesis=row["hypothesis"],
        ratings=ratings,
        system=str(row.get("system", "")),
        language_pair=str(row.get("lp", "")),
        published=numbers(row.get("published", {}), place),
        source=str(row.get("mr", "")),
        place=place,
    )


def check_shared_texts(segments: list[RatedSegment]) -> tuple[RatedSegment, ...]:
    """The segments, once sure that all outputs of one item stand beside the same references and source.

    Raises InputError naming both places where they do not: there one of them is paired with another item's texts.
    """
    first: dict[tuple[str, str], RatedSegment] = {}
    for segment in segments:
        known = first.setdefault(segment.group, segment)
        for what in ("references", "source"):
            if getattr(known, what) != getattr(segment, what):
                raise InputError(
                    f"{segment.place}: the {what.removesuffix('s')} of item {segment.item} is another than in {known.place}: "
                    "give outputs of one input the same texts, and other inputs another item"
                )
    return tuple(segments)

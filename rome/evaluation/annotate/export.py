"""Ratings of several annotators put together: one line a segment, as `rome evaluate` reads it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rome.evaluation.annotate.items import Identity
from rome.evaluation.annotate.ratings import Record, last_records, read_records
from rome.exceptions import InputError

__all__ = ["dimensions_of", "export_lines", "read_ratings"]

Ratings = Mapping[Identity, Mapping[str, Record]]


def read_ratings(paths: Sequence[str]) -> tuple[Ratings, list[str]]:
    """The last word of every annotator on every output, from one or several files, and notes on torn lines.

    Raises InputError when a line is no record, when files give one item different texts or use different scales, or when nothing
    was rated.
    """
    records, notes = [], []
    for path in paths:
        found, note = read_records(path)
        records.extend(found)
        notes.extend([note] if note else [])
    scales = {record.scale: record.place for record in records if record.scale}
    if len(scales) > 1:
        (one, place), (other, elsewhere) = list(scales.items())[:2]
        raise InputError(f"{place} is on the scale {one}, {elsewhere} on {other}: put together ratings of one scale only")
    ratings = last_records(records)
    if not any(record.ratings or record.marks for group in ratings.values() for record in group.values()):
        raise InputError(f"{', '.join(paths)}: nothing was rated: rate at least one item first")
    return ratings, notes


def dimensions_of(ratings: Ratings) -> list[str]:
    """The dimensions that anybody rated, in the order in which they first appear."""
    return list(dict.fromkeys(name for group in ratings.values() for record in group.values() for name in record.ratings))


def export_lines(ratings: Ratings) -> Iterator[str]:
    """One line of JSON for each output that somebody rated in every dimension: the means over those annotators, everybody's marks.

    ratings : the mean for each dimension. errors : every mark, with its annotator. annotators : whose ratings are in the means.
    An annotator who left out a dimension of an item is left out of that item, so that all its means are of the same people.
    """
    dimensions = dimensions_of(ratings)
    for group in ratings.values():
        complete = [record for record in group.values() if set(record.ratings) >= set(dimensions)]
        if complete:
            yield json.dumps(_merged(complete, dimensions), ensure_ascii=False)


def _merged(records: Sequence[Record], dimensions: Sequence[str]) -> dict[str, Any]:
    """One output with what several annotators said of it."""
    return {
        **records[0].item.row(),
        "ratings": {name: sum(record.ratings[name] for record in records) / len(records) for name in dimensions},
        "errors": [error | {"annotator": record.annotator} for record in records for error in record.said()["errors"]],
        "annotators": [record.annotator for record in records],
    }

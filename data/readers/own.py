"""Your own ratings: a table or JSON lines of outputs, references and people's judgements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rome.data.readers.lines import json_objects, number, set_name, table, text_lines, texts_of
from rome.data.readers.mqm import marks_score
from rome.data.readers.rated import ErrorMark, RatedSegment, RatedSet, check_shared_texts, marks_of, numbers
from rome.exceptions import InputError

_RATING, _SCORE = "rating:", "score:"


def read_own(path: str | Path) -> RatedSet:
    """Read a table (TSV or CSV) or JSON lines (a first line that starts with ``{``), gzipped or plain; the set is named after the file.

    Table: a header with ``item``, ``reference`` (more in ``reference_2``, ...), ``hypothesis`` and a column ``rating:NAME`` for each
    human dimension (or ``rating`` for one only), higher is better; optionally ``system``, ``language_pair``, ``source`` and
    ``score:NAME`` for the published score of a metric. A line with tabs is unquoted where it is exactly what ``csv`` writes; a header with
    commas or semicolons is CSV. An empty cell of a further reference means that there is none.

    JSON lines, as ``rome annotate`` saves them: ``item``, ``reference`` (a text or a list), ``hypothesis``, ``ratings`` (name ->
    number) or ``errors`` (``start``, ``end``, ``severity``, ``category``; without start and end for an omission), optionally
    ``system``, ``language_pair``, ``source``, ``published`` and ``annotator``. Several annotators of one output are averaged, each
    one's marks are kept; the last line of an annotator counts. Where nobody gave ratings, the dimension is ``mqm``: minus the
    cost of the errors, minor 1, major 5, critical 25, at most 25 an annotator, averaged.

    Raises InputError naming the line for missing columns, values that are not numbers, an item with other references or another source than
    before, an output of one system and item that is another text than before, an output twice without annotators, an error
    outside its text, and segments that are not all rated in the same dimensions.
    """
    lines = text_lines(path)
    first = next((line for line in lines if line.strip()), "")
    if first.lstrip().startswith("{"):
        return RatedSet(set_name(path), tuple(_from_json(path)))
    separator = next((mark for mark in "\t,;" if mark in first), "\t")
    return rated_rows(set_name(path), table(path, COLUMNS, separator, lines))


COLUMNS = ("item", "reference", "hypothesis")


def rated_rows(name: str, rows: Iterable[tuple[str, Mapping[str, str]]]) -> RatedSet:
    """Return the set of the rows of a table, each with its place; `read_own` describes the cells. Raises InputError as that does."""
    segments = []
    for place, row in rows:
        answers = tuple(row[name] for name in row if name == "reference" or (name.startswith("reference_") and row[name]))
        rated = [name for name in row if name == "rating" or name.startswith(_RATING)]
        ratings = {name.removeprefix(_RATING): number(row[name], place, name) for name in rated}
        scores = {name.removeprefix(_SCORE): number(row[name], place, name) for name in row if name.startswith(_SCORE)}
        if not ratings or not row["item"]:
            raise InputError(f"{place}: needs an item and a column rating or rating:NAME with a number. Add people's ratings")
        names: dict[str, Any] = {name: row.get(name, "") for name in ("system", "language_pair", "source")}
        segments.append(RatedSegment(row["item"], answers, row["hypothesis"], ratings, published=scores, place=place, **names))
    return RatedSet(name, tuple(segments))


@dataclass(slots=True)
class _Output:
    """One output with the ratings and marks of each annotator."""

    segment: RatedSegment
    ratings: dict[str, dict[str, float]]
    marks: dict[str, tuple[ErrorMark, ...]]


def _from_json(path: str | Path) -> list[RatedSegment]:
    outputs: dict[tuple[str, str, str], _Output] = {}
    for place, row in json_objects(path, ("item", "reference", "hypothesis")):
        line = rated_line(row, place)
        segment, annotator = line.segment, line.annotator
        results = outputs.setdefault((*segment.group, segment.system), _Output(segment, {}, {}))
        if segment.hypothesis != results.segment.hypothesis:
            raise InputError(
                f"{place}: another text of this system for item {segment.item} than in {results.segment.place}: give its own item"
            )
        check_shared_texts(results.segment, segment)
        if not annotator and (results.ratings or results.marks):
            raise InputError(
                f"{place}: this output is already in {results.segment.place}: name the annotators, or give it once"
            )
        results.ratings[annotator] = line.ratings
        results.marks.pop(annotator, None)
        if line.marks is not None:
            results.marks[annotator] = line.marks
        if not line.ratings and line.marks is None:
            raise InputError(f"{place}: a line must have ratings or errors. Give people's judgements")
    rated = any(ratings for output in outputs.values() for ratings in output.ratings.values())
    return [_averaged(output, rated) for output in outputs.values()]


@dataclass(frozen=True, slots=True)
class RatedLine:
    """One output, without ratings, and the judgement of one annotator.

    Attributes
    ----------
    marks
        None where the line has no errors, not even none.
    """

    segment: RatedSegment
    annotator: str
    ratings: dict[str, float]
    marks: tuple[ErrorMark, ...] | None


def rated_line(row: Mapping[str, Any], place: str) -> RatedLine:
    """Return one annotator's ratings from a line of JSON with item, reference and hypothesis. Raises InputError naming the place."""
    if not isinstance(row["hypothesis"], str) or not str(row["item"]):
        raise InputError(f"{place}: needs an item and a hypothesis that is a text: give both")
    names: dict[str, Any] = {name: str(row.get(name) or "") for name in ("system", "language_pair", "source")}
    references, published = texts_of(row["reference"], place, "reference"), numbers(row.get("published") or {}, place)
    segment = RatedSegment(str(row["item"]), references, row["hypothesis"], {}, published=published, place=place, **names)
    marks = marks_of(row["errors"], len(segment.hypothesis), place) if "errors" in row else None
    return RatedLine(segment, str(row.get("annotator") or ""), numbers(row.get("ratings") or {}, place), marks)


def _averaged(output: _Output, rated: bool) -> RatedSegment:
    """Return the segment with the mean of each dimension over those who rated it.

    Parameters
    ----------
    rated
        Whether anybody rated anything in the set.
    """
    values: dict[str, list[float]] = {}
    for ratings in output.ratings.values():
        for name, value in ratings.items():
            values.setdefault(name, []).append(value)
    means = {name: sum(given) / len(given) for name, given in values.items()}
    if not rated:
        means = {"mqm": marks_score(output.marks)}
    return replace(output.segment, ratings=means, marks=output.marks)

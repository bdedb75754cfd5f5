"""WMT23 zh-en MQM of the development data: error spans as characters of the text that the raters saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rome.data.readers.development import check_shared_texts, development_rows, segment_of
from rome.data.readers.lines import set_name, shown
from rome.data.readers.mqm import PLAIN, MqmWeights, map_span, mqm_score
from rome.data.readers.rated import ErrorMark, RatedSet
from rome.data.sources import data_file
from rome.exceptions import InputError

__all__ = ["read_wmt23"]


def read_wmt23(path: str | Path | None = None, *, weights: MqmWeights = PLAIN) -> RatedSet:
    """The 188 segments of ten systems, up to three raters each: dimension ``mqm`` and marks by rater.

    A span of null lies in the source (an omission). Where the text that was marked differs from the hypothesis in white space,
    the span is mapped to the hypothesis. weights : by default those of the development figures; FREITAG_2021 gives minor
    punctuation 0.1 and no limit.

    Raises InputError for a line without segment, system or raters, a rater named twice, a marked text that is not the
    hypothesis, a span outside it, a segment with other references elsewhere, a system with two outputs for one segment.
    """
    segments = []
    for place, row in development_rows(path or data_file("human/wmt23_mqm_zh-en_spans.jsonl.gz"), "ratings"):
        if "segment" not in row or not row.get("system") or not isinstance(row["ratings"], list):
            raise InputError(f"{place}: an item needs a segment, a system and a list of ratings: fetch the file again")
        marks: dict[str, tuple[ErrorMark, ...]] = {}
        errors: dict[str, list[tuple[str, str]]] = {}
        for rating in row["ratings"]:
            rater = str(rating["rater"]) if isinstance(rating, Mapping) and rating.get("rater") else ""
            if not rater or rater in marks:
                raise InputError(
                    f"{place}: rater {shown(rater) or 'without name'} rates twice or has no name: name each one once"
                )
            found = _errors(rating, place)
            marks[rater] = tuple(_mark(error, row["hypothesis"], place) for error in found)
            errors[rater] = [(mark.severity, mark.category) for mark in marks[rater]]
        segment = segment_of(row, place, str(row["segment"]), {"mqm": mqm_score(errors, weights)})
        segments.append((segment, marks))
    checked = check_shared_texts([segment for segment, _ in segments])
    return RatedSet(
        "wmt23" if path is None else set_name(path),
        tuple(replace(one, marks=marks) for one, (_, marks) in zip(checked, segments, strict=True)),
    )


def _errors(rating: Mapping[str, Any], place: str) -> Sequence[Mapping[str, Any]]:
    errors = rating.get("errors")
    if not isinstance(errors, list) or any(
        not isinstance(e, dict) or not {"severity", "category", "span"} <= e.keys() for e in errors
    ):
        raise InputError(f"{place}: a rating needs a list of errors with severity, category and span: fetch the file again")
    return errors


def _mark(error: Mapping[str, Any], hypothesis: str, place: str) -> ErrorMark:
    severity, category = str(error["severity"]).lower(), str(error["category"])
    marked, span = error.get("text", hypothesis), error["span"]
    ends = isinstance(span, list) and len(span) == 2 and all(isinstance(at, int) for at in span)
    if not isinstance(marked, str) or (span is not None and not ends):
        raise InputError(f"{place}: a span is null or two numbers, characters of a text: fetch the file again")
    start, end = map_span(marked, hypothesis, (span[0], span[1]) if span else (0, 0), place)
    return ErrorMark(start, end, severity, category) if span else ErrorMark(None, None, severity, category)

"""MQM error annotation of translations (Freitag et al. 2021): costs of errors, places of marks, Google's table, and WMT23's spans."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from rome.data.readers.lines import check_counts, same_words, set_name, table, text_lines
from rome.data.readers.rated import SEVERITIES, ErrorMark, RatedSegment, RatedSet, development_rows, segment_of
from rome.data.sources import data_file
from rome.exceptions import InputError
from rome.storage.rows import shown


@dataclass(frozen=True, slots=True)
class MqmWeights:
    """Costs of errors by severity, with the two exceptions of Freitag et al. 2021, table 4.

    Attributes
    ----------
    most
        The highest cost per rater and segment; None for no limit. Severities that are not named cost nothing.
    """

    minor: float = 1.0
    major: float = 5.0
    critical: float = 25.0
    non_translation: float = 25.0
    minor_punctuation: float = 0.1
    most: float | None = None

    def cost(self, severity: str, category: str) -> float:
        """Return the cost of one error; severity in any case, category such as ``Fluency/Punctuation``."""
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
    """Return minus the cost of the errors, (severity, category) pairs, averaged over the raters; 0 without errors.

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


def marks_score(marks_by_rater: Mapping[str, Sequence[ErrorMark]], weights: MqmWeights = PLAIN) -> float:
    """Return `mqm_score` of the marks themselves."""
    return mqm_score({r: [(mark.severity, mark.category) for mark in marks] for r, marks in marks_by_rater.items()}, weights)


def split_marks(text: str, place: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the text without ``<v>`` and ``</v>``, and the characters that they enclosed. Raises InputError where they do not pair."""
    pieces = re.split("(</?v>)", text)
    parts, marks = pieces[::2], pieces[1::2]
    if marks != ["<v>", "</v>"] * (len(marks) // 2):
        raise InputError(f"{place}: <v> and </v> do not pair: fetch the file again")
    ends = list(accumulate(map(len, parts)))
    return "".join(parts), list(zip(ends[::2], ends[1::2], strict=False))


def map_span(marked: str, hypothesis: str, span: tuple[int, int], place: str) -> tuple[int, int]:
    """Return the characters of the hypothesis that a span of the marked text covers; the two may differ in white space only.

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


def read_wmt23(path: str | Path | None = None, *, weights: MqmWeights = PLAIN) -> RatedSet:
    """Return the 188 segments of ten systems, up to three raters each: dimension ``mqm`` and marks by rater.

    A span of null is in the source (an omission). Where the marked text differs from the hypothesis in white space, the span is
    mapped to the hypothesis.

    Raises InputError for a line without segment, system or raters, a rater named twice, a marked text that is not the hypothesis, a span
    outside it, a segment with other references elsewhere, a system with two outputs for one segment.

    Parameters
    ----------
    weights
        By default those of the development figures; FREITAG_2021 gives minor punctuation 0.1 and no limit.
    """
    segments = []
    file = path or data_file("human/wmt23_mqm_zh-en_spans.jsonl.gz")
    for place, row in development_rows(file, ("segment", "system"), rating="ratings"):
        if not isinstance(row["ratings"], list):
            raise InputError(f"{place}: ratings must be a list. Fetch the file again")
        marks: dict[str, tuple[ErrorMark, ...]] = {}
        for rating in row["ratings"]:
            rater = str(rating["rater"]) if isinstance(rating, Mapping) and rating.get("rater") else ""
            if not rater or rater in marks:
                raise InputError(
                    f"{place}: rater {shown(rater) or 'without name'} rates twice or has no name: name each one once"
                )
            marks[rater] = tuple(_mark(error, row["hypothesis"], place) for error in _errors(rating, place))
        segment = segment_of(row, place, str(row["segment"]), {"mqm": marks_score(marks, weights)})
        segments.append(replace(segment, marks=marks))
    return RatedSet("wmt23" if path is None else set_name(path), tuple(segments))


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
        raise InputError(f"{place}: a span must be null or two numbers of characters. Fetch the file again")
    start, end = map_span(marked, hypothesis, (span[0], span[1]) if span else (0, 0), place)
    return ErrorMark(start, end, severity, category) if span else ErrorMark(None, None, severity, category)


_NEEDED = ("system", "doc", "seg_id", "rater", "source", "target", "category", "severity")
_NO_ERROR = ("no-error", "none")
_TEST = "hotw-test"


@dataclass(slots=True)
class _Annotated:
    """The annotations of one output."""

    place: str
    hypothesis: str
    errors: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    marks: dict[str, list[ErrorMark]] = field(default_factory=dict)


def read_mqm(
    path: str | Path,
    references: str | Path,
    sources: str | Path | None = None,
    language_pair: str = "",
    *,
    weights: MqmWeights = FREITAG_2021,
) -> RatedSet:
    """Read Google's table (``system doc doc_id seg_id rater source target category severity``): dimension ``mqm`` and marks by rater.

    Marks in the source are omissions: they count and have no place in the hypothesis; so do errors without a mark. A rater whose only line says
    "No-error" found none. Lines that test the raters (severity HOTW-test) are left out, and so is a system whose every output is the reference.

    Raises InputError for marks that do not pair, a segment with another source, document or, within one system, another target than before
    (white space aside), a severity that is none, a segment without reference, a reference of another source.

    Parameters
    ----------
    references
        A table with ``seg_id``, ``source``, ``reference`` (and ``reference_2``, ..., ``doc``), or a text whose line is the ``seg_id``; then
        sources is the parallel text of the sources.
    """
    known = _references(Path(references), sources)
    texts: dict[str, tuple[str, str, str]] = {}
    segments = []
    for (system, segment), results in _outputs(path, texts).items():
        doc, source, where = texts[segment]
        given = _paired(known, segment, doc, source, where)
        marks = {rater: tuple(marked) for rater, marked in results.marks.items()}
        rating = {"mqm": mqm_score(results.errors, weights)}
        args = (segment, given, results.hypothesis, rating, system, language_pair, marks)
        segments.append(RatedSegment(*args, source=source, place=results.place))
    # a system whose outputs are all references is one
    differs = {segment.system for segment in segments if segment.hypothesis not in segment.references}
    return RatedSet(set_name(path), tuple(segment for segment in segments if segment.system in differs))


def _outputs(path: str | Path, texts: dict[str, tuple[str, str, str]]) -> dict[tuple[str, str], _Annotated]:
    """Return the annotations by system and segment.

    Parameters
    ----------
    texts
        Segment -> document, source, place, filled here.
    """
    outputs: dict[tuple[str, str], _Annotated] = {}
    for place, row in table(path, _NEEDED):
        if row["severity"].lower() == _TEST:
            continue
        system, segment = row["system"], row["seg_id"]
        source, _ = split_marks(row["source"], place)
        target, spans = split_marks(row["target"], place)
        doc, first, where = texts.setdefault(segment, (row["doc"], source, place))
        if doc != row["doc"] or not same_words(source, first):
            raise InputError(f"{place}: segment {segment} has another source or document than in {where}: fetch the file again")
        results = outputs.setdefault((system, segment), _Annotated(place, target))
        if not same_words(target, results.hypothesis):
            raise InputError(
                f"{place}: {system} has another target for segment {segment} than in {results.place}: fetch it again"
            )
        _add(results, row, place, [map_span(target, results.hypothesis, span, place) for span in spans])
    return outputs


def _add(results: _Annotated, row: Mapping[str, str], place: str, spans: Sequence[tuple[int, int]]) -> None:
    """Note the error of one line."""
    errors, marks = results.errors.setdefault(row["rater"], []), results.marks.setdefault(row["rater"], [])
    severity = row["severity"].lower()
    if severity in _NO_ERROR or row["category"].lower() in _NO_ERROR:
        return
    if severity not in SEVERITIES:
        raise InputError(f"{place}: severity {row['severity']!r} is none of {', '.join(SEVERITIES)}: fetch the file again")
    errors.append((severity, row["category"]))
    where: Iterable[tuple[int | None, int | None]] = spans or [(None, None)]
    marks.extend(ErrorMark(start, end, severity, row["category"]) for start, end in where)


def _references(path: Path, sources: str | Path | None) -> dict[str, tuple[str | None, str, tuple[str, ...]]]:
    """Return segment -> document or None, source, references."""
    lines = text_lines(path)
    if not lines or "\t" not in lines[0]:
        if sources is None:
            raise InputError(
                f"{path}:1: references without sources cannot be checked: give the parallel text of the sources too"
            )
        given = text_lines(sources)
        check_counts([(path, lines), (sources, given)])
        return {str(line): (None, text, (lines[line - 1],)) for line, text in enumerate(given, start=1)}
    results: dict[str, tuple[str | None, str, tuple[str, ...]]] = {}
    for place, row in table(path, ("seg_id", "source", "reference")):
        if row["seg_id"] in results:
            raise InputError(f"{place}: segment {row['seg_id']} must occur once. Give each segment once")
        texts = tuple(row[name] for name in row if (name == "reference" or name.startswith("reference_")) and row[name].strip())
        results[row["seg_id"]] = (row.get("doc"), row["source"], texts)
    return results


def _paired(
    known: Mapping[str, tuple[str | None, str, tuple[str, ...]]], segment: str, doc: str, source: str, place: str
) -> tuple[str, ...]:
    """Return the references of one segment after checking that they translate its source."""
    if segment not in known:
        raise InputError(f"{place}: segment {segment} has no reference: give the references of this test set")
    document, text, answers = known[segment]
    if document not in (None, doc) or not same_words(text, source):
        raise InputError(
            f"{place}: the reference of segment {segment} translates another source, {text[:40]!r}: give this test set's"
        )
    return answers

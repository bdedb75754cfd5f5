"""Google's table of MQM annotations as released (Freitag et al. 2021; WMT since 2020): one error of one rater a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rome.data.readers.lines import same_words, set_name, table, text_lines
from rome.data.readers.mqm import FREITAG_2021, MqmWeights, map_span, mqm_score, split_marks
from rome.data.readers.rated import ErrorMark, RatedSegment, RatedSet
from rome.exceptions import InputError

__all__ = ["read_mqm"]

_NEEDED = ("system", "doc", "seg_id", "rater", "source", "target", "category", "severity")
_SEVERITIES = ("neutral", "minor", "major", "critical")
_NO_ERROR = ("no-error", "none")
_TEST = "hotw-test"


@dataclass(slots=True)
class _Annotated:
    """What the lines of one output say so far."""

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
    """Google's table (``system doc doc_id seg_id rater source target category severity``): dimension ``mqm`` and marks by rater.

    Marks in the source are omissions: they count and have no place in the hypothesis; so do errors without a mark. A rater
    whose only line says "No-error" found none. Lines that test the raters (severity HOTW-test) are left out, and so is a system
    whose every output is the reference.
    references : a table with ``seg_id``, ``source``, ``reference`` (and ``reference_2``, ..., ``doc``), or a text whose line
    is the ``seg_id``; then sources is the parallel text of the sources.

    Raises InputError for marks that do not pair, a segment with another source, document or, within one system, another target
    than before (white space aside), a severity that is none, a segment without reference, a reference of another source.
    """
    known = _references(Path(references), sources)
    texts: dict[str, tuple[str, str, str]] = {}
    segments = []
    for (system, segment), found in _outputs(path, texts).items():
        doc, source, where = texts[segment]
        segments.append(
            RatedSegment(
                item=segment,
                references=_paired(known, segment, doc, source, where),
                hypothesis=found.hypothesis,
                ratings={"mqm": mqm_score(found.errors, weights)},
                system=system,
                language_pair=language_pair,
                marks={rater: tuple(given) for rater, given in found.marks.items()},
                source=source,
                place=found.place,
            )
        )
    return RatedSet(set_name(path), tuple(_without_references(segments)))


def _outputs(path: str | Path, texts: dict[str, tuple[str, str, str]]) -> dict[tuple[str, str], _Annotated]:
    """What the lines say by system and segment; texts : segment -> document, source, place, filled here."""
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
        found = outputs.setdefault((system, segment), _Annotated(place, target))
        if not same_words(target, found.hypothesis):
            raise InputError(
                f"{place}: {system} has another target for segment {segment} than in {found.place}: fetch it again"
            )
        _add(found, row, place, [map_span(target, found.hypothesis, span, place) for span in spans])
    return outputs


def _add(found: _Annotated, row: Mapping[str, str], place: str, spans: Sequence[tuple[int, int]]) -> None:
    """Note the error of one line."""
    errors, marks = found.errors.setdefault(row["rater"], []), found.marks.setdefault(row["rater"], [])
    severity = row["severity"].lower()
    if severity in _NO_ERROR or row["category"].lower() in _NO_ERROR:
        return
    if severity not in _SEVERITIES:
        raise InputError(f"{place}: severity {row['severity']!r} is none of {', '.join(_SEVERITIES)}: fetch the file again")
    errors.append((severity, row["category"]))
    where: Iterable[tuple[int | None, int | None]] = spans or [(None, None)]
    marks.extend(ErrorMark(start, end, severity, row["category"]) for start, end in where)


def _references(path: Path, sources: str | Path | None) -> dict[str, tuple[str | None, str, tuple[str, ...]]]:
    """Segment -> document or None, source, references."""
    lines = text_lines(path)
    if not lines or "\t" not in lines[0]:
        if sources is None:
            raise InputError(
                f"{path}:1: references without sources cannot be checked: give the parallel text of the sources too"
            )
        given = text_lines(sources)
        if len(given) != len(lines):
            raise InputError(
                f"{path}:{min(len(given), len(lines)) + 1}: {len(lines)} references for {len(given)} sources: give the pair"
            )
        return {str(line): (None, text, (lines[line - 1],)) for line, text in enumerate(given, start=1)}
    found: dict[str, tuple[str | None, str, tuple[str, ...]]] = {}
    for place, row in table(path, ("seg_id", "source", "reference")):
        if row["seg_id"] in found:
            raise InputError(f"{place}: segment {row['seg_id']} stands there twice: give each segment once")
        texts = tuple(row[name] for name in row if (name == "reference" or name.startswith("reference_")) and row[name].strip())
        found[row["seg_id"]] = (row.get("doc"), row["source"], texts)
    return found


def _paired(
    known: Mapping[str, tuple[str | None, str, tuple[str, ...]]], segment: str, doc: str, source: str, place: str
) -> tuple[str, ...]:
    """The references of one segment, once sure that they translate its source."""
    if segment not in known:
        raise InputError(f"{place}: segment {segment} has no reference: give the references of this test set")
    document, text, answers = known[segment]
    if document not in (None, doc) or not same_words(text, source):
        raise InputError(
            f"{place}: the reference of segment {segment} translates another source, {text[:40]!r}: give this test set's"
        )
    return answers


def _without_references(segments: list[RatedSegment]) -> list[RatedSegment]:
    """The segments of the systems that say something else than the reference at least once."""
    differs = {segment.system for segment in segments if segment.hypothesis not in segment.references}
    return [segment for segment in segments if segment.system in differs]

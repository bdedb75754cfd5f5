"""BAGEL, SFHOTEL and SFREST (Novikova et al. 2017, Why We Need New Evaluation Metrics for NLG): outputs with crowd ratings, 1 to 6."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import median

from rome.data.readers.lines import number, table
from rome.data.readers.rated import RatedSegment, RatedSet, check_shared_texts, development_rows, segment_of
from rome.data.sources import data_file
from rome.exceptions import InputError
from rome.storage.rows import shown

DATASETS = ("BAGEL", "SFHOT", "SFRES")
DIMENSIONS = ("informativeness", "naturalness", "quality")
_NEEDED = ("dataset", "system", "mr", "sys_ref", *DIMENSIONS)
_METRICS = ("TER", "Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "ROUGE_L", "NIST", "LEPOR", "CIDEr", "METEOR", "sim.mr.sys")


def read_bagel(path: str | Path | None = None) -> RatedSet:
    """The 404 BAGEL outputs of the development data with their human references; every output is an item of its own.

    Raises InputError for a line without these, a rating outside 1 to 6 and a segment that comes twice.

    Parameters
    ----------
    path
        Another file in that layout, JSON lines with ``segment``, ``reference``, ``hypothesis`` and ``scores``.
    """
    rows = development_rows(path or data_file("human/bagel_references.jsonl.gz"), ("segment",), once=("segment",))
    return RatedSet("bagel", _checked([segment_of(row, place, str(row["segment"])) for place, row in rows]))


def read_meaning_representations(dataset: str, path: str | Path | None = None) -> RatedSet:
    """One of DATASETS with the *meaning representation* as reference, which is also the item, as the RoMe paper compares them.

    Where a system answered one input several times (WEN), each further output is an item of its own, ``...#2``, so that every
    system has an item once. Raises InputError for another name, for a line that names no system or none of DATASETS, and for
    the same output twice.
    """
    if dataset not in DATASETS:
        raise InputError(f"{dataset} is no set of Novikova et al. 2017: choose one of {', '.join(DATASETS)}")
    segments = []
    for place, row in development_rows(path or data_file("human/bagel_sfhotel.jsonl.gz"), ("system", "dataset")):
        if row["dataset"] not in DATASETS or not isinstance(row["reference"], str):
            raise InputError(
                f"{place}: needs a reference, a system and a dataset out of {', '.join(DATASETS)}: fetch the file again"
            )
        if row["dataset"] == dataset:
            segments.append(segment_of(row, place, row["reference"]))
    names = {"BAGEL": "bagel-mr", "SFHOT": "sfhotel", "SFRES": "sfrest"}
    return RatedSet(names[dataset], check_shared_texts(_numbered(_checked(segments))))


def read_novikova(path: str | Path, dataset: str = "") -> RatedSet:
    """The released CSV, ``emnlp_data_medians.csv`` or ``emnlp_data_individual_hum_scores.csv``, all of it or one of DATASETS.

    A file with a column ``judge`` has one line a rating; the medians of each output are taken, as the paper does. The human
    references (column ``orig_ref``) are the references where the file has them, else the meaning representation. Metric scores
    of the file are kept as published (of these, lower is better for TER alone).

    Raises InputError for a rating outside 1 to 6, a meaning representation of another type than the line says, an output
    that some judges rated more often than others, and without judges the same output twice.
    """
    judged: dict[tuple[str, ...], list[RatedSegment]] = {}
    judges: dict[tuple[str, ...], Counter[str]] = {}
    for place, row in table(path, _NEEDED, ","):
        if row["dataset"] not in DATASETS:
            raise InputError(f"{place}: dataset {shown(row['dataset'])} is none of {', '.join(DATASETS)}: fetch the file again")
        if row.get("mr_type") and not row["mr"].startswith(row["mr_type"] + "("):
            raise InputError(
                f"{place}: {shown(row['mr'], 40)} is no {shown(row['mr_type'])}: its columns are of two lines, fetch it again"
            )
        key = (row["dataset"], row["mr"], row["system"], row["sys_ref"])
        judges.setdefault(key, Counter())[row.get("judge", "")] += 1
        judged.setdefault(key, []).append(_segment(row, place))
    _check_judges(judges, {key: group[-1].place for key, group in judged.items()})
    segments = [_median(group) for key, group in judged.items() if dataset in ("", key[0])]
    return RatedSet(f"novikova-{dataset.lower()}" if dataset else "novikova", tuple(_numbered(_checked(segments))))


def _check_judges(judges: Mapping[tuple[str, ...], Counter[str]], places: Mapping[tuple[str, ...], str]) -> None:
    """Every output is rated equally often by every judge, and once where the judges have no names."""
    everybody = {judge for rated in judges.values() for judge in rated}
    for key, rated in judges.items():
        counts = {rated[judge] for judge in everybody}
        if len(counts) > 1 or (everybody == {""} and counts != {1}):
            found = ", ".join(f"{judge or 'the file'} {rated[judge]} times" for judge in sorted(everybody))
            raise InputError(
                f"{places[key]}: {shown(key[2])}'s output is rated by {shown(found, 200)}: give each rating beside its own output"
            )


def _segment(row: dict[str, str], place: str) -> RatedSegment:
    ratings, published = (
        {name: number(row[name], place, name) for name in names if name in row} for names in (DIMENSIONS, _METRICS)
    )
    item, references = f"{row['dataset']}/{row['mr']}", (row.get("orig_ref") or row["mr"],)
    names = {"published": published, "source": row["mr"], "place": place}
    return RatedSegment(item, references, row["sys_ref"], ratings, row["system"], **names)  # type: ignore[arg-type]


def _median(group: list[RatedSegment]) -> RatedSegment:
    """One segment with the medians of the ratings and every reference."""
    references = tuple(dict.fromkeys(text for one in group for text in one.references))
    ratings = {name: float(median(one.ratings[name] for one in group)) for name in DIMENSIONS}
    return replace(group[0], references=references, ratings=ratings)


def _checked(segments: list[RatedSegment]) -> tuple[RatedSegment, ...]:
    """The segments, once sure that ratings are these three, 1 to 6."""
    for segment in segments:
        if set(segment.ratings) != set(DIMENSIONS) or not all(1 <= value <= 6 for value in segment.ratings.values()):
            raise InputError(f"{segment.place}: needs {', '.join(DIMENSIONS)}, each from 1 to 6: fetch the file again")
    return tuple(segments)


def _numbered(segments: Iterable[RatedSegment]) -> list[RatedSegment]:
    """The segments, the second output of a system for one input under ``item#2`` and so on."""
    texts: dict[tuple[str, str], dict[str, str]] = {}
    found = []
    for segment in segments:
        before = texts.setdefault((segment.item, segment.system), {})
        if segment.hypothesis in before:
            raise InputError(
                f"{segment.place}: {shown(segment.system)}'s output stands already in {before[segment.hypothesis]}: give it once"
            )
        before[segment.hypothesis] = segment.place
        found.append(segment if len(before) == 1 else replace(segment, item=f"{segment.item}#{len(before)}"))
    return found

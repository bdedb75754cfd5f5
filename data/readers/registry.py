"""Rated sets by name: the development sets, the layouts that are read, and files of one's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from rome.data.readers.lines import shown
from rome.data.readers.mqm import read_mqm, read_wmt23
from rome.data.readers.own import read_own
from rome.data.readers.rated import RatedSegment, RatedSet, check_shared_texts, development_rows, segment_of
from rome.data.sources import data_file
from rome.exceptions import InputError

DIMENSIONS = ("informativeness", "naturalness", "quality")
"""What Novikova et al. 2017 asked for, each from 1 to 6."""
REPRESENTATIONS = {"bagel-mr": "BAGEL", "sfhotel": "SFHOT", "sfrest": "SFRES"}
"""Sets with the meaning representation as reference -> their name in the file."""


def read_bagel(path: str | Path | None = None) -> RatedSet:
    """Return the 404 BAGEL outputs of the development data with their human references; every output is an item of its own.

    Raises InputError for a line without these, a rating outside 1 to 6 and a segment that occurs twice.
    """
    rows = development_rows(path or data_file("human/bagel_references.jsonl.gz"), ("segment",), once=("segment",))
    return RatedSet("bagel", tuple(_checked(segment_of(row, place, str(row["segment"]))) for place, row in rows))


def read_meaning_representations(name: str, path: str | Path | None = None) -> RatedSet:
    """Return a set of REPRESENTATIONS; the *meaning representation* is reference and item, as in the RoMe paper.

    A further output of a system for one input is an item of its own, ``...#2``, so that every system has an item once. Raises
    InputError for a line that names no system or another dataset, a rating outside 1 to 6 and an output that occurs twice.
    """
    segments: list[RatedSegment] = []
    before: dict[tuple[str, str], list[str]] = {}
    for place, row in development_rows(path or data_file("human/bagel_sfhotel.jsonl.gz"), ("system", "dataset")):
        if row["dataset"] not in REPRESENTATIONS.values() or not isinstance(row["reference"], str):
            raise InputError(f"{place}: reference must be a text and dataset one of {', '.join(REPRESENTATIONS.values())}")
        if row["dataset"] == REPRESENTATIONS[name]:
            segment = _checked(segment_of(row, place, row["reference"]))
            texts = before.setdefault((segment.item, segment.system), [])
            if segment.hypothesis in texts:
                raise InputError(f"{place}: {shown(segment.system)} has this output for this input already: give it once")
            texts.append(segment.hypothesis)
            segments.append(segment if len(texts) == 1 else replace(segment, item=f"{segment.item}#{len(texts)}"))
    return RatedSet(name, check_shared_texts(segments))


def _checked(segment: RatedSegment) -> RatedSegment:
    """Return the segment. Raises InputError unless it has a rating from 1 to 6 in each of DIMENSIONS."""
    if set(segment.ratings) != set(DIMENSIONS) or not all(1 <= value <= 6 for value in segment.ratings.values()):
        raise InputError(f"{segment.place}: needs {', '.join(DIMENSIONS)}, each from 1 to 6: fetch the file again")
    return segment


def read_webnlg17(path: str | Path | None = None) -> RatedSet:
    """Return the third of WebNLG 2017's rated inputs that the development data holds, 74 inputs with nine outputs each.

    Raises InputError for a line without system or segment, an input with other references or another meaning representation
    elsewhere, a system with two outputs for one input.
    """
    rows = development_rows(path or data_file("human/webnlg17_third.jsonl.gz"), ("system", "segment", "mr"))
    return RatedSet("webnlg17", check_shared_texts([segment_of(row, place, str(row["segment"])) for place, row in rows]))


def read_wmt15(path: str | Path | None = None) -> RatedSet:
    """Return WMT15's direct assessments, 4 language pairs x 500 segments, with published scores of several metrics.

    Raises InputError for a line without language pair or segment, and for a segment that occurs twice.
    """
    file = path or data_file("human/wmt15_da_to-en.jsonl.gz")
    rows = development_rows(file, ("lp", "segment"), once=("lp", "segment"))
    return RatedSet("wmt15", check_shared_texts([segment_of(row, place, str(row["segment"])) for place, row in rows]))


DEVELOPMENT_SETS: Mapping[str, Callable[[], RatedSet]] = {
    "bagel": read_bagel,
    **{name: partial(read_meaning_representations, name) for name in REPRESENTATIONS},
    "webnlg17": read_webnlg17,
    "wmt15": read_wmt15,
    "wmt23": read_wmt23,
}
"""Name -> the loader of that part of the development data."""

READERS: Mapping[str, Callable[..., RatedSet]] = {"own": read_own, "mqm": read_mqm, "mqm-spans": read_wmt23}
"""Name of a layout -> its reader, which takes paths."""


def read_rated(spec: str) -> RatedSet:
    """Return the rated set that a short text names.

    Raises InputError that lists the choices for an unknown name, that gives the arguments where their number is wrong, and for what the
    reader refuses.

    Parameters
    ----------
    spec
        A name in DEVELOPMENT_SETS; ``FORMAT:PATH[,PATH...]`` with a format in READERS, whose arguments follow in order; or the path of a file
        of your own, a table or JSON lines (see read_own).
    """
    if spec in DEVELOPMENT_SETS:
        return DEVELOPMENT_SETS[spec]()
    name, separator, rest = spec.partition(":")
    if separator and name in READERS:
        return _read(name, [part for part in rest.split(",") if part])
    if Path(spec).is_file():
        return read_own(spec)
    raise InputError(
        f"{spec} does not exist and is no rated set: name a file of your own, one of the sets {', '.join(DEVELOPMENT_SETS)}, "
        f"or FORMAT:PATH[,PATH...] with a format out of {', '.join(READERS)}"
    )


def _read(name: str, arguments: list[str]) -> RatedSet:
    reader = READERS[name]
    signature = inspect.signature(reader)
    try:
        signature.bind(*arguments)
    except TypeError as error:
        wanted = [one for one in signature.parameters.values() if one.kind is not one.KEYWORD_ONLY]
        usage = ",".join(f"[{one.name}]" if one.default is not one.empty else one.name for one in wanted)
        raise InputError(
            f"{name}: {len(arguments)} arguments where {name}:{usage} is wanted: separate them by commas"
        ) from error
    return reader(*arguments)

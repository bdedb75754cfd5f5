"""Rated sets by name: the development sets, the layouts that are read, and files of one's own."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rome.data.readers.mqm import read_mqm, read_wmt23
from rome.data.readers.own import read_own
from rome.data.readers.rated import RatedSet, development_rows, segment_of
from rome.data.sources import SETS, data_file
from rome.exceptions import InputError

DIMENSIONS = ("informativeness", "naturalness", "quality")
"""The ratings of Novikova et al. 2017, each from 1 to 6."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """Describe the layout of a file of the development data.

    Attributes
    ----------
    needed
        Keys of each line, apart from reference, hypothesis and scores.
    item
        The key that outputs for one input share.
    dimensions
        What was rated from 1 to 6; empty for other scales.
    dataset
        The name of the set in a file of several sets.
    """

    needed: tuple[str, ...]
    item: str = "segment"
    dimensions: tuple[str, ...] = ()
    dataset: str = ""


LAYOUTS: Mapping[str, _Layout] = {
    "bagel": _Layout(("segment",), dimensions=DIMENSIONS),
    **{
        name: _Layout(("system", "dataset"), "reference", DIMENSIONS, dataset)
        for name, dataset in (("bagel-mr", "BAGEL"), ("sfhotel", "SFHOT"), ("sfrest", "SFRES"))
    },
    "webnlg17": _Layout(("system", "segment", "mr")),
    "wmt15": _Layout(("lp", "segment")),
}


def read_scores(name: str, path: str | Path | None = None) -> RatedSet:
    """Return a set of LAYOUTS, from the development data or a file of its layout.

    A further output of a system for one meaning representation is an item of its own, ``...#2``, so that every system has an
    item once. Raises InputError for a line without what the layout needs, a rating outside 1 to 6, an output that occurs twice,
    and an item with other references elsewhere.
    """
    layout, segments = LAYOUTS[name], []
    outputs: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for place, row in development_rows(path or data_file(SETS[name].file), layout.needed):
        if layout.dataset and not isinstance(row["reference"], str):
            raise InputError(f"{place}: reference must be a text. Fetch the file again")
        segment = segment_of(row, place, str(row[layout.item]))
        rated = all(1 <= value <= 6 for value in segment.ratings.values())
        if layout.dimensions and (set(segment.ratings) != set(layout.dimensions) or not rated):
            raise InputError(f"{place}: needs {', '.join(layout.dimensions)}, each from 1 to 6: fetch the file again")
        if layout.dataset in ("", row.get("dataset")):
            earlier = outputs[segment.item, segment.system]
            if layout.dataset and segment.hypothesis in earlier:
                raise InputError(f"{place}: {segment.system} has this output for this reference already. Give each output once")
            earlier.append(segment.hypothesis)
            further = layout.dataset and len(earlier) > 1
            segments.append(replace(segment, item=f"{segment.item}#{len(earlier)}") if further else segment)
    return RatedSet(name, tuple(segments))


DEVELOPMENT_SETS: Mapping[str, Callable[[], RatedSet]] = {
    **{name: partial(read_scores, name) for name in LAYOUTS},
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
        f"{spec} does not exist and is not a rated set: name a file of your own, one of the sets {', '.join(DEVELOPMENT_SETS)}, "
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

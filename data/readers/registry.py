"""Rated sets by name: the development sets, and the readers of released layouts by the name of their format."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from rome.data.readers.bagel import read_bagel, read_meaning_representations, read_novikova
from rome.data.readers.direct_assessment import read_ad_scores, read_daseg, read_wmt15
from rome.data.readers.metrics_eval import read_metrics_eval
from rome.data.readers.mqm import read_mqm, read_wmt23
from rome.data.readers.own import read_own
from rome.data.readers.rated import RatedSet
from rome.data.readers.webnlg import read_webnlg17, read_webnlg17_third, read_webnlg20
from rome.exceptions import InputError

DEVELOPMENT_SETS: Mapping[str, Callable[[], RatedSet]] = {
    "bagel": read_bagel,
    "bagel-mr": partial(read_meaning_representations, "BAGEL"),
    "sfhotel": partial(read_meaning_representations, "SFHOT"),
    "sfrest": partial(read_meaning_representations, "SFRES"),
    "webnlg17": read_webnlg17_third,
    "wmt15": read_wmt15,
    "wmt23": read_wmt23,
}
"""Name -> the loader of that part of the development data; ``bagel-mr`` : BAGEL with the meaning representation as reference."""

READERS: Mapping[str, Callable[..., RatedSet]] = {
    "own": read_own,
    "novikova": read_novikova,
    "webnlg17": read_webnlg17,
    "webnlg20": read_webnlg20,
    "daseg": read_daseg,
    "ad-scores": read_ad_scores,
    "metrics-eval": read_metrics_eval,
    "mqm": read_mqm,
    "mqm-spans": read_wmt23,
}
"""Name of a released layout -> its reader, which takes paths (and for ``metrics-eval`` a language pair and the human scores)."""


def read_rated(spec: str) -> RatedSet:
    """The rated set that a short text names.

    Raises InputError that lists the choices where spec is none of these, that gives the arguments where their number is wrong, and for what the
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

"""DEMETR (Karpinska et al. 2022): minimal pairs of a good translation and a perturbed copy, one file a perturbation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from rome.data.readers.lines import json_array
from rome.data.sources import data_file
from rome.exceptions import InputError
from rome.storage.rows import shown

Severity = Literal["critical", "major", "minor", "base"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One row of the paper's table 1.

    Attributes
    ----------
    identifier
        1 to 35.
    category
        Accuracy, fluency, mixed, typography or baseline.
    type, description
        The two parts of the column Type of tables A1 and A3.
    severity
        As table 1 has it; of its two rows "minor-major", the wrong function word is minor (the appendix: most are, and table 4 counts it so)
        and the omitted adjective or adverb major (the end of its range nearer to table 4, which counts it as critical).
    released
        The severity of the released file, which **the means of table 4 count by**: unweighted means over kinds, critical with the untranslated
        word, the omitted adjective or adverb and the shuffled words, "all" with every kind but the reference give all its 14 rows within 0.03;
        by table 1 they do not.
    """

    identifier: int
    category: str
    type: str
    description: str
    severity: Severity
    released: Severity


def _rows(name: str) -> Iterator[list[Any]]:
    """Yield the cells of every line below comment and header."""
    lines = (files("rome.data") / "published" / name).read_text(encoding="utf-8").splitlines()
    yield from (line.split("\t") for line in lines[2:])


def _kinds() -> Iterator[tuple[str, Kind]]:
    """Yield the released file name and the row of table 1; the ids in the file names differ from 20 on."""
    for stem, identifier, category, kind, description, severity in _rows("demetr_table1.tsv"):
        released = stem.split("_")[0]
        yield stem, Kind(int(identifier), category, kind, description, severity or released, released)


KINDS: Mapping[str, Kind] = dict(_kinds())
"""Name of the released file, without its ending -> its row of table 1."""


@dataclass(frozen=True, slots=True)
class MinimalPair:
    """A reference, its translation and the perturbed translation.

    Attributes
    ----------
    kind
        Name of the released file, a key of KINDS, from which severity (by table 1), released_severity (the file's), identifier, category and
        type are taken.
    item
        Unique together with language (``german``, as published).
    data_source
        FLORES or WMT.
    source
        The text in that language.
    place
        ``file:line``.
    """

    kind: str
    reference: str
    translation: str
    perturbed: str
    severity: Severity = "base"
    item: str = ""
    language: str = ""
    data_source: str = ""
    source: str = ""
    identifier: int = 0
    category: str = ""
    type: str = ""
    released_severity: Severity = "base"
    place: str = ""


_KEYS = ("id", "src_sent", "eng_sent", "mt_sent", "pert_sent", "lang_tag", "pert_check", "pert_name")
_TEXTS = tuple(name for name in _KEYS if name not in ("id", "pert_check"))
_MOST_UNCHANGED = 0.02


def read_demetr(folder: str | Path | None = None) -> list[MinimalPair]:
    """Return every item whose perturbation was checked by hand, in the order of the file names; an empty perturbed text is a full stop.

    Raises InputError for a file of an unknown kind, an item that names another perturbation than its file, a repeated item,
    a text that is another in another file (slips of the publication, such as a space before the full stop, pass), and a file where more than 2
    % of the items are unchanged.

    Parameters
    ----------
    folder
        With the released JSON files, or some of them; without it, the development half. Of the development half's items eight leave the
        translation as it was (two repetitions, an aspect, a prepositional phrase, a reference, three first words that are numbers); they are
        kept, as the paper's figures count them.
    """
    root = Path(folder) if folder is not None else data_file("demetr")
    paths = sorted(root.glob("*.json"))
    unknown = [path for path in paths if path.stem not in KINDS]
    if unknown or not paths:
        name = f"{unknown[0]}:1: no perturbation of DEMETR" if unknown else f"{root} holds no JSON file"
        raise InputError(f"{name}: give the folder with the released files, such as minor_id1_repeat2.json")
    pairs: list[MinimalPair] = []
    seen: dict[tuple[str, str], tuple[dict[str, Any], str]] = {}
    for path in paths:
        pairs += _read_kind(path, seen)
    return pairs


def _read_kind(path: Path, seen: dict[tuple[str, str], tuple[dict[str, Any], str]]) -> list[MinimalPair]:
    """Return the checked items of one file.

    Parameters
    ----------
    seen
        The first occurrence of every item in the files so far, extended here.
    """
    pairs, here = [], set()
    for place, row in json_array(path, _KEYS):
        if not all(isinstance(row[name], str) for name in _TEXTS) or not isinstance(row.get("data_source", ""), str):
            raise InputError(f"{place}: {', '.join(_TEXTS)} are not all texts: fetch the file again")
        if row["pert_name"] not in path.stem and path.stem not in row["pert_name"]:
            raise InputError(
                f"{place}: item {shown(str(row['id']))} is a {shown(row['pert_name'])}, the file {path.stem}: fetch the file again"
            )
        key = (str(row["id"]), str(row["lang_tag"]))
        if key in here:
            raise InputError(f"{place}: item {shown(' '.join(key))} must occur once in this file. Fetch the file again")
        here.add(key)
        first, where = seen.setdefault(key, (row, place))
        for name in ("eng_sent", "mt_sent", "src_sent"):
            if not _same(row[name], first[name]):
                raise InputError(
                    f"{place}: {name} of item {shown(' '.join(key))} is another text than in {where}: fetch both files again"
                )
        if row["pert_check"]:
            pairs.append(_pair(path.stem, row, place))
    unchanged = [pair for pair in pairs if pair.perturbed == pair.translation]
    if pairs and len(unchanged) > min(len(pairs) - 1, max(3, _MOST_UNCHANGED * len(pairs))):
        raise InputError(
            f"{unchanged[0].place}: one of {len(unchanged)} items whose perturbed text is the translation: fetch it again"
        )
    return pairs


def _same(one: str, other: str) -> bool:
    """Return whether two texts are the same sentence: identical, or at least 4 in 5 characters of it."""
    return one == other or SequenceMatcher(None, one, other, autojunk=False).ratio() >= 0.8


def _pair(stem: str, row: Mapping[str, Any], place: str) -> MinimalPair:
    kind = KINDS[stem]
    texts = (row["eng_sent"], row["mt_sent"], row["pert_sent"] or ".")
    about = (str(row["id"]), row["lang_tag"], row.get("data_source", ""), row["src_sent"])
    return MinimalPair(stem, *texts, kind.severity, *about, kind.identifier, kind.category, kind.type, kind.released, place)


@dataclass(frozen=True, slots=True)
class PublishedAccuracy:
    """One row of DEMETR's table A3: Welch's t, its p (as printed, such as ``<0.001``), degrees of freedom, accuracy in %."""

    identifier: int
    metric: str
    t: float
    p: str
    df: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class PublishedMeans:
    """One row of DEMETR's table 4, accuracies in %; parameters as in its table 3, "" for string-based metrics."""

    metric: str
    parameters: str
    base: float
    critical: float
    major: float
    minor: float
    all: float


def demetr_accuracies() -> list[PublishedAccuracy]:
    """Return table A3 of DEMETR (Karpinska et al. 2022): 14 metrics on 35 perturbations, whole data."""
    return [PublishedAccuracy(int(i), m, float(t), p, float(df), float(a)) for i, m, t, p, df, a in _rows("demetr_a3.tsv")]


def demetr_means() -> list[PublishedMeans]:
    """Return table 4 of DEMETR: unweighted means over kinds by the severities of the released files."""
    return [PublishedMeans(metric, size, *map(float, means)) for metric, size, *means in _rows("demetr_table4.tsv")]

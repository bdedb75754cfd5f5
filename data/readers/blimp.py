"""BLiMP (Warstadt et al. 2020): pairs of an acceptable and an unacceptable English sentence, one file a phenomenon."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rome.data.readers.lines import json_objects, shown
from rome.exceptions import InputError

__all__ = ["SentencePair", "read_blimp"]

_KEYS = ("sentence_good", "sentence_bad", "field", "linguistics_term", "UID", "pairID")


@dataclass(frozen=True, slots=True)
class SentencePair:
    """Two sentences that differ in one point of grammar. phenomenon : the file's UID; term, field : its wider classes."""

    good: str
    bad: str
    phenomenon: str
    term: str
    field: str
    item: str
    place: str = ""


def read_blimp(path: str | Path) -> list[SentencePair]:
    """The pairs of one released JSON-lines file, or of all files of a folder in the order of their names.

    Raises InputError for a line that names another phenomenon than its file, a pair number that comes twice, a pair of two
    identical sentences, and a folder without such files.
    """
    files = sorted(Path(path).glob("*.jsonl")) if Path(path).is_dir() else [Path(path)]
    if not files:
        raise InputError(f"{path} holds no .jsonl file: give the released data folder")
    pairs: list[SentencePair] = []
    for file in files:
        stem = file.name.split(".")[0]
        numbers: dict[str, str] = {}
        for place, row in json_objects(file, _KEYS):
            item = str(row["pairID"])
            if not all(isinstance(row[name], str) for name in _KEYS[:-1]):
                raise InputError(f"{place}: {', '.join(_KEYS[:-1])} are not all texts: fetch the file again")
            if row["UID"] != stem:
                raise InputError(
                    f"{place}: pair {shown(item)} belongs to {shown(row['UID'])}, the file to {stem}: fetch the file again"
                )
            if item in numbers:
                raise InputError(f"{place}: pair {shown(item)} stands already in {numbers[item]}: fetch the file again")
            if row["sentence_good"] == row["sentence_bad"]:
                raise InputError(f"{place}: both sentences of pair {shown(item)} are the same: fetch the file again")
            numbers[item] = place
            texts = row["sentence_good"], row["sentence_bad"]
            pairs.append(SentencePair(*texts, row["UID"], row["linguistics_term"], row["field"], item, place))
    return pairs

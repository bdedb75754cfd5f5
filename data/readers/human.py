"""Human judgements of generated texts: the development sets under human/, one item a judged output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rome.data.sources import data_file, read_jsonl
from rome.exceptions import InputError

__all__ = ["HUMAN_SETS", "JudgedOutput", "read_human"]

HUMAN_SETS = ("bagel_references", "webnlg17_third", "wmt15_da_to-en", "wmt23_mqm_zh-en_spans")
WEIGHTS = {"Minor": 1.0, "Major": 5.0, "Critical": 25.0}
MOST = 25.0


@dataclass(frozen=True, slots=True)
class JudgedOutput:
    """One output with its references and ratings, higher is better. group : items that compare one input's outputs; pool : language pair."""

    references: tuple[str, ...]
    hypothesis: str
    scores: Mapping[str, float]
    group: str
    pool: str


def _mqm(ratings: Sequence[Mapping[str, Any]]) -> float:
    """Minus the severity-weighted error count, at most 25, averaged over the raters; a non-translation counts 25."""
    totals = []
    for rating in ratings:
        errors = rating["errors"]
        total = sum(MOST if "Non-translation" in e["category"] else WEIGHTS.get(e["severity"], 0.0) for e in errors)
        totals.append(min(MOST, total))
    return -sum(totals) / len(totals)


def read_human(name: str) -> list[JudgedOutput]:
    """All items of one of HUMAN_SETS. Raises InputError for another name, or when an item has no reference or no rating."""
    if name not in HUMAN_SETS:
        raise InputError(f"{name} is no set of human judgements: choose one of {', '.join(HUMAN_SETS)}")
    items = []
    for line, row in enumerate(read_jsonl(data_file(f"human/{name}.jsonl.gz")), start=1):
        references = [row["reference"]] if isinstance(row["reference"], str) else row["reference"]
        scores = {"mqm": _mqm(row["ratings"])} if "ratings" in row else dict(row["scores"])
        if not references or not scores:
            raise InputError(f"{name}, line {line}: an item needs a reference and a rating, fetch the file again")
        pool = str(row.get("lp", ""))
        items.append(JudgedOutput(tuple(references), row["hypothesis"], scores, f"{pool}/{row['segment']}", pool))
    return items

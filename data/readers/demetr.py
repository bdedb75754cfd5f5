"""DEMETR (Karpinska et al. 2022): minimal pairs of a good translation and a perturbed copy, one file a perturbation."""

from __future__ import annotations

import json
from dataclasses import dataclass

from rome.data.sources import data_file
from rome.exceptions import InputError

__all__ = ["MinimalPair", "read_demetr"]


@dataclass(frozen=True, slots=True)
class MinimalPair:
    """A reference, its translation and the perturbed translation; kind and severity as in the published file."""

    kind: str
    severity: str
    reference: str
    translation: str
    perturbed: str


def read_demetr() -> list[MinimalPair]:
    """Every item whose perturbation was checked by hand; an empty perturbed text stands for ".".

    Raises InputError when a file's items do not name it as their perturbation.
    """
    pairs = []
    for path in sorted(data_file("demetr").glob("*.json")):
        for row in json.loads(path.read_text(encoding="utf-8")):
            if row["pert_name"] not in path.stem and path.stem not in row["pert_name"]:
                raise InputError(f"{path}: item {row['id']} is a {row['pert_name']}, fetch the file again")
            if row["pert_check"]:
                pairs.append(MinimalPair(path.stem, row["severity"], row["eng_sent"], row["mt_sent"], row["pert_sent"] or "."))
    return pairs

"""One call of the metric as plain columns: every number of every segment, without its evidence and its texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rome.combiner import Combiner
from rome.exceptions import InputError
from rome.features.values import FEATURES
from rome.inputs import SegmentError
from rome.table import FeatureTable

__all__ = ["COLUMNS", "DEFAULT_COLUMNS", "Measured", "check_names", "measure", "score_columns"]

DEFAULT_COLUMNS = ("score", *FEATURES)
COLUMNS = (
    *DEFAULT_COLUMNS,
    *(f"{name}_raw" for name in FEATURES),
    *(f"{name}_contribution" for name in FEATURES),
    *("reference_index", "flags", "signature"),
)
"""What can be asked for: numbers, but for ``flags`` (names with commas between them) and ``signature``."""

_PLACE = re.compile(r"^(references|hypotheses)\[(\d+)\](?:\[(\d+)\])?")


@dataclass(frozen=True, eq=False)
class Measured:
    """m segments, each by the row of the reference that it matches best.

    table : m rows. score : (m,) float64 in [0, 1]. net : what made the scores of the features.
    """

    table: FeatureTable
    score: NDArray[np.float64]
    net: Combiner

    @property
    def signature(self) -> str:
        """Every choice that changes a score."""
        return f"{self.table.signature}|{self.net.signature}"

    def column(self, name: str) -> list[Any]:
        """One of COLUMNS as plain Python values, one a segment."""
        count = len(self.score)
        if name == "flags":
            return [",".join(self.table.flags_of(row)) for row in range(count)]
        if name.endswith("_contribution"):
            return list(self.net.contributions(self.table)[:, FEATURES.index(name.removesuffix("_contribution"))].tolist())
        if name == "signature":
            return [self.signature] * count
        arrays = {**self.table.to_dict(), "score": self.score, "reference_index": self.table.reference}
        return list(arrays[name].tolist())


def measure(metric: Any, references: Sequence[str | Sequence[str]], hypotheses: Sequence[str]) -> Measured:
    """The numbers that ``metric.score`` gives, to the last digit, without evidence: memory stays small. Raises as `RoMe.score`."""
    net = metric.combiner  # a missing net is reported before anything is analysed
    table = metric.features(references=references, hypotheses=hypotheses)
    best = net.combine(table, allow_mismatch=True)
    return Measured(table[best.row], best.score, net)


def score_columns(
    metric: Any,
    references: Sequence[Any],
    hypotheses: Sequence[Any],
    *,
    columns: Sequence[str] = DEFAULT_COLUMNS,
    missing: str = "error",
    names: tuple[str, str] = ("reference", "hypothesis"),
    labels: Sequence[Any] | None = None,
) -> dict[str, list[Any]]:
    """The asked columns, one value a row.

    missing : what a row whose reference or hypothesis is missing (None or nan) means: "error" refuses it, "null" gives None in every
    column of that row. names : what messages call the two columns; labels : what they call the rows besides their numbers from 0.
    Raises InputError that names the row; no rows give empty columns.
    """
    check_columns(columns, missing)
    gaps = [
        next((n for n, v in zip(names, pair, strict=True) if _is_missing(v)), None) for pair in _rows(references, hypotheses)
    ]
    if missing == "error":
        _refuse_gaps(gaps, labels)
    kept = [row for row, gap in enumerate(gaps) if gap is None]
    if not kept:
        return {name: [None] * len(gaps) for name in columns}
    try:
        measured = measure(metric, [references[row] for row in kept], [hypotheses[row] for row in kept])
    except SegmentError as error:
        raise InputError(_placed(str(error), kept, names, labels)) from error
    result: dict[str, list[Any]] = {}
    for name in columns:
        result[name] = [None] * len(gaps)
        for row, value in zip(kept, measured.column(name), strict=True):
            result[name][row] = value
    return result


def check_columns(columns: Sequence[str], missing: str) -> None:
    """Raise InputError for a column or a rule that there is not."""
    unknown = [name for name in ([columns] if isinstance(columns, str) else columns) if name not in COLUMNS]
    if isinstance(columns, str) or unknown or not columns:
        asked = repr(unknown[0]) if unknown else repr(columns)
        raise InputError(f"columns={asked} is no list of columns: choose among {', '.join(COLUMNS)}")
    if missing not in ("error", "null"):
        raise InputError(f'missing={missing!r} is unknown: choose "error" or "null"')


def check_names(present: Sequence[str], needed: Mapping[str, str], added: Sequence[str]) -> None:
    """Raise InputError unless every needed column is there, and none of the added ones; ``needed`` is argument -> column."""
    for argument, name in needed.items():
        if name not in present:
            raise InputError(
                f"there is no column {name!r}: give {argument}=, one of {', '.join(map(str, present)) or '(none)'}"
            )
    if len(set(added)) != len(added):
        raise InputError(f"columns={list(added)} names one column twice: ask for each of them once")
    clashes = [name for name in added if name in present]
    if clashes:
        raise InputError(
            f"the frame has a column {', '.join(clashes)} already: drop or rename it, or choose prefix=, such as 'rome_'"
        )


def _rows(references: Sequence[Any], hypotheses: Sequence[Any]) -> list[tuple[Any, Any]]:
    return list(zip(references, hypotheses, strict=True))


def _is_missing(value: Any) -> bool:
    """None, nan, and what else is not equal to itself."""
    return value is None or (isinstance(value, float) and value != value)


def _refuse_gaps(gaps: Sequence[str | None], labels: Sequence[Any] | None) -> None:
    rows = [row for row, gap in enumerate(gaps) if gap is not None]
    if rows:
        shown = ", ".join(f"{gaps[row]} of {_row_name(row, labels)}" for row in rows[:5])
        more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
        raise InputError(
            f'a text is missing, {shown}{more}: fill or drop these rows, or pass missing="null" to score the others'
        )


def _row_name(row: int, labels: Sequence[Any] | None) -> str:
    """``row 3``, with its label where that says something else."""
    label = str(row if labels is None else labels[row])
    return f"row {row}" if label == str(row) else f"row {row} (index {label})"


def _placed(message: str, kept: Sequence[int], names: tuple[str, str], labels: Sequence[Any] | None) -> str:
    """The message about a segment, with the column and the row of the table in place of the argument and the segment."""

    def place(match: re.Match[str]) -> str:
        column = names[0] if match.group(1) == "references" else names[1]
        which = "" if match.group(3) is None else f"[{match.group(3)}]"
        return f"{column}{which} of {_row_name(kept[int(match.group(2))], labels)}"

    return _PLACE.sub(place, message)

"""What the integrations share: columns of texts in, columns of scores out, by the metric that is given or the default one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from rome.checks import EmptyReference, SegmentError, check_pairs
from rome.exceptions import InputError
from rome.features.values import FEATURES
from rome.metric import RoMe

DEFAULT_COLUMNS = ("score", *FEATURES)
COLUMNS = (
    *DEFAULT_COLUMNS,
    *(f"{name}_raw" for name in FEATURES),
    *(f"{name}_contribution" for name in FEATURES),
    *("reference_index", "flags", "signature"),
)
"""What can be asked for: numbers, but for ``flags`` (names with commas between them) and ``signature``."""
AT_ONCE = 1000
"""Rows that are scored together, at most, because their evidence is in memory; weights of all references need all rows."""

_PLACE = re.compile(r"^(references|hypotheses)\[(\d+)\](?:\[(\d+)\])?")


@lru_cache(maxsize=1)
def default_metric() -> RoMe:
    """The metric with the default settings, one a process: what every integration takes that is given none."""
    return RoMe(progress=False)


def refuse_batches(metric: Any, what: str) -> None:
    """Raise InputError for a metric whose scores depend on the other segments of a call, where calls are mere batches."""
    if getattr(metric, "idf", "embedded") == "references":
        raise InputError(
            f'{what} scores batch by batch, and with idf="references" a score depends on its batch: use idf="embedded"'
        )


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
    """The asked columns, one value a row; whoever takes ``columns`` and ``missing`` from a user has checked them.

    Raises InputError that names the row; no rows give empty columns.

    Parameters
    ----------
    metric
        A RoMe, or what has its ``score_pairs``; None takes the one with default settings.
    missing
        What a row whose reference or hypothesis is missing (None or nan) means: "error" refuses it, "null" gives None in every column of
        that row.
    names
        What messages call the two columns.
    labels
        What they call the rows besides their numbers from 0.
    """
    rows = zip(references, hypotheses, strict=True)
    gaps = [next((name for name, text in zip(names, row, strict=True) if _is_missing(text)), None) for row in rows]
    if missing == "error":
        _refuse_gaps(gaps, labels)
    kept = [row for row, gap in enumerate(gaps) if gap is None]
    result: dict[str, list[Any]] = {name: [None] * len(gaps) for name in columns}
    if not kept:
        return result
    metric = default_metric() if metric is None else metric
    empty: EmptyReference = getattr(metric, "empty_reference", "error")
    try:
        texts = [references[row] for row in kept], [hypotheses[row] for row in kept]
        pairs = check_pairs(*texts, empty_reference=empty, by_segment=True)
    except SegmentError as error:
        raise InputError(_placed(str(error), kept, names, labels)) from error
    size = len(pairs) if getattr(metric, "idf", "embedded") == "references" else AT_ONCE
    for start in range(0, len(pairs), size):
        scored = metric.score_pairs(pairs[start : start + size])
        found = scored.columns() | {"signature": [scored.signature] * len(scored)}
        for name in columns:
            for row, value in zip(kept[start : start + size], found[name], strict=True):
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

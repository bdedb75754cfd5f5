"""Pre-training signals as a table beside the pairs: streamed, keyed by the pairs' ids, stored as Parquet with every signature."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from rome.exceptions import InputError, StoreError
from rome.storage.files import atomic_path
from rome.train.synthesis.signals import CLASSES, Signal
from rome.train.synthesis.values import GeneratedPair

__all__ = ["SignalTable", "read_signals", "signal_table", "write_signals"]

KEY, FORMAT = b"rome.signals", 1
REMEDY = "make it with write_signals"
Column = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SignalTable:
    """ids : of the pairs. columns : name -> (n,) float64. signals : signal name -> its columns, loss, joint and signature."""

    ids: tuple[str, ...]
    columns: Mapping[str, Column]
    signals: Mapping[str, Mapping[str, Any]]

    def __len__(self) -> int:
        return len(self.ids)

    def targets(self) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
        """What multi-task training takes: a target and a loss for each task.

        A joint signal is one task with a (n, k) target, any other a task a column; a class flag becomes (n,) int64.
        """
        targets: dict[str, NDArray[Any]] = {}
        losses: dict[str, str] = {}
        for name, about in self.signals.items():
            parts = {name: about["columns"]} if about["joint"] else {column: [column] for column in about["columns"]}
            for task, columns in parts.items():
                target = np.stack([self.columns[column] for column in columns], axis=1)
                flag = about["loss"] == CLASSES and len(columns) == 1
                targets[task], losses[task] = (target[:, 0].astype(np.int64) if flag else target), about["loss"]
        return targets, losses


def signal_table(pairs: Iterable[GeneratedPair], signals: Sequence[Signal], *, batch: int = 256) -> SignalTable:
    """All signals of all pairs, in memory. Raises InputError for two pairs of one id or no signal."""
    ids: list[str] = []
    blocks: list[Column] = []
    for names, block in _batches(pairs, signals, batch):
        ids += names
        blocks.append(block)
    rows = np.concatenate(blocks) if blocks else np.zeros((0, len(_columns(signals))))
    return SignalTable(tuple(ids), dict(zip(_columns(signals), rows.T, strict=True)), _about(signals))


def write_signals(
    path: str | PathLike[str],
    pairs: Iterable[GeneratedPair],
    signals: Sequence[Signal],
    *,
    batch: int = 256,
    progress: bool | None = None,
) -> int:
    """Stream the signals of the pairs into a Parquet file, which appears under its name when complete; the number of pairs.

    progress : a bar on standard error; None shows one on a terminal only. Raises InputError as signal_table does.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = _columns(signals)
    fields = [pa.field("id", pa.string(), nullable=False), *(pa.field(name, pa.float64(), nullable=False) for name in columns)]
    schema = pa.schema(fields, metadata={KEY: json.dumps({"format": FORMAT, "signals": _about(signals)})})
    count, disable = 0, None if progress is None else not progress
    with atomic_path(path) as name, pq.ParquetWriter(str(name), schema, compression="zstd") as writer:
        with tqdm(unit="pair", desc="signals", disable=disable, file=sys.stderr, leave=False) as bar:
            for ids, block in _batches(pairs, signals, batch):
                arrays = [pa.array(ids, pa.string()), *(pa.array(list(column), pa.float64()) for column in block.T)]
                writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
                bar.update(len(ids))
                count += len(ids)
    return count


def read_signals(path: str | PathLike[str], names: Sequence[str] | None = None) -> SignalTable:
    """The table, or only the named signals of it. Raises InputError for another file or a signal it lacks, StoreError for damage."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not Path(path).is_file():
        raise InputError(f"the table of signals {path} is missing: {REMEDY}")
    try:
        about = json.loads((pq.read_schema(str(path)).metadata or {}).get(KEY, b"{}"))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path} is no table of signals (not a readable Parquet file): {REMEDY}") from error
    if about.get("format") != FORMAT:
        raise InputError(f"{path} is a Parquet file but no table of signals: {REMEDY}")
    known = about["signals"]
    lacking = [name for name in names or () if name not in known]
    if lacking:
        raise InputError(f"{path} lacks the signal {', '.join(lacking)}: choose among {', '.join(known)}")
    kept = {name: known[name] for name in (known if names is None else names)}
    columns = [column for signal in kept.values() for column in signal["columns"]]
    try:
        table = pq.read_table(str(path), columns=["id", *columns])
    except (pa.ArrowException, OSError) as error:
        raise StoreError(f"the table of signals {path} is damaged: {REMEDY} again") from error
    values = {column: np.array(table[column].to_pylist(), dtype=np.float64) for column in columns}
    return SignalTable(tuple(table["id"].to_pylist()), values, kept)


def _batches(pairs: Iterable[GeneratedPair], signals: Sequence[Signal], batch: int) -> Iterator[tuple[list[str], Column]]:
    """Ids and (m, columns) rows, batch by batch."""
    if not signals or batch < 1:
        raise InputError("no table without a signal and a batch of at least one pair: name one or more signals")
    rest, seen = iter(pairs), set[str]()
    while block := list(islice(rest, batch)):
        ids = [pair.id for pair in block]
        repeated = next((name for n, name in enumerate(ids) if name in seen or name in ids[:n]), None)
        if repeated is not None:
            raise InputError(f"two pairs have the id {repeated}: give each run's pairs ids of their own")
        seen.update(ids)
        yield ids, np.concatenate([signal.rows(block) for signal in signals], axis=1)


def _columns(signals: Sequence[Signal]) -> list[str]:
    return [column for signal in signals for column in signal.columns]


def _about(signals: Sequence[Signal]) -> dict[str, dict[str, Any]]:
    return {
        signal.name: {
            "columns": list(signal.columns),
            "loss": signal.loss,
            "joint": signal.joint,
            "signature": signal.signature,
        }
        for signal in signals
    }

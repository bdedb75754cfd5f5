"""Write a FeatureTable to a Parquet file, all or nothing, and read it whole or in batches; damage is reported."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rome.combining.table import WIDTH, FeatureTable, check_alike, rows_in_order
from rome.exceptions import InputError, RomeError, StoreError
from rome.features.values import FEATURES
from rome.storage.files import atomic_path
from rome.storage.rows import repeated

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT_KEY, FORMAT, UNCHECKED = b"rome.feature_table", b"3", (b"1", b"2")
DIGEST_KEY = b"rome.digest"
ROW_GROUP = 1 << 18
REMEDY = "make it with `rome features` or FeatureTable.save"
NUMBERS = [*FEATURES, *(f"{name}_raw" for name in FEATURES)]


def write_tables(path: str | PathLike[str], tables: Iterable[FeatureTable]) -> int:
    """Write tables one after the other into one Parquet file; return the number of rows.

    Every page has a checksum, and so has the whole. Raises InputError for no table or unlike ones, StoreError when the path cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    target, rest = Path(path), iter(tables)
    first = next(rest, None)
    if first is None:
        raise InputError(f"{target}: no feature table was given to write")
    schema, digest, rows = _schema(first), _digest(first), 0
    try:
        with (
            atomic_path(target, refusal=StoreError) as temporary,
            pq.ParquetWriter(str(temporary), schema, compression="zstd", write_page_checksum=True) as writer,
        ):
            for table in chain([first], rest):
                check_alike([first, table])
                writer.write_table(pa.table(table.to_dict(), schema=schema), row_group_size=ROW_GROUP)
                digest.update(_content(table))
                rows += len(table)
            writer.add_key_value_metadata({DIGEST_KEY: digest.hexdigest()})
    except OSError as error:
        if isinstance(error, RomeError):
            raise
        raise StoreError(f"{target} cannot be written ({error}): free some space or choose another folder") from error
    return rows


def read_table(path: str | PathLike[str]) -> FeatureTable:
    """Read the whole file. Raises InputError when it is absent or no feature table, StoreError when it is damaged."""
    return FeatureTable.concat(list(_tables(path, ROW_GROUP)))


def iter_tables(path: str | PathLike[str], rows: int = ROW_GROUP) -> Iterator[FeatureTable]:
    """Yield the file as tables of about ``rows`` rows, by segment and reference; the rows of a segment stay together.

    Every page is verified before its rows are yielded, the file as a whole after the last. A file in another order is read whole.
    """
    if rows < 1:
        raise InputError(f"rows must be at least 1, got {rows}")
    held: FeatureTable | None = None
    for table in _tables(path, rows) if _in_order(path) else _sorted(path):
        table = table if held is None else FeatureTable.concat([held, table])
        breaks = np.flatnonzero(np.diff(table.segment))
        cut = int(breaks[-1]) + 1 if breaks.size else 0
        if cut:
            yield table[:cut]
        held = table[cut:]
    if held is not None and len(held):
        yield held


def _tables(path: str | PathLike[str], rows: int) -> Iterator[FeatureTable]:
    """Yield an empty table, then the rows of the file; raise StoreError at the end when they are not those that were written."""
    import pyarrow as pa

    with _opened(path) as file:
        empty = _from_arrow(file.schema_arrow.empty_table(), path)
        digest, metadata = _digest(empty), file.metadata.metadata
        yield empty
        for group in range(file.num_row_groups):  # one at a time: Arrow keeps all groups it was asked for in memory
            for batch in file.iter_batches(batch_size=rows, row_groups=[group]):
                table = _from_arrow(pa.Table.from_batches([batch], schema=file.schema_arrow), path)
                digest.update(_content(table))
                yield table
        if metadata[FORMAT_KEY] not in UNCHECKED and metadata.get(DIGEST_KEY) != digest.hexdigest().encode():
            raise StoreError(f"the feature table {path} is damaged (its content does not fit its checksum): {REMEDY} again")


def _in_order(path: str | PathLike[str]) -> bool:
    """Return True when the rows are in the order of segments, and those of one segment in the order of references."""
    with _opened(path) as file:
        table = file.read(columns=["segment", "reference"])
        return rows_in_order(*(table[name].to_numpy() for name in ("segment", "reference")))


def _sorted(path: str | PathLike[str]) -> Iterator[FeatureTable]:
    """Yield the whole file in the order of segments and references."""
    table = read_table(path)
    yield table[np.lexsort((table.reference, table.segment))]


def _digest(described: FeatureTable) -> Any:
    """Return a checksum of what all rows share, to which their contents are added."""
    return hashlib.blake2b(repr(described.described()).encode(), digest_size=16)


def _content(table: FeatureTable) -> bytes:
    """Return the rows one after the other as bytes, so that a checksum does not depend on how they are cut."""
    return np.column_stack(list(table.to_dict().values())).astype("<f8").tobytes()


def _schema(table: FeatureTable) -> pa.Schema:
    import pyarrow as pa

    kinds = {"segment": pa.int64(), "reference": pa.int32(), "flags": pa.uint32()}
    fields = [pa.field(name, kinds.get(name, pa.float64()), nullable=False) for name in table.to_dict()]
    metadata = {
        FORMAT_KEY: FORMAT,
        b"rome.signature": table.signature.encode(),
        b"rome.units": "|".join(table.units).encode(),
        b"rome.flag_names": "|".join(table.flag_names).encode(),
    }
    return pa.schema(fields, metadata=metadata)


@contextmanager
def _opened(path: str | PathLike[str]) -> Iterator[Any]:
    """Yield the opened Parquet file, known to be a feature table; an error while it is read becomes StoreError. Raises InputError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not Path(path).is_file():
        fault = "is a directory" if Path(path).is_dir() else "does not exist"
        raise InputError(f"the feature table {path} {fault}: name a Parquet file; {REMEDY}")
    try:
        file = pq.ParquetFile(str(path), page_checksum_verification=True)
        schema = file.schema_arrow
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no feature table (not a readable Parquet file): {REMEDY}") from error
    with file:
        try:
            _check_schema(schema, path)
            yield file
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            if isinstance(error, (RomeError, MemoryError)):
                raise
            raise StoreError(f"the feature table {path} is damaged ({str(error)[:120]!r}): {REMEDY} again") from error


def _check_schema(schema: pa.Schema, path: str | PathLike[str]) -> None:
    """Raise InputError when a file with this schema is no feature table of a format that this version reads."""
    import pyarrow as pa

    kind = (schema.metadata or {}).get(FORMAT_KEY)
    if kind is None:
        raise InputError(f"{path} is a Parquet file but no feature table of RoMe: {REMEDY}")
    if kind not in (FORMAT, *UNCHECKED):
        number = kind.decode(errors="replace")
        raise InputError(f"{path} must have at most the format {FORMAT.decode()}, got format {number}: upgrade rome-metric")
    if twice := repeated(schema.names):
        raise InputError(f"the feature table {path} has two columns {twice}: {REMEDY} again")
    for name in ("segment", "reference", *NUMBERS):
        if name not in schema.names:
            raise InputError(f"the feature table {path} lacks the column {name}: {REMEDY} again")
        found = schema.field(name).type
        if not (found == pa.float64() if name in NUMBERS else pa.types.is_integer(found)):
            needed = "double (float64)" if name in NUMBERS else "whole numbers"
            raise InputError(f"the column {name} of the feature table {path} holds {found}, not {needed}: {REMEDY} again")


def _from_arrow(read: pa.Table, path: str | PathLike[str]) -> FeatureTable:
    metadata = read.schema.metadata or {}
    texts = {key: metadata.get(f"rome.{key}".encode(), b"").decode() for key in ("signature", "units", "flag_names")}
    try:
        columns = {name: read.column(name).to_numpy() for name in read.schema.names}
        return FeatureTable(
            columns["segment"],
            columns["reference"],
            np.stack([columns[name] for name in FEATURES], axis=1),
            np.stack([columns[f"{name}_raw"] for name in FEATURES], axis=1),
            tuple(texts["units"].split("|")) if texts["units"] else ("",) * WIDTH,
            texts["signature"],
            columns.get("flags"),
            tuple(texts["flag_names"].split("|")) if texts["flag_names"] else (),
        )
    except (InputError, TypeError, ValueError) as error:
        raise InputError(f"the feature table {path} is not valid: {error}") from error

"""The Parquet file of a FeatureTable: written all or nothing, read whole or in batches, every damage named."""

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

FORMAT_KEY, FORMAT, UNCHECKED = b"rome.feature_table", b"2", b"1"
DIGEST_KEY = b"rome.digest"
ROW_GROUP = 1 << 18
REMEDY = "make it with `rome features` or FeatureTable.save"


def write_tables(path: str | PathLike[str], tables: Iterable[FeatureTable]) -> int:
    """Write tables one after the other into one Parquet file; return the number of rows.

    The file appears under its name only when complete; every page carries a checksum, and so does the whole.
    Raises InputError for no table or unlike ones, StoreError when the path cannot be written.
    """
    target, rest = Path(path), iter(tables)
    first = next(rest, None)
    if first is None:
        raise InputError(f"{target}: no feature table was given to write")
    try:
        with atomic_path(target, refusal=StoreError) as temporary:
            return _write(temporary, first, rest)
    except OSError as error:
        if isinstance(error, RomeError):
            raise
        raise StoreError(f"{target} cannot be written ({error}): free some space or choose another folder") from error


def _write(name: Path, first: FeatureTable, rest: Iterable[FeatureTable]) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema, rows, digest = _schema(first), 0, _Digest()
    with pq.ParquetWriter(str(name), schema, compression="zstd", write_page_checksum=True) as writer:
        for table in chain([first], rest):
            check_alike([first, table])
            writer.write_table(pa.table(table.to_dict(), schema=schema), row_group_size=ROW_GROUP)
            digest.add(table)
            rows += len(table)
        writer.add_key_value_metadata({DIGEST_KEY: digest.value(first)})
    return rows


class _Digest:
    """One checksum of everything that tables written or read one after the other hold, however they are cut."""

    def __init__(self) -> None:
        self.columns = [hashlib.blake2b(digest_size=16) for _ in range(5)]

    def add(self, table: FeatureTable) -> None:
        flags = table.segment[:0] if table.flags is None else table.flags
        for column, values in zip(self.columns, (table.segment, table.reference, table.values, table.raw, flags), strict=True):
            column.update(np.ascontiguousarray(values).data)

    def value(self, described: FeatureTable) -> str:
        """32 hexadecimal digits."""
        whole = hashlib.blake2b(repr(described.described()).encode(), digest_size=16)
        for column in self.columns:
            whole.update(column.digest())
        return whole.hexdigest()

    def check(self, described: FeatureTable, file: Any, path: str | PathLike[str]) -> None:
        """Raise StoreError unless the file was written with this checksum; files of format 1 have none."""
        metadata = file.metadata.metadata or {}
        if metadata.get(FORMAT_KEY) != UNCHECKED and metadata.get(DIGEST_KEY) != self.value(described).encode():
            raise StoreError(f"the feature table {path} is damaged (its content does not fit its checksum): {REMEDY} again")


def read_table(path: str | PathLike[str]) -> FeatureTable:
    """Read the whole file. Raises InputError when it is absent or no feature table, StoreError when it is damaged."""
    digest = _Digest()
    with _open(path) as file:
        table = _from_arrow(file.read(), path)
        digest.add(table)
        digest.check(table, file, path)
        return table


def iter_tables(path: str | PathLike[str], rows: int = 1 << 18) -> Iterator[FeatureTable]:
    """Yield the file as tables of about ``rows`` rows, by segment and reference; the rows of a segment stay together.

    Every page is verified before its rows are given, the file as a whole after the last. A file whose rows are in another order,
    which another program wrote, is read whole.
    """
    if rows < 1:
        raise InputError(f"batches of {rows} rows are not possible: ask for 1 or more")
    held: FeatureTable | None = None
    with _open(path) as file:
        for table in _verified(file, rows, path) if _in_order(file) else _sorted(path, rows):
            table = table if held is None else FeatureTable.concat([held, table])
            if not len(table):
                continue
            breaks = np.flatnonzero(np.diff(table.segment))
            cut = int(breaks[-1]) + 1 if breaks.size else 0
            if cut:
                yield table[:cut]
            held = table[cut:]
    if held is not None and len(held):
        yield held


def _verified(file: Any, rows: int, path: str | PathLike[str]) -> Iterator[FeatureTable]:
    """The rows of a file as they stand there, then whether they are those that were written."""
    import pyarrow as pa

    digest = _Digest()
    for batch in _batches(file, rows):
        table = _from_arrow(pa.Table.from_batches([batch], schema=file.schema_arrow), path)
        digest.add(table)
        yield table
    digest.check(_from_arrow(file.schema_arrow.empty_table(), path), file, path)


def _in_order(file: Any) -> bool:
    """Whether the rows stand by segment, and those of one segment by reference."""
    segment, reference = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    for batch in _batches(file, ROW_GROUP, ["segment", "reference"]):
        columns = [batch.column(name).to_numpy(zero_copy_only=False) for name in ("segment", "reference")]
        if any(column.dtype.kind not in "iu" for column in columns):
            return True  # no table, as is said when it is read
        segment, reference = np.r_[segment[-1:], columns[0]], np.r_[reference[-1:], columns[1]]
        if not rows_in_order(segment, reference):
            return False
    return True


def _sorted(path: str | PathLike[str], rows: int) -> Iterator[FeatureTable]:
    """The whole file by segment and reference."""
    table = read_table(path)
    order = np.lexsort((table.reference, table.segment))
    yield from (table[order[start : start + rows]] for start in range(0, len(table), rows))


def _batches(file: Any, rows: int, columns: list[str] | None = None) -> Iterator[Any]:
    """Batches of at most ``rows`` rows, from as few groups of the file at a time, because Arrow holds all groups it was asked for."""
    groups: list[int] = []
    held = 0
    for group in range(file.num_row_groups):
        size = file.metadata.row_group(group).num_rows
        if groups and held + size > rows:
            yield from file.iter_batches(batch_size=rows, row_groups=groups, columns=columns)
            groups, held = [], 0
        groups.append(group)
        held += size
    if groups:
        yield from file.iter_batches(batch_size=rows, row_groups=groups, columns=columns)


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
def _open(path: str | PathLike[str]) -> Iterator[Any]:
    """The opened Parquet file, known to be a feature table; reading errors inside the block become StoreError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not Path(path).is_file():
        fault = "is a directory" if Path(path).is_dir() else "does not exist"
        raise InputError(f"the feature table {path} {fault}: name a Parquet file; {REMEDY}")
    try:
        file = pq.ParquetFile(str(path), page_checksum_verification=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no feature table (not a readable Parquet file): {REMEDY}") from error
    with file:
        try:
            _check_schema(file.schema_arrow, path)
            yield file
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            if isinstance(error, (RomeError, MemoryError)):
                raise
            raise StoreError(f"the feature table {path} is damaged ({_short(error)}): {REMEDY} again") from error


def _check_schema(schema: pa.Schema, path: str | PathLike[str]) -> None:
    version = (schema.metadata or {}).get(FORMAT_KEY)
    if version is None:
        raise InputError(f"{path} is a Parquet file but no feature table of RoMe: {REMEDY}")
    if version not in (UNCHECKED, FORMAT):
        number = version.decode(errors="replace")
        raise InputError(
            f"{path} has the feature table format {number}, this version reads {FORMAT.decode()}: upgrade rome-metric"
        )
    needed = ["segment", "reference", *FEATURES, *(f"{name}_raw" for name in FEATURES)]
    missing = [name for name in needed if name not in schema.names]
    if twice := repeated(schema.names):
        raise InputError(f"the feature table {path} has two columns {twice}: {REMEDY} again")
    if missing:
        raise InputError(f"the feature table {path} lacks the column {', '.join(missing)}: {REMEDY} again")
    rounded = next((name for name in needed[2:] if str(schema.field(name).type) != "double"), None)
    if rounded:
        kind = schema.field(rounded).type
        raise InputError(
            f"the column {rounded} of the feature table {path} holds {kind}, not double (float64), so its numbers are others: {REMEDY} again"
        )


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


def _short(error: BaseException) -> str:
    return str(error).splitlines()[0][:120] if str(error) else type(error).__name__

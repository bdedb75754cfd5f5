"""Results in a folder: one file a part, each counted again at the end."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from rome.batch.checkpoint import TEMPORARY, Checkpoint
from rome.batch.plan import PartPlan, check_unchanged, row_key
from rome.batch.row_files import Part, kind_of, opened_parquet, read_rows
from rome.batch.rows import RowOptions, arrow_schema, score_rows
from rome.exceptions import InputError, StoreError

if TYPE_CHECKING:
    import pyarrow as pa

    from rome.metric import RoMe

OUTPUT_FORMATS = ("parquet", "jsonl")
DONE = "_SUCCESS"
ATTEMPTS = 4


@dataclass(frozen=True)
class Summary:
    """What a finished run holds: its folder, rows, rows with an error, parts, and how many of those an earlier run had made."""

    output: str
    rows: int
    errors: int
    parts: int
    resumed: int


class OutputFolder(Checkpoint):
    """The folder that results are written to; ``_SUCCESS`` says that it is complete."""

    def __init__(self, path: str | PathLike[str], output_format: str) -> None:
        if output_format not in OUTPUT_FORMATS:
            raise InputError(f"output_format={output_format!r} is unknown: choose {' or '.join(OUTPUT_FORMATS)}")
        super().__init__(path, output_format)

    @contextmanager
    def attempt(self, part: Part) -> Iterator[None]:
        """Leave a trace while a part is scored, so that one that ends its process is not tried for ever. Raises StoreError then."""
        trace = f"{TEMPORARY}{part.number:06d}-try-"
        if sum(name.startswith(trace) for name in self.names()) >= ATTEMPTS:
            raise StoreError(
                f"{part.rows} rows of {part.file} from number {part.first} on ended {ATTEMPTS} workers: give the workers more memory, "
                "lower longest=, or take those rows out"
            )
        mark = f"{self.place}/{trace}{uuid.uuid4().hex}"
        self.system.open_output_stream(mark).close()
        yield
        self.system.delete_file(mark)

    def finish(self, plan: PartPlan, resumed: int) -> Summary:
        """Count all parts again from the files, and write ``_SUCCESS``. Raises StoreError when a part lacks rows."""
        errors = 0
        for part in plan.parts:
            found = self._errors(part)
            if len(found) != part.rows:
                raise StoreError(
                    f"{self.path}/{self.name(part.number)} holds {len(found)} rows, not {part.rows}: delete it and run again"
                )
            errors += sum(error is not None for error in found)
        self.clean()
        summary = Summary(self.path, plan.rows, errors, len(plan.parts), resumed)
        counts = {key: value for key, value in asdict(summary).items() if key in ("rows", "errors", "parts")}
        self.write(DONE, json.dumps({**counts, "signature": plan.description["signature"]}).encode())
        return summary

    def _errors(self, part: Part) -> list[str | None]:
        """The column ``error`` of a part."""
        if self.ending == "jsonl":
            return [json.loads(line)["error"] for line in self.read(self.name(part.number)).splitlines()]
        with opened_parquet(self.system, f"{self.place}/{self.name(part.number)}") as table:
            return list(table.read(columns=["error"]).column("error").to_pylist())


def score_part(part: Part, metric: RoMe, options: RowOptions, output: OutputFolder, source: Any) -> None:
    """Read the rows of a part from the file system ``source``, score them, write them. Raises InputError when they have changed since."""
    rows = list(read_rows(source, part.file, options.wanted, part))
    check_unchanged(part, rows, options)
    columns = {name: [row.values.get(name) for row in rows] for name in options.wanted}
    keys, faults = [row_key(part.file, row, options) for row in rows], [row.fault for row in rows]
    out = score_rows(columns, metric, options, keys=keys, faults=faults)
    content = _jsonl(out) if output.ending == "jsonl" else _parquet(out, options, _kept(part.file, options, source))
    output.write(output.name(part.number), content)


def _kept(file: str, options: RowOptions, source: Any) -> dict[str, pa.DataType]:
    """The types of the columns that are passed on, as the Parquet file has them; those of JSON lines become text."""
    if not options.keep or kind_of(file) == "jsonl":
        return {}
    with opened_parquet(source, file) as table:
        return {name: table.schema_arrow.field(name).type for name in options.keep}


def _parquet(columns: Mapping[str, Sequence[Any]], options: RowOptions, kept: Mapping[str, pa.DataType]) -> bytes:
    """The content of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = {name: [_text(value) for value in columns[name]] for name in options.keep if name not in kept}
    table = pa.table({**columns, **texts}, schema=arrow_schema(options, kept))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def _text(value: Any) -> str | None:
    """A value of JSON lines as text: itself, or its JSON."""
    if value is None:
        return None
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).encode("utf-8", "replace").decode()


def _jsonl(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """The content of a JSON-lines file; a value that JSON has no word for becomes its text."""
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return b"".join(json.dumps(row, ensure_ascii=False, default=str).encode("utf-8", "replace") + b"\n" for row in rows)

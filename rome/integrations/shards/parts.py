"""Results in a folder: one file a part, which appears whole or not at all; what is there is not made again."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from rome.exceptions import InputError, StoreError
from rome.integrations.rows import Scores, score_columns
from rome.integrations.shards.columns import RowOptions, arrow_schema
from rome.integrations.shards.inputs import Span, kind_of, located, opened_parquet, read_rows
from rome.integrations.shards.plan import Part, Plan, row_key

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["OUTPUT_FORMATS", "OutputFolder", "Summary", "score_part"]

OUTPUT_FORMATS = ("parquet", "jsonl")
PLAN, DONE, TEMPORARY = "_plan.json", "_SUCCESS", ".part-"
BATCH_ROWS, ATTEMPTS = 64, 4


@dataclass(frozen=True)
class Summary:
    """What a finished run holds: its folder, rows, rows with an error, parts, and how many of those an earlier run had made."""

    output: str
    rows: int
    errors: int
    parts: int
    resumed: int


class OutputFolder:
    """The folder that results are written to; ``_plan.json`` says of what, ``_SUCCESS`` that it is complete.

    One run at a time may write to it. Files whose names begin with ``.`` or ``_`` are no results.
    """

    def __init__(self, path: str | PathLike[str], output_format: str) -> None:
        if output_format not in OUTPUT_FORMATS:
            raise InputError(f"output_format={output_format!r} is unknown: choose {' or '.join(OUTPUT_FORMATS)}")
        self.path, self.output_format = str(path), output_format
        self.system, self.place = located(path)

    def name(self, part: Part | int) -> str:
        """The file of a part."""
        number = part if isinstance(part, int) else part.number
        return f"part-{number:06d}.{self.output_format}"

    def begin(self, plan: Plan) -> set[int]:
        """Make the folder ready for a plan; the numbers of the parts that an earlier run of the same plan has made.

        Raises InputError when the folder holds other things or the results of another plan.
        """
        self.system.create_dir(self.place, recursive=True)
        found = self._names()
        if PLAN in found:
            self._same(plan)
        elif any(not name.startswith(TEMPORARY) for name in found):
            raise InputError(f"{self.path} holds other files: give a folder of its own to the results")
        self._clean()
        if PLAN not in found:
            self.write(PLAN, json.dumps(plan.description, indent=1).encode())
        return {part.number for part in plan.parts if self.name(part) in found}

    def _names(self) -> set[str]:
        """The files of the folder."""
        from pyarrow.fs import FileSelector

        return {file.base_name for file in self.system.get_file_info(FileSelector(self.place))}

    def _clean(self) -> None:
        """Remove what a worker that was killed had begun to write."""
        for name in self._names():
            if name.startswith(TEMPORARY):
                self.system.delete_file(f"{self.place}/{name}")

    def _same(self, plan: Plan) -> None:
        """Refuse to go on with another plan than the one that was begun."""
        before = json.loads(self.read(PLAN))
        keys = [key for key in {**plan.description, **before} if plan.description.get(key) != before.get(key)]
        if keys:
            raise InputError(
                f"{self.path} was begun with other data or options ({', '.join(keys)} differ): give another folder, or delete it"
            )

    def read(self, name: str) -> bytes:
        """The content of a file."""
        with self.system.open_input_file(f"{self.place}/{name}") as stream:
            return bytes(stream.read())

    def write(self, name: str, content: bytes) -> None:
        """Write a file under a temporary name and give it its own when it is complete; what stood there is replaced."""
        temporary = f"{self.place}/{TEMPORARY}{uuid.uuid4().hex}"
        with self.system.open_output_stream(temporary) as stream:
            stream.write(content)
        self.system.move(temporary, f"{self.place}/{name}")

    @contextmanager
    def attempt(self, part: Part) -> Iterator[None]:
        """Leave a trace while a part is scored, so that one that ends its process is not tried for ever. Raises StoreError then."""
        trace = f"{TEMPORARY}{part.number:06d}-try-"
        span = part.span
        if sum(name.startswith(trace) for name in self._names()) >= ATTEMPTS:
            raise StoreError(
                f"{span.rows} rows of {span.file} from number {span.first} on ended {ATTEMPTS} workers: give the workers more memory, "
                "lower longest=, or take those rows out"
            )
        mark = f"{self.place}/{trace}{uuid.uuid4().hex}"
        self.system.open_output_stream(mark).close()
        yield
        self.system.delete_file(mark)

    def finish(self, plan: Plan, resumed: int) -> Summary:
        """Count all parts again from the files, and write ``_SUCCESS``. Raises StoreError when a part lacks rows."""
        errors = 0
        for part in plan.parts:
            found = self._errors(part)
            if len(found) != part.span.rows:
                raise StoreError(
                    f"{self.path}/{self.name(part)} holds {len(found)} rows, not {part.span.rows}: delete it and run again"
                )
            errors += sum(error is not None for error in found)
        self._clean()
        summary = Summary(self.path, plan.rows, errors, len(plan.parts), resumed)
        counts = {key: value for key, value in asdict(summary).items() if key in ("rows", "errors", "parts")}
        self.write(DONE, json.dumps({**counts, "signature": plan.description["signature"]}).encode())
        return summary

    def _errors(self, part: Part) -> list[str | None]:
        """The column ``error`` of a part."""
        if self.output_format == "jsonl":
            return [json.loads(line)["error"] for line in self.read(self.name(part)).splitlines()]
        with opened_parquet(self.system, f"{self.place}/{self.name(part)}") as table:
            return list(table.read(columns=["error"]).column("error").to_pylist())


def score_part(part: Part, metric: Scores, options: RowOptions, output: OutputFolder, source: Any) -> None:
    """Read the rows of a part from the file system ``source``, score them, write them."""
    out: dict[str, list[Any]] = {}
    rows = list(read_rows(source, part.span.file, options.wanted, part.span))
    for start in range(0, len(rows), BATCH_ROWS):
        batch = rows[start : start + BATCH_ROWS]
        columns = {name: [row.values.get(name) for row in batch] for name in options.wanted}
        keys = [row_key(part.span.file, row, options) for row in batch]
        scored = score_columns(columns, metric, options, keys=keys, faults=[row.fault for row in batch])
        for name, values in scored.items():
            out.setdefault(name, []).extend(values)
    content = _jsonl(out) if output.output_format == "jsonl" else _parquet(out, options, _kept(part.span, options, source))
    output.write(output.name(part), content)


def _kept(span: Span, options: RowOptions, source: Any) -> dict[str, pa.DataType]:
    """The types of the columns that are passed on, as the Parquet file has them; those of JSON lines become text."""
    if not options.keep or kind_of(span.file) == "jsonl":
        return {}
    with opened_parquet(source, span.file) as table:
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

"""What every synthesis pipeline yields, a text and what was done to it step by step, and its file: JSON lines that an interrupted run goes on with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from rome.exceptions import InputError, StoreError
from rome.storage.files import atomic_path

__all__ = ["GeneratedPair", "MOST", "Operation", "Pipeline", "read_generated", "run_file", "write_generated"]

MOST = 25.0
"""The most that all mistakes of a text can cost, as in MQM and SEScore (labels lie in [-25, 0])."""
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Operation:
    """One step.

    Attributes
    ----------
    start, end
        Characters of the text **before** this step; ``original`` stood there, ``new`` took its place.
    kind
        Insertion, deletion, replacement, swap, or another pipeline's own word.
    type
        What it is about, such as noun, number.
    severity
        None, minor or major.
    label
        What it costs, at most 0 (SEScore: -1 or -5; None where a pipeline gives no severity).
    details
        Numbers behind the severity, such as the probabilities of entailment or the likelihood in context.
    """

    kind: str
    start: int
    end: int
    original: str
    new: str
    severity: str = "none"
    label: float | None = None
    type: str = ""
    details: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GeneratedPair:
    """A reference, the hypothesis that was made of it, and everything needed to make it again.

    Attributes
    ----------
    id
        Unique within a run.
    pipeline
        Its name and settings that change the output, ``sescore|fill:...``.
    seed
        Of this pair.
    reference
        The anchor text.
    hypothesis
        The text after all operations, which are in the order they were carried out.
    label
        The sum of the operations' labels, at least -25; None where they have none.
    signals
        Further numbers of the pair (BLEURT's pre-training signals).
    source
        Where the reference came from, ``file:line``.
    """

    id: str
    pipeline: str
    seed: int
    reference: str
    hypothesis: str
    operations: tuple[Operation, ...] = ()
    label: float | None = None
    signals: Mapping[str, float] = field(default_factory=dict)
    source: str = ""

    def replayed(self) -> str:
        """The hypothesis made again from the reference and the operations. Raises InputError when an operation does not fit its text."""
        text = self.reference
        for operation in self.operations:
            if text[operation.start : operation.end] != operation.original:
                raise InputError(
                    f"pair {self.id}: {operation.original!r} does not stand at {operation.start} of the text before: damaged"
                )
            text = text[: operation.start] + operation.new + text[operation.end :]
        return text

    def to_json(self) -> str:
        """One line of JSON; equal pairs give equal bytes."""
        return json.dumps({"format": FORMAT, **asdict(self)}, ensure_ascii=False, sort_keys=True)

    @staticmethod
    def from_json(line: str, place: str = "") -> GeneratedPair:
        """What to_json wrote. Raises InputError, naming the place, for anything else."""
        try:
            row: dict[str, Any] = json.loads(line)
            if row.pop("format") != FORMAT:
                raise ValueError("another format")
            operations = tuple(Operation(**operation) for operation in row.pop("operations"))
            return GeneratedPair(operations=operations, **row)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(f"{place}: no generated pair ({error}): take a file that `rome synthesize` wrote") from error


RUN_FORMAT = 1


class Pipeline(Protocol):
    """What every synthesis pipeline is. Where it takes several texts at a time, its ``block`` or ``batch`` says how many."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def signature(self) -> str:
        """Every choice that changes its pairs."""

    @property
    def skipped(self) -> Mapping[str, int]:
        """How many texts gave nothing, by reason."""

    def pairs(self, texts: Iterable[tuple[str, str]], seed: int) -> Iterator[GeneratedPair]:
        """Yield the pairs of (source, text), in their order."""


def run_file(path: Path) -> Path:
    """The small file beside the pairs that says which run they are of."""
    return path.with_name(f"{path.name}.run.json")


def write_generated(
    path: str | Path, pipeline: Pipeline, texts: Sequence[tuple[str, str]], seed: int
) -> Iterator[GeneratedPair]:
    """Append the pairs of (source, text) to a file, each at once, and yield those that are new.

    A run that was interrupted goes on: whole lines stay, a torn last line is cut off, the last block of texts is made again and must
    give the lines that are there. So the file ends with the bytes of an uninterrupted run, whenever it was interrupted. Sources
    must be distinct. Beside the file stands ``<name>.run.json`` with the pipeline's signature and the seed.

    Raises InputError for a file of another signature, seed or corpus, or of something else, before anything is written; StoreError
    when it cannot be written.
    """
    target = Path(path)
    places = {source: number for number, (source, _) in enumerate(texts)}
    if len(places) < len(texts):
        raise InputError("two texts have the same source: name each one, such as file:line")
    if target.suffix == ".gz":
        raise InputError(f"{target} would be compressed, and such a file cannot be continued: name a .jsonl file")
    if target.is_dir():
        raise InputError(f"{target} is a directory: name a file in it to write to")
    _check_run(target, pipeline.signature, seed)
    block = getattr(pipeline, "block", getattr(pipeline, "batch", 1))
    known, first = _known(target, places, block)
    return _appended(target, pipeline.pairs(texts[first:], seed), known)


def read_generated(path: str | Path) -> Iterator[GeneratedPair]:
    """Yield the pairs of a file, one a line. Raises InputError, naming file and line, for what is none."""
    try:
        with Path(path).open(encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, 1):
                yield GeneratedPair.from_json(line, f"{path}:{number}")
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): name a file that `rome synthesize` wrote") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 ({error}): name a file that `rome synthesize` wrote") from error


def _check_run(target: Path, signature: str, seed: int) -> None:
    """Note which run the file is of, or make sure that it is this one."""
    note = run_file(target)
    mine = {"format": RUN_FORMAT, "signature": signature, "seed": seed}
    if target.exists() and target.stat().st_size:
        try:
            found = json.loads(note.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"{target} exists, and no {note.name} says which run it is of: name another output") from error
        for key, value in mine.items():
            if found.get(key) != value:
                raise InputError(
                    f"{target} is of a run with {key} {found.get(key)!r}, this one has {value!r}: name another output"
                )
        return
    with atomic_path(note) as temporary:
        temporary.write_text(json.dumps(mine, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


def _known(target: Path, places: dict[str, int], block: int) -> tuple[list[bytes], int]:
    """The lines of the block that was being made, without a torn one, which is cut off; and the number of its first text."""
    if not target.exists():
        return [], 0
    lines: list[bytes] = []
    first = whole = 0
    with target.open("rb") as rows:
        for number, row in enumerate(rows, 1):
            if not row.endswith(b"\n"):
                break
            start = _place(row, places, f"{target}:{number}") // block * block
            if start != first:
                lines, first = [], start
            lines.append(row)
            whole += len(row)
    if whole < target.stat().st_size:
        with target.open("r+b") as stream:
            stream.truncate(whole)
    return lines, first


def _place(row: bytes, places: dict[str, int], place: str) -> int:
    """Which text a line is of."""
    try:
        source = GeneratedPair.from_json(row.decode("utf-8"), place).source
    except UnicodeDecodeError as error:
        raise InputError(f"{place}: not UTF-8 ({error}): name another output") from error
    if source not in places:
        raise InputError(
            f"{place}: made from {source!r}, which is not among these texts: take the same ones, or name another output"
        )
    return places[source]


def _appended(target: Path, pairs: Iterator[GeneratedPair], known: list[bytes]) -> Iterator[GeneratedPair]:
    """Check the pairs that are there already, then append the others."""
    try:
        for number, row in enumerate(known, 1):
            again = next(pairs, None)
            if again is None or _row(again) != row:
                raise InputError(
                    f"{target}: pair {number} of the last {len(known)} is not what these texts give now: were texts or models changed? "
                    "name another output"
                )
        with target.open("ab") as stream:
            yield from (pair for pair in pairs if _write(stream, pair))
    except InputError:
        raise
    except OSError as error:
        raise StoreError(f"{target} cannot be written ({error.strerror}): free some space or choose another folder") from error


def _write(stream: BinaryIO, pair: GeneratedPair) -> bool:
    stream.write(_row(pair))
    stream.flush()
    return True


def _row(pair: GeneratedPair) -> bytes:
    return f"{pair.to_json()}\n".encode("utf-8", "surrogatepass")

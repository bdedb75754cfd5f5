"""What every synthesis pipeline is and yields: a text and what was done to it step by step; and its file of JSON lines."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from rome.batch.checkpoint import Checkpoint
from rome.exceptions import InputError
from rome.storage.files import open_lines, open_output

LOWEST_LABEL = -25.0
"""The most that all mistakes of a text can cost, as in MQM and SEScore (labels lie in [-25, 0])."""
FORMAT = 1
T = TypeVar("T")


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


def applied(text: str, *operations: Operation) -> str:
    """The text after some operations, one after the other."""
    for one in operations:
        text = text[: one.start] + one.new + text[one.end :]
    return text


@dataclass(frozen=True, slots=True)
class SyntheticPair:
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

    def to_json(self) -> str:
        """One line of JSON; equal pairs give equal bytes."""
        return json.dumps({"format": FORMAT, **asdict(self)}, ensure_ascii=False, sort_keys=True)

    @staticmethod
    def from_json(line: str, place: str = "") -> SyntheticPair:
        """What to_json wrote. Raises InputError, naming the place, for anything else."""
        try:
            row: dict[str, Any] = json.loads(line)
            if row.pop("format") != FORMAT:
                raise ValueError("another format")
            operations = tuple(Operation(**operation) for operation in row.pop("operations"))
            return SyntheticPair(operations=operations, **row)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(f"{place}: no generated pair ({error}): take a file that `rome synthesize` wrote") from error


class Pipeline(ABC):
    """Makes pairs of texts; a kind of pipeline says how a text is damaged and what each step costs.

    Parameters
    ----------
    signature
        Every choice that changes its pairs.
    block
        Texts at a time, for speed.

    Attributes
    ----------
    name
        What it is called.
    skipped
        How many texts gave nothing, by reason.
    """

    name: str

    def __init__(self, signature: str, block: int) -> None:
        self.signature, self.block = signature, block
        self.skipped: Counter[str] = Counter()

    @abstractmethod
    def is_long_enough(self, text: str) -> bool:
        """Whether something can be done to the text; others are skipped."""

    @abstractmethod
    def pairs_of(self, texts: Sequence[tuple[str, str]], seed: int) -> Iterable[SyntheticPair]:
        """The pairs of a block of (source, text), in its order. What gives nothing is counted in ``skipped``."""

    def pairs(self, texts: Iterable[tuple[str, str]], seed: int) -> Iterator[SyntheticPair]:
        """Yield the pairs of (source, text), in their order, a block at a time; those of a text depend on it and the seed alone."""
        for block in batches(texts, self.block):
            kept = [(source, text) for source, text in block if self.is_long_enough(text)]
            if len(kept) < len(block):
                self.skipped["too short"] += len(block) - len(kept)
            yield from self.pairs_of(kept, seed)

    def pair(
        self,
        source: str,
        text: str,
        operations: Sequence[Operation],
        seed: int,
        *,
        name: str = "",
        signals: Mapping[str, float] | None = None,
    ) -> SyntheticPair:
        """The pair that some operations make of a text.

        Parameters
        ----------
        name
            Its id (default: one that depends on signature, seed, source and text).
        """
        labels = [one.label for one in operations if one.label is not None]
        label = max(sum(labels), LOWEST_LABEL) if len(labels) == len(operations) else None
        name = name or identifier(self.signature, seed, source, text)
        made = applied(text, *operations)
        return SyntheticPair(name, self.signature, seed, text, made, tuple(operations), label, signals or {}, source)


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of at most ``size``, read only as far as they are asked for."""
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch


def pair_seed(seed: int, text: str) -> int:
    """48 bits that depend on the run's seed and the text alone."""
    return int.from_bytes(hashlib.sha256(f"{seed}\0{text}".encode("utf-8", "surrogatepass")).digest()[:6], "big")


def settings_signature(settings: Any) -> str:
    """Every value of a dataclass of numbers by its name."""
    return "|".join(f"{name}:{value:g}" for name, value in asdict(settings).items())


def identifier(*parts: object) -> str:
    """16 hexadecimal digits that depend on the parts alone."""
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def write_synthetic(
    path: str | Path, pipeline: Pipeline, texts: Sequence[tuple[str, str]], seed: int
) -> Iterator[list[SyntheticPair]]:
    """Write the pairs of (source, text) to a file, and yield the new ones block by block; an empty list for a block that was there.

    What is finished waits in the folder ``FILE.partial`` until all is done: the same run, begun again after an interruption, goes on there
    and ends with the same bytes. The file appears when it is whole.

    Raises InputError when the folder holds another run, and when the file cannot be written.
    """
    if os.path.isdir(path):
        raise InputError(f"{path} is a directory: name a file in it to write to")
    kept = Checkpoint(f"{os.path.realpath(path)}.partial", "jsonl")
    digest = hashlib.sha256(json.dumps(texts).encode()).hexdigest()
    with kept.alone():
        there = kept.begin({"signature": pipeline.signature, "seed": seed, "texts": digest})
        names = []
        for number, block in enumerate(batches(texts, pipeline.block)):
            names.append(kept.name(number))
            made = [] if number in there else list(pipeline.pairs(block, seed))
            if number not in there:
                kept.write(names[-1], "".join(f"{pair.to_json()}\n" for pair in made).encode("utf-8"))
            yield made
        with open_output(str(path)) as stream:
            stream.writelines(kept.read(name).decode("utf-8") for name in names)
        shutil.rmtree(kept.path, ignore_errors=True)


def read_synthetic(path: str | Path) -> Iterator[SyntheticPair]:
    """Yield the pairs of a file, one a line. Raises InputError, naming file and line, for what is none."""
    with open_lines(str(path)) as lines:
        for number, line in enumerate(lines, 1):
            yield SyntheticPair.from_json(line, f"{path}:{number}")

"""Synthetic pairs, their file of JSON lines, and the base class of the pipelines that make them."""

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
from rome.train.synthesis.edits import Operation, applied, words_of

LOWEST_LABEL = -25.0
"""Lowest sum of the costs of all mistakes in a text, as in MQM and SEScore."""
FORMAT = 1
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SyntheticPair:
    """A reference, the hypothesis made of it, and everything needed to make it again.

    Attributes
    ----------
    id
        Unique within a run.
    pipeline
        Name and settings that change the output, ``sescore|fill:...``.
    seed
        Of this pair.
    reference
        The anchor text.
    hypothesis
        The text after all operations, in the order in which they are carried out.
    label
        The sum of the labels of the operations, at least -25; None if they have none.
    signals
        Other numbers of the pair (BLEURT's pre-training signals).
    source
        Place of the reference, ``file:line``.
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
        """Return one line of JSON; equal pairs give equal bytes."""
        return json.dumps({"format": FORMAT, **asdict(self)}, ensure_ascii=False, sort_keys=True)

    @staticmethod
    def from_json(line: str, place: str = "") -> SyntheticPair:
        """Read what to_json wrote. Raises InputError, naming the place, for anything else."""
        try:
            row: dict[str, Any] = json.loads(line)
            if row.pop("format") != FORMAT:
                raise ValueError("another format")
            operations = tuple(Operation(**operation) for operation in row.pop("operations"))
            return SyntheticPair(operations=operations, **row)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(f"{place} is not a generated pair ({error}): take a file that `rome synthesize` wrote") from error


class Pipeline(ABC):
    """Makes pairs of texts; each kind of pipeline damages a text and weighs the damage in its own way.

    Parameters
    ----------
    signature
        Every choice that changes its pairs.
    block
        Texts at a time, for speed.
    least_words
        Texts of fewer words and signs are skipped.

    Attributes
    ----------
    skipped
        Number of texts that gave nothing, by reason.
    severities
        What judges the edits (`rome.train.synthesis.severities`); None for a pipeline that gives severities itself, or none.
    """

    name: str
    severities: Any = None

    def __init__(self, signature: str, block: int, least_words: int) -> None:
        self.signature, self.block, self.least_words = signature, block, least_words
        self.skipped: Counter[str] = Counter()

    def is_long_enough(self, text: str) -> bool:
        """Tell whether a text has enough words and signs."""
        return len(words_of(text)) >= self.least_words

    @abstractmethod
    def pairs_of(self, texts: Sequence[tuple[str, str]], seed: int) -> Iterable[SyntheticPair]:
        """Return the pairs of a block of (source, text), in its order; count texts that give nothing in ``skipped``."""

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
        """Return the pair that some operations make of a text.

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
    """Yield the items in lists of at most ``size``, lazily."""
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch


def pair_seed(seed: int, text: str) -> int:
    """Return 48 bits that depend on the seed of the run and the text alone."""
    return int(identifier(seed, text)[:12], 16)


def settings_signature(settings: Any) -> str:
    """Return every value of a dataclass of numbers by its name."""
    return "|".join(f"{name}:{value:g}" for name, value in asdict(settings).items())


def identifier(*parts: object) -> str:
    """Return 16 hexadecimal digits that depend on the parts alone."""
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def write_synthetic(
    path: str | Path, pipeline: Pipeline, texts: Sequence[tuple[str, str]], seed: int
) -> Iterator[list[SyntheticPair]]:
    """Write the pairs of (source, text) to a file, and yield the new ones block by block, an empty list for a finished block.

    Finished blocks are kept in the folder ``FILE.partial``: the same run, started again after an interruption, continues there and ends
    with the same bytes. The file appears when it is complete.

    Raises InputError when the folder holds another run, and when the file cannot be written.
    """
    if os.path.isdir(path):
        raise InputError(f"{path} is a directory: name a file in it to write to")
    kept = Checkpoint(f"{os.path.realpath(path)}.partial", "jsonl")
    with kept.alone():
        there = kept.begin({"signature": pipeline.signature, "seed": seed, "texts": identifier(*map(tuple, texts))})
        blocks = list(batches(texts, pipeline.block))
        for number, block in enumerate(blocks):
            made = [] if number in there else list(pipeline.pairs(block, seed))
            if number not in there:
                kept.write(kept.name(number), "".join(f"{pair.to_json()}\n" for pair in made).encode("utf-8"))
            yield made
        with open_output(str(path)) as stream:
            stream.writelines(kept.read(kept.name(number)).decode("utf-8") for number in range(len(blocks)))
        shutil.rmtree(kept.path, ignore_errors=True)


def read_synthetic(path: str | Path) -> Iterator[SyntheticPair]:
    """Yield the pairs of a file, one per line. Raises InputError, naming file and line, for a line that is not a pair."""
    with open_lines(str(path)) as lines:
        for number, line in enumerate(lines, 1):
            yield SyntheticPair.from_json(line, f"{path}:{number}")

"""Scoring and measuring in blocks: memory that does not grow with the number of pairs, and blocks that any worker may take.

How pairs are cut into blocks depends on the pairs alone, and a block is scored without anything that another one left in memory. So
the scores are the same to the last bit whatever the number of workers, and a run that goes on after an interruption loses nothing.
Texts that stand in several blocks are found beforehand; each process analyses them once, in groups that depend on the pairs alone.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from array import array
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import inf
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeVar

from rome.batch.workers import Report, run_in_order
from rome.checks import EmptyReference, SegmentError, check_pairs
from rome.exceptions import InputError
from rome.storage.pair_files import PairRow

if TYPE_CHECKING:
    from rome.combining.table import FeatureTable
    from rome.results import CorpusScore

__all__ = ["Block", "BlockFeatures", "BlockScorer", "Checked", "check_rows", "cut", "cut_blocks", "read_blocks", "score_blocks"]

MOST_PAIRS, MOST_CHARACTERS = 1000, 1 << 17
"""A block ends before it has more of either, but for a single pair that is longer."""
SHARED_CHARACTERS = 600_000
"""Texts of several blocks that are kept in memory, about 200 MB of analyses."""
PLACES = 1 << 20
Item = TypeVar("Item")


class Metric(Protocol):
    """What the blocks need of RoMe; one that keeps something from call to call has methods ``begin_block`` and ``share`` too."""

    def score(self, *, references: Any, hypotheses: Any) -> CorpusScore:
        """Score every segment."""

    def features(self, *, references: Any, hypotheses: Any) -> FeatureTable:
        """Measure every candidate."""


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive segments: the number of the first one, and one entry a segment in every list."""

    start: int
    references: list[list[str]]
    hypotheses: list[str]
    places: list[str]
    ids: list[str]
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Checked:
    """What a first look at all rows found.

    count : how many there are. digest : of all of them. ids, notes : whether any has one. shared : texts of more than one block, which
    are worth keeping; the first SHARED_CHARACTERS of them.
    """

    count: int
    digest: str
    ids: bool
    notes: bool
    shared: tuple[str, ...] = ()


def cut(items: Iterable[Item], size: Callable[[Item], float], most: float, *, count: float = inf) -> Iterator[list[Item]]:
    """Consecutive items in lists: each ends before it has more than ``count`` items or more of ``size`` than ``most``, but for a
    single item that is larger."""
    held: list[Item] = []
    filled = 0.0
    for item in items:
        more = size(item)
        if held and (len(held) == count or filled + more > most):
            yield held
            held, filled = [], 0.0
        held.append(item)
        filled += more
    if held:
        yield held


def cut_blocks(rows: Iterable[PairRow], *, whole: bool = False) -> Iterator[Block]:
    """Consecutive rows in blocks of similar length; whole : everything in one."""
    start = 0
    for held in cut(rows, _characters, inf if whole else MOST_CHARACTERS, count=inf if whole else MOST_PAIRS):
        yield Block(
            start,
            [row.references for row in held],
            [row.hypothesis for row in held],
            [row.place for row in held],
            [row.id or "" for row in held],
            [row.note or "" for row in held],
        )
        start += len(held)


def _characters(row: PairRow) -> int:
    return len(row.hypothesis) + sum(map(len, row.references))


def check_rows(
    rows: Iterable[PairRow], kept: IO[str] | None = None, *, empty_reference: EmptyReference = "error", whole: bool = False
) -> Checked:
    """Look at every row before any is scored, one block in memory at a time.

    kept : a file that gets the blocks, for `read_blocks`, so that the rows need not be read again. whole : everything in one block.
    Raises InputError with the file and the line of the first row that cannot be scored.
    """
    digest, count, ids, notes = hashlib.blake2b(digest_size=16), 0, False, False
    repeated = _Repeated()
    for block in cut_blocks(rows, whole=whole):
        try:
            check_pairs(block.references, block.hypotheses, empty_reference=empty_reference)
        except SegmentError as error:
            raise _placed(error, block) from error
        content = [block.references, block.hypotheses, block.ids, block.notes]
        digest.update(json.dumps(content).encode())
        repeated.add(block)
        count, ids, notes = count + len(block.hypotheses), ids or any(block.ids), notes or any(block.notes)
        if kept is not None:
            kept.write(f"{json.dumps(asdict(block))}\n")
    return Checked(count, digest.hexdigest(), ids, notes, tuple(repeated.texts))


def read_blocks(kept: IO[str]) -> Iterator[Block]:
    """The blocks that `check_rows` has kept in a file, from the first on."""
    kept.seek(0)
    return (Block(**json.loads(line)) for line in kept)


class _Repeated:
    """Finds texts that stand in several blocks, in memory that does not grow: of texts that fall on one place, the last is remembered."""

    def __init__(self) -> None:
        self.texts: dict[str, None] = {}
        self._left = SHARED_CHARACTERS
        self._seen = array("Q", bytes(8 * PLACES))

    def add(self, block: Block) -> None:
        """Look at the distinct texts of the next block."""
        for text in dict.fromkeys(text for texts in (*block.references, block.hypotheses) for text in texts):
            known = int.from_bytes(hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest(), "big")
            if self._seen[known % PLACES] != known:
                self._seen[known % PLACES] = known
            elif text not in self.texts and len(text) <= self._left:
                self.texts[text] = None
                self._left -= len(text)


def _placed(error: SegmentError, block: Block) -> InputError:
    """The error with file and line, and with the segment's number in the whole input."""
    message = str(error).replace(f"s[{error.segment}]", f"s[{block.start + error.segment}]")
    return InputError(f"{block.places[error.segment]}: {message}")


class BlockScorer:
    """Scores block after block with one metric, which ``make`` makes; shared : texts that several blocks hold."""

    def __init__(self, make: Callable[[], Metric], shared: Sequence[str] = ()) -> None:
        self.metric = _sharing(make(), shared)

    def __call__(self, block: Block) -> CorpusScore:
        """The scores of a block; segments have their numbers in the whole input. Raises InputError with the file and line of a segment at fault."""
        result = _alone(self.metric, self.metric.score, block)
        segments = tuple(replace(segment, segment=segment.segment + block.start) for segment in result.segments)
        return replace(result, segments=segments)


class BlockFeatures:
    """Measures block after block with one metric, which ``make`` makes; shared : texts that several blocks hold."""

    def __init__(self, make: Callable[[], Metric], shared: Sequence[str] = ()) -> None:
        self.metric = _sharing(make(), shared)

    def __call__(self, block: Block) -> FeatureTable:
        """The features of a block. Raises InputError with the file and line of a segment at fault."""
        table = _alone(self.metric, self.metric.features, block)
        return replace(table, segment=table.segment + block.start)


def _sharing(metric: Metric, texts: Sequence[str]) -> Metric:
    """The metric, told which texts several blocks hold."""
    share = getattr(metric, "share", None)
    if share is not None:
        share(texts)
    return metric


def _alone(metric: Metric, work: Callable[..., Any], block: Block) -> Any:
    """Call ``work`` with nothing in memory that earlier blocks have left there."""
    begin = getattr(metric, "begin_block", None)
    if begin is not None:
        begin()
    try:
        return work(references=block.references, hypotheses=block.hypotheses)
    except SegmentError as error:
        raise _placed(error, block) from error


def score_blocks(
    make: Callable[[], Metric],
    pairs: Iterable[tuple[str | Sequence[str], str]],
    *,
    workers: int = 1,
    report: Report = warnings.warn,
) -> Generator[CorpusScore, None, None]:
    """Score any number of pairs in bounded memory, with ``workers`` processes: one CorpusScore a block, in the order of the pairs.

    make : makes the metric, once in each process, such as ``functools.partial(RoMe, store="analyses.sqlite", threads=1)``; with several
        workers it must be importable, and a script needs its ``if __name__ == "__main__":``. pairs : (reference or references,
        hypothesis), read as they are needed. report : told in one line when a worker ended and its block is done again.

    Raises InputError for a pair that cannot be scored, when it is reached, and whatever the metric raises.
    """
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InputError(f"workers={workers!r} is no number of processes: give 1 or more")
    return run_in_order(partial(BlockScorer, make), cut_blocks(_rows(pairs)), workers=workers, report=report)


def _rows(pairs: Iterable[tuple[str | Sequence[str], str]]) -> Iterator[PairRow]:
    for number, (references, hypothesis) in enumerate(pairs):
        yield PairRow([references] if isinstance(references, str) else list(references), hypothesis, f"pair {number}")

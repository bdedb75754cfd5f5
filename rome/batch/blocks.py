"""Scoring and measuring in blocks: memory that does not grow with the number of pairs, and blocks that any worker may take.

How pairs are cut into blocks depends on the pairs alone, and a block is scored without anything that another one left in memory. So
the scores are the same to the last bit whatever the number of workers, and a run that goes on after an interruption loses nothing.
Texts that stand in several blocks are found beforehand; each process analyses them once, in groups that depend on the pairs alone.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import IO, TYPE_CHECKING, Any, TypeVar

from rome.checks import CheckedPair, EmptyReference, SegmentError, check_pairs
from rome.exceptions import InputError
from rome.storage.pair_files import PairRow

if TYPE_CHECKING:
    from rome.metric import RoMe

MOST_PAIRS, MOST_CHARACTERS = 128, 1 << 14
"""A block ends before it has more of either, but for a single pair that is longer."""
SHARED_CHARACTERS = 600_000
"""Texts of several blocks that are kept in memory, about 200 MB of analyses."""
PLACES = 1 << 20
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive segments that may be scored, each with its number in the whole input, its id and its note ("" for none)."""

    pairs: list[CheckedPair]
    ids: list[str]
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Checked:
    """What a first look at all rows found.

    Attributes
    ----------
    count, blocks
        How many there are, and in how many blocks.
    digest
        Of all of them.
    ids, notes
        Whether any has one.
    shared
        Texts of more than one block, which are worth keeping; the first SHARED_CHARACTERS of them.
    """

    count: int
    blocks: int
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


def cut_blocks(rows: Iterable[PairRow], *, empty_reference: EmptyReference = "error", whole: bool = False) -> Iterator[Block]:
    """Consecutive rows, checked, in blocks of similar length.

    Raises InputError with the file and the line of a row that cannot be scored.

    Parameters
    ----------
    whole
        Everything in one.
    """
    start = 0
    for held in cut(rows, _characters, inf if whole else MOST_CHARACTERS, count=inf if whole else MOST_PAIRS):
        references, hypotheses = [row.references for row in held], [row.hypothesis for row in held]
        try:
            pairs = check_pairs(references, hypotheses, empty_reference=empty_reference, first=start, by_segment=True)
        except SegmentError as error:
            raise InputError(f"{held[error.segment - start].place}: {error.in_words}") from error
        yield Block(pairs, [row.id for row in held], [row.note for row in held])
        start += len(held)


def _characters(row: PairRow) -> int:
    return len(row.hypothesis) + sum(map(len, row.references))


def check_rows(
    rows: Iterable[PairRow], kept: IO[str] | None = None, *, empty_reference: EmptyReference = "error", whole: bool = False
) -> Checked:
    """Look at every row before any is scored, one block in memory at a time.

    Raises InputError with the file and the line of the first row that cannot be scored.

    Parameters
    ----------
    kept
        A file that gets the blocks, for `read_blocks`, so that the rows need not be read again.
    whole
        Everything in one block.
    """
    digest, count, blocks, ids, notes = hashlib.blake2b(digest_size=16), 0, 0, False, False
    repeated = _Repeated()
    for block in cut_blocks(rows, empty_reference=empty_reference, whole=whole):
        line = json.dumps(asdict(block))
        digest.update(line.encode())
        repeated.add(block)
        count, blocks = count + len(block.pairs), blocks + 1
        ids, notes = ids or any(block.ids), notes or any(block.notes)
        if kept is not None:
            kept.write(f"{line}\n")
    return Checked(count, blocks, digest.hexdigest(), ids, notes, tuple(repeated.texts))


def read_blocks(kept: IO[str]) -> Iterator[Block]:
    """The blocks that `check_rows` has kept in a file, from the first on."""
    kept.seek(0)
    for row in map(json.loads, kept):
        pairs = [CheckedPair(**{**one, "references": tuple(one["references"])}) for one in row["pairs"]]
        yield Block(pairs, row["ids"], row["notes"])


class _Repeated:
    """Finds texts that stand in several blocks, in memory that does not grow: of texts that fall on one place, the last is remembered."""

    def __init__(self) -> None:
        self.texts: dict[str, None] = {}
        self._left = SHARED_CHARACTERS
        self._seen = array("Q", bytes(8 * PLACES))

    def add(self, block: Block) -> None:
        """Look at the distinct texts of the next block."""
        for text in dict.fromkeys(text for pair in block.pairs for text in (*pair.references, pair.hypothesis)):
            known = int.from_bytes(hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest(), "big")
            if self._seen[known % PLACES] != known:
                self._seen[known % PLACES] = known
            elif text not in self.texts and len(text) <= self._left:
                self.texts[text] = None
                self._left -= len(text)


class BlockScorer:
    """Works on block after block with one RoMe, which ``make`` makes.

    Parameters
    ----------
    shared
        Texts that several blocks hold.
    measure
        Give the features of a block as a FeatureTable instead of its scores.
    """

    def __init__(self, make: Callable[[], RoMe], shared: Sequence[str] = (), *, measure: bool = False) -> None:
        metric = make()
        metric.share(shared)
        self.begin, self.work = metric.begin_block, metric.measure_pairs if measure else metric.score_pairs

    def __call__(self, block: Block) -> Any:
        """The scores of a block, which depend on nothing that earlier blocks have left in memory."""
        self.begin()
        return self.work(block.pairs)

"""Score and measure in blocks, so that memory does not grow with the number of pairs and any worker can score any block.

How pairs are cut into blocks depends on the pairs alone, so a continued run loses nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from math import inf
from typing import IO, TypeVar

from rome.checks import CheckedPair, EmptyReference, SegmentError, check_pairs
from rome.exceptions import InputError
from rome.storage.pair_files import PairRow

MOST_PAIRS, MOST_CHARACTERS = 128, 1 << 14
"""Limits of a block; a single longer pair is a block of its own."""
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive checked segments, numbered through the whole input, each with its id and note ("" for none)."""

    pairs: list[CheckedPair]
    ids: list[str]
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Checked:
    """Summary of all rows after their check.

    Attributes
    ----------
    count, blocks
        Number of rows and of blocks.
    digest
        Digest of all rows.
    ids, notes
        True if any row has one.
    """

    count: int
    blocks: int
    digest: str
    ids: bool
    notes: bool


def cut(items: Iterable[Item], size: Callable[[Item], float], most: float, *, count: float = inf) -> Iterator[list[Item]]:
    """Yield consecutive items in lists of at most ``count`` items and at most ``most`` in the sum of ``size``; a larger item is alone."""
    group: list[Item] = []
    filled = 0.0
    for item in items:
        if group and (len(group) == count or filled + size(item) > most):
            yield group
            group, filled = [], 0.0
        group.append(item)
        filled += size(item)
    if group:
        yield group


def cut_blocks(rows: Iterable[PairRow], *, empty_reference: EmptyReference = "error", whole: bool = False) -> Iterator[Block]:
    """Yield consecutive rows, checked, in blocks of similar length; ``whole`` makes one block.

    Raises InputError with the file and the line of a row that cannot be scored.
    """
    start = 0
    for group in cut(rows, characters, inf if whole else MOST_CHARACTERS, count=inf if whole else MOST_PAIRS):
        references, hypotheses = [row.references for row in group], [row.hypothesis for row in group]
        try:
            pairs = check_pairs(references, hypotheses, empty_reference=empty_reference, first=start, by_segment=True)
        except SegmentError as error:
            raise InputError(f"{group[error.segment - start].place}: {error.in_words}") from error
        yield Block(pairs, [row.id for row in group], [row.note for row in group])
        start += len(group)


def characters(row: PairRow | CheckedPair) -> int:
    """Return the number of characters of all texts."""
    return len(row.hypothesis) + sum(map(len, row.references))


def check_rows(
    rows: Iterable[PairRow], kept: IO[str], *, empty_reference: EmptyReference = "error", whole: bool = False
) -> Checked:
    """Check every row before any is scored, one block in memory at a time; ``whole`` makes one block.

    Raises InputError with the file and the line of the first row that cannot be scored.

    Parameters
    ----------
    kept
        A file to write the blocks to, for `read_blocks`.
    """
    digest, count, blocks, ids, notes = hashlib.blake2b(digest_size=16), 0, 0, False, False
    for block in cut_blocks(rows, empty_reference=empty_reference, whole=whole):
        line = json.dumps(asdict(block))
        digest.update(line.encode())
        count, blocks = count + len(block.pairs), blocks + 1
        ids, notes = ids or any(block.ids), notes or any(block.notes)
        kept.write(f"{line}\n")
    return Checked(count, blocks, digest.hexdigest(), ids, notes)


def read_blocks(kept: IO[str]) -> Iterator[Block]:
    """Yield the blocks that `check_rows` has written to a file."""
    kept.seek(0)
    for row in map(json.loads, kept):
        pairs = [CheckedPair(**{**one, "references": tuple(one["references"])}) for one in row["pairs"]]
        yield Block(pairs, row["ids"], row["notes"])

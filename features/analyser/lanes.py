"""Lanes: chunks of texts, worked on by several threads at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

__all__ = ["chunks_of", "in_lanes"]

CHUNK_CHARACTERS, LEAST_CHARACTERS = 8_000, 2_000
"""A lane takes at most the one at a time; shorter chunks than the other cost more for each text."""
AHEAD = 2
"""Chunks for each lane that are given out before the first of them is taken: what is lost by an interruption."""
Made = TypeVar("Made")


def chunks_of(texts: Sequence[str], lanes: int) -> Iterator[list[str]]:
    """Texts in the order given, cut into chunks; at least one text in each.

    Chunks are of even size for one lane. For several they become smaller towards the end, so that all lanes end at about the same
    time and little is left to do with what the last chunk gave.
    """
    left = sum(map(len, texts))
    size = _size(left, lanes)
    chunk: list[str] = []
    filled = 0
    for text in texts:
        if chunk and filled + len(text) // 2 > size:
            yield chunk
            left -= filled
            chunk, filled = [], 0
            if lanes > 1:
                size = _size(left, lanes)
        chunk.append(text)
        filled += len(text)
    if chunk:
        yield chunk


def _size(left: int, lanes: int) -> int:
    """The characters of the next chunk when so many are left."""
    if lanes > 1:
        return min(CHUNK_CHARACTERS, max(LEAST_CHARACTERS, left // (2 * lanes)))
    return max(LEAST_CHARACTERS, -(-left // max(1, -(-left // CHUNK_CHARACTERS))))


def in_lanes(
    work: Callable[[list[str]], list[Made]], chunks: Sequence[list[str]], lanes: int
) -> Generator[list[Made], None, None]:
    """What ``work`` makes of each chunk, in the order of the chunks, up to ``lanes`` of them at work at the same time.

    With one lane, or one chunk, the work is done by the caller's thread. Once the iterator is closed, or after an error, nothing is
    at work any more: chunks that have not begun are dropped, and those that have are waited for.
    """
    if lanes == 1 or len(chunks) < 2:
        yield from map(work, chunks)
        return
    pool = ThreadPoolExecutor(lanes, "rome-lane")
    try:
        rest = iter(chunks)
        given: deque[Future[list[Made]]] = deque(pool.submit(work, chunk) for chunk in islice(rest, AHEAD * lanes))
        while given:
            done = given.popleft().result()
            given.extend(pool.submit(work, chunk) for chunk in islice(rest, 1))
            yield done
    finally:
        pool.shutdown(cancel_futures=True)

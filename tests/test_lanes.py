"""Chunks and lanes: every text once and in order, nothing at work after the end, and little lost by an interruption."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

pytest.importorskip("torch")

from rome.features.analyser.lanes import AHEAD, CHUNK_CHARACTERS, LEAST_CHARACTERS, chunks_of, in_lanes  # noqa: E402


@pytest.fixture(autouse=True)
def no_thread_left() -> Iterator[None]:
    """After every test there are as many threads as before."""
    before = threading.active_count()
    yield
    assert threading.active_count() == before


@pytest.mark.parametrize("lanes", [1, 2, 3, 8])
@pytest.mark.parametrize("sizes", [[], [1], [0, 0], [5000, 1, 1], [1] * 50, [300] * 200, [90_000, 10, 90_000], [7000] * 9])
def test_chunks_hold_every_text_once_and_in_order(lanes: int, sizes: list[int]) -> None:
    """No text is lost or doubled, no chunk is empty, and enough work gives every lane a chunk."""
    texts = [f"{n % 10}" * size for n, size in enumerate(sizes)]
    chunks = list(chunks_of(texts, lanes))
    assert [text for chunk in chunks for text in chunk] == texts and all(chunks)
    if sum(sizes) >= 4 * lanes * LEAST_CHARACTERS and max(sizes) < LEAST_CHARACTERS:
        assert len(chunks) >= lanes


def test_chunks_of_several_lanes_become_smaller_towards_the_end() -> None:
    """So lanes end together; those of one lane are even, and none is longer than the most by more than half a text."""
    texts = ["a" * 100] * 1000
    for lanes in (1, 2, 4):
        sizes = [sum(map(len, chunk)) for chunk in chunks_of(texts, lanes)]
        assert max(sizes) <= CHUNK_CHARACTERS + 50
        if lanes == 1:
            assert max(sizes[:-1]) - min(sizes[:-1]) <= 100
        else:
            assert sizes == sorted(sizes, reverse=True) and sizes[0] > 3 * sizes[-2]


def numbered(count: int) -> list[list[str]]:
    """So many chunks of one text."""
    return [[str(n)] for n in range(count)]


@pytest.mark.parametrize("lanes", [1, 2, 3, 40])
@pytest.mark.parametrize("count", [0, 1, 2, 17])
def test_results_come_in_the_order_of_the_chunks(lanes: int, count: int) -> None:
    """Even where the first ones take longest."""

    def work(chunk: list[str]) -> list[str]:
        time.sleep(0.002 * (count - int(chunk[0])))
        return chunk

    assert list(in_lanes(work, numbered(count), lanes)) == numbered(count)


def test_no_more_is_done_ahead_than_agreed() -> None:
    """A caller who takes one result and waits has at most AHEAD chunks a lane done beside it, and the rest when they are asked for."""
    done: list[str] = []
    results = in_lanes(lambda chunk: done.extend(chunk) or chunk, numbered(50), 2)
    next(results)
    time.sleep(0.05)
    assert len(done) <= 2 * AHEAD + 1
    assert len(list(results)) == 49 and len(done) == 50


def test_nothing_is_at_work_once_it_is_closed() -> None:
    """What has begun is waited for, what has not is dropped; the same when the caller is interrupted in between."""
    begun: list[str] = []

    def work(chunk: list[str]) -> list[str]:
        begun.extend(chunk)
        time.sleep(0.01)
        return chunk

    results = in_lanes(work, numbered(50), 2)
    next(results)
    results.close()
    assert len(begun) <= 4
    count = len(begun)
    time.sleep(0.05)
    assert len(begun) == count


@pytest.mark.parametrize("lanes", [1, 2])
def test_an_error_comes_after_what_was_finished_before_it(lanes: int) -> None:
    """The chunks before the one at fault are given, then its error; no later chunk is begun."""
    begun: list[str] = []

    def work(chunk: list[str]) -> list[str]:
        begun.extend(chunk)
        if chunk == ["3"]:
            raise MemoryError("no room")
        return chunk

    given = []
    with pytest.raises(MemoryError, match="no room"):
        for result in in_lanes(work, numbered(50), lanes):
            given += result
    assert given == ["0", "1", "2"]
    assert len(begun) <= 4 + AHEAD * lanes

"""Linear algebra on one thread, and its own number of threads afterwards, whoever asked in between."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from rome.features.protocol import one_thread


@pytest.fixture(autouse=True)
def several() -> Iterator[None]:
    """Two threads at the beginning, whatever this machine's number is."""
    with threadpool_limits(2, user_api="blas"):
        yield


def threads() -> int:
    """The threads of NumPy's library of linear algebra, as this thread sees them."""
    np.ones((2, 2)) @ np.ones((2, 2))
    (found,) = {each["num_threads"] for each in threadpool_info() if "numpy.libs" in each["filepath"]} or {0}
    return int(found)


def test_one_inside_and_as_before_afterwards() -> None:
    """An error in the block changes nothing of that, and the block can be entered again."""
    if threads() != 2:
        pytest.skip("NumPy's library of linear algebra is not its own here, or this machine has one core")
    for _ in range(2):
        with pytest.raises(ValueError), one_thread():
            assert threads() == 1
            raise ValueError
        assert threads() == 2


def test_blocks_of_several_threads_overlap() -> None:
    """The first to begin ends before the second does; in the end the number is what it was."""
    before = threads()
    begun, go_on = threading.Event(), threading.Event()

    def second() -> None:
        with one_thread():
            begun.set()
            go_on.wait(60)

    other = threading.Thread(target=second)
    with one_thread():
        other.start()
        assert begun.wait(60)
    go_on.set()
    other.join()
    assert threads() == before

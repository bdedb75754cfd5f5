"""Linear algebra on one thread, and its own number of threads afterwards."""

from __future__ import annotations

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

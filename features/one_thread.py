"""Linear algebra on one thread: NumPy's sums come out in another order on two, and with other last digits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

__all__ = ["one_thread"]


@cache
def _libraries() -> tuple[Any, ...]:
    """The libraries of linear algebra that are loaded when this is first asked, NumPy's among them."""
    from threadpoolctl import ThreadpoolController

    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)


@contextmanager
def one_thread() -> Iterator[None]:
    """Within the block linear algebra that this thread asks for uses one thread; afterwards as many as before.

    Some libraries keep that number for each thread, others once for all: there a block of one thread may end that of another early,
    which costs last digits, but the number of before always comes back.
    """
    several = [(library, library.num_threads) for library in _libraries() if library.num_threads != 1]
    for library, _ in several:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, before in several:
            library.set_num_threads(before)

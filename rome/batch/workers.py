"""Run tasks in worker processes; results are in the order of the tasks.

Processes are spawned, so what they run must be importable: a function or class of a module, or a ``functools.partial`` of one.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import active_children, get_context, parent_process
from typing import Any, TypeVar

from rome.exceptions import StoreError

AHEAD = 3
"""Tasks per worker that may be submitted before the next result in order is taken."""
Task = TypeVar("Task")
Result = TypeVar("Result")
_made: dict[str, Any] = {}
"""In a worker: the maker of the function that works, and, from the first task on, the function."""


def run_in_order(
    make: Callable[[], Callable[[Task], Result]], tasks: Iterable[Task], *, workers: int = 1
) -> Generator[Result, None, None]:
    """Yield the result of every task, in the order of the tasks; one worker is this process, more are processes of their own.

    Only a few tasks are read ahead, so memory does not grow with their number. No worker is left when the iterator is closed.

    Parameters
    ----------
    make
        Called once in each worker; its result is called with every task.

    Raises
    ------
    StoreError
        When a worker dies. What a task raises is raised as it is.
    """
    if workers == 1:
        yield from map(make(), tasks)
        return
    rest, running = iter(tasks), deque[Future[Result]]()
    try:
        with _pool(make, workers) as submit:
            while True:
                running.extend(map(submit, islice(rest, AHEAD * workers - len(running))))
                if not running:
                    return
                yield running.popleft().result()
    except BrokenProcessPool as error:
        raise StoreError(
            "a worker was killed, perhaps for lack of memory: take fewer workers; with --output the same command continues"
        ) from error


@contextmanager
def _pool(make: Callable[[], Any], workers: int) -> Iterator[Callable[[Any], Future[Any]]]:
    """Yield a function that submits a task to a pool of processes, which end at once when the block fails."""
    before = set(active_children())
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=_begin, initargs=(make,)) as executor:
        try:
            yield lambda task: executor.submit(_work, task)
        except BaseException:
            for worker in set(active_children()) - before:
                worker.terminate()
            executor.shutdown(cancel_futures=True)
            raise


def _begin(make: Callable[[], Any]) -> None:
    """Prepare a worker: it leaves Ctrl-C to its parent, and ends when the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _made["make"] = make


def _end_with_parent() -> None:
    """End this process when its parent has ended, which a pool does not do by itself after kill -9."""
    parent = parent_process()
    if parent is not None:
        parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def _work(task: Any) -> Any:
    """Do one task; the first one makes the function that works."""
    if "work" not in _made:
        _made["work"] = _made["make"]()
    return _made["work"](task)

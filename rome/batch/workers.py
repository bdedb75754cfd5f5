"""Work shared out to processes: results in the order of the tasks, a worker that ends is replaced, and none outlives its parent.

Processes are spawned, so what they run must be importable: a function or class of a module, or a ``functools.partial`` of one.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from tqdm import tqdm

from rome.exceptions import StoreError

AHEAD = 3
"""Tasks a worker that may be done or under way before the next result in order is taken."""
TRIES = 2
"""Times that workers may end before the result that is waited for is there."""
Task = TypeVar("Task")
Result = TypeVar("Result")
Report = Callable[[str], None]
_made: dict[str, Any] = {}
"""In a worker: how to make what works, and, from the first task on, what works."""
_computing, _gate = threading.Event(), threading.Lock()
"""In a worker: set while it works on a task, and what is held while that changes."""


def run_in_order(
    make: Callable[[], Callable[[Task], Result]], tasks: Iterable[Task], *, workers: int = 1, report: Report = warnings.warn
) -> Generator[Result, None, None]:
    """The result of every task, in the order of the tasks; with one worker in this process, with more in as many others.

    Raises what a task raised, and StoreError when workers end again and again. Whatever happens, no worker is left when the iterator is closed.

    Parameters
    ----------
    make
        Called once in each worker; what it returns is called with every task. Only a few tasks are read ahead, so memory does not grow with
        their number.
    report
        Told in one line when a worker ended and what was under way is done again.
    """
    if workers == 1:
        yield from map(make(), tasks)
        return
    rest, failures = iter(tasks), 0
    waiting: deque[Task] = deque()
    """Tasks whose results were not given yet, in order."""
    while True:
        with _Pool(make, workers) as submit:
            try:
                under_way = deque(map(submit, waiting))
                while True:
                    for task in islice(rest, AHEAD * workers - len(waiting)):
                        waiting.append(task)
                        under_way.append(submit(task))
                    if not waiting:
                        return
                    result = under_way.popleft().result()
                    waiting.popleft()
                    failures = 0
                    yield result
            except BrokenProcessPool as error:
                failures += 1
                if failures == TRIES:
                    raise StoreError(
                        f"a worker ended {TRIES} times, perhaps for want of memory: take fewer workers, or one to see the fault itself"
                    ) from error
        report("a worker ended, perhaps for want of memory: what was under way is done again")


class _Pool:
    """A pool of processes; entered, it is the function that gives them a task. At the end none of them is left.

    Each worker holds one end of a pipe and ends itself when the other is closed: here, or because this process is gone.
    """

    def __init__(self, make: Callable[[], Any], workers: int) -> None:
        context = get_context("spawn")
        self._theirs, self._ours = context.Pipe(duplex=False)
        self._executor = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(make, self._theirs))

    def __enter__(self) -> Callable[[Any], Future[Any]]:
        return lambda task: self._executor.submit(_work, task)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._ours.close()
        self._executor.shutdown(cancel_futures=True)
        self._ours.close()
        self._theirs.close()


def _begin(make: Callable[[], Any], parent: Connection) -> None:
    """The beginning of a worker: it leaves Ctrl-C to its parent, whose end it watches."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    tqdm.set_lock(threading.RLock())  # its own would be a semaphore of the system, left behind by a worker that is ended
    _made["make"] = make


def _end_with_parent(parent: Connection) -> None:
    """End this process when the other end of the pipe is closed, but not while it sends a result: who reads half of one waits for ever."""
    wait([parent])
    above = parent_process()
    while above is not None and above.is_alive():
        with _gate:
            if _computing.is_set():
                os._exit(1)
        time.sleep(0.01)
    os._exit(1)


def _work(task: Any) -> Any:
    """Do one task; the first one makes what works."""
    _computing.set()
    try:
        if "work" not in _made:
            _made["work"] = _made["make"]()
        return _made["work"](task)
    finally:
        with _gate:
            _computing.clear()

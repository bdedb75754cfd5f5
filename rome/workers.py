"""Work shared out to processes: results in the order of the tasks, a worker that ends is replaced, and none outlives its parent.

Processes are spawned, so what they run must be importable: a function or class of a module, or a ``functools.partial`` of one.
"""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar, cast

from tqdm import tqdm

from rome import exceptions
from rome.exceptions import RomeError, StoreError

__all__ = ["run_in_order"]

AHEAD = 3
"""Tasks a worker that may be done or under way before the next result in order is taken."""
TRIES = 2
PATIENCE = 2.0
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
Task = TypeVar("Task")
Result = TypeVar("Result")
Report = Callable[[str], None]


def run_in_order(
    make: Callable[[], Callable[[Task], Result]], tasks: Iterable[Task], *, workers: int = 1, report: Report = warnings.warn
) -> Generator[Result, None, None]:
    """The result of every task, in the order of the tasks; with one worker in this process, with more in as many others.

    make : called once in each worker; what it returns is called with every task. Only a few tasks are read ahead, so memory
        does not grow with their number. report : told in one line when a worker ended and its task is done again.

    Raises what a task raised when that is a RomeError, StoreError when a task ended its worker twice. Whatever happens, no worker
    is left when the iterator is closed.
    """
    if workers == 1:
        yield from map(make(), tasks)
        return
    crew = _Crew(make, workers, report)
    try:
        yield from crew.run(iter(tasks))
    finally:
        crew.end()


class _Worker:
    """One process, and the task it is at."""

    def __init__(self, make: Callable[[], Any]) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, make), daemon=True)
        with _undisturbed_start():
            self.process.start()
        theirs.close()
        self.ready = False
        self.task: tuple[int, Any] | None = None

    def give(self, task: tuple[int, Any]) -> None:
        self.task, self.ready = task, False
        try:
            self.connection.send(task[1])
        except OSError:  # it ended in between: the next look at it will tell
            return

    def end(self) -> None:
        if not self.ready:
            self.process.terminate()
        self.process.join(PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.connection.close()


class _Crew:
    """The workers of one run; ``begun`` counts the tasks handed out so far."""

    def __init__(self, make: Callable[[], Any], workers: int, report: Report) -> None:
        self.make, self.report = make, report
        self.failures: dict[int, int] = {}
        self.again: list[tuple[int, Any]] = []
        self.begun, self.exhausted = 0, False
        self.workers: list[_Worker] = []
        self.wanted = workers

    def run(self, tasks: Iterator[Any]) -> Iterator[Any]:
        """Hand out, collect, and give on in order."""
        for _ in range(self.wanted):
            self.workers.append(_Worker(self.make))
        rest, following = enumerate(tasks), 0
        done: dict[int, Any] = {}
        while not (self.exhausted and following == self.begun):
            for worker in self.workers:
                task = self._next(rest, following + AHEAD * self.wanted) if worker.ready else None
                if task is not None:
                    worker.give(task)
            if following in done:
                yield done.pop(following)
                following += 1
            elif not (self.exhausted and following == self.begun):
                done.update(self._collect())

    def _next(self, rest: Iterator[tuple[int, Any]], limit: int) -> tuple[int, Any] | None:
        """The next task, one that must be done again first; None when there is none, or when too many are ahead."""
        if self.again or self.begun >= limit:
            return self.again.pop(0) if self.again else None
        task = next(rest, None)
        if task is None:
            self.exhausted = True
        else:
            self.begun += 1
        return task

    def _collect(self) -> Iterator[tuple[int, Any]]:
        """Wait until a worker says something, or ends."""
        said = wait([worker.connection for worker in self.workers])
        for place, worker in enumerate(self.workers):
            if worker.connection not in said:
                continue
            try:
                kind, value = worker.connection.recv()
            except (EOFError, OSError):
                self._replace(place)
                continue
            if kind == "error":
                raise cast(RomeError, getattr(exceptions, value[0])(value[1]))
            worker.ready = True
            if worker.task is not None:
                yield worker.task[0], value
                worker.task = None

    def _replace(self, place: int) -> None:
        """A new worker for one that ended; its task is done again, once."""
        worker = self.workers[place]
        worker.process.join(PATIENCE)
        worker.end()
        number = worker.task[0] if worker.task else -1
        self.failures[number] = self.failures.get(number, 0) + 1
        what = f"block {number + 1}" if worker.task else "its start"
        ended = f"a worker ended at {what} ({_cause(worker.process.exitcode)})"
        if self.failures[number] >= TRIES:
            raise StoreError(f"{ended}, {TRIES} times: take fewer workers, or one to see the fault itself")
        self.report(f"{ended}: another one does it again")
        if worker.task is not None:
            self.again.append(worker.task)
        self.workers[place] = _Worker(self.make)

    def end(self) -> None:
        """End every worker: one without a task goes by itself, the others are not waited for."""
        for worker in self.workers:
            if worker.ready:
                worker.connection.close()
            else:
                worker.process.terminate()
        for worker in self.workers:
            worker.end()


def _cause(code: int | None) -> str:
    """How a process ended."""
    if code is None or code >= 0:
        return f"exit code {code}"
    return f"signal {-code}" + (", perhaps for want of memory" if code == -signal.SIGKILL else "")


def _serve(connection: Connection, make: Callable[[], Callable[[Any], Any]]) -> None:
    """The life of a worker: make what works, then task after task, until the parent closes or is gone."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    tqdm.set_lock(threading.RLock())  # its own would be a semaphore of the system, left behind by a worker that is ended
    try:
        work, answer = make(), None
        while True:
            connection.send(("done", answer))
            task = connection.recv()
            answer = work(task)
    except RomeError as error:
        known = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == exceptions.__name__)
        connection.send(("error", (known, str(error))))
    except (EOFError, ConnectionError):  # the parent has closed, or is gone
        return


def _end_with_parent() -> None:
    """End this process at once when its parent is gone, however that ended."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@contextmanager
def _undisturbed_start() -> Iterator[None]:
    """A process that is started here takes one thread for arithmetic, unless told otherwise, and leaves Ctrl-C to its parent."""
    missing = [name for name in _THREADS if name not in os.environ]
    in_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if in_main else None
    os.environ.update(dict.fromkeys(missing, "1"))
    try:
        yield
    finally:
        for name in missing:
            del os.environ[name]
        if in_main:
            signal.signal(signal.SIGINT, before if before is not None else signal.SIG_DFL)

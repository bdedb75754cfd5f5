"""One thread owns the metric; what arrives together is scored in one call, and each request gets its own result."""

from __future__ import annotations

import math
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Literal, Protocol

from rome.checks import Pair
from rome.exceptions import InputError
from rome.results import CorpusScore
from rome.service.jobs import Job, Jobs, Unit
from rome.service.limits import Limits
from rome.service.refusal import Refusal

__all__ = ["Batcher", "Counts", "Metric", "State", "described"]

State = Literal["loading", "ready", "failed", "stopping"]
WARM_UP = ("Snow fell on the hills all night.", "It snowed on the hills during the night.")
SLOW_PAIR = 0.1


class Metric(Protocol):
    """What the service needs of RoMe."""

    def score(self, *, references: list[list[str]], hypotheses: list[str]) -> CorpusScore:
        """Score every segment."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What the worker has to do and has done. waiting : requests without an answer, those being scored included."""

    waiting: int
    waiting_pairs: int
    calls: int
    scored_pairs: int


class Batcher:
    """Scores pairs for many callers with one metric, in a thread of its own.

    make : makes the metric, in that thread. together : False scores each request in a call of its own, for a metric whose scores depend
    on what else is in the call. say : takes one line about what went wrong; never a text. settled : called when loading ended.
    """

    def __init__(
        self,
        make: Callable[[], Metric],
        limits: Limits,
        *,
        together: bool = True,
        say: Callable[[str], None] = lambda _: None,
        settled: Callable[[], None] = lambda: None,
    ) -> None:
        self._make, self.limits, self.together, self._say, self._settled = make, limits, together, say, settled
        self.state: State = "loading"
        self.signature: str | None = None
        self.failure: Exception | None = None
        self._changed = threading.Condition()
        self._jobs = Jobs()
        self._calls = self._scored = 0
        self._pace = SLOW_PAIR
        self._thread = threading.Thread(target=self._work, name="rome-scoring", daemon=True)

    def start(self) -> None:
        """Begin to load the metric."""
        self._thread.start()

    def stop(self, seconds: float) -> bool:
        """Take no more, finish what is there, and end; False when the thread goes on: after the seconds, or while it loads for nobody."""
        with self._changed:
            idle = self.state == "loading" and not self._jobs.waiting()
            self.state = "stopping" if self.state != "failed" else self.state
            self._changed.notify_all()
        self._thread.join(0.0 if idle else seconds)
        return not self._thread.is_alive()

    def check(self) -> None:
        """Raise Refusal when no further request is taken."""
        with self._changed:
            self._check()

    def submit(self, pairs: Sequence[Pair]) -> Future[CorpusScore]:
        """Queue the pairs of one request; cancelling the future drops what is not begun. Raises Refusal when the queue is full."""
        job = Job(pairs)
        with self._changed:
            self._check()
            self._jobs.add(job)
            self._changed.notify_all()
        return job.future

    def counts(self) -> Counts:
        """What there is to do, and what was done."""
        with self._changed:
            jobs = self._jobs.waiting()
            pairs = sum(job.left for job in jobs)
            return Counts(len(jobs), pairs, self._calls, self._scored)

    def _check(self) -> None:
        if self.state in ("stopping", "failed"):
            raise Refusal("stopping", "the service is stopping: ask again later", headers={"Retry-After": "5"})
        waiting = self._jobs.waiting()
        if len(waiting) >= self.limits.queue:
            seconds = self._pace * sum(job.left for job in waiting)
            after = str(min(max(math.ceil(seconds), 1), 60))
            message = f"{len(waiting)} requests wait already: ask again in {after} seconds"
            raise Refusal("busy", message, headers={"Retry-After": after})

    def _work(self) -> None:
        """The thread: load, then score until stopped."""
        try:
            metric = self._make()
            warm = metric.score(references=[[WARM_UP[0]]], hypotheses=[WARM_UP[1]])
        except Exception as error:  # whatever it is, it ends the service and is raised where the service was started
            self._give_up(error)
            return
        self.signature = warm.signature
        with self._changed:
            self.state = "ready" if self.state == "loading" else self.state
        self._settled()
        while (units := self._take()) is not None:
            begun = time.monotonic()
            self._score(metric, units)
            seconds = time.monotonic() - begun
            with self._changed:
                self._pace += 0.2 * (seconds / len(units) - self._pace) if units else 0.0
                self._jobs.done()

    def _give_up(self, error: Exception) -> None:
        """Refuse all who wait: there is no metric."""
        self.failure = error
        with self._changed:
            self.state = "failed"
            self._jobs.give_up(Refusal("stopping", "the models could not be loaded: the service is stopping"))
        self._settled()

    def _take(self) -> list[Unit] | None:
        """The next pairs to score in one call; waits for the first, and a moment for others. None when it is time to end.

        None are left to score when those who asked are gone by then.
        """
        with self._changed:
            while not self._jobs.queued():
                if self.state == "stopping":
                    return None
                self._changed.wait()
            until = time.monotonic() + self.limits.wait_seconds
            while self.together and self.state != "stopping" and not self._jobs.fill(self.limits):
                if not self._changed.wait(max(until - time.monotonic(), 0)):
                    break
            self._jobs.queued()
            return self._jobs.next(self.limits) if self.together else self._jobs.next_whole()

    def _score(self, metric: Metric, units: list[Unit]) -> None:
        """Score the pairs in one call; when that fails, in halves, so that only the request of a bad pair fails."""
        units = [(job, number) for job, number in units if not job.future.done()]
        if not units:
            return
        pairs = [job.pairs[number] for job, number in units]
        try:
            with self._changed:
                self._calls += 1
            result = metric.score(references=[list(p.references) for p in pairs], hypotheses=[p.hypothesis for p in pairs])
            scores = list(zip(units, result.segments, strict=True))
        except Exception as error:  # the thread must outlive whatever a text does to a model
            self._failed(metric, units, error)
            return
        for (job, number), score in scores:
            job.add(number, score, result.signature)
        with self._changed:
            self._scored += len(units)

    def _failed(self, metric: Metric, units: list[Unit], error: Exception) -> None:
        """Find the pair that cannot be scored."""
        if self.together and len(units) > 1:
            middle = len(units) // 2
            self._score(metric, units[:middle])
            self._score(metric, units[middle:])
            return
        job, number = units[0]
        where = f"pairs[{number}]" if len(job.pairs) > 1 and len(units) == 1 else "pairs"
        self._say(f"scoring failed: {described(error)}")
        if isinstance(error, InputError):
            job.fail(Refusal("not_scorable", f"this cannot be scored ({error})", where))
        else:
            message = f"the metric failed ({type(error).__name__}): leave the pair out; the service's log says where"
            job.fail(Refusal("scoring_failed", message, where))


def described(error: BaseException) -> str:
    """The error's type and the lines it came through, innermost last. Not its message: that may hold a text."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    return f"{type(error).__name__} at " + " > ".join(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames)

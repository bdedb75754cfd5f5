"""The requests that wait: what is asked, what is answered already, and which pairs are scored next. Knows no threads: its owner locks."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace

from rome.checks import Pair
from rome.results import CorpusScore, SegmentScore
from rome.service.limits import Limits
from rome.service.refusal import Refusal

__all__ = ["Job", "Jobs", "Unit"]


class Job:
    """One request: its pairs, how many were handed out, the scores so far, and the promise of the rest."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self.pairs, self.taken = pairs, 0
        self.scores: dict[int, SegmentScore] = {}
        self.future: Future[CorpusScore] = Future()

    @property
    def left(self) -> int:
        """Pairs without a score."""
        return len(self.pairs) - len(self.scores)

    def add(self, number: int, score: SegmentScore, signature: str) -> None:
        """Keep the score of one pair; the last one settles the request."""
        self.scores[number] = replace(score, segment=number)
        if not self.left and self.future.set_running_or_notify_cancel():
            self.future.set_result(CorpusScore(tuple(self.scores[n] for n in range(len(self.pairs))), signature))

    def fail(self, error: Refusal) -> None:
        """Settle the request with an error, once."""
        if not self.future.done() and self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)


Unit = tuple[Job, int]
"""One pair to score: its request, and its place there."""


class Jobs:
    """Requests in their order, and those that are being scored."""

    def __init__(self) -> None:
        self._queue: deque[Job] = deque()
        self._in_hand: set[Job] = set()

    def add(self, job: Job) -> None:
        """Behind all others."""
        self._queue.append(job)

    def waiting(self) -> set[Job]:
        """Requests that somebody still waits for, those being scored included."""
        return {job for job in (*self._queue, *self._in_hand) if not job.future.done()}

    def queued(self) -> bool:
        """True when there is something to score; forgets the requests that nobody waits for any more."""
        self._queue = deque(job for job in self._queue if not job.future.done())
        return bool(self._queue)

    def fill(self, limits: Limits) -> bool:
        """True when what waits fills a call."""
        return sum(len(job.pairs) - job.taken for job in self._queue) >= limits.batch_pairs

    def next(self, limits: Limits) -> list[Unit]:
        """Pairs from the front up to the size of a call; a request that is not through goes to the end, behind the others."""
        units: list[Unit] = []
        references = characters = 0
        for _ in range(len(self._queue)):
            job = self._queue.popleft()
            self._in_hand.add(job)
            while job.taken < len(job.pairs):
                pair = job.pairs[job.taken]
                references += len(pair.references)
                characters += sum(map(len, pair.references)) + len(pair.hypothesis)
                if units and (references > limits.batch_pairs or characters > limits.batch_characters):
                    (self._queue.append if units[-1][0] is job else self._queue.appendleft)(job)
                    return units
                units.append((job, job.taken))
                job.taken += 1
        return units

    def next_whole(self) -> list[Unit]:
        """All pairs of the first request."""
        if not self._queue:
            return []
        job = self._queue.popleft()
        self._in_hand.add(job)
        job.taken = len(job.pairs)
        return [(job, number) for number in range(len(job.pairs))]

    def done(self) -> None:
        """A call is over."""
        self._in_hand.clear()

    def give_up(self, error: Refusal) -> None:
        """Fail them all."""
        for job in self.waiting():
            job.fail(error)
        self._queue.clear()

"""One thread owns the metric; what arrives together is scored in one call, and each request gets its own result."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from rome.checks import CheckedPair
from rome.exceptions import InputError
from rome.results import CorpusScore, SegmentScore
from rome.service.errors import RequestError, Say, described
from rome.service.limits import Limits

if TYPE_CHECKING:
    from rome.metric import RoMe

WARM_UP = CheckedPair(0, ("Snow fell on the hills all night.",), "It snowed on the hills during the night.")


class _Job:
    """One request: its pairs, how many were handed out, the scores so far, and the promise of the rest."""

    def __init__(self, pairs: Sequence[CheckedPair]) -> None:
        self.pairs, self.taken = pairs, 0
        self.scores: dict[int, SegmentScore] = {}
        self.result: asyncio.Future[CorpusScore] = asyncio.get_running_loop().create_future()

    def refuse(self, error: RequestError) -> None:
        """Settle it, unless it is."""
        if not self.result.done():
            self.result.set_exception(error)


class Batcher:
    """Scores pairs for many requests with one metric. All but the metric runs in the event loop, so that nothing needs a lock.

    Parameters
    ----------
    make
        Makes the metric, in its thread.
    together
        False scores each request in a call of its own, for a metric whose scores depend on what else is in the call.
    say
        Takes a line when the models are loaded, and about what went wrong; never a text.
    """

    def __init__(self, make: Callable[[], RoMe], limits: Limits, *, together: bool = True, say: Say = lambda _: None) -> None:
        self.limits, self._make, self._together, self.say = limits, make, together, say
        self.state: Literal["loading", "ready", "failed"] = "loading"
        self.signature: str | None = None
        self.failure: Exception | None = None
        self.calls = self.scored_pairs = 0
        self._queue: deque[_Job] = deque()
        self._waiting: set[_Job] = set()
        self._arrived = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, "rome-scoring")
        self._call: Future[Any] | None = None

    @property
    def busy(self) -> bool:
        """True while the thread is loading or scoring."""
        return self._call is not None and not self._call.done()

    @property
    def waiting(self) -> tuple[int, int]:
        """Requests without an answer, those being scored included, and their pairs without a score."""
        return len(self._waiting), sum(len(job.pairs) - len(job.scores) for job in self._waiting)

    async def score(self, pairs: Sequence[CheckedPair]) -> CorpusScore:
        """The result of one request; cancelling it drops what is not begun. Raises RequestError, also when the queue is full."""
        if self.failure is not None:
            raise _stopping()
        if len(self._waiting) >= self.limits.max_queue:
            raise RequestError(
                "busy", f"{len(self._waiting)} requests wait already: ask again later", headers={"Retry-After": "5"}
            )
        job = _Job(pairs)
        self._queue.append(job)
        self._waiting.add(job)
        self._arrived.set()
        try:
            return await job.result
        finally:
            self._waiting.discard(job)

    async def work(self) -> None:
        """Load, then score until cancelled. Whatever ends it before is `failure`, and refuses all who wait."""
        try:
            metric: RoMe = await self._in_thread(self._make)
            warm = await self._in_thread(metric.score_pairs, pairs=[WARM_UP])
            self.state, self.signature = "ready", warm.signature
            self.say("ready; Ctrl-C ends")
            while await self._arrived.wait():
                if self._together and sum(len(job.pairs) for job in self._queue) < self.limits.batch_pairs:
                    await asyncio.sleep(self.limits.batch_wait)
                await self._score(metric, self._next())
                if not self._queue:
                    self._arrived.clear()
        except Exception as error:  # raised again where the service was started
            self.state, self.failure = "failed", error
            for job in self._waiting:
                job.refuse(_stopping())

    async def _in_thread(self, function: Callable[..., Any], **given: Any) -> Any:
        """The function's result, from the thread that owns the metric."""
        self._call = self._thread.submit(function, **given)
        return await asyncio.wrap_future(self._call)

    def _next(self) -> list[tuple[_Job, int]]:
        """Pairs from the front up to the size of a call; a request that is not through goes to the end, behind the others."""
        units: list[tuple[_Job, int]] = []
        references = characters = 0
        while self._queue and (self._together or not units):
            job = self._queue.popleft()
            while not job.result.done() and job.taken < len(job.pairs):
                pair = job.pairs[job.taken]
                references += len(pair.references)
                characters += sum(map(len, pair.references)) + len(pair.hypothesis)
                full = references > self.limits.batch_pairs or characters > self.limits.batch_characters
                if units and full and self._together:
                    (self._queue.append if units[-1][0] is job else self._queue.appendleft)(job)
                    return units
                units.append((job, job.taken))
                job.taken += 1
        return units

    async def _score(self, metric: RoMe, units: list[tuple[_Job, int]]) -> None:
        """Score the pairs in one call; when that fails, in halves, so that only the request of a bad pair fails."""
        units = [(job, number) for job, number in units if not job.result.done()]
        if not units:
            return
        pairs = [replace(job.pairs[number], segment=n) for n, (job, number) in enumerate(units)]
        self.calls += 1
        try:
            result = await self._in_thread(metric.score_pairs, pairs=pairs)
            scores = list(zip(units, result.segments, strict=True))
        except Exception as error:  # the service must outlive whatever a text does to a model
            if self._together and len(units) > 1:
                await self._score(metric, units[: len(units) // 2])
                await self._score(metric, units[len(units) // 2 :])
            else:
                self._fail(*units[0], error)
            return
        self.scored_pairs += len(units)
        for (job, number), score in scores:
            job.scores[number] = replace(score, segment=number)
            if len(job.scores) == len(job.pairs) and not job.result.done():
                job.result.set_result(CorpusScore(tuple(job.scores[n] for n in range(len(job.pairs))), result.signature))

    def _fail(self, job: _Job, number: int, error: Exception) -> None:
        """Settle a request of which this pair, or (not together) some pair, cannot be scored."""
        self.say(f"scoring failed: {described(error)}")
        where = f"pairs[{number}]" if self._together and len(job.pairs) > 1 else "pairs"
        if isinstance(error, InputError):
            job.refuse(RequestError("not_scorable", f"this cannot be scored ({error})", where))
        else:
            message = f"the metric failed ({type(error).__name__}): leave the pair out; the service's log says where"
            job.refuse(RequestError("scoring_failed", message, where))


def _stopping() -> RequestError:
    return RequestError("stopping", "the models could not be loaded: the service is stopping")

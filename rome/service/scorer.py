"""Score requests one after the other with one metric, in a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Literal

from rome.batch.blocks import characters, cut
from rome.checks import CheckedPair
from rome.exceptions import InputError
from rome.results import CorpusScore, SegmentScore
from rome.service.errors import RequestError, Say, described
from rome.service.limits import Limits

if TYPE_CHECKING:
    from rome.metric import RoMe

WARM_UP = CheckedPair(0, ("Snow fell on the hills all night.",), "It snowed on the hills during the night.")
CALL_PAIRS, CALL_CHARACTERS = 16, 20_000
"""Most pairs and characters per call of the metric; calls of several requests alternate."""


class Scorer:
    """Score many requests with one metric, in calls of bounded size that alternate between requests.

    Parameters
    ----------
    make
        Makes the metric, in its thread. Where its scores depend on the other segments of a call, each request is one call.
    say
        Called with a line when the models are loaded, and about errors; never with a text.
    """

    def __init__(self, make: Callable[[], RoMe], limits: Limits, *, say: Say = lambda _: None) -> None:
        self.limits, self._make, self.say = limits, make, say
        self.state: Literal["loading", "ready", "failed"] = "loading"
        self.signature: str | None = None
        self.failure: Exception | None = None
        self.requests = 0
        self._thread = ThreadPoolExecutor(1, "rome-scoring")
        self._loaded = asyncio.Event()
        self._metric: RoMe

    async def load(self) -> None:
        """Load the models; an error is kept as `failure`."""
        try:
            self._metric = await self._in_thread(self._make)
            self.signature = (await self._in_thread(self._metric.score_pairs, [WARM_UP])).signature
            self.state = "ready"
            self.say("ready; Ctrl-C ends")
        except Exception as error:  # raised again where the service was started
            self.state, self.failure = "failed", error
        self._loaded.set()

    async def score(self, pairs: Sequence[CheckedPair]) -> CorpusScore:
        """Return the result of one request; cancelling it drops what has not begun. Raises RequestError, also when too many wait."""
        if self.requests >= self.limits.max_queue:
            raise RequestError("busy", f"{self.requests} requests wait already: ask again later", headers={"Retry-After": "5"})
        segments: list[SegmentScore] = []
        self.requests += 1
        try:
            await self._loaded.wait()
            if self.failure is not None:
                raise RequestError("stopping", "the models could not be loaded: the service is stopping")
            whole = getattr(self._metric, "idf", None) == "references"
            for call in [pairs] if whole else cut(pairs, characters, CALL_CHARACTERS, count=CALL_PAIRS):
                segments += await self._scored(call)
            return CorpusScore(tuple(segments), segments[0].signature)
        finally:
            self.requests -= 1

    async def _scored(self, pairs: Sequence[CheckedPair]) -> Sequence[SegmentScore]:
        """Return the scores of one call."""
        try:
            return (await self._in_thread(self._metric.score_pairs, pairs)).segments
        except InputError as error:
            raise RequestError("not_scorable", f"the pairs cannot be scored ({error})", "pairs") from error
        except Exception as error:  # the service must outlive any error of a model
            self.say(f"scoring failed: {described(error)}")
            message = f"the metric failed ({type(error).__name__}): the service's log names the place"
            raise RequestError("scoring_failed", message, "pairs") from error

    def _in_thread(self, function: Callable[..., Any], *given: Any) -> asyncio.Future[Any]:
        """Return the future result of a function in the thread of the metric, after all earlier ones."""
        return asyncio.get_running_loop().run_in_executor(self._thread, function, *given)

"""The routes: score, explain, health, and what describes them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field, replace
from html import escape
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rome.inputs import EmptyReference, Pair
from rome.results import CorpusScore, SegmentScore
from rome.service.accepts import preferred
from rome.service.asked import one_pair, some_pairs
from rome.service.batching import Batcher
from rome.service.bodies import Disconnected, Receive, read_json
from rome.service.guard import Guard
from rome.service.limits import Limits
from rome.service.names import Names
from rome.service.openapi import document
from rome.service.page import describe
from rome.service.refusal import Refusal

__all__ = ["PATHS", "Service", "application"]

PATHS = ("/", "/score", "/explain", "/health", "/openapi.json")
JSON, HTML = "application/json", "text/html"
_PAGE = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    "<title>{title}</title><style>:root{{color-scheme:light dark}}</style></head><body>{body}</body></html>\n"
)


@dataclass
class Service:
    """What the routes share. empty_reference : as the metric has it."""

    batcher: Batcher
    limits: Limits
    empty_reference: EmptyReference = "error"
    begun: float = field(default_factory=time.monotonic)
    rendering: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))

    @property
    def about(self) -> dict[str, Any]:
        """The document of OpenAPI."""
        return document(self.limits, rome_version())

    async def score(self, request: Request) -> Response:
        """One pair or many: the scores and components, without the evidence."""
        pairs = some_pairs(await self._body(request), self.limits, self.empty_reference)
        result = await self._scored(request, pairs)
        return Response(await asyncio.to_thread(lambda: _json(result.to_dict(evidence=False)).encode("utf-8")), media_type=JSON)

    async def explain(self, request: Request) -> Response:
        """One pair with all its evidence, as JSON or as a page."""
        kind = preferred(", ".join(request.headers.getlist("accept")), (JSON, HTML))
        limits = self.limits
        if kind == JSON:
            limits = replace(limits, characters=min(limits.characters, limits.explain_characters))
        pair = one_pair(await self._body(request), limits, self.empty_reference)
        (segment,) = (await self._scored(request, [pair])).segments
        content = await self._rendered(lambda: _html(segment) if kind == HTML else _json(segment.to_dict()))
        return Response(content, media_type=kind, headers={"Vary": "Accept"})

    async def health(self, request: Request) -> Response:
        """200 when the models are loaded, else 503."""
        state, counts = self.batcher.state, self.batcher.counts()
        row = {
            "status": state,
            "version": rome_version(),
            "signature": self.batcher.signature,
            "uptime_seconds": round(time.monotonic() - self.begun, 3),
            "queue": {"requests": counts.waiting, "pairs": counts.waiting_pairs, "limit": self.limits.queue},
            "done": {"calls": counts.calls, "pairs": counts.scored_pairs},
        }
        return Response(_json(row), 200 if state == "ready" else 503, media_type=JSON)

    async def openapi(self, request: Request) -> Response:
        """The description for programs."""
        return Response(_json(self.about), media_type=JSON)

    async def page(self, request: Request) -> Response:
        """The description for people."""
        return Response(describe(self.about, dict(request.headers).get("host", "")), media_type=HTML)

    async def _body(self, request: Request) -> Any:
        """The JSON of the body; a full queue is told before it is read."""
        self.batcher.check()
        return await read_json(request.headers, request.receive, self.limits)

    async def _scored(self, request: Request, pairs: Sequence[Pair]) -> CorpusScore:
        """The result of the pairs. What is not begun is dropped when the time is over or the client gone."""
        job = self.batcher.submit(pairs)
        scored, gone = asyncio.wrap_future(job), asyncio.ensure_future(_disconnected(request.receive))
        awaited: set[asyncio.Future[Any]] = {scored, gone}
        try:
            done, _ = await asyncio.wait(awaited, timeout=self.limits.seconds, return_when=asyncio.FIRST_COMPLETED)
            if scored in done:
                return scored.result()
            if gone in done:
                raise Disconnected("the client went away")
        except (asyncio.CancelledError, CancelledError) as error:
            raise Refusal("stopping", "the service is stopping: ask again later", headers={"Retry-After": "5"}) from error
        finally:
            _drop(job, scored, gone)
        raise _timed_out(self.limits.seconds)

    async def _rendered(self, make: Callable[[], str]) -> bytes:
        """An explanation made in another thread, one at a time, for the evidence takes time and memory. Raises Refusal after the time."""
        try:
            await asyncio.wait_for(self.rendering.acquire(), self.limits.seconds)
        except asyncio.TimeoutError as error:
            raise _timed_out(self.limits.seconds) from error
        try:
            return await asyncio.to_thread(lambda: make().encode("utf-8"))
        finally:
            self.rendering.release()


def application(service: Service, names: Names, *, say: Callable[[str], None], log: Callable[[str], None] | None) -> Guard:
    """The ASGI application. say : takes a line about an unexpected error. log : takes a line a request, or None."""
    routes = [
        Route("/", service.page, methods=["GET"]),
        Route("/score", service.score, methods=["POST"]),
        Route("/explain", service.explain, methods=["POST"]),
        Route("/health", service.health, methods=["GET"]),
        Route("/openapi.json", service.openapi, methods=["GET"]),
    ]
    inner = Starlette(
        routes=routes,
        exception_handlers={Refusal: _refused, HTTPException: _unrouted, Disconnected: _gone, Exception: _refused},
    )
    inner.router.redirect_slashes = False
    return Guard(inner, names=names, say=say, log=log, paths=PATHS)


def rome_version() -> str:
    """The version of the installed package."""
    try:
        return version("rome-metric")
    except PackageNotFoundError:
        return "unknown"


async def _disconnected(receive: Receive) -> None:
    """Wait until the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        continue


def _drop(job: Future[CorpusScore], scored: asyncio.Future[CorpusScore], gone: asyncio.Future[None]) -> None:
    """Let go of whatever is still awaited."""
    job.cancel()
    scored.cancel()
    gone.cancel()


def _timed_out(seconds: float) -> Refusal:
    return Refusal("timed_out", f"not done within {seconds:g} seconds: send fewer pairs a request, or ask again later")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _html(segment: SegmentScore) -> str:
    """A page of its own around the explanation."""
    return _PAGE.format(title=escape(f"RoMe: {segment.score:.4f}"), body=segment._repr_html_())


async def _refused(request: Request, error: Exception) -> Response:
    refusal = error if isinstance(error, Refusal) else Refusal("internal", "the service failed: its log says where")
    return Response(refusal.body, refusal.status, headers=refusal.headers, media_type=JSON)


async def _unrouted(request: Request, error: Exception) -> Response:
    """404 and 405."""
    if getattr(error, "status_code", 404) == 405:
        allowed = (getattr(error, "headers", None) or {}).get("Allow", "")
        refusal = Refusal("method_not_allowed", f"this address takes {allowed}", "method", headers={"Allow": allowed})
    else:
        refusal = Refusal("not_found", f"no such address: there are {', '.join(PATHS)}", "path")
    return await _refused(request, refusal)


async def _gone(request: Request, error: Exception) -> Response:
    """Nobody reads it; the status stands in the log."""
    return Response(status_code=499)

"""The routes: score, explain, health, and what describes them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from html import escape
from importlib.resources import files

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from rome import __version__
from rome.inputs import EmptyReference, Pair
from rome.results import CorpusScore, SegmentScore
from rome.service.batching import Batcher
from rome.service.errors import HANDLERS, RequestError
from rome.service.limits import Limits
from rome.service.middleware import Guard, HostNames
from rome.service.requests import read_json, read_pair, read_pairs

__all__ = ["application"]


class Service:
    """The answers of every route. empty_reference : as the metric has it."""

    def __init__(self, batcher: Batcher, limits: Limits, empty_reference: EmptyReference) -> None:
        self.batcher, self.limits, self.empty_reference = batcher, limits, empty_reference
        self._begun = time.monotonic()
        self._rendering = ThreadPoolExecutor(1, "rome-rendering")  # one at a time: the evidence takes time and memory

    async def score(self, request: Request) -> Response:
        """One pair or many: the scores and components, without the evidence."""
        body = await read_json(request, self.limits.max_body, self.limits.receive_timeout)
        result = await self._scored(request, read_pairs(body, self.limits, self.empty_reference))
        return await asyncio.to_thread(lambda: JSONResponse(result.to_dict(evidence=False)))

    async def explain(self, request: Request) -> Response:
        """One pair with all its evidence, as JSON, or as a page where the Accept header names HTML before JSON."""
        page = "text/html" in request.headers.get("accept", "").partition("application/json")[0]
        shortest = min(self.limits.max_characters, self.limits.max_explain_characters)
        limits = self.limits if page else replace(self.limits, max_characters=shortest)
        pair = read_pair(await read_json(request, limits.max_body, limits.receive_timeout), limits, self.empty_reference)
        (segment,) = (await self._scored(request, [pair])).segments
        make: Callable[[], Response] = lambda: _page(segment) if page else JSONResponse(segment.to_dict())  # noqa: E731
        response = await asyncio.get_running_loop().run_in_executor(self._rendering, make)
        response.headers["Vary"] = "Accept"
        return response

    async def health(self, request: Request) -> Response:
        """200 when the models are loaded, else 503."""
        requests, pairs = self.batcher.waiting
        row = {
            "status": self.batcher.state,
            "version": __version__,
            "signature": self.batcher.signature,
            "uptime_seconds": round(time.monotonic() - self._begun, 3),
            "queue": {"requests": requests, "pairs": pairs, "limit": self.limits.max_queue},
            "done": {"calls": self.batcher.calls, "pairs": self.batcher.scored_pairs},
        }
        return JSONResponse(row, 200 if self.batcher.state == "ready" else 503)

    async def openapi(self, request: Request) -> Response:
        """The description for programs."""
        document = json.loads((files("rome.service") / "openapi.json").read_text("utf-8"))
        document["info"]["version"] = __version__
        return JSONResponse(document)

    async def page(self, request: Request) -> Response:
        """The description for people."""
        return HTMLResponse((files("rome.service") / "index.html").read_text("utf-8"))

    async def _scored(self, request: Request, pairs: list[Pair]) -> CorpusScore:
        """The result of the pairs. What is not begun is dropped when the time is over or the client gone."""
        scored, gone = asyncio.create_task(self.batcher.score(pairs)), asyncio.create_task(_disconnected(request))
        try:
            await asyncio.wait({scored, gone}, timeout=self.limits.timeout, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError as error:
            raise RequestError("stopping", "the service is stopping: ask again later", headers={"Retry-After": "5"}) from error
        finally:
            gone.cancel()
            if not scored.done():
                scored.cancel()
        if scored.done():
            return scored.result()
        if gone.done() and not gone.cancelled():
            raise ClientDisconnect
        message = f"not done within {self.limits.timeout:g} seconds: send fewer pairs a request, or ask again later"
        raise RequestError("timed_out", message)


def application(
    batcher: Batcher,
    limits: Limits,
    names: HostNames,
    *,
    empty_reference: EmptyReference = "error",
    say: Callable[[str], None],
    log: Callable[[str], None] | None = None,
) -> Starlette:
    """The ASGI application. say : takes a line about an unexpected error. log : takes a line a request, or None."""
    service = Service(batcher, limits, empty_reference)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        """The batcher works as long as the application is served."""
        work = asyncio.create_task(batcher.work())
        yield
        work.cancel()

    routes = [
        Route("/", service.page),
        Route("/score", service.score, methods=["POST"]),
        Route("/explain", service.explain, methods=["POST"]),
        Route("/health", service.health),
        Route("/openapi.json", service.openapi),
    ]
    guard = Middleware(Guard, names=names, policy="style-src 'unsafe-inline'; ", say=say, log=log)
    app = Starlette(routes=routes, middleware=[guard], exception_handlers=HANDLERS, lifespan=lifespan)
    app.router.redirect_slashes = False
    return app


async def _disconnected(request: Request) -> None:
    """Wait until the client is gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _page(segment: SegmentScore) -> Response:
    """A page of its own around the explanation."""
    from rome.display.segment import segment_html

    return HTMLResponse(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(f'RoMe: {segment.score:.4f}')}</title><style>:root{{color-scheme:light dark}}</style></head>"
        f"<body>{segment_html(segment)}</body></html>\n"
    )

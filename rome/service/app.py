"""Serve scores, explanations, edits, health and their description over HTTP."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from rome import __version__
from rome.checks import CheckedPair, EmptyReference
from rome.reports.html import STYLE, asset, page, page_style, policy
from rome.results import Change, CorpusScore, SegmentScore
from rome.service.errors import RequestError
from rome.service.requests import read_edit, read_json, read_pair, read_pairs
from rome.service.scorer import Scorer
from rome.service.server import LocalServer


class ScoreServer(LocalServer):
    """A metric behind HTTP, with the limits of the scorer.

    Parameters
    ----------
    empty_reference
        That of the metric.
    options
        Of LocalServer.
    """

    def __init__(self, scorer: Scorer, *, empty_reference: EmptyReference = "error", **options: Any) -> None:
        self.scorer, self.limits, self._empty_reference = scorer, scorer.limits, empty_reference
        self._begun = time.monotonic()
        self._rendering = ThreadPoolExecutor(1, "rome-rendering")  # one at a time: the evidence takes time and memory
        routes = [
            Route("/", self.page),
            Route("/score", self.score, methods=["POST"]),
            Route("/explain", self.explain, methods=["POST"]),
            Route("/what-if", self.what_if, methods=["POST"]),
            Route("/health", self.health),
            Route("/openapi.json", self.openapi),
        ]
        super().__init__(
            routes,
            policy="style-src 'unsafe-inline'; ",
            say=scorer.say,
            lifespan=self._working,
            limit_concurrency=self.limits.max_connections + 1,  # uvicorn counts the one that asks
            timeout_keep_alive=max(1, round(self.limits.receive_timeout)),
            timeout_graceful_shutdown=max(1, round(self.limits.grace)),
            **options,
        )

    def run(self) -> None:
        """Load the models and answer until stopped; requests in hand are finished, in at most the grace.

        Raises KeyboardInterrupt after SIGINT, and the error that prevented the models from loading.
        """
        super().run()
        if self.scorer.failure is not None:
            raise self.scorer.failure

    @asynccontextmanager
    async def _working(self, app: Starlette) -> AsyncIterator[None]:
        """Load the models while the server starts to answer; end it when they cannot be loaded."""
        loading = asyncio.create_task(self.scorer.load())
        loading.add_done_callback(lambda _: self.stop() if self.scorer.failure else None)
        yield
        loading.cancel()

    async def score(self, request: Request) -> Response:
        """Answer one pair or many with scores and components, without the evidence."""
        result = await self._scored(read_pairs(await self._body(request), self.limits, self._empty_reference))
        return await asyncio.to_thread(lambda: JSONResponse(result.to_dict(evidence=False)))

    async def explain(self, request: Request) -> Response:
        """Answer one pair with all its evidence, as JSON, or as a page if the Accept header names HTML before JSON."""
        pair = read_pair(await self._body(request), self.limits, self._empty_reference)
        (segment,) = (await self._scored([pair])).segments
        return await self._answer(segment, request)

    async def what_if(self, request: Request) -> Response:
        """Answer a pair and its edited hypothesis with the changes, against the best reference of the first, as JSON or as a page."""
        pairs = read_edit(await self._body(request), self.limits, self._empty_reference)
        before, after = (await self._scored(pairs)).segments
        if after.reference != before.reference:
            (after,) = (await self._scored([replace(pairs[1], references=(before.reference,))])).segments
        return await self._answer(Change(before, after), request)

    async def _body(self, request: Request) -> Any:
        """Return the JSON value of the body."""
        return await read_json(request, self.limits.max_body, self.limits.receive_timeout)

    async def _answer(self, result: SegmentScore | Change, request: Request) -> Response:
        """Return the response with the result and its evidence; a page if the Accept header names HTML before JSON."""
        page = "text/html" in request.headers.get("accept", "").partition("application/json")[0]
        response = await asyncio.get_running_loop().run_in_executor(self._rendering, _explanation, result, page)
        response.headers["Vary"] = "Accept"
        return response

    async def health(self, request: Request) -> Response:
        """Answer with status 200 when the models are loaded, else 503."""
        scorer = self.scorer
        row = {
            "status": scorer.state,
            "version": __version__,
            "signature": scorer.signature,
            "uptime_seconds": round(time.monotonic() - self._begun, 3),
            "queue": {"requests": scorer.requests, "limit": self.limits.max_queue},
        }
        return JSONResponse(row, 200 if scorer.state == "ready" else 503)

    async def openapi(self, request: Request) -> Response:
        """Answer with the OpenAPI description."""
        document = json.loads((files("rome.service") / "openapi.json").read_text("utf-8"))
        document["info"]["version"] = __version__
        return JSONResponse(document)

    async def page(self, request: Request) -> Response:
        """Answer with the page: a form and the description."""
        content, policy = await asyncio.to_thread(_page)
        return HTMLResponse(content, headers={"Content-Security-Policy": policy})

    async def _scored(self, pairs: list[CheckedPair]) -> CorpusScore:
        """Return the result of the pairs; drop what has not begun when the time is over."""
        try:
            return await asyncio.wait_for(self.scorer.score(pairs), self.limits.timeout)
        except asyncio.TimeoutError as error:
            message = f"not done within {self.limits.timeout:g} seconds: send fewer pairs per request, or ask again later"
            raise RequestError("timed_out", message) from error
        except asyncio.CancelledError as error:  # the server ends, and waits for nothing but this answer
            raise RequestError("stopping", "the service is stopping: ask again later", headers={"Retry-After": "5"}) from error


def _explanation(result: SegmentScore | Change, page: bool) -> Response:
    """Return the score with its evidence, or the changes, as JSON or as a page of its own."""
    if not page:
        return JSONResponse(result.to_dict())
    return HTMLResponse(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>RoMe: {result.score:.3f}</title><style>:root{{color-scheme:light dark}}</style></head>"
        f"<body>{result._repr_html_()}</body></html>\n"
    )


@cache
def _page() -> tuple[str, str]:
    """Return the page and its policy, which allows its own style and script alone, and requests to this server."""
    style, script = page_style("serve.css") + STYLE, asset("serve.js")
    content = page("serve.html", title="RoMe", style=style, script=script, connect="'self'")
    return content, policy(style, script, connect="'self'") + "; frame-ancestors 'none'"

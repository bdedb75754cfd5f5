"""What stands before every route: the name the service was called by, security headers, errors as JSON, a line of log without texts."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from starlette.datastructures import Headers, MutableHeaders

from rome.service.batching import described
from rome.service.bodies import Disconnected
from rome.service.names import Names
from rome.service.refusal import Refusal, error_body

__all__ = ["Guard"]

HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class Guard:
    """An ASGI application around another one.

    names : those it goes by. say : takes one line about an unexpected error. log : takes one line a request. paths : those that a line may
    name; any other one is written as ``-``, for a path may hold a text.
    """

    def __init__(
        self, app: Any, *, names: Names, say: Callable[[str], None], log: Callable[[str], None] | None, paths: tuple[str, ...]
    ) -> None:
        self.app, self.names, self.say, self.log, self.paths = app, names, say, log, paths

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        begun, status = time.monotonic(), 0

        async def guarded(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Content-Security-Policy", POLICY)
            await send(message)

        try:
            self._check(Headers(scope=scope))
            await self.app(scope, receive, guarded)
        except Disconnected:
            status = status or 499
        except Refusal as refusal:
            await _answer(guarded, refusal.status, refusal.body)
        except Exception as error:  # the last resort: nothing of it goes to the client
            self.say(f"unexpected error: {described(error)}")
            if not status:
                await _answer(guarded, 500, error_body("internal", "the service failed: its log says where"))
        if self.log is not None:
            method = scope["method"] if scope["method"] in METHODS else "-"
            path = scope["path"] if scope["path"] in self.paths else "-"
            self.log(f"{method} {path} {status} {1000 * (time.monotonic() - begun):.0f} ms")

    def _check(self, headers: Headers) -> None:
        """Meant for this service, by no other page, and of one length only."""
        if "transfer-encoding" in headers and "content-length" in headers:
            raise Refusal(
                "bad_request", "two lengths are given: send Content-Length or a chunked body", "header Content-Length"
            )
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self.names.answers_to(hosts[0]):
            message = (
                "the service does not go by this name: use the address that it printed, or start it with --allow-host NAME"
            )
            raise Refusal("foreign_host", message, "header Host")
        origins = headers.getlist("origin")
        if origins and not (len(origins) == 1 and self.names.own_origin(origins[0], hosts[0])):
            raise Refusal("foreign_origin", "pages of other sites may not ask: send no Origin header", "header Origin")


async def _answer(send: Any, status: int, body: bytes) -> None:
    """Send a JSON body."""
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode("ascii"))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

"""One request to the annotation server: pages for all, a small JSON interface for holders of the token."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from rome.evaluation.annotate.session import Conflict, UnknownItem, as_dict
from rome.exceptions import InputError, StoreError

if TYPE_CHECKING:
    from rome.evaluation.annotate.server import AnnotationServer

__all__ = ["Handler"]

LARGEST_BODY = 256 * 1024
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class _Refusal(Exception):
    """A request that is answered with an error; status : of HTTP."""

    def __init__(self, status: HTTPStatus, message: str, **further: Any) -> None:
        super().__init__(message)
        self.status, self.body = status, {"error": message, **further}


class Handler(BaseHTTPRequestHandler):
    """One request: host, page or token, body, answer."""

    server: AnnotationServer
    server_version, sys_version = "rome", ""
    timeout = 30

    def do_GET(self) -> None:
        """Pages, what the study asks, and items."""
        self._answer({"/api/about": lambda _: self.server.study.about(), "/api/item": self._item}, dict)

    def do_POST(self) -> None:
        """A beginning, and saves."""
        self._answer({"/api/start": self._start, "/api/save": self._save}, self._body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Every error as JSON, also those that http.server finds."""
        self._send(HTTPStatus(code), {"error": explain or message or HTTPStatus(code).phrase})

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet: the terminal shows the address and what is wrong with the file, nothing else."""

    def _answer(
        self, routes: dict[str, Callable[[dict[str, Any]], dict[str, Any]]], body: Callable[[], dict[str, Any]]
    ) -> None:
        """Send what the route gives, or the error in its place."""
        try:
            path = self._checked_path()
            if self.command == "GET" and path in self.server.pages:
                self._send_bytes(HTTPStatus.OK, *self.server.pages[path])
                return
            self._check_token()
            if path not in routes:
                raise _Refusal(HTTPStatus.NOT_FOUND, "no such address")
            self._send(HTTPStatus.OK, routes[path](body()))
        except _Refusal as refusal:
            self._send(refusal.status, refusal.body)
        except UnknownItem as error:
            self._send(HTTPStatus.NOT_FOUND, {"error": str(error)})
        except Conflict as error:
            self._send(HTTPStatus.CONFLICT, {"error": str(error), "state": as_dict(error.state)})
        except InputError as error:
            self._send(HTTPStatus.BAD_REQUEST, {"error": str(error)})
        except StoreError as error:
            self._send(HTTPStatus.INSUFFICIENT_STORAGE, {"error": str(error)})

    def _checked_path(self) -> str:
        """The path of a request that was meant for this server."""
        if not self.server.answers_to(self.headers.get("Host", "")):
            raise _Refusal(HTTPStatus.FORBIDDEN, "this server does not go by that name: open the address that it printed")
        origin = self.headers.get("Origin")
        if origin is not None and origin != f"http://{self.headers['Host']}":
            raise _Refusal(
                HTTPStatus.FORBIDDEN, "the request comes from another page: open the address that the server printed"
            )
        return urlsplit(self.path).path

    def _check_token(self) -> None:
        given = self.headers.get("Authorization", "").encode("utf-8", "replace")
        if not secrets.compare_digest(given, f"Bearer {self.server.token}".encode()):
            raise _Refusal(HTTPStatus.FORBIDDEN, "the token is not this run's: open the address that the server printed")

    def _body(self) -> dict[str, Any]:
        """The JSON object of a request."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            raise _Refusal(HTTPStatus.LENGTH_REQUIRED, "give the length of the body")
        if int(length[:12]) > LARGEST_BODY:
            self.rfile.read(min(int(length[:12]), 8 * LARGEST_BODY))  # so that the sender is still there to read the answer
            raise _Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is over {LARGEST_BODY} bytes")
        content = self.rfile.read(int(length))
        if self.headers.get_content_type() != "application/json":
            raise _Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "give the body as application/json")
        try:
            body: Any = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise _Refusal(HTTPStatus.BAD_REQUEST, f"the body is not JSON ({error})") from error
        if not isinstance(body, dict):
            raise _Refusal(HTTPStatus.BAD_REQUEST, "the body is no JSON object")
        return body

    def _item(self, _: dict[str, Any]) -> dict[str, Any]:
        query = parse_qs(urlsplit(self.path).query)
        return self.server.study.item(query.get("annotator", [None])[0], query.get("key", [""])[0])

    def _start(self, body: dict[str, Any]) -> dict[str, Any]:
        return self.server.study.start(body.get("annotator"))

    def _save(self, body: dict[str, Any]) -> dict[str, Any]:
        return self.server.study.save(body.get("annotator"), str(body.get("key")), body)

    def _send(self, status: HTTPStatus, body: dict[str, Any]) -> None:
        self._send_bytes(status, json.dumps(body).encode("utf-8"), "application/json")

    def _send_bytes(self, status: HTTPStatus, content: bytes, kind: str) -> None:
        try:
            self.send_response(status)
            for name, value in {
                **_HEADERS,
                "Content-Type": f"{kind}; charset=utf-8",
                "Content-Length": str(len(content)),
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)
        except ConnectionError:  # the page went away; what was saved is saved
            self.close_connection = True

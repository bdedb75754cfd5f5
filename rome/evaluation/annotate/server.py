"""The local server of the annotation page: public files, and a small JSON interface that needs the token of the run."""

from __future__ import annotations

import asyncio
import secrets
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from rome.evaluation.annotate.study import Conflict, Study, UnknownItem
from rome.exceptions import InputError, StoreError
from rome.service.errors import RequestError, Say
from rome.service.requests import read_json
from rome.service.server import LocalServer

MAX_BODY, SECONDS = 256 * 1024, 30.0
POLICY = "script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "


def usual_port(path: str) -> int:
    """Return a port that depends on the file, so that an open page finds the restarted server."""
    return 49152 + zlib.crc32(str(Path(path).resolve()).encode("utf-8", "surrogateescape")) % 16000


class AnnotationServer(LocalServer):
    """Serve one study, to other machines too if the host allows it.

    Parameters
    ----------
    options
        Options of LocalServer.
    """

    def __init__(self, study: Study, *, say: Say = lambda _: None, **options: Any) -> None:
        self._study, self._token = study, secrets.token_urlsafe(24)
        routes = [
            Route("/api/about", self._answering(lambda _: study.about())),
            Route("/api/start", self._answering(lambda given: study.start(given.get("annotator"))), methods=["POST"]),
            Route("/api/item", self._answering(lambda given: study.item(given.get("annotator"), str(given.get("key"))))),
            Route("/api/save", self._answering(self._save), methods=["POST"]),
            Mount("/", StaticFiles(packages=[("rome.evaluation.annotate", "page")], html=True)),
        ]
        super().__init__(routes, policy=POLICY, say=say, allow_remote=True, timeout_graceful_shutdown=5, **options)

    @property
    def url(self) -> str:
        """Return the address of the page, with the token of this run behind ``#``, which browsers do not send."""
        return f"{super().url}/#token={self._token}"

    def _answering(self, function: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Request], Any]:
        """Return the endpoint that calls the function with a body (POST) or with the parameters of the address."""

        async def answer(request: Request) -> Response:
            given = request.headers.get("authorization", "").encode("utf-8")
            if not secrets.compare_digest(given, f"Bearer {self._token}".encode()):
                raise RequestError(
                    "foreign_token", "the token must be that of this run: open the address that the server printed"
                )
            post = request.method == "POST"
            body = await read_json(request, MAX_BODY, SECONDS) if post else dict(request.query_params)
            if not isinstance(body, dict):
                raise RequestError("invalid_request", "the body must be a JSON object", "body")
            try:
                return JSONResponse(await asyncio.to_thread(function, body))
            except Conflict as error:
                refused = RequestError("conflict", str(error))
                return JSONResponse({**refused.body(), "state": error.state}, 409)
            except UnknownItem as error:
                raise RequestError("not_found", str(error), "key") from error
            except InputError as error:
                raise RequestError("invalid_request", str(error)) from error
            except StoreError as error:
                raise RequestError("not_written", str(error)) from error

        return answer

    def _save(self, given: dict[str, Any]) -> dict[str, Any]:
        return self._study.save(given.get("annotator"), str(given.get("key")), given)

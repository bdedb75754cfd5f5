"""Answer a refused request with ``{"error": {"code", "message", "where"}}``, in both servers."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from rome.exceptions import RomeError
from rome.text_table import shorten

Say = Callable[[str], None]
"""Called with a line for the person who started the server; no line contains a text."""

CODES: Mapping[str, int] = {
    "invalid_json": 400,
    **dict.fromkeys(("foreign_host", "foreign_origin", "foreign_token"), 403),
    "not_found": 404,
    "method_not_allowed": 405,
    "too_slow": 408,
    "conflict": 409,
    "too_large": 413,
    "wrong_content_type": 415,
    **dict.fromkeys(("invalid_request", "too_many_pairs", "too_many_references", "text_too_long", "not_scorable"), 422),
    **dict.fromkeys(("internal", "scoring_failed"), 500),
    **dict.fromkeys(("busy", "stopping"), 503),
    "timed_out": 504,
    "not_written": 507,
}
"""The codes of errors with their HTTP statuses."""


class RequestError(RomeError):
    """A refused request.

    Parameters
    ----------
    code
        One of CODES.
    where
        The place in the request, such as ``pairs[3]``; None outside the body.
    """

    def __init__(self, code: str, message: str, where: str | None = None, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.code, self.where, self.headers = code, where, headers

    def body(self) -> dict[str, Any]:
        """Return the JSON of the answer."""
        return {"error": {"code": self.code, "message": str(self), "where": self.where}}

    def response(self) -> JSONResponse:
        """Return the answer."""
        return JSONResponse(self.body(), CODES[self.code], self.headers)


def described(error: BaseException) -> str:
    """Return the type of the error and its lines, innermost last, but not its message, which may contain a text."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    return f"{type(error).__name__} at " + " > ".join(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames)


async def _refused(request: Request, error: RequestError) -> Response:
    return error.response()


async def _unrouted(request: Request, error: HTTPException) -> Response:
    """Answer an unknown address or method."""
    if error.status_code == 405:
        allowed = " or ".join(sorted((error.headers or {}).get("Allow", "").split(", ")))
        message = f"the method must be {allowed}, got {shorten(request.method, 20)}"
        return RequestError("method_not_allowed", message, "method", error.headers).response()
    return RequestError("not_found", "no such address", "path").response()


HANDLERS = {RequestError: _refused, HTTPException: _unrouted}
"""The exception handlers of both servers."""

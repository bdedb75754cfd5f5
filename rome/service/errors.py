"""A request that is refused: ``{"error": {"code", "message", "where"}}``, for both servers."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from rome.exceptions import RomeError

Say = Callable[[str], None]
"""Takes a line for whoever started the server; no line holds a text."""

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
"""Every code that an error may have, with its HTTP status."""


class RequestError(RomeError):
    """What is wrong, where, and what to do about it.

    Parameters
    ----------
    code
        One of CODES.
    where
        The place in the request, such as ``pairs[3]``; None when it is not in the body.
    """

    def __init__(self, code: str, message: str, where: str | None = None, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.code, self.where, self.headers = code, where, headers

    def body(self) -> dict[str, Any]:
        """The answer's JSON."""
        return {"error": {"code": self.code, "message": str(self), "where": self.where}}

    def response(self) -> JSONResponse:
        """The answer."""
        return JSONResponse(self.body(), CODES[self.code], self.headers)


def described(error: BaseException) -> str:
    """The error's type and the lines it came through, innermost last. Not its message: that may hold a text."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    return f"{type(error).__name__} at " + " > ".join(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames)


async def _refused(request: Request, error: RequestError) -> Response:
    return error.response()


async def _unrouted(request: Request, error: HTTPException) -> Response:
    """404 and 405."""
    if error.status_code == 405:
        return RequestError("method_not_allowed", "this address takes another method", "method", error.headers).response()
    return RequestError("not_found", "no such address", "path").response()


HANDLERS = {RequestError: _refused, HTTPException: _unrouted}
"""The exception handlers of both applications."""

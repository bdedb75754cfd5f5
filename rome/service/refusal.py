"""A request that is answered with an error: ``{"error": {"code", "message", "where"}}``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

from rome.exceptions import RomeError

__all__ = ["CODES", "Refusal", "error_body", "raw_answer"]

CODES: Mapping[str, int] = {
    "bad_request": 400,
    "invalid_json": 400,
    "foreign_host": 403,
    "foreign_origin": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "not_acceptable": 406,
    "too_slow": 408,
    "too_large": 413,
    "wrong_content_type": 415,
    "wrong_encoding": 415,
    "invalid_request": 422,
    "too_many_pairs": 422,
    "too_many_references": 422,
    "text_too_long": 422,
    "not_scorable": 422,
    "internal": 500,
    "scoring_failed": 500,
    "busy": 503,
    "stopping": 503,
    "timed_out": 504,
}
"""Every code that an error may have, with its HTTP status."""


class Refusal(RomeError):
    """What is wrong, where, and what to do about it.

    code : one of CODES. where : the place in the request, such as ``pairs[3].hypothesis``; None when it is not in the body.
    """

    def __init__(self, code: str, message: str, where: str | None = None, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.where, self.headers = code, message, where, dict(headers or {})

    @property
    def status(self) -> int:
        """The HTTP status of the code."""
        return CODES[self.code]

    @property
    def body(self) -> bytes:
        """The answer's JSON."""
        return error_body(self.code, self.message, self.where)


def error_body(code: str, message: str, where: str | None = None) -> bytes:
    """The JSON of an error; pure ASCII, so that a lone surrogate in a quoted key does no harm."""
    return json.dumps({"error": {"code": code, "message": message, "where": where}}).encode("ascii")


def raw_answer(refusal: Refusal) -> bytes:
    """The whole HTTP answer, for a connection on which no request was understood; it says that the connection closes."""
    headers = {
        "Content-Type": "application/json",
        "Content-Length": str(len(refusal.body)),
        "X-Content-Type-Options": "nosniff",
        "Connection": "close",
        **refusal.headers,
    }
    lines = [f"HTTP/1.1 {refusal.status} {HTTPStatus(refusal.status).phrase}", *(f"{k}: {v}" for k, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + refusal.body

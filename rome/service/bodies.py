"""The body of a request: refused before it is read where its head says enough, never read beyond the limit, and strict JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from email.message import Message
from typing import Any, NoReturn

from rome.service.limits import Limits
from rome.service.refusal import Refusal

__all__ = ["Disconnected", "Receive", "read_json"]

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


class Disconnected(ConnectionError):
    """The client went away before its request was complete."""


async def read_json(headers: Mapping[str, str], receive: Receive, limits: Limits) -> Any:
    """The JSON value of a request's body. Raises Refusal, and Disconnected.

    headers : names in lower case. Duplicate keys, NaN and Infinity are refused; numbers come back as 0, for no number is ever asked for.
    """
    _check_head(headers, limits)
    try:
        content = await asyncio.wait_for(_read(receive, limits.body_bytes), limits.receive_seconds)
    except asyncio.TimeoutError as error:
        message = f"the body did not arrive within {limits.receive_seconds:g} seconds: send it at once"
        raise Refusal("too_slow", message, "body", headers={"Connection": "close"}) from error
    return _parsed(content)


def _check_head(headers: Mapping[str, str], limits: Limits) -> None:
    """Type, encoding and announced length."""
    kind = Message()
    kind["Content-Type"] = headers.get("content-type", "")
    charset = kind.get_param("charset", "utf-8")
    if not headers.get("content-type") or kind.get_content_type() != "application/json":
        raise Refusal("wrong_content_type", "give the body as application/json", "header Content-Type")
    if not isinstance(charset, str) or charset.lower() not in ("utf-8", "utf8"):
        raise Refusal("wrong_content_type", "give the body in UTF-8", "header Content-Type")
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Refusal("wrong_encoding", "a compressed body is not read: send it as it is", "header Content-Encoding")
    length = headers.get("content-length", "0")
    if length.isascii() and length.isdigit() and (len(length) > 15 or int(length) > limits.body_bytes):
        raise _too_large(limits.body_bytes)


async def _read(receive: Receive, largest: int) -> bytes:
    """The bytes of the body, at most ``largest``."""
    content = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Disconnected("the client went away")
        content += message.get("body", b"")
        if len(content) > largest:
            raise _too_large(largest)
        if not message.get("more_body", False):
            return bytes(content)


def _too_large(largest: int) -> Refusal:
    return Refusal("too_large", f"the body is over {largest} bytes: send fewer pairs a request", "body")


def _parsed(content: bytes) -> Any:
    """The JSON value, strictly."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refusal("invalid_json", f"the body is no UTF-8 at byte {error.start}: encode it as UTF-8", "body") from error
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=lambda _: 0, parse_float=lambda _: 0
        )
    except RecursionError as error:
        raise Refusal("invalid_json", "the body is nested too deeply: a request needs four levels", "body") from error
    except json.JSONDecodeError as error:
        message = f"the body is not JSON: {error.msg}, at character {error.pos}"
        raise Refusal("invalid_json", message, "body") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys differ: of two equal ones a reader would take either."""
    row = dict(pairs)
    if len(row) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise Refusal("invalid_json", f"the key {twice[:40]!r} stands twice in one object: give it once", "body")
    return row


def _constant(name: str) -> NoReturn:
    raise Refusal("invalid_json", f"{name} is not JSON: leave it out", "body")

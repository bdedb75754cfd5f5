"""What a request asks: its body as JSON, and the JSON as checked pairs, every complaint with its place."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.requests import Request

from rome.inputs import EmptyReference, Pair
from rome.service.errors import RequestError
from rome.service.limits import Limits

__all__ = ["parse_json", "read_json", "read_pair", "read_pairs"]

_FORM = 'a pair is {"reference": TEXT or [TEXT, ...], "hypothesis": TEXT}'


async def read_json(request: Request, max_body: int, seconds: float) -> Any:
    """The JSON value of a request's body, of which no more is read than it may have. Raises RequestError."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RequestError("wrong_content_type", "give the body as application/json", "header Content-Type")
    try:
        return parse_json(await asyncio.wait_for(_read(request, max_body), seconds))
    except asyncio.TimeoutError as error:
        message = f"the body did not arrive within {seconds:g} seconds: send it at once"
        raise RequestError("too_slow", message, "body", {"Connection": "close"}) from error


def parse_json(content: bytes) -> Any:
    """The value of a body. Raises RequestError."""
    try:
        return json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise RequestError("invalid_json", f"the body is not JSON ({error}): give JSON in UTF-8", "body") from error


async def _read(request: Request, max_body: int) -> bytes:
    """The bytes of the body."""
    too_large = RequestError("too_large", f"the body is over {max_body} bytes: send less a request", "body")
    if int(request.headers.get("content-length", 0)) > max_body:
        raise too_large
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > max_body:
            raise too_large
    return bytes(content)


def read_pairs(body: Any, limits: Limits, empty_reference: EmptyReference = "error") -> list[Pair]:
    """The pairs of ``{"pairs": [PAIR, ...]}``, or of one PAIR, in their order. Raises RequestError that names the place."""
    if not isinstance(body, dict) or "pairs" not in body:
        return [read_pair(body, limits, empty_reference)]
    pairs = body["pairs"]
    if len(body) > 1 or not isinstance(pairs, list) or not pairs:
        raise RequestError("invalid_request", f"give pairs alone, a list of at least one; {_FORM}", "pairs")
    if len(pairs) > limits.max_pairs:
        raise RequestError("too_many_pairs", f"{len(pairs)} pairs, over {limits.max_pairs}: send several requests", "pairs")
    return [read_pair(pair, limits, empty_reference, number, f"pairs[{number}].") for number, pair in enumerate(pairs)]


def read_pair(given: Any, limits: Limits, empty_reference: EmptyReference, number: int = 0, place: str = "") -> Pair:
    """One pair. Raises RequestError that names the place."""
    if not isinstance(given, dict) or given.keys() != {"reference", "hypothesis"}:
        raise RequestError("invalid_request", f"this is no pair: {_FORM}", place.rstrip(".") or "body")
    where, references = f"{place}reference", given["reference"]
    if not isinstance(references, list):
        texts = {where: references}
    elif 0 < len(references) <= limits.max_references:
        texts = {f"{where}[{n}]": text for n, text in enumerate(references)}
    else:
        message = f"{len(references)} references: give 1 to {limits.max_references}"
        raise RequestError("too_many_references" if references else "invalid_request", message, where)
    for one, text in texts.items():
        _check_text(text, one, limits)
        if empty_reference == "error" and not text.strip():
            remedy = "leave the pair out, or start the service with --empty-reference score"
            raise RequestError("invalid_request", f"the reference is empty: {remedy}", one)
    _check_text(given["hypothesis"], f"{place}hypothesis", limits)
    return Pair(number, tuple(texts.values()), given["hypothesis"])


def _check_text(text: Any, where: str, limits: Limits) -> None:
    """A text that can be written as UTF-8 and is not too long."""
    if not isinstance(text, str):
        raise RequestError("invalid_request", f"this is no text: {_FORM}", where)
    if len(text) > limits.max_characters:
        message = f"{len(text)} characters, over {limits.max_characters}: score it in parts"
        raise RequestError("text_too_long", message, where)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        message = f"a lone surrogate at character {error.start}: send whole characters"
        raise RequestError("invalid_request", message, where) from error

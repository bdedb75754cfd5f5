"""What a request asks: its body as JSON, and the JSON as checked pairs, every complaint with its place."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from starlette.requests import Request

from rome.checks import CheckedPair, EmptyReference, check_pairs
from rome.exceptions import InputError
from rome.service.errors import RequestError
from rome.service.limits import Limits
from rome.storage.rows import parse_json

_FORM = 'a pair is {"reference": TEXT or [TEXT, ...], "hypothesis": TEXT}'


async def read_json(request: Request, max_body: int, seconds: float) -> Any:
    """The JSON value of a request's body, of which no more is read than it may have. Raises RequestError."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RequestError("wrong_content_type", "give the body as application/json", "header Content-Type")
    try:
        return parse_body(await asyncio.wait_for(_read(request, max_body), seconds))
    except asyncio.TimeoutError as error:
        message = f"the body did not arrive within {seconds:g} seconds: send it at once"
        raise RequestError("too_slow", message, "body", {"Connection": "close"}) from error


def parse_body(content: bytes) -> Any:
    """The value of a body. Raises RequestError."""
    try:
        return parse_json(content.decode("utf-8"))
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


def read_pairs(body: Any, limits: Limits, empty_reference: EmptyReference = "error") -> list[CheckedPair]:
    """The pairs of ``{"pairs": [PAIR, ...]}``, or of one PAIR, in their order. Raises RequestError that names the place."""
    if not isinstance(body, dict) or "pairs" not in body:
        return [read_pair(body, limits, empty_reference)]
    pairs = body["pairs"]
    if len(body) > 1 or not isinstance(pairs, list) or not pairs:
        raise RequestError("invalid_request", f"give pairs alone, a list of at least one; {_FORM}", "pairs")
    if len(pairs) > limits.max_pairs:
        raise RequestError("too_many_pairs", f"{len(pairs)} pairs, over {limits.max_pairs}: send several requests", "pairs")
    return [read_pair(pair, limits, empty_reference, number, f"pairs[{number}]") for number, pair in enumerate(pairs)]


def read_pair(
    given: Any, limits: Limits, empty_reference: EmptyReference = "error", number: int = 0, place: str = "body"
) -> CheckedPair:
    """One pair. Raises RequestError that names the place."""
    if not isinstance(given, dict) or given.keys() != {"reference", "hypothesis"}:
        raise RequestError("invalid_request", f"this is no pair: {_FORM}", place)
    references = given["reference"] if isinstance(given["reference"], list) else [given["reference"]]
    if len(references) > limits.max_references:
        message = f"{len(references)} references, over {limits.max_references}: leave some out"
        raise RequestError("too_many_references", message, place)
    longest = max((len(text) for text in (*references, given["hypothesis"]) if isinstance(text, str)), default=0)
    if longest > limits.max_characters:
        message = f"a text of {longest} characters, over {limits.max_characters}: score it in parts"
        raise RequestError("text_too_long", message, place)
    try:
        (pair,) = check_pairs([references], [given["hypothesis"]], empty_reference=empty_reference)
    except InputError as error:
        message = str(error).replace("references[0]", "reference").replace("hypotheses[0]", "hypothesis")
        raise RequestError("invalid_request", message, place) from error
    return replace(pair, segment=number)


def read_edit(given: Any, limits: Limits, empty_reference: EmptyReference = "error") -> tuple[CheckedPair, CheckedPair]:
    """A pair, and the same one with its edited hypothesis. Raises RequestError."""
    if not isinstance(given, dict) or given.keys() != {"reference", "hypothesis", "edited"}:
        message = 'give {"reference": TEXT or [TEXT, ...], "hypothesis": TEXT, "edited": TEXT}'
        raise RequestError("invalid_request", message, "body")
    texts = {"reference": given["reference"], "hypothesis": given["hypothesis"]}
    edited = {"reference": given["reference"], "hypothesis": given["edited"]}
    return read_pair(texts, limits, empty_reference), read_pair(edited, limits, empty_reference, 1)

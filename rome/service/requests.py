"""Read a request's body as JSON, and the JSON as checked pairs; every error names its place."""

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
_EDIT = '{"reference": TEXT or [TEXT, ...], "hypothesis": TEXT, "edited": TEXT}'


async def read_json(request: Request, max_body: int, seconds: float) -> Any:
    """Return the JSON value of a request's body, reading no more than max_body bytes. Raises RequestError."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RequestError("wrong_content_type", "the body must be application/json", "header Content-Type")
    try:
        return parse_body(await asyncio.wait_for(_read(request, max_body), seconds))
    except asyncio.TimeoutError as error:
        message = f"the body must arrive within {seconds:g} seconds: send it at once"
        raise RequestError("too_slow", message, "body", {"Connection": "close"}) from error


def parse_body(content: bytes) -> Any:
    """Return the value of a body. Raises RequestError."""
    try:
        return parse_json(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise RequestError("invalid_json", f"the body is not JSON in UTF-8: {error}", "body") from error


async def _read(request: Request, max_body: int) -> bytes:
    """Return the bytes of the body."""
    too_large = RequestError("too_large", f"the body has over {max_body} bytes: send less per request", "body")
    if int(request.headers.get("content-length", 0)) > max_body:
        raise too_large
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > max_body:
            raise too_large
    return bytes(content)


def read_pairs(body: Any, limits: Limits, empty_reference: EmptyReference = "error") -> list[CheckedPair]:
    """Return the pairs of ``{"pairs": [PAIR, ...]}``, or of one PAIR, in order. Raises RequestError that names the place."""
    if not isinstance(body, dict) or "pairs" not in body:
        return [read_pair(body, limits, empty_reference)]
    pairs = body["pairs"]
    if len(body) > 1 or not isinstance(pairs, list) or not pairs:
        raise RequestError("invalid_request", f"pairs must be a list of at least one, and the only key; {_FORM}", "pairs")
    if len(pairs) > limits.max_pairs:
        message = f"pairs must have at most {limits.max_pairs} entries, got {len(pairs)}: send several requests"
        raise RequestError("too_many_pairs", message, "pairs")
    return [read_pair(pair, limits, empty_reference, number, f"pairs[{number}]") for number, pair in enumerate(pairs)]


def read_pair(
    given: Any, limits: Limits, empty_reference: EmptyReference = "error", number: int = 0, place: str = "body"
) -> CheckedPair:
    """Return one pair. Raises RequestError that names the place."""
    if not isinstance(given, dict) or given.keys() != {"reference", "hypothesis"}:
        raise RequestError("invalid_request", _FORM, place)
    references = given["reference"] if isinstance(given["reference"], list) else [given["reference"]]
    if len(references) > limits.max_references:
        message = f"a pair must have at most {limits.max_references} references, got {len(references)}: leave some out"
        raise RequestError("too_many_references", message, place)
    longest = max((len(text) for text in (*references, given["hypothesis"]) if isinstance(text, str)), default=0)
    if longest > limits.max_characters:
        message = f"a text must have at most {limits.max_characters} characters, got {longest}: score it in parts"
        raise RequestError("text_too_long", message, place)
    try:
        (pair,) = check_pairs([references], [given["hypothesis"]], empty_reference=empty_reference)
    except InputError as error:
        message = str(error).replace("references[0]", "reference").replace("hypotheses[0]", "hypothesis")
        raise RequestError("invalid_request", message, place) from error
    return replace(pair, segment=number)


def read_edit(given: Any, limits: Limits, empty_reference: EmptyReference = "error") -> list[CheckedPair]:
    """Return a pair, and the same one with its edited hypothesis. Raises RequestError."""
    if not isinstance(given, dict) or given.keys() != {"reference", "hypothesis", "edited"}:
        raise RequestError("invalid_request", f"an edit is {_EDIT}", "body")
    texts = [{"reference": given["reference"], "hypothesis": given[name]} for name in ("hypothesis", "edited")]
    return [read_pair(text, limits, empty_reference, number) for number, text in enumerate(texts)]

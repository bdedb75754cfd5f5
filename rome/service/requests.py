"""Read a request's body as JSON, and the JSON as checked pairs; every error names its place."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from starlette.requests import Request

from rome.checks import CheckedPair, EmptyReference, check_pairs
from rome.exceptions import InputError
from rome.service.errors import RequestError
from rome.service.limits import Limits
from rome.storage.rows import parse_json
from rome.text_table import shorten

_FORM = 'A pair is {"reference": TEXT or [TEXT, ...], "hypothesis": TEXT}; for /score, several are {"pairs": [PAIR, ...]}'
_EDIT = 'An edit is {"reference": TEXT or [TEXT, ...], "hypothesis": TEXT, "edited": TEXT}'
_KINDS: dict[type, str] = {type(None): "null", bool: "a boolean", dict: "an object", list: "a list"}


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
        raise RequestError("invalid_request", f"pairs must be a list of at least one, and the only field. {_FORM}", "pairs")
    if len(pairs) > limits.max_pairs:
        message = f"pairs must have at most {limits.max_pairs} entries, got {len(pairs)}: send several requests"
        raise RequestError("too_many_pairs", message, "pairs")
    return [read_pair(pair, limits, empty_reference, number, f"pairs[{number}]") for number, pair in enumerate(pairs)]


def _check_fields(given: Any, names: Sequence[str], form: str, place: str) -> None:
    """Raise RequestError unless the value is an object with exactly these fields, each a string; the reference may be a list of strings."""
    if not isinstance(given, dict) or given.keys() != set(names):
        got = (shorten(", ".join(given), 60) or "none") if isinstance(given, dict) else "no object"
        raise RequestError("invalid_request", f"the fields must be {', '.join(names)}, got {got}. {form}", place)
    for name in names:
        texts = given[name] if name == "reference" and isinstance(given[name], list) else [given[name]]
        wrong = [_KINDS.get(type(text), "a number") for text in texts if not isinstance(text, str)]
        if wrong or not texts:
            got = wrong[0] if wrong else "an empty list"
            must = "a string or a list of at least one string" if name == "reference" else "a string"
            raise RequestError("invalid_request", f"{name} must be {must}, got {got}", place)


def read_pair(
    given: Any, limits: Limits, empty_reference: EmptyReference = "error", number: int = 0, place: str = "body"
) -> CheckedPair:
    """Return one pair. Raises RequestError that names the place."""
    _check_fields(given, ("reference", "hypothesis"), _FORM, place)
    references = given["reference"] if isinstance(given["reference"], list) else [given["reference"]]
    if len(references) > limits.max_references:
        message = f"a pair must have at most {limits.max_references} references, got {len(references)}: leave some out"
        raise RequestError("too_many_references", message, place)
    longest = max(map(len, (*references, given["hypothesis"])))
    if longest > limits.max_characters:
        message = f"a text must have at most {limits.max_characters} characters, got {longest}: score it in parts"
        raise RequestError("text_too_long", message, place)
    try:
        (pair,) = check_pairs([given["reference"]], [given["hypothesis"]], empty_reference=empty_reference)
    except InputError as error:
        message = str(error).replace("references[0]", "reference").replace("hypotheses[0]", "hypothesis")
        message = message.replace('pass empty_reference="score"', "start the service with --empty-reference score")
        message = message.replace("the segment", "the pair")
        raise RequestError("invalid_request", message, place) from error
    return replace(pair, segment=number)


def read_edit(given: Any, limits: Limits, empty_reference: EmptyReference = "error") -> list[CheckedPair]:
    """Return a pair, and the same one with its edited hypothesis. Raises RequestError."""
    _check_fields(given, ("reference", "hypothesis", "edited"), _EDIT, "body")
    texts = [{"reference": given["reference"], "hypothesis": given[name]} for name in ("hypothesis", "edited")]
    return [read_pair(text, limits, empty_reference, number) for number, text in enumerate(texts)]

"""What a request asks: its JSON as pairs, each text checked, every complaint with its place."""

from __future__ import annotations

from typing import Any

from rome.checks import EmptyReference, Pair
from rome.service.limits import Limits
from rome.service.refusal import Refusal

__all__ = ["one_pair", "some_pairs"]

_NAMES = {str: "a text", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
_FORM = 'a pair is {"reference": TEXT or [TEXT, ...], "hypothesis": TEXT}'


def some_pairs(body: Any, limits: Limits, empty_reference: EmptyReference = "error") -> list[Pair]:
    """The pairs of ``{"pairs": [PAIR, ...]}``, or of one PAIR, in their order. Raises Refusal that names the pair and the remedy."""
    if not isinstance(body, dict) or "pairs" not in body:
        return [one_pair(body, limits, empty_reference)]
    _check_keys(body, {"pairs"}, "")
    pairs = body["pairs"]
    if not isinstance(pairs, list):
        raise Refusal("invalid_request", f"pairs is {_kind(pairs)}: give a list; {_FORM}", "pairs")
    if not pairs:
        raise Refusal("invalid_request", "pairs is empty: give at least one, nothing has no mean score", "pairs")
    if len(pairs) > limits.pairs:
        raise Refusal("too_many_pairs", f"{len(pairs)} pairs, over {limits.pairs}: send several requests", "pairs")
    return [_pair(pair, n, f"pairs[{n}]", limits, empty_reference) for n, pair in enumerate(pairs)]


def one_pair(body: Any, limits: Limits, empty_reference: EmptyReference = "error") -> Pair:
    """The one pair that a body is. Raises Refusal."""
    return _pair(body, 0, "", limits, empty_reference)


def _pair(given: Any, number: int, place: str, limits: Limits, empty_reference: EmptyReference) -> Pair:
    """A pair after the check; place : where it stands, empty for the body itself."""
    if not isinstance(given, dict):
        raise Refusal("invalid_request", f"{place or 'the body'} is {_kind(given)}: {_FORM}", place or "body")
    _check_keys(given, {"reference", "hypothesis"}, place)
    references = given["reference"] if isinstance(given["reference"], list) else [given["reference"]]
    where = _at(place, "reference")
    if not references:
        raise Refusal("invalid_request", f"{where} is an empty list: give at least one reference", where)
    if len(references) > limits.references:
        raise Refusal("too_many_references", f"{len(references)} references, over {limits.references}: leave some out", where)
    listed = isinstance(given["reference"], list)
    named = [(f"{where}[{n}]" if listed else where, text) for n, text in enumerate(references)]
    for place_of_text, text in named:
        _check_text(text, place_of_text, limits)
        if empty_reference == "error" and not text.strip():
            remedy = "leave the pair out, or start the service with --empty-reference score"
            raise Refusal("invalid_request", f"{place_of_text} is empty: {remedy}", place_of_text)
    _check_text(given["hypothesis"], _at(place, "hypothesis"), limits)
    return Pair(number, tuple(references), given["hypothesis"])


def _check_keys(given: dict[str, Any], wanted: set[str], place: str) -> None:
    """Exactly the wanted keys."""
    for key in sorted(given.keys() - wanted):
        raise Refusal("invalid_request", f"the key {key[:40]!r} is unknown: {_FORM}", _at(place, "") or "body")
    for key in sorted(wanted - given.keys()):
        raise Refusal("invalid_request", f"{key} is missing: {_FORM}", _at(place, key))


def _check_text(text: Any, where: str, limits: Limits) -> None:
    """A text that can be written as UTF-8 and is not too long."""
    if not isinstance(text, str):
        raise Refusal("invalid_request", f"{where} is {_kind(text)}: give a text", where)
    if len(text) > limits.characters:
        message = f"{where} has {len(text)} characters, over {limits.characters}: score it in parts"
        raise Refusal("text_too_long", message, where)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        message = (
            f"{where} has a lone surrogate (U+{ord(text[error.start]):04X}) at character {error.start}: send whole characters"
        )
        raise Refusal("invalid_request", message, where) from error


def _kind(value: Any) -> str:
    """The kind of a wrong value."""
    return "null" if value is None else _NAMES.get(type(value), "something else")


def _at(place: str, key: str) -> str:
    return f"{place}.{key}".strip(".")

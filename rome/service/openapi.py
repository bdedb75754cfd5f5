"""The service described for programs: an OpenAPI 3.1 document. The tests hold every answer against it."""

from __future__ import annotations

from typing import Any

from rome.features.values import FEATURES
from rome.service.limits import Limits
from rome.service.refusal import CODES

__all__ = ["EXAMPLE", "document"]

Schema = dict[str, Any]
EXAMPLE = {"reference": "Shakespeare wrote Macbeth in 1606.", "hypothesis": "Shakespeare wrote Macbeth in 1906."}
_PLACES = {"GET": (400, 403, 408, 500), "POST": (400, 403, 406, 408, 413, 415, 422, 500, 503, 504)}


def document(limits: Limits, version: str) -> dict[str, Any]:
    """The document, with this service's limits in it."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "RoMe",
            "version": version,
            "summary": "Scores English texts against references, and says why.",
            "description": "Every score is in [0, 1], 1 is best, and comes with its four components and the points that each mistake cost. "
            "A score does not depend on what else is asked at the same time.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {
            "/score": {"post": _score()},
            "/explain": {"post": _explain(limits)},
            "/health": {"get": _health()},
            "/openapi.json": {"get": _get("describe", "This document.", {"application/json": {"schema": {"type": "object"}}})},
            "/": {"get": _get("page", "The same for people.", {"text/html": {"schema": {"type": "string"}}})},
        },
        "components": {"schemas": _schemas(limits)},
    }


def _score() -> Schema:
    """POST /score."""
    body = {"anyOf": [_ref("Pairs"), _ref("Pair")]}
    examples = {"one": {"value": EXAMPLE}, "many": {"value": {"pairs": [EXAMPLE, {**EXAMPLE, "reference": ["A.", "B."]}]}}}
    return {
        "operationId": "score",
        "summary": "Score one pair, or many, each against one reference or several: the best one counts.",
        "requestBody": {"required": True, "content": {"application/json": {"schema": body, "examples": examples}}},
        "responses": {"200": _answer("The scores, in the order of the pairs.", _json(_ref("CorpusScore"))), **_errors("POST")},
    }


def _explain(limits: Limits) -> Schema:
    """POST /explain."""
    content = {**_json(_ref("Explanation")), "text/html": {"schema": {"type": "string"}}}
    return {
        "operationId": "explain",
        "summary": "Score one pair and give all the evidence; as a page when the Accept header prefers text/html.",
        "description": f"For JSON a text may have {limits.explain_characters} characters: its matrices grow with the square of a text.",
        "requestBody": {"required": True, "content": {"application/json": {"schema": _ref("Pair"), "example": EXAMPLE}}},
        "responses": {"200": _answer("The score with its evidence.", content), **_errors("POST")},
    }


def _health() -> Schema:
    """GET /health."""
    return {
        "operationId": "health",
        "summary": "Whether the models are loaded, and how much there is to do.",
        "responses": {
            "200": _answer("Ready.", _json(_ref("Health"))),
            "503": _answer("Loading, failed or stopping.", _json({"anyOf": [_ref("Health"), _ref("Error")]})),
            **_errors("GET"),
        },
    }


def _get(name: str, summary: str, content: Schema) -> Schema:
    responses = {"200": _answer(summary, content), **_errors("GET"), "503": _answer("Busy.", _json(_ref("Error")))}
    return {"operationId": name, "summary": summary, "responses": responses}


def _errors(method: str) -> Schema:
    """The answers that are no scores."""
    named = {status: [code for code, own in CODES.items() if own == status] for status in _PLACES[method]}
    return {str(status): _answer(f"Refused: {', '.join(codes)}.", _json(_ref("Error"))) for status, codes in named.items()}


def _schemas(limits: Limits) -> Schema:
    """Every schema by its name."""
    text = {"type": "string", "maxLength": limits.characters}
    segment = _segment()
    return {
        "Pair": _object(
            reference={"anyOf": [text, {"type": "array", "items": text, "minItems": 1, "maxItems": limits.references}]},
            hypothesis=text,
        ),
        "Pairs": _object(pairs={"type": "array", "items": _ref("Pair"), "minItems": 1, "maxItems": limits.pairs}),
        "Four": _object(**dict.fromkeys(FEATURES, _number("one number a feature"))),
        "Component": _object(
            value=_share(), raw=_number("the quantity before it was brought to [0, 1]"), unit={"type": "string"}
        ),
        "Components": _object(**dict.fromkeys(FEATURES, _ref("Component"))),
        "Loss": _object(
            feature={"enum": list(FEATURES)},
            loss={**_number("at most 0"), "maximum": 0},
            error={"type": ["object", "null"], "description": "the mistake; null where the feature itself is meant"},
        ),
        "SegmentScore": _object(**segment, optional=_LABELS),
        "Explanation": _object(**segment, evidence=_ref("Evidence"), optional=_LABELS),
        "Evidence": _object(**{name: {"type": ["object", "null"], "description": what} for name, what in _EVIDENCE.items()}),
        "CorpusScore": _object(
            score={**_share(), "description": "the mean of the segments' scores"},
            components=_ref("Four"),
            signature={"type": "string", "description": "every choice that changes a number"},
            segments={"type": "array", "items": _ref("SegmentScore")},
            optional=_LABELS,
        ),
        "Health": _object(
            status={"enum": ["loading", "ready", "failed", "stopping"]},
            version={"type": "string"},
            signature={"type": ["string", "null"], "description": "null until the models are loaded"},
            uptime_seconds={"type": "number", "minimum": 0},
            queue=_object(requests=_count(), pairs=_count(), limit=_count()),
            done=_object(calls=_count(), pairs=_count()),
        ),
        "Error": _object(
            error=_object(
                code={"enum": list(CODES)},
                message={"type": "string", "description": "what is wrong, and the remedy"},
                where={"type": ["string", "null"], "description": "the place in the request, such as pairs[3].hypothesis"},
            )
        ),
    }


_LABELS = {"scorer": {"type": "string"}, "fitted_on": {}}
_EVIDENCE = {
    "semantic": "words and weights of both sides, aligned pairs, cost and flow matrices [reference word][hypothesis word]",
    "syntax": "the two trees, which nodes count as equal, the distance and the edit operations",
    "grammar": "the probability of every sentence of the hypothesis that it is acceptable English, and the reference's own",
    "errors": "error spans with place, kind, type, severity, weight and confidence, and their weighted count",
}


def _segment() -> Schema:
    """The fields of a segment's score."""
    return {
        "segment": {**_count(), "description": "the pair's place in the request, from 0"},
        "reference": {"type": "string", "description": "the one that scored best"},
        "hypothesis": {"type": "string"},
        "reference_index": _count(),
        "score": _share(),
        "components": _ref("Components"),
        "contributions": {
            **_ref("Four"),
            "description": "the points that each lost: none is positive, they add up to score minus 1",
        },
        "losses": {
            "type": "array",
            "items": _ref("Loss"),
            "description": "the same mistake by mistake, the largest loss first",
        },
        "flags": {"type": "array", "items": {"type": "string"}},
        "signature": {"type": "string"},
    }


def _object(*, optional: Schema | None = None, **properties: Schema) -> Schema:
    """An object with exactly these fields, and perhaps the optional ones."""
    every = {**properties, **(optional or {})}
    return {"type": "object", "properties": every, "required": list(properties), "additionalProperties": False}


def _answer(description: str, content: Schema) -> Schema:
    return {"description": description, "content": content}


def _json(schema: Schema) -> Schema:
    return {"application/json": {"schema": schema}}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _number(description: str) -> Schema:
    return {"type": ["number", "null"], "description": description}


def _share() -> Schema:
    return {"type": "number", "minimum": 0, "maximum": 1}


def _count() -> Schema:
    return {"type": "integer", "minimum": 0}

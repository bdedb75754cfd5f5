"""The service described for people: one page without scripts, pictures or anything from elsewhere."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from rome.service.openapi import EXAMPLE

__all__ = ["describe"]

_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}"
    "code,pre{font-family:ui-monospace,monospace;font-size:.95em}"
    "pre{padding:.75rem;border:1px solid;border-radius:.25rem;overflow:auto}"
    "th,td{text-align:left;vertical-align:top;padding:.25rem 1rem .25rem 0}"
)


def describe(document: dict[str, Any], host: str) -> str:
    """The page of an OpenAPI document. host : the name by which the reader reached it, for the examples."""
    info = document["info"]
    body = [
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info['summary'])} {escape(info['description'])}</p>"
    ]
    for path, methods in document["paths"].items():
        body += [_operation(path, method.upper(), operation) for method, operation in methods.items()]
    body += [_examples(host), _schemas(document["components"]["schemas"])]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(info['title'])}: the service</title><style>{_STYLE}</style></head><body><main>"
        + "\n".join(body)
        + "</main></body></html>\n"
    )


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    """One address: what it gives, and how it refuses."""
    rows = "".join(
        f'<tr><th scope="row">{escape(status)}</th><td>{escape(answer["description"])}</td></tr>'
        for status, answer in sorted(operation["responses"].items())
    )
    further = f"<p>{escape(operation['description'])}</p>" if "description" in operation else ""
    return (
        f"<h2><code>{method} {escape(path)}</code></h2><p>{escape(operation['summary'])}</p>{further}"
        f"<details><summary>Answers</summary><table>{rows}</table></details>"
    )


def _examples(host: str) -> str:
    """Commands to copy."""
    pair = json.dumps(EXAMPLE)
    commands = "\n".join(
        f"curl -s http://{host}{path} -H 'Content-Type: application/json'{accept} -d '{body}'"
        for path, accept, body in (
            ("/score", "", pair),
            ("/score", "", json.dumps({"pairs": [EXAMPLE, EXAMPLE]})),
            ("/explain", " -H 'Accept: text/html'", pair),
        )
    )
    return f"<h2>Examples</h2><pre>{escape(commands)}</pre>"


def _schemas(schemas: dict[str, Any]) -> str:
    """What is asked and answered, as JSON Schema."""
    parts = (
        f"<details><summary><code>{escape(name)}</code></summary><pre>{escape(json.dumps(schema, indent=1))}</pre></details>"
        for name, schema in schemas.items()
    )
    return "<h2>What is asked and answered</h2>" + "".join(parts)

"""Docstrings as the site shows them: the project's lines ``name : what it is`` become a list."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

__all__ = ["ListedNames", "listed"]

NAMES = r"`{0,2}[a-z_][\w.]*`{0,2}(?: \([^)]*\)[^:,]{0,24}?)?(?:, [a-z_]\w*)*"
START = re.compile(rf"^{NAMES} ?: \S")
ITEM = re.compile(rf"(?:^|(?<=[.;)\]] ))({NAMES}) ?: (?=\S)")


def listed(text: str) -> str:
    """The text with every paragraph that describes names turned into a list; other paragraphs stay as they are."""
    return "\n\n".join(_paragraph(part) for part in re.split(r"\n\s*\n", text))


def _paragraph(text: str) -> str:
    """One paragraph: what stands before the first line of names stays a sentence, the rest is one item a name."""
    lines = text.split("\n")
    first = next((n for n, line in enumerate(lines) if START.match(line)), None)
    if first is None or "\n---" in text or text.lstrip().startswith(("```", ">>>", "    ")):
        return text
    before, rest = "\n".join(lines[:first]), " ".join(line.strip() for line in lines[first:])
    described, raises, what = rest.partition(" Raises ")
    pieces = ITEM.split(described)[1:]
    items = [f"- `{name.replace('`', '')}`: {text.strip()}" for name, text in zip(pieces[::2], pieces[1::2], strict=True)]
    return "\n\n".join(part for part in (before, "\n".join(items), (raises + what).strip()) if part.strip())


class ListedNames(Extension):
    """Rewrites the docstrings that were read from the source."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Called for every object that was read."""
        if obj.docstring is not None:
            obj.docstring.value = listed(obj.docstring.value)

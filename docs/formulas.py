"""Convert formulas to MathML when the site is built, so that browsers need no script, font or network.

A fence ``math`` is a block formula; a dollar, a back quote, TeX, a back quote and a dollar is an inline formula, as on GitHub.
"""

from __future__ import annotations

from typing import Any

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

BEFORE_CODE = 195  # code in a line has priority 190


def _block(source: str, language: str, class_name: str, *_: Any, **__: Any) -> str:
    """Return the formula of a fence."""
    return f'<div class="{class_name}">{convert(" ".join(source.split()), display="block")}</div>'


FENCE = {"name": "math", "class": "formula", "format": _block}
"""Settings for superfences."""


class _Inline(InlineProcessor):
    """Replace inline formulas."""

    def handleMatch(self, m: Any, data: str) -> tuple[str, int, int]:  # noqa: N802  (the name that Markdown calls)
        """Return the placeholder of the formula and its place."""
        return self.md.htmlStash.store(convert(m.group(1).strip())), m.start(0), m.end(0)


class Formulas(Extension):
    """Markdown extension for formulas."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  (the name that Markdown calls)
        """Register inline formulas."""
        md.inlinePatterns.register(_Inline(r"\$`([^`]+)`\$", md), "formula", BEFORE_CODE)

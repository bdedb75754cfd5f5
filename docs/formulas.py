"""Formulas as MathML, made when the site is built: a browser draws them without a script, a font or a network.

A fence named ``math`` is a formula of its own, handed over by pymdownx.superfences; a dollar, a back quote, TeX, a back quote and a dollar is
one in a line, as on GitHub.
"""

from __future__ import annotations

from typing import Any

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

BEFORE_CODE = 195  # code in a line has priority 190


def _block(source: str, language: str, class_name: str, *_: Any, **__: Any) -> str:
    """The formula of a fence."""
    return f'<div class="{class_name}">{convert(" ".join(source.split()), display="block")}</div>'


FENCE = {"name": "math", "class": "formula", "format": _block}
"""What superfences is told."""


class _Inline(InlineProcessor):
    """Replaces formulas in a line."""

    def handleMatch(self, m: Any, data: str) -> tuple[str, int, int]:  # noqa: N802  (the name that Markdown calls)
        """The placeholder of the formula, and where it stood."""
        return self.md.htmlStash.store(convert(m.group(1).strip())), m.start(0), m.end(0)


class Formulas(Extension):
    """The extension that MkDocs hands to Markdown."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  (the name that Markdown calls)
        """Register the formulas in a line."""
        md.inlinePatterns.register(_Inline(r"\$`([^`]+)`\$", md), "formula", BEFORE_CODE)

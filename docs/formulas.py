"""Formulas as MathML, made when the site is built: a browser draws them without a script, a font or a network.

A fence named ``math`` is a formula of its own; a dollar, a back quote, TeX, a back quote and a dollar is one in a line.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor

__all__ = ["Formulas"]

FENCE = re.compile(r"^(?P<indent> *)```math\n(?P<tex>.*?)^(?P=indent)```$", re.M | re.S)
BEFORE_FENCES, BEFORE_CODE = 30, 195  # fenced code has priority 25, code in a line 190


class _Blocks(Preprocessor):
    """Replaces fences before anything else reads them as code."""

    def run(self, lines: list[str]) -> list[str]:
        """The lines with a placeholder for each formula."""
        return FENCE.sub(self._formula, "\n".join(lines)).split("\n")

    def _formula(self, found: re.Match[str]) -> str:
        tex = " ".join(textwrap.dedent(found["tex"]).split())
        html = f'<div class="formula">{convert(tex, display="block")}</div>'
        return f"{found['indent']}{self.md.htmlStash.store(html)}"


class _Inline(InlineProcessor):
    """Replaces formulas in a line."""

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Element | str, int, int]:  # noqa: N802  (the name that Markdown calls)
        """The placeholder of the formula, and where it stood."""
        return self.md.htmlStash.store(convert(m.group(1).strip())), m.start(0), m.end(0)


class Formulas(Extension):
    """The extension that MkDocs hands to Markdown."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  (the name that Markdown calls)
        """Register both."""
        md.preprocessors.register(_Blocks(md), "formula_blocks", BEFORE_FENCES)
        md.inlinePatterns.register(_Inline(r"\$`([^`]+)`\$", md), "formula_inline", BEFORE_CODE)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)

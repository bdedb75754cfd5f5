"""Flags: what a reader of a score should know about the pair, as short names instead of warnings."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from rome.features.syntax import SyntaxConfig
from rome.features.values import Analysis

FLAGS = ("empty_hypothesis", "empty_reference", "identical", "punctuation_only", "non_latin", "long", "tree_cut")
"""empty_hypothesis, empty_reference: no visible character. identical: the two texts are equal, outer blanks aside.
punctuation_only: a hypothesis without letter or digit. non_latin: most letters of the hypothesis are of another script, which the
embedded models do not read. long: a text of over 400 words. tree_cut: a text of so many words that the syntax component compares
only the first of them."""

LONG = 400


def _non_latin(text: str) -> bool:
    if text.isascii():
        return False
    letters = [c for c in text if c.isalpha()]
    return bool(letters) and 2 * sum(unicodedata.name(c, "").startswith("LATIN") for c in letters) < len(letters)


def _nodes(analysis: Analysis) -> int:
    """The words that would stand in the text's tree."""
    return sum(word.upos != "PUNCT" for word in analysis.words)


def flags_of(reference: Analysis, hypothesis: Analysis) -> tuple[str, ...]:
    """The flags that hold for a pair, in the order of FLAGS."""
    hypothesis_text, reference_text = hypothesis.text.strip(), reference.text.strip()
    holds = (
        not hypothesis_text,
        not reference_text,
        hypothesis_text == reference_text,
        bool(hypothesis_text) and not any(map(str.isalnum, hypothesis_text)),
        _non_latin(hypothesis_text),
        max(len(reference.words), len(hypothesis.words)) > LONG,
        max(_nodes(reference), _nodes(hypothesis)) > SyntaxConfig().max_nodes,
    )
    return tuple(name for name, true in zip(FLAGS, holds, strict=True) if true)


def pack_flags(flags: Sequence[str]) -> int:
    """The flags as bits, bit i for ``FLAGS[i]``."""
    return sum(1 << FLAGS.index(name) for name in flags)

"""Flags: what a reader of a score should know about the pair, as short names instead of warnings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from rome.features.analyser.config import set_folder
from rome.features.idf import IdfTable
from rome.features.syntax import SyntaxConfig
from rome.features.values import Analysis

FLAGS = (
    "empty_hypothesis",
    "empty_reference",
    "identical",
    "punctuation_only",
    "non_latin",
    "long",
    "tree_cut",
    "cut",
    "not_english",
)
"""empty_hypothesis, empty_reference: no visible character. identical: the two texts are equal, outer blanks aside.
punctuation_only: a hypothesis without letter or digit. non_latin: most letters of the hypothesis are of another script, which the
embedded models do not read. long: a text of over 400 words. tree_cut: a text of so many words that the syntax component compares
only the first of them. cut: a text was over the bounds of `rome.checks`, and only its beginning was read. not_english: few words of one of
the texts are English. Stored tables name their own flags; new names come last."""

LONG = 400
LEAST_WORDS, KNOWN, COMMON, COMMON_SHARE = 4, 0.5, 0.03, 0.2
"""A text of at least four words is not English when less than half of them stand in the table of word weights, which has 24,000 of 34,000
English texts, and less than a fifth are of the commonest 70, in 3 of 100 texts or more. Measured on 66 short sentences of 18 languages
(59 found) and 235,000 outputs and references in English (WMT, WebNLG, BAGEL, Wikipedia, CoLA, SICK): 116 flagged, most of
them fragments of names, or of other languages."""
_WORD = re.compile(r"[^\W\d_]{2,}")


def _non_latin(text: str) -> bool:
    if text.isascii():
        return False
    letters = [c for c in text if c.isalpha()]
    return bool(letters) and 2 * sum(unicodedata.name(c, "").startswith("LATIN") for c in letters) < len(letters)


@cache
def _english() -> IdfTable:
    """In how many texts each English word stands."""
    return IdfTable.load(set_folder() / "idf" / "idf.tsv")


def not_english(text: str) -> bool:
    """Whether most words of a text are unknown, its names aside: words with a capital letter, unless few others are left."""
    words = _WORD.findall(text)
    if len(words) < LEAST_WORDS:
        return False
    small = [word for word in words if word[0].islower()]
    english = _english()

    def share(some: Sequence[str], least: float) -> float:
        return sum(english.counts.get(word.lower(), 0) >= least for word in some) / len(some)

    known = share(small if len(small) >= LEAST_WORDS else words, 1)
    return known < KNOWN and share(words, COMMON * english.documents) < COMMON_SHARE


def _nodes(analysis: Analysis) -> int:
    """The words that would stand in the text's tree."""
    return sum(word.upos != "PUNCT" for word in analysis.words)


def flags_of(reference: Analysis, hypothesis: Analysis, cut: bool = False) -> tuple[str, ...]:
    """The flags that hold for a pair, in the order of FLAGS; of a text that was cut nobody knows whether it is identical."""
    hypothesis_text, reference_text = hypothesis.text.strip(), reference.text.strip()
    holds = (
        not hypothesis_text,
        not reference_text,
        hypothesis_text == reference_text and not cut,
        bool(hypothesis_text) and not any(map(str.isalnum, hypothesis_text)),
        _non_latin(hypothesis_text),
        max(len(reference.words), len(hypothesis.words)) > LONG,
        max(_nodes(reference), _nodes(hypothesis)) > SyntaxConfig().max_nodes,
        cut,
        not_english(hypothesis_text) or not_english(reference_text),
    )
    return tuple(name for name, true in zip(FLAGS, holds, strict=True) if true)


def pack_flags(flags: Sequence[str]) -> int:
    """The flags as bits, bit i for ``FLAGS[i]``."""
    return sum(1 << FLAGS.index(name) for name in flags)

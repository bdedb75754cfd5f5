"""Flags of a pair: short names of what a reader of its score should know."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from .errors.typos import EMOJI
from .idf import IdfTable
from .syntax import SyntaxConfig
from .values import Analysis

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
    "windows",
)
"""Names of the flags, in the order of their bits in a stored table; add new names at the end.

- empty_hypothesis, empty_reference: no visible character.
- identical: the two texts are equal as they are compared (`rome.features.text`), apart from blanks around them.
- punctuation_only: the hypothesis has no letter, digit or emoji.
- non_latin: most letters of the hypothesis are of another script, which the embedded models do not read.
- long: a text has more than LONG words.
- tree_cut: a text has more words than the syntax component compares.
- cut: only in older tables, whose long texts were cut.
- not_english: few words of one of the texts are English.
- windows: a text was too long to be compared as a whole, and was read in windows of sentences.
"""
OF_WHOLE_TEXTS = {"empty_hypothesis", "empty_reference", "identical", "punctuation_only"}
"""Those that hold for a pair read in windows only when they hold for every window."""

LONG = 400
LEAST_WORDS, KNOWN, COMMON, COMMON_SHARE = 4, 0.5, 0.03, 0.2
"""Bounds of `not_english`: at least LEAST_WORDS words, fewer than KNOWN of them in the table of word weights, and fewer than COMMON_SHARE of
them in COMMON or more of the table's texts. Measured on 66 short sentences of 18 languages (59 flagged) and 235,000 English texts (WMT,
WebNLG, BAGEL, Wikipedia, CoLA, SICK; 116 flagged, most of them fragments of names or of other languages)."""
_WORD = re.compile(r"[^\W\d_]{2,}")


def flags_of(reference: Analysis, hypothesis: Analysis, *, english: IdfTable, syntax: SyntaxConfig) -> tuple[str, ...]:
    """Return the flags that hold for a pair, in the order of FLAGS.

    Parameters
    ----------
    english
        The document frequencies of English words, of the metric's model set.
    syntax
        The settings of the syntax component, which say how many words it compares.
    """
    hypothesis_text, reference_text = hypothesis.text.strip(), reference.text.strip()
    holds = (
        not hypothesis_text,
        not reference_text,
        hypothesis_text == reference_text,
        bool(hypothesis_text) and not any(map(str.isalnum, EMOJI.sub("x", hypothesis_text))),
        _non_latin(hypothesis_text),
        max(len(reference.words), len(hypothesis.words)) > LONG,
        max(_nodes(reference, syntax), _nodes(hypothesis, syntax)) > syntax.max_nodes,
        False,
        not_english(hypothesis_text, english) or not_english(reference_text, english),
        False,
    )
    return tuple(name for name, true in zip(FLAGS, holds, strict=True) if true)


def not_english(text: str, english: IdfTable) -> bool:
    """Return whether most words of a text are unknown; words with a capital letter count only where few others are left."""
    words = _WORD.findall(text)
    if len(words) < LEAST_WORDS:
        return False
    small = [word for word in words if word[0].islower()]

    def share(some: Sequence[str], least: float) -> float:
        return sum(english.counts.get(word.lower(), 0) >= least for word in some) / len(some)

    known = share(small if len(small) >= LEAST_WORDS else words, 1)
    return known < KNOWN and share(words, COMMON * english.documents) < COMMON_SHARE


def pack_flags(flags: Sequence[str]) -> int:
    """Return the flags as bits, bit i for ``FLAGS[i]``."""
    return sum(1 << FLAGS.index(name) for name in flags)


def _non_latin(text: str) -> bool:
    if text.isascii():
        return False
    letters = [c for c in text if c.isalpha()]
    return bool(letters) and 2 * sum(unicodedata.name(c, "").startswith("LATIN") for c in letters) < len(letters)


def _nodes(analysis: Analysis, syntax: SyntaxConfig) -> int:
    """Return the number of words that a tree of the whole text would have."""
    return len(analysis.words) if syntax.punctuation else sum(word.upos != "PUNCT" for word in analysis.words)

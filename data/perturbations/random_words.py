"""Mistakes with words of every kind: one put in, one put in the place of another. Closed lists would be learned by heart."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate

from rome.data.perturbations.perturbation import apply_edits, needs_an
from rome.features.values import Analysis, Word

CONTENT = {"NN", "NNS", "JJ", "JJR", "RB", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ"}
FUNCTION = {"ADP", "DET", "CCONJ", "SCONJ", "PRON", "AUX", "PART"}
SMOOTHING = 0.6
"""The power of a word's frequency with which it is drawn: rarer words come oftener than in texts."""
LEAST = 2
Probe = tuple[str, list[tuple[int, int, str, int, int, str]]]
"""The new text, and start, end and text of the word that was put in, in the old text and in the new one."""


class Vocabulary:
    """Words by their tags, with their frequencies, counted over analysed texts; those of one text alone are left out."""

    def __init__(self, analyses: Iterable[Analysis]) -> None:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for analysis in analyses:
            for word in analysis.words:
                tag = word.upos if word.upos in FUNCTION else word.xpos
                if (tag in CONTENT or tag in FUNCTION) and word.text.isascii() and word.text.replace("'", "").isalpha():
                    counts[tag][word.text.lower()] += 1
        self._words: dict[str, list[str]] = {}
        self._sums: dict[str, list[float]] = {}
        for tag, count in counts.items():
            kept = sorted((text, n) for text, n in count.items() if n >= LEAST)
            self._words[tag] = [text for text, _ in kept]
            self._sums[tag] = list(accumulate(n**SMOOTHING for _, n in kept))

    def draw(self, tag: str, chance: random.Random, unlike: Sequence[str] = ()) -> str | None:
        """A word of the tag that is none of those; None where there is none."""
        words = self._words.get(tag, [])
        for _ in range(5):
            if words:
                found = chance.choices(words, cum_weights=self._sums[tag])[0]
                if found not in unlike:
                    return found
        return None


def added(analysis: Analysis, chance: random.Random, vocabulary: Vocabulary) -> Probe | None:
    """An adjective or noun before a noun, or an adverb beside a verb or before an adjective, that the text does not have."""
    places: list[tuple[int, str]] = []
    for n, word in enumerate(analysis.words):
        before = analysis.words[n - 1].upos if n else ""
        if word.start == 0 or analysis.text[word.start - 1] != " " or before in ("PART", "NUM"):
            continue
        if word.upos == "NOUN" and before not in ("ADJ", "NOUN", "PROPN"):
            places += [(n, "JJ"), (n, "JJ"), (n, "NN")]
        elif word.upos == "ADJ" or word.upos == "VERB" and word.xpos in ("VBD", "VBZ", "VBN", "VBG", "VB"):
            places.append((n, "RB"))
    n, tag = chance.choice(places) if places else (0, "")
    new = vocabulary.draw(tag, chance, [word.text.lower() for word in analysis.words])
    return _put(analysis, n, new + " ", analysis.words[n].start, True) if new else None


def replaced(analysis: Analysis, chance: random.Random, vocabulary: Vocabulary) -> Probe | None:
    """A content word gives place to another one of the same tag."""
    return _swap(analysis, chance, vocabulary, [n for n, w in enumerate(analysis.words) if w.xpos in CONTENT], False)


def misused(analysis: Analysis, chance: random.Random, vocabulary: Vocabulary) -> Probe | None:
    """A function word gives place to another one of its class."""
    return _swap(analysis, chance, vocabulary, [n for n, w in enumerate(analysis.words) if w.upos in FUNCTION], True)


WORD_PROBES = {"added_word": ("critical", added), "replaced_word": ("major", replaced), "misused_word": ("minor", misused)}
"""Name to severity and function; a function gives the new text and its edits, or None where it does not apply."""


def _swap(
    analysis: Analysis, chance: random.Random, vocabulary: Vocabulary, places: Sequence[int], function: bool
) -> Probe | None:
    usable = [n for n in places if analysis.words[n].text.isalpha() and _alone(analysis, n)]
    if not usable:
        return None
    n = chance.choice(usable)
    word = analysis.words[n]
    new = vocabulary.draw(word.upos if function else word.xpos, chance, [word.text.lower(), word.lemma.lower()])
    cased = new.capitalize() if new and word.text[:1].isupper() else new
    return _put(analysis, n, cased, word.end, not function) if cased else None


def _alone(analysis: Analysis, n: int) -> bool:
    """Whether a word shares its characters with no other, and touches no word."""
    word = analysis.words[n]
    neighbours = [analysis.words[k] for k in (n - 1, n + 1) if 0 <= k < len(analysis.words)]
    return all(_apart(word, other) for other in neighbours)


def _apart(word: Word, other: Word) -> bool:
    touches = word.end == other.start or other.end == word.start
    return (word.end <= other.start or other.end <= word.start) and not (touches and other.text[:1].isalnum())


def _put(analysis: Analysis, n: int, new: str, end: int, mended: bool) -> Probe:
    """The text with a word before another or in its place, and an article right before it mended where it may not stay."""
    before, changes = analysis.words[n - 1] if n and mended else None, [(analysis.words[n].start, end, new)]
    if before is not None and before.text.lower() in ("a", "an"):
        right = "an" if needs_an(new) else "a"
        right = right.capitalize() if before.text[0].isupper() else right
        changes = [(before.start, before.end, right), *changes] if right != before.text else changes
    result = apply_edits(analysis.text, changes)
    edit, word = result.edits[-1], new.rstrip()
    return result.text, [(edit.start, edit.end, edit.original, edit.new_start, edit.new_start + len(word), word)]

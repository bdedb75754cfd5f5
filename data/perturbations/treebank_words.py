"""Tagged words, and what a treebank teaches of English forms: the inflections of a lemma, a tag for a word, and which words follow which."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from rome.data.perturbations.lexicons import replacements
from rome.data.readers.conllu import TreebankSentence

PATTERN = re.compile(
    r"(?i:\b(?:can)(?=not\b))|\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|m|re|ve|ll|d)\b|\w+(?:[.,:/]\w+)*(?:-\w+)*|\.\.\.|[^\w\s]"
)


@dataclass(frozen=True, slots=True)
class TaggedWord:
    """One word: its text, whether white space follows, its Penn tag ("" = unknown), and what a corruption did to it.

    Attributes
    ----------
    wrong
        This word is not the right one in its place.
    unsure
        The word is untouched but stands beside the mistake; nothing should be learned from it.
    """

    text: str
    space: bool = True
    tag: str = ""
    wrong: bool = False
    unsure: bool = False

    def put(self, text: str, tag: str | None = None) -> TaggedWord:
        """The same place with another word in it, marked wrong."""
        return replace(self, text=text, tag=self.tag if tag is None else tag, wrong=True)

    def blame(self) -> TaggedWord:
        """The same word, marked wrong."""
        return replace(self, wrong=True)

    def doubt(self) -> TaggedWord:
        """The same word, marked as uncertain."""
        return replace(self, unsure=True)


@dataclass(frozen=True, slots=True)
class Corruption:
    """A text after one operation.

    Attributes
    ----------
    operation
        Name of the operation; "" when the text is untouched.
    ungrammatical
        True when the sentence is no longer acceptable English, False when it is, None when it may still be.
    words
        Indices of the wrong words among the new text's tokens.
    spans
        Their characters ``text[start:end]``.
    unsure_spans
        Words beside the mistake that are neither right nor wrong.
    """

    text: str
    operation: str
    ungrammatical: bool | None
    words: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    unsure_spans: tuple[tuple[int, int], ...] = ()


def tokenise(text: str) -> list[TaggedWord]:
    """Split a text into words and punctuation marks; contractions come apart as in the Penn treebank. Joining them gives the
    text again, with every run of white space as one blank."""
    found = list(PATTERN.finditer(text))
    nexts = [match.start() for match in found[1:]] + [len(text)]
    return [TaggedWord(match.group(), space=match.end() < following) for match, following in zip(found, nexts, strict=False)]


def render(tokens: Sequence[TaggedWord], operation: str = "", ungrammatical: bool | None = False) -> Corruption:
    """Join tokens into a text and find the characters of those marked wrong or unsure."""
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    position = 0
    for token in tokens:
        spans.append((position, position + len(token.text)))
        parts.append(token.text + (" " if token.space else ""))
        position += len(parts[-1])
    wrong = tuple(i for i, token in enumerate(tokens) if token.wrong)
    unsure = tuple(spans[i] for i, token in enumerate(tokens) if token.unsure and not token.wrong)
    return Corruption("".join(parts).rstrip(), operation, ungrammatical, wrong, tuple(spans[i] for i in wrong), unsure)


DRAWN = 12
VERB_TAGS = ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG")
SUFFIX_TAGS = replacements("treebank.suffix_tags").items()
CLOSED_TAGS = frozenset("DT IN TO MD PRP PRP$ CC WDT WP WRB WP$ EX RP PDT POS".split())
FAMILIES = {tag: "V" for tag in VERB_TAGS} | replacements("treebank.noun_families")


class TreebankWords:
    """Forms, lemmas, tags and word pairs counted over treebank sentences (and, for word pairs, any further texts)."""

    def __init__(self, sentences: Iterable[TreebankSentence]) -> None:
        """Count the words of the sentences; an empty iterable gives a lexicon that only knows the rules."""
        self.tags: dict[str, Counter[str]] = defaultdict(Counter)
        self.transitions: dict[str, Counter[str]] = defaultdict(Counter)
        self.lemmas: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self.forms: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self.words: dict[str, Counter[str]] = defaultdict(Counter)
        self.following: dict[str, Counter[str]] = defaultdict(Counter)
        self._choices: dict[str, tuple[list[str], list[int]]] = {}
        self._cumulated: dict[str, tuple[list[str], list[int]]] = {}
        for sentence in sentences:
            self._count(sentence)
        self._usual = {tag: sum(counts.values()) ** 0.5 for tag, counts in self.words.items()}
        self._after = {
            tag: {t: n / sum(counts.values()) for t, n in counts.items()} for tag, counts in self.transitions.items()
        }

    def _count(self, sentence: TreebankSentence) -> None:
        previous = "^"
        for word in sentence.words:
            form, tag = word.form.lower(), word.xpos
            self.tags[form][tag] += 1
            self.transitions[previous][tag] += 1
            self.words[tag][form] += 1
            if tag in FAMILIES:
                self.lemmas[form, FAMILIES[tag]][word.lemma.lower()] += 1
                self.forms[word.lemma.lower(), tag][form] += 1
            previous = tag

    def count_pairs(self, tokens: Sequence[TaggedWord]) -> None:
        """Learn which word follows which from one more text."""
        self._cumulated.clear()
        for left, right in zip(tokens, tokens[1:], strict=False):
            self.following[left.text.lower()][right.text.lower()] += 1

    def tag(self, tokens: Sequence[TaggedWord]) -> list[TaggedWord]:
        """Give every token its likeliest tag, left to right: by how often the word has the tag and the tag
        follows the one before, with half a discount for frequent tags."""
        previous, tagged = "^", []
        for i, token in enumerate(tokens):
            previous = self._best_tag(token.text, previous, i == 0)
            tagged.append(replace(token, tag=previous))
        return tagged

    def _best_tag(self, text: str, previous: str, first: bool) -> str:
        known = self.tags.get(text.lower())
        if not first and text[0].isupper() and (not known or known.most_common(1)[0][0] not in CLOSED_TAGS):
            return "NNP"
        if not known:
            return self._guess(text)
        if len(known) == 1:
            return next(iter(known))
        after = self._after.get(previous, {})
        return max(known, key=lambda tag: (known[tag] * (after.get(tag, 0.0) + 1e-4) / self._usual[tag], tag))

    @staticmethod
    def _guess(text: str) -> str:
        if not any(character.isalnum() for character in text):
            return text
        if text[0].isdigit():
            return "CD"
        if text[0].isupper():
            return "NNP"
        for suffix, tag in SUFFIX_TAGS:
            if text.endswith(suffix) and len(text) > len(suffix) + 2:
                return tag
        return "NNS" if text.endswith("s") and not text.endswith("ss") else "NN"

    def inflect(self, form: str, old: str, new: str) -> str | None:
        """The form of the same lemma under another tag (``goes, VBZ, VBD`` -> ``went``); None when neither treebank nor rule
        gives one that differs."""
        if old not in FAMILIES or new not in FAMILIES or FAMILIES[old] != FAMILIES[new]:
            return None
        lower = form.lower()
        lemmas = self.lemmas.get((lower, FAMILIES[old]))
        if lemmas:
            lemma = lemmas.most_common(1)[0][0]
            known = self.forms.get((lemma, new))
            if known:
                found = known.most_common(1)[0][0]
                return found if found != lower else None
            base = lemma
        else:
            base = lower if old in ("NN", "VB", "VBP") else ""
        made = _by_rule(base, new) if base else None
        return made if made and made != lower else None

    def draw(self, tag: str, rng: random.Random) -> str | None:
        """A word of the treebank with this tag, drawn by its frequency's square root; None when there is none."""
        if tag not in self._choices:
            counts = self.words.get(tag, Counter())
            kept = [word for word, count in counts.items() if count > 1 or len(counts) < 50]
            self._choices[tag] = kept, [int(100 * counts[word] ** 0.5) for word in kept]
        words, weights = self._choices[tag]
        return rng.choices(words, weights)[0] if words else None

    def draw_between(self, left: str, right: str, rng: random.Random) -> str | None:
        """A word that was seen after ``left``: of a dozen drawn by frequency, about the one seen most often before ``right``.

        Locally plausible, globally seldom. None when nothing was seen after ``left``.
        """
        words, weights = self._followers(left.lower())
        if not words:
            return None
        drawn = rng.choices(words, cum_weights=weights, k=DRAWN)
        target = right.lower()
        return max(
            drawn, key=lambda word: (self.following[word][target] if word in self.following else 0) * (0.5 + rng.random())
        )

    def _followers(self, left: str) -> tuple[list[str], list[int]]:
        if left not in self._cumulated:
            counts: Mapping[str, int] = self.following.get(left, {})
            self._cumulated[left] = list(counts), list(accumulate(counts.values()))
        return self._cumulated[left]


def _by_rule(base: str, tag: str) -> str | None:
    """Regular inflection of a lemma: -s, -ed, -ing."""
    if tag in ("VB", "VBP", "NN"):
        return base
    if tag in ("VBZ", "NNS"):
        if base.endswith(("s", "x", "ch", "sh", "z")):
            return base + "es"
        return base[:-1] + "ies" if base.endswith("y") and base[-2:-1] not in ("a", "e", "o", "u") else base + "s"
    stem = base[:-1] if base.endswith("e") else base
    if tag in ("VBD", "VBN"):
        return base[:-1] + "ied" if base.endswith("y") and base[-2:-1] not in ("a", "e", "o", "u") else stem + "ed"
    return stem + "ing" if tag == "VBG" else None

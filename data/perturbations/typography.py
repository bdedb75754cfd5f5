"""Small mistakes of writing: misspellings, punctuation, blanks and capitals (DEMETR 25 to 31)."""

from __future__ import annotations

import random
import re

from rome.data.perturbations.tree import OPEN_CLASSES
from rome.features.values import Analysis, Word

from .lists import table
from .surgery import Change, choose, finish, in_case_of
from .tree import has_own_span, stands_alone
from .values import Materials, NotApplicable, Perturbation, Perturbed

MISSPELT_PATTERNS = (
    (r"cc|tt|mm|ss|nn|rr|pp|ff", lambda m: m.group()[0]),
    (r"(?<=[a-z])ei(?=[a-z])", lambda m: "ie"),
    (r"(?<=[a-z])ie(?=[a-z]{2})", lambda m: "ei"),
    (r"ence\b", lambda m: "ance"),
    (r"ance\b", lambda m: "ence"),
    (r"able\b", lambda m: "ible"),
    (r"ible\b", lambda m: "able"),
    (r"ely\b", lambda m: "ly"),
    (r"(?<=[a-z])ent\b", lambda m: "ant"),
    (r"(?<=[a-z])ary\b", lambda m: "ery"),
)
NEVER_BEFORE_COMMA = ("DET", "ADP", "ADJ", "PRON", "NUM", "AUX", "PART")


def misspelled_word(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """One word in a common misspelling: from the list, or else by a pattern that many misspellings follow."""
    known = table("misspellings")
    words = [w for n, w in enumerate(analysis.words) if stands_alone(analysis, n) and w.text.isascii() and w.text.isalpha()]
    reason = "no word that is often misspelled"
    listed = [w for w in words if w.text.lower() in known]
    if listed:
        return choose(
            analysis, rng, listed, lambda w: [(w.start, w.end, in_case_of(rng.choice(known[w.text.lower()]), w.text))], reason
        )
    spellings = [
        (w.start, w.end, w.text[: m.start()] + new(m) + w.text[m.end() :])
        for w in words
        if len(w.text) >= 6 and w.upos in OPEN_CLASSES
        for pattern, new in MISSPELT_PATTERNS
        for m in re.finditer(pattern, w.text)
    ]
    return choose(analysis, rng, spellings, lambda change: [change], reason)


def deleted_character(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """One letter inside a noun, verb, adjective or adverb is gone; the first and the last stay."""
    words = [
        word
        for n, word in enumerate(analysis.words)
        if word.upos in OPEN_CLASSES and len(word.text) > 3 and word.text.isalpha() and has_own_span(analysis, n)
    ]

    def make(word: Word) -> list[Change]:
        place = rng.randint(word.start + 1, word.end - 2)
        return [(place, place + 1, "")]

    return choose(analysis, rng, words, make, "no noun, verb, adjective or adverb of four letters")


def omitted_final_punctuation(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """The mark that ends the text is gone."""
    found = re.search(r"(?<=\w)[.!?…]+(?=[\"'”’)]*\s*$)", analysis.text)
    if not found:
        return NotApplicable("no final punctuation after a word")
    return finish(analysis, [(found.start(), found.end(), "")], "no final punctuation after a word")


def added_punctuation(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """A comma, colon or semicolon inside a phrase, where none can stand: *the, dog*, *of: water*."""
    places = [
        word.end
        for n, (word, following) in enumerate(zip(analysis.words, analysis.words[1:], strict=False))
        if word.upos in NEVER_BEFORE_COMMA
        and has_own_span(analysis, n)
        and following.upos in ("NOUN", "VERB", "PROPN", "ADJ", "DET")
        and following.relation != "conj"
        and analysis.text[word.end : following.start] == " "
        and word.text[-1].isalnum()
    ]
    return choose(analysis, rng, places, lambda place: [(place, place, rng.choice(",,,;:"))], "no place inside a phrase")


def tokenised_text(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """A blank before and after every token: *July 26 , the* ."""
    changes = [
        (word.end, word.end, " ")
        for word, following in zip(analysis.words, analysis.words[1:], strict=False)
        if word.end == following.start and word.start < word.end
    ]
    reason = "blanks stand between all its tokens already"
    return finish(analysis, changes, reason) if changes else NotApplicable(reason)


def lowercased_text(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """The whole text in lower case."""
    words = re.finditer(r"\w+", analysis.text)
    changes = [(w.start(), w.end(), w.group().lower()) for w in words if w.group().lower() != w.group()]
    return finish(analysis, changes, "no capital") if changes else NotApplicable("no capital")


def lowercased_first_word(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """The first word in lower case."""
    first = re.search(r"\w[\w'’-]*", analysis.text)
    if first is None or first.group() == first.group().lower():
        return NotApplicable("the first word has no capital")
    return finish(analysis, [(first.start(), first.end(), first.group().lower())], "the first word has no capital")


PERTURBATIONS = (
    Perturbation("misspelled_word", "typography", "spelling", "minor", 25, misspelled_word),
    Perturbation("deleted_character", "typography", "spelling", "minor", 26, deleted_character),
    Perturbation("omitted_final_punctuation", "typography", "punctuation", "minor", 27, omitted_final_punctuation),
    Perturbation("added_punctuation", "typography", "punctuation", "minor", 28, added_punctuation),
    Perturbation("tokenised_text", "typography", "tokenised", "minor", 29, tokenised_text),
    Perturbation("lowercased_text", "typography", "lower case", "minor", 30, lowercased_text),
    Perturbation("lowercased_first_word", "typography", "lower case", "minor", 31, lowercased_first_word),
)

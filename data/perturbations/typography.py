"""Small mistakes of writing: misspellings, punctuation, blanks and capitals (DEMETR 25 to 31)."""

from __future__ import annotations

import re

from rome.features.values import Word

from .lexicons import replacements, table
from .perturbation import OPEN_CLASSES, Change, NotApplicable, Outcome, Parse, in_case_of, perturbation

MISSPELT = replacements("typography.misspelt")
NEVER_BEFORE_COMMA = ("DET", "ADP", "ADJ", "PRON", "NUM", "AUX", "PART")


@perturbation("typography", "spelling", "minor", 25)
def misspelled_word(parse: Parse) -> Outcome:
    """One word in a common misspelling: from the list, or else by a pattern that many misspellings follow."""
    known = table("misspellings")
    words = [w for n, w in enumerate(parse.words) if parse.stands_alone(n) and w.text.isascii() and w.text.isalpha()]
    reason = "no word that is often misspelled"
    listed = [w for w in words if w.text.lower() in known]
    spellings = [
        (w.start, w.end, w.text[: m.start()] + m.expand(new) + w.text[m.end() :])
        for w in words
        if not listed and len(w.text) >= 6 and w.upos in OPEN_CLASSES
        for pattern, new in MISSPELT.items()
        for m in re.finditer(pattern, w.text)
    ]

    def make(w: Word) -> list[Change]:
        return [(w.start, w.end, in_case_of(parse.rng.choice(known[w.text.lower()]), w.text))]

    return parse.choose(listed, make, reason) if listed else parse.choose(spellings, lambda change: [change], reason)


@perturbation("typography", "spelling", "minor", 26)
def deleted_character(parse: Parse) -> Outcome:
    """One letter inside a noun, verb, adjective or adverb is gone; the first and the last stay."""
    words = [w for n, w in enumerate(parse.words) if w.upos in OPEN_CLASSES and w.text.isalpha() and parse.has_own_span(n)]

    def make(word: Word) -> list[Change]:
        place = parse.rng.randint(word.start + 1, word.end - 2)
        return [(place, place + 1, "")]

    long = [word for word in words if len(word.text) > 3]
    return parse.choose(long, make, "no noun, verb, adjective or adverb of four letters")


@perturbation("typography", "punctuation", "minor", 27)
def omitted_final_punctuation(parse: Parse) -> Outcome:
    """The mark that ends the text is gone."""
    found = re.search(r"(?<=\w)[.!?…]+(?=[\"'”’)]*\s*$)", parse.text)
    if not found:
        return NotApplicable("no final punctuation after a word")
    return parse.finish([(found.start(), found.end(), "")], "no final punctuation after a word")


@perturbation("typography", "punctuation", "minor", 28)
def added_punctuation(parse: Parse) -> Outcome:
    """A comma, colon or semicolon inside a phrase, where none can stand: *the, dog*, *of: water*."""
    places = [
        word.end
        for n, (word, following) in enumerate(zip(parse.words, parse.words[1:], strict=False))
        if word.upos in NEVER_BEFORE_COMMA
        and parse.has_own_span(n)
        and following.upos in ("NOUN", "VERB", "PROPN", "ADJ", "DET")
        and following.relation != "conj"
        and parse.text[word.end : following.start] == " "
        and word.text[-1].isalnum()
    ]
    return parse.choose(places, lambda place: [(place, place, parse.rng.choice(",,,;:"))], "no place inside a phrase")


@perturbation("typography", "tokenised", "minor", 29)
def tokenised_text(parse: Parse) -> Outcome:
    """A blank before and after every token: *July 26 , the* ."""
    changes = [
        (word.end, word.end, " ")
        for word, following in zip(parse.words, parse.words[1:], strict=False)
        if word.end == following.start and word.start < word.end
    ]
    reason = "blanks stand between all its tokens already"
    return parse.finish(changes, reason) if changes else NotApplicable(reason)


@perturbation("typography", "lower case", "minor", 30)
def lowercased_text(parse: Parse) -> Outcome:
    """The whole text in lower case."""
    words = re.finditer(r"\w+", parse.text)
    changes = [(w.start(), w.end(), w.group().lower()) for w in words if w.group().lower() != w.group()]
    return parse.finish(changes, "no capital") if changes else NotApplicable("no capital")


@perturbation("typography", "lower case", "minor", 31)
def lowercased_first_word(parse: Parse) -> Outcome:
    """The first word in lower case."""
    first = re.search(r"\w[\w'’-]*", parse.text)
    if first is None or first.group() == first.group().lower():
        return NotApplicable("the first word has no capital")
    return parse.finish([(first.start(), first.end(), first.group().lower())], "the first word has no capital")

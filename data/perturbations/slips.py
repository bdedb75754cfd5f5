"""Slips of writing: words swapped, misused or repeated, misspellings, marks, blanks and capitals (DEMETR 1, 2, 14, 16, 25 to 31)."""

from __future__ import annotations

import re

from rome.features.values import Word

from .lexicons import alternatives, replacements, table
from .perturbation import OPEN_CLASSES, Change, Outcome, Parse, in_case_of, perturbation

BOUND_PAIRS = frozenset(
    (first, second)
    for first in ("DET", "ADP", "ADJ", "NUM", "SCONJ", "AUX")
    for second in ("NOUN", "PROPN", "VERB", "DET", "ADJ", "PRON", "NUM")
) | {("VERB", "DET"), ("NOUN", "ADP"), ("VERB", "ADP"), ("PROPN", "ADP"), ("NOUN", "AUX"), ("NOUN", "CCONJ")}
WRONG_PREPOSITIONS = alternatives("order.wrong_prepositions")


@perturbation("fluency", "grammar - order swap", "minor", 14)
def word_swap(parse: Parse) -> Outcome:
    """Swap two neighbours that cannot be in the other order: *into this country* -> *this into country*."""
    pairs = [n for n in range(len(parse.words) - 1) if _swappable(parse, n)]

    def make(n: int) -> list[Change]:
        first, second = parse.words[n], parse.words[n + 1]
        capital = first.text[0].isupper() and first.upos != "PROPN" and first.text != "I"
        left = second.text[0].upper() + second.text[1:] if capital else second.text
        right = first.text[0].lower() + first.text[1:] if capital else first.text
        return [(first.start, second.end, f"{left} {right}")]

    return parse.choose(pairs, make, "no two neighbours whose order is fixed")


def _swappable(parse: Parse, n: int) -> bool:
    first, second = parse.words[n], parse.words[n + 1]
    related = n + 1 == first.head or second.head == n or first.head == second.head or first.upos in ("ADP", "DET", "SCONJ")
    beside = first.sentence == second.sentence and parse.text[first.end : second.start] == " "
    apart = parse.stands_alone(n) and parse.stands_alone(n + 1) and first.text.lower() != second.text.lower()
    words = first.text.isalpha() and second.text.isalnum() and (first.upos, second.upos) in BOUND_PAIRS
    loose = second.relation != "compound:prt" and first.relation not in ("fixed", "compound:prt")
    return related and beside and apart and words and loose


@perturbation("fluency", "grammar - function word", "minor", 16)
def function_word(parse: Parse) -> Outcome:
    """Replace a preposition or an article by a wrong one: *a committee* -> *an committee*, *the basis of* -> *the basis at*."""
    words = [n for n in range(len(parse.words)) if parse.stands_alone(n)]

    def make(n: int) -> list[Change] | None:
        wrong = _wrong_article(parse, n) or _wrong_prepositions(parse, n)
        return parse.spelled(n, parse.rng.choice(wrong)) if wrong else None

    return parse.choose(words, make, "no preposition and no article that can be a wrong one")


def _wrong_article(parse: Parse, n: int) -> tuple[str, ...]:
    """Return *a* for *an* and the other way round, or *a* for *the* before a plural."""
    word = parse.words[n]
    low = word.text.lower()
    if word.upos != "DET" or word.relation != "det" or word.head <= n or parse.text[word.end : word.end + 1] != " ":
        return ()
    if low in ("a", "an"):
        return ("an",) if low == "a" else ("a",)
    return ("a",) if low == "the" and parse.tag(word.head) == "NNS" else ()


def _wrong_prepositions(parse: Parse, n: int) -> tuple[str, ...]:
    """Return prepositions that hardly ever fit in the place of this one; none for one that is part of an expression."""
    head = parse.head(n)
    if parse.pos(n) != "ADP" or not parse.relates(n, "case") or parse.children(n) or head <= n:
        return ()
    part = parse.pos(n - 1) == "ADP" or parse.relation(n - 1) == "fixed"
    return WRONG_PREPOSITIONS.get(parse.low(n), ()) if parse.child(head, "case") == n and not part else ()


WORD = re.compile(r"(?:[A-Za-z]\.){2,}|\w+(?:[-'’.,]\w+)*%?")


def _repeated(parse: Parse, times: int) -> Outcome:
    """Repeat the last word before the final punctuation, ``times`` times in all."""
    last = list(WORD.finditer(parse.text))[-1:]
    return parse.finish([(m.end(), m.end(), f" {m.group()}" * (times - 1)) for m in last], "no word to repeat")


@perturbation("accuracy", "repetition", "minor", 1)
def repeated_twice(parse: Parse) -> Outcome:
    """Repeat the last word: *duty free.* -> *duty free free.*"""
    return _repeated(parse, 2)


@perturbation("accuracy", "repetition", "minor", 2)
def repeated_four_times(parse: Parse) -> Outcome:
    """Repeat the last word three times: *duty free.* -> *duty free free free free.*"""
    return _repeated(parse, 4)


MISSPELT = replacements("typography.misspelt")
NEVER_BEFORE_COMMA = ("DET", "ADP", "ADJ", "PRON", "NUM", "AUX", "PART")


@perturbation("typography", "spelling", "minor", 25)
def misspelled_word(parse: Parse) -> Outcome:
    """Replace one word by a common misspelling: from the list, or else by a frequent pattern."""
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
    """Delete one letter inside a noun, verb, adjective or adverb; the first and the last stay."""
    words = [w for n, w in enumerate(parse.words) if w.upos in OPEN_CLASSES and w.text.isalpha() and parse.has_own_span(n)]

    def make(word: Word) -> list[Change]:
        place = parse.rng.randint(word.start + 1, word.end - 2)
        return [(place, place + 1, "")]

    long = [word for word in words if len(word.text) > 3]
    return parse.choose(long, make, "no noun, verb, adjective or adverb of four letters")


@perturbation("typography", "punctuation", "minor", 27)
def omitted_final_punctuation(parse: Parse) -> Outcome:
    """Delete the mark that ends the text."""
    results = re.search(r"(?<=\w)[.!?…]+(?=[\"'”’)]*\s*$)", parse.text)
    return parse.finish([(*results.span(), "")] if results else [], "no final punctuation after a word")


@perturbation("typography", "punctuation", "minor", 28)
def added_punctuation(parse: Parse) -> Outcome:
    """Insert a comma, colon or semicolon into a phrase: *the, dog*, *of: water*."""
    words = [n for n in range(len(parse.words) - 1) if parse.matches(n + 1, pos="NOUN VERB PROPN ADJ DET")]
    words = [n for n in words if parse.pos(n) in NEVER_BEFORE_COMMA and parse.has_own_span(n) and parse.form(n)[-1:].isalnum()]
    ends = {n: parse.words[n].end for n in words if parse.relation(n + 1) != "conj"}
    places = [end for n, end in ends.items() if parse.text[end : parse.words[n + 1].start] == " "]
    return parse.choose(places, lambda place: [(place, place, parse.rng.choice(",,,;:"))], "no place inside a phrase")


@perturbation("typography", "tokenised", "minor", 29)
def tokenised_text(parse: Parse) -> Outcome:
    """Put a blank before and after every token: *July 26 , the* ."""
    pairs = zip(parse.words, parse.words[1:], strict=False)
    ends = [word.end for word, following in pairs if word.start < word.end == following.start]
    return parse.finish([(end, end, " ") for end in ends], "blanks between all its tokens already")


@perturbation("typography", "lower case", "minor", 30)
def lowercased_text(parse: Parse) -> Outcome:
    """Write the whole text in lower case."""
    words = re.finditer(r"\w+", parse.text)
    return parse.finish([(*word.span(), word.group().lower()) for word in words], "no capital")


@perturbation("typography", "lower case", "minor", 31)
def lowercased_first_word(parse: Parse) -> Outcome:
    """Write the first word in lower case."""
    first = re.search(r"\w[\w'’-]*", parse.text)
    return parse.finish([(*first.span(), first.group().lower())] if first else [], "the first word has no capital")

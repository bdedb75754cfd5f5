"""Two neighbours swapped, a wrong function word, the last words repeated (DEMETR 1, 2, 14, 16)."""

from __future__ import annotations

import re

from .lexicons import alternatives
from .perturbation import Change, NotApplicable, Outcome, Parse, perturbation

BOUND_PAIRS = frozenset(
    (first, second)
    for first in ("DET", "ADP", "ADJ", "NUM", "SCONJ", "AUX")
    for second in ("NOUN", "PROPN", "VERB", "DET", "ADJ", "PRON", "NUM")
) | {("VERB", "DET"), ("NOUN", "ADP"), ("VERB", "ADP"), ("PROPN", "ADP"), ("NOUN", "AUX"), ("NOUN", "CCONJ")}
WRONG_PREPOSITIONS = alternatives("order.wrong_prepositions")


@perturbation("fluency", "grammar - order swap", "minor", 14)
def word_swap(parse: Parse) -> Outcome:
    """Two neighbours that cannot stand the other way round change places: *into this country* -> *this into country*."""
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
    return (
        first.sentence == second.sentence
        and (first.upos, second.upos) in BOUND_PAIRS
        and related
        and parse.text[first.end : second.start] == " "
        and first.text.lower() != second.text.lower()
        and parse.stands_alone(n)
        and parse.stands_alone(n + 1)
        and first.text.isalpha()
        and second.text.isalnum()
        and not (first.upos == "PROPN" and second.upos == "PROPN")
        and second.relation != "compound:prt"
        and first.relation not in ("fixed", "compound:prt")
    )


@perturbation("fluency", "grammar - function word", "minor", 16)
def function_word(parse: Parse) -> Outcome:
    """A preposition or an article becomes a wrong one: *a committee* -> *an committee*, *the basis of* -> *the basis at*."""
    words = [n for n in range(len(parse.words)) if parse.stands_alone(n)]

    def make(n: int) -> list[Change] | None:
        wrong = _wrong_article(parse, n) or _wrong_prepositions(parse, n)
        return parse.spelled(n, parse.rng.choice(wrong)) if wrong else None

    return parse.choose(words, make, "no preposition and no article that can be a wrong one")


def _wrong_article(parse: Parse, n: int) -> tuple[str, ...]:
    """*a* for *an* and the other way round; *a* or *an* for *the* before a plural."""
    word = parse.words[n]
    low = word.text.lower()
    if word.upos != "DET" or word.relation != "det" or word.head <= n or parse.text[word.end : word.end + 1] != " ":
        return ()
    if low in ("a", "an"):
        return ("an",) if low == "a" else ("a",)
    return ("a", "an")[:1] if low == "the" and parse.tag(word.head) == "NNS" else ()


def _wrong_prepositions(parse: Parse, n: int) -> tuple[str, ...]:
    """Prepositions that hardly ever fit where this one does; none for one that is part of an expression."""
    head = parse.head(n)
    if parse.pos(n) != "ADP" or not parse.relates(n, "case") or parse.children(n) or head <= n:
        return ()
    part = parse.pos(n - 1) == "ADP" or parse.relation(n - 1) == "fixed"
    return WRONG_PREPOSITIONS.get(parse.low(n), ()) if parse.child(head, "case") == n and not part else ()


WORD = re.compile(r"(?:[A-Za-z]\.){2,}|\w+(?:[-'’.,]\w+)*%?")


def _repeated(parse: Parse, times: int) -> Outcome:
    """The last word stands ``times`` times; punctuation follows the last of them."""
    words = list(WORD.finditer(parse.text))
    if not words:
        return NotApplicable("no word to repeat")
    last = words[-1]
    return parse.finish([(last.end(), last.end(), f" {last.group()}" * (times - 1))], "no word to repeat")


@perturbation("accuracy", "repetition", "minor", 1)
def repeated_twice(parse: Parse) -> Outcome:
    """*duty free.* -> *duty free free.*."""
    return _repeated(parse, 2)


@perturbation("accuracy", "repetition", "minor", 2)
def repeated_four_times(parse: Parse) -> Outcome:
    """*duty free.* -> *duty free free free free.*."""
    return _repeated(parse, 4)

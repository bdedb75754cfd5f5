"""Two neighbours swapped, a wrong function word, the last words repeated (DEMETR 1, 2, 14, 16)."""

from __future__ import annotations

import random
import re

from rome.data.perturbations.lists import alternatives
from rome.data.perturbations.surgery import Change, choose, finish, in_case_of
from rome.data.perturbations.tree import base, child_of, children, stands_alone
from rome.data.perturbations.values import Materials, NotApplicable, Perturbation, Perturbed
from rome.features.values import Analysis

BOUND_PAIRS = frozenset(
    (first, second)
    for first in ("DET", "ADP", "ADJ", "NUM", "SCONJ", "AUX")
    for second in ("NOUN", "PROPN", "VERB", "DET", "ADJ", "PRON", "NUM")
) | {("VERB", "DET"), ("NOUN", "ADP"), ("VERB", "ADP"), ("PROPN", "ADP"), ("NOUN", "AUX"), ("NOUN", "CCONJ")}
WRONG_PREPOSITIONS = alternatives("order.wrong_prepositions")


def word_swap(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Two neighbours that cannot stand the other way round change places: *into this country* -> *this into country*."""
    pairs = [n for n in range(len(analysis.words) - 1) if _swappable(analysis, n)]

    def make(n: int) -> list[Change]:
        first, second = analysis.words[n], analysis.words[n + 1]
        capital = first.text[0].isupper() and first.upos != "PROPN" and first.text != "I"
        left = second.text[0].upper() + second.text[1:] if capital else second.text
        right = first.text[0].lower() + first.text[1:] if capital else first.text
        return [(first.start, second.end, f"{left} {right}")]

    return choose(analysis, rng, pairs, make, "no two neighbours whose order is fixed")


def _swappable(analysis: Analysis, n: int) -> bool:
    first, second = analysis.words[n], analysis.words[n + 1]
    related = n + 1 == first.head or second.head == n or first.head == second.head or first.upos in ("ADP", "DET", "SCONJ")
    return (
        first.sentence == second.sentence
        and (first.upos, second.upos) in BOUND_PAIRS
        and related
        and analysis.text[first.end : second.start] == " "
        and first.text.lower() != second.text.lower()
        and stands_alone(analysis, n)
        and stands_alone(analysis, n + 1)
        and first.text.isalpha()
        and second.text.isalnum()
        and not (first.upos == "PROPN" and second.upos == "PROPN")
        and second.relation != "compound:prt"
        and first.relation not in ("fixed", "compound:prt")
    )


def function_word(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """A preposition or an article becomes a wrong one: *a committee* -> *an committee*, *the basis of* -> *the basis at*."""
    words = [n for n in range(len(analysis.words)) if stands_alone(analysis, n)]

    def make(n: int) -> list[Change] | None:
        word = analysis.words[n]
        wrong = _wrong_article(analysis, n) or _wrong_prepositions(analysis, n)
        return [(word.start, word.end, in_case_of(rng.choice(wrong), word.text))] if wrong else None

    return choose(analysis, rng, words, make, "no preposition and no article that can be a wrong one")


def _wrong_article(analysis: Analysis, n: int) -> tuple[str, ...]:
    """*a* for *an* and the other way round; *a* or *an* for *the* before a plural."""
    word = analysis.words[n]
    low = word.text.lower()
    if word.upos != "DET" or word.relation != "det" or word.head <= n or analysis.text[word.end : word.end + 1] != " ":
        return ()
    if low in ("a", "an"):
        return ("an",) if low == "a" else ("a",)
    return ("a", "an")[:1] if low == "the" and analysis.words[word.head].xpos == "NNS" else ()


def _wrong_prepositions(analysis: Analysis, n: int) -> tuple[str, ...]:
    """Prepositions that hardly ever fit where this one does; none for one that is part of an expression."""
    word = analysis.words[n]
    if word.upos != "ADP" or base(word.relation) != "case" or children(analysis, n) or word.head <= n:
        return ()
    first = child_of(analysis, word.head, "case") == n
    before = analysis.words[n - 1] if n else None
    part = before is not None and (before.upos == "ADP" or before.relation == "fixed")
    return WRONG_PREPOSITIONS.get(word.text.lower(), ()) if first and not part else ()


WORD = re.compile(r"(?:[A-Za-z]\.){2,}|\w+(?:[-'’.,]\w+)*%?")


def _repeated(analysis: Analysis, times: int) -> Perturbed | NotApplicable:
    """The last word stands ``times`` times; punctuation follows the last of them."""
    words = list(WORD.finditer(analysis.text))
    if not words:
        return NotApplicable("no word to repeat")
    last = words[-1]
    return finish(analysis, [(last.end(), last.end(), f" {last.group()}" * (times - 1))], "no word to repeat")


def repeated_twice(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """*duty free.* -> *duty free free.*."""
    return _repeated(analysis, 2)


def repeated_four_times(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """*duty free.* -> *duty free free free free.*."""
    return _repeated(analysis, 4)


PERTURBATIONS = (
    Perturbation("word_swap", "fluency", "grammar - order swap", "minor", 14, word_swap),
    Perturbation("function_word", "fluency", "grammar - function word", "minor", 16, function_word),
    Perturbation("repeated_twice", "accuracy", "repetition", "minor", 1, repeated_twice),
    Perturbation("repeated_four_times", "accuracy", "repetition", "minor", 2, repeated_four_times),
)

"""Something left out: a modifier, a verb, a noun, a subject, a name (DEMETR 20 to 24)."""

from __future__ import annotations

import random

from rome.features.values import Analysis

from .entities import entities
from .lists import word_set
from .surgery import choose, without
from .tree import base, child_of, children, is_contiguous, nominal_core, stands_alone
from .values import Materials, NotApplicable, Perturbation, Perturbed

__all__ = ["PERTURBATIONS"]

KEPT_ADVERBS = word_set("omission.kept_adverbs")
KEPT_ADJECTIVES = frozenset("same own other such first last next many few much several more most".split())
LIGHT_VERBS = frozenset("be have do".split())


def omitted_adjective_or_adverb(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """An adjective before its noun, or an adverb, is gone with nothing hanging under it."""
    words = [n for n in range(len(analysis.words)) if stands_alone(analysis, n) and _is_modifier(analysis, n)]
    return choose(analysis, rng, words, lambda n: without(analysis, [n]), "no adjective or adverb that can be left out")


def _is_modifier(analysis: Analysis, n: int) -> bool:
    word = analysis.words[n]
    if children(analysis, n) or word.head < 0:
        return False
    head = analysis.words[word.head]
    near = analysis.words[max(n - 1, 0) : n] + analysis.words[n + 1 : n + 2]
    if any(other.text in (",", "and", "or") and other.text != "" for other in near) and word.upos == "ADJ":
        return False
    if word.upos == "ADJ":
        plain = word.xpos == "JJ" and word.lemma.lower() not in KEPT_ADJECTIVES
        return plain and word.relation == "amod" and n < word.head and head.upos == "NOUN" and head.xpos in ("NN", "NNS")
    plain = word.upos == "ADV" and word.xpos == "RB" and word.relation == "advmod" and word.lemma.lower() not in KEPT_ADVERBS
    return plain and head.upos in ("VERB", "ADJ", "NOUN", "AUX") and "as" not in {other.text.lower() for other in near}


def omitted_content_verb(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """A verb that is no auxiliary and no copula is gone."""
    words = [
        n
        for n, word in enumerate(analysis.words)
        if word.upos == "VERB"
        and stands_alone(analysis, n)
        and word.lemma.lower() not in LIGHT_VERBS
        and base(word.relation) in ("root", "conj", "ccomp", "advcl", "xcomp", "acl", "parataxis")
        and word.xpos.startswith("VB")
    ]
    return choose(analysis, rng, words, lambda n: without(analysis, [n]), "no content verb that can be left out")


def omitted_noun(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """A common noun that is no subject and no part of a name is gone, with the compound nouns before it."""
    named = {n for entity in entities(analysis) for n in entity.words}
    words = [
        n
        for n, word in enumerate(analysis.words)
        if word.upos == "NOUN"
        and word.xpos in ("NN", "NNS")
        and base(word.relation) in ("obj", "obl", "nmod", "iobj", "conj")
        and word.relation not in ("nmod:poss", "obl:unmarked", "nmod:unmarked")
        and not _governs_subject(analysis, n)
        and stands_alone(analysis, n)
        and not named & set(nominal_core(analysis, n))
        and not any(analysis.words[m].upos == "PROPN" for m in nominal_core(analysis, n))
    ]
    return choose(
        analysis, rng, words, lambda n: without(analysis, nominal_core(analysis, n)), "no noun, beside subjects and names"
    )


def _governs_subject(analysis: Analysis, n: int) -> bool:
    """Whether the noun is coordinated with a subject, or is itself the predicate of a clause."""
    word = analysis.words[n]
    of_subject = word.relation == "conj" and word.head >= 0 and base(analysis.words[word.head].relation) in ("nsubj", "root")
    return of_subject or child_of(analysis, n, "nsubj", "cop") is not None


def omitted_subject(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """The head of a subject is gone, with the compound nouns or the name that it heads."""
    words = [
        n
        for n, word in enumerate(analysis.words)
        if base(word.relation) == "nsubj"
        and word.upos in ("NOUN", "PROPN", "PRON")
        and word.xpos not in ("WP", "WDT", "EX")
        and stands_alone(analysis, n)
    ]
    return choose(analysis, rng, words, lambda n: without(analysis, _named(analysis, n)), "no subject that can be left out")


def _named(analysis: Analysis, n: int) -> list[int]:
    """The words of the name that the word heads, else the noun with its compounds."""
    words = next((list(entity.words) for entity in entities(analysis) if n in entity.words), nominal_core(analysis, n))
    return words if is_contiguous(words) else nominal_core(analysis, n)


def omitted_named_entity(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """A named entity that is no subject, no modifier and no possessor is gone; a preposition before it stays."""
    words = [
        list(entity.words)
        for entity in entities(analysis)
        if base(analysis.words[entity.head].relation) in ("obl", "nmod", "obj", "iobj", "appos", "compound")
        and analysis.words[entity.head].relation != "nmod:poss"
        and entity.kind != "date"
    ]
    return choose(analysis, rng, words, lambda run: without(analysis, run), "no named entity beside subjects and possessors")


PERTURBATIONS = (
    Perturbation("omitted_adjective_or_adverb", "mixed", "omission - adj/adv", "major", 20, omitted_adjective_or_adverb),
    Perturbation("omitted_content_verb", "mixed", "omission - content verb", "critical", 21, omitted_content_verb),
    Perturbation("omitted_noun", "mixed", "omission - noun", "critical", 22, omitted_noun),
    Perturbation("omitted_subject", "mixed", "omission - subject", "critical", 23, omitted_subject),
    Perturbation("omitted_named_entity", "mixed", "omission - named entity", "critical", 24, omitted_named_entity),
)

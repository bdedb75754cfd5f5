"""Something left out: a modifier, a verb, a noun, a subject, a name, a phrase, a conjunction (DEMETR 5, 12, 20 to 24)."""

from __future__ import annotations

import random

from rome.data.perturbations.lists import word_set
from rome.data.perturbations.names import entities
from rome.data.perturbations.surgery import choose, without
from rome.data.perturbations.tree import (
    base,
    child_of,
    children,
    is_contiguous,
    nominal_core,
    of_relation,
    stands_alone,
    subtree,
)
from rome.data.perturbations.values import Materials, NotApplicable, Perturbation, Perturbed
from rome.features.values import Analysis

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


CONNECTIVES = word_set("omission.connectives")
CONJUNCTIONS = word_set("omission.conjunctions")
PAIRED = frozenset("both either neither whether not".split())
REASON_PHRASE = "no prepositional phrase that can be left out"


def omitted_prepositional_phrase(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """The shortest prepositional phrase is gone; of several as short, one drawn."""
    phrases = []
    for n, word in enumerate(analysis.words):
        below = subtree(analysis, n)
        first = analysis.words[below[0]]
        if (
            of_relation(word, "obl", "nmod")
            and first.upos == "ADP"
            and first.head == n
            and first.relation == "case"
            and is_contiguous(below)
            and not any(analysis.words[m].relation == "conj" for m in children(analysis, n))
            and not _bound(analysis, below)
        ):
            phrases.append(below)
    while phrases:
        shortest = min(len(phrase) for phrase in phrases)
        result = choose(
            analysis, rng, [p for p in phrases if len(p) == shortest], lambda p: without(analysis, p), REASON_PHRASE
        )
        if isinstance(result, Perturbed):
            return result
        phrases = [phrase for phrase in phrases if len(phrase) > shortest]
    return NotApplicable(REASON_PHRASE)


def _bound(analysis: Analysis, phrase: list[int]) -> bool:
    """Whether the words around the phrase need it: *one of them*, *from A* before *to B*, a possessive after it."""
    before = analysis.words[phrase[0] - 1] if phrase[0] else None
    after = analysis.words[phrase[-1] + 1] if phrase[-1] + 1 < len(analysis.words) else None
    counted = (
        before is not None and before.upos in ("NUM", "DET", "PRON", "SYM", "ADJ") and analysis.words[phrase[0]].text == "of"
    )
    ranged = (
        analysis.words[phrase[0]].text.lower() in ("from", "between")
        and after is not None
        and after.text in ("to", "until", "through")
    )
    closed = before is not None and before.upos in ("ADP", "DET")
    closed = closed or analysis.words[phrase[0]].text.lower() in ("as", "than")
    return counted or ranged or closed or (after is not None and after.xpos == "POS")


def omitted_conjunction(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """A conjunction or a connective adverb is gone: *formed since a comet collided* -> *formed a comet collided*."""
    reason = "no conjunction that can be left out"
    found = [n for n in range(len(analysis.words)) if stands_alone(analysis, n) and _is_conjunction(analysis, n)]
    inside = [n for n in found if analysis.words[n].start > analysis.sentences[analysis.words[n].sentence].start]
    for group in (inside, [n for n in found if n not in inside]):
        result = choose(analysis, rng, group, lambda n: without(analysis, [n]), reason)
        if isinstance(result, Perturbed):
            return result
    return result


def _is_conjunction(analysis: Analysis, n: int) -> bool:
    word = analysis.words[n]
    earlier = {other.text.lower() for other in analysis.words[:n] if other.sentence == word.sentence}
    joins = (
        word.upos in ("CCONJ", "SCONJ", "ADV")
        and word.relation in ("cc", "mark", "advmod")
        and word.text.lower() in CONJUNCTIONS
    )
    joins = joins and (word.relation != "advmod" or word.xpos == "WRB")
    connects = word.text.lower() in CONNECTIVES and word.upos in ("ADV", "CCONJ")
    after = analysis.words[n + 1].text.lower() if n + 1 < len(analysis.words) else ""
    alone = not children(analysis, n) and after not in ("to", "not", "if", "then", "of")
    return (joins or connects) and alone and not (PAIRED & earlier and word.relation == "cc")


PERTURBATIONS = (
    Perturbation("omitted_adjective_or_adverb", "mixed", "omission - adj/adv", "major", 20, omitted_adjective_or_adverb),
    Perturbation("omitted_content_verb", "mixed", "omission - content verb", "critical", 21, omitted_content_verb),
    Perturbation("omitted_noun", "mixed", "omission - noun", "critical", 22, omitted_noun),
    Perturbation("omitted_subject", "mixed", "omission - subject", "critical", 23, omitted_subject),
    Perturbation("omitted_named_entity", "mixed", "omission - named entity", "critical", 24, omitted_named_entity),
    Perturbation("omitted_prepositional_phrase", "accuracy", "completeness", "major", 5, omitted_prepositional_phrase),
    Perturbation("omitted_conjunction", "fluency", "cohesion", "minor", 12, omitted_conjunction),
)

"""What ties a sentence together left out: a prepositional phrase, a conjunction (DEMETR 5, 12)."""

from __future__ import annotations

import random

from rome.features.values import Analysis

from .lists import word_set
from .surgery import choose, without
from .tree import children, is_contiguous, of_relation, stands_alone, subtree
from .values import Materials, NotApplicable, Perturbation, Perturbed

__all__ = ["PERTURBATIONS"]

CONNECTIVES = word_set("phrases.connectives")
CONJUNCTIONS = word_set("phrases.conjunctions")
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
    Perturbation("omitted_prepositional_phrase", "accuracy", "completeness", "major", 5, omitted_prepositional_phrase),
    Perturbation("omitted_conjunction", "fluency", "cohesion", "minor", 12, omitted_conjunction),
)

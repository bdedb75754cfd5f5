"""A word of the same stem in another part of speech (DEMETR 13)."""

from __future__ import annotations

import random

from rome.features.values import Analysis

from .lists import table, word_set
from .surgery import Change, choose, in_case_of, replacement
from .tree import in_title_case, of_relation, stands_alone
from .values import Materials, NotApplicable, Perturbation, Perturbed

__all__ = ["PERTURBATIONS", "adverb_of", "adjective_of"]

OPEN_CLASSES = ("NOUN", "VERB", "ADJ", "ADV")
ADVERB_ENDINGS = ("al", "ive", "ous", "ic", "ful", "ible", "able", "ent", "ant", "less")
PLAIN_ADJECTIVES = word_set("part_of_speech.plain_adjectives")
NO_ADVERB = frozenset("nuclear able total recent present patient royal coastal medieval animal capital local global".split())
NO_ADJECTIVE = word_set("part_of_speech.no_adjective")
NOT_WHEN = {"kind": "NOUN", "use": "NOUN", "direct": "VERB", "present": "VERB", "center": "VERB", "state": "VERB"}


def part_of_speech_shift(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """The stem stays and the part of speech changes: *the Trump administrate*, *a badly day*, *ran quick*."""
    words = [
        (n, new)
        for n, word in enumerate(analysis.words)
        if word.upos in OPEN_CLASSES
        and not word.xpos.startswith("NNP")
        and stands_alone(analysis, n)
        and not in_title_case(analysis, n)
        and not of_relation(word, "fixed", "aux", "cop")
        for new in _shifts(word.lemma.lower(), word.text.lower(), word.upos)
    ]

    def make(choice: tuple[int, str]) -> list[Change]:
        word = analysis.words[choice[0]]
        return replacement(analysis, word.start, word.end, in_case_of(choice[1], word.text))

    return choose(analysis, rng, words, make, "no word with a known relative in another part of speech")


def _shifts(lemma: str, form: str, upos: str) -> list[str]:
    """The words of the same stem: from the list, and for adjectives and adverbs by rule."""
    listed = [] if NOT_WHEN.get(lemma) == upos or upos == "ADV" else list(table("derivations").get(lemma, ()))
    if upos == "ADJ" and form == lemma:
        listed += [made for made in (adverb_of(form),) if made]
    if upos == "ADV":
        listed += [made for made in (adjective_of(form),) if made]
    return listed


def adverb_of(adjective: str) -> str | None:
    """The adverb in -ly of an adjective that has one for certain: by its ending, or listed; else None."""
    if adjective in NO_ADVERB:
        return None
    if adjective not in PLAIN_ADJECTIVES and not (len(adjective) > 5 and adjective.endswith(ADVERB_ENDINGS)):
        return None
    if adjective.endswith("ic"):
        return adjective + ("ly" if adjective == "public" else "ally")
    if adjective.endswith("le"):
        return adjective[:-1] + "y"
    if adjective.endswith("y"):
        return adjective[:-1] + "ily"
    return adjective + "ly"


def adjective_of(adverb: str) -> str | None:
    """The adjective of an adverb in -ly, when its own adverb would be that one again; else None."""
    if not adverb.endswith("ly") or len(adverb) < 5 or adverb in NO_ADJECTIVE:
        return None
    stems = [adverb[:-2], adverb[:-4] if adverb.endswith("ically") else "", adverb[:-3] + "y", adverb[:-1] + "e"]
    return next((stem for stem in stems if stem and adverb_of(stem) == adverb), None)


PERTURBATIONS = (Perturbation("part_of_speech_shift", "fluency", "grammar - pos shift", "minor", 13, part_of_speech_shift),)

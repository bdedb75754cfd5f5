"""A pronoun of another gender or case, and a word of the same stem in another part of speech (DEMETR 11, 13, 15)."""

from __future__ import annotations

import random

from rome.data.perturbations.lists import replacements, table, word_set
from rome.data.perturbations.surgery import Change, choose, in_case_of, replacement, starts_sentence
from rome.data.perturbations.tree import OPEN_CLASSES, base, child_of, has_own_span, in_title_case, of_relation, stands_alone
from rome.data.perturbations.values import Materials, NotApplicable, Perturbation, Perturbed
from rome.features.values import Analysis

GENDER = replacements("word_forms.gender")
NOMINATIVE = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
ACCUSATIVE = {new: old for old, new in NOMINATIVE.items()} | {"me": "I"}


def gender_pronoun(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Exactly one pronoun gets the other gender: *he* -> *she*; *her* by its tag: *him* or *his*."""
    words = [w for n, w in enumerate(analysis.words) if has_own_span(analysis, n) and f"{w.text.lower()}/{w.xpos}" in GENDER]
    return choose(
        analysis,
        rng,
        words,
        lambda w: [(w.start, w.end, in_case_of(GENDER[f"{w.text.lower()}/{w.xpos}"], w.text))],
        "no pronoun that shows a gender",
    )


def pronoun_case(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Exactly one pronoun stands in the wrong case: *Her announced*, *told they*."""
    words = [n for n in range(len(analysis.words)) if has_own_span(analysis, n) and _wrong_case(analysis, n)]

    def make(n: int) -> list[tuple[int, int, str]]:
        word, new = analysis.words[n], _wrong_case(analysis, n) or ""
        first = word.text[0].isupper() and (word.text != "I" or starts_sentence(analysis, word.start))
        return [(word.start, word.end, new.capitalize() if first else new)]

    return choose(analysis, rng, words, make, "no personal pronoun whose case shows")


def _wrong_case(analysis: Analysis, n: int) -> str | None:
    """The accusative for a subject, the nominative for an object or what follows a preposition; None for anything else."""
    word = analysis.words[n]
    low, relation = word.text.lower(), base(word.relation)
    joined = analysis.text[word.end : word.end + 1] in ("'", "’", "-")
    if word.xpos != "PRP" or joined:
        return None
    if low in NOMINATIVE and relation == "nsubj":
        return NOMINATIVE[low]
    preposition = child_of(analysis, n, "case")
    plain = preposition is None or analysis.words[preposition].lemma.lower() not in ("than", "as", "like", "but", "except")
    return ACCUSATIVE[low] if low in ACCUSATIVE and relation in ("obj", "iobj", "obl", "nmod") and plain else None


ADVERB_ENDINGS = ("al", "ive", "ous", "ic", "ful", "ible", "able", "ent", "ant", "less")
PLAIN_ADJECTIVES = word_set("word_forms.plain_adjectives")
NO_ADVERB = frozenset("nuclear able total recent present patient royal coastal medieval animal capital local global".split())
NO_ADJECTIVE = word_set("word_forms.no_adjective")
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


PERTURBATIONS = (
    Perturbation("gender_pronoun", "accuracy", "mistranslation - gender", "critical", 11, gender_pronoun),
    Perturbation("pronoun_case", "fluency", "grammar - case", "minor", 15, pronoun_case),
    Perturbation("part_of_speech_shift", "fluency", "grammar - pos shift", "minor", 13, part_of_speech_shift),
)

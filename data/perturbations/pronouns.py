"""Pronouns of the other gender, and in the wrong case (DEMETR 11, 15)."""

from __future__ import annotations

import random

from rome.features.values import Analysis

from .surgery import choose, in_case_of, starts_sentence
from .tree import base, child_of, has_own_span
from .values import Materials, NotApplicable, Perturbation, Perturbed

__all__ = ["PERTURBATIONS"]

GENDER = {
    ("he", "PRP"): "she",
    ("she", "PRP"): "he",
    ("him", "PRP"): "her",
    ("her", "PRP"): "him",
    ("her", "PRP$"): "his",
    ("his", "PRP$"): "her",
    ("his", "PRP"): "hers",
    ("hers", "PRP"): "his",
    ("himself", "PRP"): "herself",
    ("herself", "PRP"): "himself",
}
NOMINATIVE = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
ACCUSATIVE = {new: old for old, new in NOMINATIVE.items()} | {"me": "I"}


def gender_pronoun(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Exactly one pronoun gets the other gender: *he* -> *she*; *her* by its tag: *him* or *his*."""
    words = [w for n, w in enumerate(analysis.words) if has_own_span(analysis, n) and (w.text.lower(), w.xpos) in GENDER]
    return choose(
        analysis,
        rng,
        words,
        lambda w: [(w.start, w.end, in_case_of(GENDER[w.text.lower(), w.xpos], w.text))],
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


PERTURBATIONS = (
    Perturbation("gender_pronoun", "accuracy", "mistranslation - gender", "critical", 11, gender_pronoun),
    Perturbation("pronoun_case", "fluency", "grammar - case", "minor", 15, pronoun_case),
)

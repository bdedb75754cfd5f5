"""The lower bounds: no text, an unrelated text, the words in any order (DEMETR 32 to 34)."""

from __future__ import annotations

import random
import re

from rome.features.values import Analysis

from .surgery import finish
from .values import Materials, NotApplicable, Perturbation, Perturbed

__all__ = ["PERTURBATIONS"]

DRAWS = 12


def empty_text(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Nothing but a full stop, as published: most metrics refuse an empty text."""
    return (
        finish(analysis, [(0, len(analysis.text), ".")], "the text is empty already")
        if analysis.text
        else NotApplicable("the text is empty")
    )


def unrelated_text(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Another text: of a dozen drawn ones, of about its length where there is one, the one that shares the smallest part of its words."""
    if not analysis.text or not materials.texts:
        return NotApplicable("no other text to put in its place")
    own = set(re.findall(r"\w+", analysis.text.lower()))
    drawn = [materials.texts[rng.randrange(len(materials.texts))] for _ in range(DRAWS)]
    others = [text for text in drawn if text.strip() and set(re.findall(r"\w+", text.lower())) != own]
    others = [text for text in others if 0.5 <= len(text) / len(analysis.text) <= 2] or others
    if not others:
        return NotApplicable("no other text to put in its place")
    best = min(others, key=lambda text: _shared(own, set(re.findall(r"\w+", text.lower()))))
    return finish(analysis, [(0, len(analysis.text), best)], "no other text to put in its place")


def _shared(own: set[str], other: set[str]) -> float:
    """The share of the other text's words that stand in the text too."""
    return len(own & other) / max(len(other), 1)


def shuffled_words(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """All words in another order; the capital and the final mark stay where they were."""
    found = list(re.finditer(r"\S+", analysis.text))
    if len(found) < 3:
        return NotApplicable("fewer than three words")
    start, end = found[0].start(), found[-1].end()
    final = re.search(r"[.!?…]+[\"'”’)]*$", analysis.text[start:end])
    end = start + len(analysis.text[start : final.start() + start].rstrip()) if final else end
    words = analysis.text[start:end].split()
    names = {word.text for word in analysis.words if word.upos == "PROPN" or word.text == "I"}
    proper = not words or words[0].strip("\"'“,") in names
    loose = words if proper else [words[0][:1].lower() + words[0][1:], *words[1:]]
    for _ in range(DRAWS):
        mixed = rng.sample(loose, len(loose))
        if mixed != loose:
            new = " ".join(mixed)
            new = new[:1].upper() + new[1:] if words[0][:1].isupper() else new
            return finish(analysis, [(start, end, new)], "its words are all the same")
    return NotApplicable("its words are all the same")


PERTURBATIONS = (
    Perturbation("empty_text", "baseline", "empty", "base", 32, empty_text),
    Perturbation("unrelated_text", "baseline", "different", "base", 33, unrelated_text),
    Perturbation("shuffled_words", "baseline", "unintelligible", "base", 34, shuffled_words),
)

"""A statement asked as a question (DEMETR 19)."""

from __future__ import annotations

import random

from rome.features.values import Analysis

from .surgery import Change, choose, starts_sentence
from .tree import children, is_contiguous, stands_alone, subject_of, subtree
from .values import Materials, NotApplicable, Perturbation, Perturbed
from .verb_forms import DO, clauses_that_inflect

__all__ = ["PERTURBATIONS"]


def interrogative(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """A statement becomes a question: *This is the tenth time.* -> *Is this the tenth time?*"""
    pairs = [pair for pair in clauses_that_inflect(analysis, materials) if analysis.words[pair[0]].relation == "root"]
    reason = "no plain statement with its subject before the verb"
    return choose(analysis, rng, pairs, lambda pair: _asked(analysis, *pair), reason)


def _asked(analysis: Analysis, predicate: int, finite: int) -> list[Change] | None:
    """The finite verb, or *do*, before the subject that opens the sentence, and a question mark for the full stop."""
    sentence = analysis.sentences[analysis.words[predicate].sentence]
    subject = subject_of(analysis, predicate)
    last = [word for word in analysis.words if word.sentence == analysis.words[predicate].sentence][-1]
    marks = any(c in analysis.text[sentence.start : sentence.end] for c in '"“”?:;')
    if subject is None or subject > finite or last.text != "." or marks:
        return None
    phrase = subtree(analysis, subject)
    opens = starts_sentence(analysis, analysis.words[phrase[0]].start)
    moved = _moved(analysis, predicate, finite) if is_contiguous(phrase) and phrase[-1] < finite and opens else None
    if moved is None:
        return None
    verb, gap = moved
    first = analysis.words[phrase[0]]
    keeps = (
        first.xpos.startswith("NNP") or first.upos == "PROPN" or first.text == "I" or first.text[1:] != first.text[1:].lower()
    )
    lead = first.text if keeps else first.text[0].lower() + first.text[1:]
    return [(first.start, first.end, f"{verb.capitalize()} {lead}"), gap, (last.start, last.end, "?")]


def _moved(analysis: Analysis, predicate: int, finite: int) -> tuple[str, Change] | None:
    """The word that goes to the front, with *n't* if that is joined to it, and what happens where the finite verb stood."""
    word, text = analysis.words[finite], analysis.text
    if finite == predicate and word.lemma.lower() != "be":
        shared = any(
            analysis.words[n].relation == "conj" and analysis.words[n].xpos in DO and subject_of(analysis, n) is None
            for n in children(analysis, predicate)
        )
        plain = word.xpos in DO and stands_alone(analysis, finite) and not shared
        return (DO[word.xpos], (word.start, word.end, word.lemma.lower())) if plain else None
    end = word.end
    if finite + 1 < len(analysis.words) and analysis.words[finite + 1].text in ("n't", "n’t"):
        end = analysis.words[finite + 1].end
    return (text[word.start : end], (word.start, end + 1, "")) if text[end : end + 1] == " " else None


PERTURBATIONS = (Perturbation("interrogative", "fluency", "grammar - interrogative", "major", 19, interrogative),)

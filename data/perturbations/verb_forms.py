"""Tense and aspect of verbs, and statements made questions (DEMETR 17 to 19)."""

from __future__ import annotations

import random

from rome.data.perturbations.surgery import Change, choose, in_case_of, starts_sentence
from rome.data.perturbations.tree import (
    children,
    clauses,
    has_own_span,
    is_contiguous,
    is_plural,
    of_relation,
    stands_alone,
    subject_of,
    subtree,
)
from rome.data.perturbations.values import Materials, NotApplicable, Perturbation, Perturbed
from rome.features.values import Analysis

DO = {"VBD": "did", "VBZ": "does", "VBP": "do"}
CLITICS = {"'s", "’s", "'re", "’re", "'m", "’m", "'ve", "’ve", "'ll", "’ll", "'d", "’d"}


def form_of_be(tense: str, plural: bool, first_person: bool = False) -> str:
    """*am*, *is*, *are*, *was* or *were*: tense is ``past`` or ``present``."""
    if tense == "past":
        return "were" if plural and not first_person else "was"
    return "am" if first_person else "are" if plural else "is"


def _agreement(analysis: Analysis, predicate: int, finite: int) -> tuple[bool, bool]:
    """(plural, first person singular) that the finite verb of a clause shows: by its own form, else by its subject's."""
    subject = subject_of(analysis, predicate)
    if analysis.words[predicate].relation == "conj" and subject is None and analysis.words[predicate].head >= 0:
        subject = subject_of(analysis, analysis.words[predicate].head)
    finite_word = analysis.words[finite]
    first = (
        subject is not None
        and analysis.words[subject].text == "I"
        and not any(analysis.words[n].relation == "conj" for n in children(analysis, subject))
    )
    if finite_word.xpos in ("VBZ", "VBP"):
        return finite_word.xpos == "VBP", first
    if finite_word.text.lower() in ("was", "were"):
        return finite_word.text.lower() == "were", first
    if subject is not None and analysis.words[subject].xpos in ("WDT", "WP", "WRB"):
        antecedent = analysis.words[predicate].head
        return antecedent >= 0 and is_plural(analysis, antecedent), False
    return subject is not None and is_plural(analysis, subject), first


def clauses_that_inflect(analysis: Analysis, materials: Materials) -> list[tuple[int, int]]:
    """Clauses with a subject of their own (or shared by coordination) whose finite word is read rightly: it stands in its own
    characters, is no clitic, and inflecting its lemma gives it."""
    found = []
    for predicate, finite in clauses(analysis):
        word = analysis.words[finite]
        auxiliary = word.upos == "AUX" or word.lemma.lower() in ("be", "have", "do")
        right = auxiliary or word.xpos == "MD" or _reads(word.lemma.lower(), word.xpos, word.text.lower(), materials)
        subject = subject_of(analysis, predicate)
        known = subject is not None or analysis.words[predicate].relation == "conj"
        if has_own_span(analysis, finite) and word.text.lower() not in CLITICS and right and known:
            found.append((predicate, finite))
    return found


def _reads(lemma: str, tag: str, form: str, materials: Materials) -> bool:
    """Whether the lemma has this form under this tag."""
    return lemma == form if tag == "VBP" else materials.inflect(lemma, tag) == form


def tense(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """One finite verb in another tense: *were* -> *are*, *finds* -> *found*, *found* -> *will find*, *will find* -> *found*."""
    return choose(
        analysis,
        rng,
        clauses_that_inflect(analysis, materials),
        lambda pair: _other_tense(analysis, *pair, rng, materials),
        "no finite verb with another tense",
    )


def _other_tense(
    analysis: Analysis, predicate: int, finite: int, rng: random.Random, materials: Materials
) -> list[Change] | None:
    word = analysis.words[finite]
    lemma, low = word.lemma.lower(), word.text.lower()
    plural, first = _agreement(analysis, predicate, finite)
    if (
        low == "will"
        and finite + 1 == predicate
        and analysis.words[predicate].xpos == "VB"
        and stands_alone(analysis, predicate)
    ):
        main = analysis.words[predicate]
        past = form_of_be("past", plural, first) if main.lemma == "be" else materials.inflect(main.lemma.lower(), "VBD")
        return [(word.start, main.end, in_case_of(past, word.text))] if past else None
    if word.xpos == "MD":
        return None
    new: str | None
    if lemma == "be":
        new = form_of_be("present" if word.xpos == "VBD" else "past", plural, first)
    elif word.xpos in ("VBZ", "VBP"):
        new = {"do": "did", "have": "had"}.get(lemma) or materials.inflect(lemma, "VBD")
    elif word.upos == "VERB" and finite == predicate and stands_alone(analysis, finite) and rng.random() < 0.3:
        new = f"will {lemma}"
    else:
        present = "VBP" if plural or first else "VBZ"
        new = {"do": DO[present], "have": "have" if present == "VBP" else "has"}.get(lemma) or (
            lemma if present == "VBP" else materials.inflect(lemma, "VBZ")
        )
    return [(word.start, word.end, in_case_of(new, word.text))] if new and new != low else None


def aspect(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """One verb in another aspect and the same tense: *finds* -> *is finding* or *has found*, *has found* -> *is finding*."""
    return choose(
        analysis,
        rng,
        clauses_that_inflect(analysis, materials),
        lambda pair: _other_aspect(analysis, *pair, rng, materials),
        "no finite verb with another aspect",
    )


def _other_aspect(
    analysis: Analysis, predicate: int, finite: int, rng: random.Random, materials: Materials
) -> list[Change] | None:
    word = analysis.words[finite]
    if word.xpos == "MD" or word.lemma.lower() == "do" and finite != predicate or not stands_alone(analysis, finite):
        return None
    plural, first = _agreement(analysis, predicate, finite)
    time = "past" if word.xpos == "VBD" else "present"
    be = form_of_be(time, plural, first)
    have = "had" if time == "past" else "have" if plural or first else "has"
    if finite == predicate or word.relation in ("cop", "aux:pass"):
        if _inverted(analysis, predicate, finite):
            return None
        forms = [(be, materials.inflect(word.lemma.lower(), "VBG")), (have, materials.inflect(word.lemma.lower(), "VBN"))]
        drawn = rng.choice([(helper, form) for helper, form in forms if form] or [("", "")])
        return [(word.start, word.end, in_case_of(" ".join(drawn), word.text))] if drawn[0] else None
    return _from_compound(analysis, predicate, finite, be, have, materials)


def _from_compound(
    analysis: Analysis, predicate: int, finite: int, be: str, have: str, materials: Materials
) -> list[Change] | None:
    """Perfect to progressive (*has found* -> *is finding*) and back; both verbs change where they stand."""
    word = analysis.words[finite]
    following = [
        n for n in (*children(analysis, predicate), predicate) if n > finite and analysis.words[n].upos in ("AUX", "VERB")
    ]
    following = [n for n in following if n == predicate or of_relation(analysis.words[n], "aux", "cop")]
    main = following[0] if following else predicate
    coordinated = any(analysis.words[n].relation == "conj" for n in children(analysis, predicate))
    verb = analysis.words[main]
    if not stands_alone(analysis, main) or coordinated or _inverted(analysis, predicate, finite):
        return None
    helper, tag = {("have", "VBN"): (be, "VBG"), ("be", "VBG"): (have, "VBN")}.get((word.lemma.lower(), verb.xpos), ("", ""))
    form = materials.inflect(verb.lemma.lower(), tag) if tag else None
    return [(word.start, word.end, in_case_of(helper, word.text)), (verb.start, verb.end, form)] if form else None


def _inverted(analysis: Analysis, predicate: int, finite: int) -> bool:
    """Whether the subject follows the finite verb."""
    subject = subject_of(analysis, predicate)
    return subject is not None and subject > finite


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


PERTURBATIONS = (
    Perturbation("tense", "fluency", "grammar - tense", "major", 17, tense),
    Perturbation("aspect", "fluency", "grammar - aspect", "major", 18, aspect),
    Perturbation("interrogative", "fluency", "grammar - interrogative", "major", 19, interrogative),
)

"""Statements turned into their opposite: a negation added or removed (DEMETR 8)."""

from __future__ import annotations

import random

from rome.data.perturbations.verb_forms import DO
from rome.features.values import Analysis

from .lists import word_set
from .surgery import Change, choose, deletion, in_case_of, replacement, starts_sentence
from .tree import child_of, children, clauses, has_own_span, of_relation, stands_alone, subject_of, subtree
from .values import Materials, NotApplicable, Perturbation, Perturbed

NEGATIVE = word_set("negation.negative")
WHOLE = {"ca": "can", "wo": "will", "sha": "shall"}
POSITIVE = {"nothing": "something", "nobody": "somebody", "nowhere": "somewhere", "without": "with"}
SOME = {"any": "some", "anything": "something", "anyone": "someone", "anybody": "somebody", "anywhere": "somewhere"}


def is_negated(analysis: Analysis, predicate: int) -> bool:
    """Whether a negation, or *only*, hangs under the predicate or under something that does."""
    near = [n for child in children(analysis, predicate) for n in (child, *children(analysis, child))]
    return any(analysis.words[n].text.lower() in NEGATIVE for n in near)


def negation_added(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """A main clause is denied: *recommended* -> *did not recommend*; a subordinate one where no main clause can be."""
    reason = "no finite affirmative clause that *not* can be put into"
    found = [pair for pair in clauses(analysis) if not is_negated(analysis, pair[0])]
    found = [pair for pair in found if not is_negated(analysis, analysis.words[pair[0]].head)]
    main = [pair for pair in found if of_relation(analysis.words[pair[0]], "root")]
    for group in (main, [pair for pair in found if pair not in main]):
        result = choose(analysis, rng, group, lambda pair: _denied(analysis, *pair, materials), reason)
        if isinstance(result, Perturbed):
            return result
    return result


def _denied(analysis: Analysis, predicate: int, finite: int, materials: Materials) -> list[Change] | None:
    word, subject = analysis.words[finite], subject_of(analysis, predicate)
    if not has_own_span(analysis, finite) or (subject is not None and subject > finite and word.lemma.lower() != "be"):
        return None
    if subject is None and not of_relation(analysis.words[predicate], "conj", "acl:relcl"):
        return None
    if finite != predicate or word.lemma.lower() == "be":
        inverted = subject is not None and subject > finite and analysis.words[subject].relation.startswith("nsubj")
        there = child_of(analysis, predicate, "expl") is not None
        if inverted and not there:
            return None
        if word.text.lower() == "can":
            return [(word.end, word.end, "not")]
        return [(word.end, word.end, " not")] if analysis.text[word.end : word.end + 1].isspace() else None
    if _shares_its_subject(analysis, predicate) or not stands_alone(analysis, finite):
        return None
    base_form = _base_form(word.lemma.lower(), word.text.lower(), word.xpos, materials)
    return [(word.start, word.end, in_case_of(f"{DO[word.xpos]} not {base_form}", word.text))] if base_form else None


def _base_form(lemma: str, form: str, tag: str, materials: Materials) -> str | None:
    """The lemma, where inflecting it gives the form again, so that neither tag nor lemma is a slip of the parser."""
    if tag == "VBP":
        return form if lemma == form else None
    return lemma if tag in DO and materials.inflect(lemma, tag) == form else None


def _shares_its_subject(analysis: Analysis, predicate: int) -> bool:
    """Whether another finite verb is coordinated with this one and has no subject of its own."""
    return any(
        analysis.words[n].relation == "conj"
        and analysis.words[n].xpos in ("VBD", "VBZ", "VBP")
        and subject_of(analysis, n) is None
        for n in children(analysis, predicate)
    )


def negation_removed(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """A denied clause is affirmed: *did not go* -> *went*, *no evidence* -> *some evidence*, *never* is left out."""
    words = [n for n, word in enumerate(analysis.words) if has_own_span(analysis, n) and not _bound(analysis, n)]
    return choose(analysis, rng, words, lambda n: _affirmed(analysis, n, materials), "no negation that can be taken out")


def _bound(analysis: Analysis, n: int) -> bool:
    """Whether the negation belongs to a pair or an idiom: *not only*, *or not*, *why not*, *no longer*, *no one*."""
    after = analysis.words[n + 1].text.lower() if n + 1 < len(analysis.words) else ""
    before = analysis.words[n - 1].text.lower() if n else ""
    return after in word_set("negation.not_after_not") or before in ("or", "why", "if", "but", "and", ",", "whether")


def _affirmed(analysis: Analysis, n: int, materials: Materials) -> list[Change] | None:
    word = analysis.words[n]
    low = word.text.lower()
    if low in ("not", "n't", "n’t") and word.head >= 0:
        return _without_not(analysis, n, materials)
    if low == "never" and of_relation(word, "advmod") and analysis.words[word.head].upos in ("VERB", "ADJ", "NOUN", "AUX"):
        return deletion(analysis, word.start, word.end)
    if low in POSITIVE and (low != "without" or (word.relation == "case" and n + 1 < len(analysis.words))):
        return replacement(analysis, word.start, word.end, in_case_of(POSITIVE[low], word.text))
    if low == "no" and of_relation(word, "det") and word.head > n and analysis.words[word.head].upos == "NOUN":
        return [(word.start, word.end, in_case_of("some", word.text))]
    return None


def _without_not(analysis: Analysis, n: int, materials: Materials) -> list[Change] | None:
    """Take *not* away behind its auxiliary, with *do* where it only carried the negation; *any* becomes *some*."""
    word, before = analysis.words[n], analysis.words[n - 1] if n else None
    if (
        before is None
        or not has_own_span(analysis, n - 1)
        or before.upos not in ("AUX", "VERB")
        or before.sentence != word.sentence
    ):
        return None
    rest = _any_to_some(analysis, n)
    if before.lemma.lower() != "do":
        if before.text.lower() == "ai":
            return None
        whole = WHOLE.get(before.text.lower()) if word.text.lower() != "not" else None
        gone = [(before.start, word.end, in_case_of(whole, before.text))] if whole else deletion(analysis, word.start, word.end)
        return [*gone, *rest]
    verb = before.head
    if (
        verb <= n
        or not stands_alone(analysis, verb)
        or (subject_of(analysis, verb) or -1) > n
        or starts_sentence(analysis, before.start)
    ):
        return None
    main = analysis.words[verb]
    form = main.lemma.lower() if before.xpos == "VBP" else materials.inflect(main.lemma.lower(), before.xpos)
    next_start = analysis.words[n + 1].start
    return [(before.start, next_start, ""), (main.start, main.end, form), *rest] if form and before.xpos in DO else None


def _any_to_some(analysis: Analysis, n: int) -> list[Change]:
    """The changes of *any* and its kin under what was denied."""
    below = subtree(analysis, analysis.words[n].head)
    words = [analysis.words[m] for m in below if m > n and analysis.words[m].text.lower() in SOME]
    return [(w.start, w.end, in_case_of(SOME[w.text.lower()], w.text)) for w in words]


PERTURBATIONS = (
    Perturbation("negation_added", "accuracy", "mistranslation - negation", "critical", 8, negation_added),
    Perturbation("negation_removed", "accuracy", "mistranslation - negation", "critical", 8, negation_removed),
)

"""Statements turned into their opposite: a negation added or removed (DEMETR 8)."""

from __future__ import annotations

from rome.data.perturbations.verb_forms import DO

from .lexicons import word_set
from .perturbation import Change, Materials, Outcome, Parse, Perturbed, in_case_of, of_relation, perturbation

NEGATIVE = word_set("negation.negative")
WHOLE = {"ca": "can", "wo": "will", "sha": "shall"}
POSITIVE = {"nothing": "something", "nobody": "somebody", "nowhere": "somewhere", "without": "with"}
SOME = {"any": "some", "anything": "something", "anyone": "someone", "anybody": "somebody", "anywhere": "somewhere"}


def is_negated(parse: Parse, predicate: int) -> bool:
    """Whether a negation, or *only*, hangs under the predicate or under something that does."""
    near = [n for child in parse.children(predicate) for n in (child, *parse.children(child))]
    return any(parse.low(n) in NEGATIVE for n in near)


@perturbation("accuracy", "mistranslation - negation", "critical", 8)
def negation_added(parse: Parse) -> Outcome:
    """A main clause is denied: *recommended* -> *did not recommend*; a subordinate one where no main clause can be."""
    reason = "no finite affirmative clause that *not* can be put into"
    found = [pair for pair in parse.clauses() if not is_negated(parse, pair[0])]
    found = [pair for pair in found if not is_negated(parse, parse.words[pair[0]].head)]
    main = [pair for pair in found if parse.relates(pair[0], "root")]
    for group in (main, [pair for pair in found if pair not in main]):
        result = parse.choose(group, lambda pair: _denied(parse, *pair), reason)
        if isinstance(result, Perturbed):
            return result
    return result


def _denied(parse: Parse, predicate: int, finite: int) -> list[Change] | None:
    word, subject = parse.words[finite], parse.subject(predicate)
    if not parse.has_own_span(finite) or (subject is not None and subject > finite and word.lemma.lower() != "be"):
        return None
    if subject is None and not parse.relates(predicate, "conj", "acl:relcl"):
        return None
    if finite != predicate or word.lemma.lower() == "be":
        inverted = subject is not None and subject > finite and parse.relation(subject).startswith("nsubj")
        there = parse.child(predicate, "expl") is not None
        if inverted and not there:
            return None
        if word.text.lower() == "can":
            return [(word.end, word.end, "not")]
        return [(word.end, word.end, " not")] if parse.text[word.end : word.end + 1].isspace() else None
    if _shares_its_subject(parse, predicate) or not parse.stands_alone(finite):
        return None
    base_form = _base_form(word.lemma.lower(), word.text.lower(), word.xpos, parse.materials)
    return [(word.start, word.end, in_case_of(f"{DO[word.xpos]} not {base_form}", word.text))] if base_form else None


def _base_form(lemma: str, form: str, tag: str, materials: Materials) -> str | None:
    """The lemma, where inflecting it gives the form again, so that neither tag nor lemma is a slip of the parser."""
    if tag == "VBP":
        return form if lemma == form else None
    return lemma if tag in DO and materials.inflect(lemma, tag) == form else None


def _shares_its_subject(parse: Parse, predicate: int) -> bool:
    """Whether another finite verb is coordinated with this one and has no subject of its own."""
    return any(
        parse.relation(n) == "conj" and parse.tag(n) in ("VBD", "VBZ", "VBP") and parse.subject(n) is None
        for n in parse.children(predicate)
    )


@perturbation("accuracy", "mistranslation - negation", "critical", 8)
def negation_removed(parse: Parse) -> Outcome:
    """A denied clause is affirmed: *did not go* -> *went*, *no evidence* -> *some evidence*, *never* is left out."""
    words = [n for n, word in enumerate(parse.words) if parse.has_own_span(n) and not _bound(parse, n)]
    return parse.choose(words, lambda n: _affirmed(parse, n), "no negation that can be taken out")


def _bound(parse: Parse, n: int) -> bool:
    """Whether the negation belongs to a pair or an idiom: *not only*, *or not*, *why not*, *no longer*, *no one*."""
    after = parse.low(n + 1)
    before = parse.low(n - 1)
    return after in word_set("negation.not_after_not") or before in ("or", "why", "if", "but", "and", ",", "whether")


def _affirmed(parse: Parse, n: int) -> list[Change] | None:
    word = parse.words[n]
    low = word.text.lower()
    if low in ("not", "n't", "n’t") and word.head >= 0:
        return _without_not(parse, n)
    if low == "never" and of_relation(word, "advmod") and parse.words[word.head].upos in ("VERB", "ADJ", "NOUN", "AUX"):
        return parse.delete(word.start, word.end)
    if low in POSITIVE and (low != "without" or (word.relation == "case" and n + 1 < len(parse.words))):
        return parse.replace(word.start, word.end, in_case_of(POSITIVE[low], word.text))
    if low == "no" and of_relation(word, "det") and word.head > n and parse.words[word.head].upos == "NOUN":
        return [(word.start, word.end, in_case_of("some", word.text))]
    return None


def _without_not(parse: Parse, n: int) -> list[Change] | None:
    """Take *not* away behind its auxiliary, with *do* where it only carried the negation; *any* becomes *some*."""
    word, before = parse.words[n], parse.word(n - 1)
    if (
        before is None
        or not parse.has_own_span(n - 1)
        or before.upos not in ("AUX", "VERB")
        or before.sentence != word.sentence
    ):
        return None
    rest = _any_to_some(parse, n)
    if before.lemma.lower() != "do":
        if before.text.lower() == "ai":
            return None
        whole = WHOLE.get(before.text.lower()) if word.text.lower() != "not" else None
        gone = [(before.start, word.end, in_case_of(whole, before.text))] if whole else parse.delete(word.start, word.end)
        return [*gone, *rest]
    verb = before.head
    if verb <= n or not parse.stands_alone(verb) or (parse.subject(verb) or -1) > n or parse.starts_sentence(before.start):
        return None
    main = parse.words[verb]
    form = main.lemma.lower() if before.xpos == "VBP" else parse.materials.inflect(main.lemma.lower(), before.xpos)
    next_start = parse.words[n + 1].start
    return [(before.start, next_start, ""), (main.start, main.end, form), *rest] if form and before.xpos in DO else None


def _any_to_some(parse: Parse, n: int) -> list[Change]:
    """The changes of *any* and its kin under what was denied."""
    below = parse.subtree(parse.words[n].head)
    words = [parse.words[m] for m in below if m > n and parse.low(m) in SOME]
    return [(w.start, w.end, in_case_of(SOME[w.text.lower()], w.text)) for w in words]

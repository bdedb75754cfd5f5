"""Tense, aspect and voice of verbs, statements made questions, and negations added or removed (DEMETR 8, 17 to 19; RoMe 4.7, case 5)."""

from __future__ import annotations

from dataclasses import dataclass

from .lexicons import word_set
from .perturbation import OBJECTIVE, SUBJECTIVE, Change, Outcome, Parse, capitalised, in_case_of, is_contiguous, perturbation

DO = {"VBD": "did", "VBZ": "does", "VBP": "do"}
CLITICS = {"'s", "’s", "'re", "’re", "'m", "’m", "'ve", "’ve", "'ll", "’ll", "'d", "’d"}


def form_of_be(tense: str, plural: bool, first_person: bool = False) -> str:
    """Return *am*, *is*, *are*, *was* or *were*; tense is ``past`` or ``present``."""
    if tense == "past":
        return "were" if plural and not first_person else "was"
    return "am" if first_person else "are" if plural else "is"


def _agreement(parse: Parse, predicate: int, finite: int) -> tuple[bool, bool]:
    """Return (plural, first person singular) of the finite verb of a clause, by its own form, else by its subject's."""
    subject = parse.subject(predicate)
    if parse.relation(predicate) == "conj" and subject is None and parse.head(predicate) >= 0:
        subject = parse.subject(parse.head(predicate))
    n = -1 if subject is None else subject
    first = parse.form(n) == "I" and not any(parse.relation(m) == "conj" for m in parse.children(n))
    if parse.matches(finite, tag="VBZ VBP"):
        return parse.tag(finite) == "VBP", first
    if parse.reads(finite, "was were"):
        return parse.low(finite) == "were", first
    if parse.matches(n, tag="WDT WP WRB"):
        return parse.head(predicate) >= 0 and parse.is_plural(parse.head(predicate)), False
    return n >= 0 and parse.is_plural(n), first


def agreeing(parse: Parse, clause: tuple[int, int], plural: bool, first_person: bool = False) -> list[Change] | None:
    """Return the change that makes the finite verb of a clause agree with a new subject; None where it cannot be made."""
    predicate, finite = clause
    word, past, old = parse.words[finite], parse.reads(finite, "was were"), parse.subject(predicate)
    if word.xpos == "MD" or word.xpos == "VBD" and not past:
        return []
    if old is not None and parse.is_plural(old) == plural and not first_person and parse.form(old) != "I":
        return []
    shared = any(parse.relation(n) == "conj" and parse.subject(n) is None for n in parse.children(predicate))
    if shared or not parse.stands_alone(finite):
        return None
    lemma = word.lemma.lower()
    form = lemma if plural else {"have": "has", "do": "does"}.get(lemma) or parse.inflect(lemma, "VBZ")
    new = form_of_be("past" if past else "present", plural, first_person) if lemma == "be" else form
    return [(word.start, word.end, new)] if new else None


LONGEST = 12
"""Words of a noun phrase that may change its place."""


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun phrase that can change its place: its head, its words and its characters."""

    head: int
    words: list[int]
    start: int
    end: int


def noun_phrase(parse: Parse, head: int) -> NounPhrase | None:
    """Return the noun phrase of a head without its preposition, if it is whole, short, and can change its place."""
    words = parse.subtree(head)
    if parse.relates(head, "obl", "nmod"):
        words = [n for n in words if n != parse.child(head, "case")]
    mutual = parse.low(head).endswith(("self", "selves")) or parse.reads(head, "each other another there part place")
    if not parse.matches(head, pos="NOUN PROPN PRON") or mutual or not is_contiguous(words) or len(words) > LONGEST:
        return None
    (start, end), text, after = parse.span(words), parse.text, words[-1] + 1
    touched, inside = parse.touching(start, end), text[start:end]
    odd = text[:start].endswith(".") or any(c in '"“”‘():;' for c in inside) or inside[-1] in ",-"
    if odd or any(c.isalnum() or c in "-'’_/@#" for c in touched):
        return None
    titled = after < len(parse.words) and parse.in_title_case(after) and parse.pos(after) != "PRON"
    goes_on = (titled or parse.matches(after, pos="NUM PROPN")) and text[end : end + 1] in (" ", "-")
    same = words[0] > 0 and parse.words[words[0] - 1].sentence == parse.words[head].sentence
    cut = same and text[start - 1] == " " and parse.matches(words[0] - 1, pos="PROPN NUM ADJ X DET")
    wrong = parse.matches(words[0], tag="WP WDT WP$ EX") or parse.matches(words[0], pos="ADP SCONJ CCONJ")
    return None if goes_on or cut or wrong else NounPhrase(head, words, start, end)


def moved(parse: Parse, phrase: NounPhrase, cases: dict[str, str], opens: bool = False) -> str:
    """Return the phrase as it reads in its new place: a pronoun in the case of that place, a capital where the sentence starts."""
    first = phrase.words[0]
    text = parse.text[phrase.start : phrase.end]
    if len(phrase.words) == 1 and parse.tag(first) == "PRP":
        text = cases.get(parse.low(first), text if text == "I" else parse.low(first))
    elif parse.starts_sentence(phrase.start):
        text = parse.lowered(first, text, parse.words[first].lemma[:1].isupper())
    return capitalised(text) if opens else text


def clauses_that_inflect(parse: Parse) -> list[tuple[int, int]]:
    """Return clauses with a subject whose finite word is parsed correctly: it is not a clitic, and inflecting its lemma gives it."""
    results = []
    for predicate, finite in parse.clauses():
        auxiliary = parse.pos(finite) == "AUX" or parse.matches(finite, lemma="be have do") or parse.tag(finite) == "MD"
        known = parse.subject(predicate) is not None or parse.relation(predicate) == "conj"
        if known and parse.has_own_span(finite) and parse.low(finite) not in CLITICS and (auxiliary or _reads(parse, finite)):
            results.append((predicate, finite))
    return results


def _reads(parse: Parse, n: int) -> bool:
    """Return whether inflecting the lemma of a verb gives its form, so that neither tag nor lemma is an error of the parser."""
    lemma, tag = parse.lemma(n), parse.tag(n)
    return (lemma if tag == "VBP" else parse.inflect(lemma, tag)) == parse.low(n)


@perturbation("fluency", "grammar - tense", "major", 17)
def tense(parse: Parse) -> Outcome:
    """Change the tense of one finite verb: *were* -> *are*, *finds* -> *found*, *found* -> *will find*, *will find* -> *found*."""
    pairs = clauses_that_inflect(parse)
    return parse.choose(pairs, lambda pair: _other_tense(parse, *pair), "no finite verb with another tense")


def _other_tense(parse: Parse, predicate: int, finite: int) -> list[Change] | None:
    word, lemma, tag = parse.words[finite], parse.lemma(finite), parse.tag(finite)
    plural, first = _agreement(parse, predicate, finite)
    if parse.low(finite) == "will" and finite + 1 == predicate and parse.tag(predicate) == "VB":
        past = form_of_be("past", plural, first) if parse.words[predicate].lemma == "be" else None
        past = past or parse.inflect(parse.lemma(predicate), "VBD")
        alone = past and parse.stands_alone(predicate)
        return [(word.start, parse.words[predicate].end, in_case_of(past, word.text))] if past and alone else None
    present, helper = ("VBP" if plural or first else "VBZ"), lemma in ("do", "have")
    if tag == "MD":
        return None
    if lemma == "be":
        new: str | None = form_of_be("present" if tag == "VBD" else "past", plural, first)
    elif tag in ("VBZ", "VBP"):
        new = {"do": "did", "have": "had"}.get(lemma) or parse.inflect(lemma, "VBD")
    elif word.upos == "VERB" and finite == predicate and parse.stands_alone(finite) and parse.rng.random() < 0.3:
        new = f"will {lemma}"
    elif present == "VBP":
        new = lemma
    else:
        new = {"do": "does", "have": "has"}[lemma] if helper else parse.inflect(lemma, "VBZ")
    return parse.spelled(finite, new) if new and new != parse.low(finite) else None


@perturbation("fluency", "grammar - aspect", "major", 18)
def aspect(parse: Parse) -> Outcome:
    """Change the aspect of one verb: *finds* -> *is finding* or *has found*, *has found* -> *is finding*."""
    pairs = clauses_that_inflect(parse)
    return parse.choose(pairs, lambda pair: _other_aspect(parse, *pair), "no finite verb with another aspect")


def _other_aspect(parse: Parse, predicate: int, finite: int) -> list[Change] | None:
    lemma, tag, subject = parse.lemma(finite), parse.tag(finite), parse.subject(predicate)
    inverted = subject is not None and subject > finite
    if inverted or tag == "MD" or lemma == "do" and finite != predicate or not parse.stands_alone(finite):
        return None
    plural, first = _agreement(parse, predicate, finite)
    be = form_of_be("past" if tag == "VBD" else "present", plural, first)
    have = "had" if tag == "VBD" else "have" if plural or first else "has"
    if finite == predicate or parse.relation(finite) in ("cop", "aux:pass"):
        forms = [(be, parse.inflect(lemma, "VBG")), (have, parse.inflect(lemma, "VBN"))]
        drawn = parse.rng.choice([(helper, form) for helper, form in forms if form] or [("", "")])
        return parse.spelled(finite, " ".join(drawn)) if drawn[0] else None
    return _from_compound(parse, predicate, finite, be, have)


def _from_compound(parse: Parse, predicate: int, finite: int, be: str, have: str) -> list[Change] | None:
    """Exchange perfect and progressive: *has found* -> *is finding*."""
    following = [n for n in parse.children(predicate) if n > finite and parse.matches(n, "aux cop", pos="AUX VERB")]
    main = following[0] if following else predicate
    coordinated = any(parse.relation(n) == "conj" for n in parse.children(predicate))
    forms = {("have", "VBN"): (be, "VBG"), ("be", "VBG"): (have, "VBN")}
    helper, tag = forms.get((parse.lemma(finite), parse.tag(main)), ("", ""))
    form, verb = parse.inflect(parse.lemma(main), tag) if tag else None, parse.words[main]
    if not form or coordinated or not parse.stands_alone(main):
        return None
    return [*parse.spelled(finite, helper), (verb.start, verb.end, form)]


@perturbation("fluency", "grammar - interrogative", "major", 19)
def interrogative(parse: Parse) -> Outcome:
    """Turn a statement into a question: *This is the tenth time.* -> *Is this the tenth time?*"""
    pairs = [pair for pair in clauses_that_inflect(parse) if parse.relation(pair[0]) == "root"]
    reason = "no plain statement with its subject before the verb"
    return parse.choose(pairs, lambda pair: _asked(parse, *pair), reason)


def _asked(parse: Parse, predicate: int, finite: int) -> list[Change] | None:
    """Put the finite verb, or *do*, before the subject that opens the sentence, and a question mark at the end."""
    number, subject = parse.words[predicate].sentence, parse.subject(predicate)
    sentence, last = parse.sentences[number], [word for word in parse.words if word.sentence == number][-1]
    marks = any(c in parse.text[sentence.start : sentence.end] for c in '"“”?:;')
    if subject is None or subject > finite or last.text != "." or marks:
        return None
    phrase = parse.subtree(subject)
    first = parse.words[phrase[0]]
    movable = is_contiguous(phrase) and phrase[-1] < finite and parse.starts_sentence(first.start)
    moved = _moved(parse, predicate, finite) if movable else None
    if moved is None:
        return None
    lead = f"{moved[0].capitalize()} {parse.lowered(phrase[0], first.text)}"
    return [(first.start, first.end, lead), moved[1], (last.start, last.end, "?")]


def _moved(parse: Parse, predicate: int, finite: int) -> tuple[str, Change] | None:
    """Return the word that is moved to the front, with a joined *n't*, and the change at its old place."""
    word, text = parse.words[finite], parse.text
    if finite == predicate and parse.lemma(finite) != "be":
        plain = word.xpos in DO and parse.stands_alone(finite) and not _shares_its_subject(parse, predicate)
        return (DO[word.xpos], (word.start, word.end, word.lemma.lower())) if plain else None
    end = parse.words[finite + 1].end if parse.form(finite + 1) in ("n't", "n’t") else word.end
    return (text[word.start : end], (word.start, end + 1, "")) if text[end : end + 1] == " " else None


NEGATIVE = word_set("negation.negative")
WHOLE = {"ca": "can", "wo": "will", "sha": "shall"}
POSITIVE = {"nothing": "something", "nobody": "somebody", "nowhere": "somewhere", "without": "with"}
SOME = {"any": "some", "anything": "something", "anyone": "someone", "anybody": "somebody", "anywhere": "somewhere"}


def is_negated(parse: Parse, predicate: int) -> bool:
    """Return whether a negation, or *only*, depends on the predicate or on one of its dependents."""
    near = [n for child in parse.children(predicate) for n in (child, *parse.children(child))]
    return any(parse.low(n) in NEGATIVE for n in near)


@perturbation("accuracy", "mistranslation - negation", "critical", 8)
def negation_added(parse: Parse) -> Outcome:
    """Negate a main clause: *recommended* -> *did not recommend*; or a subordinate one where no main clause can be negated."""
    reason = "no finite affirmative clause that can be negated"
    results = [pair for pair in parse.clauses() if not is_negated(parse, pair[0])]
    results = [pair for pair in results if not is_negated(parse, parse.words[pair[0]].head)]
    return parse.choose(results, lambda pair: _denied(parse, *pair), reason, lambda pair: not parse.relates(pair[0], "root"))


def _denied(parse: Parse, predicate: int, finite: int) -> list[Change] | None:
    word, subject, be = parse.words[finite], parse.subject(predicate), parse.lemma(finite) == "be"
    inverted = subject is not None and subject > finite
    if not parse.has_own_span(finite) or inverted and not be:
        return None
    if subject is None and not parse.relates(predicate, "conj", "acl:relcl"):
        return None
    if finite != predicate or be:
        if inverted and parse.relation(subject or 0).startswith("nsubj") and not parse.has(predicate, "expl"):
            return None
        joined = parse.low(finite) == "can"
        spaced = joined or parse.text[word.end : word.end + 1].isspace()
        return [(word.end, word.end, "not" if joined else " not")] if spaced else None
    if word.xpos not in DO or _shares_its_subject(parse, predicate) or not parse.stands_alone(finite):
        return None
    return parse.spelled(finite, f"{DO[word.xpos]} not {parse.lemma(finite)}") if _reads(parse, finite) else None


def _shares_its_subject(parse: Parse, predicate: int) -> bool:
    """Return whether another finite verb is coordinated with this one and has no subject of its own."""
    conjuncts = [n for n in parse.children(predicate) if parse.relation(n) == "conj" and parse.tag(n) in DO]
    return any(parse.subject(n) is None for n in conjuncts)


@perturbation("accuracy", "mistranslation - negation", "critical", 8)
def negation_removed(parse: Parse) -> Outcome:
    """Affirm a negated clause: *did not go* -> *went*, *no evidence* -> *some evidence*, *never* is left out."""
    words = [n for n, word in enumerate(parse.words) if parse.has_own_span(n) and not _bound(parse, n)]
    return parse.choose(words, lambda n: _affirmed(parse, n), "no negation that can be removed")


def _bound(parse: Parse, n: int) -> bool:
    """Return whether the negation belongs to a pair or an idiom: *not only*, *or not*, *why not*, *no longer*, *no one*."""
    return parse.low(n + 1) in word_set("negation.not_after_not") or parse.reads(n - 1, "or why if but and , whether")


def _affirmed(parse: Parse, n: int) -> list[Change] | None:
    low, head = parse.low(n), parse.head(n)
    if low in ("not", "n't", "n’t") and head >= 0:
        return _without_not(parse, n)
    if low == "never" and parse.relates(n, "advmod") and parse.matches(head, pos="VERB ADJ NOUN AUX"):
        return parse.delete(parse.words[n].start, parse.words[n].end)
    if low in POSITIVE and (low != "without" or (parse.relation(n) == "case" and n + 1 < len(parse.words))):
        return parse.put(n, POSITIVE[low])
    some = low == "no" and parse.relates(n, "det") and head > n and parse.pos(head) == "NOUN"
    return parse.spelled(n, "some") if some else None


def _without_not(parse: Parse, n: int) -> list[Change] | None:
    """Delete *not* after its auxiliary, with *do* where it only carried the negation; *any* becomes *some*."""
    word, before = parse.words[n], parse.words[n - 1]
    if not n or not parse.has_own_span(n - 1) or before.upos not in ("AUX", "VERB") or before.sentence != word.sentence:
        return None
    rest, verb = _any_to_some(parse, n), before.head
    if parse.lemma(n - 1) != "do":
        whole = WHOLE.get(parse.low(n - 1)) if parse.low(n) != "not" else None
        gone = [(before.start, word.end, in_case_of(whole, before.text))] if whole else parse.delete(word.start, word.end)
        return None if parse.low(n - 1) == "ai" else [*gone, *rest]
    if verb <= n or not parse.stands_alone(verb) or (parse.subject(verb) or -1) > n or parse.starts_sentence(before.start):
        return None
    main, lemma = parse.words[verb], parse.lemma(verb)
    form = lemma if before.xpos == "VBP" else parse.inflect(lemma, before.xpos)
    opened = (before.start, parse.words[n + 1].start, "")
    return [opened, (main.start, main.end, form), *rest] if form and before.xpos in DO else None


def _any_to_some(parse: Parse, n: int) -> list[Change]:
    """Return the changes of *any* and its compounds in a clause that is affirmed."""
    words = [m for m in parse.subtree(parse.head(n)) if m > n and parse.low(m) in SOME]
    return [change for m in words for change in parse.spelled(m, SOME[parse.low(m)])]


NO_CLAUSE = "no active clause with a subject, a verb and an object side by side"


@perturbation("robustness", "passive form", "none")
def passive_form(parse: Parse) -> Outcome:
    """Turn an active clause into the passive: *The firm released the album in May.* -> *The album was released by the firm in May.*"""
    relations = ("root", "conj", "parataxis", "ccomp", "advcl")
    verbs = [n for n, w in enumerate(parse.words) if w.upos == "VERB" and w.relation in relations]
    return parse.choose(verbs, lambda n: _passive(parse, n), NO_CLAUSE)


def _passive(parse: Parse, verb: int) -> list[Change] | None:
    """Return object, verb and *by* with the subject, each in the place of what was there."""
    subject, target = parse.child(verb, "nsubj"), parse.child(verb, "obj")
    if subject is None or target is None or parse.lemma(verb) in word_set("passive.not_passive") or not _plain(parse, verb):
        return None
    first, last = noun_phrase(parse, subject), noun_phrase(parse, target)
    if first is None or last is None or not first.words[-1] < verb < last.words[0]:
        return None
    group = list(range(first.words[-1] + 1, last.words[0]))
    verbs = _passive_group(parse, verb, group, parse.is_plural(target), parse.form(target) == "me")
    lead, agent = moved(parse, last, SUBJECTIVE, parse.starts_sentence(first.start)), moved(parse, first, OBJECTIVE)
    return None if verbs is None else [(first.start, first.end, lead), *verbs, (last.start, last.end, f"by {agent}")]


def _plain(parse: Parse, verb: int) -> bool:
    """Return whether no second object, complement, coordinated verb or participle depends on the subject."""
    if parse.has(verb, "iobj", "xcomp", "expl", "aux:pass", "nsubj:pass", "compound:prt"):
        return False
    verbs = [n for n in parse.children(verb) if parse.pos(n) == "VERB" and not parse.has(n, "nsubj")]
    return not any(parse.relation(n) == "conj" or parse.relates(n, "ccomp", "advcl") for n in verbs)


def _passive_group(parse: Parse, verb: int, group: list[int], plural: bool, first_person: bool) -> list[Change] | None:
    """Return the changes that make a verb with its auxiliaries passive; adverbs and *not* keep their places."""
    word, participle = parse.words[verb], parse.inflect(parse.lemma(verb), "VBN")
    helpers = [n for n in group if parse.pos(n) == "AUX"]
    if group[-1] != verb or not all(parse.matches(n, pos="AUX ADV PART VERB") and parse.has_own_span(n) for n in group):
        return None
    if participle is None or not parse.stands_alone(verb) or any(parse.form(n)[0] in "'’" for n in helpers) or len(helpers) > 1:
        return None
    finite = parse.words[helpers[0] if helpers else verb]
    be = form_of_be("past" if finite.xpos == "VBD" else "present", plural, first_person)
    if not helpers:
        return [(word.start, word.end, f"{be} {participle}")] if word.xpos in DO else None
    between = {"MD": "be ", "VB": "be ", "VBN": "been ", "VBG": "being "}.get(word.xpos, "")
    lemma = finite.lemma.lower()
    have = ("have" if plural or first_person else "has") if lemma == "have" and finite.xpos != "VBD" else None
    new = be if lemma in ("do", "be") else have
    changed = (word.start, word.end, f"{'' if lemma == 'do' else between}{participle}")
    return [*([(finite.start, finite.end, new)] if new else []), changed] if between else None

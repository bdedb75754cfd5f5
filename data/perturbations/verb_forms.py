"""Tense, aspect and voice of verbs, statements made questions, and negations added or removed (DEMETR 8, 17 to 19; RoMe 4.7, case 5)."""

from __future__ import annotations

from .lexicons import word_set
from .perturbation import (
    OBJECTIVE,
    SUBJECTIVE,
    Change,
    Materials,
    Outcome,
    Parse,
    Perturbed,
    in_case_of,
    is_contiguous,
    of_relation,
    perturbation,
)

DO = {"VBD": "did", "VBZ": "does", "VBP": "do"}
CLITICS = {"'s", "’s", "'re", "’re", "'m", "’m", "'ve", "’ve", "'ll", "’ll", "'d", "’d"}


def form_of_be(tense: str, plural: bool, first_person: bool = False) -> str:
    """*am*, *is*, *are*, *was* or *were*: tense is ``past`` or ``present``."""
    if tense == "past":
        return "were" if plural and not first_person else "was"
    return "am" if first_person else "are" if plural else "is"


def _agreement(parse: Parse, predicate: int, finite: int) -> tuple[bool, bool]:
    """(plural, first person singular) that the finite verb of a clause shows: by its own form, else by its subject's."""
    subject = parse.subject(predicate)
    if parse.relation(predicate) == "conj" and subject is None and parse.words[predicate].head >= 0:
        subject = parse.subject(parse.words[predicate].head)
    finite_word = parse.words[finite]
    first = (
        subject is not None
        and parse.words[subject].text == "I"
        and not any(parse.relation(n) == "conj" for n in parse.children(subject))
    )
    if finite_word.xpos in ("VBZ", "VBP"):
        return finite_word.xpos == "VBP", first
    if finite_word.text.lower() in ("was", "were"):
        return finite_word.text.lower() == "were", first
    if subject is not None and parse.tag(subject) in ("WDT", "WP", "WRB"):
        antecedent = parse.words[predicate].head
        return antecedent >= 0 and parse.is_plural(antecedent), False
    return subject is not None and parse.is_plural(subject), first


def clauses_that_inflect(parse: Parse) -> list[tuple[int, int]]:
    """Clauses with a subject of their own (or shared by coordination) whose finite word is read rightly: it stands in its own
    characters, is no clitic, and inflecting its lemma gives it."""
    found = []
    for predicate, finite in parse.clauses():
        word = parse.words[finite]
        auxiliary = word.upos == "AUX" or word.lemma.lower() in ("be", "have", "do")
        right = auxiliary or word.xpos == "MD" or _reads(word.lemma.lower(), word.xpos, word.text.lower(), parse.materials)
        subject = parse.subject(predicate)
        known = subject is not None or parse.relation(predicate) == "conj"
        if parse.has_own_span(finite) and word.text.lower() not in CLITICS and right and known:
            found.append((predicate, finite))
    return found


def _reads(lemma: str, tag: str, form: str, materials: Materials) -> bool:
    """Whether the lemma has this form under this tag."""
    return lemma == form if tag == "VBP" else materials.inflect(lemma, tag) == form


@perturbation("fluency", "grammar - tense", "major", 17)
def tense(parse: Parse) -> Outcome:
    """One finite verb in another tense: *were* -> *are*, *finds* -> *found*, *found* -> *will find*, *will find* -> *found*."""
    return parse.choose(
        clauses_that_inflect(parse), lambda pair: _other_tense(parse, *pair), "no finite verb with another tense"
    )


def _other_tense(parse: Parse, predicate: int, finite: int) -> list[Change] | None:
    word = parse.words[finite]
    lemma, low = word.lemma.lower(), word.text.lower()
    plural, first = _agreement(parse, predicate, finite)
    if low == "will" and finite + 1 == predicate and parse.tag(predicate) == "VB" and parse.stands_alone(predicate):
        main = parse.words[predicate]
        past = form_of_be("past", plural, first) if main.lemma == "be" else parse.inflect(main.lemma.lower(), "VBD")
        return [(word.start, main.end, in_case_of(past, word.text))] if past else None
    if word.xpos == "MD":
        return None
    new: str | None
    if lemma == "be":
        new = form_of_be("present" if word.xpos == "VBD" else "past", plural, first)
    elif word.xpos in ("VBZ", "VBP"):
        new = {"do": "did", "have": "had"}.get(lemma) or parse.inflect(lemma, "VBD")
    elif word.upos == "VERB" and finite == predicate and parse.stands_alone(finite) and parse.rng.random() < 0.3:
        new = f"will {lemma}"
    else:
        present = "VBP" if plural or first else "VBZ"
        new = {"do": DO[present], "have": "have" if present == "VBP" else "has"}.get(lemma) or (
            lemma if present == "VBP" else parse.inflect(lemma, "VBZ")
        )
    return parse.spelled(finite, new) if new and new != low else None


@perturbation("fluency", "grammar - aspect", "major", 18)
def aspect(parse: Parse) -> Outcome:
    """One verb in another aspect and the same tense: *finds* -> *is finding* or *has found*, *has found* -> *is finding*."""
    return parse.choose(
        clauses_that_inflect(parse), lambda pair: _other_aspect(parse, *pair), "no finite verb with another aspect"
    )


def _other_aspect(parse: Parse, predicate: int, finite: int) -> list[Change] | None:
    word = parse.words[finite]
    if word.xpos == "MD" or word.lemma.lower() == "do" and finite != predicate or not parse.stands_alone(finite):
        return None
    plural, first = _agreement(parse, predicate, finite)
    time = "past" if word.xpos == "VBD" else "present"
    be = form_of_be(time, plural, first)
    have = "had" if time == "past" else "have" if plural or first else "has"
    if finite == predicate or word.relation in ("cop", "aux:pass"):
        if _inverted(parse, predicate, finite):
            return None
        forms = [(be, parse.inflect(word.lemma.lower(), "VBG")), (have, parse.inflect(word.lemma.lower(), "VBN"))]
        drawn = parse.rng.choice([(helper, form) for helper, form in forms if form] or [("", "")])
        return parse.spelled(finite, " ".join(drawn)) if drawn[0] else None
    return _from_compound(parse, predicate, finite, be, have)


def _from_compound(parse: Parse, predicate: int, finite: int, be: str, have: str) -> list[Change] | None:
    """Perfect to progressive (*has found* -> *is finding*) and back; both verbs change where they stand."""
    word = parse.words[finite]
    following = [n for n in (*parse.children(predicate), predicate) if n > finite and parse.pos(n) in ("AUX", "VERB")]
    following = [n for n in following if n == predicate or parse.relates(n, "aux", "cop")]
    main = following[0] if following else predicate
    coordinated = any(parse.relation(n) == "conj" for n in parse.children(predicate))
    verb = parse.words[main]
    if not parse.stands_alone(main) or coordinated or _inverted(parse, predicate, finite):
        return None
    helper, tag = {("have", "VBN"): (be, "VBG"), ("be", "VBG"): (have, "VBN")}.get((word.lemma.lower(), verb.xpos), ("", ""))
    form = parse.inflect(verb.lemma.lower(), tag) if tag else None
    return [(word.start, word.end, in_case_of(helper, word.text)), (verb.start, verb.end, form)] if form else None


def _inverted(parse: Parse, predicate: int, finite: int) -> bool:
    """Whether the subject follows the finite verb."""
    subject = parse.subject(predicate)
    return subject is not None and subject > finite


@perturbation("fluency", "grammar - interrogative", "major", 19)
def interrogative(parse: Parse) -> Outcome:
    """A statement becomes a question: *This is the tenth time.* -> *Is this the tenth time?*"""
    pairs = [pair for pair in clauses_that_inflect(parse) if parse.relation(pair[0]) == "root"]
    reason = "no plain statement with its subject before the verb"
    return parse.choose(pairs, lambda pair: _asked(parse, *pair), reason)


def _asked(parse: Parse, predicate: int, finite: int) -> list[Change] | None:
    """The finite verb, or *do*, before the subject that opens the sentence, and a question mark for the full stop."""
    sentence = parse.sentences[parse.words[predicate].sentence]
    subject = parse.subject(predicate)
    last = [word for word in parse.words if word.sentence == parse.words[predicate].sentence][-1]
    marks = any(c in parse.text[sentence.start : sentence.end] for c in '"“”?:;')
    if subject is None or subject > finite or last.text != "." or marks:
        return None
    phrase = parse.subtree(subject)
    opens = parse.starts_sentence(parse.words[phrase[0]].start)
    moved = _moved(parse, predicate, finite) if is_contiguous(phrase) and phrase[-1] < finite and opens else None
    if moved is None:
        return None
    verb, gap = moved
    first = parse.words[phrase[0]]
    keeps = (
        first.xpos.startswith("NNP") or first.upos == "PROPN" or first.text == "I" or first.text[1:] != first.text[1:].lower()
    )
    lead = first.text if keeps else first.text[0].lower() + first.text[1:]
    return [(first.start, first.end, f"{verb.capitalize()} {lead}"), gap, (last.start, last.end, "?")]


def _moved(parse: Parse, predicate: int, finite: int) -> tuple[str, Change] | None:
    """The word that goes to the front, with *n't* if that is joined to it, and what happens where the finite verb stood."""
    word, text = parse.words[finite], parse.text
    if finite == predicate and word.lemma.lower() != "be":
        shared = any(
            parse.relation(n) == "conj" and parse.tag(n) in DO and parse.subject(n) is None for n in parse.children(predicate)
        )
        plain = word.xpos in DO and parse.stands_alone(finite) and not shared
        return (DO[word.xpos], (word.start, word.end, word.lemma.lower())) if plain else None
    end = word.end
    if finite + 1 < len(parse.words) and parse.words[finite + 1].text in ("n't", "n’t"):
        end = parse.words[finite + 1].end
    return (text[word.start : end], (word.start, end + 1, "")) if text[end : end + 1] == " " else None


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
    return parse.spelled(finite, f"{DO[word.xpos]} not {base_form}") if base_form else None


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
    if low == "never" and of_relation(word, "advmod") and parse.pos(word.head) in ("VERB", "ADJ", "NOUN", "AUX"):
        return parse.delete(word.start, word.end)
    if low in POSITIVE and (low != "without" or (word.relation == "case" and n + 1 < len(parse.words))):
        return parse.put(n, POSITIVE[low])
    if low == "no" and of_relation(word, "det") and word.head > n and parse.pos(word.head) == "NOUN":
        return parse.spelled(n, "some")
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
    form = main.lemma.lower() if before.xpos == "VBP" else parse.inflect(main.lemma.lower(), before.xpos)
    next_start = parse.words[n + 1].start
    return [(before.start, next_start, ""), (main.start, main.end, form), *rest] if form and before.xpos in DO else None


def _any_to_some(parse: Parse, n: int) -> list[Change]:
    """The changes of *any* and its kin under what was denied."""
    below = parse.subtree(parse.words[n].head)
    words = [parse.words[m] for m in below if m > n and parse.low(m) in SOME]
    return [(w.start, w.end, in_case_of(SOME[w.text.lower()], w.text)) for w in words]


LONGEST = 10
"""Words of an object that a passive form may begin with."""
NOT_PASSIVE = word_set("passive.not_passive")
NO_CLAUSE = "no active clause with a subject, a verb and an object side by side"


@perturbation("robustness", "passive form", "none")
def passive_form(parse: Parse) -> Outcome:
    """An active clause in the passive: *The firm released the album in May.* -> *The album was released by the firm in May.*"""
    verbs = [
        n
        for n, w in enumerate(parse.words)
        if w.upos == "VERB" and w.relation in ("root", "conj", "parataxis", "ccomp", "advcl")
    ]
    return parse.choose(verbs, lambda n: _passive(parse, n), NO_CLAUSE)


def _passive(parse: Parse, verb: int) -> list[Change] | None:
    """Object, verb and *by* with the subject, each in the place of what stood there."""
    subject, target = parse.child(verb, "nsubj"), parse.child(verb, "obj")
    word = parse.words[verb]
    if subject is None or target is None or word.lemma.lower() in NOT_PASSIVE or not _plain(parse, verb):
        return None
    first, last = parse.subtree(subject), parse.subtree(target)
    group = list(range(first[-1] + 1, last[0]))
    clean = (
        len(last) <= LONGEST and is_contiguous(first) and is_contiguous(last) and verb in group and first[-1] < verb < last[0]
    )
    if not clean or not _movable(parse, subject, first) or not _movable(parse, target, last):
        return None
    verbs = _passive_group(parse, verb, group, parse.is_plural(target), parse.words[target].text == "me")
    if verbs is None:
        return None
    start, end = parse.span(first)
    lead, agent = _noun_phrase(parse, last, SUBJECTIVE), _noun_phrase(parse, first, {**OBJECTIVE, "who": "whom"})
    opens = parse.starts_sentence(start)
    lead = lead[0].upper() + lead[1:] if opens else lead
    return [(start, end, lead), *verbs, (*parse.span(last), f"by {agent}")]


def _plain(parse: Parse, verb: int) -> bool:
    """Whether no second object, complement, coordinated verb or participle needs the subject to stay the subject."""
    words = parse.words
    for n in parse.children(verb):
        if of_relation(words[n], "iobj", "xcomp", "expl") or words[n].relation in ("aux:pass", "nsubj:pass", "compound:prt"):
            return False
        if words[n].relation == "conj" and words[n].upos == "VERB" and parse.child(n, "nsubj") is None:
            return False
        if of_relation(words[n], "ccomp", "advcl") and parse.child(n, "nsubj") is None and words[n].upos == "VERB":
            return False
    return True


def _movable(parse: Parse, head: int, phrase: list[int]) -> bool:
    """Whether a noun phrase can stand elsewhere: a noun, a name or a personal pronoun, no relative or reflexive one."""
    word = parse.words[head]
    low = word.text.lower()
    nominal = word.upos in ("NOUN", "PROPN") or (word.xpos == "PRP" and not low.endswith(("self", "selves")))
    start, end = parse.span(phrase)
    text, after = parse.text, phrase[-1] + 1
    goes_on = after < len(parse.words) and parse.in_title_case(after) and text[end : end + 1] == " "
    touched = parse.touching(start, end)
    reciprocal = low in ("each", "other", "another", "there", "part", "place")
    quoted = text[start:end].endswith(",") or any(c in '"“”‘' for c in text[start:end]) or text[start : start + 1] in ("'", "’")
    before = parse.words[phrase[0] - 1] if phrase[0] else None
    cut = before is not None and before.upos == "PROPN" and text[start - 1 : start] == " "
    return (
        nominal
        and not cut
        and not goes_on
        and not reciprocal
        and not quoted
        and not any(c.isalnum() or c in "-'’" for c in touched)
    )


def _noun_phrase(parse: Parse, phrase: list[int], cases: dict[str, str]) -> str:
    """The phrase as it stands elsewhere: pronouns in the other case, no capital unless the first word keeps it."""
    start, end = parse.span(phrase)
    text, first = parse.text[start:end], parse.words[phrase[0]]
    if len(phrase) == 1 and first.text.lower() in cases:
        return cases[first.text.lower()]
    keeps = (
        first.xpos.startswith("NNP") or first.text == "I" or first.text[1:] != first.text[1:].lower() or first.upos == "PROPN"
    )
    return text if keeps or not parse.starts_sentence(start) else text[0].lower() + text[1:]


def _passive_group(parse: Parse, verb: int, group: list[int], plural: bool, first_person: bool) -> list[Change] | None:
    """The changes that make a verb with its auxiliaries passive; adverbs and *not* stay where they are."""
    words = parse.words
    helpers = [n for n in group if words[n].upos == "AUX"]
    if (
        any(words[n].upos not in ("AUX", "ADV", "PART", "VERB") or not parse.has_own_span(n) for n in group)
        or group[-1] != verb
    ):
        return None
    word = words[verb]
    participle = parse.inflect(word.lemma.lower(), "VBN")
    if participle is None or not parse.stands_alone(verb) or any(words[n].text[0] in "'’" for n in helpers):
        return None
    if not helpers:
        if word.xpos not in ("VBD", "VBZ", "VBP"):
            return None
        be = form_of_be("past" if word.xpos == "VBD" else "present", plural, first_person)
        return [(word.start, word.end, f"{be} {participle}")]
    finite, last = words[helpers[0]], words[helpers[-1]]
    time = "past" if finite.xpos == "VBD" else "present"
    between = {"MD": "be ", "VB": "be ", "VBN": "been ", "VBG": "being "}.get(word.xpos, "")
    if len(helpers) > 1 or not between:
        return None
    changes: list[Change] = []
    lemma = last.lemma.lower()
    if lemma == "do":
        changes.append((finite.start, finite.end, form_of_be(time, plural, first_person)))
        between = ""
    elif lemma == "be":
        changes.append((finite.start, finite.end, form_of_be(time, plural, first_person)))
    elif lemma == "have" and time == "present":
        changes.append((finite.start, finite.end, "have" if plural or first_person else "has"))
    return [*changes, (word.start, word.end, f"{between}{participle}")]

"""Active clauses in the passive (RoMe 4.7, case 5)."""

from __future__ import annotations

from rome.data.perturbations.verb_forms import form_of_be

from .lexicons import word_set
from .perturbation import OBJECTIVE, SUBJECTIVE, Change, Outcome, Parse, is_contiguous, of_relation, perturbation

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
    touched = text[max(start - 1, 0) : start] + text[end : end + 1]
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
    participle = parse.materials.inflect(word.lemma.lower(), "VBN")
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

"""Roles exchanged: subject and object, two names, two nouns, cause and effect."""

from __future__ import annotations

import re
from itertools import combinations

from rome.data.perturbations.names import PLACES, Entity, entities
from rome.data.perturbations.verb_forms import NounPhrase, agreeing, moved, noun_phrase

from .lexicons import replacements, word_set
from .perturbation import OBJECTIVE, SUBJECTIVE, Change, Outcome, Parse, capitalised, is_contiguous, perturbation

PERSONAL = (frozenset(OBJECTIVE) | frozenset(SUBJECTIVE)) - {"it"}
SYMMETRIC = word_set("roles.symmetric")
MOTION = word_set("roles.motion")
DIRECTIONS = ("to", "from", "against", "over", "behind", "after")
PEOPLE = word_set("roles.people")


@perturbation("accuracy", "mistranslation - roles", "critical")
def roles_swapped(parse: Parse) -> Outcome:
    """Exchange subject and object, giver and receiver, or agent and patient: *The dog bit him* -> *He bit the dog*."""
    places = [place for entity in entities(parse) if entity.kind in (*PLACES, "date") for place in entity.words]
    pairs = [pair for clause in parse.clauses() for pair in _partners(parse, clause, frozenset(places))]
    return parse.choose(pairs, lambda pair: _exchanged(parse, *pair), "no two partners that can change roles")


def _partners(
    parse: Parse, clause: tuple[int, int], places: frozenset[int]
) -> list[tuple[tuple[int, int], NounPhrase, NounPhrase]]:
    """Return the subject of a clause with each phrase that can change roles with it."""
    verb = clause[0]
    subject = parse.child(verb, "nsubj")
    mutual = any(parse.low(n).endswith(("self", "selves", "other", "another")) for n in parse.children(verb))
    if parse.pos(verb) != "VERB" or subject is None or subject > verb or parse.lemma(verb) in SYMMETRIC | MOTION or mutual:
        return []
    first = noun_phrase(parse, subject)
    early = any(parse.relation(n) == "obj" for n in parse.children(verb) if n < verb)
    if first is None or first.words[-1] >= verb or early:
        return []
    later = [n for n in parse.children(verb) if n > verb and _is_partner(parse, n, parse.has(verb, "iobj"))]
    results = [(clause, first, second) for second in (noun_phrase(parse, n) for n in later) if second is not None]
    return [pair for pair in results if pair[2].words[0] > verb and _may_exchange(parse, *pair[1:], places)]


def _is_partner(parse: Parse, n: int, received: bool) -> bool:
    """Return whether a word under the verb is its object, its receiver, its agent, or its goal."""
    relation, passive = parse.relation(n), parse.has(parse.head(n), "nsubj:pass")
    if relation in ("obj", "iobj"):
        return relation == "iobj" or not received and not passive
    prepositions = [m for m in parse.children(n) if parse.relation(m) == "case"]
    if not relation.startswith("obl") or len(prepositions) != 1 or prepositions[0] > n:
        return False
    low = parse.low(prepositions[0])
    return low == "by" if passive else low in DIRECTIONS and parse.pos(n) != "PROPN"


def _is_person(parse: Parse, n: int) -> bool:
    """Return whether a word means somebody: a name, a personal pronoun, or a noun for people, animals or bodies that act."""
    name = parse.pos(n) == "PROPN" and not any(c.isdigit() for c in parse.form(n))
    return name or parse.low(n) in PEOPLE or parse.tag(n) == "PRP" and parse.low(n) in PERSONAL


def _may_exchange(parse: Parse, first: NounPhrase, second: NounPhrase, places: frozenset[int]) -> bool:
    """Return whether two phrases differ and each could have the role of the other."""
    heads, texts = [first.head, second.head], [parse.phrase(one.words).lower() for one in (first, second)]
    same_side = len({n in places for n in heads}) == 1
    other_cases = (OBJECTIVE.get(texts[1]), SUBJECTIVE.get(texts[1]))
    plain = sum(parse.low(n) in PERSONAL for n in heads) < 2 or texts[0] not in other_cases
    works = any(text.startswith(("a ", "an ")) and parse.pos(n) == "PROPN" for text, n in zip(texts, heads, strict=True))
    return all(_is_person(parse, n) for n in heads) and not works and same_side and plain and texts[0] != texts[1]


def _exchanged(parse: Parse, clause: tuple[int, int], first: NounPhrase, second: NounPhrase) -> list[Change] | None:
    """Return both phrases in each other's place, and the verb that agrees with the new subject."""
    plural = parse.is_plural(second.head) or parse.reads(second.head, "police people")
    verb = agreeing(parse, clause, plural, parse.reads(second.head, "i me"))
    lead = moved(parse, second, SUBJECTIVE, parse.starts_sentence(first.start))
    follower = moved(parse, first, OBJECTIVE)
    return None if verb is None else [(first.start, first.end, lead), *verb, (second.start, second.end, follower)]


@perturbation("accuracy", "mistranslation - named entity", "critical")
def names_exchanged(parse: Parse) -> Outcome:
    """Exchange two names of one kind: *Ann left Oslo for Rome* -> *Ann left Rome for Oslo*."""
    pairs = [pair for pair in combinations(entities(parse), 2) if _two_names(parse, *pair)]
    return parse.choose(pairs, lambda pair: _names(parse, *pair), "no two names that can change places")


def _two_names(parse: Parse, first: Entity, second: Entity) -> bool:
    """Return whether two entities are of one kind, differ, and are not named side by side."""
    both = (first, second)
    kind, other = ("place" if one.kind in PLACES else one.kind for one in both)
    words = [set(one.text.lower().split()) for one in both]
    alike = kind == other and first.modifier == second.modifier and not words[0] & words[1]
    alike = alike and parse.is_plural(first.head) == parse.is_plural(second.head)
    linked = _leader(parse, first.head) == _leader(parse, second.head) or _linked(parse, first.head, second.head)
    near = not re.search(r"\b(?!and\b)[a-z]{3}", parse.text[first.end : second.start])
    return alike and kind not in ("", "date") and not linked and not near


def _leader(parse: Parse, n: int) -> int:
    """Return the first part of the coordination or list of a word; the word itself outside of one."""
    for _ in range(len(parse.words)):
        if not parse.relates(n, "conj", "appos", "flat", "list", "parataxis") or parse.head(n) < 0:
            return n
        n = parse.head(n)
    return n


def _linked(parse: Parse, first: int, second: int) -> bool:
    """Return whether one word is the head of the other, or both are partners in something mutual."""
    shared = parse.head(first) == parse.head(second)
    mutual = shared and parse.lemma(parse.head(first)) in SYMMETRIC - word_set("roles.taking_part")
    return mutual or parse.head(first) == second or parse.head(second) == first


def _names(parse: Parse, first: Entity, second: Entity) -> list[Change]:
    """Return each name in the place of the other, with a capital where the sentence starts."""
    changes: list[Change] = []
    for old, new in ((first, second), (second, first)):
        text = capitalised(new.text) if parse.starts_sentence(old.start) else new.text
        changes += parse.replace(old.start, old.end, text)
    return changes


PLACED = ("nsubj", "obj", "iobj", "obl", "nmod")
"""Relations of nouns that can stand for each other's place."""


@perturbation("accuracy", "mistranslation - roles", "critical")
def phrases_exchanged(parse: Parse) -> Outcome:
    """Exchange two nouns or names with their compounds: *The rent of the flat rose in the winter.* -> *The flat of the rent rose in the winter.*"""
    heads = [n for n, word in enumerate(parse.words) if word.upos in ("NOUN", "PROPN") and parse.relates(n, *PLACED)]
    pairs = [pair for pair in combinations(heads, 2) if _apart(parse, *pair)]
    return parse.choose(pairs, lambda pair: _cores(parse, *pair), "no two nouns that can change places")


def _apart(parse: Parse, one: int, other: int) -> bool:
    """Return whether two nouns differ, agree in number, and are independent of each other."""
    symmetric = parse.head(one) == parse.head(other) and parse.lemma(parse.head(one)) in SYMMETRIC | {"be"}
    said = any(parse.has(n, "conj", "appos", "cop") for n in (one, other))
    agree = parse.lemma(one) != parse.lemma(other) and parse.is_plural(one) == parse.is_plural(other)
    return agree and not symmetric and not said


def _cores(parse: Parse, one: int, other: int) -> list[Change] | None:
    """Return each core in the place of the other."""
    cores = [parse.nominal_core(n) for n in (one, other)]
    if set(cores[0]) & set(cores[1]) or not all(parse.stands_alone(n) for core in cores for n in core):
        return None
    (a, b), (c, d) = (parse.span(core) for core in cores)
    if any(parse.starts_sentence(parse.words[core[0]].start) and parse.pos(core[0]) != "PROPN" for core in cores):
        return None
    return sorted([*parse.replace(a, b, parse.text[c:d]), *parse.replace(c, d, parse.text[a:b])])


CAUSING = replacements("roles.causing")
CAUSED = {"result": "from", "stem": "from", "arise": "from"}
MARKED = re.compile(r"[\"“”():;?…]")


@perturbation("accuracy", "mistranslation - cause", "critical")
def cause_and_effect_swapped(parse: Parse) -> Outcome:
    """Exchange cause and effect: *The flood caused a fire* -> *A fire caused the flood*; *X because Y* -> *Y because X*."""
    return parse.by_rules((_clauses_swapped, _nouns_swapped), "no cause with its effect")


def _clauses_swapped(parse: Parse, n: int) -> list[Change] | None:
    """Return the changes of *X because Y.* -> *Y because X.* and *X, so Y.* -> *Y, so X.*"""
    clause, main = parse.head(n), parse.head(parse.head(n))
    if clause <= n or main < 0 or not _joins(parse, n) or parse.subject(clause) is None or parse.subject(main) is None:
        return None
    reason = [m for m in parse.subtree(clause) if m > n]
    if not is_contiguous([n, *reason]):
        return None
    whole = [m for m in parse.subtree(main) if m not in reason and m != n]
    first = n
    while first - 1 in whole:
        first -= 1
    before = list(range(first, n))
    right = main in before and (parse.subject(main) or 0) in before
    return _both_clauses(parse, reason, before, n) if right else None


def _joins(parse: Parse, n: int) -> bool:
    """Return whether a word joins a reason or a consequence to a clause: *because*, or *so* after a comma before a subject."""
    clause = parse.head(n)
    if parse.low(n) == "because":
        return parse.relation(n) == "mark" and parse.relation(clause) == "advcl"
    after = n + 1 if n + 1 < len(parse.words) else n
    placed = parse.form(n - 1) == "," and parse.matches(after, pos="PRON DET NOUN PROPN") and parse.low(after) != "that"
    joined = parse.relates(clause, "conj", "parataxis", "advcl") and parse.relates(n, "cc", "advmod", "mark")
    return parse.low(n) == "so" and placed and joined


def _trimmed(parse: Parse, words: list[int]) -> list[int]:
    """Return words without the marks at their ends."""
    while words and parse.pos(words[-1]) == "PUNCT":
        words = words[:-1]
    while words and parse.matches(words[0], pos="PUNCT CCONJ"):
        words = words[1:]
    return words


def _movable(parse: Parse, words: list[int]) -> bool:
    """Return whether a clause is independent of the text before it: it starts with no *and*, *but*, *so* or *however*."""
    tied = not words or parse.matches(words[0], pos="CCONJ SCONJ INTJ AUX") or parse.low(words[0]) in word_set("roles.tying")
    return not tied


WEAK = "just only not simply partly mainly maybe perhaps probably mostly largely is was even precisely"


def _both_clauses(parse: Parse, reason: list[int], main: list[int], n: int) -> list[Change] | None:
    """Return the two clauses around *because* in each other's place."""
    reason, main = _trimmed(parse, reason), _trimmed(parse, main)
    if not _movable(parse, reason) or not _movable(parse, main) or parse.reads(n - 1, WEAK):
        return None
    if main[-1] < n - 1 and parse.form(main[-1] + 1) != ",":
        return None
    (start, end), (low, high) = parse.span(main), parse.span(reason)
    if MARKED.search(parse.text[start:high]) or parse.text[high : high + 1] not in (".", ",", "!", ";", ")", ""):
        return None
    lead, tail, earlier = parse.text[low:high], parse.text[start:end], main[0] - 1
    if parse.starts_sentence(start):
        return [
            (start, end, capitalised(lead)),
            (low, high, parse.lowered(main[0], tail, parse.words[main[0]].lemma[:1].isupper())),
        ]
    loose = earlier < 0 or parse.matches(earlier, pos="PUNCT CCONJ SCONJ") and not parse.reads(earlier, "both either")
    return [(start, end, lead), (low, high, tail)] if loose else None


def _noun(parse: Parse, n: int | None) -> NounPhrase | None:
    """Return a noun phrase that can be cause or effect; None for pronouns and numbers."""
    return noun_phrase(parse, n) if n is not None and parse.matches(n, pos="NOUN PROPN") else None


def _nouns_swapped(parse: Parse, n: int) -> list[Change] | None:
    """Exchange the nouns of *caused*, *was caused by*, *led to*, *resulted from*: *The flood caused a fire* -> *A fire caused the flood*."""
    lemma, passive = parse.lemma(n), parse.has(n, "nsubj:pass")
    clause = next((pair for pair in parse.clauses() if pair[0] == n), None)
    if parse.pos(n) != "VERB" or clause is None or lemma not in CAUSING and lemma not in CAUSED:
        return None
    if passive and (lemma in CAUSED or CAUSING[lemma]) or parse.has(n, "xcomp", "iobj"):
        return None
    prepositions = ("by" if passive else CAUSING.get(lemma, ""), CAUSED.get(lemma, ""))
    effect = next((m for m in parse.children(n) if m > n and _after(parse, m, *prepositions)), None)
    first, second = _noun(parse, parse.child(n, "nsubj")), _noun(parse, effect)
    if first is None or second is None or not second.words[0] > n > first.words[-1]:
        return None
    return _exchanged(parse, clause, first, second)


def _after(parse: Parse, n: int, *prepositions: str) -> bool:
    """Return whether a word is an object, or follows one of the prepositions."""
    case = parse.child(n, "case")
    if case is None:
        return parse.relation(n) == "obj" and prepositions[0] == ""
    return parse.relation(n).startswith("obl") and parse.low(case) in [one for one in prepositions if one]

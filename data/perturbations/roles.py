"""Roles exchanged: subject and object, two names, two nouns."""

from __future__ import annotations

import re
from itertools import combinations

from rome.data.perturbations.names import PLACES, Entity, entities
from rome.data.perturbations.verb_forms import NounPhrase, agreeing, moved, noun_phrase

from .lexicons import word_set
from .perturbation import OBJECTIVE, SUBJECTIVE, Change, Outcome, Parse, capitalised, perturbation

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

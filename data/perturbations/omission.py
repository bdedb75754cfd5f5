"""Omissions: of a modifier, a verb, a noun, a subject, a name, a phrase, a conjunction (DEMETR 5, 12, 20 to 24)."""

from __future__ import annotations

from rome.data.perturbations.names import entities

from .lexicons import word_set
from .perturbation import Outcome, Parse, base, is_contiguous, perturbation

KEPT_ADJECTIVES = frozenset("same own other such first last next many few much several more most".split())


@perturbation("mixed", "omission - adj/adv", "major", 20)
def omitted_adjective_or_adverb(parse: Parse) -> Outcome:
    """Leave out an adjective before its noun, or an adverb, that has no dependents."""
    words = [n for n in range(len(parse.words)) if parse.stands_alone(n) and _is_modifier(parse, n)]
    return parse.choose(words, lambda n: parse.without([n]), "no adjective or adverb that can be left out")


def _is_modifier(parse: Parse, n: int) -> bool:
    upos, lemma, head = parse.pos(n), parse.lemma(n), parse.head(n)
    if parse.children(n) or head < 0:
        return False
    if upos == "ADJ":
        plain = parse.tag(n) == "JJ" and lemma not in KEPT_ADJECTIVES and parse.relation(n) == "amod"
        listed = parse.form(n - 1) in (",", "and", "or") or parse.form(n + 1) in (",", "and", "or")
        return plain and not listed and n < head and parse.matches(head, pos="NOUN", tag="NN NNS")
    plain = upos == "ADV" and parse.tag(n) == "RB" and parse.relation(n) == "advmod"
    plain = plain and lemma not in word_set("omission.kept_adverbs")
    return plain and parse.matches(head, pos="VERB ADJ NOUN AUX") and not parse.some((n - 1, n + 1), low="as")


@perturbation("mixed", "omission - content verb", "critical", 21)
def omitted_content_verb(parse: Parse) -> Outcome:
    """Leave out a verb that is no auxiliary and no copula."""
    words = [n for n, word in enumerate(parse.words) if word.upos == "VERB" and word.xpos.startswith("VB")]
    words = [n for n in words if base(parse.relation(n)) in ("root", "conj", "ccomp", "advcl", "xcomp", "acl", "parataxis")]
    words = [n for n in words if parse.stands_alone(n) and not parse.matches(n, lemma="be have do")]
    return parse.choose(words, lambda n: parse.without([n]), "no content verb that can be left out")


@perturbation("mixed", "omission - noun", "critical", 22)
def omitted_noun(parse: Parse) -> Outcome:
    """Leave out a common noun that is neither a subject nor part of a name, with the compound nouns before it."""
    names = {n for entity in entities(parse) for n in entity.words}
    names.update(n for n, word in enumerate(parse.words) if word.upos == "PROPN")
    words = [n for n in range(len(parse.words)) if parse.matches(n, "obj obl nmod iobj conj", pos="NOUN", tag="NN NNS")]
    words = [n for n in words if parse.relation(n) not in ("nmod:poss", "obl:unmarked", "nmod:unmarked")]
    words = [n for n in words if parse.stands_alone(n) and not _governs_subject(parse, n)]
    words = [n for n in words if not names & {*parse.nominal_core(n)}]
    return parse.choose(words, lambda n: parse.without(parse.nominal_core(n)), "no noun, beside subjects and names")


def _governs_subject(parse: Parse, n: int) -> bool:
    """Return whether the noun is coordinated with a subject, or is itself the predicate of a clause."""
    of_subject = parse.relation(n) == "conj" and base(parse.relation(parse.head(n))) in ("nsubj", "root")
    return of_subject or parse.has(n, "nsubj", "cop")


@perturbation("mixed", "omission - subject", "critical", 23)
def omitted_subject(parse: Parse) -> Outcome:
    """Leave out the head of a subject, with its compound nouns or its name."""
    words = [n for n in range(len(parse.words)) if parse.matches(n, "nsubj", pos="NOUN PROPN PRON") and parse.stands_alone(n)]
    words = [n for n in words if not parse.matches(n, tag="WP WDT EX")]
    return parse.choose(words, lambda n: parse.without(_named(parse, n)), "no subject that can be left out")


def _named(parse: Parse, n: int) -> list[int]:
    """Return the words of the name that the word heads, else the noun with its compounds."""
    words = next((list(entity.words) for entity in entities(parse) if n in entity.words), parse.nominal_core(n))
    return words if is_contiguous(words) else parse.nominal_core(n)


@perturbation("mixed", "omission - named entity", "critical", 24)
def omitted_named_entity(parse: Parse) -> Outcome:
    """Leave out a named entity that is not a subject, modifier or possessor; a preposition before it stays."""
    relations = ("obl", "nmod", "obj", "iobj", "appos", "compound")
    results = [one for one in entities(parse) if one.kind != "date" and parse.relates(one.head, *relations)]
    words = [list(one.words) for one in results if parse.relation(one.head) != "nmod:poss"]
    return parse.choose(words, parse.without, "no named entity beside subjects and possessors")


PAIRED = frozenset("both either neither whether not".split())


@perturbation("accuracy", "completeness", "major", 5)
def omitted_prepositional_phrase(parse: Parse) -> Outcome:
    """Leave out the shortest prepositional phrase; of several as short, one drawn."""
    results = [(n, parse.subtree(n)) for n in range(len(parse.words)) if parse.relates(n, "obl", "nmod")]
    phrases = [phrase for n, phrase in results if _is_prepositional(parse, n, phrase)]
    return parse.choose(phrases, parse.without, "no prepositional phrase that can be left out", rank=len)


def _is_prepositional(parse: Parse, n: int, phrase: list[int]) -> bool:
    """Return whether a phrase starts with its preposition and no word around needs it: not *one of them*, not *from A* before *to B*."""
    first, before, after = phrase[0], phrase[0] - 1, phrase[-1] + 1
    led = parse.pos(first) == "ADP" and parse.head(first) == n and parse.relation(first) == "case"
    coordinated = any(parse.relation(m) == "conj" for m in parse.children(n))
    counted = parse.form(first) == "of" and parse.matches(before, pos="NUM DET PRON SYM ADJ")
    ranged = parse.reads(first, "from between") and parse.form(after) in ("to", "until", "through")
    closed = parse.matches(before, pos="ADP DET") or parse.reads(first, "as than") or parse.tag(after) == "POS"
    return led and is_contiguous(phrase) and not (coordinated or counted or ranged or closed)


@perturbation("fluency", "cohesion", "minor", 12)
def omitted_conjunction(parse: Parse) -> Outcome:
    """Leave out a conjunction or a connective adverb: *formed since a comet collided* -> *formed a comet collided*."""
    words = [n for n in range(len(parse.words)) if parse.stands_alone(n) and _is_conjunction(parse, n)]
    return parse.choose(words, lambda n: parse.without([n]), "no conjunction that can be left out", rank=parse.opens)


def _is_conjunction(parse: Parse, n: int) -> bool:
    low, relation = parse.low(n), parse.relation(n)
    earlier = {other.text.lower() for other in parse.words[:n] if other.sentence == parse.words[n].sentence}
    joins = relation in ("cc", "mark") or relation == "advmod" and parse.tag(n) == "WRB"
    joins = joins and low in word_set("omission.conjunctions") and parse.matches(n, pos="CCONJ SCONJ ADV")
    connects = low in word_set("omission.connectives") and parse.matches(n, pos="ADV CCONJ")
    alone = not parse.children(n) and not parse.reads(n + 1, "to not if then of")
    return (joins or connects) and alone and not (PAIRED & earlier and relation == "cc")

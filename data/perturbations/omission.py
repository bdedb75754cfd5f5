"""Something left out: a modifier, a verb, a noun, a subject, a name, a phrase, a conjunction (DEMETR 5, 12, 20 to 24)."""

from __future__ import annotations

from rome.data.perturbations.names import entities

from .lexicons import word_set
from .perturbation import NotApplicable, Outcome, Parse, Perturbed, base, is_contiguous, of_relation, perturbation

KEPT_ADVERBS = word_set("omission.kept_adverbs")
KEPT_ADJECTIVES = frozenset("same own other such first last next many few much several more most".split())
LIGHT_VERBS = frozenset("be have do".split())


@perturbation("mixed", "omission - adj/adv", "major", 20)
def omitted_adjective_or_adverb(parse: Parse) -> Outcome:
    """An adjective before its noun, or an adverb, is gone with nothing hanging under it."""
    words = [n for n in range(len(parse.words)) if parse.stands_alone(n) and _is_modifier(parse, n)]
    return parse.choose(words, lambda n: parse.without([n]), "no adjective or adverb that can be left out")


def _is_modifier(parse: Parse, n: int) -> bool:
    word = parse.words[n]
    if parse.children(n) or word.head < 0:
        return False
    head = parse.words[word.head]
    near = parse.words[max(n - 1, 0) : n] + parse.words[n + 1 : n + 2]
    if any(other.text in (",", "and", "or") and other.text != "" for other in near) and word.upos == "ADJ":
        return False
    if word.upos == "ADJ":
        plain = word.xpos == "JJ" and word.lemma.lower() not in KEPT_ADJECTIVES
        return plain and word.relation == "amod" and n < word.head and head.upos == "NOUN" and head.xpos in ("NN", "NNS")
    plain = word.upos == "ADV" and word.xpos == "RB" and word.relation == "advmod" and word.lemma.lower() not in KEPT_ADVERBS
    return plain and head.upos in ("VERB", "ADJ", "NOUN", "AUX") and "as" not in {other.text.lower() for other in near}


@perturbation("mixed", "omission - content verb", "critical", 21)
def omitted_content_verb(parse: Parse) -> Outcome:
    """A verb that is no auxiliary and no copula is gone."""
    words = [
        n
        for n, word in enumerate(parse.words)
        if word.upos == "VERB"
        and parse.stands_alone(n)
        and word.lemma.lower() not in LIGHT_VERBS
        and base(word.relation) in ("root", "conj", "ccomp", "advcl", "xcomp", "acl", "parataxis")
        and word.xpos.startswith("VB")
    ]
    return parse.choose(words, lambda n: parse.without([n]), "no content verb that can be left out")


@perturbation("mixed", "omission - noun", "critical", 22)
def omitted_noun(parse: Parse) -> Outcome:
    """A common noun that is no subject and no part of a name is gone, with the compound nouns before it."""
    named = {n for entity in entities(parse) for n in entity.words}
    words = [
        n
        for n, word in enumerate(parse.words)
        if word.upos == "NOUN"
        and word.xpos in ("NN", "NNS")
        and base(word.relation) in ("obj", "obl", "nmod", "iobj", "conj")
        and word.relation not in ("nmod:poss", "obl:unmarked", "nmod:unmarked")
        and not _governs_subject(parse, n)
        and parse.stands_alone(n)
        and not named & set(parse.nominal_core(n))
        and not any(parse.pos(m) == "PROPN" for m in parse.nominal_core(n))
    ]
    return parse.choose(words, lambda n: parse.without(parse.nominal_core(n)), "no noun, beside subjects and names")


def _governs_subject(parse: Parse, n: int) -> bool:
    """Whether the noun is coordinated with a subject, or is itself the predicate of a clause."""
    word = parse.words[n]
    of_subject = word.relation == "conj" and word.head >= 0 and base(parse.relation(word.head)) in ("nsubj", "root")
    return of_subject or parse.child(n, "nsubj", "cop") is not None


@perturbation("mixed", "omission - subject", "critical", 23)
def omitted_subject(parse: Parse) -> Outcome:
    """The head of a subject is gone, with the compound nouns or the name that it heads."""
    words = [
        n
        for n, word in enumerate(parse.words)
        if base(word.relation) == "nsubj"
        and word.upos in ("NOUN", "PROPN", "PRON")
        and word.xpos not in ("WP", "WDT", "EX")
        and parse.stands_alone(n)
    ]
    return parse.choose(words, lambda n: parse.without(_named(parse, n)), "no subject that can be left out")


def _named(parse: Parse, n: int) -> list[int]:
    """The words of the name that the word heads, else the noun with its compounds."""
    words = next((list(entity.words) for entity in entities(parse) if n in entity.words), parse.nominal_core(n))
    return words if is_contiguous(words) else parse.nominal_core(n)


@perturbation("mixed", "omission - named entity", "critical", 24)
def omitted_named_entity(parse: Parse) -> Outcome:
    """A named entity that is no subject, no modifier and no possessor is gone; a preposition before it stays."""
    words = [
        list(entity.words)
        for entity in entities(parse)
        if base(parse.relation(entity.head)) in ("obl", "nmod", "obj", "iobj", "appos", "compound")
        and parse.relation(entity.head) != "nmod:poss"
        and entity.kind != "date"
    ]
    return parse.choose(words, lambda run: parse.without(run), "no named entity beside subjects and possessors")


CONNECTIVES = word_set("omission.connectives")
CONJUNCTIONS = word_set("omission.conjunctions")
PAIRED = frozenset("both either neither whether not".split())
REASON_PHRASE = "no prepositional phrase that can be left out"


@perturbation("accuracy", "completeness", "major", 5)
def omitted_prepositional_phrase(parse: Parse) -> Outcome:
    """The shortest prepositional phrase is gone; of several as short, one drawn."""
    phrases = []
    for n, word in enumerate(parse.words):
        below = parse.subtree(n)
        first = parse.words[below[0]]
        if (
            of_relation(word, "obl", "nmod")
            and first.upos == "ADP"
            and first.head == n
            and first.relation == "case"
            and is_contiguous(below)
            and not any(parse.relation(m) == "conj" for m in parse.children(n))
            and not _bound(parse, below)
        ):
            phrases.append(below)
    while phrases:
        shortest = min(len(phrase) for phrase in phrases)
        result = parse.choose([p for p in phrases if len(p) == shortest], lambda p: parse.without(p), REASON_PHRASE)
        if isinstance(result, Perturbed):
            return result
        phrases = [phrase for phrase in phrases if len(phrase) > shortest]
    return NotApplicable(REASON_PHRASE)


def _bound(parse: Parse, phrase: list[int]) -> bool:
    """Whether the words around the phrase need it: *one of them*, *from A* before *to B*, a possessive after it."""
    before = parse.words[phrase[0] - 1] if phrase[0] else None
    after = parse.words[phrase[-1] + 1] if phrase[-1] + 1 < len(parse.words) else None
    counted = before is not None and before.upos in ("NUM", "DET", "PRON", "SYM", "ADJ") and parse.words[phrase[0]].text == "of"
    ranged = parse.low(phrase[0]) in ("from", "between") and after is not None and after.text in ("to", "until", "through")
    closed = before is not None and before.upos in ("ADP", "DET")
    closed = closed or parse.low(phrase[0]) in ("as", "than")
    return counted or ranged or closed or (after is not None and after.xpos == "POS")


@perturbation("fluency", "cohesion", "minor", 12)
def omitted_conjunction(parse: Parse) -> Outcome:
    """A conjunction or a connective adverb is gone: *formed since a comet collided* -> *formed a comet collided*."""
    reason = "no conjunction that can be left out"
    found = [n for n in range(len(parse.words)) if parse.stands_alone(n) and _is_conjunction(parse, n)]
    inside = [n for n in found if parse.words[n].start > parse.sentences[parse.words[n].sentence].start]
    for group in (inside, [n for n in found if n not in inside]):
        result = parse.choose(group, lambda n: parse.without([n]), reason)
        if isinstance(result, Perturbed):
            return result
    return result


def _is_conjunction(parse: Parse, n: int) -> bool:
    word = parse.words[n]
    earlier = {other.text.lower() for other in parse.words[:n] if other.sentence == word.sentence}
    joins = (
        word.upos in ("CCONJ", "SCONJ", "ADV")
        and word.relation in ("cc", "mark", "advmod")
        and word.text.lower() in CONJUNCTIONS
    )
    joins = joins and (word.relation != "advmod" or word.xpos == "WRB")
    connects = word.text.lower() in CONNECTIVES and word.upos in ("ADV", "CCONJ")
    after = parse.low(n + 1)
    alone = not parse.children(n) and after not in ("to", "not", "if", "then", "of")
    return (joins or connects) and alone and not (PAIRED & earlier and word.relation == "cc")

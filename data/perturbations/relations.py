"""Relations reversed: of place, time, order and amount, between persons, and how often something happens."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from .lexicons import table, word_set
from .perturbation import Change, Outcome, Parse, is_contiguous, perturbation
from .words import CLAUSES, form_of

Phrase = tuple[int, int, tuple[str, ...]]
"""First and last word of a phrase that a lexicon has, and what it may become."""

TIMES = word_set("opposites.times")
NOT_ORDERED = TIMES | {"few", "couple", "two", "three", "several"}
PLACES = frozenset("table bed bridge tree roof ground water door river sea city desk sofa tunnel surface head mountain".split())
STAYS_WITH = frozenset("birth way up rise place support attention notice chance access off in".split())


def phrases_in(parse: Parse, lexicon: Mapping[str, Sequence[str]]) -> list[Phrase]:
    """Return the phrases of a lexicon (``phrase/condition`` -> others) in a text, none of them inside a longer one."""
    words, results = parse.words, []
    index = _indexed(tuple(lexicon))
    covered = -1
    for n, word in enumerate(words):
        if n <= covered or not parse.stands_alone(n):
            continue
        for parts, condition in index.get(word.text.lower(), ()):
            last = n + len(parts) - 1
            same = [w.text.lower() for w in words[n : last + 1]] == list(parts)
            if not same or words[last].sentence != word.sentence or any(parse.in_title_case(m) for m in range(n, last + 1)):
                continue
            covered = max(covered, last if len(parts) > 1 else covered)
            if CONDITIONS[condition](parse, n, last) and parse.stands_alone(last):
                results.append((n, last, tuple(lexicon[f"{' '.join(parts)}/{condition}"])))
    return results


@cache
def _indexed(keys: tuple[str, ...]) -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Return phrases and their conditions under their first words, the longest first."""
    results: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for key in keys:
        phrase, _, condition = key.partition("/")
        parts = tuple(phrase.lower().split())
        results.setdefault(parts[0], []).append((parts, condition))
    return {first: sorted(rows, key=lambda row: -len(row[0])) for first, rows in results.items()}


def _head(parse: Parse, n: int) -> int:
    """Return the head of a word, or the word itself at the root."""
    return parse.words[n].head if parse.words[n].head >= 0 else n


def _is_motion(parse: Parse, first: int, last: int) -> bool:
    if not parse.relates(first, "case", "advmod") or first == last and parse.has(first, "fixed"):
        return False
    moved = _head(parse, first) if parse.relates(first, "advmod") else _head(parse, _head(parse, first))
    return parse.lemma(moved) in word_set("opposites.motion") and parse.pos(moved) == "VERB"


def _under_noun(parse: Parse, first: int, last: int) -> bool:
    inner = _head(parse, first)
    if parse.relation(first) != "case" or parse.relation(inner) != "nmod" or last + 1 >= len(parse.words):
        return False
    owner = _head(parse, inner)
    attached = parse.lemma(owner) in word_set("opposites.attached") or parse.matches(last + 1, pos="ADP SCONJ")
    return parse.pos(owner) == "NOUN" and not attached


def _is_time(parse: Parse, first: int, last: int) -> bool:
    inner = parse.words[_head(parse, first)]
    timed = re.fullmatch(r"1[0-9]{3}|20[0-4]\d", inner.text) is not None or inner.lemma in TIMES or inner.text in TIMES
    return timed and parse.relation(first) == "case" and not parse.some(range(first, first + 8), low="to until till through")


def _is_rate(parse: Parse, first: int, last: int) -> bool:
    paid = re.search(r"[$€£]\s?[\d.,]+\w* $", parse.text[: parse.words[first].start]) is not None
    return parse.reads(first - 1, "once twice times hours days minutes") or paid and parse.matches(first - 1, pos="NOUN SYM")


def _is_never(parse: Parse, first: int, last: int) -> bool:
    verb = _head(parse, first)
    right = parse.matches(last + 1, pos="VERB AUX ADJ") and parse.tag(last + 1) != "VB" or parse.tag(verb) == "VB"
    return right and parse.matches(verb, pos="VERB ADJ NOUN") and parse.relation(first) == "advmod"


CONDITIONS: dict[str, Callable[[Parse, int, int], bool]] = {
    "any": lambda parse, first, last: True,
    "case": lambda parse, first, last: parse.relates(first, "case", "mark") and first < parse.head(first),
    "motion": _is_motion,
    "number": lambda parse, first, last: (
        parse.pos(last + 1) == "NUM" or parse.reads(last + 1, "$ € £") and last + 2 < len(parse.words)
    ),
    "article": lambda parse, first, last: parse.reads(last + 1, "a an one"),
    "before adjective": lambda parse, first, last: (
        parse.relation(first) == "advmod" and parse.head(first) == last + 1 and parse.matches(last + 1, pos="ADJ ADV")
    ),
    "before noun": lambda parse, first, last: (
        parse.relation(first) == "amod" and parse.head(first) > last and parse.tag(parse.head(first)) == "NNS"
    ),
    "noun": _under_noun,
    "vote": lambda parse, first, last: (
        parse.relation(first) == "case" and parse.lemma(_head(parse, _head(parse, first))) in word_set("opposites.voting")
    ),
    "time": _is_time,
    "place": lambda parse, first, last: parse.relation(first) == "case" and parse.lemma(_head(parse, first)) in PLACES,
    "order": lambda parse, first, last: (
        parse.pos(last) == "ADJ" and parse.lemma(last + 1) not in NOT_ORDERED and parse.head(last) > last
    ),
    "adjective": lambda parse, first, last: parse.pos(last) == "ADJ",
    "adverb": lambda parse, first, last: (
        parse.matches(first, "advmod", pos="ADV") and parse.pos(last + 1) not in ("SCONJ", "ADV")
    ),
    "rate": _is_rate,
    "never": _is_never,
    "before verb": lambda parse, first, last: parse.head(last) == last + 1 and parse.pos(last + 1) == "VERB",
}
"""Name of a condition -> whether a phrase from the first to the last word meets it."""


@perturbation("accuracy", "mistranslation - relation", "critical")
def relation_reversed(parse: Parse) -> Outcome:
    """Reverse a relation of place, time, order or amount: *before* -> *after*, *from A to B* -> *from B to A*."""
    ways: list[Phrase | list[Change]] = [*phrases_in(parse, table("relations")), *_journeys(parse)]

    def make(way: Phrase | list[Change]) -> list[Change] | None:
        return way if isinstance(way, list) else exchange_phrase(parse, way)

    return parse.choose(ways, make, "no relation that can be reversed")


def exchange_phrase(parse: Parse, phrase: Phrase) -> list[Change]:
    """Return the change of a phrase to one of its alternatives, in its case."""
    first, last, others = phrase
    return parse.put(first, parse.rng.choice(list(others)), last)


def _journeys(parse: Parse) -> list[list[Change]]:
    """Return the exchange of both sides of every *from ... to ...*."""
    results = []
    for n in range(len(parse.words)):
        origin = parse.head(n)
        if parse.low(n) == "from" and parse.relation(n) == "case" and origin > n:
            cases = [m for m in range(n + 1, n + 16) if parse.low(m) == "to" and parse.relation(m) == "case"]
            near = [m for m in cases if parse.head(m) > m]
            to = next((m for m in near if parse.head(parse.head(m)) in (origin, parse.head(origin))), n)
            left = [i for i in parse.subtree(origin) if n < i < to]
            right = [i for i in parse.subtree(parse.head(to)) if i > to]
            whole = left == list(range(n + 1, to)) and right and right[0] == to + 1 and is_contiguous(right)
            texts = [parse.phrase(left), parse.phrase(right)] if left and whole else ["", ""]
            marked = any(text[:1].isupper() or text[:1].isdigit() for text in texts)
            if texts[0].lower() != texts[1].lower() and len(left) + len(right) > 2 - marked:
                results.append([(*parse.span(left), texts[1]), (*parse.span(right), texts[0])])
    return results


@perturbation("accuracy", "mistranslation - converse", "critical")
def converse_verb(parse: Parse) -> Outcome:
    """Replace a verb or a noun of relation by its converse: *bought it from her* -> *sold it to her*, *father of* -> *son of*."""
    known = [n for n, word in enumerate(parse.words) if f"{word.lemma.lower()}/{word.upos}" in table("converses")]
    words = [n for n in known if parse.stands_alone(n) and not parse.in_title_case(n) and not parse.tag(n).startswith("NNP")]
    words = [n for n in words if not parse.has(n, "compound:prt", "fixed")]
    return parse.choose(words, lambda n: _converse(parse, n), "no verb or noun with a known converse")


def _converse(parse: Parse, n: int) -> list[Change] | None:
    """Return the change of one word to a converse, with the preposition of its dependent."""
    cells, verb = table("converses")[f"{parse.lemma(n)}/{parse.pos(n)}"], parse.pos(n) == "VERB"
    links = dict(cell.split(">") for cell in cells if ">" in cell)
    option = parse.rng.choice([cell for cell in cells if ">" not in cell])
    turns = _verb_turns(parse, n, option) if verb else option in ("lose", "loser", "winner") or _is_related(parse, n)
    if not turns and parse.pos(n) in ("VERB", "NOUN"):
        return None
    form = form_of(parse.materials, option, parse.tag(n))
    if not form or form.lower() in [word.text.lower() for word in parse.words] or form.lower() in ("fathers", "mothers"):
        return None
    changes = parse.put(n, form)
    for m in parse.children(n) if verb else ():
        case = parse.child(m, "case")
        if case is not None and n < case < m and parse.relation(m) != "advcl" and parse.stands_alone(case):
            mark = parse.words[case]
            if mark.text in links:
                return sorted([*changes, (mark.start, mark.end, links[mark.text])])
    return changes


def _is_related(parse: Parse, n: int) -> bool:
    """Return whether a noun has an owner and is no part of a compound: *his father*, *the son of the king*."""
    owners = [m for m in parse.children(n) if parse.relates(m, "nmod")]
    owned = any(parse.tag(m) == "PRP$" or parse.relation(m) == "nmod:poss" for m in owners)
    of = any(parse.form(k) == "of" for m in owners for k in parse.children(m))
    parts = [m for m in parse.children(n) if parse.relation(m) == "compound"]
    return (owned or of) and not parse.relates(n, "compound") and not parts


def _verb_turns(parse: Parse, n: int, option: str) -> bool:
    """Return whether the clause of a verb stays grammatical under its converse."""
    lemma, objects = parse.lemma(n), [m for m in parse.children(n) if parse.relation(m) == "obj"]
    passive = parse.tag(n) == "VBN" and (parse.has(n, "nsubj:pass", "aux:pass") or parse.relates(n, "acl", "amod"))
    if parse.has(n, "iobj", *CLAUSES) or any(parse.lemma(m) in STAYS_WITH for m in objects) or len(objects) > 1:
        return False
    if lemma in ("teach", "ask", "lead") and (objects or passive) or passive and " " in option:
        return False
    if " " in option or option in ("flee", "receive"):
        return bool(objects) and not passive
    if option in ("immigrate", "emigrate", "depart", "arrive"):
        return not objects and not passive
    return bool(objects) or passive and lemma not in word_set("opposites.not_turned") - {"follow", "precede"}


@perturbation("accuracy", "mistranslation - frequency", "critical")
def frequency_changed(parse: Parse) -> Outcome:
    """Change how often something happens: *twice* -> *once*, *always* -> *never*, *daily* -> *monthly*."""
    phrases = phrases_in(parse, table("frequencies"))
    return parse.choose(phrases, lambda phrase: exchange_phrase(parse, phrase), "no expression of frequency")

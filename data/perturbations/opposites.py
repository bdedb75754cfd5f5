"""Words and relations turned round: opposites, converses, words of the same kind, how often something happens."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from .lexical import BASE_TAGS, open_words
from .lexicons import replacements, table, word_set
from .perturbation import Change, Materials, Outcome, Parse, is_contiguous, perturbation

Phrase = tuple[int, int, tuple[str, ...]]
"""First and last word of a phrase that a lexicon has, and what it may become."""

COMPARATIVES, SUPERLATIVES = ("JJR", "RBR"), ("JJS", "RBS")
PHRASAL = replacements("opposites.phrasal")
"""Verbs with their particle, and the verb, with or without one, that turns them round."""
INTRANSITIVE = word_set("opposites.intransitive")
"""Verbs that take no object."""
OBJECT_VERBS = word_set("opposites.object_verbs")
"""Verbs that do not stand without an object."""
WITH_CLAUSE = word_set("opposites.with_clause")
"""Verbs that take a clause or an infinitive, on both sides of a pair."""
UNTURNED = word_set("opposites.unturned")
LINKED = ("as", "so", "at", "each")
PERSONS = word_set("opposites.persons")
MOTION = word_set("opposites.motion")
VOTING = word_set("opposites.voting")
ATTACHED = word_set("opposites.attached")
"""Nouns whose *with* does not become *without*."""
TIMES = word_set("opposites.times")
NOT_ORDERED = TIMES | {"few", "couple", "two", "three", "several"}
PLACES = frozenset("table bed bridge tree roof ground water door river sea city desk sofa tunnel surface head mountain".split())
STAYS_WITH = frozenset("birth way up rise place support attention notice chance access off in".split())
CLAUSES = ("xcomp", "ccomp")
NO_CHANGE = "no word with a known opposite that can stand in its place"


def turned_form(materials: Materials, lemma: str, tag: str) -> str | None:
    """The lemma in the form that a Penn tag names, its first word inflected; *more* or *most* where a degree has no ending."""
    first, _, rest = lemma.partition(" ")
    if tag in BASE_TAGS:
        return lemma
    if tag in COMPARATIVES + SUPERLATIVES:
        short = len(re.findall("[aeiouy]+", first.removesuffix("e"))) < 2 or first.endswith(("y", "ow", "le", "er"))
        ended = materials.inflect(first, tag) if short and not first.endswith("ly") else None
        return ended or f"{'more' if tag in COMPARATIVES else 'most'} {lemma}"
    form = materials.inflect(first, tag)
    return f"{form} {rest}".strip() if form else None


@perturbation("accuracy", "mistranslation - opposite", "critical")
def opposite_word(parse: Parse) -> Outcome:
    """An adjective, adverb, verb or noun becomes its opposite: *rejected* -> *approved*, *went up* -> *went down*."""
    words: list[tuple[int, bool]] = [(n, False) for n in open_words(parse) if _may_turn(parse, n)]
    words += [(n, True) for n, word in enumerate(parse.words) if word.upos == "VERB" and parse.stands_alone(n)]

    def make(pair: tuple[int, bool]) -> list[Change] | None:
        n, phrasal = pair
        return _phrasal(parse, n) if phrasal else _opposite(parse, n)

    return parse.choose(words, make, NO_CHANGE)


def _opposite(parse: Parse, n: int) -> list[Change] | None:
    """One word in the form of the old one becomes an opposite that can stand where it stands."""
    upos, rows, tag = parse.pos(n), table("opposites"), parse.tag(n)
    direct = f"{parse.low(n)}/{upos}"
    if upos in ("ADJ", "ADV") and direct in rows:
        options, tag = [*rows[direct]], "JJ"
    elif upos == "ADJ" and tag not in COMPARATIVES + SUPERLATIVES:
        return None
    else:
        options = [*rows.get(f"{parse.lemma(n)}/{upos}", ())]
    parse.rng.shuffle(options)
    for option in options:
        form = turned_form(parse.materials, option, tag) if _fits(parse, n, option) else None
        if form and not _holds(parse, form):
            return _put(parse, n, form, option)
    return None


def _put(parse: Parse, n: int, form: str, option: str) -> list[Change]:
    """The form in the word's place; *more expensive* becomes *cheaper*, and *the more old*, *the older*."""
    if parse.reads(n - 1, "more most") and parse.head(n - 1) == n and parse.matches(n, pos="ADJ ADV"):
        tags = COMPARATIVES if parse.low(n - 1) == "more" else SUPERLATIVES
        return parse.put(n - 1, turned_form(parse.materials, option, tags[parse.pos(n) == "ADV"]) or form, n)
    return parse.put(n, form)


def _phrasal(parse: Parse, n: int) -> list[Change] | None:
    """A verb with its particle, together or apart, becomes the one that turns it round."""
    particle = parse.child(n, "compound:prt")
    if particle is None or particle < n or not parse.stands_alone(particle) or parse.tag(n) not in (*BASE_TAGS, *VERB_TAGS):
        return None
    mark = parse.words[particle]
    verb, _, rest = PHRASAL.get(f"{parse.lemma(n)} {parse.low(particle)}", "").partition(" ")
    form = turned_form(parse.materials, verb, parse.tag(n)) if verb else None
    if not form or parse.has(n, *CLAUSES):
        return None
    return [*parse.spelled(n, form), (mark.start if rest else mark.start - 1, mark.end, rest)]


VERB_TAGS = ("VBZ", "VBD", "VBN", "VBG")


def _may_turn(parse: Parse, n: int) -> bool:
    """Whether an opposite can stand here: no measure (*two years old*), no *as soon as possible*, no bare *in fact*."""
    upos, modifies = parse.pos(n), parse.matches(n, pos="ADJ ADV")
    if {f"{parse.lemma(n)}/{upos}", f"{parse.low(n)}/{upos}"} & UNTURNED:
        return False
    if modifies and parse.pos(n - 1) == "NOUN" and parse.head(n - 1) == n:
        return False
    if upos == "ADJ" and parse.reads(n, "last first next past final") and (n + 1 < len(parse.words)):
        if parse.words[n + 1].lemma in (*TIMES, "few", "couple"):
            return False
    if modifies and parse.low(n - 1) in LINKED:
        return parse.low(n - 1) == "so" and upos == "ADJ"
    if upos == "NOUN" and parse.tag(n) == "NN":
        return [parse.relation(m) for m in parse.children(n)] != ["case"]
    return not (upos == "VERB" and parse.relation(n) == "xcomp" and parse.tag(n) == "VBN")


def _fits(parse: Parse, n: int, option: str) -> bool:
    """Whether what hangs on a verb or adjective fits its opposite: objects, clauses, persons for *young*."""
    upos, head = parse.pos(n), parse.head(n)
    if upos == "ADJ" and {parse.low(n), option} & {"old", "older", "oldest"} and head >= 0:
        person = parse.lemma(head) in PERSONS or parse.matches(head, pos="PROPN PRON")
        return parse.relation(n) == "amod" and option != "new" if person else option not in ("young", "younger")
    if upos == "ADV":
        return parse.relates(n, "advmod") and parse.low(n + 1) not in LINKED
    return upos != "VERB" or _verb_fits(parse, n, option)


def _verb_fits(parse: Parse, n: int, option: str) -> bool:
    """Whether a verb's object, passive or clause goes with its opposite."""
    if parse.has(n, *CLAUSES):
        return parse.lemma(n) in WITH_CLAUSE and option in WITH_CLAUSE
    below = [parse.relation(m) for m in parse.children(n)]
    passive = parse.tag(n) == "VBN" and ({"nsubj:pass", "aux:pass"} & {*below} or parse.relates(n, "acl"))
    if "iobj" in below:
        return option in ("refuse", "deny", "offer")
    return option not in INTRANSITIVE and " " not in option if passive or "obj" in below else option not in OBJECT_VERBS


def _holds(parse: Parse, form: str) -> bool:
    """Whether the text has the new word already, as *men and women* has both."""
    return form.lower() in {word.text.lower() for word in parse.words}


def phrases_in(parse: Parse, lexicon: Mapping[str, Sequence[str]]) -> list[Phrase]:
    """The phrases of a lexicon (``phrase/condition`` -> others) that a text has, none of them inside a longer one."""
    words, found = parse.words, []
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
                found.append((n, last, tuple(lexicon[f"{' '.join(parts)}/{condition}"])))
    return found


@cache
def _indexed(keys: tuple[str, ...]) -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Phrases and their conditions under their first words, the longest first."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for key in keys:
        phrase, _, condition = key.partition("/")
        parts = tuple(phrase.lower().split())
        found.setdefault(parts[0], []).append((parts, condition))
    return {first: sorted(rows, key=lambda row: -len(row[0])) for first, rows in found.items()}


def _head(parse: Parse, n: int) -> int:
    """The head of a word, or the word itself at the root."""
    return parse.words[n].head if parse.words[n].head >= 0 else n


def _is_motion(parse: Parse, first: int, last: int) -> bool:
    if not parse.relates(first, "case", "advmod") or first == last and parse.has(first, "fixed"):
        return False
    moved = _head(parse, first) if parse.relates(first, "advmod") else _head(parse, _head(parse, first))
    return parse.lemma(moved) in MOTION and parse.pos(moved) == "VERB"


def _under_noun(parse: Parse, first: int, last: int) -> bool:
    inner = _head(parse, first)
    if parse.relation(first) != "case" or parse.relation(inner) != "nmod" or last + 1 >= len(parse.words):
        return False
    owner = _head(parse, inner)
    return parse.pos(owner) == "NOUN" and parse.lemma(owner) not in ATTACHED and not parse.matches(last + 1, pos="ADP SCONJ")


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
        parse.relation(first) == "case" and parse.lemma(_head(parse, _head(parse, first))) in VOTING
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
"""When a phrase of a lexicon may change: (analysis, first word, last word) -> whether it may."""


@perturbation("accuracy", "mistranslation - relation", "critical")
def relation_reversed(parse: Parse) -> Outcome:
    """A relation of place, time, order or amount is turned round: *before* -> *after*, *from A to B* -> *from B to A*."""
    ways: list[Phrase | list[Change]] = [*phrases_in(parse, table("relations")), *_journeys(parse)]

    def make(way: Phrase | list[Change]) -> list[Change] | None:
        return way if isinstance(way, list) else exchange_phrase(parse, way)

    return parse.choose(ways, make, "no relation that can be turned round")


def exchange_phrase(parse: Parse, phrase: Phrase) -> list[Change]:
    """One phrase becomes one of its others, in its case."""
    first, last, others = phrase
    return parse.put(first, parse.rng.choice(list(others)), last)


def _journeys(parse: Parse) -> list[list[Change]]:
    """The two sides of every *from ... to ...* exchanged."""
    found = []
    for n in range(len(parse.words)):
        origin = parse.head(n)
        if parse.low(n) == "from" and parse.relation(n) == "case" and origin > n:
            near = [
                m for m in range(n + 1, n + 16) if parse.low(m) == "to" and parse.relation(m) == "case" and parse.head(m) > m
            ]
            to = next((m for m in near if parse.head(parse.head(m)) in (origin, parse.head(origin))), n)
            left = [i for i in parse.subtree(origin) if n < i < to]
            right = [i for i in parse.subtree(parse.head(to)) if i > to]
            whole = left == list(range(n + 1, to)) and right and right[0] == to + 1 and is_contiguous(right)
            texts = [parse.phrase(left), parse.phrase(right)] if left and whole else ["", ""]
            marked = any(text[:1].isupper() or text[:1].isdigit() for text in texts)
            if texts[0].lower() != texts[1].lower() and len(left) + len(right) > 2 - marked:
                found.append([(*parse.span(left), texts[1]), (*parse.span(right), texts[0])])
    return found


@perturbation("accuracy", "mistranslation - converse", "critical")
def converse_verb(parse: Parse) -> Outcome:
    """A verb or a noun of relation becomes its converse: *bought it from her* -> *sold it to her*, *father of* -> *son of*."""
    known = [n for n, word in enumerate(parse.words) if f"{word.lemma.lower()}/{word.upos}" in table("converses")]
    words = [n for n in known if parse.stands_alone(n) and not parse.in_title_case(n) and not parse.tag(n).startswith("NNP")]
    words = [n for n in words if not parse.has(n, "compound:prt", "fixed")]
    return parse.choose(words, lambda n: _converse(parse, n), "no verb or noun with a known converse")


def _converse(parse: Parse, n: int) -> list[Change] | None:
    """One word exchanged for a converse, with the preposition of what hangs on it."""
    cells, verb = table("converses")[f"{parse.lemma(n)}/{parse.pos(n)}"], parse.pos(n) == "VERB"
    links = dict(cell.split(">") for cell in cells if ">" in cell)
    option = parse.rng.choice([cell for cell in cells if ">" not in cell])
    turns = _verb_turns(parse, n, option) if verb else option in ("lose", "loser", "winner") or _is_related(parse, n)
    if not turns and parse.pos(n) in ("VERB", "NOUN"):
        return None
    form = turned_form(parse.materials, option, parse.tag(n))
    if not form or _holds(parse, form) or form.lower() in ("fathers", "mothers"):
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
    """Whether a noun says whose it is: *his father*, *the son of the king*; and is no part of a compound."""
    owners = [m for m in parse.children(n) if parse.relates(m, "nmod")]
    owned = any(parse.tag(m) == "PRP$" or parse.relation(m) == "nmod:poss" for m in owners)
    of = any(parse.form(k) == "of" for m in owners for k in parse.children(m))
    parts = [m for m in parse.children(n) if parse.relation(m) == "compound"]
    return (owned or of) and not parse.relates(n, "compound") and not parts


def _verb_turns(parse: Parse, n: int, option: str) -> bool:
    """Whether the clause of a verb stays grammatical under its converse."""
    lemma, below = parse.lemma(n), [parse.relation(m) for m in parse.children(n)]
    objects = [m for m in parse.children(n) if parse.relation(m) == "obj"]
    participle = parse.tag(n) == "VBN"
    passive = participle and ({"nsubj:pass", "aux:pass"} & {*below} != set() or parse.relates(n, "acl", "amod"))
    if {"iobj", *CLAUSES} & {*below} or any(parse.lemma(m) in STAYS_WITH for m in objects) or len(objects) > 1:
        return False
    cases = [parse.form(k) for m in parse.children(n) for k in parse.children(m) if parse.relation(k) == "case"]
    if participle and " " in option or lemma == "lead" and "to" in cases:
        return False
    if lemma in ("teach", "ask") and (objects or passive) or lemma == "learn" and not objects:
        return False
    if " " in option or option in ("flee", "receive", "immigrate", "emigrate", "depart", "arrive"):
        return not passive and bool(objects) != (option in ("immigrate", "emigrate", "depart", "arrive"))
    if lemma in word_set("opposites.not_turned"):
        return passive and lemma in ("follow", "precede") or bool(objects)
    return bool(objects) or passive


@perturbation("accuracy", "mistranslation - related word", "critical")
def related_replaced(parse: Parse) -> Outcome:
    """A word becomes another of its kind: *brother* -> *sister*, *dog* -> *cat*, *French* -> *German*."""

    def make(n: int) -> list[Change] | None:
        options = [*_relatives()[_related_key(parse, n)]]
        parse.rng.shuffle(options)
        tag = parse.tag(n).replace("NNP", "NN") if parse.pos(n) in ("NOUN", "PROPN") else parse.tag(n)
        for option in options:
            bare = tag in ("NN", "JJ", "JJR") or option[:1].isupper() and parse.pos(n) == "ADJ"
            form = option if bare else turned_form(parse.materials, option, tag)
            if form and not _holds(parse, form) and (parse.pos(n) != "VERB" or _verb_fits(parse, n, option)):
                return parse.put(n, form)
        return None

    words = [n for n in range(len(parse.words)) if _is_replaceable(parse, n)]
    return parse.choose(words, make, "no word with others of its kind")


@cache
def _relatives() -> dict[str, tuple[str, ...]]:
    """``word/CLASS`` -> all others of its groups."""
    found: dict[str, tuple[str, ...]] = {}
    for name, group in table("related").items():
        for word in group:
            key = f"{word}/{name.partition(' ')[0]}"
            found[key] = tuple(dict.fromkeys((*found.get(key, ()), *(other for other in group if other != word))))
    return found


def _related_key(parse: Parse, n: int) -> str:
    """The key of a word in the groups: its lemma, or its letters where it is a capitalised word such as *French*."""
    word = parse.words[n]
    if word.text[:1].isupper():
        single = word.text.removesuffix("s") if word.xpos in ("NNPS", "NNS") else word.text
        capital = f"{single}/{'NOUN' if word.upos == 'PROPN' else word.upos}"
        if capital in _relatives():
            return capital
    return f"{word.lemma.lower()}/{word.upos}"


def _is_replaceable(parse: Parse, n: int) -> bool:
    """Whether a word has others of its kind, stands alone and is no part of a name or fixed expression."""
    word, key, below = parse.words[n], _related_key(parse, n), parse.children(n)
    if key not in _relatives() or not word.text.isalpha() or not parse.stands_alone(n):
        return False
    if parse.relates(n, "fixed", "flat", "aux", "cop", "case") or parse.has(n, "fixed", "compound:prt", "flat"):
        return False
    if key[0].islower() and (parse.in_title_case(n) or word.xpos.startswith("NNP")):
        return False
    near = [m for m in (n - 1, n + 1) if parse.tag(m).startswith("NNP") and parse.words[m].sentence == word.sentence]
    if key[0].isupper() and near:
        return False
    bare = word.upos == "NOUN" and word.xpos == "NN" and word.text.islower() and len(below) == 1
    return not (bare and parse.reads(below[0], "at by on of"))


@perturbation("accuracy", "mistranslation - frequency", "critical")
def frequency_changed(parse: Parse) -> Outcome:
    """How often something happens becomes another frequency: *twice* -> *once*, *always* -> *never*, *daily* -> *monthly*."""
    phrases = phrases_in(parse, table("frequencies"))
    return parse.choose(phrases, lambda phrase: exchange_phrase(parse, phrase), "nothing that says how often")

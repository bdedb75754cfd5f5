"""Words and relations turned round: opposites, converses, words of the same kind, how often something happens."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from rome.features.values import Word

from .lexical import BASE_TAGS, open_words
from .lexicons import replacements, table, word_set
from .perturbation import Change, Materials, Outcome, Parse, in_case_of, is_contiguous, of_relation, perturbation

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
    word, rows = parse.words[n], table("opposites")
    direct = f"{word.text.lower()}/{word.upos}"
    tag = word.xpos
    if word.upos in ("ADJ", "ADV") and direct in rows:
        options, tag = [*rows[direct]], "JJ"
    elif word.upos == "ADJ" and tag not in COMPARATIVES + SUPERLATIVES:
        return None
    else:
        options = [*rows.get(f"{word.lemma.lower()}/{word.upos}", ())]
    parse.rng.shuffle(options)
    for option in options:
        form = turned_form(parse.materials, option, tag) if _fits(parse, n, option) else None
        if form and not _holds(parse, form):
            return _put(parse, n, form, option)
    return None


def _put(parse: Parse, n: int, form: str, option: str) -> list[Change]:
    """The form in the word's place; *more expensive* becomes *cheaper*, and *the more old*, *the older*."""
    word = parse.words[n]
    before = parse.word(n - 1)
    if before is not None and before.text.lower() in ("more", "most") and before.head == n and word.upos in ("ADJ", "ADV"):
        tags = {"more": ("JJR", "RBR"), "most": ("JJS", "RBS")}[before.text.lower()]
        degree = turned_form(parse.materials, option, tags[word.upos == "ADV"]) or form
        return parse.replace(before.start, word.end, in_case_of(degree, before.text))
    return parse.put(n, form)


def _phrasal(parse: Parse, n: int) -> list[Change] | None:
    """A verb with its particle, together or apart, becomes the one that turns it round."""
    particle = parse.child(n, "compound:prt")
    word = parse.words[n]
    if particle is None or particle < n or not parse.stands_alone(particle) or word.xpos not in (*BASE_TAGS, *VERB_TAGS):
        return None
    mark = parse.words[particle]
    new = PHRASAL.get(f"{word.lemma.lower()} {mark.text.lower()}")
    form = turned_form(parse.materials, new.partition(" ")[0], word.xpos) if new else None
    if not new or not form or any(parse.relates(m, *CLAUSES) for m in parse.children(n)):
        return None
    rest = new.partition(" ")[2]
    start = mark.start if rest else mark.start - 1
    return [(word.start, word.end, in_case_of(form, word.text)), (start, mark.end, rest)]


VERB_TAGS = ("VBZ", "VBD", "VBN", "VBG")


def _may_turn(parse: Parse, n: int) -> bool:
    """Whether an opposite can stand here: no measure (*two years old*), no *as soon as possible*, no bare *in fact*."""
    word = parse.words[n]
    before = parse.word(n - 1)
    if f"{word.lemma.lower()}/{word.upos}" in UNTURNED or f"{word.text.lower()}/{word.upos}" in UNTURNED:
        return False
    if before is not None and before.upos == "NOUN" and word.upos in ("ADJ", "ADV") and before.head == n:
        return False
    after = parse.words[n + 1].lemma if n + 1 < len(parse.words) else ""
    if (
        word.upos == "ADJ"
        and word.text.lower() in ("last", "first", "next", "past", "final")
        and after in (*TIMES, "few", "couple")
    ):
        return False
    if before is not None and before.text.lower() in LINKED and word.upos in ("ADJ", "ADV"):
        return before.text.lower() == "so" and word.upos == "ADJ"
    if word.upos == "NOUN" and word.xpos == "NN":
        below = parse.children(n)
        return not (any(parse.relation(m) == "case" for m in below) and len(below) == 1)
    if word.upos == "VERB" and word.relation == "xcomp" and word.xpos == "VBN":
        return False
    return True


def _fits(parse: Parse, n: int, option: str) -> bool:
    """Whether what hangs on a verb or adjective fits its opposite: objects, clauses, persons for *young*."""
    word = parse.words[n]
    if word.upos == "VERB":
        return _verb_fits(parse, n, option)
    if word.upos == "ADJ" and {word.text.lower(), option} & {"old", "older", "oldest"} and word.head >= 0:
        person = parse.lemma(word.head) in PERSONS or parse.pos(word.head) in ("PROPN", "PRON")
        return (option != "new" if person else option not in ("young", "younger")) and (word.relation == "amod" or not person)
    if word.upos == "ADV":
        return of_relation(word, "advmod") and not (n + 1 < len(parse.words) and parse.low(n + 1) in LINKED)
    return True


def _verb_fits(parse: Parse, n: int, option: str) -> bool:
    """Whether a verb's object, passive or clause goes with its opposite."""
    word = parse.words[n]
    below = [parse.words[m] for m in parse.children(n)]
    if any(of_relation(b, *CLAUSES) for b in below):
        return word.lemma.lower() in WITH_CLAUSE and option in WITH_CLAUSE
    passive = word.xpos == "VBN" and (any(b.relation in ("nsubj:pass", "aux:pass") for b in below) or of_relation(word, "acl"))
    if any(b.relation == "iobj" for b in below):
        return option in ("refuse", "deny", "offer")
    if passive or any(b.relation == "obj" for b in below):
        return option not in INTRANSITIVE and " " not in option
    return option not in OBJECT_VERBS


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


def _is_case(parse: Parse, first: int, last: int) -> bool:
    word = parse.words[first]
    return of_relation(word, "case", "mark") and first < word.head


def _is_motion(parse: Parse, first: int, last: int) -> bool:
    word = parse.words[first]
    if not of_relation(word, "case", "advmod") or parse.child(first, "fixed") is not None and first == last:
        return False
    moved = _head(parse, first) if of_relation(word, "advmod") else _head(parse, _head(parse, first))
    return parse.lemma(moved) in MOTION and parse.pos(moved) == "VERB"


def _before_number(parse: Parse, first: int, last: int) -> bool:
    following = parse.words[last + 1 : last + 3]
    return bool(following) and (following[0].upos == "NUM" or following[0].text in "$€£" and len(following) > 1)


def _before_adjective(parse: Parse, first: int, last: int) -> bool:
    word = parse.words[first]
    return word.head == last + 1 and parse.pos(last + 1) in ("ADJ", "ADV") and word.relation == "advmod"


def _before_noun(parse: Parse, first: int, last: int) -> bool:
    word = parse.words[first]
    return word.head > last and parse.tag(word.head) == "NNS" and word.relation == "amod"


def _under_noun(parse: Parse, first: int, last: int) -> bool:
    word = parse.words[first]
    if word.relation != "case":
        return False
    owner = _head(parse, _head(parse, first))
    inner = parse.words[_head(parse, first)]
    followed = parse.pos(last + 1) in ("ADP", "SCONJ") if last + 1 < len(parse.words) else True
    return not followed and inner.relation == "nmod" and parse.lemma(owner) not in ATTACHED and parse.pos(owner) == "NOUN"


def _is_vote(parse: Parse, first: int, last: int) -> bool:
    word = parse.words[first]
    return word.relation == "case" and parse.words[_head(parse, _head(parse, first))].lemma.lower() in VOTING


def _is_time(parse: Parse, first: int, last: int) -> bool:
    word = parse.words[first]
    inner = parse.words[_head(parse, first)]
    span_to = any(parse.low(m) in ("to", "until", "till", "through") for m in range(first, min(first + 8, len(parse.words))))
    year = re.fullmatch(r"1[0-9]{3}|20[0-4]\d", inner.text) is not None
    return word.relation == "case" and not span_to and (year or inner.lemma in TIMES or inner.text in TIMES)


def _at_place(parse: Parse, first: int, last: int) -> bool:
    word = parse.words[first]
    return word.relation == "case" and parse.lemma(_head(parse, first)) in PLACES


def _before_ordered(parse: Parse, first: int, last: int) -> bool:
    word = parse.words[last]
    following = parse.lemma(last + 1)
    return word.upos == "ADJ" and following not in (*TIMES, "few", "couple", "two", "three", "several") and word.head > last


def _is_adverb(parse: Parse, first: int, last: int) -> bool:
    word = parse.words[first]
    following = parse.word(last + 1)
    return word.relation == "advmod" and word.upos == "ADV" and (following is None or following.upos not in ("SCONJ", "ADV"))


def _is_rate(parse: Parse, first: int, last: int) -> bool:
    before = parse.low(first - 1)
    return before in ("once", "twice", "times", "hours", "days", "minutes") or (
        first > 0
        and parse.pos(first - 1) in ("NOUN", "SYM")
        and re.search(r"[$€£]\s?[\d.,]+\w* $", parse.text[: parse.words[first].start]) is not None
    )


def _is_never(parse: Parse, first: int, last: int) -> bool:
    word = parse.words[first]
    verb = parse.words[_head(parse, first)]
    following = parse.word(last + 1)
    right = following is not None and following.upos in ("VERB", "AUX", "ADJ") and following.xpos != "VB"
    return verb.upos in ("VERB", "ADJ", "NOUN") and word.relation == "advmod" and (right or verb.xpos == "VB")


CONDITIONS: dict[str, Callable[[Parse, int, int], bool]] = {
    "any": lambda parse, first, last: True,
    "case": _is_case,
    "motion": _is_motion,
    "number": _before_number,
    "article": lambda parse, first, last: parse.low(last + 1) in ("a", "an", "one") if last + 1 < len(parse.words) else False,
    "before adjective": _before_adjective,
    "before noun": _before_noun,
    "noun": _under_noun,
    "vote": _is_vote,
    "time": _is_time,
    "place": _at_place,
    "order": _before_ordered,
    "adjective": lambda parse, first, last: parse.pos(last) == "ADJ",
    "adverb": _is_adverb,
    "rate": _is_rate,
    "never": _is_never,
    "before verb": lambda parse, first, last: parse.words[last].head == last + 1 and parse.pos(last + 1) == "VERB",
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
    start, end = parse.words[first].start, parse.words[last].end
    return parse.replace(start, end, in_case_of(parse.rng.choice(list(others)), parse.words[first].text))


def _journeys(parse: Parse) -> list[list[Change]]:
    """The two sides of every *from ... to ...* exchanged."""
    found = []
    words = parse.words
    for n, word in enumerate(words):
        origin = word.head
        if word.text.lower() != "from" or word.relation != "case" or origin < n:
            continue
        for m in range(n + 1, min(n + 16, len(words))):
            aim = words[m].head
            if (
                words[m].text.lower() == "to"
                and words[m].relation == "case"
                and aim > m
                and words[aim].head in (origin, words[origin].head)
            ):
                left = [i for i in parse.subtree(origin) if n < i < m]
                right = [i for i in parse.subtree(aim) if i > m]
                texts = [parse.phrase(side) if is_contiguous(side) else "" for side in (left, right)]
                joined = bool(left) and left[-1] == m - 1 and left[0] == n + 1
                if (
                    joined
                    and all(texts)
                    and texts[0].lower() != texts[1].lower()
                    and right[0] == m + 1
                    and len(left) + len(right) > 2 - any(t[0].isupper() or t[0].isdigit() for t in texts)
                ):
                    found.append([(*parse.span(left), texts[1]), (*parse.span(right), texts[0])])
                break
    return found


@perturbation("accuracy", "mistranslation - converse", "critical")
def converse_verb(parse: Parse) -> Outcome:
    """A verb or a noun of relation becomes its converse: *bought it from her* -> *sold it to her*, *father of* -> *son of*."""
    words = [
        n
        for n, word in enumerate(parse.words)
        if f"{word.lemma.lower()}/{word.upos}" in table("converses")
        and parse.stands_alone(n)
        and not parse.in_title_case(n)
        and not word.xpos.startswith("NNP")
        and parse.child(n, "compound:prt", "fixed") is None
    ]

    def make(n: int) -> list[Change] | None:
        return _converse(parse, n)

    return parse.choose(words, make, "no verb or noun with a known converse")


def _converse(parse: Parse, n: int) -> list[Change] | None:
    """One word exchanged for a converse, with the preposition of what hangs on it."""
    word = parse.words[n]
    cells = table("converses")[f"{word.lemma.lower()}/{word.upos}"]
    links = dict(cell.split(">") for cell in cells if ">" in cell)
    options = [cell for cell in cells if ">" not in cell]
    option = parse.rng.choice(options)
    if word.upos == "NOUN" and not (_is_related(parse, n) or option in ("lose", "loser", "winner")):
        return None
    if word.upos == "VERB" and not _verb_turns(parse, n, option):
        return None
    form = turned_form(parse.materials, option, word.xpos)
    if not form or _holds(parse, form) or form.lower() in ("fathers", "mothers"):
        return None
    changes = parse.put(n, form)
    for m in parse.children(n) if word.upos == "VERB" else ():
        case = parse.child(m, "case")
        if case is not None and n < case < m and parse.relation(m) != "advcl" and parse.stands_alone(case):
            mark = parse.words[case]
            if mark.text in links:
                return sorted([*changes, (mark.start, mark.end, links[mark.text])])
    return changes


def _is_related(parse: Parse, n: int) -> bool:
    """Whether a noun says whose it is: *his father*, *the son of the king*; and is no part of a compound."""
    below = [parse.words[m] for m in parse.children(n)]
    owned = any(of_relation(b, "nmod") and (b.xpos == "PRP$" or b.relation == "nmod:poss") for b in below)
    of = any(
        parse.relates(m, "nmod") and any(parse.words[k].text == "of" for k in parse.children(m)) for m in parse.children(n)
    )
    return (owned or of) and not parse.relates(n, "compound") and not any(b.relation == "compound" for b in below)


def _verb_turns(parse: Parse, n: int, option: str) -> bool:
    """Whether the clause of a verb stays grammatical under its converse."""
    word = parse.words[n]
    lemma = word.lemma.lower()
    below = [parse.words[m] for m in parse.children(n)]
    objects = [b for b in below if b.relation == "obj"]
    passive = word.xpos == "VBN" and (
        any(b.relation in ("nsubj:pass", "aux:pass") for b in below) or of_relation(word, "acl", "amod")
    )
    if any(b.relation in ("iobj", *CLAUSES) for b in below) or any(b.lemma.lower() in STAYS_WITH for b in objects):
        return False
    if (
        len(objects) > 1
        or word.xpos == "VBN"
        and " " in option
        or lemma == "lead"
        and any(w.text == "to" for w in _cases(parse, n))
    ):
        return False
    if lemma in ("teach", "ask") and (objects or passive) or lemma == "learn" and not objects:
        return False
    if " " in option or option in ("flee", "receive", "immigrate", "emigrate", "depart", "arrive"):
        intransitive = option in ("immigrate", "emigrate", "depart", "arrive")
        return not passive and (not objects if intransitive else bool(objects))
    if lemma in word_set("opposites.not_turned"):
        return passive and lemma in ("follow", "precede") or bool(objects)
    return bool(objects) or passive


def _cases(parse: Parse, n: int) -> list[Word]:
    """The prepositions of what hangs on a word."""
    return [parse.words[k] for m in parse.children(n) for k in parse.children(m) if parse.relation(k) == "case"]


@perturbation("accuracy", "mistranslation - related word", "critical")
def related_replaced(parse: Parse) -> Outcome:
    """A word becomes another of its kind: *brother* -> *sister*, *dog* -> *cat*, *French* -> *German*."""
    words = [n for n, word in enumerate(parse.words) if _is_replaceable(parse, n)]

    def make(n: int) -> list[Change] | None:
        word = parse.words[n]
        options = [*_relatives()[_related_key(parse, n)]]
        parse.rng.shuffle(options)
        for option in options:
            capital = option[:1].isupper()
            tag = word.xpos.replace("NNP", "NN") if word.upos in ("NOUN", "PROPN") else word.xpos
            form = (
                option
                if tag in ("NN", "JJ", "JJR") or capital and word.upos == "ADJ"
                else turned_form(parse.materials, option, tag)
            )
            if form and not _holds(parse, form) and (word.upos != "VERB" or _verb_fits(parse, n, option)):
                return parse.put(n, form)
        return None

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
    word = parse.words[n]
    key = _related_key(parse, n)
    if (
        key not in _relatives()
        or not word.text.isalpha()
        or not parse.stands_alone(n)
        or of_relation(word, "fixed", "flat", "aux", "cop", "case")
    ):
        return False
    if parse.child(n, "fixed", "compound:prt", "flat") is not None:
        return False
    if key[0].islower() and (parse.in_title_case(n) or word.xpos.startswith("NNP")):
        return False
    near = [m for m in (n - 1, n + 1) if 0 <= m < len(parse.words) and parse.words[m].sentence == word.sentence]
    if key[0].isupper() and any(parse.tag(m).startswith("NNP") for m in near):
        return False
    if word.upos == "NOUN" and word.xpos == "NN":
        below = parse.children(n)
        return not (word.text.islower() and len(below) == 1 and parse.low(below[0]) in ("at", "by", "on", "of"))
    return True


@perturbation("accuracy", "mistranslation - frequency", "critical")
def frequency_changed(parse: Parse) -> Outcome:
    """How often something happens becomes another frequency: *twice* -> *once*, *always* -> *never*, *daily* -> *monthly*."""
    phrases = phrases_in(parse, table("frequencies"))
    return parse.choose(phrases, lambda phrase: exchange_phrase(parse, phrase), "nothing that says how often")

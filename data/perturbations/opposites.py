"""Words and relations turned round: opposites, converses, words of the same kind, how often something happens."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from rome.features.values import Analysis, Word

from .lexical import BASE_TAGS, open_words
from .lists import replacements, table, word_set
from .surgery import Change, choose, in_case_of, replacement
from .tree import child_of, children, in_title_case, is_contiguous, of_relation, span, stands_alone, subtree
from .values import Materials, NotApplicable, Perturbation, Perturbed

Phrase = tuple[int, int, tuple[str, ...]]
"""First and last word of a phrase that a lexicon has, and what it may become."""

COMPARATIVES, SUPERLATIVES = ("JJR", "RBR"), ("JJS", "RBS")
PHRASAL = replacements("opposites.phrasal")
"""Verbs with their particle, and the verb, with or without one, that turns them round."""
INTRANSITIVE = frozenset(
    "fall rise die depart arrive disappear vanish appear emerge cease plummet soar plunge perish struggle decline deteriorate "
    "disagree agree diverge converge abstain go sleep weep cry cool_down fail tumble skyrocket dwindle wither stagnate retreat "
    "recover surrender persist remain stay compete object rejoice subside thrive prosper prevail work rest depreciate rot ripen "
    "retire live graduate emigrate immigrate swim".replace("_", " ").split()
)
"""Verbs that take no object."""
OBJECT_VERBS = frozenset(
    "hinder violate discourage forbid prohibit prevent oppose disprove refute condemn harm include exclude deny withhold abandon "
    "dismiss abolish demolish destroy construct ignore avoid conceal hide reveal attack endanger neglect weaken impose lift uphold "
    "overturn expel imprison free capture disappoint please satisfy frustrate annoy anger delight insult praise reject keep retain "
    "hate love dislike despise admire save waste spend lack possess suspend reinstate approve appoint hire fire raise lower add "
    "remove miss catch emphasize downplay underestimate overestimate strengthen reinforce boost curb kill murder rescue injure "
    "lose_to encourage dissuade persuade deter threaten protect defend resist tolerate mourn celebrate welcome greet pardon punish "
    "reward accuse exonerate convict acquit cancel hold publish suppress deploy prosecute free release arrest detain".replace(
        "_", " "
    ).split()
)
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


def opposite_word(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """An adjective, adverb, verb or noun becomes its opposite: *rejected* -> *approved*, *went up* -> *went down*."""
    words: list[tuple[int, bool]] = [(n, False) for n in open_words(analysis) if _may_turn(analysis, n)]
    words += [(n, True) for n, word in enumerate(analysis.words) if word.upos == "VERB" and stands_alone(analysis, n)]

    def make(pair: tuple[int, bool]) -> list[Change] | None:
        n, phrasal = pair
        return _phrasal(analysis, n, materials) if phrasal else _opposite(analysis, n, rng, materials)

    return choose(analysis, rng, words, make, NO_CHANGE)


def _opposite(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """One word in the form of the old one becomes an opposite that can stand where it stands."""
    word, rows = analysis.words[n], table("opposites")
    direct = f"{word.text.lower()}/{word.upos}"
    tag = word.xpos
    if word.upos in ("ADJ", "ADV") and direct in rows:
        options, tag = [*rows[direct]], "JJ"
    elif word.upos == "ADJ" and tag not in COMPARATIVES + SUPERLATIVES:
        return None
    else:
        options = [*rows.get(f"{word.lemma.lower()}/{word.upos}", ())]
    rng.shuffle(options)
    for option in options:
        form = turned_form(materials, option, tag) if _fits(analysis, n, option) else None
        if form and not _holds(analysis, form):
            return _put(analysis, n, form, option, materials)
    return None


def _put(analysis: Analysis, n: int, form: str, option: str, materials: Materials) -> list[Change]:
    """The form in the word's place; *more expensive* becomes *cheaper*, and *the more old*, *the older*."""
    word = analysis.words[n]
    before = analysis.words[n - 1] if n else None
    if before is not None and before.text.lower() in ("more", "most") and before.head == n and word.upos in ("ADJ", "ADV"):
        tags = {"more": ("JJR", "RBR"), "most": ("JJS", "RBS")}[before.text.lower()]
        degree = turned_form(materials, option, tags[word.upos == "ADV"]) or form
        return replacement(analysis, before.start, word.end, in_case_of(degree, before.text))
    return replacement(analysis, word.start, word.end, in_case_of(form, word.text))


def _phrasal(analysis: Analysis, n: int, materials: Materials) -> list[Change] | None:
    """A verb with its particle, together or apart, becomes the one that turns it round."""
    particle = child_of(analysis, n, "compound:prt")
    word = analysis.words[n]
    if particle is None or particle < n or not stands_alone(analysis, particle) or word.xpos not in (*BASE_TAGS, *VERB_TAGS):
        return None
    mark = analysis.words[particle]
    new = PHRASAL.get(f"{word.lemma.lower()} {mark.text.lower()}")
    form = turned_form(materials, new.partition(" ")[0], word.xpos) if new else None
    if not new or not form or any(of_relation(analysis.words[m], *CLAUSES) for m in children(analysis, n)):
        return None
    rest = new.partition(" ")[2]
    start = mark.start if rest else mark.start - 1
    return [(word.start, word.end, in_case_of(form, word.text)), (start, mark.end, rest)]


VERB_TAGS = ("VBZ", "VBD", "VBN", "VBG")


def _may_turn(analysis: Analysis, n: int) -> bool:
    """Whether an opposite can stand here: no measure (*two years old*), no *as soon as possible*, no bare *in fact*."""
    word = analysis.words[n]
    before = analysis.words[n - 1] if n else None
    if f"{word.lemma.lower()}/{word.upos}" in UNTURNED or f"{word.text.lower()}/{word.upos}" in UNTURNED:
        return False
    if before is not None and before.upos == "NOUN" and word.upos in ("ADJ", "ADV") and before.head == n:
        return False
    after = analysis.words[n + 1].lemma if n + 1 < len(analysis.words) else ""
    if (
        word.upos == "ADJ"
        and word.text.lower() in ("last", "first", "next", "past", "final")
        and after in (*TIMES, "few", "couple")
    ):
        return False
    if before is not None and before.text.lower() in LINKED and word.upos in ("ADJ", "ADV"):
        return before.text.lower() == "so" and word.upos == "ADJ"
    if word.upos == "NOUN" and word.xpos == "NN":
        below = children(analysis, n)
        return not (any(analysis.words[m].relation == "case" for m in below) and len(below) == 1)
    if word.upos == "VERB" and word.relation == "xcomp" and word.xpos == "VBN":
        return False
    return True


def _fits(analysis: Analysis, n: int, option: str) -> bool:
    """Whether what hangs on a verb or adjective fits its opposite: objects, clauses, persons for *young*."""
    word = analysis.words[n]
    if word.upos == "VERB":
        return _verb_fits(analysis, n, option)
    if word.upos == "ADJ" and {word.text.lower(), option} & {"old", "older", "oldest"} and word.head >= 0:
        person = analysis.words[word.head].lemma.lower() in PERSONS or analysis.words[word.head].upos in ("PROPN", "PRON")
        return (option != "new" if person else option not in ("young", "younger")) and (word.relation == "amod" or not person)
    if word.upos == "ADV":
        return of_relation(word, "advmod") and not (
            n + 1 < len(analysis.words) and analysis.words[n + 1].text.lower() in LINKED
        )
    return True


def _verb_fits(analysis: Analysis, n: int, option: str) -> bool:
    """Whether a verb's object, passive or clause goes with its opposite."""
    word = analysis.words[n]
    below = [analysis.words[m] for m in children(analysis, n)]
    if any(of_relation(b, *CLAUSES) for b in below):
        return word.lemma.lower() in WITH_CLAUSE and option in WITH_CLAUSE
    passive = word.xpos == "VBN" and (any(b.relation in ("nsubj:pass", "aux:pass") for b in below) or of_relation(word, "acl"))
    if any(b.relation == "iobj" for b in below):
        return option in ("refuse", "deny", "offer")
    if passive or any(b.relation == "obj" for b in below):
        return option not in INTRANSITIVE and " " not in option
    return option not in OBJECT_VERBS


def _holds(analysis: Analysis, form: str) -> bool:
    """Whether the text has the new word already, as *men and women* has both."""
    return form.lower() in {word.text.lower() for word in analysis.words}


def phrases_in(analysis: Analysis, lexicon: Mapping[str, Sequence[str]]) -> list[Phrase]:
    """The phrases of a lexicon (``phrase/condition`` -> others) that a text has, none of them inside a longer one."""
    words, found = analysis.words, []
    index = _indexed(tuple(lexicon))
    covered = -1
    for n, word in enumerate(words):
        if n <= covered or not stands_alone(analysis, n):
            continue
        for parts, condition in index.get(word.text.lower(), ()):
            last = n + len(parts) - 1
            same = [w.text.lower() for w in words[n : last + 1]] == list(parts)
            if not same or words[last].sentence != word.sentence or any(in_title_case(analysis, m) for m in range(n, last + 1)):
                continue
            covered = max(covered, last if len(parts) > 1 else covered)
            if CONDITIONS[condition](analysis, n, last) and stands_alone(analysis, last):
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


def _head(analysis: Analysis, n: int) -> int:
    """The head of a word, or the word itself at the root."""
    return analysis.words[n].head if analysis.words[n].head >= 0 else n


def _is_case(analysis: Analysis, first: int, last: int) -> bool:
    word = analysis.words[first]
    return of_relation(word, "case", "mark") and first < word.head


def _is_motion(analysis: Analysis, first: int, last: int) -> bool:
    word = analysis.words[first]
    if not of_relation(word, "case", "advmod") or child_of(analysis, first, "fixed") is not None and first == last:
        return False
    moved = _head(analysis, first) if of_relation(word, "advmod") else _head(analysis, _head(analysis, first))
    return analysis.words[moved].lemma.lower() in MOTION and analysis.words[moved].upos == "VERB"


def _before_number(analysis: Analysis, first: int, last: int) -> bool:
    following = analysis.words[last + 1 : last + 3]
    return bool(following) and (following[0].upos == "NUM" or following[0].text in "$€£" and len(following) > 1)


def _before_adjective(analysis: Analysis, first: int, last: int) -> bool:
    word = analysis.words[first]
    return word.head == last + 1 and analysis.words[last + 1].upos in ("ADJ", "ADV") and word.relation == "advmod"


def _before_noun(analysis: Analysis, first: int, last: int) -> bool:
    word = analysis.words[first]
    return word.head > last and analysis.words[word.head].xpos == "NNS" and word.relation == "amod"


def _under_noun(analysis: Analysis, first: int, last: int) -> bool:
    word = analysis.words[first]
    if word.relation != "case":
        return False
    owner = _head(analysis, _head(analysis, first))
    inner = analysis.words[_head(analysis, first)]
    followed = analysis.words[last + 1].upos in ("ADP", "SCONJ") if last + 1 < len(analysis.words) else True
    return (
        not followed
        and inner.relation == "nmod"
        and analysis.words[owner].lemma.lower() not in ATTACHED
        and analysis.words[owner].upos == "NOUN"
    )


def _is_vote(analysis: Analysis, first: int, last: int) -> bool:
    word = analysis.words[first]
    return word.relation == "case" and analysis.words[_head(analysis, _head(analysis, first))].lemma.lower() in VOTING


def _is_time(analysis: Analysis, first: int, last: int) -> bool:
    word = analysis.words[first]
    inner = analysis.words[_head(analysis, first)]
    span_to = any(
        analysis.words[m].text.lower() in ("to", "until", "till", "through")
        for m in range(first, min(first + 8, len(analysis.words)))
    )
    year = re.fullmatch(r"1[0-9]{3}|20[0-4]\d", inner.text) is not None
    return word.relation == "case" and not span_to and (year or inner.lemma in TIMES or inner.text in TIMES)


def _at_place(analysis: Analysis, first: int, last: int) -> bool:
    word = analysis.words[first]
    return word.relation == "case" and analysis.words[_head(analysis, first)].lemma.lower() in PLACES


def _before_ordered(analysis: Analysis, first: int, last: int) -> bool:
    word = analysis.words[last]
    following = analysis.words[last + 1].lemma.lower() if last + 1 < len(analysis.words) else ""
    return word.upos == "ADJ" and following not in (*TIMES, "few", "couple", "two", "three", "several") and word.head > last


def _is_adverb(analysis: Analysis, first: int, last: int) -> bool:
    word = analysis.words[first]
    following = analysis.words[last + 1] if last + 1 < len(analysis.words) else None
    return word.relation == "advmod" and word.upos == "ADV" and (following is None or following.upos not in ("SCONJ", "ADV"))


def _is_rate(analysis: Analysis, first: int, last: int) -> bool:
    before = analysis.words[first - 1].text.lower() if first else ""
    return before in ("once", "twice", "times", "hours", "days", "minutes") or (
        first > 0
        and analysis.words[first - 1].upos in ("NOUN", "SYM")
        and re.search(r"[$€£]\s?[\d.,]+\w* $", analysis.text[: analysis.words[first].start]) is not None
    )


def _is_never(analysis: Analysis, first: int, last: int) -> bool:
    word = analysis.words[first]
    verb = analysis.words[_head(analysis, first)]
    following = analysis.words[last + 1] if last + 1 < len(analysis.words) else None
    right = following is not None and following.upos in ("VERB", "AUX", "ADJ") and following.xpos != "VB"
    return verb.upos in ("VERB", "ADJ", "NOUN") and word.relation == "advmod" and (right or verb.xpos == "VB")


CONDITIONS: dict[str, Callable[[Analysis, int, int], bool]] = {
    "any": lambda analysis, first, last: True,
    "case": _is_case,
    "motion": _is_motion,
    "number": _before_number,
    "article": lambda analysis, first, last: (
        analysis.words[last + 1].text.lower() in ("a", "an", "one") if last + 1 < len(analysis.words) else False
    ),
    "before adjective": _before_adjective,
    "before noun": _before_noun,
    "noun": _under_noun,
    "vote": _is_vote,
    "time": _is_time,
    "place": _at_place,
    "order": _before_ordered,
    "adjective": lambda analysis, first, last: analysis.words[last].upos == "ADJ",
    "adverb": _is_adverb,
    "rate": _is_rate,
    "never": _is_never,
    "before verb": lambda analysis, first, last: (
        analysis.words[last].head == last + 1 and analysis.words[last + 1].upos == "VERB"
    ),
}
"""When a phrase of a lexicon may change: (analysis, first word, last word) -> whether it may."""


def relation_reversed(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """A relation of place, time, order or amount is turned round: *before* -> *after*, *from A to B* -> *from B to A*."""
    ways: list[Phrase | list[Change]] = [*phrases_in(analysis, table("relations")), *_journeys(analysis)]

    def make(way: Phrase | list[Change]) -> list[Change] | None:
        return way if isinstance(way, list) else exchange_phrase(analysis, way, rng)

    return choose(analysis, rng, ways, make, "no relation that can be turned round")


def exchange_phrase(analysis: Analysis, phrase: Phrase, rng: random.Random) -> list[Change]:
    """One phrase becomes one of its others, in its case."""
    first, last, others = phrase
    start, end = analysis.words[first].start, analysis.words[last].end
    return replacement(analysis, start, end, in_case_of(rng.choice(list(others)), analysis.words[first].text))


def _journeys(analysis: Analysis) -> list[list[Change]]:
    """The two sides of every *from ... to ...* exchanged."""
    found = []
    words = analysis.words
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
                left = [i for i in subtree(analysis, origin) if n < i < m]
                right = [i for i in subtree(analysis, aim) if i > m]
                texts = [analysis.text[slice(*span(analysis, side))] if is_contiguous(side) else "" for side in (left, right)]
                joined = bool(left) and left[-1] == m - 1 and left[0] == n + 1
                if (
                    joined
                    and all(texts)
                    and texts[0].lower() != texts[1].lower()
                    and right[0] == m + 1
                    and len(left) + len(right) > 2 - any(t[0].isupper() or t[0].isdigit() for t in texts)
                ):
                    found.append([(*span(analysis, left), texts[1]), (*span(analysis, right), texts[0])])
                break
    return found


def converse_verb(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """A verb or a noun of relation becomes its converse: *bought it from her* -> *sold it to her*, *father of* -> *son of*."""
    words = [
        n
        for n, word in enumerate(analysis.words)
        if f"{word.lemma.lower()}/{word.upos}" in table("converses")
        and stands_alone(analysis, n)
        and not in_title_case(analysis, n)
        and not word.xpos.startswith("NNP")
        and child_of(analysis, n, "compound:prt", "fixed") is None
    ]

    def make(n: int) -> list[Change] | None:
        return _converse(analysis, n, rng, materials)

    return choose(analysis, rng, words, make, "no verb or noun with a known converse")


def _converse(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """One word exchanged for a converse, with the preposition of what hangs on it."""
    word = analysis.words[n]
    cells = table("converses")[f"{word.lemma.lower()}/{word.upos}"]
    links = dict(cell.split(">") for cell in cells if ">" in cell)
    options = [cell for cell in cells if ">" not in cell]
    option = rng.choice(options)
    if word.upos == "NOUN" and not (_is_related(analysis, n) or option in ("lose", "loser", "winner")):
        return None
    if word.upos == "VERB" and not _verb_turns(analysis, n, option):
        return None
    form = turned_form(materials, option, word.xpos)
    if not form or _holds(analysis, form) or form.lower() in ("fathers", "mothers"):
        return None
    changes = replacement(analysis, word.start, word.end, in_case_of(form, word.text))
    for m in children(analysis, n) if word.upos == "VERB" else ():
        case = child_of(analysis, m, "case")
        if case is not None and n < case < m and analysis.words[m].relation != "advcl" and stands_alone(analysis, case):
            mark = analysis.words[case]
            if mark.text in links:
                return sorted([*changes, (mark.start, mark.end, links[mark.text])])
    return changes


def _is_related(analysis: Analysis, n: int) -> bool:
    """Whether a noun says whose it is: *his father*, *the son of the king*; and is no part of a compound."""
    below = [analysis.words[m] for m in children(analysis, n)]
    owned = any(of_relation(b, "nmod") and (b.xpos == "PRP$" or b.relation == "nmod:poss") for b in below)
    of = any(
        of_relation(analysis.words[m], "nmod") and any(analysis.words[k].text == "of" for k in children(analysis, m))
        for m in children(analysis, n)
    )
    return (owned or of) and not of_relation(analysis.words[n], "compound") and not any(b.relation == "compound" for b in below)


def _verb_turns(analysis: Analysis, n: int, option: str) -> bool:
    """Whether the clause of a verb stays grammatical under its converse."""
    word = analysis.words[n]
    lemma = word.lemma.lower()
    below = [analysis.words[m] for m in children(analysis, n)]
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
        and any(w.text == "to" for w in _cases(analysis, n))
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


def _cases(analysis: Analysis, n: int) -> list[Word]:
    """The prepositions of what hangs on a word."""
    return [
        analysis.words[k] for m in children(analysis, n) for k in children(analysis, m) if analysis.words[k].relation == "case"
    ]


def related_replaced(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """A word becomes another of its kind: *brother* -> *sister*, *dog* -> *cat*, *French* -> *German*."""
    words = [n for n, word in enumerate(analysis.words) if _is_replaceable(analysis, n)]

    def make(n: int) -> list[Change] | None:
        word = analysis.words[n]
        options = [*_relatives()[_related_key(analysis, n)]]
        rng.shuffle(options)
        for option in options:
            capital = option[:1].isupper()
            tag = word.xpos.replace("NNP", "NN") if word.upos in ("NOUN", "PROPN") else word.xpos
            form = (
                option if tag in ("NN", "JJ", "JJR") or capital and word.upos == "ADJ" else turned_form(materials, option, tag)
            )
            if form and not _holds(analysis, form) and (word.upos != "VERB" or _verb_fits(analysis, n, option)):
                return replacement(analysis, word.start, word.end, in_case_of(form, word.text))
        return None

    return choose(analysis, rng, words, make, "no word with others of its kind")


@cache
def _relatives() -> dict[str, tuple[str, ...]]:
    """``word/CLASS`` -> all others of its groups."""
    found: dict[str, tuple[str, ...]] = {}
    for name, group in table("related").items():
        for word in group:
            key = f"{word}/{name.partition(' ')[0]}"
            found[key] = tuple(dict.fromkeys((*found.get(key, ()), *(other for other in group if other != word))))
    return found


def _related_key(analysis: Analysis, n: int) -> str:
    """The key of a word in the groups: its lemma, or its letters where it is a capitalised word such as *French*."""
    word = analysis.words[n]
    if word.text[:1].isupper():
        single = word.text.removesuffix("s") if word.xpos in ("NNPS", "NNS") else word.text
        capital = f"{single}/{'NOUN' if word.upos == 'PROPN' else word.upos}"
        if capital in _relatives():
            return capital
    return f"{word.lemma.lower()}/{word.upos}"


def _is_replaceable(analysis: Analysis, n: int) -> bool:
    """Whether a word has others of its kind, stands alone and is no part of a name or fixed expression."""
    word = analysis.words[n]
    key = _related_key(analysis, n)
    if (
        key not in _relatives()
        or not word.text.isalpha()
        or not stands_alone(analysis, n)
        or of_relation(word, "fixed", "flat", "aux", "cop", "case")
    ):
        return False
    if child_of(analysis, n, "fixed", "compound:prt", "flat") is not None:
        return False
    if key[0].islower() and (in_title_case(analysis, n) or word.xpos.startswith("NNP")):
        return False
    near = [m for m in (n - 1, n + 1) if 0 <= m < len(analysis.words) and analysis.words[m].sentence == word.sentence]
    if key[0].isupper() and any(analysis.words[m].xpos.startswith("NNP") for m in near):
        return False
    if word.upos == "NOUN" and word.xpos == "NN":
        below = children(analysis, n)
        return not (
            word.text.islower() and len(below) == 1 and analysis.words[below[0]].text.lower() in ("at", "by", "on", "of")
        )
    return True


def frequency_changed(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """How often something happens becomes another frequency: *twice* -> *once*, *always* -> *never*, *daily* -> *monthly*."""
    phrases = phrases_in(analysis, table("frequencies"))
    return choose(analysis, rng, phrases, lambda phrase: exchange_phrase(analysis, phrase, rng), "nothing that says how often")


PERTURBATIONS = (
    Perturbation("opposite_word", "accuracy", "mistranslation - opposite", "critical", None, opposite_word),
    Perturbation("relation_reversed", "accuracy", "mistranslation - relation", "critical", None, relation_reversed),
    Perturbation("converse_verb", "accuracy", "mistranslation - converse", "critical", None, converse_verb),
    Perturbation("related_replaced", "accuracy", "mistranslation - related word", "critical", None, related_replaced),
    Perturbation("frequency_changed", "accuracy", "mistranslation - frequency", "critical", None, frequency_changed),
)

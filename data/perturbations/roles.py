"""Who did what to whom turned round: subject and object, two names, two numbers, cause and effect exchange their places."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from rome.data.perturbations.lists import MONTHS
from rome.data.perturbations.names import PLACES, Entity, entities
from rome.data.perturbations.tree import OBJECTIVE, SUBJECTIVE
from rome.data.perturbations.verb_forms import form_of_be
from rome.features.values import Analysis

from .lists import replacements, word_set
from .surgery import Change, choose, replacement, starts_sentence
from .tree import (
    child_of,
    children,
    clauses,
    has_own_span,
    in_title_case,
    is_contiguous,
    is_plural,
    nominal_core,
    of_relation,
    span,
    stands_alone,
    subject_of,
    subtree,
)
from .values import Materials, NotApplicable, Perturbation, Perturbed

LONGEST = 12
"""Words of a noun phrase that may change its place."""
PERSONAL = (frozenset(OBJECTIVE) | frozenset(SUBJECTIVE)) - {"it"}
SYMMETRIC = word_set("roles.symmetric")
MOTION = word_set("roles.motion")
DIRECTIONS = ("to", "from", "against", "over", "behind", "after")
PEOPLE = word_set("roles.people")


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A noun phrase that can stand elsewhere: its head, its words and its characters."""

    head: int
    words: list[int]
    start: int
    end: int


def roles_swapped(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Subject and object, giver and receiver, or agent and patient exchange places: *The dog bit him* -> *He bit the dog*."""
    places = [place for entity in entities(analysis) if entity.kind in (*PLACES, "date") for place in entity.words]
    pairs = [pair for clause in clauses(analysis) for pair in _partners(analysis, clause, frozenset(places))]
    return choose(
        analysis, rng, pairs, lambda pair: _exchanged(analysis, *pair, materials), "no two partners that can change roles"
    )


def _partners(
    analysis: Analysis, clause: tuple[int, int], places: frozenset[int]
) -> list[tuple[tuple[int, int], _Phrase, _Phrase]]:
    """The subject of a clause with each phrase that can change roles with it."""
    verb, _ = clause
    word = analysis.words[verb]
    subject = child_of(analysis, verb, "nsubj")
    if (
        word.upos != "VERB"
        or subject is None
        or subject > verb
        or word.lemma.lower() in SYMMETRIC | MOTION
        or _mutual(analysis, verb)
    ):
        return []
    first = _phrase(analysis, subject)
    early = any(analysis.words[n].relation == "obj" for n in children(analysis, verb) if n < verb)
    if first is None or first.words[-1] >= verb or early:
        return []
    found = []
    receiver = child_of(analysis, verb, "iobj")
    for n in children(analysis, verb):
        second = _phrase(analysis, n) if n > verb and _is_partner(analysis, n, receiver) else None
        if second is not None and second.words[0] > verb and _may_exchange(analysis, first, second, places):
            found.append((clause, first, second))
    return found


def _mutual(analysis: Analysis, verb: int) -> bool:
    """Whether *each other* or a reflexive pronoun ties subject and object together."""
    return any(
        analysis.words[n].text.lower().endswith(("self", "selves", "other", "another")) for n in children(analysis, verb)
    )


def _is_partner(analysis: Analysis, n: int, receiver: int | None) -> bool:
    """Whether a word under the verb is its object, its receiver, its agent, or whom the deed goes to."""
    relation = analysis.words[n].relation
    if relation == "obj":
        return receiver is None and child_of(analysis, analysis.words[n].head, "nsubj:pass") is None
    if relation == "iobj":
        return True
    prepositions = [m for m in children(analysis, n) if analysis.words[m].relation == "case"]
    if not relation.startswith("obl") or len(prepositions) != 1 or prepositions[0] > n:
        return False
    preposition = analysis.words[prepositions[0]].text.lower()
    passive = child_of(analysis, analysis.words[n].head, "nsubj:pass") is not None
    return preposition == "by" if passive else preposition in DIRECTIONS and analysis.words[n].upos != "PROPN"


def _is_person(analysis: Analysis, n: int) -> bool:
    """Whether a word stands for somebody: a name, a personal pronoun, or a noun for people, animals or bodies that act."""
    word = analysis.words[n]
    low = word.text.lower()
    name = word.upos == "PROPN" and not any(c.isdigit() for c in word.text)
    return name or low in PEOPLE or (word.xpos == "PRP" and low in PERSONAL)


def _may_exchange(analysis: Analysis, first: _Phrase, second: _Phrase, places: frozenset[int]) -> bool:
    """Whether each could do what the other does: both somebody, both no place or both a place, and not the same."""
    heads = [first.head, second.head]
    same_side = len({n in places for n in heads}) == 1
    texts = [analysis.text[one.start : one.end].lower() for one in (first, second)]
    plain = sum(analysis.words[n].text.lower() in PERSONAL for n in heads) < 2 or texts[0] not in (
        OBJECTIVE.get(texts[1]),
        SUBJECTIVE.get(texts[1]),
    )
    works = any(texts[k].startswith(("a ", "an ")) and analysis.words[heads[k]].upos == "PROPN" for k in (0, 1))
    return all(_is_person(analysis, n) for n in heads) and not works and same_side and plain and texts[0] != texts[1]


def _phrase(analysis: Analysis, head: int) -> _Phrase | None:
    """The noun phrase of a head without its preposition, if it is whole, short, and can stand elsewhere."""
    word = analysis.words[head]
    words = subtree(analysis, head)
    if words and of_relation(word, "obl", "nmod"):
        case = child_of(analysis, head, "case")
        words = [n for n in words if n != case]
    nominal = (
        word.upos in ("NOUN", "PROPN")
        or (word.xpos == "PRP" and word.text.lower() in PERSONAL)
        or (word.upos == "PRON" and word.text.lower() in PEOPLE - {"who"})
    )
    if not nominal or not is_contiguous(words) or len(words) > LONGEST:
        return None
    start, end = span(analysis, words)
    text = analysis.text
    odd = text[max(start - 1, 0) : start] == "."
    touched = text[max(start - 1, 0) : start] + text[end : end + 1]
    odd = odd or (
        any(c in '"“”‘():;' for c in text[start:end])
        or text[end - 1] in ",-"
        or any(c.isalnum() or c in "-'’/@#_" for c in touched)
    )
    ends = words[-1] + 1
    following = analysis.words[ends] if ends < len(analysis.words) else None
    capital = following is not None and (
        in_title_case(analysis, ends) and following.upos != "PRON" or following.upos in ("NUM", "PROPN")
    )
    goes_on = capital and text[end : end + 1] in (" ", "-")
    before = analysis.words[words[0] - 1] if words[0] else None
    cut = (
        before is not None
        and before.upos in ("PROPN", "NUM", "ADJ", "X", "DET")
        and text[start - 1 : start] == " "
        and before.sentence == word.sentence
    )
    wrong = analysis.words[words[0]].xpos in ("WP", "WDT", "WP$") or analysis.words[words[0]].upos in ("ADP", "SCONJ", "CCONJ")
    return None if odd or goes_on or cut or wrong else _Phrase(head, words, start, end)


def _moved(analysis: Analysis, phrase: _Phrase, cases: dict[str, str], opens: bool) -> str:
    """The phrase as it reads in its new place: a pronoun in the case of that place, a capital where the sentence starts."""
    text, first = analysis.text[phrase.start : phrase.end], analysis.words[phrase.words[0]]
    if len(phrase.words) == 1 and first.text.lower() in PERSONAL:
        text = cases.get(first.text.lower(), first.text.lower() if first.text != "I" else "I")
    elif starts_sentence(analysis, phrase.start):
        text = _without_capital(analysis, phrase.words[0], text)
    return text[:1].upper() + text[1:] if opens else text


def _without_capital(analysis: Analysis, n: int, text: str) -> str:
    """A text that a word starts, without the capital of the start of a sentence; names and *I* keep theirs."""
    word = analysis.words[n]
    keeps = (
        word.xpos.startswith("NNP")
        or word.upos == "PROPN"
        or word.text == "I"
        or word.text[1:] != word.text[1:].lower()
        or word.lemma[:1].isupper()
    )
    return text if keeps else text[:1].lower() + text[1:]


def _exchanged(
    analysis: Analysis, clause: tuple[int, int], first: _Phrase, second: _Phrase, materials: Materials
) -> list[Change] | None:
    """Both phrases in each other's place, and the verb that agrees with the new subject."""
    verb = _agreeing(analysis, clause, second.head, materials)
    if verb is None:
        return None
    opens = starts_sentence(analysis, first.start)
    lead, follower = _moved(analysis, second, SUBJECTIVE, opens), _moved(analysis, first, OBJECTIVE, False)
    return [(first.start, first.end, lead), *verb, (second.start, second.end, follower)]


def _agreeing(analysis: Analysis, clause: tuple[int, int], subject: int, materials: Materials) -> list[Change] | None:
    """The change that makes the finite verb of a clause agree with a new subject; None where it cannot be made."""
    predicate, finite = clause
    word, low = analysis.words[finite], analysis.words[finite].text.lower()
    if word.xpos == "MD" or (word.xpos == "VBD" and low not in ("was", "were")):
        return []
    new, old = analysis.words[subject], subject_of(analysis, predicate)
    plural, first_person = (
        is_plural(analysis, subject) or new.text.lower() in ("police", "people"),
        new.text.lower() in ("i", "me"),
    )
    if old is not None and is_plural(analysis, old) == plural and not first_person and analysis.words[old].text != "I":
        return []
    if not has_own_span(analysis, finite) or not stands_alone(analysis, finite) or _shares(analysis, predicate):
        return None
    lemma = word.lemma.lower()
    if lemma == "be":
        form: str | None = form_of_be("past" if low in ("was", "were") else "present", plural, first_person)
    elif lemma in ("have", "do"):
        form = lemma if plural else {"have": "has", "do": "does"}[lemma]
    else:
        form = lemma if plural else materials.inflect(lemma, "VBZ")
    return [(word.start, word.end, form)] if form else None


def _shares(analysis: Analysis, predicate: int) -> bool:
    """Whether another verb is coordinated with this one and has no subject of its own."""
    return any(analysis.words[n].relation == "conj" and subject_of(analysis, n) is None for n in children(analysis, predicate))


def names_exchanged(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Two names of one kind exchange places: *Ann left Oslo for Rome* -> *Ann left Rome for Oslo*."""
    found = [entity for entity in entities(analysis) if _is_whole(analysis, entity)]
    pairs = [pair for pair in combinations(found, 2) if _two_names(analysis, *pair)]
    return choose(analysis, rng, pairs, lambda pair: _names(analysis, *pair), "no two names that can change places")


def _is_whole(analysis: Analysis, entity: Entity) -> bool:
    """Whether no other part of a name stands right beside the entity: *Osama* of *Osama bin Laden*, *Al* - *Maqrizi*."""
    words = analysis.words
    beside = [n for n in (entity.words[0] - 1, entity.words[-1] + 1) if 0 <= n < len(words)]
    parts = [
        words[n].upos in ("PROPN", "X", "NUM") or words[n].text in ("-", "–", "de", "la", "bin", "van", "von", "al", "el")
        for n in beside
    ]
    before, after = words[max(entity.words[0] - 2, 0) : entity.words[0]], words[entity.words[-1] + 1 : entity.words[-1] + 3]
    linked = len(after) == 2 and after[0].text in ("of", "for") and after[1].upos == "PROPN"
    article = [word.text.lower() for word in before] == ["of", "the"]
    alone = len(entity.text) > 1 and analysis.text[max(entity.start - 2, 0) : entity.start] not in ('" ', "” ")
    return alone and not any(parts) and not linked and not (article and entity.kind == "")


def _two_names(analysis: Analysis, first: Entity, second: Entity) -> bool:
    """Whether two entities are of one kind, differ, and are not named side by side."""
    kinds = ["place" if one.kind in PLACES else one.kind for one in (first, second)]
    short, long = sorted((first.text.lower(), second.text.lower()), key=len)
    determiners = [
        one.words[0] > 0 and analysis.words[one.words[0] - 1].upos in ("DET", "PRON", "ADJ", "NUM") for one in (first, second)
    ]
    plurals = [is_plural(analysis, one.head) for one in (first, second)]
    between = analysis.text[first.end : second.start]
    near = not re.search(r"\b(?!and\b)[a-z]{3}", between)
    linked = _leader(analysis, first.head) == _leader(analysis, second.head) or _linked(analysis, first.head, second.head)
    quoted = [
        analysis.text[max(one.start - 1, 0)] in '"“‘' or analysis.text[one.end : one.end + 1] in ('"', "”")
        for one in (first, second)
    ]
    cases = [
        analysis.words[case].text.lower() if case is not None else ""
        for one in (first, second)
        for case in (child_of(analysis, one.head, "case"),)
    ]
    alike = quoted[0] == quoted[1] and (bool(kinds[0]) or cases[0] == cases[1])
    fitting = kinds[0] == kinds[1] and kinds[0] != "date" and first.modifier == second.modifier and alike
    return (
        fitting
        and not (set(short.split()) & set(long.split()))
        and short not in long
        and len(set(determiners)) == len(set(plurals)) == 1
        and not linked
        and not near
    )


def _leader(analysis: Analysis, n: int) -> int:
    """The first part of the coordination or list that a word stands in; the word itself outside of one."""
    for _ in range(len(analysis.words)):
        if not of_relation(analysis.words[n], "conj", "appos", "flat", "list", "parataxis") or analysis.words[n].head < 0:
            return n
        n = analysis.words[n].head
    return n


def _linked(analysis: Analysis, first: int, second: int) -> bool:
    """Whether one hangs right under the other, or both are partners in something mutual."""
    words = analysis.words
    if words[first].head == second or words[second].head == first:
        return True
    shared = words[first].head == words[second].head and words[first].head >= 0
    return shared and words[words[first].head].lemma.lower() in SYMMETRIC - word_set("roles.taking_part")


def _names(analysis: Analysis, first: Entity, second: Entity) -> list[Change]:
    """Each name in the place of the other; the article of a name gets or loses its capital."""
    changes: list[Change] = []
    for old, new in ((first, second), (second, first)):
        text = new.text[0].upper() + new.text[1:] if starts_sentence(analysis, old.start) else new.text
        changes += replacement(analysis, old.start, old.end, text)
    return changes


SMALL = word_set("roles.small")
DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\d{1,2}:\d{2}")


@dataclass(frozen=True, slots=True)
class _Figure:
    """A number in the text: its word, its value, what it counts."""

    word: int
    value: str
    kind: str


def numbers_exchanged(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Two numbers of one kind exchange places: *3 men and 7 women* -> *7 men and 3 women*."""
    figures = [figure for n in range(len(analysis.words)) for figure in (_figure(analysis, n),) if figure]
    pairs = [pair for pair in combinations(figures, 2) if _two_numbers(analysis, *pair)]
    return choose(analysis, rng, pairs, lambda pair: _numbers(analysis, *pair), "no two numbers that can change places")


def _figure(analysis: Analysis, n: int) -> _Figure | None:
    """A number that stands alone; None for 0 and 1, for a part of a longer number, and for anything else."""
    word, text = analysis.words[n], analysis.text
    low = word.text.lower()
    around = text[max(word.start - 1, 0) : word.start] + text[word.end : word.end + 1]
    if word.upos != "NUM" or not has_own_span(analysis, n) or any(c.isalnum() or c in "-–/@_:#'’+*" for c in around):
        return None
    near = [analysis.words[m] for m in (n - 1, n + 1) if 0 <= m < len(analysis.words)]
    if low in SMALL:
        return None if any(other.upos == "NUM" for other in near) else _Figure(n, low, "word")
    if not DIGITS.fullmatch(word.text) or re.match(r"\.\d|\s?(?:[:/x×=–-]|--)\s?\d", text[word.end :]):
        return None
    if re.search(
        r"(?:[-–/x×=:.№#]|no\.|page|chapter|article|section|version|part|volume)\s?$", text[: word.start], re.IGNORECASE
    ):
        return None
    if ":" in word.text:
        return _Figure(n, word.text, "clock")
    value = word.text.replace(",", "")
    after, before = text[word.end : word.end + 10], text[: word.start].rstrip()
    month = any(other.xpos == "NNP" and other.text in MONTHS for other in near)
    if float(value) <= 1:
        return None
    if re.match(r"\s?(?:%|percent\b|per cent\b)", after):
        kind = "percentage"
    elif re.fullmatch(r"1[0-9]{3}|20[0-4]\d", word.text) and not (
        word.relation == "nummod" and analysis.words[word.head].xpos == "NNS"
    ):
        kind = "year"
    elif month:
        kind = "day"
    else:
        kind = "money" if before.endswith(("$", "€", "£")) else "number"
    return _Figure(n, str(float(value)), kind)


def _two_numbers(analysis: Analysis, first: _Figure, second: _Figure) -> bool:
    """Whether two numbers are of one kind, differ, and are not the ends of a range or parts of a list."""
    if first.kind != second.kind or first.value == second.value:
        return False
    one, other = analysis.words[first.word], analysis.words[second.word]
    between = analysis.text[one.end : other.start].strip().lower().strip("%$€£ ")
    ranged = re.fullmatch(
        r"(?:[-–—~/x×,:;]|and|or|to|through|until|till|by|, and|, or|percent (?:and|or|to)|out of|of|in|-?year(?:s)? (?:or|to))?",
        between,
    )
    listed = _leader(analysis, first.word) == _leader(analysis, second.word)
    listed = listed or not re.search(r"[a-z]", re.sub(r"\b(?:and|or|million|billion|percent|thousand)\b", "", between))
    dashed = first.kind in ("year", "day") and re.search(r"[–—-]", between) is not None and len(between) < 20
    sizes = sorted(float(one.value) for one in (first, second) if one.kind not in ("word", "clock"))
    comparable = not sizes or sizes[1] <= 1000 * sizes[0]
    return comparable and not ranged and not listed and not dashed


def _numbers(analysis: Analysis, first: _Figure, second: _Figure) -> list[Change]:
    """Each number in the place of the other, a or an before it mended, a capital where the sentence starts."""
    changes: list[Change] = []
    for old, new in ((first, second), (second, first)):
        word, text = analysis.words[old.word], analysis.words[new.word].text
        text = text.capitalize() if word.text[0].isupper() else text.lower()
        changes += replacement(analysis, word.start, word.end, text)
    return changes


CAUSING = replacements("roles.causing")
CAUSED = {"result": "from", "stem": "from", "arise": "from"}
BECAUSE_OF = ("because of", "due to", "as a result of", "owing to", "thanks to")
MARKED = re.compile(r"[\"“”():;?…]")


def cause_and_effect_swapped(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """The cause becomes the effect: *The flood caused a fire* -> *A fire caused the flood*; *X because Y* -> *Y because X*."""
    words = [n for n in range(len(analysis.words)) if has_own_span(analysis, n)]

    def make(n: int) -> Sequence[Change] | None:
        rules = (_clauses_swapped, _nouns_swapped, _participle_turned, _reason_turned)
        return next((found for rule in rules for found in (rule(analysis, n, materials),) if found), None)

    return choose(analysis, rng, words, make, "no cause with its effect")


def _clauses_swapped(analysis: Analysis, n: int, materials: Materials) -> list[Change] | None:
    """*X because Y.* -> *Y because X.*, *Because Y, X.* -> *Because X, Y.* and *X, so Y.* -> *Y, so X.*"""
    word = analysis.words[n]
    clause, low = word.head, word.text.lower()
    if clause <= n or low not in ("because", "so") or not _joins(analysis, n):
        return None
    main = analysis.words[clause].head
    if main < 0 or subject_of(analysis, clause) is None or subject_of(analysis, main) is None:
        return None
    reason = [m for m in subtree(analysis, clause) if m > n]
    if not reason or not is_contiguous(reason) or reason[0] != n + 1:
        return None
    whole = [m for m in subtree(analysis, main) if m not in reason and m != n]
    if starts_sentence(analysis, word.start):
        return _fronted(analysis, reason, whole) if low == "because" else None
    before: list[int] = []
    for m in reversed([m for m in whole if m < n]):
        if before and before[0] != m + 1:
            break
        before.insert(0, m)
    right = bool(before) and before[-1] == n - 1 and main in before and (subject_of(analysis, main) or 0) in before
    return _both_clauses(analysis, reason, before, n) if right else None


def _joins(analysis: Analysis, n: int) -> bool:
    """Whether a word joins a reason or a consequence to a clause: *because*, or *so* after a comma before a subject."""
    word, clause = analysis.words[n], analysis.words[analysis.words[n].head]
    if word.text.lower() == "because":
        return word.relation == "mark" and clause.relation == "advcl"
    after = analysis.words[n + 1] if n + 1 < len(analysis.words) else word
    placed = (
        n > 0
        and analysis.words[n - 1].text == ","
        and after.upos in ("PRON", "DET", "NOUN", "PROPN")
        and after.text.lower() != "that"
    )
    return placed and of_relation(clause, "conj", "parataxis", "advcl") and of_relation(word, "cc", "advmod", "mark")


def _trimmed(analysis: Analysis, words: list[int]) -> list[int]:
    """Words without the marks at their ends."""
    while words and analysis.words[words[-1]].upos == "PUNCT":
        words = words[:-1]
    while words and analysis.words[words[0]].upos in ("PUNCT", "CCONJ"):
        words = words[1:]
    return words


TYING = word_set("roles.tying")
WEAK = frozenset("just only not simply partly mainly maybe perhaps probably mostly largely is was even precisely".split())


def _movable_clause(analysis: Analysis, words: list[int]) -> bool:
    """Whether a clause starts with its own words: no *and*, *but*, *so* or *however* that ties it to what came before."""
    if not words:
        return False
    first = analysis.words[words[0]]
    return first.upos not in ("CCONJ", "SCONJ", "INTJ", "AUX") and first.text.lower() not in TYING


def _both_clauses(analysis: Analysis, reason: list[int], main: list[int], n: int) -> list[Change] | None:
    """The two clauses around *because* in each other's place."""
    reason, main = _trimmed(analysis, reason), _trimmed(analysis, main)
    if not reason or not main or not _movable_clause(analysis, main) or not _movable_clause(analysis, reason):
        return None
    if main[-1] < n - 1 and analysis.words[main[-1] + 1].text != "," or analysis.words[n - 1].text.lower() in WEAK:
        return None
    (start, end), (low, high) = span(analysis, main), span(analysis, reason)
    if MARKED.search(analysis.text[start:high]) or analysis.text[high : high + 1] not in (".", ",", "!", ";", ")", ""):
        return None
    opens = starts_sentence(analysis, start)
    earlier = analysis.words[main[0] - 1] if main[0] else None
    if (
        not opens
        and earlier is not None
        and (earlier.upos not in ("PUNCT", "CCONJ", "SCONJ") or earlier.text.lower() in ("both", "either"))
    ):
        return None
    lead, tail = (
        analysis.text[low:high],
        _without_capital(analysis, main[0], analysis.text[start:end]) if opens else analysis.text[start:end],
    )
    return [(start, end, lead[0].upper() + lead[1:] if opens else lead), (low, high, tail)]


def _fronted(analysis: Analysis, reason: list[int], main: list[int]) -> list[Change] | None:
    """*Because Y, X* with both clauses exchanged."""
    reason, main = _trimmed(analysis, reason), _trimmed(analysis, main)
    if not reason or not main or reason[0] > main[0] or MARKED.search(analysis.text[slice(*span(analysis, reason + main))]):
        return None
    if not is_contiguous(main) or not _movable_clause(analysis, main):
        return None
    gap = analysis.text[span(analysis, reason)[1] : span(analysis, main)[0]]
    if gap != ", ":
        return None
    return [
        (*span(analysis, reason), analysis.text[slice(*span(analysis, main))]),
        (*span(analysis, main), analysis.text[slice(*span(analysis, reason))]),
    ]


def _noun(analysis: Analysis, n: int | None) -> _Phrase | None:
    """A noun phrase that can be cause or effect; None for pronouns and numbers."""
    if n is None or analysis.words[n].upos not in ("NOUN", "PROPN"):
        return None
    return _phrase(analysis, n)


def _nouns_swapped(analysis: Analysis, n: int, materials: Materials) -> list[Change] | None:
    """*The flood caused a fire* -> *A fire caused the flood*; *was caused by*, *led to*, *resulted from*."""
    word = analysis.words[n]
    lemma = word.lemma.lower()
    pair = next((pair for pair in clauses(analysis) if pair[0] == n), None)
    if word.upos != "VERB" or pair is None or lemma not in CAUSING and lemma not in CAUSED:
        return None
    passive = child_of(analysis, n, "nsubj:pass") is not None
    if passive and (lemma in CAUSED or CAUSING[lemma]):
        return None
    effects = [
        m
        for m in children(analysis, n)
        if m > n and _after(analysis, m, "by" if passive else CAUSING.get(lemma, ""), CAUSED.get(lemma, ""))
    ]
    first, second = _noun(analysis, child_of(analysis, n, "nsubj")), _noun(analysis, effects[0] if effects else None)
    bare = (
        second is not None
        and first is not None
        and second.words[0] > n > first.words[-1]
        and child_of(analysis, n, "xcomp", "iobj") is None
    )
    return _exchanged(analysis, pair, first, second, materials) if bare and first is not None and second is not None else None


def _after(analysis: Analysis, n: int, *prepositions: str) -> bool:
    """Whether a word is an object, or follows one of the prepositions."""
    word, case = analysis.words[n], child_of(analysis, n, "case")
    if case is None:
        return word.relation == "obj" and "" in prepositions and prepositions[0] == ""
    return word.relation.startswith("obl") and analysis.words[case].text.lower() in [one for one in prepositions if one]


def _participle_turned(analysis: Analysis, n: int, materials: Materials) -> list[Change] | None:
    """*The dam broke, causing a flood* -> *The dam broke because of a flood*; *a fire caused by smoke* -> *a fire causing smoke*."""
    word, low = analysis.words[n], analysis.words[n].text.lower()
    if (
        low == "caused"
        and word.relation == "acl"
        and analysis.words[n + 1 : n + 2]
        and analysis.words[n + 1].text.lower() == "by"
    ):
        return [(word.start, analysis.words[n + 1].end, "causing")]
    joined = {"causing": "", "triggering": "", "leading": "to", "resulting": "in"}.get(low)
    if joined is None or word.relation not in ("advcl", "acl") or n == 0:
        return None
    following = analysis.words[n + 1].text.lower() if n + 1 < len(analysis.words) else ""
    end = analysis.words[n + 1].end if joined and following == joined else word.end
    target = next((m for m in children(analysis, n) if m > n and _after(analysis, m, joined)), None)
    phrase = _noun(analysis, target)
    touching = (
        phrase is not None and analysis.text[end : phrase.start] == " " and child_of(analysis, n, "xcomp", "advcl") is None
    )
    if not touching or (joined and following != joined) or starts_sentence(analysis, word.start):
        return None
    comma = analysis.words[n - 1].text == ","
    return [(analysis.words[n - 1].start, end, " due to")] if comma else None


def _reason_turned(analysis: Analysis, n: int, materials: Materials) -> list[Change] | None:
    """*The match was off due to a storm* -> *The match was off, which caused a storm*."""
    text, start = analysis.text, analysis.words[n].start
    found = next((p for p in BECAUSE_OF if text[start:].lower().startswith(f"{p} ")), None)
    words = [m for m in range(n, len(analysis.words)) if found and analysis.words[m].start >= start + len(found)]
    if found is None or not words or starts_sentence(analysis, start) or n == 0 or analysis.words[n].text[0].isupper():
        return None
    head = analysis.words[n].head
    inner = [m for m in subtree(analysis, head) if m >= words[0]] if head > n else []
    clause = analysis.words[head].head if head > n else -1
    ends = bool(inner) and text[analysis.words[inner[-1]].end : analysis.words[inner[-1]].end + 1] in (".", "", "!")
    main = (
        clause >= 0
        and analysis.words[clause].relation == "root"
        and analysis.words[clause].upos == "VERB"
        and subject_of(analysis, clause) is not None
    )
    plain = text[start - 1 : start] == " " and analysis.words[n - 1].upos not in word_set("roles.plain")
    fit = analysis.words[head].upos == "NOUN" and of_relation(analysis.words[head], "obl")
    finite = not any(of_relation(analysis.words[m], "acl", "advcl") for m in inner)
    return [(start - 1, start + len(found), ", which caused")] if ends and main and plain and fit and finite else None


PLACED = ("nsubj", "obj", "iobj", "obl", "nmod")
"""Relations of nouns that can stand for each other's place."""


def phrases_exchanged(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Two nouns or names exchanged with each other, each with its compound, whatever they stand for: *The rent of the flat rose in
    the winter.* -> *The flat of the rent rose in the winter.* A reader who only asks which words occur finds nothing."""
    heads = [n for n, word in enumerate(analysis.words) if word.upos in ("NOUN", "PROPN") and of_relation(word, *PLACED)]
    pairs = [pair for pair in combinations(heads, 2) if _apart(analysis, *pair)]
    return choose(analysis, rng, pairs, lambda pair: _cores(analysis, *pair), "no two nouns that can change places")


def _apart(analysis: Analysis, one: int, other: int) -> bool:
    """Whether two nouns differ, agree in number, and are not said of each other or of one symmetric verb."""
    first, second = analysis.words[one], analysis.words[other]
    verb = analysis.words[first.head] if first.head >= 0 else None
    symmetric = first.head == second.head and verb is not None and verb.lemma.lower() in SYMMETRIC | {"be"}
    return (
        first.lemma.lower() != second.lemma.lower()
        and is_plural(analysis, one) == is_plural(analysis, other)
        and not symmetric
        and not any(of_relation(analysis.words[n], "conj", "appos", "cop") for k in (one, other) for n in children(analysis, k))
    )


def _cores(analysis: Analysis, one: int, other: int) -> list[Change] | None:
    """Each core in the place of the other."""
    cores = [nominal_core(analysis, n) for n in (one, other)]
    if set(cores[0]) & set(cores[1]) or not all(stands_alone(analysis, n) for core in cores for n in core):
        return None
    spans = [span(analysis, core) for core in cores]
    common = any(
        starts_sentence(analysis, start) and analysis.words[core[0]].upos != "PROPN"
        for (start, _), core in zip(spans, cores, strict=True)
    )
    if common or not all(is_contiguous(core) for core in cores):
        return None
    (a, b), (c, d) = spans
    return sorted([*replacement(analysis, a, b, analysis.text[c:d]), *replacement(analysis, c, d, analysis.text[a:b])])


PERTURBATIONS = (
    Perturbation("roles_swapped", "accuracy", "mistranslation - roles", "critical", None, roles_swapped),
    Perturbation("names_exchanged", "accuracy", "mistranslation - named entity", "critical", None, names_exchanged),
    Perturbation("phrases_exchanged", "accuracy", "mistranslation - roles", "critical", None, phrases_exchanged),
    Perturbation("numbers_exchanged", "accuracy", "mistranslation - numbers", "critical", None, numbers_exchanged),
    Perturbation("cause_and_effect_swapped", "accuracy", "mistranslation - cause", "critical", None, cause_and_effect_swapped),
)

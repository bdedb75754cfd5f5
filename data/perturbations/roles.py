"""Who did what to whom turned round: subject and object, two names, two numbers, cause and effect exchange their places."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations

from rome.data.perturbations.names import PLACES, Entity, entities
from rome.data.perturbations.verb_forms import form_of_be

from .lexicons import MONTHS, replacements, word_set
from .perturbation import OBJECTIVE, SUBJECTIVE, Change, Outcome, Parse, is_contiguous, of_relation, perturbation

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


@perturbation("accuracy", "mistranslation - roles", "critical")
def roles_swapped(parse: Parse) -> Outcome:
    """Subject and object, giver and receiver, or agent and patient exchange places: *The dog bit him* -> *He bit the dog*."""
    places = [place for entity in entities(parse) if entity.kind in (*PLACES, "date") for place in entity.words]
    pairs = [pair for clause in parse.clauses() for pair in _partners(parse, clause, frozenset(places))]
    return parse.choose(pairs, lambda pair: _exchanged(parse, *pair), "no two partners that can change roles")


def _partners(parse: Parse, clause: tuple[int, int], places: frozenset[int]) -> list[tuple[tuple[int, int], _Phrase, _Phrase]]:
    """The subject of a clause with each phrase that can change roles with it."""
    verb, _ = clause
    word = parse.words[verb]
    subject = parse.child(verb, "nsubj")
    if (
        word.upos != "VERB"
        or subject is None
        or subject > verb
        or word.lemma.lower() in SYMMETRIC | MOTION
        or _mutual(parse, verb)
    ):
        return []
    first = _phrase(parse, subject)
    early = any(parse.relation(n) == "obj" for n in parse.children(verb) if n < verb)
    if first is None or first.words[-1] >= verb or early:
        return []
    found = []
    receiver = parse.child(verb, "iobj")
    for n in parse.children(verb):
        second = _phrase(parse, n) if n > verb and _is_partner(parse, n, receiver) else None
        if second is not None and second.words[0] > verb and _may_exchange(parse, first, second, places):
            found.append((clause, first, second))
    return found


def _mutual(parse: Parse, verb: int) -> bool:
    """Whether *each other* or a reflexive pronoun ties subject and object together."""
    return any(parse.low(n).endswith(("self", "selves", "other", "another")) for n in parse.children(verb))


def _is_partner(parse: Parse, n: int, receiver: int | None) -> bool:
    """Whether a word under the verb is its object, its receiver, its agent, or whom the deed goes to."""
    relation = parse.relation(n)
    if relation == "obj":
        return receiver is None and parse.child(parse.words[n].head, "nsubj:pass") is None
    if relation == "iobj":
        return True
    prepositions = [m for m in parse.children(n) if parse.relation(m) == "case"]
    if not relation.startswith("obl") or len(prepositions) != 1 or prepositions[0] > n:
        return False
    preposition = parse.low(prepositions[0])
    passive = parse.child(parse.words[n].head, "nsubj:pass") is not None
    return preposition == "by" if passive else preposition in DIRECTIONS and parse.pos(n) != "PROPN"


def _is_person(parse: Parse, n: int) -> bool:
    """Whether a word stands for somebody: a name, a personal pronoun, or a noun for people, animals or bodies that act."""
    word = parse.words[n]
    low = word.text.lower()
    name = word.upos == "PROPN" and not any(c.isdigit() for c in word.text)
    return name or low in PEOPLE or (word.xpos == "PRP" and low in PERSONAL)


def _may_exchange(parse: Parse, first: _Phrase, second: _Phrase, places: frozenset[int]) -> bool:
    """Whether each could do what the other does: both somebody, both no place or both a place, and not the same."""
    heads = [first.head, second.head]
    same_side = len({n in places for n in heads}) == 1
    texts = [parse.text[one.start : one.end].lower() for one in (first, second)]
    plain = sum(parse.low(n) in PERSONAL for n in heads) < 2 or texts[0] not in (
        OBJECTIVE.get(texts[1]),
        SUBJECTIVE.get(texts[1]),
    )
    works = any(texts[k].startswith(("a ", "an ")) and parse.pos(heads[k]) == "PROPN" for k in (0, 1))
    return all(_is_person(parse, n) for n in heads) and not works and same_side and plain and texts[0] != texts[1]


def _phrase(parse: Parse, head: int) -> _Phrase | None:
    """The noun phrase of a head without its preposition, if it is whole, short, and can stand elsewhere."""
    word = parse.words[head]
    words = parse.subtree(head)
    if words and of_relation(word, "obl", "nmod"):
        case = parse.child(head, "case")
        words = [n for n in words if n != case]
    nominal = (
        word.upos in ("NOUN", "PROPN")
        or (word.xpos == "PRP" and word.text.lower() in PERSONAL)
        or (word.upos == "PRON" and word.text.lower() in PEOPLE - {"who"})
    )
    if not nominal or not is_contiguous(words) or len(words) > LONGEST:
        return None
    start, end = parse.span(words)
    text = parse.text
    odd = text[max(start - 1, 0) : start] == "."
    touched = parse.touching(start, end)
    odd = odd or (
        any(c in '"“”‘():;' for c in text[start:end])
        or text[end - 1] in ",-"
        or any(c.isalnum() or c in "-'’/@#_" for c in touched)
    )
    ends = words[-1] + 1
    following = parse.word(ends)
    capital = following is not None and (
        parse.in_title_case(ends) and following.upos != "PRON" or following.upos in ("NUM", "PROPN")
    )
    goes_on = capital and text[end : end + 1] in (" ", "-")
    before = parse.words[words[0] - 1] if words[0] else None
    cut = (
        before is not None
        and before.upos in ("PROPN", "NUM", "ADJ", "X", "DET")
        and text[start - 1 : start] == " "
        and before.sentence == word.sentence
    )
    wrong = parse.tag(words[0]) in ("WP", "WDT", "WP$") or parse.pos(words[0]) in ("ADP", "SCONJ", "CCONJ")
    return None if odd or goes_on or cut or wrong else _Phrase(head, words, start, end)


def _moved(parse: Parse, phrase: _Phrase, cases: dict[str, str], opens: bool) -> str:
    """The phrase as it reads in its new place: a pronoun in the case of that place, a capital where the sentence starts."""
    text, first = parse.text[phrase.start : phrase.end], parse.words[phrase.words[0]]
    if len(phrase.words) == 1 and first.text.lower() in PERSONAL:
        text = cases.get(first.text.lower(), first.text.lower() if first.text != "I" else "I")
    elif parse.starts_sentence(phrase.start):
        text = _without_capital(parse, phrase.words[0], text)
    return text[:1].upper() + text[1:] if opens else text


def _without_capital(parse: Parse, n: int, text: str) -> str:
    """A text that a word starts, without the capital of the start of a sentence; names and *I* keep theirs."""
    word = parse.words[n]
    keeps = (
        word.xpos.startswith("NNP")
        or word.upos == "PROPN"
        or word.text == "I"
        or word.text[1:] != word.text[1:].lower()
        or word.lemma[:1].isupper()
    )
    return text if keeps else text[:1].lower() + text[1:]


def _exchanged(parse: Parse, clause: tuple[int, int], first: _Phrase, second: _Phrase) -> list[Change] | None:
    """Both phrases in each other's place, and the verb that agrees with the new subject."""
    verb = _agreeing(parse, clause, second.head)
    if verb is None:
        return None
    opens = parse.starts_sentence(first.start)
    lead, follower = _moved(parse, second, SUBJECTIVE, opens), _moved(parse, first, OBJECTIVE, False)
    return [(first.start, first.end, lead), *verb, (second.start, second.end, follower)]


def _agreeing(parse: Parse, clause: tuple[int, int], subject: int) -> list[Change] | None:
    """The change that makes the finite verb of a clause agree with a new subject; None where it cannot be made."""
    predicate, finite = clause
    word, low = parse.words[finite], parse.low(finite)
    if word.xpos == "MD" or (word.xpos == "VBD" and low not in ("was", "were")):
        return []
    new, old = parse.words[subject], parse.subject(predicate)
    plural, first_person = (
        parse.is_plural(subject) or new.text.lower() in ("police", "people"),
        new.text.lower() in ("i", "me"),
    )
    if old is not None and parse.is_plural(old) == plural and not first_person and parse.words[old].text != "I":
        return []
    if not parse.has_own_span(finite) or not parse.stands_alone(finite) or _shares(parse, predicate):
        return None
    lemma = word.lemma.lower()
    if lemma == "be":
        form: str | None = form_of_be("past" if low in ("was", "were") else "present", plural, first_person)
    elif lemma in ("have", "do"):
        form = lemma if plural else {"have": "has", "do": "does"}[lemma]
    else:
        form = lemma if plural else parse.inflect(lemma, "VBZ")
    return [(word.start, word.end, form)] if form else None


def _shares(parse: Parse, predicate: int) -> bool:
    """Whether another verb is coordinated with this one and has no subject of its own."""
    return any(parse.relation(n) == "conj" and parse.subject(n) is None for n in parse.children(predicate))


@perturbation("accuracy", "mistranslation - named entity", "critical")
def names_exchanged(parse: Parse) -> Outcome:
    """Two names of one kind exchange places: *Ann left Oslo for Rome* -> *Ann left Rome for Oslo*."""
    found = [entity for entity in entities(parse) if _is_whole(parse, entity)]
    pairs = [pair for pair in combinations(found, 2) if _two_names(parse, *pair)]
    return parse.choose(pairs, lambda pair: _names(parse, *pair), "no two names that can change places")


def _is_whole(parse: Parse, entity: Entity) -> bool:
    """Whether no other part of a name stands right beside the entity: *Osama* of *Osama bin Laden*, *Al* - *Maqrizi*."""
    words = parse.words
    beside = [n for n in (entity.words[0] - 1, entity.words[-1] + 1) if 0 <= n < len(words)]
    parts = [
        words[n].upos in ("PROPN", "X", "NUM") or words[n].text in ("-", "–", "de", "la", "bin", "van", "von", "al", "el")
        for n in beside
    ]
    before, after = words[max(entity.words[0] - 2, 0) : entity.words[0]], words[entity.words[-1] + 1 : entity.words[-1] + 3]
    linked = len(after) == 2 and after[0].text in ("of", "for") and after[1].upos == "PROPN"
    article = [word.text.lower() for word in before] == ["of", "the"]
    alone = len(entity.text) > 1 and parse.text[max(entity.start - 2, 0) : entity.start] not in ('" ', "” ")
    return alone and not any(parts) and not linked and not (article and entity.kind == "")


def _two_names(parse: Parse, first: Entity, second: Entity) -> bool:
    """Whether two entities are of one kind, differ, and are not named side by side."""
    kinds = ["place" if one.kind in PLACES else one.kind for one in (first, second)]
    short, long = sorted((first.text.lower(), second.text.lower()), key=len)
    determiners = [
        one.words[0] > 0 and parse.words[one.words[0] - 1].upos in ("DET", "PRON", "ADJ", "NUM") for one in (first, second)
    ]
    plurals = [parse.is_plural(one.head) for one in (first, second)]
    between = parse.text[first.end : second.start]
    near = not re.search(r"\b(?!and\b)[a-z]{3}", between)
    linked = _leader(parse, first.head) == _leader(parse, second.head) or _linked(parse, first.head, second.head)
    quoted = [
        parse.text[max(one.start - 1, 0)] in '"“‘' or parse.text[one.end : one.end + 1] in ('"', "”") for one in (first, second)
    ]
    cases = [
        parse.low(case) if case is not None else "" for one in (first, second) for case in (parse.child(one.head, "case"),)
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


def _leader(parse: Parse, n: int) -> int:
    """The first part of the coordination or list that a word stands in; the word itself outside of one."""
    for _ in range(len(parse.words)):
        if not parse.relates(n, "conj", "appos", "flat", "list", "parataxis") or parse.words[n].head < 0:
            return n
        n = parse.words[n].head
    return n


def _linked(parse: Parse, first: int, second: int) -> bool:
    """Whether one hangs right under the other, or both are partners in something mutual."""
    words = parse.words
    if words[first].head == second or words[second].head == first:
        return True
    shared = words[first].head == words[second].head and words[first].head >= 0
    return shared and words[words[first].head].lemma.lower() in SYMMETRIC - word_set("roles.taking_part")


def _names(parse: Parse, first: Entity, second: Entity) -> list[Change]:
    """Each name in the place of the other; the article of a name gets or loses its capital."""
    changes: list[Change] = []
    for old, new in ((first, second), (second, first)):
        text = new.text[0].upper() + new.text[1:] if parse.starts_sentence(old.start) else new.text
        changes += parse.replace(old.start, old.end, text)
    return changes


PLACED = ("nsubj", "obj", "iobj", "obl", "nmod")
"""Relations of nouns that can stand for each other's place."""


@perturbation("accuracy", "mistranslation - roles", "critical")
def phrases_exchanged(parse: Parse) -> Outcome:
    """Two nouns or names exchanged with each other, each with its compound, whatever they stand for: *The rent of the flat rose in
    the winter.* -> *The flat of the rent rose in the winter.* A reader who only asks which words occur finds nothing."""
    heads = [n for n, word in enumerate(parse.words) if word.upos in ("NOUN", "PROPN") and of_relation(word, *PLACED)]
    pairs = [pair for pair in combinations(heads, 2) if _apart(parse, *pair)]
    return parse.choose(pairs, lambda pair: _cores(parse, *pair), "no two nouns that can change places")


def _apart(parse: Parse, one: int, other: int) -> bool:
    """Whether two nouns differ, agree in number, and are not said of each other or of one symmetric verb."""
    first, second = parse.words[one], parse.words[other]
    verb = parse.word(first.head)
    symmetric = first.head == second.head and verb is not None and verb.lemma.lower() in SYMMETRIC | {"be"}
    return (
        first.lemma.lower() != second.lemma.lower()
        and parse.is_plural(one) == parse.is_plural(other)
        and not symmetric
        and not any(parse.relates(n, "conj", "appos", "cop") for k in (one, other) for n in parse.children(k))
    )


def _cores(parse: Parse, one: int, other: int) -> list[Change] | None:
    """Each core in the place of the other."""
    cores = [parse.nominal_core(n) for n in (one, other)]
    if set(cores[0]) & set(cores[1]) or not all(parse.stands_alone(n) for core in cores for n in core):
        return None
    spans = [parse.span(core) for core in cores]
    common = any(
        parse.starts_sentence(start) and parse.pos(core[0]) != "PROPN" for (start, _), core in zip(spans, cores, strict=True)
    )
    if common or not all(is_contiguous(core) for core in cores):
        return None
    (a, b), (c, d) = spans
    return sorted([*parse.replace(a, b, parse.text[c:d]), *parse.replace(c, d, parse.text[a:b])])


SMALL = word_set("roles.small")
DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\d{1,2}:\d{2}")


@dataclass(frozen=True, slots=True)
class _Figure:
    """A number in the text: its word, its value, what it counts."""

    word: int
    value: str
    kind: str


@perturbation("accuracy", "mistranslation - numbers", "critical")
def numbers_exchanged(parse: Parse) -> Outcome:
    """Two numbers of one kind exchange places: *3 men and 7 women* -> *7 men and 3 women*."""
    figures = [figure for n in range(len(parse.words)) for figure in (_figure(parse, n),) if figure]
    pairs = [pair for pair in combinations(figures, 2) if _two_numbers(parse, *pair)]
    return parse.choose(pairs, lambda pair: _numbers(parse, *pair), "no two numbers that can change places")


def _figure(parse: Parse, n: int) -> _Figure | None:
    """A number that stands alone; None for 0 and 1, for a part of a longer number, and for anything else."""
    word, text = parse.words[n], parse.text
    low = word.text.lower()
    around = parse.touching(word.start, word.end)
    if word.upos != "NUM" or not parse.has_own_span(n) or any(c.isalnum() or c in "-–/@_:#'’+*" for c in around):
        return None
    near = [parse.words[m] for m in (n - 1, n + 1) if 0 <= m < len(parse.words)]
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
    elif re.fullmatch(r"1[0-9]{3}|20[0-4]\d", word.text) and not (word.relation == "nummod" and parse.tag(word.head) == "NNS"):
        kind = "year"
    elif month:
        kind = "day"
    else:
        kind = "money" if before.endswith(("$", "€", "£")) else "number"
    return _Figure(n, str(float(value)), kind)


def _two_numbers(parse: Parse, first: _Figure, second: _Figure) -> bool:
    """Whether two numbers are of one kind, differ, and are not the ends of a range or parts of a list."""
    if first.kind != second.kind or first.value == second.value:
        return False
    one, other = parse.words[first.word], parse.words[second.word]
    between = parse.text[one.end : other.start].strip().lower().strip("%$€£ ")
    ranged = re.fullmatch(
        r"(?:[-–—~/x×,:;]|and|or|to|through|until|till|by|, and|, or|percent (?:and|or|to)|out of|of|in|-?year(?:s)? (?:or|to))?",
        between,
    )
    listed = _leader(parse, first.word) == _leader(parse, second.word)
    listed = listed or not re.search(r"[a-z]", re.sub(r"\b(?:and|or|million|billion|percent|thousand)\b", "", between))
    dashed = first.kind in ("year", "day") and re.search(r"[–—-]", between) is not None and len(between) < 20
    sizes = sorted(float(one.value) for one in (first, second) if one.kind not in ("word", "clock"))
    comparable = not sizes or sizes[1] <= 1000 * sizes[0]
    return comparable and not ranged and not listed and not dashed


def _numbers(parse: Parse, first: _Figure, second: _Figure) -> list[Change]:
    """Each number in the place of the other, a or an before it mended, a capital where the sentence starts."""
    changes: list[Change] = []
    for old, new in ((first, second), (second, first)):
        word, text = parse.words[old.word], parse.words[new.word].text
        text = text.capitalize() if word.text[0].isupper() else text.lower()
        changes += parse.replace(word.start, word.end, text)
    return changes


CAUSING = replacements("roles.causing")
CAUSED = {"result": "from", "stem": "from", "arise": "from"}
BECAUSE_OF = ("because of", "due to", "as a result of", "owing to", "thanks to")
MARKED = re.compile(r"[\"“”():;?…]")


@perturbation("accuracy", "mistranslation - cause", "critical")
def cause_and_effect_swapped(parse: Parse) -> Outcome:
    """The cause becomes the effect: *The flood caused a fire* -> *A fire caused the flood*; *X because Y* -> *Y because X*."""
    return parse.by_rules((_clauses_swapped, _nouns_swapped, _participle_turned, _reason_turned), "no cause with its effect")


def _clauses_swapped(parse: Parse, n: int) -> list[Change] | None:
    """*X because Y.* -> *Y because X.*, *Because Y, X.* -> *Because X, Y.* and *X, so Y.* -> *Y, so X.*"""
    word = parse.words[n]
    clause, low = word.head, word.text.lower()
    if clause <= n or low not in ("because", "so") or not _joins(parse, n):
        return None
    main = parse.words[clause].head
    if main < 0 or parse.subject(clause) is None or parse.subject(main) is None:
        return None
    reason = [m for m in parse.subtree(clause) if m > n]
    if not reason or not is_contiguous(reason) or reason[0] != n + 1:
        return None
    whole = [m for m in parse.subtree(main) if m not in reason and m != n]
    if parse.starts_sentence(word.start):
        return _fronted(parse, reason, whole) if low == "because" else None
    before: list[int] = []
    for m in reversed([m for m in whole if m < n]):
        if before and before[0] != m + 1:
            break
        before.insert(0, m)
    right = bool(before) and before[-1] == n - 1 and main in before and (parse.subject(main) or 0) in before
    return _both_clauses(parse, reason, before, n) if right else None


def _joins(parse: Parse, n: int) -> bool:
    """Whether a word joins a reason or a consequence to a clause: *because*, or *so* after a comma before a subject."""
    word, clause = parse.words[n], parse.words[parse.words[n].head]
    if word.text.lower() == "because":
        return word.relation == "mark" and clause.relation == "advcl"
    after = parse.words[n + 1] if n + 1 < len(parse.words) else word
    placed = (
        n > 0
        and parse.words[n - 1].text == ","
        and after.upos in ("PRON", "DET", "NOUN", "PROPN")
        and after.text.lower() != "that"
    )
    return placed and of_relation(clause, "conj", "parataxis", "advcl") and of_relation(word, "cc", "advmod", "mark")


def _trimmed(parse: Parse, words: list[int]) -> list[int]:
    """Words without the marks at their ends."""
    while words and parse.pos(words[-1]) == "PUNCT":
        words = words[:-1]
    while words and parse.pos(words[0]) in ("PUNCT", "CCONJ"):
        words = words[1:]
    return words


TYING = word_set("roles.tying")
WEAK = frozenset("just only not simply partly mainly maybe perhaps probably mostly largely is was even precisely".split())


def _movable_clause(parse: Parse, words: list[int]) -> bool:
    """Whether a clause starts with its own words: no *and*, *but*, *so* or *however* that ties it to what came before."""
    if not words:
        return False
    first = parse.words[words[0]]
    return first.upos not in ("CCONJ", "SCONJ", "INTJ", "AUX") and first.text.lower() not in TYING


def _both_clauses(parse: Parse, reason: list[int], main: list[int], n: int) -> list[Change] | None:
    """The two clauses around *because* in each other's place."""
    reason, main = _trimmed(parse, reason), _trimmed(parse, main)
    if not reason or not main or not _movable_clause(parse, main) or not _movable_clause(parse, reason):
        return None
    if main[-1] < n - 1 and parse.words[main[-1] + 1].text != "," or parse.low(n - 1) in WEAK:
        return None
    (start, end), (low, high) = parse.span(main), parse.span(reason)
    if MARKED.search(parse.text[start:high]) or parse.text[high : high + 1] not in (".", ",", "!", ";", ")", ""):
        return None
    opens = parse.starts_sentence(start)
    earlier = parse.words[main[0] - 1] if main[0] else None
    if (
        not opens
        and earlier is not None
        and (earlier.upos not in ("PUNCT", "CCONJ", "SCONJ") or earlier.text.lower() in ("both", "either"))
    ):
        return None
    lead, tail = (
        parse.text[low:high],
        _without_capital(parse, main[0], parse.text[start:end]) if opens else parse.text[start:end],
    )
    return [(start, end, lead[0].upper() + lead[1:] if opens else lead), (low, high, tail)]


def _fronted(parse: Parse, reason: list[int], main: list[int]) -> list[Change] | None:
    """*Because Y, X* with both clauses exchanged."""
    reason, main = _trimmed(parse, reason), _trimmed(parse, main)
    if not reason or not main or reason[0] > main[0] or MARKED.search(parse.phrase(reason + main)):
        return None
    if not is_contiguous(main) or not _movable_clause(parse, main):
        return None
    gap = parse.text[parse.span(reason)[1] : parse.span(main)[0]]
    if gap != ", ":
        return None
    return [(*parse.span(reason), parse.phrase(main)), (*parse.span(main), parse.phrase(reason))]


def _noun(parse: Parse, n: int | None) -> _Phrase | None:
    """A noun phrase that can be cause or effect; None for pronouns and numbers."""
    if n is None or parse.pos(n) not in ("NOUN", "PROPN"):
        return None
    return _phrase(parse, n)


def _nouns_swapped(parse: Parse, n: int) -> list[Change] | None:
    """*The flood caused a fire* -> *A fire caused the flood*; *was caused by*, *led to*, *resulted from*."""
    word = parse.words[n]
    lemma = word.lemma.lower()
    pair = next((pair for pair in parse.clauses() if pair[0] == n), None)
    if word.upos != "VERB" or pair is None or lemma not in CAUSING and lemma not in CAUSED:
        return None
    passive = parse.child(n, "nsubj:pass") is not None
    if passive and (lemma in CAUSED or CAUSING[lemma]):
        return None
    effects = [
        m
        for m in parse.children(n)
        if m > n and _after(parse, m, "by" if passive else CAUSING.get(lemma, ""), CAUSED.get(lemma, ""))
    ]
    first, second = _noun(parse, parse.child(n, "nsubj")), _noun(parse, effects[0] if effects else None)
    bare = (
        second is not None
        and first is not None
        and second.words[0] > n > first.words[-1]
        and parse.child(n, "xcomp", "iobj") is None
    )
    return _exchanged(parse, pair, first, second) if bare and first is not None and second is not None else None


def _after(parse: Parse, n: int, *prepositions: str) -> bool:
    """Whether a word is an object, or follows one of the prepositions."""
    word, case = parse.words[n], parse.child(n, "case")
    if case is None:
        return word.relation == "obj" and "" in prepositions and prepositions[0] == ""
    return word.relation.startswith("obl") and parse.low(case) in [one for one in prepositions if one]


def _participle_turned(parse: Parse, n: int) -> list[Change] | None:
    """*The dam broke, causing a flood* -> *The dam broke because of a flood*; *a fire caused by smoke* -> *a fire causing smoke*."""
    word, low = parse.words[n], parse.low(n)
    if low == "caused" and word.relation == "acl" and parse.words[n + 1 : n + 2] and parse.low(n + 1) == "by":
        return [(word.start, parse.words[n + 1].end, "causing")]
    joined = {"causing": "", "triggering": "", "leading": "to", "resulting": "in"}.get(low)
    if joined is None or word.relation not in ("advcl", "acl") or n == 0:
        return None
    following = parse.low(n + 1)
    end = parse.words[n + 1].end if joined and following == joined else word.end
    target = next((m for m in parse.children(n) if m > n and _after(parse, m, joined)), None)
    phrase = _noun(parse, target)
    touching = phrase is not None and parse.text[end : phrase.start] == " " and parse.child(n, "xcomp", "advcl") is None
    if not touching or (joined and following != joined) or parse.starts_sentence(word.start):
        return None
    comma = parse.words[n - 1].text == ","
    return [(parse.words[n - 1].start, end, " due to")] if comma else None


def _reason_turned(parse: Parse, n: int) -> list[Change] | None:
    """*The match was off due to a storm* -> *The match was off, which caused a storm*."""
    text, start = parse.text, parse.words[n].start
    found = next((p for p in BECAUSE_OF if text[start:].lower().startswith(f"{p} ")), None)
    words = [m for m in range(n, len(parse.words)) if found and parse.words[m].start >= start + len(found)]
    if found is None or not words or parse.starts_sentence(start) or n == 0 or parse.words[n].text[0].isupper():
        return None
    head = parse.words[n].head
    inner = [m for m in parse.subtree(head) if m >= words[0]] if head > n else []
    clause = parse.words[head].head if head > n else -1
    ends = bool(inner) and text[parse.words[inner[-1]].end : parse.words[inner[-1]].end + 1] in (".", "", "!")
    main = (
        clause >= 0 and parse.relation(clause) == "root" and parse.pos(clause) == "VERB" and parse.subject(clause) is not None
    )
    plain = text[start - 1 : start] == " " and parse.pos(n - 1) not in word_set("roles.plain")
    fit = parse.pos(head) == "NOUN" and parse.relates(head, "obl")
    finite = not any(parse.relates(m, "acl", "advcl") for m in inner)
    return [(start - 1, start + len(found), ", which caused")] if ends and main and plain and fit and finite else None

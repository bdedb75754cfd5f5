"""The same text with another structure: voice, order of phrases, clauses opened, split, joined and reported."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rome.data.perturbations.verb_forms import form_of_be
from rome.features.values import Word

from .lexicons import names_of, word_sequence, word_set
from .perturbation import (
    OBJECTIVE,
    SUBJECTIVE,
    Change,
    Materials,
    Outcome,
    Parse,
    base,
    is_contiguous,
    of_relation,
    perturbation,
)

GIVING = frozenset("give send show offer lend sell teach hand award grant promise owe bring tell read pass".split())
GIVING_BACK = frozenset("give show offer lend teach award grant promise tell".split())
TIMES = (
    word_set("rewriting.times")
    | {day.lower() for day in names_of("weekday")}
    | frozenset("monday tuesday wednesday thursday friday saturday sunday today yesterday tomorrow tonight".split())
    | {month.lower() for month in names_of("month")}
)
TIME_WORDS = frozenset("in on at after before during since until by within over throughout".split())
STANDING = frozenset("include concern regard follow consist contain belong be have".split())
PEOPLE = word_sequence("rewriting.people")
MARKS = frozenset("because if when while although though after before since once unless as".split())
THIRD = frozenset("he she it they his her its their him them this that these those".split())
STILL = frozenset("know call base locate situate use make compose design dedicate devote consider own".split())
FIXED_PAIRS = word_set("rewriting.fixed_pairs")
MOVING = word_set("rewriting.moving")


def _phrase(parse: Parse, indices: Sequence[int], cases: dict[str, str]) -> str:
    """A phrase as it stands elsewhere in a sentence: a pronoun in the other case, no capital but that of a name."""
    start, end = parse.span(indices)
    text, first = parse.text[start:end], parse.words[indices[0]]
    if len(indices) == 1 and first.text.lower() in cases and first.xpos == "PRP":
        return cases[first.text.lower()]
    return _lowered(parse, indices[0], text)


def _lowered(parse: Parse, n: int, text: str) -> str:
    """The text with a small first letter, unless its first word keeps its capital."""
    word = parse.words[n]
    named = (
        word.xpos.startswith("NNP")
        or word.upos == "PROPN"
        or word.text in ("I", "I'm")
        or word.text[1:] != word.text[1:].lower()
    )
    adjective = word.upos == "ADJ" and n and word.text[:1].isupper()
    nation = word.upos in ("ADJ", "NOUN") and word.text.endswith(("ish", "ese", "ian", "ans", "ians", "an"))
    opens = n == 0 or parse.words[n - 1].sentence != word.sentence
    return text if named or nation or (adjective and not opens) else text[:1].lower() + text[1:]


def _raised(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def _sentences(parse: Parse, marks: str = r"[\"“”‘«()\[\];:…•\n]|--| [-–—] |^'| '") -> Iterator[tuple[list[int], int]]:
    """(words, root) of every sentence that ends with a full stop and holds none of the marks, such as quotations and brackets."""
    for number, sentence in enumerate(parse.sentences):
        words = [n for n, word in enumerate(parse.words) if word.sentence == number]
        text = parse.text[sentence.start : sentence.end].strip()
        roots = [n for n in words if parse.words[n].head < 0]
        plain = text[:1].isupper() and text.endswith((".", "!")) and not re.search(rf"{marks}|\.\.|[.!?] [A-Z]", text[:-1])
        if len(roots) == 1 and plain and len(words) > 3 and parse.pos(words[-1]) == "PUNCT":
            if all(parse.has_own_span(n) or parse.words[n].text[:1] in "'’n" for n in words):
                yield words, roots[0]


@perturbation("robustness", "dative alternation", "none")
def dative_changed(parse: Parse) -> Outcome:
    """The two objects of a giving verb in the other order: *gave Mary a book* <-> *gave a book to Mary*."""

    def make(n: int) -> list[Change] | None:
        target, receiver = parse.child(n, "obj"), parse.child(n, "iobj")
        to = next((m for m in parse.children(n) if parse.relation(m) == "obl" and m > n), None)
        if target is None or parse.pos(target) not in ("NOUN", "PROPN"):
            return None
        thing = parse.subtree(target)
        if re.search(
            r"[\"“”‘«»()]|\b(?:time|way|rise|birth|chance|look|try|hand|lift|call|break|ride)\b",
            parse.phrase([n, *thing]) + parse.text[parse.span(thing)[1] :][:1],
        ):
            return None
        plain = is_contiguous(thing) and len(thing) <= 8 and not any(parse.relates(m, "acl", "conj", "advcl") for m in thing)
        if receiver is not None:
            person = parse.subtree(receiver)
            row = is_contiguous(person) and person[0] == n + 1 and thing[0] == person[-1] + 1 and len(person) <= 6
            clean = row and plain and parse.pos(receiver) in ("PRON", "NOUN", "PROPN")
            start, end = parse.span([*person, *thing])
            return [(start, end, f"{parse.phrase(thing)} to {parse.phrase(person)}")] if clean else None
        if to is None or parse.lemma(n) not in GIVING_BACK or not parse.has(target, "det", "nummod", "nmod:poss"):
            return None
        person = parse.subtree(to)
        human = parse.pos(to) in ("PRON", "PROPN") or parse.tag(to) == "NNS"
        row = is_contiguous(person) and thing[0] == n + 1 and person[0] == thing[-1] + 1 and parse.words[person[0]].text == "to"
        if not (row and plain and human and 1 < len(person) <= 5 and not any(parse.pos(m) == "PUNCT" for m in person)):
            return None
        start, end = parse.span([*thing, *person])
        return [(start, end, f"{parse.phrase(person[1:])} {parse.phrase(thing)}")]

    verbs = [
        n
        for n, w in enumerate(parse.words)
        if w.upos == "VERB" and w.lemma.lower() in GIVING and not parse.has(n, "nsubj:pass", "compound:prt")
    ]
    return parse.choose(verbs, make, "no verb of giving with two objects side by side")


@perturbation("robustness", "adverbial moved", "none")
def fronted(parse: Parse) -> Outcome:
    """A phrase of time or an adverbial clause moved from the end of its sentence to the front, or back."""

    def make(found: tuple[list[int], int]) -> list[Change] | None:
        words, root = found
        if any(parse.relates(m, "conj", "ccomp", "parataxis", "discourse", "expl") for m in parse.children(root)):
            return None
        moved = [m for m in parse.children(root) if _adverbial(parse, m)]
        last = next((m for m in moved if parse.subtree(m)[-1] == words[-2]), None)
        first = next((m for m in moved if parse.subtree(m)[0] == words[0]), None)
        if last is not None and first is None:
            return _to_front(parse, words, root, last)
        return _to_end(parse, words, root, first) if first is not None and last is None else None

    return parse.choose(list(_sentences(parse, r"[“”:;•\n]")), make, "no sentence with an adverbial of its own at one end")


def _adverbial(parse: Parse, m: int) -> bool:
    """Whether a child of the main verb is a phrase of time with a preposition, or a finite clause with a conjunction."""
    word, phrase = parse.words[m], parse.subtree(m)
    if not is_contiguous(phrase) or len(phrase) > 16:
        return False
    lead = parse.low(phrase[0])
    if word.relation == "advcl":
        mark = parse.child(m, "mark", "advmod")
        if parse.subject(m) is None and lead in ("to", "by", "after", "before", "without"):
            return parse.tag(m) in ("VB", "VBG") and not parse.has(m, "conj") and lead != "without"
        return mark == phrase[0] and lead in MARKS and parse.subject(m) is not None and lead != "as"
    timed = word.lemma.lower() in TIMES or re.fullmatch(r"1[5-9]\d\d|20\d\d", word.text) is not None
    clean = not any(parse.pos(n) in ("PUNCT", "VERB") for n in phrase[:-1] if parse.words[n].text != ",")
    bare = (
        word.relation == "obl:unmarked"
        and timed
        and lead in ("last", "next", "this", "yesterday", "today", "tomorrow", "tonight", "every")
    )
    placed = lead == "in" and word.upos == "PROPN" and parse.has(word.head, "obj") and len(phrase) <= 4
    return clean and (bare or (base(word.relation) == "obl" and (timed or placed) and lead in TIME_WORDS and len(phrase) > 1))


def _swaps_reference(parse: Parse, root: int, m: int) -> bool:
    """Whether a pronoun of the main clause may mean a noun of the moved phrase."""
    phrase = set(parse.subtree(m))
    rest = [n for n in parse.subtree(root) if n not in phrase]
    named = any(parse.pos(n) in ("NOUN", "PROPN") and parse.relates(n, "nsubj", "obj") for n in phrase)
    return named and any(parse.low(n) in THIRD and parse.pos(n) in ("PRON", "DET") for n in rest)


def _to_front(parse: Parse, words: list[int], root: int, m: int) -> list[Change] | None:
    phrase, subject = parse.subtree(m), parse.subject(root)
    lead = parse.low(phrase[0])
    negated = lead in ("because", "until", "since") and any(
        parse.lemma(n) in ("not", "n't", "never") for n in parse.children(root)
    )
    if subject is None or parse.subtree(subject)[0] != words[0] or _swaps_reference(parse, root, m) or negated:
        return None
    if parse.low(phrase[0] - 1) in word_set("rewriting.not_before_fronted"):
        return None
    if lead == "to" or lead == "by" and parse.relation(m) != "advcl":
        return None
    start, end = parse.span(phrase)
    rest = parse.text[parse.words[words[0]].start : start].rstrip(" ,")
    if re.search(r"[\"()]| - ", parse.text[start:end]) or "," in rest:
        return None
    sentence = parse.words[words[0]].start
    cut = len(parse.text[:start].rstrip(" ,"))
    lowered = _lowered(parse, words[0], parse.text[sentence])
    return [(sentence, sentence + 1, f"{_raised(parse.text[start:end])}, {lowered}"), (cut, end, "")]


def _to_end(parse: Parse, words: list[int], root: int, m: int) -> list[Change] | None:
    phrase, subject = parse.subtree(m), parse.subject(root)
    phrase = phrase[:-1] if parse.words[phrase[-1]].text == "," else phrase
    start, end = parse.span(phrase)
    comma = re.match(r", ?", parse.text[end:]) or (re.match(r" ", parse.text[end:]) if parse.relation(m) != "advcl" else None)
    if subject is None or comma is None or _swaps_reference(parse, root, m):
        return None
    next_word = phrase[-1] + (2 if "," in comma.group() else 1)
    others = [n for n in parse.children(root) if parse.relation(n) in ("advcl", "acl") and n != m]
    if parse.subtree(subject)[0] != next_word or others or parse.text[end:].startswith(",,"):
        return None
    last = parse.words[words[-1]].start
    rest = words[words.index(next_word) : -1]
    if len(rest) > 20 or any(
        parse.relates(n, "acl", "advcl", "appos", "ccomp", "conj") or parse.words[n].text == "," for n in rest
    ):
        return None
    begin = parse.words[next_word].start
    if parse.low(next_word) in ("this", "that", "these", "those") or parse.text[last - 1 : last] == " ":
        return None
    return [
        (start, begin + 1, parse.text[begin].upper()),
        (last, last, f" {_lowered(parse, phrase[0], parse.text[start:end])}"),
    ]


@perturbation("robustness", "active form", "none")
def active_form(parse: Parse) -> Outcome:
    """A passive clause with its agent in the active: *The album was released by the firm.* -> *The firm released the album.*"""
    verbs = [n for n, w in enumerate(parse.words) if w.xpos == "VBN" and parse.has(n, "aux:pass") and parse.stands_alone(n)]
    return parse.choose(verbs, lambda n: _active(parse, n), "no passive clause with an agent after the verb")


def _active(parse: Parse, verb: int) -> list[Change] | None:
    subject = parse.child(verb, "nsubj:pass")
    agent = next((m for m in parse.children(verb) if base(parse.relation(m)) == "obl" and m > verb), None)
    relation = parse.relation(verb)
    if (
        subject is None
        or agent is None
        or relation not in ("root", "ccomp", "parataxis", "conj", "advcl")
        or parse.has(verb, "xcomp", "ccomp", "compound:prt", "obj")
    ):
        return None
    first, last = parse.subtree(subject), parse.subtree(agent)
    row = (
        is_contiguous(first)
        and is_contiguous(last)
        and last[0] == verb + 1
        and parse.words[last[0]].text == "by"
        and len(last) > 1
    )
    if not row or len(last) > 12 or not _acts(parse, agent) or parse.tag(subject) in ("WDT", "WP", "EX"):
        return None
    conjunct = any(parse.relation(m) == "conj" and parse.subject(m) is None for m in parse.children(verb))
    group = list(range(first[-1] + 1, verb))
    adverbs = [n for n in group if parse.pos(n) == "ADV" and parse.words[n].head == verb]
    forms = [parse.words[n] for n in group if n not in adverbs]
    after = parse.text[parse.words[last[-1]].end :][:1]
    fits = forms and all(w.upos == "AUX" for w in forms) and forms[-1].lemma.lower() == "be" and not conjunct
    if (
        not fits
        or any(w.text[:1] in "'’" for w in forms)
        or after not in ("", " ", ".", ",")
        or _commas(parse, first)
        or _commas(parse, last)
    ):
        return None
    new = _active_group([w.text.lower() for w in forms], parse.lemma(verb), parse.is_plural(agent), parse.materials)
    goes_on = last[-1] + 1 < len(parse.words) and parse.pos(last[-1] + 1) == "PROPN"
    if new is None or goes_on:
        return None
    helper, _, main = new.rpartition(" ")
    new = " ".join([*helper.split(), *(parse.words[n].text for n in adverbs), main])
    lead, rest = _phrase(parse, last[1:], SUBJECTIVE), _phrase(parse, first, OBJECTIVE)
    start, end = parse.span([*first, *last])
    return [(start, end, f"{_raised(lead) if parse.text[start].isupper() and _opens(parse, first[0]) else lead} {new} {rest}")]


def _opens(parse: Parse, n: int) -> bool:
    """Whether a word is the first of its sentence."""
    return n == 0 or parse.words[n - 1].sentence != parse.words[n].sentence


def _commas(parse: Parse, phrase: Sequence[int]) -> bool:
    """Whether marks or relative clauses make a phrase hard to move."""
    return any(parse.pos(n) == "PUNCT" and parse.words[n].text not in ("-", "'") for n in phrase) or any(
        parse.relation(n) == "acl:relcl" for n in phrase
    )


def _acts(parse: Parse, agent: int) -> bool:
    """Whether what follows *by* can be an agent: a name, a person or a thing with a determiner, no time, measure or manner."""
    word = parse.words[agent]
    measured = any(parse.pos(n) in ("NUM", "SYM") for n in parse.subtree(agent)) or "%" in word.text
    determined = parse.has(agent, "det", "nmod:poss") or word.xpos in ("NNP", "NNS", "NNPS")
    pronoun = word.xpos == "PRP" and not word.text.lower().endswith(("self", "selves"))
    manner = word.lemma.lower() in TIMES or word.lemma.lower() in word_set("rewriting.manners")
    return not measured and not manner and (pronoun or (word.upos in ("NOUN", "PROPN") and determined))


def _active_group(forms: list[str], lemma: str, plural: bool, materials: Materials) -> str | None:
    """The active verb for the auxiliaries of a passive one: *has been* + *see* -> *has seen*."""
    head, count = forms[0], len(forms)
    have = {"has": "have" if plural else "has", "have": "have" if plural else "has", "had": "had"}
    if count == 1 and head in ("was", "were"):
        return materials.inflect(lemma, "VBD")
    if count == 1 and head in ("is", "are", "am"):
        return lemma if plural else materials.inflect(lemma, "VBZ")
    if count == 2 and head in have and forms[1] == "been":
        participle = materials.inflect(lemma, "VBN")
        return f"{have[head]} {participle}" if participle else None
    if count == 2 and forms[1] == "being":
        gerund = materials.inflect(lemma, "VBG")
        return f"{form_of_be('past' if head in ('was', 'were') else 'present', plural)} {gerund}" if gerund else None
    modal = head in ("will", "would", "can", "could", "may", "might", "must", "should", "shall")
    return f"{head} {lemma}" if count == 2 and modal and forms[1] == "be" else None


@perturbation("robustness", "relative clause", "none")
def relative_clause_opened(parse: Parse) -> Outcome:
    """A participle clause as a relative clause, or back: *the firm, founded in 1998,* <-> *the firm, which was founded in 1998,*."""
    spots = [
        n for n, w in enumerate(parse.words) if w.relation in ("acl", "acl:relcl") and w.xpos in ("VBN", "VBG") and w.head >= 0
    ]
    return parse.choose(spots, lambda n: _reopened(parse, n), "no participle or relative clause after a noun")


def _reopened(parse: Parse, n: int) -> list[Change] | None:
    """A relative clause without its pronoun and verb, or with them."""
    return _shortened(parse, n) if parse.relation(n) == "acl:relcl" else _lengthened(parse, n)


def _shortened(parse: Parse, n: int) -> list[Change] | None:
    """*the man who was seen by all* -> *the man seen by all*."""
    words, word = parse.words, parse.words[n]
    subject, be = parse.child(n, "nsubj"), parse.child(n, "aux")
    if subject is None or be is None or not subject + 1 == be == n - 1 or words[be].lemma != "be":
        return None
    if words[subject].text not in ("who", "which", "that") or not parse.has_own_span(n):
        return None
    before = subject - 2 if words[subject - 1].text == "," else subject - 1
    following = words[n + 1] if n + 1 < len(words) else word
    if max(parse.nominal_core(word.head)) not in (subject - 1, before) or following.xpos not in ("IN", "TO", "RB"):
        return None
    if word.xpos == "VBG" and word.lemma.lower() not in MOVING:
        return None
    return [(words[subject].start, word.start, "")]


def _lengthened(parse: Parse, n: int) -> list[Change] | None:
    """*the man seen by all* -> *the man who was seen by all*."""
    words, word = parse.words, parse.words[n]
    noun, phrase, lemma = words[word.head], parse.subtree(n), word.lemma.lower()
    set_apart = words[n - 1].text == ","
    inner = phrase[0] == n or (words[phrase[0]].text == "," and len(phrase) > 1 and phrase[1] == n)
    if not inner or noun.upos not in ("NOUN", "PROPN") or word.head >= n or not parse.stands_alone(n) or len(phrase) < 2:
        return None
    if word.xpos == "VBG" and (lemma not in MOVING or lemma in STANDING or (set_apart and noun.upos != "PROPN")):
        return None
    before = n - 2 if set_apart else n - 1
    if before < 0 or before != max(parse.nominal_core(word.head)) or parse.has(n, "nsubj"):
        return None
    tense, person = _tense_of(parse, n, phrase), _is_person(noun)
    if tense is None or (noun.upos == "PROPN" and not person):
        return None
    pronoun = "who" if person else "which" if set_apart or parse.rng.random() < 0.3 else "that"
    return [(word.start, word.start, f"{pronoun} {form_of_be(tense, parse.is_plural(word.head))} ")]


def _tense_of(parse: Parse, n: int, phrase: Sequence[int]) -> str | None:
    """The tense that a participle of a noun stands for; None where it is not plain."""
    words, word = parse.words, parse.words[n]
    root = next((m for m, w in enumerate(words) if w.head < 0 and w.sentence == word.sentence), n)
    helper = parse.child(root, "cop", "aux")
    finite = words[helper if helper is not None else root]
    done, lasting = word.xpos == "VBN", word.lemma.lower() in STILL
    dated = any(re.fullmatch(r"1[5-9]\d\d|20\d\d|ago", words[m].text) for m in phrase)
    past = finite.xpos == "VBD" or dated or (done and not lasting)
    if finite.xpos not in ("VBD", "VBZ", "VBP", "MD") or (done and lasting and dated) or (lasting and past and dated):
        return None
    unsure = done and finite.xpos != "VBD" and not lasting and not dated
    if (unsure and not any(words[m].text == "by" for m in phrase)) or word.lemma.lower() in ("advance", "return", "retire"):
        return None
    return "past" if past else "present"


def _is_person(noun: Word) -> bool:
    """Whether a noun is known to mean people."""
    names = names_of("male name") | names_of("female name") | names_of("family name")
    return (noun.upos == "PROPN" and noun.text in names) or noun.text.lower().endswith(PEOPLE)


@perturbation("robustness", "coordination order", "none")
def coordination_order(parse: Parse) -> Outcome:
    """Two coordinated names, bare nouns or predicates in the other order: *Ann and Bob* -> *Bob and Ann*."""

    def make(n: int) -> list[Change] | None:
        words = parse.words
        others = [m for m in parse.children(n) if words[m].relation == "conj"]
        if len(others) != 1:
            return None
        other = others[0]
        second = [m for m in parse.subtree(other) if words[m].relation != "cc" or words[m].head != other]
        first = parse.nominal_core(n)
        joint = words[second[0] - 1]
        bare = all(
            of_relation(words[m], "case", "conj", "flat", "punct", "cop", "nsubj", "advmod", "root") or m in first
            for m in parse.children(n)
            if m < other
        )
        flat = set(second) == set(parse.nominal_core(other))
        row = (
            is_contiguous(second)
            and second[0] == first[-1] + 2
            and joint.text in ("and", "or")
            and words[other].xpos == words[n].xpos
        )
        before = words[first[0] - 1].text.lower() if first[0] else ""
        names = words[n].upos == "PROPN"
        after = parse.text[words[second[-1]].end :]
        clean = (
            row
            and bare
            and flat
            and before not in ("between", "both", "either", "more", "most", "very", "so", "from", "-", "&", "/")
        )
        touched = (
            re.match(r"['’&/-]| [A-Z]| respectively|, respectively", after)
            or {words[n].lemma.lower(), words[other].lemma.lower()} & FIXED_PAIRS
        )
        if (
            not clean
            or touched
            or (names and len(first) != len(second))
            or any(not parse.stands_alone(m) for m in [*first, *second])
        ):
            return None
        if "respectively" in parse.text or (
            names and len(first) == 1 and re.search(r"[A-Z][\w.]*,? $", parse.text[: words[first[0]].start])
        ):
            return None
        if any(of_relation(words[m], "amod", "compound", "det", "nummod", "nmod") for m in parse.children(n) if m not in first):
            return None
        if words[n].upos == "NOUN" and (words[n].xpos != "NNS" and len(first) > 1 or of_relation(words[n], "compound", "root")):
            return None
        opens = _opens(parse, first[0])
        start, end = parse.span([*first, *second])
        one, two = parse.phrase(first), parse.phrase(second)
        return [
            (start, end, f"{_raised(two) if opens else two} {joint.text} {_lowered(parse, first[0], one) if opens else one}")
        ]

    heads = [
        n
        for n, w in enumerate(parse.words)
        if w.upos in ("NOUN", "PROPN") or (w.upos == "ADJ" and of_relation(w, "root", "xcomp"))
    ]
    return parse.choose(heads, make, "no two coordinated words of one kind without modifiers")


@perturbation("robustness", "clauses split", "none")
def clauses_split(parse: Parse) -> Outcome:
    """Two coordinated main clauses as two sentences: *He came, and she left.* -> *He came. She left.*"""

    def make(found: tuple[list[int], int]) -> list[Change] | None:
        words, root = found
        finite = [
            m for m in parse.children(root) if parse.relation(m) == "conj" and parse.pos(m) in ("VERB", "AUX", "NOUN", "ADJ")
        ]
        if len(finite) != 1 or parse.has(root, "advcl", "ccomp", "parataxis", "mark"):
            return None
        other = finite[0]
        phrase = parse.subtree(other)
        joint = next((m for m in parse.children(other) if parse.relation(m) == "cc"), None)
        subject, main = parse.subject(other), parse.subject(root)
        if (
            joint is None
            or main is None
            or main > root
            or phrase[-1] < words[-2]
            or parse.words[joint].text not in ("and", "but")
            or not is_contiguous(phrase)
        ):
            return None
        start = len(parse.text[: parse.words[joint].start].rstrip(" ,"))
        end = parse.words[joint].end
        lead = {"and": "", "but": "However, "}[parse.words[joint].text]
        if subject is not None and parse.subtree(subject)[0] == joint + 1:
            after = parse.words[joint + 1].start
            return [(start, after + 1, f". {lead}{parse.text[after] if lead else parse.text[after].upper()}")]
        pronoun = parse.words[main]
        same = parse.tag(root) == parse.tag(other) and parse.tag(other) in ("VBD", "VBZ", "VBP") and other == joint + 1
        if subject is not None or not same or pronoun.xpos != "PRP" or parse.has(root, "aux") or parse.subtree(main) != [main]:
            return None
        again = pronoun.text.lower() if pronoun.text != "I" else "I"
        return [(start, end, f". {lead}{again if lead else _raised(again)}")]

    return parse.choose(list(_sentences(parse)), make, "no sentence of two main clauses")


@perturbation("robustness", "reported speech", "none")
def reported_speech(parse: Parse) -> Outcome:
    """What somebody said, with the speaker elsewhere: *She said that X.* -> *According to her, X.*; *X, he said.* -> *He said X.*"""

    def make(found: tuple[list[int], int]) -> list[Change] | None:
        words, root = found
        return _attributed(parse, words, root) or _named_last(parse, words) or _according(parse, words)

    return parse.choose(list(_sentences(parse)), make, "no sentence that says what somebody said")


def _attributed(parse: Parse, words: list[int], root: int) -> list[Change] | None:
    """*She said (that) X.* -> *According to her, X.* or *X, she said.*"""
    clause, speaker = parse.child(root, "ccomp"), parse.child(root, "nsubj")
    kinds = {base(parse.relation(m)) for m in parse.children(root)}
    if clause is None or speaker is None or parse.words[root].lemma != "say" or kinds - {"nsubj", "ccomp", "punct"}:
        return None
    who, what = parse.subtree(speaker), parse.subtree(clause)
    row = (
        is_contiguous(who)
        and is_contiguous(what)
        and who[0] == words[0]
        and who[-1] + 1 == root
        and root < what[0] <= root + 2
        and what[-1] == words[-2]
    )
    if not row or parse.tag(root) not in ("VBD", "VBZ", "VBP") or parse.subject(clause) is None or _commas(parse, who):
        return None
    marked = parse.words[what[0]].text == "that" and parse.relation(what[0]) == "mark"
    what = what[1:] if marked else what
    if parse.pos(what[0]) == "PUNCT":
        return None
    start, end = parse.span(words[:-1])
    if parse.low(what[0]) in ("what", "how", "why", "who", "when", "where") or parse.low(speaker) in ("i", "it", "you"):
        return None
    if parse.rng.random() < 0.5:
        return [(start, end, f"{_raised(parse.phrase(what))}, {_lowered(parse, who[0], parse.phrase([*who, root]))}")]
    return [(start, end, f"According to {_phrase(parse, who, OBJECTIVE)}, {parse.phrase(what)}")]


def _named_last(parse: Parse, words: list[int]) -> list[Change] | None:
    """*X, he said.* -> *He said X.*"""
    text = parse.phrase(words)
    match = re.fullmatch(r"([A-Z][^,]+), (he|she|they|the \w+|[A-Z]\w+(?: [A-Z]\w+)?) (said|says)([.])", text)
    if not match or " said" in match.group(1) or match.group(1).startswith(("If", "When", "Yes", "No ", "Although")):
        return None
    start, end = parse.span(words)
    return [(start, end, f"{_raised(match.group(2))} {match.group(3)} {_lowered(parse, words[0], match.group(1))}.")]


def _according(parse: Parse, words: list[int]) -> list[Change] | None:
    """*According to the firm, X.* -> *The firm said that X.*"""
    match = re.match(r"According to ((?:him|her|them|(?:the|a|his|its|her) [\w ]+|[A-Z][\w ]+)), (?=\w)", parse.phrase(words))
    if not match or len(match.group(1).split()) > 6:
        return None
    start = parse.words[words[0]].start
    after = next((n for n in words if parse.words[n].start == start + match.end()), None)
    if (
        after is None
        or parse.pos(after) in ("ADP", "SCONJ", "VERB")
        or re.search(r"\b(?:law|rules?|plan|schedule|legend|tradition)\b", match.group(1))
    ):
        return None
    if "," in parse.phrase(words)[match.end() :][:60] or parse.words[after].text in ("a", "an"):
        return None
    who = SUBJECTIVE.get(match.group(1), match.group(1))
    verb = parse.rng.choice(("said", "stated"))
    return [(start, start + match.end(), f"{_raised(who)} {verb} that ")]

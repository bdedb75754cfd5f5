"""The same text with another structure: voice, order of phrases, clauses opened, split, joined and reported."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from rome.data.perturbations.tree import OBJECTIVE, SUBJECTIVE
from rome.data.perturbations.verb_forms import form_of_be
from rome.features.values import Analysis, Word

from .lists import names_of, word_sequence, word_set
from .surgery import Change, choose
from .tree import (
    base,
    child_of,
    children,
    has_own_span,
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


def _phrase(analysis: Analysis, indices: Sequence[int], cases: dict[str, str]) -> str:
    """A phrase as it stands elsewhere in a sentence: a pronoun in the other case, no capital but that of a name."""
    start, end = span(analysis, indices)
    text, first = analysis.text[start:end], analysis.words[indices[0]]
    if len(indices) == 1 and first.text.lower() in cases and first.xpos == "PRP":
        return cases[first.text.lower()]
    return _lowered(analysis, indices[0], text)


def _lowered(analysis: Analysis, n: int, text: str) -> str:
    """The text with a small first letter, unless its first word keeps its capital."""
    word = analysis.words[n]
    named = (
        word.xpos.startswith("NNP")
        or word.upos == "PROPN"
        or word.text in ("I", "I'm")
        or word.text[1:] != word.text[1:].lower()
    )
    adjective = word.upos == "ADJ" and n and word.text[:1].isupper()
    nation = word.upos in ("ADJ", "NOUN") and word.text.endswith(("ish", "ese", "ian", "ans", "ians", "an"))
    opens = n == 0 or analysis.words[n - 1].sentence != word.sentence
    return text if named or nation or (adjective and not opens) else text[:1].lower() + text[1:]


def _raised(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def _sentences(analysis: Analysis, marks: str = r"[\"“”‘«()\[\];:…•\n]|--| [-–—] |^'| '") -> Iterator[tuple[list[int], int]]:
    """(words, root) of every sentence that ends with a full stop and holds none of the marks, such as quotations and brackets."""
    for number, sentence in enumerate(analysis.sentences):
        words = [n for n, word in enumerate(analysis.words) if word.sentence == number]
        text = analysis.text[sentence.start : sentence.end].strip()
        roots = [n for n in words if analysis.words[n].head < 0]
        plain = text[:1].isupper() and text.endswith((".", "!")) and not re.search(rf"{marks}|\.\.|[.!?] [A-Z]", text[:-1])
        if len(roots) == 1 and plain and len(words) > 3 and analysis.words[words[-1]].upos == "PUNCT":
            if all(has_own_span(analysis, n) or analysis.words[n].text[:1] in "'’n" for n in words):
                yield words, roots[0]


def _has(analysis: Analysis, head: int, *relations: str) -> bool:
    """Whether a word has a child of one of the relations."""
    return child_of(analysis, head, *relations) is not None


def dative_changed(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """The two objects of a giving verb in the other order: *gave Mary a book* <-> *gave a book to Mary*."""

    def make(n: int) -> list[Change] | None:
        target, receiver = child_of(analysis, n, "obj"), child_of(analysis, n, "iobj")
        to = next((m for m in children(analysis, n) if analysis.words[m].relation == "obl" and m > n), None)
        if target is None or analysis.words[target].upos not in ("NOUN", "PROPN"):
            return None
        thing = subtree(analysis, target)
        if re.search(
            r"[\"“”‘«»()]|\b(?:time|way|rise|birth|chance|look|try|hand|lift|call|break|ride)\b",
            _text(analysis, [n, *thing]) + analysis.text[span(analysis, thing)[1] :][:1],
        ):
            return None
        plain = (
            is_contiguous(thing)
            and len(thing) <= 8
            and not any(of_relation(analysis.words[m], "acl", "conj", "advcl") for m in thing)
        )
        if receiver is not None:
            person = subtree(analysis, receiver)
            row = is_contiguous(person) and person[0] == n + 1 and thing[0] == person[-1] + 1 and len(person) <= 6
            clean = row and plain and analysis.words[receiver].upos in ("PRON", "NOUN", "PROPN")
            start, end = span(analysis, [*person, *thing])
            return [(start, end, f"{_text(analysis, thing)} to {_text(analysis, person)}")] if clean else None
        if (
            to is None
            or analysis.words[n].lemma.lower() not in GIVING_BACK
            or not _has(analysis, target, "det", "nummod", "nmod:poss")
        ):
            return None
        person = subtree(analysis, to)
        human = analysis.words[to].upos in ("PRON", "PROPN") or analysis.words[to].xpos == "NNS"
        row = (
            is_contiguous(person)
            and thing[0] == n + 1
            and person[0] == thing[-1] + 1
            and analysis.words[person[0]].text == "to"
        )
        if not (
            row and plain and human and 1 < len(person) <= 5 and not any(analysis.words[m].upos == "PUNCT" for m in person)
        ):
            return None
        start, end = span(analysis, [*thing, *person])
        return [(start, end, f"{_text(analysis, person[1:])} {_text(analysis, thing)}")]

    verbs = [
        n
        for n, w in enumerate(analysis.words)
        if w.upos == "VERB" and w.lemma.lower() in GIVING and not _has(analysis, n, "nsubj:pass", "compound:prt")
    ]
    return choose(analysis, rng, verbs, make, "no verb of giving with two objects side by side")


def _text(analysis: Analysis, indices: Sequence[int]) -> str:
    """The characters of some words that stand side by side."""
    start, end = span(analysis, indices)
    return analysis.text[start:end]


def fronted(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """A phrase of time or an adverbial clause moved from the end of its sentence to the front, or back."""

    def make(found: tuple[list[int], int]) -> list[Change] | None:
        words, root = found
        if any(
            of_relation(analysis.words[m], "conj", "ccomp", "parataxis", "discourse", "expl") for m in children(analysis, root)
        ):
            return None
        moved = [m for m in children(analysis, root) if _adverbial(analysis, m)]
        last = next((m for m in moved if subtree(analysis, m)[-1] == words[-2]), None)
        first = next((m for m in moved if subtree(analysis, m)[0] == words[0]), None)
        if last is not None and first is None:
            return _to_front(analysis, words, root, last)
        return _to_end(analysis, words, root, first) if first is not None and last is None else None

    return choose(
        analysis, rng, list(_sentences(analysis, r"[“”:;•\n]")), make, "no sentence with an adverbial of its own at one end"
    )


def _adverbial(analysis: Analysis, m: int) -> bool:
    """Whether a child of the main verb is a phrase of time with a preposition, or a finite clause with a conjunction."""
    word, phrase = analysis.words[m], subtree(analysis, m)
    if not is_contiguous(phrase) or len(phrase) > 16:
        return False
    lead = analysis.words[phrase[0]].text.lower()
    if word.relation == "advcl":
        mark = child_of(analysis, m, "mark", "advmod")
        if subject_of(analysis, m) is None and lead in ("to", "by", "after", "before", "without"):
            return analysis.words[m].xpos in ("VB", "VBG") and not _has(analysis, m, "conj") and lead != "without"
        return mark == phrase[0] and lead in MARKS and subject_of(analysis, m) is not None and lead != "as"
    timed = word.lemma.lower() in TIMES or re.fullmatch(r"1[5-9]\d\d|20\d\d", word.text) is not None
    clean = not any(analysis.words[n].upos in ("PUNCT", "VERB") for n in phrase[:-1] if analysis.words[n].text != ",")
    bare = (
        word.relation == "obl:unmarked"
        and timed
        and lead in ("last", "next", "this", "yesterday", "today", "tomorrow", "tonight", "every")
    )
    placed = lead == "in" and word.upos == "PROPN" and _has(analysis, word.head, "obj") and len(phrase) <= 4
    return clean and (bare or (base(word.relation) == "obl" and (timed or placed) and lead in TIME_WORDS and len(phrase) > 1))


def _swaps_reference(analysis: Analysis, root: int, m: int) -> bool:
    """Whether a pronoun of the main clause may mean a noun of the moved phrase."""
    phrase = set(subtree(analysis, m))
    rest = [n for n in subtree(analysis, root) if n not in phrase]
    named = any(analysis.words[n].upos in ("NOUN", "PROPN") and of_relation(analysis.words[n], "nsubj", "obj") for n in phrase)
    return named and any(analysis.words[n].text.lower() in THIRD and analysis.words[n].upos in ("PRON", "DET") for n in rest)


def _to_front(analysis: Analysis, words: list[int], root: int, m: int) -> list[Change] | None:
    phrase, subject = subtree(analysis, m), subject_of(analysis, root)
    lead = analysis.words[phrase[0]].text.lower()
    negated = lead in ("because", "until", "since") and any(
        analysis.words[n].lemma.lower() in ("not", "n't", "never") for n in children(analysis, root)
    )
    if subject is None or subtree(analysis, subject)[0] != words[0] or _swaps_reference(analysis, root, m) or negated:
        return None
    if analysis.words[phrase[0] - 1].text.lower() in word_set("rewriting.not_before_fronted"):
        return None
    if lead == "to" or lead == "by" and analysis.words[m].relation != "advcl":
        return None
    start, end = span(analysis, phrase)
    rest = analysis.text[analysis.words[words[0]].start : start].rstrip(" ,")
    if re.search(r"[\"()]| - ", analysis.text[start:end]) or "," in rest:
        return None
    sentence = analysis.words[words[0]].start
    cut = len(analysis.text[:start].rstrip(" ,"))
    lowered = _lowered(analysis, words[0], analysis.text[sentence])
    return [(sentence, sentence + 1, f"{_raised(analysis.text[start:end])}, {lowered}"), (cut, end, "")]


def _to_end(analysis: Analysis, words: list[int], root: int, m: int) -> list[Change] | None:
    phrase, subject = subtree(analysis, m), subject_of(analysis, root)
    phrase = phrase[:-1] if analysis.words[phrase[-1]].text == "," else phrase
    start, end = span(analysis, phrase)
    comma = re.match(r", ?", analysis.text[end:]) or (
        re.match(r" ", analysis.text[end:]) if analysis.words[m].relation != "advcl" else None
    )
    if subject is None or comma is None or _swaps_reference(analysis, root, m):
        return None
    next_word = phrase[-1] + (2 if "," in comma.group() else 1)
    others = [n for n in children(analysis, root) if analysis.words[n].relation in ("advcl", "acl") and n != m]
    if subtree(analysis, subject)[0] != next_word or others or analysis.text[end:].startswith(",,"):
        return None
    last = analysis.words[words[-1]].start
    rest = words[words.index(next_word) : -1]
    if len(rest) > 20 or any(
        of_relation(analysis.words[n], "acl", "advcl", "appos", "ccomp", "conj") or analysis.words[n].text == "," for n in rest
    ):
        return None
    begin = analysis.words[next_word].start
    if analysis.words[next_word].text.lower() in ("this", "that", "these", "those") or analysis.text[last - 1 : last] == " ":
        return None
    return [
        (start, begin + 1, analysis.text[begin].upper()),
        (last, last, f" {_lowered(analysis, phrase[0], analysis.text[start:end])}"),
    ]


def active_form(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """A passive clause with its agent in the active: *The album was released by the firm.* -> *The firm released the album.*"""
    verbs = [
        n
        for n, w in enumerate(analysis.words)
        if w.xpos == "VBN" and _has(analysis, n, "aux:pass") and stands_alone(analysis, n)
    ]
    return choose(
        analysis, rng, verbs, lambda n: _active(analysis, n, materials), "no passive clause with an agent after the verb"
    )


def _active(analysis: Analysis, verb: int, materials: Materials) -> list[Change] | None:
    subject = child_of(analysis, verb, "nsubj:pass")
    agent = next((m for m in children(analysis, verb) if base(analysis.words[m].relation) == "obl" and m > verb), None)
    relation = analysis.words[verb].relation
    if (
        subject is None
        or agent is None
        or relation not in ("root", "ccomp", "parataxis", "conj", "advcl")
        or _has(analysis, verb, "xcomp", "ccomp", "compound:prt", "obj")
    ):
        return None
    first, last = subtree(analysis, subject), subtree(analysis, agent)
    row = (
        is_contiguous(first)
        and is_contiguous(last)
        and last[0] == verb + 1
        and analysis.words[last[0]].text == "by"
        and len(last) > 1
    )
    if not row or len(last) > 12 or not _acts(analysis, agent) or analysis.words[subject].xpos in ("WDT", "WP", "EX"):
        return None
    conjunct = any(analysis.words[m].relation == "conj" and subject_of(analysis, m) is None for m in children(analysis, verb))
    group = list(range(first[-1] + 1, verb))
    adverbs = [n for n in group if analysis.words[n].upos == "ADV" and analysis.words[n].head == verb]
    forms = [analysis.words[n] for n in group if n not in adverbs]
    after = analysis.text[analysis.words[last[-1]].end :][:1]
    fits = forms and all(w.upos == "AUX" for w in forms) and forms[-1].lemma.lower() == "be" and not conjunct
    if (
        not fits
        or any(w.text[:1] in "'’" for w in forms)
        or after not in ("", " ", ".", ",")
        or _commas(analysis, first)
        or _commas(analysis, last)
    ):
        return None
    new = _active_group(
        [w.text.lower() for w in forms], analysis.words[verb].lemma.lower(), is_plural(analysis, agent), materials
    )
    goes_on = last[-1] + 1 < len(analysis.words) and analysis.words[last[-1] + 1].upos == "PROPN"
    if new is None or goes_on:
        return None
    helper, _, main = new.rpartition(" ")
    new = " ".join([*helper.split(), *(analysis.words[n].text for n in adverbs), main])
    lead, rest = _phrase(analysis, last[1:], SUBJECTIVE), _phrase(analysis, first, OBJECTIVE)
    start, end = span(analysis, [*first, *last])
    return [
        (start, end, f"{_raised(lead) if analysis.text[start].isupper() and _opens(analysis, first[0]) else lead} {new} {rest}")
    ]


def _opens(analysis: Analysis, n: int) -> bool:
    """Whether a word is the first of its sentence."""
    return n == 0 or analysis.words[n - 1].sentence != analysis.words[n].sentence


def _commas(analysis: Analysis, phrase: Sequence[int]) -> bool:
    """Whether marks or relative clauses make a phrase hard to move."""
    return any(analysis.words[n].upos == "PUNCT" and analysis.words[n].text not in ("-", "'") for n in phrase) or any(
        analysis.words[n].relation == "acl:relcl" for n in phrase
    )


def _acts(analysis: Analysis, agent: int) -> bool:
    """Whether what follows *by* can be an agent: a name, a person or a thing with a determiner, no time, measure or manner."""
    word = analysis.words[agent]
    measured = any(analysis.words[n].upos in ("NUM", "SYM") for n in subtree(analysis, agent)) or "%" in word.text
    determined = _has(analysis, agent, "det", "nmod:poss") or word.xpos in ("NNP", "NNS", "NNPS")
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


def relative_clause_opened(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """A participle clause as a relative clause, or back: *the firm, founded in 1998,* <-> *the firm, which was founded in 1998,*."""
    spots = [
        n
        for n, w in enumerate(analysis.words)
        if w.relation in ("acl", "acl:relcl") and w.xpos in ("VBN", "VBG") and w.head >= 0
    ]
    return choose(analysis, rng, spots, lambda n: _reopened(analysis, n, rng), "no participle or relative clause after a noun")


def _reopened(analysis: Analysis, n: int, rng: random.Random) -> list[Change] | None:
    """A relative clause without its pronoun and verb, or with them."""
    return _shortened(analysis, n) if analysis.words[n].relation == "acl:relcl" else _lengthened(analysis, n, rng)


def _shortened(analysis: Analysis, n: int) -> list[Change] | None:
    """*the man who was seen by all* -> *the man seen by all*."""
    words, word = analysis.words, analysis.words[n]
    subject, be = child_of(analysis, n, "nsubj"), child_of(analysis, n, "aux")
    if subject is None or be is None or not subject + 1 == be == n - 1 or words[be].lemma != "be":
        return None
    if words[subject].text not in ("who", "which", "that") or not has_own_span(analysis, n):
        return None
    before = subject - 2 if words[subject - 1].text == "," else subject - 1
    following = words[n + 1] if n + 1 < len(words) else word
    if max(nominal_core(analysis, word.head)) not in (subject - 1, before) or following.xpos not in ("IN", "TO", "RB"):
        return None
    if word.xpos == "VBG" and word.lemma.lower() not in MOVING:
        return None
    return [(words[subject].start, word.start, "")]


def _lengthened(analysis: Analysis, n: int, rng: random.Random) -> list[Change] | None:
    """*the man seen by all* -> *the man who was seen by all*."""
    words, word = analysis.words, analysis.words[n]
    noun, phrase, lemma = words[word.head], subtree(analysis, n), word.lemma.lower()
    set_apart = words[n - 1].text == ","
    inner = phrase[0] == n or (words[phrase[0]].text == "," and len(phrase) > 1 and phrase[1] == n)
    if not inner or noun.upos not in ("NOUN", "PROPN") or word.head >= n or not stands_alone(analysis, n) or len(phrase) < 2:
        return None
    if word.xpos == "VBG" and (lemma not in MOVING or lemma in STANDING or (set_apart and noun.upos != "PROPN")):
        return None
    before = n - 2 if set_apart else n - 1
    if before < 0 or before != max(nominal_core(analysis, word.head)) or _has(analysis, n, "nsubj"):
        return None
    tense, person = _tense_of(analysis, n, phrase), _is_person(noun)
    if tense is None or (noun.upos == "PROPN" and not person):
        return None
    pronoun = "who" if person else "which" if set_apart or rng.random() < 0.3 else "that"
    return [(word.start, word.start, f"{pronoun} {form_of_be(tense, is_plural(analysis, word.head))} ")]


def _tense_of(analysis: Analysis, n: int, phrase: Sequence[int]) -> str | None:
    """The tense that a participle of a noun stands for; None where it is not plain."""
    words, word = analysis.words, analysis.words[n]
    root = next((m for m, w in enumerate(words) if w.head < 0 and w.sentence == word.sentence), n)
    helper = child_of(analysis, root, "cop", "aux")
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


def coordination_order(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Two coordinated names, bare nouns or predicates in the other order: *Ann and Bob* -> *Bob and Ann*."""

    def make(n: int) -> list[Change] | None:
        words = analysis.words
        others = [m for m in children(analysis, n) if words[m].relation == "conj"]
        if len(others) != 1:
            return None
        other = others[0]
        second = [m for m in subtree(analysis, other) if words[m].relation != "cc" or words[m].head != other]
        first = nominal_core(analysis, n)
        joint = words[second[0] - 1]
        bare = all(
            of_relation(words[m], "case", "conj", "flat", "punct", "cop", "nsubj", "advmod", "root") or m in first
            for m in children(analysis, n)
            if m < other
        )
        flat = set(second) == set(nominal_core(analysis, other))
        row = (
            is_contiguous(second)
            and second[0] == first[-1] + 2
            and joint.text in ("and", "or")
            and words[other].xpos == words[n].xpos
        )
        before = words[first[0] - 1].text.lower() if first[0] else ""
        names = words[n].upos == "PROPN"
        after = analysis.text[words[second[-1]].end :]
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
            or any(not stands_alone(analysis, m) for m in [*first, *second])
        ):
            return None
        if "respectively" in analysis.text or (
            names and len(first) == 1 and re.search(r"[A-Z][\w.]*,? $", analysis.text[: words[first[0]].start])
        ):
            return None
        if any(
            of_relation(words[m], "amod", "compound", "det", "nummod", "nmod") for m in children(analysis, n) if m not in first
        ):
            return None
        if words[n].upos == "NOUN" and (words[n].xpos != "NNS" and len(first) > 1 or of_relation(words[n], "compound", "root")):
            return None
        opens = _opens(analysis, first[0])
        start, end = span(analysis, [*first, *second])
        one, two = _text(analysis, first), _text(analysis, second)
        return [
            (start, end, f"{_raised(two) if opens else two} {joint.text} {_lowered(analysis, first[0], one) if opens else one}")
        ]

    heads = [
        n
        for n, w in enumerate(analysis.words)
        if w.upos in ("NOUN", "PROPN") or (w.upos == "ADJ" and of_relation(w, "root", "xcomp"))
    ]
    return choose(analysis, rng, heads, make, "no two coordinated words of one kind without modifiers")


def clauses_split(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Two coordinated main clauses as two sentences: *He came, and she left.* -> *He came. She left.*"""

    def make(found: tuple[list[int], int]) -> list[Change] | None:
        words, root = found
        finite = [
            m
            for m in children(analysis, root)
            if analysis.words[m].relation == "conj" and analysis.words[m].upos in ("VERB", "AUX", "NOUN", "ADJ")
        ]
        if len(finite) != 1 or _has(analysis, root, "advcl", "ccomp", "parataxis", "mark"):
            return None
        other = finite[0]
        phrase = subtree(analysis, other)
        joint = next((m for m in children(analysis, other) if analysis.words[m].relation == "cc"), None)
        subject, main = subject_of(analysis, other), subject_of(analysis, root)
        if (
            joint is None
            or main is None
            or main > root
            or phrase[-1] < words[-2]
            or analysis.words[joint].text not in ("and", "but")
            or not is_contiguous(phrase)
        ):
            return None
        start = len(analysis.text[: analysis.words[joint].start].rstrip(" ,"))
        end = analysis.words[joint].end
        lead = {"and": "", "but": "However, "}[analysis.words[joint].text]
        if subject is not None and subtree(analysis, subject)[0] == joint + 1:
            after = analysis.words[joint + 1].start
            return [(start, after + 1, f". {lead}{analysis.text[after] if lead else analysis.text[after].upper()}")]
        pronoun = analysis.words[main]
        same = (
            analysis.words[root].xpos == analysis.words[other].xpos
            and analysis.words[other].xpos in ("VBD", "VBZ", "VBP")
            and other == joint + 1
        )
        if (
            subject is not None
            or not same
            or pronoun.xpos != "PRP"
            or _has(analysis, root, "aux")
            or subtree(analysis, main) != [main]
        ):
            return None
        again = pronoun.text.lower() if pronoun.text != "I" else "I"
        return [(start, end, f". {lead}{again if lead else _raised(again)}")]

    return choose(analysis, rng, list(_sentences(analysis)), make, "no sentence of two main clauses")


def reported_speech(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """What somebody said, with the speaker elsewhere: *She said that X.* -> *According to her, X.*; *X, he said.* -> *He said X.*"""

    def make(found: tuple[list[int], int]) -> list[Change] | None:
        words, root = found
        return _attributed(analysis, words, root, rng) or _named_last(analysis, words) or _according(analysis, words, rng)

    return choose(analysis, rng, list(_sentences(analysis)), make, "no sentence that says what somebody said")


def _attributed(analysis: Analysis, words: list[int], root: int, rng: random.Random) -> list[Change] | None:
    """*She said (that) X.* -> *According to her, X.* or *X, she said.*"""
    clause, speaker = child_of(analysis, root, "ccomp"), child_of(analysis, root, "nsubj")
    kinds = {base(analysis.words[m].relation) for m in children(analysis, root)}
    if clause is None or speaker is None or analysis.words[root].lemma != "say" or kinds - {"nsubj", "ccomp", "punct"}:
        return None
    who, what = subtree(analysis, speaker), subtree(analysis, clause)
    row = (
        is_contiguous(who)
        and is_contiguous(what)
        and who[0] == words[0]
        and who[-1] + 1 == root
        and root < what[0] <= root + 2
        and what[-1] == words[-2]
    )
    if (
        not row
        or analysis.words[root].xpos not in ("VBD", "VBZ", "VBP")
        or subject_of(analysis, clause) is None
        or _commas(analysis, who)
    ):
        return None
    marked = analysis.words[what[0]].text == "that" and analysis.words[what[0]].relation == "mark"
    what = what[1:] if marked else what
    if analysis.words[what[0]].upos == "PUNCT":
        return None
    start, end = span(analysis, words[:-1])
    if analysis.words[what[0]].text.lower() in ("what", "how", "why", "who", "when", "where") or analysis.words[
        speaker
    ].text.lower() in ("i", "it", "you"):
        return None
    if rng.random() < 0.5:
        return [(start, end, f"{_raised(_text(analysis, what))}, {_lowered(analysis, who[0], _text(analysis, [*who, root]))}")]
    return [(start, end, f"According to {_phrase(analysis, who, OBJECTIVE)}, {_text(analysis, what)}")]


def _named_last(analysis: Analysis, words: list[int]) -> list[Change] | None:
    """*X, he said.* -> *He said X.*"""
    text = _text(analysis, words)
    match = re.fullmatch(r"([A-Z][^,]+), (he|she|they|the \w+|[A-Z]\w+(?: [A-Z]\w+)?) (said|says)([.])", text)
    if not match or " said" in match.group(1) or match.group(1).startswith(("If", "When", "Yes", "No ", "Although")):
        return None
    start, end = span(analysis, words)
    return [(start, end, f"{_raised(match.group(2))} {match.group(3)} {_lowered(analysis, words[0], match.group(1))}.")]


def _according(analysis: Analysis, words: list[int], rng: random.Random) -> list[Change] | None:
    """*According to the firm, X.* -> *The firm said that X.*"""
    match = re.match(
        r"According to ((?:him|her|them|(?:the|a|his|its|her) [\w ]+|[A-Z][\w ]+)), (?=\w)", _text(analysis, words)
    )
    if not match or len(match.group(1).split()) > 6:
        return None
    start = analysis.words[words[0]].start
    after = next((n for n in words if analysis.words[n].start == start + match.end()), None)
    if (
        after is None
        or analysis.words[after].upos in ("ADP", "SCONJ", "VERB")
        or re.search(r"\b(?:law|rules?|plan|schedule|legend|tradition)\b", match.group(1))
    ):
        return None
    if "," in _text(analysis, words)[match.end() :][:60] or analysis.words[after].text in ("a", "an"):
        return None
    who = SUBJECTIVE.get(match.group(1), match.group(1))
    verb = rng.choice(("said", "stated"))
    return [(start, start + match.end(), f"{_raised(who)} {verb} that ")]


PERTURBATIONS = (
    Perturbation("dative_changed", "robustness", "dative alternation", "none", None, dative_changed),
    Perturbation("fronted", "robustness", "adverbial moved", "none", None, fronted),
    Perturbation("active_form", "robustness", "active form", "none", None, active_form),
    Perturbation("relative_clause_opened", "robustness", "relative clause", "none", None, relative_clause_opened),
    Perturbation("coordination_order", "robustness", "coordination order", "none", None, coordination_order),
    Perturbation("clauses_split", "robustness", "clauses split", "none", None, clauses_split),
    Perturbation("reported_speech", "robustness", "reported speech", "none", None, reported_speech),
)

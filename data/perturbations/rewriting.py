"""The same text with another structure: voice, order of phrases, clauses opened, split, joined and reported."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rome.data.perturbations.verb_forms import form_of_be
from rome.features.values import Word

from .lexicons import names_of, word_sequence, word_set
from .perturbation import (
    OBJECTIVE,
    SUBJECTIVE,
    Change,
    Outcome,
    Parse,
    base,
    capitalised,
    in_row,
    is_contiguous,
    perturbation,
    split,
)

DAYS = "monday tuesday wednesday thursday friday saturday sunday today yesterday tomorrow tonight"
TIMES = word_set("rewriting.times") | split(DAYS) | {name.lower() for name in names_of("weekday") | names_of("month")}
PEOPLE = word_sequence("rewriting.people")
MOVING = word_set("rewriting.moving")
FIXED_GIFTS = re.compile(r"[\"“”‘«»()]|\b(?:time|way|rise|birth|chance|look|try|hand|lift|call|break|ride)\b")
FINITE = "VBD VBZ VBP"


def _phrase(parse: Parse, indices: Sequence[int], cases: dict[str, str]) -> str:
    """A phrase as it stands elsewhere in a sentence: a pronoun in the other case, no capital but that of a name."""
    pronoun = parse.low(indices[0]) if len(indices) == 1 and parse.tag(indices[0]) == "PRP" else ""
    return cases[pronoun] if pronoun in cases else _lowered(parse, indices[0], parse.phrase(indices))


def _lowered(parse: Parse, n: int, text: str) -> str:
    """The text with a small first letter, unless its first word keeps its capital."""
    form, upos = parse.form(n), parse.pos(n)
    adjective = upos == "ADJ" and form[:1].isupper() and not parse.opens(n)
    nation = upos in ("ADJ", "NOUN") and form.endswith(("ish", "ese", "ian", "ans", "ians", "an"))
    return parse.lowered(n, text, adjective or nation or form == "I'm")


def _sentences(parse: Parse, marks: str = r"[\"“”‘«()\[\];:…•\n]|--| [-–—] |^'| '") -> list[tuple[list[int], int]]:
    """(words, root) of every sentence that ends with a full stop and holds none of the marks, such as quotations and brackets."""
    found = []
    for number, sentence in enumerate(parse.sentences):
        words = [n for n, word in enumerate(parse.words) if word.sentence == number]
        text = parse.text[sentence.start : sentence.end].strip()
        roots = [n for n in words if parse.head(n) < 0]
        plain = text[:1].isupper() and text.endswith((".", "!")) and not re.search(rf"{marks}|\.\.|[.!?] [A-Z]", text[:-1])
        if len(roots) == 1 and plain and len(words) > 3 and parse.pos(words[-1]) == "PUNCT":
            if all(parse.has_own_span(n) or parse.form(n)[:1] in "'’n" for n in words):
                found.append((words, roots[0]))
    return found


@perturbation("robustness", "dative alternation", "none")
def dative_changed(parse: Parse) -> Outcome:
    """The two objects of a giving verb in the other order: *gave Mary a book* <-> *gave a book to Mary*."""
    verbs = [n for n, w in enumerate(parse.words) if w.upos == "VERB" and w.lemma.lower() in word_set("rewriting.giving")]
    verbs = [n for n in verbs if not parse.has(n, "nsubj:pass", "compound:prt")]
    return parse.choose(verbs, lambda n: _dative(parse, n), "no verb of giving with two objects side by side")


def _dative(parse: Parse, n: int) -> list[Change] | None:
    target, receiver = parse.child(n, "obj"), parse.child(n, "iobj")
    if target is None or not parse.matches(target, pos="NOUN PROPN"):
        return None
    thing = parse.subtree(target)
    fixed = FIXED_GIFTS.search(parse.phrase([n, *thing]) + parse.text[parse.span(thing)[1] :][:1])
    if fixed or not is_contiguous(thing) or len(thing) > 8 or parse.some(thing, "acl conj advcl"):
        return None
    if receiver is not None:
        person = parse.subtree(receiver)
        row = in_row([n], person, thing) and len(person) <= 6 and parse.matches(receiver, pos="PRON NOUN PROPN")
        return [(*parse.span([*person, *thing]), f"{parse.phrase(thing)} to {parse.phrase(person)}")] if row else None
    to = next((m for m in parse.children(n) if parse.relation(m) == "obl" and m > n), None)
    back = parse.lemma(n) in word_set("rewriting.giving_back") and parse.has(target, "det", "nummod", "nmod:poss")
    if to is None or not back or not (parse.matches(to, pos="PRON PROPN") or parse.tag(to) == "NNS"):
        return None
    person = parse.subtree(to)
    row = in_row([n], thing, person) and parse.form(person[0]) == "to" and 1 < len(person) <= 5
    clean = row and not parse.some(person, pos="PUNCT")
    return [(*parse.span([*thing, *person]), f"{parse.phrase(person[1:])} {parse.phrase(thing)}")] if clean else None


@perturbation("robustness", "adverbial moved", "none")
def fronted(parse: Parse) -> Outcome:
    """A phrase of time or an adverbial clause moved from the end of its sentence to the front, or back."""

    def make(found: tuple[list[int], int]) -> list[Change] | None:
        words, root = found
        if parse.has(root, "conj", "ccomp", "parataxis", "discourse", "expl"):
            return None
        moved = [m for m in parse.children(root) if _adverbial(parse, m)]
        last = next((m for m in moved if parse.subtree(m)[-1] == words[-2]), None)
        first = next((m for m in moved if parse.subtree(m)[0] == words[0]), None)
        if last is not None and first is None:
            return _to_front(parse, words, root, last)
        return _to_end(parse, words, root, first) if first is not None and last is None else None

    return parse.choose(_sentences(parse, r"[“”:;•\n]"), make, "no sentence with an adverbial of its own at one end")


def _adverbial(parse: Parse, m: int) -> bool:
    """Whether a child of the main verb is a phrase of time with a preposition, or a finite clause with a conjunction."""
    phrase, subject = parse.subtree(m), parse.subject(m)
    lead = parse.low(phrase[0])
    if not is_contiguous(phrase) or len(phrase) > 16:
        return False
    if parse.relation(m) == "advcl":
        if subject is None and lead in ("to", "by", "after", "before"):
            return parse.matches(m, tag="VB VBG") and not parse.has(m, "conj")
        return subject is not None and parse.child(m, "mark", "advmod") == phrase[0] and lead in word_set("rewriting.marks")
    timed = parse.lemma(m) in TIMES or re.fullmatch(r"1[5-9]\d\d|20\d\d", parse.form(m)) is not None
    if any(parse.matches(n, pos="PUNCT VERB") and parse.form(n) != "," for n in phrase[:-1]):
        return False
    if parse.relation(m) == "obl:unmarked" and timed and lead in split("last next this yesterday today tomorrow tonight every"):
        return True
    placed = lead == "in" and parse.pos(m) == "PROPN" and parse.has(parse.head(m), "obj") and len(phrase) <= 4
    led = lead in word_set("rewriting.time_words") and len(phrase) > 1
    return led and (timed or placed) and base(parse.relation(m)) == "obl"


def _swaps_reference(parse: Parse, root: int, m: int) -> bool:
    """Whether a pronoun of the main clause may mean a noun of the moved phrase."""
    phrase = parse.subtree(m)
    rest = [n for n in parse.subtree(root) if n not in phrase and parse.low(n) in word_set("rewriting.third")]
    return parse.some(phrase, "nsubj obj", pos="NOUN PROPN") and parse.some(rest, pos="PRON DET")


def _to_front(parse: Parse, words: list[int], root: int, m: int) -> list[Change] | None:
    phrase, subject = parse.subtree(m), parse.subject(root)
    lead = parse.low(phrase[0])
    negated = lead in ("because", "until", "since") and parse.some(parse.children(root), lemma="not n't never")
    if subject is None or parse.subtree(subject)[0] != words[0] or _swaps_reference(parse, root, m) or negated:
        return None
    bound = parse.low(phrase[0] - 1) in word_set("rewriting.not_before_fronted")
    if bound or lead == "to" or lead == "by" and parse.relation(m) != "advcl":
        return None
    start, end = parse.span(phrase)
    sentence, cut = parse.words[words[0]].start, len(parse.text[:start].rstrip(" ,"))
    if re.search(r"[\"()]| - ", parse.text[start:end]) or "," in parse.text[sentence:cut]:
        return None
    lowered = _lowered(parse, words[0], parse.text[sentence])
    return [(sentence, sentence + 1, f"{capitalised(parse.text[start:end])}, {lowered}"), (cut, end, "")]


def _to_end(parse: Parse, words: list[int], root: int, m: int) -> list[Change] | None:
    phrase, subject = parse.subtree(m), parse.subject(root)
    phrase = phrase[:-1] if parse.form(phrase[-1]) == "," else phrase
    start, end = parse.span(phrase)
    comma = re.match(r", ?" if parse.relation(m) == "advcl" else r", ?| ", parse.text[end:])
    if subject is None or comma is None or _swaps_reference(parse, root, m) or parse.text[end:].startswith(",,"):
        return None
    next_word = phrase[-1] + (2 if "," in comma.group() else 1)
    others = [n for n in parse.children(root) if parse.relation(n) in ("advcl", "acl") and n != m]
    if parse.subtree(subject)[0] != next_word or others or parse.reads(next_word, "this that these those"):
        return None
    rest = words[words.index(next_word) : -1]
    if len(rest) > 20 or parse.some(rest, "acl advcl appos ccomp conj") or parse.some(rest, low=","):
        return None
    begin, last = parse.words[next_word].start, parse.words[words[-1]].start
    moved = f" {_lowered(parse, phrase[0], parse.text[start:end])}"
    spaced = parse.text[last - 1 : last] == " "
    return None if spaced else [(start, begin + 1, parse.text[begin].upper()), (last, last, moved)]


@perturbation("robustness", "active form", "none")
def active_form(parse: Parse) -> Outcome:
    """A passive clause with its agent in the active: *The album was released by the firm.* -> *The firm released the album.*"""
    verbs = [n for n, w in enumerate(parse.words) if w.xpos == "VBN" and parse.has(n, "aux:pass") and parse.stands_alone(n)]
    return parse.choose(verbs, lambda n: _active(parse, n), "no passive clause with an agent after the verb")


def _active(parse: Parse, verb: int) -> list[Change] | None:
    subject = parse.child(verb, "nsubj:pass")
    agent = next((m for m in parse.children(verb) if base(parse.relation(m)) == "obl" and m > verb), None)
    if subject is None or agent is None or parse.relation(verb) not in split("root ccomp parataxis conj advcl"):
        return None
    first, last = parse.subtree(subject), parse.subtree(agent)
    row = is_contiguous(first) and in_row([verb], last) and parse.form(last[0]) == "by" and 1 < len(last) <= 12
    if not row or parse.has(verb, "xcomp", "ccomp", "compound:prt", "obj") or parse.matches(subject, tag="WDT WP EX"):
        return None
    adverbs = [n for n in range(first[-1] + 1, verb) if parse.pos(n) == "ADV" and parse.head(n) == verb]
    helpers = [n for n in range(first[-1] + 1, verb) if n not in adverbs]
    plain = helpers and all(parse.pos(n) == "AUX" and parse.form(n)[0] not in "'’" for n in helpers)
    conjunct = any(parse.relation(m) == "conj" and parse.subject(m) is None for m in parse.children(verb))
    goes_on = parse.pos(last[-1] + 1) == "PROPN" or parse.text[parse.words[last[-1]].end :][:1] not in ("", " ", ".", ",")
    if not plain or parse.lemma(helpers[-1]) != "be" or conjunct or goes_on or not _acts(parse, agent):
        return None
    group = _active_group(parse, [parse.low(n) for n in helpers], parse.lemma(verb), parse.is_plural(agent))
    if group is None or _marked(parse, first) or _marked(parse, last):
        return None
    new = " ".join([*group.split()[:-1], *(parse.form(n) for n in adverbs), group.split()[-1]])
    lead, rest = _phrase(parse, last[1:], SUBJECTIVE), _phrase(parse, first, OBJECTIVE)
    start, end = parse.span([*first, *last])
    return [
        (start, end, f"{capitalised(lead) if parse.text[start].isupper() and parse.opens(first[0]) else lead} {new} {rest}")
    ]


def _marked(parse: Parse, phrase: Sequence[int]) -> bool:
    """Whether marks or relative clauses make a phrase hard to move."""
    marks = (n for n in phrase if parse.pos(n) == "PUNCT" and parse.form(n) not in ("-", "'"))
    return any(marks) or any(parse.relation(n) == "acl:relcl" for n in phrase)


def _acts(parse: Parse, agent: int) -> bool:
    """Whether what follows *by* can be an agent: a name, a person or a thing with a determiner, no time, measure or manner."""
    if parse.some(parse.subtree(agent), pos="NUM SYM") or "%" in parse.form(agent):
        return False
    determined = parse.has(agent, "det", "nmod:poss") or parse.matches(agent, tag="NNP NNS NNPS")
    pronoun = parse.tag(agent) == "PRP" and not parse.low(agent).endswith(("self", "selves"))
    manner = parse.lemma(agent) in TIMES | word_set("rewriting.manners")
    return not manner and (pronoun or (parse.matches(agent, pos="NOUN PROPN") and determined))


def _active_group(parse: Parse, forms: list[str], lemma: str, plural: bool) -> str | None:
    """The active verb for the auxiliaries of a passive one: *has been* + *see* -> *has seen*."""
    head, rest = forms[0], " ".join(forms[1:])
    if not rest and head in ("was", "were"):
        return parse.inflect(lemma, "VBD")
    if not rest and head in ("is", "are", "am"):
        return lemma if plural else parse.inflect(lemma, "VBZ")
    if rest == "be" and head in split("will would can could may might must should shall"):
        return f"{head} {lemma}"
    helper, tag = "", "VBN"
    if rest == "been" and head in ("has", "have", "had"):
        helper = "had" if head == "had" else "have" if plural else "has"
    elif rest == "being":
        helper, tag = form_of_be("past" if head in ("was", "were") else "present", plural), "VBG"
    form = parse.inflect(lemma, tag) if helper else None
    return f"{helper} {form}" if form else None


@perturbation("robustness", "relative clause", "none")
def relative_clause_opened(parse: Parse) -> Outcome:
    """A participle clause as a relative clause, or back: *the firm, founded in 1998,* <-> *the firm, which was founded in 1998,*."""
    spots = [n for n, w in enumerate(parse.words) if w.relation in ("acl", "acl:relcl") and w.xpos in ("VBN", "VBG")]
    spots = [n for n in spots if parse.head(n) >= 0]
    return parse.choose(spots, lambda n: _reopened(parse, n), "no participle or relative clause after a noun")


def _reopened(parse: Parse, n: int) -> list[Change] | None:
    """A relative clause without its pronoun and verb, or with them."""
    return _shortened(parse, n) if parse.relation(n) == "acl:relcl" else _lengthened(parse, n)


def _shortened(parse: Parse, n: int) -> list[Change] | None:
    """*the man who was seen by all* -> *the man seen by all*."""
    subject, be = parse.child(n, "nsubj"), parse.child(n, "aux")
    if subject is None or be is None or not subject + 1 == be == n - 1 or parse.words[be].lemma != "be":
        return None
    if parse.form(subject) not in ("who", "which", "that") or not parse.has_own_span(n):
        return None
    before = subject - 2 if parse.form(subject - 1) == "," else subject - 1
    if max(parse.nominal_core(parse.head(n))) not in (subject - 1, before) or not parse.matches(n + 1, tag="IN TO RB"):
        return None
    still = parse.tag(n) == "VBG" and parse.lemma(n) not in MOVING
    return None if still else [(parse.words[subject].start, parse.words[n].start, "")]


def _lengthened(parse: Parse, n: int) -> list[Change] | None:
    """*the man seen by all* -> *the man who was seen by all*."""
    noun, phrase, lemma = parse.head(n), parse.subtree(n), parse.lemma(n)
    set_apart = parse.words[n - 1].text == ","
    inner = phrase[0] == n or (parse.form(phrase[0]) == "," and phrase[1:2] == [n])
    if not inner or not parse.matches(noun, pos="NOUN PROPN") or noun >= n or not parse.stands_alone(n) or len(phrase) < 2:
        return None
    named = parse.pos(noun) == "PROPN"
    moving = lemma in MOVING - word_set("rewriting.standing") and (named or not set_apart)
    before = n - 2 if set_apart else n - 1
    if parse.tag(n) == "VBG" and not moving or before != max(parse.nominal_core(noun)) or parse.has(n, "nsubj"):
        return None
    tense, person = _tense_of(parse, n, phrase), _is_person(parse.words[noun])
    if tense is None or (named and not person):
        return None
    pronoun = "who" if person else "which" if set_apart or parse.rng.random() < 0.3 else "that"
    start = parse.words[n].start
    return [(start, start, f"{pronoun} {form_of_be(tense, parse.is_plural(noun))} ")]


def _tense_of(parse: Parse, n: int, phrase: Sequence[int]) -> str | None:
    """The tense that a participle of a noun stands for; None where it is not plain."""
    root = next((m for m, w in enumerate(parse.words) if w.head < 0 and w.sentence == parse.words[n].sentence), n)
    helper = parse.child(root, "cop", "aux")
    finite = parse.tag(helper if helper is not None else root)
    done, lasting = parse.tag(n) == "VBN", parse.lemma(n) in word_set("rewriting.lasting")
    dated = any(re.fullmatch(r"1[5-9]\d\d|20\d\d|ago", parse.form(m)) for m in phrase)
    past = finite == "VBD" or dated or (done and not lasting)
    if finite not in ("VBD", "VBZ", "VBP", "MD") or lasting and dated or parse.lemma(n) in ("advance", "return", "retire"):
        return None
    unsure = done and finite != "VBD" and not lasting and not dated and not any(parse.form(m) == "by" for m in phrase)
    return None if unsure else "past" if past else "present"


def _is_person(noun: Word) -> bool:
    """Whether a noun is known to mean people."""
    names = names_of("male name") | names_of("female name") | names_of("family name")
    return (noun.upos == "PROPN" and noun.text in names) or noun.text.lower().endswith(PEOPLE)


@perturbation("robustness", "coordination order", "none")
def coordination_order(parse: Parse) -> Outcome:
    """Two coordinated names, bare nouns or predicates in the other order: *Ann and Bob* -> *Bob and Ann*."""
    nominal = [n for n, w in enumerate(parse.words) if w.upos in ("NOUN", "PROPN", "ADJ")]
    heads = [n for n in nominal if parse.pos(n) != "ADJ" or parse.relates(n, "root", "xcomp")]
    return parse.choose(heads, lambda n: _reordered(parse, n), "no two coordinated words of one kind without modifiers")


def _reordered(parse: Parse, n: int) -> list[Change] | None:
    others = [m for m in parse.children(n) if parse.relation(m) == "conj"]
    if len(others) != 1 or "respectively" in parse.text:
        return None
    other, first = others[0], parse.nominal_core(n)
    second = [m for m in parse.subtree(other) if parse.relation(m) != "cc" or parse.head(m) != other]
    joint = second[0] - 1
    rest = [m for m in parse.children(n) if m not in first]
    bare = all(parse.relates(m, *BARE) for m in rest if m < other) and not parse.some(rest, "amod compound det nummod nmod")
    row = (
        in_row(first, [joint], second) and parse.form(joint) in ("and", "or") and set(second) == set(parse.nominal_core(other))
    )
    if not row or not bare or parse.tag(n) != parse.tag(other) or not all(parse.stands_alone(m) for m in [*first, *second]):
        return None
    start, end = parse.span([*first, *second])
    fixed = parse.low(first[0] - 1) in word_set("rewriting.not_before_coordination")
    fixed = fixed or bool({parse.lemma(n), parse.lemma(other)} & word_set("rewriting.fixed_pairs"))
    if fixed or re.match(r"['’&/-]| [A-Z]| respectively|, respectively", parse.text[end:]):
        return None
    listed = len(first) == 1 and re.search(r"[A-Z][\w.]*,? $", parse.text[:start]) is not None
    if parse.pos(n) == "PROPN" and (len(first) != len(second) or listed):
        return None
    if parse.pos(n) == "NOUN" and (parse.tag(n) != "NNS" and len(first) > 1 or parse.relates(n, "compound", "root")):
        return None
    one, two = parse.phrase(first), parse.phrase(second)
    if parse.opens(first[0]):
        one, two = _lowered(parse, first[0], one), capitalised(two)
    return [(start, end, f"{two} {parse.form(joint)} {one}")]


BARE = ("case", "conj", "flat", "punct", "cop", "nsubj", "advmod", "root")


@perturbation("robustness", "clauses split", "none")
def clauses_split(parse: Parse) -> Outcome:
    """Two coordinated main clauses as two sentences: *He came, and she left.* -> *He came. She left.*"""
    return parse.choose(_sentences(parse), lambda found: _split(parse, *found), "no sentence of two main clauses")


def _split(parse: Parse, words: list[int], root: int) -> list[Change] | None:
    finite = [m for m in parse.children(root) if parse.relation(m) == "conj" and parse.matches(m, pos="VERB AUX NOUN ADJ")]
    if len(finite) != 1 or parse.has(root, "advcl", "ccomp", "parataxis", "mark"):
        return None
    other, phrase = finite[0], parse.subtree(finite[0])
    joint = next((m for m in parse.children(other) if parse.relation(m) == "cc"), -1)
    subject, main = parse.subject(other), parse.subject(root)
    if main is None or main > root or phrase[-1] < words[-2] or not is_contiguous(phrase):
        return None
    lead = {"and": "", "but": "However, "}.get(parse.form(joint))
    if lead is None:
        return None
    start = len(parse.text[: parse.words[joint].start].rstrip(" ,"))
    if subject is not None and parse.subtree(subject)[0] == joint + 1:
        after = parse.words[joint + 1].start
        return [(start, after + 1, f". {lead}{parse.text[after] if lead else parse.text[after].upper()}")]
    same = parse.tag(root) == parse.tag(other) and parse.matches(other, tag=FINITE) and other == joint + 1
    pronoun = parse.tag(main) == "PRP" and parse.subtree(main) == [main] and not parse.has(root, "aux")
    if subject is not None or not same or not pronoun:
        return None
    again = parse.low(main) if parse.form(main) != "I" else "I"
    return [(start, parse.words[joint].end, f". {lead}{again if lead else capitalised(again)}")]


@perturbation("robustness", "reported speech", "none")
def reported_speech(parse: Parse) -> Outcome:
    """What somebody said, with the speaker elsewhere: *She said that X.* -> *According to her, X.*; *X, he said.* -> *He said X.*"""

    def make(found: tuple[list[int], int]) -> list[Change] | None:
        words, root = found
        return _attributed(parse, words, root) or _named_last(parse, words) or _according(parse, words)

    return parse.choose(_sentences(parse), make, "no sentence that says what somebody said")


def _attributed(parse: Parse, words: list[int], root: int) -> list[Change] | None:
    """*She said (that) X.* -> *According to her, X.* or *X, she said.*"""
    clause, speaker = parse.child(root, "ccomp"), parse.child(root, "nsubj")
    kinds = {base(parse.relation(m)) for m in parse.children(root)}
    if clause is None or speaker is None or parse.words[root].lemma != "say" or kinds - {"nsubj", "ccomp", "punct"}:
        return None
    who, what = parse.subtree(speaker), parse.subtree(clause)
    row = in_row(who, [root]) and is_contiguous(what) and who[0] == words[0] and root < what[0] <= root + 2
    if not row or what[-1] != words[-2] or not parse.matches(root, tag=FINITE) or _marked(parse, who):
        return None
    what = what[1:] if parse.form(what[0]) == "that" and parse.relation(what[0]) == "mark" else what
    asked = parse.reads(what[0], "what how why who when where") or parse.reads(speaker, "i it you")
    if asked or parse.pos(what[0]) == "PUNCT" or parse.subject(clause) is None:
        return None
    said = parse.phrase(what)
    if parse.rng.random() < 0.5:
        new = f"{capitalised(said)}, {_lowered(parse, who[0], parse.phrase([*who, root]))}"
    else:
        new = f"According to {_phrase(parse, who, OBJECTIVE)}, {said}"
    return [(*parse.span(words[:-1]), new)]


def _named_last(parse: Parse, words: list[int]) -> list[Change] | None:
    """*X, he said.* -> *He said X.*"""
    pattern = r"([A-Z][^,]+), (he|she|they|the \w+|[A-Z]\w+(?: [A-Z]\w+)?) (said|says)([.])"
    match = re.fullmatch(pattern, parse.phrase(words))
    if not match or " said" in match.group(1) or match.group(1).startswith(("If", "When", "Yes", "No ", "Although")):
        return None
    said = f"{capitalised(match.group(2))} {match.group(3)} {_lowered(parse, words[0], match.group(1))}."
    return [(*parse.span(words), said)]


def _according(parse: Parse, words: list[int]) -> list[Change] | None:
    """*According to the firm, X.* -> *The firm said that X.*"""
    text, start = parse.phrase(words), parse.words[words[0]].start
    match = re.match(r"According to ((?:him|her|them|(?:the|a|his|its|her) [\w ]+|[A-Z][\w ]+)), (?=\w)", text)
    after = next((n for n in words if match and parse.words[n].start == start + match.end()), None)
    if match is None or after is None or len(match.group(1).split()) > 6 or "," in text[match.end() :][:60]:
        return None
    if parse.matches(after, pos="ADP SCONJ VERB") or parse.form(after) in ("a", "an"):
        return None
    if re.search(r"\b(?:law|rules?|plan|schedule|legend|tradition)\b", match.group(1)):
        return None
    who, verb = SUBJECTIVE.get(match.group(1), match.group(1)), parse.rng.choice(("said", "stated"))
    return [(start, start + match.end(), f"{capitalised(who)} {verb} that ")]

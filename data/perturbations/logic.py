"""Changes of the logic of a statement: quantity, condition, concession, inclusion, modality, outcome."""

from __future__ import annotations

import re

from .lexicons import alternatives, replacements, word_set
from .perturbation import Change, Outcome, Parse, perturbation
from .verb_forms import agreeing

TIMES = word_set("logic.times")
VAGUE = TIMES | word_set("logic.vague")
NEARLY = ("almost", "nearly", "virtually", "practically")
SUBJECTS = ("nsubj", "nsubj:pass")
NOUNS = "NN NNS NNP NNPS"
OWNERS = "the these those his her its their our my your this that"
FROM_A_PART = alternatives("logic.from_a_part")
WHOLE = replacements("logic.whole")


@perturbation("accuracy", "mistranslation - quantifier", "critical")
def quantifier_changed(parse: Parse) -> Outcome:
    """Change how many: *all passengers* -> *no passengers*, *most of them* -> *few of them*, *at least* -> *at most*."""
    return parse.by_rules((_bound, _share, _pair, _whole), "no quantifier with a contrary one")


def _drawn(parse: Parse, n: int, options: tuple[str, ...], last: int | None = None) -> list[Change] | None:
    """Return the change of a word to one of the options; None where there is none."""
    return parse.put(n, parse.rng.choice(options), last) if options else None


def _table(parse: Parse, n: int, table: dict[str, str]) -> list[Change] | None:
    """Return the change of the first phrase of a table that starts at a word; longer phrases come first in the table."""
    results = ((parse.phrase_at(n, phrase), new) for phrase, new in table.items())
    return next((parse.put(n, new, last) for last, new in results if last is not None), None)


def _is_number(parse: Parse, n: int) -> bool:
    """Return whether a number, or a currency sign with one, is at this place."""
    return parse.tag(n + parse.reads(n, "$ £ € us$ a$ rs rs.")) == "CD" and not parse.reads(n, "one 1")


def _bound(parse: Parse, n: int) -> list[Change] | None:
    """Reverse a bound: *at least 5* -> *at most 5*, *more than 5* -> *fewer than 5*, *over 5* -> *under 5*."""
    if parse.reads(n - 1, "no not n't any ever much far little"):
        return None
    counted = parse.some((n + 3, n + 4), tag="NNS") and parse.low(n + 3) not in TIMES | {"per", "percent"}
    for phrase, new in {**replacements("logic.bounds"), "more than": "fewer than" if counted else "less than"}.items():
        last = parse.phrase_at(n, phrase)
        if last is not None and _is_number(parse, last + 1):
            place = phrase in ("over", "under", "up to")
            lasting = phrase != "up to" and any(parse.low(m) in TIMES for m in (last + 2, last + 3))
            moving = parse.relation(n) in ("advmod:prt", "compound:prt")
            year = re.fullmatch(r"(1[5-9]|20)\d\d", parse.low(last + 1))
            return None if place and (lasting or moving or year) else parse.put(n, new, last)
    return None


def _share(parse: Parse, n: int) -> list[Change] | None:
    """Change a quantifier such as *all*, *every*, *most*, *few* or *no* before a noun or before *of*."""
    if parse.low(n) == "not" and parse.reads(n + 1, "all every everyone everybody everything many"):
        return None if parse.matches(n - 1, pos="AUX VERB") else parse.put(n, parse.low(n + 1), n + 1)
    right = parse.reads(n, "all every each most many few some none no half several") and parse.stands_alone(n)
    if not right or parse.reads(n - 1, "not n't how the") or _denied(parse, n):
        return None
    if parse.low(n + 1) == "of":
        return _of_them(parse, n)
    if parse.reads(n, "all half") and parse.reads(n + 1, OWNERS):
        return _of_owned(parse, n)
    head = parse.head(n)
    close = 0 < head - n <= 4 and parse.matches(head, tag=NOUNS) and parse.low(head) not in VAGUE
    return _drawn(parse, n, _before_noun(parse, n, head)) if close and parse.relates(n, "det", "amod", "nummod") else None


def _denied(parse: Parse, n: int) -> bool:
    """Return whether a negation before the word in its sentence may cancel the change of meaning."""
    near = [m for m in range(max(n - 8, 0), n) if parse.words[m].sentence == parse.words[n].sentence]
    return parse.some(near, low="not n't n’t never without no")


def _of_them(parse: Parse, n: int) -> list[Change] | None:
    """Change a quantifier before *of the*, *of them*, *of which*."""
    low, before = parse.low(n), parse.low(n - 1)
    head = next((m for m in parse.children(n) if m > n + 1 and parse.relates(m, "nmod", "obl")), None)
    if head is None or not parse.reads(n + 2, f"{OWNERS} them us whom which") or parse.low(head) in VAGUE:
        return None
    plural = parse.is_plural(head) or parse.reads(n + 2, "them us whom")
    options = FROM_A_PART.get(low, ()) if plural or low != "many" else ()
    if low == "most" and not plural:
        options = ("little",)
    if before in NEARLY:
        options = tuple(option for option in options if option == "none")
    if not options or before in word_set("logic.not_before_partitive"):
        return None
    agrees = low in ("none", "each") and plural and parse.relation(n) in SUBJECTS
    return [*parse.put(n, parse.rng.choice(options)), *(_plural_form(parse, n) if agrees else [])]


def _of_owned(parse: Parse, n: int) -> list[Change] | None:
    """Change *all the passengers* to *none of the passengers*, *half the town* to *all of the town*."""
    head, before = parse.head(n), parse.low(n - 1)
    if head < n or not parse.matches(head, tag=NOUNS) or parse.low(head) in VAGUE | {"more", "less"} or before in NEARLY:
        return None
    if parse.reads(n + 1, "this that") or before in word_set("logic.not_before_owned"):
        return None
    options = ("none of", "some of") if parse.low(n) == "all" else ("none of", "all of")
    return _drawn(parse, n, options) if parse.relates(n, "det", "amod", "nummod") else None


def _before_noun(parse: Parse, n: int, head: int) -> tuple[str, ...]:
    """Return what the quantifier right before a noun phrase may become, as the noun's number and place allow."""
    plural, numbered = parse.matches(head, tag="NNS NNPS"), parse.tag(n + 1) == "CD"
    there = parse.has(parse.head(head), "expl") if parse.head(head) >= 0 else False
    bare = parse.relation(head) in (*SUBJECTS, "obj") and not there
    after_preposition = parse.matches(n - 1, pos="ADP SCONJ")
    determined = parse.reads(n - 1, f"a at {OWNERS}") or parse.low(n - 1) in word_set("logic.not_before_quantifier")
    single = parse.tag(head) == "NN" and not parse.reads(n + 1, "other few single one last")
    rows = {
        "all": (plural, ("some",) if after_preposition else ("no", "some")),
        "every": (single and not there, ("no",)),
        "each": (single and not there and not after_preposition, ("no",)),
        "most": (plural, ("few",)),
        "many": (plural and parse.low(n + 1) != "more", ("few",)),
        "few": (plural, ("many",)),
        "some": (plural or bare, ("all",) if after_preposition else ("no",)),
        "no": (plural and not parse.reads(n + 1, "more fewer less longer other such further"), ("many",)),
        "several": (plural and bare and not parse.reads(n + 1, "hundred thousand million other"), ("no",)),
    }
    fits, options = rows.get(parse.low(n), (False, ()))
    return options if fits and not determined and not numbered else ()


def _plural_form(parse: Parse, subject: int) -> list[Change]:
    """Return the change of the finite verb of a subject that has become plural: *has* -> *have*, *was* -> *were*."""
    clause = next((clause for clause in parse.clauses() if clause[0] == parse.head(subject)), None)
    return agreeing(parse, clause, True) or [] if clause else []


def _pair(parse: Parse, n: int) -> list[Change] | None:
    """Change *both teams* to *neither of the teams*, *neither of them is* to *both of them are*."""
    low, head = parse.low(n), parse.head(n)
    if low not in ("both", "neither") or parse.reads(n - 1, "not n't on at and") or _denied(parse, n):
        return None
    if low == "neither" and parse.low(n + 1) == "of":
        return [*parse.put(n, "both"), *(_plural_form(parse, n) if parse.relation(n) in SUBJECTS else [])]
    if low == "both" and parse.low(n + 1) == "of":
        return parse.put(n, "neither")
    noun = head > n and parse.matches(head, tag="NNS") and parse.low(head) not in VAGUE | {"sides"}
    if low == "both" and noun and parse.relates(n, "det", "amod"):
        return parse.put(n, "neither of" if parse.reads(n + 1, OWNERS) else "neither of the")
    return None


def _whole(parse: Parse, n: int) -> list[Change] | None:
    """Change *everyone* to *no one*, *nothing* to *everything*."""
    last = parse.phrase_at(n, "no one")
    new = WHOLE.get(parse.low(n)) if last is None else "everyone"
    there = parse.head(n) >= 0 and parse.has(parse.head(n), "expl")
    if new is None or there or not parse.stands_alone(n) or parse.reads(n - 1, "not n't but or for and next almost"):
        return None
    bound = parse.low((n if last is None else last) + 1) in word_set("logic.not_after_whole")
    return None if bound or _denied(parse, n) else parse.put(n, new, last)


@perturbation("accuracy", "mistranslation - condition", "critical")
def condition_changed(parse: Parse) -> Outcome:
    """Reverse a condition: *if it rains* -> *unless it rains*, *until 2010* -> *since 2010*."""
    return parse.by_rules((_condition, _period), "no condition that can be reversed")


def _condition(parse: Parse, n: int) -> list[Change] | None:
    """Reverse a conjunction of a condition that has its own clause."""
    clause = parse.head(n)
    if parse.low(n) == "if" and parse.low(n - 1) not in word_set("logic.not_before_if"):
        whole = clause > n and parse.relation(n) == "mark" and parse.relation(clause) == "advcl"
        apt = whole and parse.subject(clause) is not None and parse.low(n + 1) not in word_set("logic.not_after_if")
        denied = parse.some(parse.children(clause), low="not n't n’t never") if apt else True
        return None if denied else parse.put(n, "unless")
    if parse.reads(n, "as so"):
        last = parse.phrase_at(n, f"{parse.low(n)} long as")
        if last is None or parse.relation(last) != "mark" or parse.subject(parse.words[last].head) is None:
            return None
    return _table(parse, n, replacements("logic.conditions"))


def _period(parse: Parse, n: int) -> list[Change] | None:
    """Exchange *until 2010* and *since 2010*."""
    if not parse.matches(n, "case", low="until since") or parse.reads(n - 1, "not from ever up only long"):
        return None
    since = parse.low(n) == "since"
    bound = since and parse.low(n + 1) == "then" or parse.some(range(n - 5, n), low="from")
    return None if bound else parse.put(n, "until" if since else "since")


@perturbation("accuracy", "mistranslation - concession", "critical")
def concession_changed(parse: Parse) -> Outcome:
    """Exchange a reason and a concession: *because it rained* -> *although it rained*."""
    return parse.by_rules((_concession,), "no reason and no concession")


def _concession(parse: Parse, n: int) -> list[Change] | None:
    """Exchange *because* and *although* before a clause with a subject, *because of* and *despite* before a noun phrase."""
    even = parse.low(n) == "even"
    if parse.low(n - 1) in word_set("logic.not_before_cause"):
        return None
    results = _table(parse, n, replacements("logic.contrasts")) if even or parse.relation(n) in ("mark", "advmod") else None
    if results and parse.low(n + 1) != "of":
        clause = parse.head(n + even)
        return results if clause > n and parse.subject(clause) is not None and parse.relates(clause, "advcl") else None
    verbal = parse.tag(n + 2) == "VB" and parse.low(n) == "due"
    return None if verbal else _table(parse, n, replacements("logic.concessions"))


@perturbation("accuracy", "mistranslation - inclusion", "critical")
def inclusion_changed(parse: Parse) -> Outcome:
    """Exchange inclusion and exclusion: *including children* -> *excluding children*."""
    return parse.by_rules((_inclusion,), "nothing that is included or excluded")


def _inclusion(parse: Parse, n: int) -> list[Change] | None:
    """Reverse a preposition of inclusion or exclusion before a noun phrase."""
    low, inclusions = parse.low(n), replacements("logic.inclusions")
    nominal = [m for m in range(n + 1, n + 5) if parse.matches(m, pos="DET NOUN PROPN NUM ADJ PRON")]
    first = "as well as" if low == "as" else next((p for p in inclusions if p.startswith(f"{low} ")), low)
    if not nominal or parse.low(n - 1) in word_set("logic.not_before_inclusion"):
        return None
    if low not in ("instead", "in") and n + len(first.split()) not in nominal:
        return None
    odd = low in ("including", "excluding") and parse.relation(n) not in ("case", "acl", "advcl", "mark")
    starts = low in ("as", "rather", "other") and parse.form(n)[0].isupper()
    quoted = low == "except" and parse.reads(n + 1, "that when to where")
    return None if odd or starts or quoted else _table(parse, n, inclusions)


@perturbation("accuracy", "mistranslation - modality", "critical")
def modality_changed(parse: Parse) -> Outcome:
    """Change duty, permission or ability: *must pay* -> *need not pay*, *may stay* -> *must stay*, *was allowed* -> *was forbidden*."""
    rules = (_modal, _duty, _leave, _ability)
    return parse.by_rules(rules, "no duty, permission or ability that can be reversed")


def _modal_place(parse: Parse, n: int) -> int | None:
    """Return the verb of a modal that follows its subject and touches no word; None otherwise."""
    verb = parse.head(n)
    if parse.tag(n) != "MD" or verb <= n or not parse.stands_alone(n):
        return None
    subject = parse.subject(verb)
    return verb if subject is None or subject < n else None


def _modal(parse: Parse, n: int) -> list[Change] | None:
    """Change *must* to *need not*, *may* to *must not*, *should* to *need not*, *can* to *must*."""
    low, verb = parse.low(n), _modal_place(parse, n)
    if verb is None or low not in ("must", "may", "should", "can", "shall") or parse.reads(n - 1, "as if"):
        return None
    if parse.reads(n + 1, "not n't never"):
        bound = parse.low(n + 1) != "not" or parse.reads(n + 2, "only have be")
        return None if bound else _drawn(parse, n, alternatives("logic.negated_modals").get(low, ()), n + 1)
    if parse.low(n + 1) == "have" and parse.tag(verb) == "VBN":
        return _drawn(parse, n, alternatives("logic.perfect_modals").get(low, ()))
    if low == "can" and (parse.lemma(verb) in PERCEIVED or parse.reads(n + 1, "only also even no hardly be")):
        return None
    narrowed = parse.some(range(max(n - 4, 0), verb), low="no only nothing never all")
    return None if narrowed else _drawn(parse, n, alternatives("logic.modals")[low])


PERCEIVED = frozenset("see hear feel imagine understand afford tell find help remember believe get".split())


def _duty(parse: Parse, n: int) -> list[Change] | None:
    """Change *has to pay* to *does not have to pay*, *was required to* to *was allowed to*, *mandatory* to *optional*."""
    if not parse.stands_alone(n):
        return None
    if parse.pos(n) == "ADJ":
        other = replacements("logic.duties").get(parse.low(n))
        return parse.put(n, other) if other else None
    if parse.low(n + 1) != "to" or parse.tag(n + 2) != "VB":
        return None
    if parse.matches(n, lemma="have need", tag="VBZ VBP VBD", pos="VERB"):
        right = (parse.head(n + 2) == n or parse.head(n) == n + 2) and not parse.some(parse.children(n), "aux obj")
        relative = parse.some(range(max(n - 3, 0), n), low="what which only nothing all that who")
        do = {"VBZ": "does", "VBP": "do", "VBD": "did"}[parse.tag(n)]
        return parse.put(n, f"{do} not {parse.lemma(n)}") if right and not relative and not _denied(parse, n) else None
    passive = parse.tag(n) == "VBN" and parse.has(n, "aux:pass")
    forced = passive and parse.matches(n, lemma="require oblige force compel order")
    return _drawn(parse, n, ("allowed", "forbidden")) if forced else None


def _leave(parse: Parse, n: int) -> list[Change] | None:
    """Exchange *allowed to stay* and *forbidden to stay*, *allows them to* and *forbids them to*."""
    lemma, tag = parse.lemma(n), parse.tag(n)
    if parse.pos(n) != "VERB" or not parse.stands_alone(n) or _infinitive(parse, n) is None:
        return None
    if parse.matches(n, lemma="allow permit require force") and parse.has(n, "obj", "iobj", "aux:pass"):
        forbidden = {"VBN": "forbidden", "VBD": "forbade"}.get(tag) or _verb(parse, "forbid", tag)
        form = forbidden if lemma in ("allow", "permit") else _verb(parse, "allow", tag)
        return parse.put(n, form) if form and (lemma != "require" or parse.has(n, "obj")) else None
    return parse.put(n, "allowed") if lemma == "forbid" and tag == "VBN" else None


def _verb(parse: Parse, lemma: str, tag: str) -> str | None:
    """Return a verb in the form of a tag."""
    return lemma if tag in ("VB", "VBP") else parse.inflect(lemma, tag)


def _infinitive(parse: Parse, n: int) -> int | None:
    """Return the verb that follows a verb with *to*, or None."""
    for m in parse.children(n):
        if m > n and parse.relates(m, "xcomp", "advcl", "ccomp"):
            below = parse.children(m)
            if parse.some([k for k in below if n < k < m], low="to") and parse.some((m, *below), tag="VB"):
                return m
    return None


def _ability(parse: Parse, n: int) -> list[Change] | None:
    """Exchange *able to* and *unable to*, *possible to* and *impossible to*, *likely to* and *unlikely to*."""
    low, new = parse.low(n), replacements("logic.abilities").get(parse.low(n))
    if new is None or parse.low(n + 1) != ("of" if low.endswith("capable") else "to") or not parse.matches(n, pos="ADJ VERB"):
        return None
    bound = parse.reads(n - 1, f"not n't as if where when no less only too {'more most' if low == 'likely' else ''}")
    return None if bound or not parse.stands_alone(n) or _denied(parse, n) else parse.put(n, new)


DENIABLE = frozenset("decide choose plan opt vow pledge promise intend seem appear".split())
DIRECTED = frozenset("tell ask urge advise order instruct warn encourage persuade convince command beg request".split())


@perturbation("accuracy", "mistranslation - event", "critical")
def event_reversed(parse: Parse) -> Outcome:
    """Reverse the outcome of an event: *failed to stop* -> *managed to stop*, *almost won* -> *won*."""
    return parse.by_rules((_tried, _went_on, _told, _almost), "no event that succeeds, fails, starts or stops")


def _tried(parse: Parse, n: int) -> list[Change] | None:
    """Change *failed to* to *managed to*, *refused to* to *agreed to*, *continued to* to *ceased to*."""
    lemma, new = parse.lemma(n), replacements("logic.to_verbs").get(parse.lemma(n))
    if parse.pos(n) != "VERB" or not parse.stands_alone(n) or parse.low(n - 1) == "to" and lemma == "fail":
        return None
    if new and parse.low(n + 1) == "to" and parse.tag(n + 2) == "VB" and not parse.has(n, "aux:pass"):
        form = _verb(parse, new, parse.tag(n))
        return parse.put(n, form) if form else None
    return None


def _went_on(parse: Parse, n: int) -> list[Change] | None:
    """Change *stopped working* to *kept working*, *started working* to *stopped working*."""
    if parse.tag(n + 1) != "VBG" or not parse.stands_alone(n):
        return None
    new = replacements("logic.ing_verbs").get(parse.lemma(n))
    if not new or parse.pos(n) != "VERB" or parse.head(n + 1) != n or not parse.relates(n + 1, "xcomp", "ccomp"):
        return None
    form = _verb(parse, new, parse.tag(n))
    return parse.put(n, form) if form else None


def _told(parse: Parse, n: int) -> list[Change] | None:
    """Negate an infinitive, or affirm it: *decided to go* -> *decided not to go*, *told him to go* -> *told him not to go*."""
    verb = _infinitive(parse, n)
    if parse.pos(n) != "VERB" or parse.lemma(n) not in DENIABLE | DIRECTED or verb is None:
        return None
    to = next(m for m in parse.children(verb) if parse.low(m) == "to" and n < m < verb)
    object_stands = parse.some([m for m in parse.children(n) if m < to], "obj iobj aux:pass")
    apart = parse.lemma(n) in DIRECTED or parse.relation(verb) != "xcomp" and to != n + 1
    if apart and not object_stands:
        return None
    start = parse.words[to].start
    if parse.low(to - 1) == "not":
        return [(parse.words[to - 1].start, start, "")]
    gap = parse.text[start - 1 : start] == " " and parse.low(to + 1) != "not" and not _denied(parse, n)
    return [(start, start, "not ")] if gap and not parse.reads(to - 1, "only also") else None


def _almost(parse: Parse, n: int) -> list[Change] | None:
    """Change *almost won* to *won*."""
    verb = parse.head(n) == n + 1 and parse.matches(n + 1, tag="VBD VBN", pos="VERB")
    right = verb and parse.reads(n, "almost nearly") and parse.stands_alone(n)
    return parse.delete(parse.words[n].start, parse.words[n].end) if right else None

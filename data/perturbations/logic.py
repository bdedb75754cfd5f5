"""The logic of a statement changed: how many, under what condition, in spite of what, whether it must or may be, whether it came about."""

from __future__ import annotations

import re

from .lexicons import alternatives, replacements, word_set
from .perturbation import Change, Materials, Outcome, Parse, in_case_of, of_relation, perturbation

TIMES = word_set("logic.times")
VAGUE = TIMES | word_set("logic.vague")
NEARLY = ("almost", "nearly", "virtually", "practically")
SUBJECTS = ("nsubj", "nsubj:pass")
NOUNS = ("NN", "NNS", "NNP", "NNPS")
QUANTIFIERS = frozenset("all every each most many few some none no half several".split())
OWNERS = frozenset("the these those his her its their our my your this that".split())
WHOLE = replacements("logic.whole")


@perturbation("accuracy", "mistranslation - quantifier", "critical")
def quantifier_changed(parse: Parse) -> Outcome:
    """How many changes: *all passengers* -> *no passengers*, *most of them* -> *few of them*, *at least* -> *at most*."""
    return parse.by_rules((_bound, _share, _pair, _whole, _only), "no quantifier with a contrary one")


def _phrase(parse: Parse, n: int, phrase: str) -> int | None:
    """The last word of a phrase that starts at a word, its words a blank apart; None where the text reads otherwise."""
    parts = phrase.split()
    last = n + len(parts) - 1
    if [parse.low(m) for m in range(n, last + 1)] != parts:
        return None
    start, end = parse.words[n].start, parse.words[last].end
    around = parse.touching(start, end)
    touched = any(c.isalnum() or c in "-'’_/" for c in around)
    return last if parse.text[start:end].lower() == phrase and not touched else None


def _put(parse: Parse, first: int, last: int, new: str) -> list[Change]:
    """A phrase in the place of some words, in their case, a or an before it mended."""
    start, end = parse.words[first].start, parse.words[last].end
    return parse.replace(start, end, in_case_of(new, parse.words[first].text[:1]))


def _table(parse: Parse, n: int, table: dict[str, str]) -> list[Change] | None:
    """The first phrase of a table that starts at a word, replaced by the other; the longest phrases stand first."""
    for phrase, new in table.items():
        last = _phrase(parse, n, phrase)
        if last is not None:
            return _put(parse, n, last, new)
    return None


def _is_number(parse: Parse, n: int) -> bool:
    """Whether a number, or a currency sign with one, stands here."""
    low = parse.low(n)
    sign = low in ("$", "£", "€", "us$", "a$", "rs", "rs.")
    return parse.tag(n + sign) == "CD" and low not in ("one", "1")


def _bound(parse: Parse, n: int) -> list[Change] | None:
    """*at least 5* -> *at most 5*, *more than 5* -> *fewer than 5*, *over 5* -> *under 5*, *up to 5* -> *at least 5*."""
    if parse.low(n - 1) in ("no", "not", "n't", "any", "ever", "much", "far", "little"):
        return None
    counted = any(parse.tag(m) == "NNS" for m in range(n + 3, n + 5)) and parse.low(n + 3) not in ("per", "percent")
    fewer = "fewer than" if counted and parse.low(n + 3) not in TIMES else "less than"
    bounds = {**replacements("logic.bounds"), "more than": fewer}
    for phrase, new in bounds.items():
        last = _phrase(parse, n, phrase)
        if last is None or not _is_number(parse, last + 1):
            continue
        lasting = phrase in ("over", "under") and any(parse.low(m) in TIMES for m in range(last + 2, last + 4))
        moving = phrase in ("up to", "over", "under") and parse.relation(n) in ("advmod:prt", "compound:prt")
        year = phrase in ("over", "under", "up to") and re.fullmatch(r"(1[5-9]|20)\d\d", parse.low(last + 1))
        return None if lasting or moving or year else _put(parse, n, last, new)
    return None


def _share(parse: Parse, n: int) -> list[Change] | None:
    """*all*, *every*, *each*, *most*, *many*, *few*, *some*, *none*, *no*, *half* before a noun or before *of*."""
    low, before = parse.low(n), parse.low(n - 1)
    if low == "not" and parse.low(n + 1) in ("all", "every", "everyone", "everybody", "everything", "many"):
        verbal = n > 0 and parse.pos(n - 1) in ("AUX", "VERB")
        return None if verbal else _put(parse, n, n + 1, parse.low(n + 1))
    if low not in QUANTIFIERS or before in ("not", "n't", "how", "the"):
        return None
    if not parse.stands_alone(n) or _denied(parse, n):
        return None
    if parse.low(n + 1) == "of":
        return _of_them(parse, n)
    if low in ("all", "half") and parse.low(n + 1) in OWNERS:
        return _of_owned(parse, n)
    head = parse.words[n].head
    noun = parse.words[head] if head > n else None
    close = noun is not None and head - n <= 4 and noun.xpos in NOUNS and noun.text.lower() not in VAGUE
    if noun is None or not close or not parse.relates(n, "det", "amod", "nummod"):
        return None
    options = _before_noun(parse, n, head)
    return _put(parse, n, n, parse.rng.choice(options)) if options else None


def _denied(parse: Parse, n: int) -> bool:
    """Whether the sentence holds a negation before the word, so that another quantifier need not change the meaning."""
    sentence = parse.words[n].sentence
    near = range(max(n - 8, 0), n)
    return any(
        parse.low(m) in ("not", "n't", "n’t", "never", "without", "no") for m in near if parse.words[m].sentence == sentence
    )


def _of_them(parse: Parse, n: int) -> list[Change] | None:
    """The quantifier before *of the*, *of them*, *of which*."""
    low, owner = parse.low(n), parse.low(n + 2)
    before, word = parse.low(n - 1), parse.words[n]
    members = [m for m in parse.children(n) if m > n + 1 and parse.relates(m, "nmod", "obl")]
    head = members[0] if members else None
    partitive = head is not None and (owner in OWNERS or owner in ("them", "us", "whom", "which"))
    skip = before in word_set("logic.not_before_partitive")
    if not partitive or head is None or skip or parse.low(head) in VAGUE:
        return None
    plural = parse.is_plural(head) or owner in ("them", "us", "whom")
    few = "few" if plural else "little"
    subject = word.relation in SUBJECTS
    options = {
        "all": ("none", "some"),
        "most": (few,),
        "many": ("none", "few") if plural else (),
        "few": ("most", "all"),
        "some": ("none", "all"),
        "each": ("none",),
        "none": ("all", "most"),
        "half": ("none", "all"),
        "several": ("none", "all"),
    }.get(low, ())
    if before in NEARLY:
        options = tuple(option for option in options if option == "none")
    if before == "only":
        return None
    if not options:
        return None
    agreement = plural_form(parse, n) if low in ("none", "each") and plural and subject else []
    return [*_put(parse, n, n, parse.rng.choice(options)), *agreement]


def _of_owned(parse: Parse, n: int) -> list[Change] | None:
    """*all the passengers* -> *none of the passengers*; *half the town* -> *all of the town*."""
    low, before, head = parse.low(n), parse.low(n - 1), parse.words[n].head
    noun = parse.words[head] if head > n else None
    if noun is None or noun.xpos not in NOUNS or noun.text.lower() in VAGUE | {"more", "less"}:
        return None
    if before in ("at", "for", "with", "despite", "after", "above", "about", "than", "over", "a", "and", "of", *NEARLY):
        return None
    if parse.low(n + 1) in ("this", "that") or not parse.relates(n, "det", "amod", "nummod"):
        return None
    return _put(parse, n, n, parse.rng.choice(("none of", "some of") if low == "all" else ("none of", "all of")))


def _before_noun(parse: Parse, n: int, head: int) -> tuple[str, ...]:
    """What the quantifier right before a noun phrase may become, as the noun's number and place allow."""
    low, before, following = parse.low(n), parse.low(n - 1), parse.low(n + 1)
    noun = parse.words[head]
    plural, bare = noun.xpos in ("NNS", "NNPS"), noun.relation in (*SUBJECTS, "obj")
    preposition = n > 0 and parse.pos(n - 1) in ("ADP", "SCONJ")
    there = noun.head >= 0 and parse.child(noun.head, "expl") is not None
    numbered = parse.tag(n + 1) == "CD"
    if before in word_set("logic.not_before_quantifier"):
        return ()
    if low == "all" and before not in ("at", "above", "after", "for", "with", "despite"):
        if numbered:
            return ("none of the", "some of the") if plural and not preposition else ()
        if before in NEARLY:
            return ("no",) if plural else ()
        return (("some",) if preposition else ("no", "some")) if plural else ()
    if low in ("every", "each"):
        single = noun.xpos == "NN" and not numbered and following not in ("other", "few", "single", "one", "last")
        return ("no",) if single and not there and (low == "every" or not preposition) else ()
    if low == "most":
        return ("few",) if plural and (n + 1 == head or following == "other") and before not in ("the", "at") else ()
    if low == "many":
        return ("few",) if plural and before not in ("a", "the", "his", "her", "its", "their") and following != "more" else ()
    if low == "few":
        return ("many",) if plural and before not in ("a", *OWNERS) and not numbered else ()
    if low == "some":
        if numbered or before == "and" or not (plural or bare):
            return ()
        return ("no",) if bare and not plural else ("all",) if preposition else ("no", "all") if bare and not there else ("no",)
    if low == "no":
        right = plural and following not in ("more", "fewer", "less", "longer", "other", "such", "further") and not numbered
        return (("many", "all") if noun.relation in SUBJECTS and not there else ("many",)) if right else ()
    return (
        ("no",) if low == "several" and plural and bare and following not in ("hundred", "thousand", "million", "other") else ()
    )


def plural_form(parse: Parse, subject: int) -> list[Change]:
    """The change of the finite verb over a subject that has become plural: *has* -> *have*, *was* -> *were*."""
    governor = parse.words[subject].head
    for predicate, finite in parse.clauses():
        word = parse.words[finite]
        low = word.text.lower()
        if predicate != governor or not parse.stands_alone(finite):
            continue
        new = {"is": "are", "was": "were", "has": "have", "does": "do"}.get(low) or (
            word.lemma.lower() if word.xpos == "VBZ" else ""
        )
        return [(word.start, word.end, new)] if new else []
    return []


def _pair(parse: Parse, n: int) -> list[Change] | None:
    """*both teams* -> *neither of the teams*, *both A and B* -> *neither A nor B*, *neither of them is* -> *both of them are*."""
    low, following = parse.low(n), parse.low(n + 1)
    word = parse.words[n]
    if low not in ("both", "neither", "either") or parse.low(n - 1) in ("not", "n't", "on", "at", "and"):
        return None
    if _denied(parse, n):
        return None
    joined = _joined(parse, n)
    if joined is not None:
        return [
            *_put(parse, n, n, "both" if low == "neither" else "neither"),
            *_put(parse, joined, joined, "and" if low == "neither" else "nor"),
        ]
    if low == "both" and following == "of":
        return _put(parse, n, n, "neither")
    if low == "neither" and following == "of":
        return [*_put(parse, n, n, "both"), *(plural_form(parse, n) if word.relation in SUBJECTS else [])]
    noun = parse.words[word.head] if word.head > n else None
    if (
        low == "both"
        and noun is not None
        and of_relation(word, "det", "amod")
        and noun.xpos == "NNS"
        and noun.text.lower() not in VAGUE | {"sides"}
    ):
        return _put(parse, n, n, "neither of" if following in OWNERS else "neither of the")
    return None


def _joined(parse: Parse, n: int) -> int | None:
    """The *and*, *or* or *nor* that goes with *both*, *either* or *neither*; None where there is none or several."""
    low, head = parse.low(n), parse.words[n].head
    wanted = {"both": "and", "either": "or", "neither": "nor"}[low]
    if not parse.relation(n).startswith("cc") or head < n:
        return None
    parts = [m for m in parse.children(head) if parse.relation(m) == "conj"]
    found = [m for part in parts for m in parse.children(part) if parse.low(m) == wanted]
    return found[0] if len(parts) == 1 and len(found) == 1 and parse.pos(head) in ("NOUN", "PROPN", "PRON", "ADJ") else None


def _whole(parse: Parse, n: int) -> list[Change] | None:
    """*everyone* -> *no one*, *nothing* -> *everything*."""
    low, word = parse.low(n), parse.words[n]
    before, following = parse.low(n - 1), parse.low(n + 1)
    one = _phrase(parse, n, "no one")
    if low not in WHOLE and one is None or not parse.stands_alone(n):
        return None
    last = n if one is None else one
    if one is not None:
        following = parse.low(one + 1)
    there = word.head >= 0 and parse.child(word.head, "expl") is not None
    bound = before in ("not", "n't", "but", "or", "for", "and", "next", "almost") or following in word_set(
        "logic.not_after_whole"
    )
    if there or bound or _denied(parse, n):
        return None
    return _put(parse, n, last, "everyone" if one is not None else WHOLE[low])


def _only(parse: Parse, n: int) -> list[Change] | None:
    """*only five* -> *more than five*; *only members* -> *not only members*."""
    word = parse.words[n]
    if parse.low(n) not in ("only", "just") or parse.low(n - 1) in word_set("logic.not_before_only"):
        return None
    if _is_number(parse, n + 1) and word.relation == "advmod":
        return _put(parse, n, n, "more than")
    head = parse.words[word.head] if word.head > n else None
    subject = head is not None and head.relation in SUBJECTS and head.upos in ("NOUN", "PROPN") and word.head - n <= 4
    return (
        _put(parse, n, n, "not only") if parse.low(n) == "only" and subject and parse.low(n + 1) not in ("a", "one") else None
    )


CONDITIONS = replacements("logic.conditions")
AFTER_IF = frozenset("not so any only ever necessary possible anything at applicable needed required then".split())


@perturbation("accuracy", "mistranslation - condition", "critical")
def condition_changed(parse: Parse) -> Outcome:
    """What must hold need not, or must not: *if it rains* -> *unless it rains*; *until 2010* -> *since 2010*."""
    return parse.by_rules((_condition, _period), "no condition that can be turned round")


def _condition(parse: Parse, n: int) -> list[Change] | None:
    """A conjunction of a condition with its own clause."""
    low, word = parse.low(n), parse.words[n]
    if low == "if" and parse.low(n - 1) not in word_set("logic.not_before_if"):
        clause = word.head
        whole = (
            word.relation == "mark" and clause > n and parse.relation(clause) == "advcl" and parse.subject(clause) is not None
        )
        return (
            _put(parse, n, n, "unless")
            if whole and parse.low(n + 1) not in AFTER_IF and not _denied_clause(parse, clause)
            else None
        )
    if low == "as" or low == "so":
        last = _phrase(parse, n, f"{low} long as")
        if last is None or parse.relation(last) != "mark" or parse.subject(parse.words[last].head) is None:
            return None
    return _table(parse, n, CONDITIONS)


def _denied_clause(parse: Parse, predicate: int) -> bool:
    """Whether *not* hangs under the predicate: *unless* would deny it twice."""
    return any(parse.low(m) in ("not", "n't", "n’t", "never") for m in parse.children(predicate))


def _period(parse: Parse, n: int) -> list[Change] | None:
    """*until 2010* -> *since 2010* and back, before a time."""
    low, word = parse.low(n), parse.words[n]
    if (
        low not in ("until", "since")
        or word.relation != "case"
        or parse.low(n - 1) in ("not", "from", "ever", "up", "only", "long")
    ):
        return None
    if low == "since" and parse.low(n + 1) == "then" or any(parse.low(m) == "from" for m in range(n - 5, n)):
        return None
    return _put(parse, n, n, "since" if low == "until" else "until")


CONCESSIONS = replacements("logic.concessions")
CONTRASTS = {"even though": "because", "although": "because", "though": "because", "because": "although"}


@perturbation("accuracy", "mistranslation - concession", "critical")
def concession_changed(parse: Parse) -> Outcome:
    """A reason becomes what did not matter, or the other way round: *because it rained* -> *although it rained*."""
    return parse.by_rules((_concession,), "no reason and no concession")


def _concession(parse: Parse, n: int) -> list[Change] | None:
    """*because* and *although* before a clause with a subject, *because of* and *despite* before a noun phrase."""
    word, before = parse.words[n], parse.low(n - 1)
    if before in word_set("logic.not_before_cause"):
        return None
    if word.relation in ("mark", "advmod") or parse.low(n) == "even":
        found = _table(parse, n, CONTRASTS)
        clause = parse.words[n + (parse.low(n) == "even")].head if found else -1
        if found and parse.low(n + 1) != "of":
            whole = clause > n and parse.subject(clause) is not None and parse.relates(clause, "advcl")
            return found if whole else None
    verbal = parse.tag(n + 2) == "VB"
    return None if verbal and parse.low(n) == "due" else _table(parse, n, CONCESSIONS)


INCLUSIONS = replacements("logic.inclusions")


@perturbation("accuracy", "mistranslation - inclusion", "critical")
def inclusion_changed(parse: Parse) -> Outcome:
    """What belongs to it is left out, or the other way round: *including children* -> *excluding children*."""
    return parse.by_rules((_inclusion,), "nothing that is included or left out")


def _inclusion(parse: Parse, n: int) -> list[Change] | None:
    """A preposition of inclusion or exclusion before a noun phrase."""
    low, before = parse.low(n), parse.low(n - 1)
    nominal = [
        m for m in range(n + 1, min(n + 5, len(parse.words))) if parse.pos(m) in ("DET", "NOUN", "PROPN", "NUM", "ADJ", "PRON")
    ]
    first = "as well as" if low == "as" else next((p for p in INCLUSIONS if p.startswith(f"{low} ")), low)
    following = n + len(first.split())
    if not nominal or before in word_set("logic.not_before_inclusion"):
        return None
    if low not in ("instead", "in") and following not in nominal:
        return None
    if low in ("including", "excluding") and parse.relation(n) not in ("case", "acl", "advcl", "mark"):
        return None
    starts = low in ("as", "rather", "other") and parse.words[n].text[0].isupper()
    quoted = low == "except" and parse.low(n + 1) in ("that", "when", "to", "where")
    return None if starts or quoted else _table(parse, n, INCLUSIONS)


@perturbation("accuracy", "mistranslation - modality", "critical")
def modality_changed(parse: Parse) -> Outcome:
    """Duty, leave and ability change: *must pay* -> *need not pay*, *may stay* -> *must stay*, *was allowed* -> *was forbidden*."""
    rules = (_modal, _duty, _leave, _ability)
    return parse.by_rules(rules, "no duty, leave or ability that can be turned round")


def _modal_place(parse: Parse, n: int) -> int | None:
    """The verb that a modal belongs to, where the subject stands before it and nothing touches it; None otherwise."""
    verb = parse.words[n].head
    if parse.tag(n) != "MD" or verb <= n or not parse.stands_alone(n):
        return None
    subject = parse.subject(verb)
    return verb if subject is None or subject < n else None


PERCEIVED = frozenset("see hear feel imagine understand afford tell find help remember believe get".split())


def _modal(parse: Parse, n: int) -> list[Change] | None:
    """*must* -> *need not*, *must not* or *may*; *may* -> *must* or *must not*; *should* -> *need not*; *can* -> *must*."""
    low, verb = parse.low(n), _modal_place(parse, n)
    if verb is None or low not in ("must", "may", "should", "can", "shall") or parse.low(n - 1) in ("as", "if"):
        return None
    following = parse.low(n + 1)
    if following in ("not", "n't", "never"):
        new = {"must": ("may",), "may": ("must",), "should": ("may", "must")}.get(low)
        return (
            _put(parse, n, n + 1, parse.rng.choice(new))
            if new and following == "not" and parse.low(n + 2) not in ("only", "have", "be")
            else None
        )
    if parse.low(n + 1) == "have" and parse.tag(verb) == "VBN":
        new = {"must": ("cannot",), "may": ("cannot", "must"), "should": ()}.get(low)
        return _put(parse, n, n, parse.rng.choice(new)) if new else None
    if low == "can" and (parse.lemma(verb) in PERCEIVED or following in ("only", "also", "even", "no", "hardly", "be")):
        return None
    if any(parse.low(m) in ("no", "only", "nothing", "never", "all") for m in range(max(n - 4, 0), verb)):
        return None
    new = alternatives("logic.modals")[low]
    return _put(parse, n, n, parse.rng.choice(new))


def _duty(parse: Parse, n: int) -> list[Change] | None:
    """*has to pay* -> *does not have to pay*; *was required to pay* -> *was allowed to pay*; *mandatory* -> *optional*."""
    low, word = parse.low(n), parse.words[n]
    if word.upos == "ADJ" and parse.stands_alone(n):
        other = replacements("logic.duties").get(low)
        return _put(parse, n, n, other) if other else None
    if parse.low(n + 1) != "to" or parse.tag(n + 2) != "VB" or not parse.stands_alone(n):
        return None
    if word.lemma.lower() in ("have", "need") and word.xpos in ("VBZ", "VBP", "VBD") and word.upos == "VERB":
        verb = parse.words[n + 2]
        right = verb.head == n or parse.words[n].head == n + 2
        helped = any(parse.relates(m, "aux", "obj") for m in parse.children(n))
        relative = any(
            parse.low(m) in ("what", "which", "only", "nothing", "all", "that", "who") for m in range(max(n - 3, 0), n)
        )
        do = {"VBZ": "does", "VBP": "do", "VBD": "did"}[word.xpos]
        return (
            _put(parse, n, n, f"{do} not {word.lemma.lower()}")
            if right and not helped and not relative and not _denied(parse, n)
            else None
        )
    passive = word.xpos == "VBN" and parse.child(n, "aux:pass") is not None
    if passive and word.lemma.lower() in ("require", "oblige", "force", "compel", "order"):
        return _put(parse, n, n, parse.rng.choice(("allowed", "forbidden")))
    return None


def _leave(parse: Parse, n: int) -> list[Change] | None:
    """*allowed to stay* -> *forbidden to stay*, *banned from entering* -> *allowed to enter*, *allows them to* -> *forbids them to*."""
    word = parse.words[n]
    lemma = word.lemma.lower()
    if word.upos != "VERB" or not parse.stands_alone(n):
        return None
    to, verb = _complement(parse, n)
    if (
        lemma in ("allow", "permit", "require", "force")
        and to == "to"
        and parse.child(n, "obj", "iobj", "aux:pass") is not None
    ):
        other = "forbid" if lemma in ("allow", "permit") else "allow"
        forbidden = {"VBN": "forbidden", "VBD": "forbade"}.get(word.xpos) if other == "forbid" else None
        form = forbidden or (other if word.xpos in ("VB", "VBP") else parse.inflect(other, word.xpos))
        return _put(parse, n, n, form) if form and (lemma != "require" or parse.child(n, "obj") is not None) else None
    if lemma in ("ban", "prohibit", "forbid", "prevent", "bar", "stop", "block") and to == "from" and verb is not None:
        form = "allow" if word.xpos in ("VB", "VBP") else parse.inflect("allow", word.xpos)
        mark = next(m for m in parse.children(verb) if parse.low(m) == "from")
        bare = parse.words[verb]
        return (
            [*_put(parse, n, n, form), *_put(parse, mark, mark, "to"), (bare.start, bare.end, bare.lemma.lower())]
            if form and mark + 1 == verb
            else None
        )
    return _put(parse, n, n, "allowed") if lemma == "forbid" and word.xpos == "VBN" and to == "to" else None


def _complement(parse: Parse, n: int) -> tuple[str, int | None]:
    """How a verb's complement verb is joined to it, *to* or *from*, and that verb."""
    for m in parse.children(n):
        word = parse.words[m]
        if m > n and of_relation(word, "xcomp", "advcl", "ccomp"):
            marks = [parse.low(k) for k in parse.children(m) if k < m and k > n]
            if word.xpos == "VBG" and "from" in marks and parse.stands_alone(m):
                return "from", m
            if "to" in marks and (word.xpos == "VB" or any(parse.tag(k) == "VB" for k in parse.children(m))):
                return "to", m
    return "", None


def _ability(parse: Parse, n: int) -> list[Change] | None:
    """*able to* -> *unable to*, *possible to* -> *impossible to*, *likely to* -> *unlikely to*, and back."""
    low, word = parse.low(n), parse.words[n]
    turned = replacements("logic.abilities")
    turned |= {"unable": "able", "impossible": "possible", "unlikely": "likely", "incapable": "capable", "unwilling": "willing"}
    joined = "of" if low.endswith("capable") else "to"
    bound = parse.low(n - 1) in ("not", "n't", "as", "if", "where", "when", "no", "less", "only", "too") or (
        parse.low(n - 1) in ("more", "most") and low == "likely"
    )
    if low not in turned or bound or parse.low(n + 1) != joined or not parse.stands_alone(n) or _denied(parse, n):
        return None
    return _put(parse, n, n, turned[low]) if word.upos in ("ADJ", "VERB") else None


CERTAIN = replacements("logic.certain")


@perturbation("accuracy", "mistranslation - certainty", "major")
def certainty_changed(parse: Parse) -> Outcome:
    """What is certain becomes a mere possibility, or the other way round: *will come* -> *might come*."""
    return parse.by_rules((_future, _certain), "nothing that is said to be certain or possible")


def _future(parse: Parse, n: int) -> list[Change] | None:
    """*will* -> *might*, *might* -> *will*, *could be* -> *will be*."""
    low, verb = parse.low(n), _modal_place(parse, n)
    if verb is None or low not in ("will", "might") or any(parse.low(m) == "if" for m in parse.children(verb)):
        return None
    if low == "might" and (parse.low(n + 1) in ("have", "as", "well") or parse.low(n + 2) == "have"):
        return None
    return _put(parse, n, n, "might" if low == "will" else "will")


def _certain(parse: Parse, n: int) -> list[Change] | None:
    """*probably* -> *certainly*; *it is possible that* -> *it is certain that*."""
    low = parse.low(n)
    if (
        low in ("possible", "certain", "likely", "probable", "clear")
        and parse.low(n + 1) == "that"
        and parse.low(n - 1) in ("is", "was", "seems")
    ):
        return _put(parse, n, n, "certain" if low in ("possible", "likely", "probable") else "possible")
    if (
        low not in CERTAIN
        or parse.low(n - 1) in ("not", "most", "but", "quite", "almost", "very", "as")
        or not parse.stands_alone(n)
    ):
        return None
    return _put(parse, n, n, CERTAIN[low]) if parse.relates(n, "advmod") and parse.low(n + 1) != "not" else None


TO_VERBS = replacements("logic.to_verbs")
ING_VERBS = {"stop": "keep", "keep": "stop", "continue": "stop", "quit": "keep", "begin": "stop", "start": "stop"}
DENIABLE = frozenset("decide choose plan opt vow pledge promise intend seem appear".split())
DIRECTED = frozenset("tell ask urge advise order instruct warn encourage persuade convince command beg request".split())


@perturbation("accuracy", "mistranslation - event", "critical")
def event_reversed(parse: Parse) -> Outcome:
    """What came about did not, or the other way round: *failed to stop* -> *managed to stop*, *almost won* -> *won*."""
    return parse.by_rules((_tried, _went_on, _told, _almost), "no event that is said to succeed, fail, start or stop")


def _verb_form(word_tag: str, lemma: str, materials: Materials) -> str | None:
    """A verb under the tag of another."""
    return lemma if word_tag in ("VB", "VBP") else materials.inflect(lemma, word_tag)


def _tried(parse: Parse, n: int) -> list[Change] | None:
    """*failed to* -> *managed to*, *refused to* -> *agreed to*, *continued to* -> *ceased to*, *succeeded in winning* -> *failed to win*."""
    word = parse.words[n]
    lemma, following = word.lemma.lower(), parse.low(n + 1)
    if word.upos != "VERB" or not parse.stands_alone(n) or parse.low(n - 1) == "to" and lemma == "fail":
        return None
    if lemma in TO_VERBS and following == "to" and parse.tag(n + 2) == "VB" and parse.child(n, "aux:pass") is None:
        form = _verb_form(word.xpos, TO_VERBS[lemma], parse.materials)
        return _put(parse, n, n, form) if form else None
    if lemma == "succeed" and following == "in" and parse.tag(n + 2) == "VBG" and parse.stands_alone(n + 2):
        form = _verb_form(word.xpos, "fail", parse.materials)
        return _put(parse, n, n + 2, f"{form} to {parse.lemma(n + 2)}") if form else None
    return None


def _went_on(parse: Parse, n: int) -> list[Change] | None:
    """*stopped working* -> *kept working*, *started working* -> *stopped working*, *without paying* -> *after paying*."""
    word, verb = parse.words[n], n + 1
    if parse.tag(verb) != "VBG" or not parse.stands_alone(n):
        return None
    if parse.low(n) == "without" and word.relation == "mark" and word.head == verb:
        return _put(parse, n, n, "after") if parse.low(n - 1) not in ("not", "and", "or") and not _denied(parse, n) else None
    lemma = word.lemma.lower()
    complement = parse.words[verb].head == n and parse.relates(verb, "xcomp", "ccomp")
    if word.upos != "VERB" or lemma not in ING_VERBS or not complement:
        return None
    form = (
        "quit" if lemma == "quit" and ING_VERBS[lemma] == "quit" else _verb_form(word.xpos, ING_VERBS[lemma], parse.materials)
    )
    return _put(parse, n, n, form) if form else None


def _told(parse: Parse, n: int) -> list[Change] | None:
    """*decided to go* -> *decided not to go*, *told him to go* -> *told him not to go*, and back."""
    word = parse.words[n]
    if word.upos != "VERB" or word.lemma.lower() not in DENIABLE | DIRECTED:
        return None
    joined, verb = _complement(parse, n)
    if joined != "to" or verb is None:
        return None
    to = next(m for m in parse.children(verb) if parse.low(m) == "to" and n < m < verb)
    object_stands = any(parse.relates(m, "obj", "iobj", "aux:pass") for m in parse.children(n) if m < to)
    if (
        word.lemma.lower() in DIRECTED
        and not object_stands
        or parse.relation(verb) != "xcomp"
        and not object_stands
        and to != n + 1
    ):
        return None
    start = parse.words[to].start
    if parse.low(to - 1) == "not":
        return [(parse.words[to - 1].start, start, "")]
    gap = parse.text[start - 1 : start] == " " and parse.low(to + 1) != "not" and not _denied(parse, n)
    return [(start, start, "not ")] if gap and parse.low(to - 1) not in ("only", "also") else None


def _almost(parse: Parse, n: int) -> list[Change] | None:
    """*almost won* -> *won*."""
    word = parse.words[n]
    verb = parse.tag(n + 1) in ("VBD", "VBN") and word.head == n + 1 and parse.pos(n + 1) == "VERB"
    if parse.low(n) not in ("almost", "nearly") or not verb or not parse.stands_alone(n):
        return None
    return parse.delete(word.start, word.end)

"""The logic of a statement changed: how many, under what condition, in spite of what, whether it must or may be, whether it came about."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from rome.features.values import Analysis

from .lists import alternatives, replacements, word_set
from .surgery import Change, choose, deletion, in_case_of, replacement
from .tree import child_of, children, clauses, has_own_span, is_plural, of_relation, stands_alone, subject_of
from .values import Materials, NotApplicable, Perturbation, Perturbed

Rule = Callable[[Analysis, int, random.Random, Materials], Sequence[Change] | None]

TIMES = word_set("logic.times")
VAGUE = TIMES | word_set("logic.vague")
NEARLY = ("almost", "nearly", "virtually", "practically")
SUBJECTS = ("nsubj", "nsubj:pass")
NOUNS = ("NN", "NNS", "NNP", "NNPS")
QUANTIFIERS = frozenset("all every each most many few some none no half several".split())
OWNERS = frozenset("the these those his her its their our my your this that".split())
WHOLE = replacements("logic.whole")


def quantifier_changed(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """How many changes: *all passengers* -> *no passengers*, *most of them* -> *few of them*, *at least* -> *at most*."""
    return _by_rules(analysis, rng, materials, (_bound, _share, _pair, _whole, _only), "no quantifier with a contrary one")


def _by_rules(
    analysis: Analysis, rng: random.Random, materials: Materials, rules: Sequence[Rule], reason: str
) -> Perturbed | NotApplicable:
    """One word, drawn by the generator, to which one of the rules applies, changed by that rule."""
    words = [n for n in range(len(analysis.words)) if has_own_span(analysis, n)]
    return choose(
        analysis,
        rng,
        words,
        lambda n: next((list(found) for rule in rules for found in (rule(analysis, n, rng, materials),) if found), None),
        reason,
    )


def _low(analysis: Analysis, n: int) -> str:
    """A word in lower case; nothing beyond the ends of the text."""
    return analysis.words[n].text.lower() if 0 <= n < len(analysis.words) else ""


def _tag(analysis: Analysis, n: int) -> str:
    """The Penn tag of a word; nothing beyond the ends of the text."""
    return analysis.words[n].xpos if 0 <= n < len(analysis.words) else ""


def _phrase(analysis: Analysis, n: int, phrase: str) -> int | None:
    """The last word of a phrase that starts at a word, its words a blank apart; None where the text reads otherwise."""
    parts = phrase.split()
    last = n + len(parts) - 1
    if [_low(analysis, m) for m in range(n, last + 1)] != parts:
        return None
    start, end = analysis.words[n].start, analysis.words[last].end
    around = analysis.text[max(start - 1, 0) : start] + analysis.text[end : end + 1]
    touched = any(c.isalnum() or c in "-'’_/" for c in around)
    return last if analysis.text[start:end].lower() == phrase and not touched else None


def _put(analysis: Analysis, first: int, last: int, new: str) -> list[Change]:
    """A phrase in the place of some words, in their case, a or an before it mended."""
    start, end = analysis.words[first].start, analysis.words[last].end
    return replacement(analysis, start, end, in_case_of(new, analysis.words[first].text[:1]))


def _table(analysis: Analysis, n: int, table: dict[str, str]) -> list[Change] | None:
    """The first phrase of a table that starts at a word, replaced by the other; the longest phrases stand first."""
    for phrase, new in table.items():
        last = _phrase(analysis, n, phrase)
        if last is not None:
            return _put(analysis, n, last, new)
    return None


def _is_number(analysis: Analysis, n: int) -> bool:
    """Whether a number, or a currency sign with one, stands here."""
    low = _low(analysis, n)
    sign = low in ("$", "£", "€", "us$", "a$", "rs", "rs.")
    return _tag(analysis, n + sign) == "CD" and low not in ("one", "1")


def _bound(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """*at least 5* -> *at most 5*, *more than 5* -> *fewer than 5*, *over 5* -> *under 5*, *up to 5* -> *at least 5*."""
    if _low(analysis, n - 1) in ("no", "not", "n't", "any", "ever", "much", "far", "little"):
        return None
    counted = any(_tag(analysis, m) == "NNS" for m in range(n + 3, n + 5)) and _low(analysis, n + 3) not in ("per", "percent")
    fewer = "fewer than" if counted and _low(analysis, n + 3) not in TIMES else "less than"
    bounds = {**replacements("logic.bounds"), "more than": fewer}
    for phrase, new in bounds.items():
        last = _phrase(analysis, n, phrase)
        if last is None or not _is_number(analysis, last + 1):
            continue
        lasting = phrase in ("over", "under") and any(_low(analysis, m) in TIMES for m in range(last + 2, last + 4))
        moving = phrase in ("up to", "over", "under") and analysis.words[n].relation in ("advmod:prt", "compound:prt")
        year = phrase in ("over", "under", "up to") and re.fullmatch(r"(1[5-9]|20)\d\d", _low(analysis, last + 1))
        return None if lasting or moving or year else _put(analysis, n, last, new)
    return None


def _share(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """*all*, *every*, *each*, *most*, *many*, *few*, *some*, *none*, *no*, *half* before a noun or before *of*."""
    low, before = _low(analysis, n), _low(analysis, n - 1)
    if low == "not" and _low(analysis, n + 1) in ("all", "every", "everyone", "everybody", "everything", "many"):
        verbal = n > 0 and analysis.words[n - 1].upos in ("AUX", "VERB")
        return None if verbal else _put(analysis, n, n + 1, _low(analysis, n + 1))
    if low not in QUANTIFIERS or before in ("not", "n't", "how", "the"):
        return None
    if not stands_alone(analysis, n) or _denied(analysis, n):
        return None
    if _low(analysis, n + 1) == "of":
        return _of_them(analysis, n, rng)
    if low in ("all", "half") and _low(analysis, n + 1) in OWNERS:
        return _of_owned(analysis, n, rng)
    head = analysis.words[n].head
    noun = analysis.words[head] if head > n else None
    close = noun is not None and head - n <= 4 and noun.xpos in NOUNS and noun.text.lower() not in VAGUE
    if noun is None or not close or not of_relation(analysis.words[n], "det", "amod", "nummod"):
        return None
    options = _before_noun(analysis, n, head)
    return _put(analysis, n, n, rng.choice(options)) if options else None


def _denied(analysis: Analysis, n: int) -> bool:
    """Whether the sentence holds a negation before the word, so that another quantifier need not change the meaning."""
    sentence = analysis.words[n].sentence
    near = range(max(n - 8, 0), n)
    return any(
        _low(analysis, m) in ("not", "n't", "n’t", "never", "without", "no")
        for m in near
        if analysis.words[m].sentence == sentence
    )


def _of_them(analysis: Analysis, n: int, rng: random.Random) -> list[Change] | None:
    """The quantifier before *of the*, *of them*, *of which*."""
    low, owner = _low(analysis, n), _low(analysis, n + 2)
    before, word = _low(analysis, n - 1), analysis.words[n]
    members = [m for m in children(analysis, n) if m > n + 1 and of_relation(analysis.words[m], "nmod", "obl")]
    head = members[0] if members else None
    partitive = head is not None and (owner in OWNERS or owner in ("them", "us", "whom", "which"))
    skip = before in word_set("logic.not_before_partitive")
    if not partitive or head is None or skip or _low(analysis, head) in VAGUE:
        return None
    plural = is_plural(analysis, head) or owner in ("them", "us", "whom")
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
    agreement = plural_form(analysis, n) if low in ("none", "each") and plural and subject else []
    return [*_put(analysis, n, n, rng.choice(options)), *agreement]


def _of_owned(analysis: Analysis, n: int, rng: random.Random) -> list[Change] | None:
    """*all the passengers* -> *none of the passengers*; *half the town* -> *all of the town*."""
    low, before, head = _low(analysis, n), _low(analysis, n - 1), analysis.words[n].head
    noun = analysis.words[head] if head > n else None
    if noun is None or noun.xpos not in NOUNS or noun.text.lower() in VAGUE | {"more", "less"}:
        return None
    if before in ("at", "for", "with", "despite", "after", "above", "about", "than", "over", "a", "and", "of", *NEARLY):
        return None
    if _low(analysis, n + 1) in ("this", "that") or not of_relation(analysis.words[n], "det", "amod", "nummod"):
        return None
    return _put(analysis, n, n, rng.choice(("none of", "some of") if low == "all" else ("none of", "all of")))


def _before_noun(analysis: Analysis, n: int, head: int) -> tuple[str, ...]:
    """What the quantifier right before a noun phrase may become, as the noun's number and place allow."""
    low, before, following = _low(analysis, n), _low(analysis, n - 1), _low(analysis, n + 1)
    noun = analysis.words[head]
    plural, bare = noun.xpos in ("NNS", "NNPS"), noun.relation in (*SUBJECTS, "obj")
    preposition = n > 0 and analysis.words[n - 1].upos in ("ADP", "SCONJ")
    there = noun.head >= 0 and child_of(analysis, noun.head, "expl") is not None
    numbered = _tag(analysis, n + 1) == "CD"
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


def plural_form(analysis: Analysis, subject: int) -> list[Change]:
    """The change of the finite verb over a subject that has become plural: *has* -> *have*, *was* -> *were*."""
    governor = analysis.words[subject].head
    for predicate, finite in clauses(analysis):
        word = analysis.words[finite]
        low = word.text.lower()
        if predicate != governor or not stands_alone(analysis, finite):
            continue
        new = {"is": "are", "was": "were", "has": "have", "does": "do"}.get(low) or (
            word.lemma.lower() if word.xpos == "VBZ" else ""
        )
        return [(word.start, word.end, new)] if new else []
    return []


def _pair(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """*both teams* -> *neither of the teams*, *both A and B* -> *neither A nor B*, *neither of them is* -> *both of them are*."""
    low, following = _low(analysis, n), _low(analysis, n + 1)
    word = analysis.words[n]
    if low not in ("both", "neither", "either") or _low(analysis, n - 1) in ("not", "n't", "on", "at", "and"):
        return None
    if _denied(analysis, n):
        return None
    joined = _joined(analysis, n)
    if joined is not None:
        return [
            *_put(analysis, n, n, "both" if low == "neither" else "neither"),
            *_put(analysis, joined, joined, "and" if low == "neither" else "nor"),
        ]
    if low == "both" and following == "of":
        return _put(analysis, n, n, "neither")
    if low == "neither" and following == "of":
        return [*_put(analysis, n, n, "both"), *(plural_form(analysis, n) if word.relation in SUBJECTS else [])]
    noun = analysis.words[word.head] if word.head > n else None
    if (
        low == "both"
        and noun is not None
        and of_relation(word, "det", "amod")
        and noun.xpos == "NNS"
        and noun.text.lower() not in VAGUE | {"sides"}
    ):
        return _put(analysis, n, n, "neither of" if following in OWNERS else "neither of the")
    return None


def _joined(analysis: Analysis, n: int) -> int | None:
    """The *and*, *or* or *nor* that goes with *both*, *either* or *neither*; None where there is none or several."""
    low, head = _low(analysis, n), analysis.words[n].head
    wanted = {"both": "and", "either": "or", "neither": "nor"}[low]
    if not analysis.words[n].relation.startswith("cc") or head < n:
        return None
    parts = [m for m in children(analysis, head) if analysis.words[m].relation == "conj"]
    found = [m for part in parts for m in children(analysis, part) if _low(analysis, m) == wanted]
    return (
        found[0]
        if len(parts) == 1 and len(found) == 1 and analysis.words[head].upos in ("NOUN", "PROPN", "PRON", "ADJ")
        else None
    )


def _whole(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """*everyone* -> *no one*, *nothing* -> *everything*."""
    low, word = _low(analysis, n), analysis.words[n]
    before, following = _low(analysis, n - 1), _low(analysis, n + 1)
    one = _phrase(analysis, n, "no one")
    if low not in WHOLE and one is None or not stands_alone(analysis, n):
        return None
    last = n if one is None else one
    if one is not None:
        following = _low(analysis, one + 1)
    there = word.head >= 0 and child_of(analysis, word.head, "expl") is not None
    bound = before in ("not", "n't", "but", "or", "for", "and", "next", "almost") or following in word_set(
        "logic.not_after_whole"
    )
    if there or bound or _denied(analysis, n):
        return None
    return _put(analysis, n, last, "everyone" if one is not None else WHOLE[low])


def _only(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """*only five* -> *more than five*; *only members* -> *not only members*."""
    word = analysis.words[n]
    if _low(analysis, n) not in ("only", "just") or _low(analysis, n - 1) in word_set("logic.not_before_only"):
        return None
    if _is_number(analysis, n + 1) and word.relation == "advmod":
        return _put(analysis, n, n, "more than")
    head = analysis.words[word.head] if word.head > n else None
    subject = head is not None and head.relation in SUBJECTS and head.upos in ("NOUN", "PROPN") and word.head - n <= 4
    return (
        _put(analysis, n, n, "not only")
        if _low(analysis, n) == "only" and subject and _low(analysis, n + 1) not in ("a", "one")
        else None
    )


CONDITIONS = replacements("logic.conditions")
AFTER_IF = frozenset("not so any only ever necessary possible anything at applicable needed required then".split())


def condition_changed(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """What must hold need not, or must not: *if it rains* -> *unless it rains*; *until 2010* -> *since 2010*."""
    return _by_rules(analysis, rng, materials, (_condition, _period), "no condition that can be turned round")


def _condition(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """A conjunction of a condition with its own clause."""
    low, word = _low(analysis, n), analysis.words[n]
    if low == "if" and _low(analysis, n - 1) not in word_set("logic.not_before_if"):
        clause = word.head
        whole = (
            word.relation == "mark"
            and clause > n
            and analysis.words[clause].relation == "advcl"
            and subject_of(analysis, clause) is not None
        )
        return (
            _put(analysis, n, n, "unless")
            if whole and _low(analysis, n + 1) not in AFTER_IF and not _denied_clause(analysis, clause)
            else None
        )
    if low == "as" or low == "so":
        last = _phrase(analysis, n, f"{low} long as")
        if last is None or analysis.words[last].relation != "mark" or subject_of(analysis, analysis.words[last].head) is None:
            return None
    return _table(analysis, n, CONDITIONS)


def _denied_clause(analysis: Analysis, predicate: int) -> bool:
    """Whether *not* hangs under the predicate: *unless* would deny it twice."""
    return any(_low(analysis, m) in ("not", "n't", "n’t", "never") for m in children(analysis, predicate))


def _period(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """*until 2010* -> *since 2010* and back, before a time."""
    low, word = _low(analysis, n), analysis.words[n]
    if (
        low not in ("until", "since")
        or word.relation != "case"
        or _low(analysis, n - 1) in ("not", "from", "ever", "up", "only", "long")
    ):
        return None
    if low == "since" and _low(analysis, n + 1) == "then" or any(_low(analysis, m) == "from" for m in range(n - 5, n)):
        return None
    return _put(analysis, n, n, "since" if low == "until" else "until")


CONCESSIONS = replacements("logic.concessions")
CONTRASTS = {"even though": "because", "although": "because", "though": "because", "because": "although"}


def concession_changed(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """A reason becomes what did not matter, or the other way round: *because it rained* -> *although it rained*."""
    return _by_rules(analysis, rng, materials, (_concession,), "no reason and no concession")


def _concession(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """*because* and *although* before a clause with a subject, *because of* and *despite* before a noun phrase."""
    word, before = analysis.words[n], _low(analysis, n - 1)
    if before in word_set("logic.not_before_cause"):
        return None
    if word.relation in ("mark", "advmod") or _low(analysis, n) == "even":
        found = _table(analysis, n, CONTRASTS)
        clause = analysis.words[n + (_low(analysis, n) == "even")].head if found else -1
        if found and _low(analysis, n + 1) != "of":
            whole = clause > n and subject_of(analysis, clause) is not None and of_relation(analysis.words[clause], "advcl")
            return found if whole else None
    verbal = _tag(analysis, n + 2) == "VB"
    return None if verbal and _low(analysis, n) == "due" else _table(analysis, n, CONCESSIONS)


INCLUSIONS = replacements("logic.inclusions")


def inclusion_changed(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """What belongs to it is left out, or the other way round: *including children* -> *excluding children*."""
    return _by_rules(analysis, rng, materials, (_inclusion,), "nothing that is included or left out")


def _inclusion(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """A preposition of inclusion or exclusion before a noun phrase."""
    low, before = _low(analysis, n), _low(analysis, n - 1)
    nominal = [
        m
        for m in range(n + 1, min(n + 5, len(analysis.words)))
        if analysis.words[m].upos in ("DET", "NOUN", "PROPN", "NUM", "ADJ", "PRON")
    ]
    first = "as well as" if low == "as" else next((p for p in INCLUSIONS if p.startswith(f"{low} ")), low)
    following = n + len(first.split())
    if not nominal or before in word_set("logic.not_before_inclusion"):
        return None
    if low not in ("instead", "in") and following not in nominal:
        return None
    if low in ("including", "excluding") and analysis.words[n].relation not in ("case", "acl", "advcl", "mark"):
        return None
    starts = low in ("as", "rather", "other") and analysis.words[n].text[0].isupper()
    quoted = low == "except" and _low(analysis, n + 1) in ("that", "when", "to", "where")
    return None if starts or quoted else _table(analysis, n, INCLUSIONS)


def modality_changed(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """Duty, leave and ability change: *must pay* -> *need not pay*, *may stay* -> *must stay*, *was allowed* -> *was forbidden*."""
    rules = (_modal, _duty, _leave, _ability)
    return _by_rules(analysis, rng, materials, rules, "no duty, leave or ability that can be turned round")


def _modal_place(analysis: Analysis, n: int) -> int | None:
    """The verb that a modal belongs to, where the subject stands before it and nothing touches it; None otherwise."""
    verb = analysis.words[n].head
    if _tag(analysis, n) != "MD" or verb <= n or not stands_alone(analysis, n):
        return None
    subject = subject_of(analysis, verb)
    return verb if subject is None or subject < n else None


PERCEIVED = frozenset("see hear feel imagine understand afford tell find help remember believe get".split())


def _modal(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """*must* -> *need not*, *must not* or *may*; *may* -> *must* or *must not*; *should* -> *need not*; *can* -> *must*."""
    low, verb = _low(analysis, n), _modal_place(analysis, n)
    if verb is None or low not in ("must", "may", "should", "can", "shall") or _low(analysis, n - 1) in ("as", "if"):
        return None
    following = _low(analysis, n + 1)
    if following in ("not", "n't", "never"):
        new = {"must": ("may",), "may": ("must",), "should": ("may", "must")}.get(low)
        return (
            _put(analysis, n, n + 1, rng.choice(new))
            if new and following == "not" and _low(analysis, n + 2) not in ("only", "have", "be")
            else None
        )
    if _low(analysis, n + 1) == "have" and _tag(analysis, verb) == "VBN":
        new = {"must": ("cannot",), "may": ("cannot", "must"), "should": ()}.get(low)
        return _put(analysis, n, n, rng.choice(new)) if new else None
    if low == "can" and (
        analysis.words[verb].lemma.lower() in PERCEIVED or following in ("only", "also", "even", "no", "hardly", "be")
    ):
        return None
    if any(_low(analysis, m) in ("no", "only", "nothing", "never", "all") for m in range(max(n - 4, 0), verb)):
        return None
    new = alternatives("logic.modals")[low]
    return _put(analysis, n, n, rng.choice(new))


def _duty(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """*has to pay* -> *does not have to pay*; *was required to pay* -> *was allowed to pay*; *mandatory* -> *optional*."""
    low, word = _low(analysis, n), analysis.words[n]
    if word.upos == "ADJ" and stands_alone(analysis, n):
        other = replacements("logic.duties").get(low)
        return _put(analysis, n, n, other) if other else None
    if _low(analysis, n + 1) != "to" or _tag(analysis, n + 2) != "VB" or not stands_alone(analysis, n):
        return None
    if word.lemma.lower() in ("have", "need") and word.xpos in ("VBZ", "VBP", "VBD") and word.upos == "VERB":
        verb = analysis.words[n + 2]
        right = verb.head == n or analysis.words[n].head == n + 2
        helped = any(of_relation(analysis.words[m], "aux", "obj") for m in children(analysis, n))
        relative = any(
            _low(analysis, m) in ("what", "which", "only", "nothing", "all", "that", "who") for m in range(max(n - 3, 0), n)
        )
        do = {"VBZ": "does", "VBP": "do", "VBD": "did"}[word.xpos]
        return (
            _put(analysis, n, n, f"{do} not {word.lemma.lower()}")
            if right and not helped and not relative and not _denied(analysis, n)
            else None
        )
    passive = word.xpos == "VBN" and child_of(analysis, n, "aux:pass") is not None
    if passive and word.lemma.lower() in ("require", "oblige", "force", "compel", "order"):
        return _put(analysis, n, n, rng.choice(("allowed", "forbidden")))
    return None


def _leave(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """*allowed to stay* -> *forbidden to stay*, *banned from entering* -> *allowed to enter*, *allows them to* -> *forbids them to*."""
    word = analysis.words[n]
    lemma = word.lemma.lower()
    if word.upos != "VERB" or not stands_alone(analysis, n):
        return None
    to, verb = _complement(analysis, n)
    if (
        lemma in ("allow", "permit", "require", "force")
        and to == "to"
        and child_of(analysis, n, "obj", "iobj", "aux:pass") is not None
    ):
        other = "forbid" if lemma in ("allow", "permit") else "allow"
        forbidden = {"VBN": "forbidden", "VBD": "forbade"}.get(word.xpos) if other == "forbid" else None
        form = forbidden or (other if word.xpos in ("VB", "VBP") else materials.inflect(other, word.xpos))
        return _put(analysis, n, n, form) if form and (lemma != "require" or child_of(analysis, n, "obj") is not None) else None
    if lemma in ("ban", "prohibit", "forbid", "prevent", "bar", "stop", "block") and to == "from" and verb is not None:
        form = "allow" if word.xpos in ("VB", "VBP") else materials.inflect("allow", word.xpos)
        mark = next(m for m in children(analysis, verb) if _low(analysis, m) == "from")
        bare = analysis.words[verb]
        return (
            [*_put(analysis, n, n, form), *_put(analysis, mark, mark, "to"), (bare.start, bare.end, bare.lemma.lower())]
            if form and mark + 1 == verb
            else None
        )
    return _put(analysis, n, n, "allowed") if lemma == "forbid" and word.xpos == "VBN" and to == "to" else None


def _complement(analysis: Analysis, n: int) -> tuple[str, int | None]:
    """How a verb's complement verb is joined to it, *to* or *from*, and that verb."""
    for m in children(analysis, n):
        word = analysis.words[m]
        if m > n and of_relation(word, "xcomp", "advcl", "ccomp"):
            marks = [_low(analysis, k) for k in children(analysis, m) if k < m and k > n]
            if word.xpos == "VBG" and "from" in marks and stands_alone(analysis, m):
                return "from", m
            if "to" in marks and (word.xpos == "VB" or any(_tag(analysis, k) == "VB" for k in children(analysis, m))):
                return "to", m
    return "", None


def _ability(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """*able to* -> *unable to*, *possible to* -> *impossible to*, *likely to* -> *unlikely to*, and back."""
    low, word = _low(analysis, n), analysis.words[n]
    turned = replacements("logic.abilities")
    turned |= {"unable": "able", "impossible": "possible", "unlikely": "likely", "incapable": "capable", "unwilling": "willing"}
    joined = "of" if low.endswith("capable") else "to"
    bound = _low(analysis, n - 1) in ("not", "n't", "as", "if", "where", "when", "no", "less", "only", "too") or (
        _low(analysis, n - 1) in ("more", "most") and low == "likely"
    )
    if low not in turned or bound or _low(analysis, n + 1) != joined or not stands_alone(analysis, n) or _denied(analysis, n):
        return None
    return _put(analysis, n, n, turned[low]) if word.upos in ("ADJ", "VERB") else None


CERTAIN = replacements("logic.certain")


def certainty_changed(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """What is certain becomes a mere possibility, or the other way round: *will come* -> *might come*."""
    return _by_rules(analysis, rng, materials, (_future, _certain), "nothing that is said to be certain or possible")


def _future(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """*will* -> *might*, *might* -> *will*, *could be* -> *will be*."""
    low, verb = _low(analysis, n), _modal_place(analysis, n)
    if verb is None or low not in ("will", "might") or any(_low(analysis, m) == "if" for m in children(analysis, verb)):
        return None
    if low == "might" and (_low(analysis, n + 1) in ("have", "as", "well") or _low(analysis, n + 2) == "have"):
        return None
    return _put(analysis, n, n, "might" if low == "will" else "will")


def _certain(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """*probably* -> *certainly*; *it is possible that* -> *it is certain that*."""
    low = _low(analysis, n)
    if (
        low in ("possible", "certain", "likely", "probable", "clear")
        and _low(analysis, n + 1) == "that"
        and _low(analysis, n - 1) in ("is", "was", "seems")
    ):
        return _put(analysis, n, n, "certain" if low in ("possible", "likely", "probable") else "possible")
    if (
        low not in CERTAIN
        or _low(analysis, n - 1) in ("not", "most", "but", "quite", "almost", "very", "as")
        or not stands_alone(analysis, n)
    ):
        return None
    return (
        _put(analysis, n, n, CERTAIN[low])
        if of_relation(analysis.words[n], "advmod") and _low(analysis, n + 1) != "not"
        else None
    )


TO_VERBS = replacements("logic.to_verbs")
ING_VERBS = {"stop": "keep", "keep": "stop", "continue": "stop", "quit": "keep", "begin": "stop", "start": "stop"}
DENIABLE = frozenset("decide choose plan opt vow pledge promise intend seem appear".split())
DIRECTED = frozenset("tell ask urge advise order instruct warn encourage persuade convince command beg request".split())


def event_reversed(analysis: Analysis, rng: random.Random, materials: Materials) -> Perturbed | NotApplicable:
    """What came about did not, or the other way round: *failed to stop* -> *managed to stop*, *almost won* -> *won*."""
    return _by_rules(
        analysis, rng, materials, (_tried, _went_on, _told, _almost), "no event that is said to succeed, fail, start or stop"
    )


def _verb_form(word_tag: str, lemma: str, materials: Materials) -> str | None:
    """A verb under the tag of another."""
    return lemma if word_tag in ("VB", "VBP") else materials.inflect(lemma, word_tag)


def _tried(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """*failed to* -> *managed to*, *refused to* -> *agreed to*, *continued to* -> *ceased to*, *succeeded in winning* -> *failed to win*."""
    word = analysis.words[n]
    lemma, following = word.lemma.lower(), _low(analysis, n + 1)
    if word.upos != "VERB" or not stands_alone(analysis, n) or _low(analysis, n - 1) == "to" and lemma == "fail":
        return None
    if lemma in TO_VERBS and following == "to" and _tag(analysis, n + 2) == "VB" and child_of(analysis, n, "aux:pass") is None:
        form = _verb_form(word.xpos, TO_VERBS[lemma], materials)
        return _put(analysis, n, n, form) if form else None
    if lemma == "succeed" and following == "in" and _tag(analysis, n + 2) == "VBG" and stands_alone(analysis, n + 2):
        form = _verb_form(word.xpos, "fail", materials)
        return _put(analysis, n, n + 2, f"{form} to {analysis.words[n + 2].lemma.lower()}") if form else None
    return None


def _went_on(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """*stopped working* -> *kept working*, *started working* -> *stopped working*, *without paying* -> *after paying*."""
    word, verb = analysis.words[n], n + 1
    if _tag(analysis, verb) != "VBG" or not stands_alone(analysis, n):
        return None
    if _low(analysis, n) == "without" and word.relation == "mark" and word.head == verb:
        return (
            _put(analysis, n, n, "after")
            if _low(analysis, n - 1) not in ("not", "and", "or") and not _denied(analysis, n)
            else None
        )
    lemma = word.lemma.lower()
    complement = analysis.words[verb].head == n and of_relation(analysis.words[verb], "xcomp", "ccomp")
    if word.upos != "VERB" or lemma not in ING_VERBS or not complement:
        return None
    form = "quit" if lemma == "quit" and ING_VERBS[lemma] == "quit" else _verb_form(word.xpos, ING_VERBS[lemma], materials)
    return _put(analysis, n, n, form) if form else None


def _told(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """*decided to go* -> *decided not to go*, *told him to go* -> *told him not to go*, and back."""
    word = analysis.words[n]
    if word.upos != "VERB" or word.lemma.lower() not in DENIABLE | DIRECTED:
        return None
    joined, verb = _complement(analysis, n)
    if joined != "to" or verb is None:
        return None
    to = next(m for m in children(analysis, verb) if _low(analysis, m) == "to" and n < m < verb)
    object_stands = any(of_relation(analysis.words[m], "obj", "iobj", "aux:pass") for m in children(analysis, n) if m < to)
    if (
        word.lemma.lower() in DIRECTED
        and not object_stands
        or analysis.words[verb].relation != "xcomp"
        and not object_stands
        and to != n + 1
    ):
        return None
    start = analysis.words[to].start
    if _low(analysis, to - 1) == "not":
        return [(analysis.words[to - 1].start, start, "")]
    gap = analysis.text[start - 1 : start] == " " and _low(analysis, to + 1) != "not" and not _denied(analysis, n)
    return [(start, start, "not ")] if gap and _low(analysis, to - 1) not in ("only", "also") else None


def _almost(analysis: Analysis, n: int, rng: random.Random, materials: Materials) -> list[Change] | None:
    """*almost won* -> *won*."""
    word = analysis.words[n]
    verb = _tag(analysis, n + 1) in ("VBD", "VBN") and word.head == n + 1 and analysis.words[n + 1].upos == "VERB"
    if _low(analysis, n) not in ("almost", "nearly") or not verb or not stands_alone(analysis, n):
        return None
    return deletion(analysis, word.start, word.end)


PERTURBATIONS = (
    Perturbation("quantifier_changed", "accuracy", "mistranslation - quantifier", "critical", None, quantifier_changed),
    Perturbation("condition_changed", "accuracy", "mistranslation - condition", "critical", None, condition_changed),
    Perturbation("concession_changed", "accuracy", "mistranslation - concession", "critical", None, concession_changed),
    Perturbation("inclusion_changed", "accuracy", "mistranslation - inclusion", "critical", None, inclusion_changed),
    Perturbation("modality_changed", "accuracy", "mistranslation - modality", "critical", None, modality_changed),
    Perturbation("certainty_changed", "accuracy", "mistranslation - certainty", "major", None, certainty_changed),
    Perturbation("event_reversed", "accuracy", "mistranslation - event", "critical", None, event_reversed),
)

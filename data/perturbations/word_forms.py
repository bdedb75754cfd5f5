"""A pronoun of another gender or case, and a word of the same stem in another part of speech (DEMETR 11, 13, 15)."""

from __future__ import annotations

from .lexicons import replacements, table, word_set
from .perturbation import OPEN_CLASSES, Outcome, Parse, base, perturbation

GENDER = replacements("word_forms.gender")
NOMINATIVE = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
ACCUSATIVE = {new: old for old, new in NOMINATIVE.items()} | {"me": "I"}


@perturbation("accuracy", "mistranslation - gender", "critical", 11)
def gender_pronoun(parse: Parse) -> Outcome:
    """Exactly one pronoun gets the other gender: *he* -> *she*; *her* by its tag: *him* or *his*."""
    words = [n for n in range(len(parse.words)) if parse.has_own_span(n) and f"{parse.low(n)}/{parse.tag(n)}" in GENDER]
    reason = "no pronoun that shows a gender"
    return parse.choose(words, lambda n: parse.spelled(n, GENDER[f"{parse.low(n)}/{parse.tag(n)}"]), reason)


@perturbation("fluency", "grammar - case", "minor", 15)
def pronoun_case(parse: Parse) -> Outcome:
    """Exactly one pronoun stands in the wrong case: *Her announced*, *told they*."""
    words = [n for n in range(len(parse.words)) if parse.has_own_span(n) and _wrong_case(parse, n)]

    def make(n: int) -> list[tuple[int, int, str]]:
        word, new = parse.words[n], _wrong_case(parse, n) or ""
        first = word.text[0].isupper() and (word.text != "I" or parse.starts_sentence(word.start))
        return [(word.start, word.end, new.capitalize() if first else new)]

    return parse.choose(words, make, "no personal pronoun whose case shows")


def _wrong_case(parse: Parse, n: int) -> str | None:
    """The accusative for a subject, the nominative for an object or what follows a preposition; None for anything else."""
    word = parse.words[n]
    low, relation = word.text.lower(), base(word.relation)
    joined = parse.text[word.end : word.end + 1] in ("'", "’", "-")
    if word.xpos != "PRP" or joined:
        return None
    if low in NOMINATIVE and relation == "nsubj":
        return NOMINATIVE[low]
    preposition = parse.child(n, "case")
    plain = preposition is None or parse.lemma(preposition) not in ("than", "as", "like", "but", "except")
    return ACCUSATIVE[low] if low in ACCUSATIVE and relation in ("obj", "iobj", "obl", "nmod") and plain else None


ADVERB_ENDINGS = ("al", "ive", "ous", "ic", "ful", "ible", "able", "ent", "ant", "less")
PLAIN_ADJECTIVES = word_set("word_forms.plain_adjectives")
NO_ADVERB = frozenset("nuclear able total recent present patient royal coastal medieval animal capital local global".split())
NO_ADJECTIVE = word_set("word_forms.no_adjective")
NOT_WHEN = {"kind": "NOUN", "use": "NOUN", "direct": "VERB", "present": "VERB", "center": "VERB", "state": "VERB"}


@perturbation("fluency", "grammar - pos shift", "minor", 13)
def part_of_speech_shift(parse: Parse) -> Outcome:
    """The stem stays and the part of speech changes: *the Trump administrate*, *a badly day*, *ran quick*."""
    found = [n for n, word in enumerate(parse.words) if word.upos in OPEN_CLASSES and not word.xpos.startswith("NNP")]
    found = [n for n in found if parse.stands_alone(n) and not parse.in_title_case(n)]
    found = [n for n in found if not parse.relates(n, "fixed", "aux", "cop")]
    words = [(n, new) for n in found for new in _shifts(parse.lemma(n), parse.low(n), parse.pos(n))]
    return parse.choose(words, lambda choice: parse.put(*choice), "no word with a known relative in another part of speech")


def _shifts(lemma: str, form: str, upos: str) -> list[str]:
    """The words of the same stem: from the list, and for adjectives and adverbs by rule."""
    listed = [] if NOT_WHEN.get(lemma) == upos or upos == "ADV" else list(table("derivations").get(lemma, ()))
    if upos == "ADJ" and form == lemma:
        listed += [made for made in (adverb_of(form),) if made]
    if upos == "ADV":
        listed += [made for made in (adjective_of(form),) if made]
    return listed


def adverb_of(adjective: str) -> str | None:
    """The adverb in -ly of an adjective that has one for certain: by its ending, or listed; else None."""
    if adjective in NO_ADVERB:
        return None
    if adjective not in PLAIN_ADJECTIVES and not (len(adjective) > 5 and adjective.endswith(ADVERB_ENDINGS)):
        return None
    if adjective.endswith("ic"):
        return adjective + ("ly" if adjective == "public" else "ally")
    if adjective.endswith("le"):
        return adjective[:-1] + "y"
    if adjective.endswith("y"):
        return adjective[:-1] + "ily"
    return adjective + "ly"


def adjective_of(adverb: str) -> str | None:
    """The adjective of an adverb in -ly, when its own adverb would be that one again; else None."""
    if not adverb.endswith("ly") or len(adverb) < 5 or adverb in NO_ADJECTIVE:
        return None
    stems = [adverb[:-2], adverb[:-4] if adverb.endswith("ically") else "", adverb[:-3] + "y", adverb[:-1] + "e"]
    return next((stem for stem in stems if stem and adverb_of(stem) == adverb), None)

"""Words exchanged through a lexicon: hypernym, antonym, an added modifier (DEMETR 3, 6, 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .lexicons import word_sequence, word_set
from .perturbation import OPEN_CLASSES, Change, Materials, Outcome, Parse, perturbation

BASE_TAGS = ("NN", "VB", "VBP", "JJ", "RB")
DEGREES = ("JJR", "JJS", "RBR", "RBS")
INFLECTED_TAGS = ("NNS", "VBZ", "VBD", "VBN", "VBG", "JJR", "JJS", "RBR", "RBS")
UNSAFE_ANTONYMS = word_set("lexical.unsafe_antonyms")
QUANTITIES = ("little", "less", "least", "more", "most", "none")
FIXED_NOUNS = word_set("lexical.fixed_nouns")
UNSAFE_VERBS = frozenset("have do get go come make take keep let be".split())
PERSON_MODIFIERS = ("former", "alleged", "fake", "secret", "rival")
THING_MODIFIERS = ("fake", "abandoned", "secret", "unsuccessful", "illegal", "imaginary", "temporary", "former")
PERSON_ENDINGS = word_sequence("lexical.person_endings")
NOT_PERSONS = word_set("lexical.not_persons")


def new_form(materials: Materials, lemma: str, tag: str) -> str | None:
    """The lemma in the form that a Penn tag names: itself for a base form, inflected for the others; None where there is none."""
    if tag in BASE_TAGS:
        return lemma
    if tag not in INFLECTED_TAGS or " " in lemma:
        return None
    return materials.inflect(lemma, tag)


def exchanged(parse: Parse, n: int, words: Mapping[str, Sequence[str]], key: str | None = None) -> list[Change] | None:
    """The word replaced by one that a lexicon has for its lemma (or for ``key``), in the same form and case, with its article put right."""
    low, lemma, tag = parse.low(n), parse.lemma(n), parse.tag(n)
    options = [o for o in words.get(lemma if key is None else key, ()) if o.lower() != low and o not in QUANTITIES]
    if tag == "JJ" and lemma != low:
        return None
    parse.rng.shuffle(options)
    for option in options:
        form = new_form(parse.materials, option, tag)
        if lemma == low and tag in DEGREES:
            form = option if option.endswith(("er", "est", "se", "st", "or")) else None
        if form and form.lower() != low:
            return parse.put(n, form)
    return None


def open_words(parse: Parse, classes: Sequence[str] = OPEN_CLASSES) -> list[int]:
    """Words of open classes that stand alone, and are no part of a fixed expression or of a compound."""
    words = [n for n, word in enumerate(parse.words) if word.upos in classes and not word.xpos.startswith("NNP")]
    words = [n for n in words if not parse.in_title_case(n) and parse.stands_alone(n)]
    bound = ("fixed", "compound", "flat", "aux", "cop", "mark", "case")
    return [n for n in words if not parse.relates(n, *bound) and not parse.has(n, "fixed", "compound:prt")]


@perturbation("accuracy", "hypernym", "major", 3)
def hypernym(parse: Parse) -> Outcome:
    """A noun or verb becomes a more general term: *church* -> *building*; the lexicon has verbs as ``whisper/VERB``."""
    words = [n for n in open_words(parse, ("NOUN", "VERB")) if parse.child(n, "compound") is None]

    def make(n: int) -> list[Change] | None:
        return exchanged(parse, n, parse.materials.hypernyms, parse.lemma(n) + "/VERB" * (parse.pos(n) == "VERB"))

    return parse.choose(words, make, "no word with a known hypernym")


@perturbation("accuracy", "antonym", "critical", 7)
def antonym(parse: Parse) -> Outcome:
    """A noun, verb, adjective or adverb becomes its antonym: *pain* -> *pleasure*."""
    words = [n for n in open_words(parse) if may_turn(parse, n)]
    return parse.choose(words, lambda n: exchanged(parse, n, parse.materials.antonyms), "no word with a known antonym")


def may_turn(parse: Parse, n: int) -> bool:
    """Whether an antonym can stand here: no measure (*two years old*), no *as well*, no word of many meanings."""
    upos, lemma = parse.pos(n), parse.lemma(n)
    measured = parse.pos(n - 1) == "NOUN" and upos == "ADJ" and parse.head(n - 1) == n
    paired = parse.reads(n - 1, "as so at each") and parse.matches(n, lemma="well far long least most other first last")
    sort = lemma == "kind" and parse.form(n + 1) == "of"
    light = upos == "VERB" and lemma in UNSAFE_VERBS
    passive_gift = upos != "ADJ" and parse.matches(n, lemma="give present cover show cut leave")
    return not (sort or measured or paired or light or passive_gift) and lemma not in UNSAFE_ANTONYMS


@perturbation("accuracy", "addition", "critical", 6)
def word_added(parse: Parse) -> Outcome:
    """A modifier that changes the meaning in front of a bare common noun: *the cuts* -> *the fake cuts*."""
    words = [n for n in range(1, len(parse.words)) if parse.matches(n, "nsubj obj obl nmod", pos="NOUN", tag="NN NNS")]
    words = [n for n in words if parse.stands_alone(n) and not parse.in_title_case(n) and _takes_modifier(parse, n)]

    def make(n: int) -> list[Change]:
        person = parse.low(n).endswith(PERSON_ENDINGS) and parse.lemma(n) not in NOT_PERSONS
        drawn = parse.rng.choice(PERSON_MODIFIERS if person else THING_MODIFIERS)
        return parse.replace(parse.words[n].start, parse.words[n].start, f"{drawn} ")

    bare = [n for n in words if parse.lemma(n) not in FIXED_NOUNS]
    return parse.choose(bare, make, "no bare noun after an article that a modifier could stand before")


def _takes_modifier(parse: Parse, n: int) -> bool:
    """Whether an article or possessive stands right before the noun, and nothing else modifies it."""
    determined = parse.head(n - 1) == n and (parse.pos(n - 1) == "DET" or parse.tag(n - 1) == "PRP$")
    plain = determined and parse.reads(n - 1, "the a an his her its their our my your this these those some")
    return plain and not parse.has(n, "amod", "compound", "nummod", "fixed")

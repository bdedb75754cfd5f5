"""Words exchanged through a lexicon: hypernym, antonym, an added modifier (DEMETR 3, 6, 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .lexicons import word_sequence, word_set
from .perturbation import OPEN_CLASSES, Change, Materials, Outcome, Parse, of_relation, perturbation

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
    word = parse.words[n]
    lemma = word.lemma.lower()
    options = [
        o for o in words.get(lemma if key is None else key, ()) if o.lower() != word.text.lower() and o not in QUANTITIES
    ]
    if word.xpos == "JJ" and lemma != word.text.lower():
        return None
    irregular = lemma == word.text.lower() and word.xpos in DEGREES
    parse.rng.shuffle(options)
    for option in options:
        form = new_form(parse.materials, option, word.xpos)
        if irregular:
            form = option if option.endswith(("er", "est", "se", "st", "or")) else None
        if form and form.lower() != word.text.lower():
            return parse.put(n, form)
    return None


def open_words(parse: Parse, classes: Sequence[str] = OPEN_CLASSES) -> list[int]:
    """Words of open classes that stand alone, and are no part of a fixed expression or of a compound."""
    return [
        n
        for n, word in enumerate(parse.words)
        if word.upos in classes
        and not word.xpos.startswith("NNP")
        and not parse.in_title_case(n)
        and parse.stands_alone(n)
        and not of_relation(word, "fixed", "compound", "flat", "aux", "cop", "mark", "case")
        and parse.child(n, "fixed", "compound:prt") is None
    ]


@perturbation("accuracy", "hypernym", "major", 3)
def hypernym(parse: Parse) -> Outcome:
    """A noun or verb becomes a more general term: *church* -> *building*; the lexicon has verbs as ``whisper/VERB``."""
    words = [n for n in open_words(parse, ("NOUN", "VERB")) if parse.child(n, "compound") is None]

    def make(n: int) -> list[Change] | None:
        word = parse.words[n]
        key = word.lemma.lower() + ("/VERB" if word.upos == "VERB" else "")
        return exchanged(parse, n, parse.materials.hypernyms, key)

    return parse.choose(words, make, "no word with a known hypernym")


@perturbation("accuracy", "antonym", "critical", 7)
def antonym(parse: Parse) -> Outcome:
    """A noun, verb, adjective or adverb becomes its antonym: *pain* -> *pleasure*."""
    words = [n for n in open_words(parse) if may_turn(parse, n)]
    return parse.choose(words, lambda n: exchanged(parse, n, parse.materials.antonyms), "no word with a known antonym")


def may_turn(parse: Parse, n: int) -> bool:
    """Whether an antonym can stand here: no measure (*two years old*), no *as well*, no word of many meanings."""
    word = parse.words[n]
    before = parse.word(n - 1)
    measured = before is not None and before.upos == "NOUN" and word.upos == "ADJ" and before.head == n
    paired = (
        before is not None
        and before.text.lower() in ("as", "so", "at", "each")
        and word.lemma.lower() in ("well", "far", "long", "least", "most", "other", "first", "last")
    )
    sort = word.lemma.lower() == "kind" and n + 1 < len(parse.words) and parse.words[n + 1].text == "of"
    light = word.upos == "VERB" and word.lemma.lower() in UNSAFE_VERBS
    passive_gift = word.lemma.lower() in ("give", "present", "cover", "show", "cut", "leave") and word.upos != "ADJ"
    return not (sort or measured or paired or light or passive_gift) and word.lemma.lower() not in UNSAFE_ANTONYMS


@perturbation("accuracy", "addition", "critical", 6)
def word_added(parse: Parse) -> Outcome:
    """A modifier that changes the meaning in front of a bare common noun: *the cuts* -> *the fake cuts*."""
    words = [
        n
        for n, word in enumerate(parse.words)
        if word.upos == "NOUN"
        and word.xpos in ("NN", "NNS")
        and parse.stands_alone(n)
        and n
        and not parse.in_title_case(n)
        and _takes_modifier(parse, n)
        and word.lemma.lower() not in FIXED_NOUNS
        and of_relation(word, "nsubj", "obj", "obl", "nmod")
    ]

    def make(n: int) -> list[Change]:
        word = parse.words[n]
        person = word.text.lower().endswith(PERSON_ENDINGS) and word.lemma.lower() not in NOT_PERSONS
        drawn = parse.rng.choice(PERSON_MODIFIERS if person else THING_MODIFIERS)
        return [*parse.replace(word.start, word.start, f"{drawn} ")]

    return parse.choose(words, make, "no bare noun after an article that a modifier could stand before")


def _takes_modifier(parse: Parse, n: int) -> bool:
    """Whether an article or possessive stands right before the noun, and nothing else modifies it."""
    before = parse.words[n - 1]
    determined = (
        before.head == n
        and (before.upos == "DET" or before.xpos == "PRP$")
        and before.text.lower()
        in ("the", "a", "an", "his", "her", "its", "their", "our", "my", "your", "this", "these", "those", "some")
    )
    return determined and not any(parse.relates(m, "amod", "compound", "nummod", "fixed") for m in parse.children(n))

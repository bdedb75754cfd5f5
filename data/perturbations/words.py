"""Single words exchanged: through a lexicon, by another form of the stem, or with a word added (DEMETR 3, 6, 7, 11, 13, 15)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from .lexicons import partners, replacements, table, word_sequence, word_set
from .perturbation import OBJECTIVE, OPEN_CLASSES, SUBJECTIVE, Change, Materials, Outcome, Parse, base, perturbation

BASE_TAGS = ("NN", "VB", "VBP", "JJ", "RB")
COMPARATIVES, SUPERLATIVES = ("JJR", "RBR"), ("JJS", "RBS")
CLAUSES = ("xcomp", "ccomp")
BOUND = ("fixed", "compound", "flat", "aux", "cop", "mark", "case")
"""Relations of words that belong to an expression."""
QUANTITIES = ("little", "less", "least", "more", "most", "none")
UNSAFE_VERBS = frozenset("have do get go come make take keep let be".split())
PERSON_MODIFIERS = ("former", "alleged", "fake", "secret", "rival")
THING_MODIFIERS = ("fake", "abandoned", "secret", "unsuccessful", "illegal", "imaginary", "temporary", "former")


def form_of(materials: Materials, lemma: str, tag: str) -> str | None:
    """Return a lemma in the form of a Penn tag, its first word inflected; *more* or *most* where a degree has no ending."""
    first, _, rest = lemma.partition(" ")
    if tag in BASE_TAGS:
        return lemma
    if tag in COMPARATIVES + SUPERLATIVES:
        short = len(re.findall("[aeiouy]+", first.removesuffix("e"))) < 2 or first.endswith(("y", "ow", "le", "er"))
        ended = materials.inflect(first, tag) if short and not first.endswith("ly") else None
        return ended or f"{'more' if tag in COMPARATIVES else 'most'} {lemma}"
    form = materials.inflect(first, tag)
    return f"{form} {rest}".strip() if form else None


def exchanged(parse: Parse, n: int, options: Iterable[str]) -> list[Change] | None:
    """Return the change of a word to one of the lemmas, in its form and case; None where the text has all of them already."""
    low, tag, own = parse.low(n), parse.tag(n), {word.text.lower() for word in parse.words}
    drawn = [option for option in options if option not in QUANTITIES]
    parse.rng.shuffle(drawn)
    if tag == "JJ" and parse.lemma(n) != low:
        return None
    for option in drawn:
        listed = parse.lemma(n) == low and tag in COMPARATIVES + SUPERLATIVES
        form = option if listed else form_of(parse.materials, option, tag)
        if form and form.lower() not in own:
            return parse.put(n, form)
    return None


def open_words(parse: Parse, classes: Sequence[str] = OPEN_CLASSES) -> list[int]:
    """Return words of open classes that touch no other word, and are not part of a fixed expression or of a compound."""
    words = [n for n, word in enumerate(parse.words) if word.upos in classes and not word.xpos.startswith("NNP")]
    words = [n for n in words if not parse.in_title_case(n) and parse.stands_alone(n)]
    return [n for n in words if not parse.relates(n, *BOUND) and not parse.has(n, "fixed", "compound:prt")]


@perturbation("accuracy", "hypernym", "major", 3)
def hypernym(parse: Parse) -> Outcome:
    """Replace a noun or verb by a more general term: *church* -> *building*; the lexicon has verbs as ``whisper/VERB``."""
    words = [n for n in open_words(parse, ("NOUN", "VERB")) if parse.child(n, "compound") is None]

    def make(n: int) -> list[Change] | None:
        key = parse.lemma(n) + "/VERB" * (parse.pos(n) == "VERB")
        return exchanged(parse, n, parse.materials.hypernyms.get(key, ()))

    return parse.choose(words, make, "no word with a known hypernym")


@perturbation("accuracy", "antonym", "critical", 7)
def antonym(parse: Parse) -> Outcome:
    """Replace a noun, verb, adjective or adverb by its antonym: *pain* -> *pleasure*."""
    words = [n for n in open_words(parse) if has_safe_antonym(parse, n)]
    known = parse.materials.antonyms
    return parse.choose(words, lambda n: exchanged(parse, n, known.get(parse.lemma(n), ())), "no word with a known antonym")


def has_safe_antonym(parse: Parse, n: int) -> bool:
    """Return whether an antonym can replace a word: no word of many meanings, no measure, no *as well*."""
    light = parse.pos(n) == "VERB" and parse.lemma(n) in UNSAFE_VERBS
    gift = parse.pos(n) != "ADJ" and parse.matches(n, lemma="give present cover show cut leave")
    return _is_free(parse, n) and not (light or gift) and parse.lemma(n) not in word_set("lexical.unsafe_antonyms")


def _is_free(parse: Parse, n: int) -> bool:
    """Return whether a word can be opposed: no measure (*two years old*), no *as soon as*, no *kind of*, no *last week*."""
    modifies = parse.matches(n, pos="ADJ ADV")
    measured = modifies and parse.pos(n - 1) == "NOUN" and parse.head(n - 1) == n
    paired = modifies and parse.reads(n - 1, "as at each")
    dated = parse.reads(n, "last first next past final") and parse.lemma(n + 1) in word_set("opposites.times")
    return not (measured or paired or dated or parse.lemma(n) == "kind" and parse.form(n + 1) == "of")


@perturbation("accuracy", "mistranslation - opposite", "critical")
def opposite_word(parse: Parse) -> Outcome:
    """Replace an adjective, adverb, verb or noun by its opposite: *rejected* -> *approved*, *cheap* -> *expensive*."""
    unsafe, rows = word_set("opposites.unturned"), table("opposites")

    def make(n: int) -> list[Change] | None:
        options = rows.get(f"{parse.low(n)}/{parse.pos(n)}") or rows.get(f"{parse.lemma(n)}/{parse.pos(n)}", ())
        return exchanged(parse, n, [option for option in options if _fits(parse, n, option)])

    words = [n for n in open_words(parse) if _is_free(parse, n)]
    words = [n for n in words if not {f"{parse.lemma(n)}/{parse.pos(n)}", f"{parse.low(n)}/{parse.pos(n)}"} & unsafe]
    return parse.choose(words, make, "no word with a known opposite that fits in its place")


def _fits(parse: Parse, n: int, option: str) -> bool:
    """Return whether objects and clauses of a verb go with another one, and *young* with a person."""
    if parse.pos(n) == "ADJ" and {parse.lemma(n), option} & {"old", "young", "new"}:
        person = parse.lemma(parse.head(n)) in word_set("opposites.persons") or parse.matches(parse.head(n), pos="PROPN PRON")
        return option != "new" if person else option != "young"
    if parse.pos(n) != "VERB":
        return True
    if parse.has(n, *CLAUSES):
        return {parse.lemma(n), option} <= word_set("opposites.with_clause")
    if parse.has(n, "iobj"):
        return option in ("refuse", "deny", "offer")
    if parse.has(n, "obj", "nsubj:pass") or parse.relates(n, "acl"):
        return option not in word_set("opposites.intransitive") and " " not in option
    return option not in word_set("opposites.object_verbs")


@perturbation("accuracy", "mistranslation - related word", "critical")
def related_replaced(parse: Parse) -> Outcome:
    """Replace a word by another of its kind: *brother* -> *sister*, *dog* -> *cat*, *French* -> *German*."""

    def make(n: int) -> list[Change] | None:
        options = _relatives()[_related_key(parse, n)]
        return exchanged(parse, n, [option for option in options if _fits(parse, n, option)])

    words = [n for n in range(len(parse.words)) if _is_replaceable(parse, n)]
    return parse.choose(words, make, "no word with others of its kind")


@cache
def _relatives() -> dict[str, tuple[str, ...]]:
    """Return ``word/CLASS`` -> all others of its groups."""
    groups = [[f"{word}/{name.partition(' ')[0]}" for word in group] for name, group in table("related").items()]
    return {key: tuple(other.partition("/")[0] for other in others) for key, others in partners(groups).items()}


def _related_key(parse: Parse, n: int) -> str:
    """Return the key of a word in the groups: its lemma, or its letters where it is a capitalised word such as *French*."""
    word = parse.words[n]
    if word.text[:1].isupper():
        single = word.text.removesuffix("s") if word.xpos in ("NNPS", "NNS") else word.text
        capital = f"{single}/{'NOUN' if word.upos == 'PROPN' else word.upos}"
        if capital in _relatives():
            return capital
    return f"{word.lemma.lower()}/{word.upos}"


def _is_replaceable(parse: Parse, n: int) -> bool:
    """Return whether a word has others of its kind, touches no other word and is not part of a name or fixed expression."""
    word, key, below = parse.words[n], _related_key(parse, n), parse.children(n)
    if key not in _relatives() or not word.text.isalpha() or not parse.stands_alone(n):
        return False
    if parse.relates(n, "fixed", "flat", "aux", "cop", "case") or parse.has(n, "fixed", "compound:prt", "flat"):
        return False
    if key[0].islower() and (parse.in_title_case(n) or word.xpos.startswith("NNP")):
        return False
    near = [m for m in (n - 1, n + 1) if parse.tag(m).startswith("NNP") and parse.words[m].sentence == word.sentence]
    if key[0].isupper() and near:
        return False
    bare = word.upos == "NOUN" and word.xpos == "NN" and word.text.islower() and len(below) == 1
    return not (bare and parse.reads(below[0], "at by on of"))


@perturbation("accuracy", "addition", "critical", 6)
def word_added(parse: Parse) -> Outcome:
    """Add a modifier that changes the meaning before a bare common noun: *the cuts* -> *the fake cuts*."""
    words = [n for n in range(1, len(parse.words)) if parse.matches(n, "nsubj obj obl nmod", pos="NOUN", tag="NN NNS")]
    words = [n for n in words if parse.stands_alone(n) and not parse.in_title_case(n) and _takes_modifier(parse, n)]

    def make(n: int) -> list[Change]:
        person = parse.low(n).endswith(word_sequence("lexical.person_endings"))
        person = person and parse.lemma(n) not in word_set("lexical.not_persons")
        drawn = parse.rng.choice(PERSON_MODIFIERS if person else THING_MODIFIERS)
        return parse.replace(parse.words[n].start, parse.words[n].start, f"{drawn} ")

    bare = [n for n in words if parse.lemma(n) not in word_set("lexical.fixed_nouns")]
    return parse.choose(bare, make, "no bare noun after an article that a modifier could stand before")


def _takes_modifier(parse: Parse, n: int) -> bool:
    """Return whether an article or possessive is right before the noun, and nothing else modifies it."""
    determined = parse.head(n - 1) == n and (parse.pos(n - 1) == "DET" or parse.tag(n - 1) == "PRP$")
    plain = determined and parse.reads(n - 1, "the a an his her its their our my your this these those some")
    return plain and not parse.has(n, "amod", "compound", "nummod", "fixed")


@perturbation("accuracy", "mistranslation - gender", "critical", 11)
def gender_pronoun(parse: Parse) -> Outcome:
    """Change the gender of one pronoun: *he* -> *she*; *her* by its tag: *him* or *his*."""
    others = {n: replacements("word_forms.gender").get(f"{parse.low(n)}/{parse.tag(n)}") for n in range(len(parse.words))}
    words = [(n, other) for n, other in others.items() if other and parse.has_own_span(n)]
    return parse.choose(words, lambda word: parse.spelled(*word), "no pronoun that shows a gender")


@perturbation("fluency", "grammar - case", "minor", 15)
def pronoun_case(parse: Parse) -> Outcome:
    """Put one pronoun into the wrong case: *Her announced*, *told they*."""
    words = [n for n in range(len(parse.words)) if parse.has_own_span(n) and _wrong_case(parse, n)]

    def make(n: int) -> list[tuple[int, int, str]]:
        word, new = parse.words[n], _wrong_case(parse, n) or ""
        first = word.text[0].isupper() and (word.text != "I" or parse.starts_sentence(word.start))
        return [(word.start, word.end, new.capitalize() if first else new)]

    return parse.choose(words, make, "no personal pronoun whose case shows")


def _wrong_case(parse: Parse, n: int) -> str | None:
    """Return the accusative for a subject, the nominative for an object or after a preposition; None for anything else."""
    word = parse.words[n]
    low, relation = word.text.lower(), base(word.relation)
    joined = parse.text[word.end : word.end + 1] in ("'", "’", "-")
    if word.xpos != "PRP" or joined or low in ("it", "you"):
        return None
    if low in OBJECTIVE and relation == "nsubj":
        return OBJECTIVE[low]
    preposition = parse.child(n, "case")
    plain = preposition is None or parse.lemma(preposition) not in ("than", "as", "like", "but", "except")
    return SUBJECTIVE[low] if low in SUBJECTIVE and relation in ("obj", "iobj", "obl", "nmod") and plain else None


ADVERB_ENDINGS = ("al", "ive", "ous", "ic", "ful", "ible", "able", "ent", "ant", "less")
PLAIN_ADJECTIVES = word_set("word_forms.plain_adjectives")
NO_ADVERB = frozenset("nuclear able total recent present patient royal coastal medieval animal capital local global".split())
NO_ADJECTIVE = word_set("word_forms.no_adjective")
NOT_WHEN = {"kind": "NOUN", "use": "NOUN", "direct": "VERB", "present": "VERB", "center": "VERB", "state": "VERB"}


@perturbation("fluency", "grammar - pos shift", "minor", 13)
def part_of_speech_shift(parse: Parse) -> Outcome:
    """Change the part of speech and keep the stem: *the Trump administrate*, *a badly day*, *ran quick*."""
    results = [n for n, word in enumerate(parse.words) if word.upos in OPEN_CLASSES and not word.xpos.startswith("NNP")]
    results = [n for n in results if parse.stands_alone(n) and not parse.in_title_case(n)]
    results = [n for n in results if not parse.relates(n, "fixed", "aux", "cop")]
    words = [(n, new) for n in results for new in _shifts(parse.lemma(n), parse.low(n), parse.pos(n))]
    return parse.choose(words, lambda choice: parse.put(*choice), "no word with a known relative in another part of speech")


def _shifts(lemma: str, form: str, upos: str) -> list[str]:
    """Return the words of the same stem: from the list, and for adjectives and adverbs by rule."""
    listed = [] if NOT_WHEN.get(lemma) == upos or upos == "ADV" else list(table("derivations").get(lemma, ()))
    made = adverb_of(form) if upos == "ADJ" and form == lemma else adjective_of(form) if upos == "ADV" else None
    return [*listed, made] if made else listed


def adverb_of(adjective: str) -> str | None:
    """Return the adverb in -ly of an adjective with a regular ending or from the list, or None."""
    known = adjective in PLAIN_ADJECTIVES or len(adjective) > 5 and adjective.endswith(ADVERB_ENDINGS)
    if adjective in NO_ADVERB or not known:
        return None
    if adjective.endswith("ic"):
        return adjective + ("ly" if adjective == "public" else "ally")
    if adjective.endswith("le"):
        return adjective[:-1] + "y"
    if adjective.endswith("y"):
        return adjective[:-1] + "ily"
    return adjective + "ly"


def adjective_of(adverb: str) -> str | None:
    """Return the adjective of an adverb in -ly, if that adverb can be derived from it, or None."""
    if not adverb.endswith("ly") or len(adverb) < 5 or adverb in NO_ADJECTIVE:
        return None
    stems = [adverb[:-2], adverb[:-4] if adverb.endswith("ically") else "", adverb[:-3] + "y", adverb[:-1] + "e"]
    return next((stem for stem in stems if stem and adverb_of(stem) == adverb), None)

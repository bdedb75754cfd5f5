"""Damage of words and whole texts for training data, and the labels that say which words of a damaged text are wrong.

`rome perturb` does not offer these operations: they make bad English on purpose.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from rome.features.values import Analysis

from .changes import NamedChange, fits, words_after
from .lexicons import alternatives, replacements, word_set
from .perturbation import Change, Materials, Outcome, Parse, Perturbation, Perturbed, apply_edits, perturbation
from .registry import PERTURBATIONS

CONTENT = ("NN", "NNS", "JJ", "JJR", "RB", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ")
"""Penn tags of words that are exchanged for words of the same tag."""
FUNCTION = ("ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ")
"""Word classes whose words are exchanged for words of the same class."""
SMOOTHING = 0.6
"""The power of a word's frequency with which it is drawn: rare words are drawn more often than they occur."""
LEAST = 2
"""Least frequency of a word that is drawn."""
CONFUSED = replacements("damage.confused")
WRONG_FORMS = alternatives("damage.wrong_forms")
"""Penn tag of a word -> tags of forms that are wrong in its place."""
DANGLING = ("DT", "IN", "TO", "CC", "MD", "PRP$", "WDT")
"""Penn tags of words that need a word after them."""
NO_WORD = "no word that can be exchanged for another one"


class Vocabulary:
    """Words by their tags with their frequencies, counted over analysed texts."""

    def __init__(self, analyses: Iterable[Analysis]) -> None:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for analysis in analyses:
            for word in analysis.words:
                tag = word.upos if word.upos in FUNCTION else word.xpos
                if tag in CONTENT + FUNCTION and word.text.isascii() and word.text.replace("'", "").isalpha():
                    counts[tag][word.text.lower()] += 1
        self._words: dict[str, list[str]] = {}
        self._sums: dict[str, list[float]] = {}
        for tag, count in counts.items():
            frequent = sorted((text, n) for text, n in count.items() if n >= LEAST)
            self._words[tag] = [text for text, _ in frequent]
            self._sums[tag] = list(accumulate(n**SMOOTHING for _, n in frequent))

    def draw(self, tag: str, chance: random.Random, unlike: Sequence[str] = ()) -> str | None:
        """Return a word of the tag that is not in ``unlike``, or None."""
        words = self._words.get(tag, [])
        drawn = chance.choices(words, cum_weights=self._sums[tag], k=5) if words else []
        return next((word for word in drawn if word not in unlike), None)


def _drawn(parse: Parse, tag: str) -> str | None:
    """Return a word of the tag that the text does not have, or None."""
    return parse.materials.draw(tag, parse.rng, [word.text.lower() for word in parse.words])


def _free_words(parse: Parse) -> list[int]:
    """Return the words of letters that touch no other word."""
    return [n for n, word in enumerate(parse.words) if word.text.isalpha() and parse.stands_alone(n)]


def _after_blank(parse: Parse) -> list[int]:
    """Return the words that follow a blank."""
    return [n for n, word in enumerate(parse.words) if parse.text[: word.start].endswith(" ") and parse.has_own_span(n)]


def _runs(parse: Parse, lengths: Sequence[int]) -> list[list[int]]:
    """Return a run of neighbouring words from each word on, its length drawn."""
    count = len(parse.words)
    runs = [list(range(n, n + parse.rng.choice(lengths))) for n in range(count)]
    return [run for run in runs if run[-1] < count and all(parse.has_own_span(n) for n in run)]


@perturbation("accuracy", "addition", "critical")
def added_word(parse: Parse) -> Outcome:
    """Add an adjective or a noun before a noun, or an adverb before a verb or an adjective."""
    places: list[tuple[int, str]] = []
    for n in _after_blank(parse):
        if parse.matches(n, pos="NOUN") and not parse.matches(n - 1, pos="ADJ NOUN PROPN PART NUM"):
            places += [(n, "JJ"), (n, "JJ"), (n, "NN")]
        elif parse.matches(n, pos="ADJ VERB") and not parse.matches(n - 1, pos="PART NUM"):
            places.append((n, "RB"))
    return parse.choose(places, lambda place: _inserted(parse, *place), "no noun, verb or adjective after a blank")


@perturbation("fluency", "addition", "minor")
def extra_word(parse: Parse) -> Outcome:
    """Add a function word anywhere."""
    places = [(n, parse.rng.choice(FUNCTION)) for n in _after_blank(parse)]
    return parse.choose(places, lambda place: _inserted(parse, *place), "no word after a blank")


def _inserted(parse: Parse, n: int, tag: str) -> list[Change] | None:
    new, start = _drawn(parse, tag), parse.words[n].start
    return parse.replace(start, start, f"{new} ") if new else None


@perturbation("accuracy", "mistranslation", "major")
def replaced_word(parse: Parse) -> Outcome:
    """Replace a content word by another one with the same tag."""
    words = [n for n in _free_words(parse) if parse.tag(n) in CONTENT]
    return parse.choose(words, lambda n: _exchanged(parse, n, parse.tag(n)), NO_WORD)


@perturbation("fluency", "grammar - function word", "minor")
def misused_word(parse: Parse) -> Outcome:
    """Replace a function word by another one of its class."""
    words = [n for n in _free_words(parse) if parse.pos(n) in FUNCTION]
    return parse.choose(words, lambda n: _exchanged(parse, n, parse.pos(n)), NO_WORD)


@perturbation("fluency", "unintelligible", "major")
def stranger_word(parse: Parse) -> Outcome:
    """Replace a word by one of another class."""

    def make(n: int) -> list[Change] | None:
        tags = [tag for tag in CONTENT + FUNCTION if tag[:2] not in (parse.tag(n)[:2], parse.pos(n)[:2])]
        return _exchanged(parse, n, parse.rng.choice(tags))

    return parse.choose(_free_words(parse), make, NO_WORD)


def _exchanged(parse: Parse, n: int, tag: str) -> list[Change] | None:
    new = _drawn(parse, tag)
    if new is None:
        return None
    return parse.spelled(n, new) if tag in FUNCTION else parse.put(n, new)


@perturbation("fluency", "grammar - form", "minor")
def wrong_form(parse: Parse) -> Outcome:
    """Give a verb or a noun a form that its place does not allow: *she go*, *can goes*, *a dogs*."""
    forms = [(n, tag) for n in _free_words(parse) for tag in WRONG_FORMS.get(parse.tag(n), ()) if _is_wrong(parse, n, tag)]

    def make(place: tuple[int, str]) -> list[Change] | None:
        n, tag = place
        form = parse.inflect(parse.lemma(n), tag)
        return parse.spelled(n, form) if form else None

    return parse.choose(forms, make, "no word with a form that is wrong in its place")


def _is_wrong(parse: Parse, n: int, tag: str) -> bool:
    """Return whether a form must be wrong: that of a noun only after a word that shows the number."""
    if tag in ("NN", "NNS"):
        return parse.low(n - 1) in word_set("damage.plural" if tag == "NN" else "damage.singular")
    return parse.inflect(parse.lemma(n), tag) != parse.inflect(parse.lemma(n), parse.tag(n))


@perturbation("fluency", "grammar - confusion", "minor")
def confused_word(parse: Parse) -> Outcome:
    """Replace a word by one that looks or works alike: *there house*, *bigger then*, *these dog*."""
    words = [n for n in _free_words(parse) if parse.low(n) in CONFUSED]
    return parse.choose(words, lambda n: parse.spelled(n, CONFUSED[parse.low(n)]), "no word that is often confused")


@perturbation("mixed", "omission", "major")
def omitted_words(parse: Parse) -> Outcome:
    """Leave out one to four words."""
    return parse.choose(_runs(parse, (1, 1, 2, 4)), parse.without, "fewer than three words")


@perturbation("fluency", "repetition", "minor")
def doubled_words(parse: Parse) -> Outcome:
    """Repeat one to three words."""
    runs = [run for run in _runs(parse, (1, 1, 2, 3)) if parse.form(run[-1]).isalnum() and parse.form(run[0]).isalnum()]

    def make(run: Sequence[int]) -> list[Change]:
        end = parse.span(run)[1]
        return [(end, end, f" {parse.phrase(run)}")]

    return parse.choose(runs, make, "no word to repeat")


@perturbation("fluency", "grammar - order swap", "major")
def shuffled_window(parse: Parse) -> Outcome:
    """Put two to five neighbouring words into another order."""

    def make(run: list[int]) -> list[Change]:
        order = parse.rng.sample(run, len(run))
        return [(*parse.span([old]), parse.form(new)) for old, new in zip(run, order, strict=True) if old != new]

    runs = [run for run in _runs(parse, (2, 2, 3, 5)) if all(parse.stands_alone(n) for n in run)]
    return parse.choose(runs, make, "no neighbouring words")


@perturbation("fluency", "grammar - order swap", "major")
def moved_word(parse: Parse) -> Outcome:
    """Move a word to another place, two words away or more."""
    places = _after_blank(parse)
    pairs = [(n, m) for n in _free_words(parse) for m in places if abs(n - m) > 1 and parse.pos(n) not in ("ADV", "CCONJ")]

    def make(pair: tuple[int, int]) -> list[Change] | None:
        n, m = pair
        start, gone = parse.words[m].start, parse.without([n])
        inside = any(first < start < end for first, end, _ in gone or ())
        return [*gone, (start, start, f"{parse.form(n)} ")] if gone and not inside else None

    return parse.choose(pairs, make, "no word that can move")


@perturbation("accuracy", "completeness", "critical")
def truncated_text(parse: Parse) -> Outcome:
    """Stop after a word that needs another one: *He went to the.*"""
    ends = [n for n in range(2, len(parse.words) - 2) if parse.tag(n) in DANGLING and parse.stands_alone(n)]
    last = parse.words[-1] if parse.words else None

    def make(n: int) -> list[Change]:
        end = last.start if last and last.text in ".!?" else len(parse.text)
        return [(parse.words[n].end, end, "")]

    return parse.choose(ends, make, "no word inside that needs another one")


@perturbation("typography", "spelling", "minor")
def split_word(parse: Parse) -> Outcome:
    """Put a blank into a word: *im possible*."""

    def make(n: int) -> list[Change]:
        place = parse.words[n].start + parse.rng.randrange(2, len(parse.form(n)) - 1)
        return [(place, place, " ")]

    return parse.choose([n for n in _free_words(parse) if len(parse.form(n)) > 5], make, "no word of six letters")


DAMAGES = {one.name: one for one in [*globals().values()] if isinstance(one, Perturbation)}
"""Every damage of words by its name."""

WEIGHTS = {
    **dict.fromkeys(("wrong_form", "omitted_words"), 6.0),
    **dict.fromkeys(("replaced_word", "misused_word", "shuffled_window", "moved_word", "extra_word"), 3.0),
    **dict.fromkeys(("confused_word", "omitted_content_verb", "omitted_noun", "function_word", "stranger_word"), 1.5),
    **dict.fromkeys(("omitted_subject", "omitted_conjunction", "pronoun_case", "part_of_speech_shift", "word_swap"), 1.0),
    **dict.fromkeys(("deleted_character", "misspelled_word", "added_word", "doubled_words", "truncated_text"), 1.0),
    **dict.fromkeys(("split_word", "shuffled_words"), 0.4),
}
OPERATIONS: dict[str, Perturbation] = {name: {**PERTURBATIONS, **DAMAGES}[name] for name in WEIGHTS}
"""Operations that make a sentence bad English; WEIGHTS has the frequency of each."""
STILL_GRAMMATICAL = frozenset(("replaced_word", "misused_word", "added_word"))
"""Operations after which a sentence may still be acceptable English."""
ATTEMPTS = 12


@dataclass(frozen=True, slots=True)
class Corruption:
    """A text after some operations.

    Attributes
    ----------
    operation
        Names of the operations, joined by ``+``; "" when the text is untouched.
    ungrammatical
        True when the text is no longer acceptable English, False when it is, None when it may still be.
    spans
        Characters of the wrong words.
    unsure_spans
        Characters of words beside a gap, which are neither right nor wrong.
    """

    text: str
    operation: str = ""
    ungrammatical: bool | None = False
    spans: tuple[tuple[int, int], ...] = ()
    unsure_spans: tuple[tuple[int, int], ...] = ()


def change_of(one: Perturbation, analysis: Analysis, seed: int, materials: Materials) -> NamedChange | None:
    """Return what a perturbation does to a text, or None where it does not apply."""
    result = one(analysis, seed, materials)
    if not isinstance(result, Perturbed):
        return None
    return NamedChange(one.name, one.severity, tuple((edit.start, edit.end, edit.perturbed) for edit in result.edits))


def corrupt(analysis: Analysis, operation: str, seed: int, materials: Materials) -> Corruption | None:
    """Return the text after one operation of OPERATIONS, or None where it does not apply."""
    change = change_of(OPERATIONS[operation], analysis, seed, materials)
    return None if change is None else corruption(analysis, [change])


def corrupt_randomly(
    analysis: Analysis, rng: random.Random, materials: Materials, count: int = 1, harmless: Sequence[NamedChange] = ()
) -> Corruption | None:
    """Return the text after up to ``count`` operations drawn by their weights; None when none of a dozen applies.

    Parameters
    ----------
    harmless
        Changes that are made too, and that are not mistakes.
    """
    chosen = list(harmless)
    for name in rng.choices(list(WEIGHTS), list(WEIGHTS.values()), k=ATTEMPTS):
        change = change_of(OPERATIONS[name], analysis, rng.getrandbits(32), materials)
        if change is not None and fits([*chosen, change]):
            chosen.append(change)
        if len(chosen) == count + len(harmless):
            break
    return corruption(analysis, chosen) if len(chosen) > len(harmless) else None


def corruption(analysis: Analysis, changes: Sequence[NamedChange]) -> Corruption:
    """Return the text after changes that fit together; a change of severity ``none`` is not a mistake.

    A gap has no characters, so the word after it is wrong and the word before it is unsure.
    """
    named = sorted((edit, change.severity) for change in changes for edit in change.edits)
    result = apply_edits(analysis.text, [edit for edit, _ in named])
    words = words_after(tuple((word.start, word.end) for word in analysis.words), result)
    wrong: set[tuple[int, int]] = set()
    unsure: set[tuple[int, int]] = set()
    for edit, (_, severity) in zip(result.edits, named, strict=True):
        touched = {span for span in words if span[0] < edit.new_end and span[1] > edit.new_start}
        if severity == "none":
            continue
        if not touched or not edit.perturbed.strip():
            touched = {next((span for span in words if span[1] > edit.new_start), words[-1])} if words else set()
            unsure |= set([span for span in words if span[1] <= edit.new_start][-1:])
        wrong |= touched
    names = [change.name for change in changes if change.severity != "none"]
    ungrammatical = None if names and STILL_GRAMMATICAL.issuperset(names) else bool(names)
    return Corruption(result.text, "+".join(names), ungrammatical, tuple(sorted(wrong)), tuple(sorted(unsure - wrong)))


def _repeated_words(text: str, other: str, chance: random.Random) -> str:
    """Return two to four words of the text, each several times: *Elon elon elon ... tesla tesla* of RoMe's table 2."""
    words = [bare for word in text.split() for bare in (word.strip(".,;:!?\"'()"),) if bare]
    kept = sorted(chance.sample(range(len(words)), min(chance.randint(2, 4), len(words))))
    return " ".join(" ".join([words[place]] * chance.randint(1, 5)) for place in kept).capitalize() + "."


def _repeated_phrase(text: str, other: str, chance: random.Random) -> str:
    """Return a phrase two to four times, then a piece of another text: the second erroneous case of RoMe's table 3."""
    words, tail = text.split(), other.split()
    size = min(chance.randint(3, 6), len(words))
    start = chance.randint(0, len(words) - size)
    return " ".join(words[start : start + size] * chance.randint(2, 4) + tail[-chance.randint(1, 4) :])


def _shuffled(text: str, other: str, chance: random.Random) -> str:
    return " ".join(chance.sample(text.split(), len(text.split())))


def _truncated(text: str, other: str, chance: random.Random) -> str:
    words = text.split()
    return " ".join(words[: max(1, int(len(words) * chance.uniform(0.3, 0.6)))])


SEVERE: dict[str, Callable[[str, str, random.Random], str]] = {
    "empty": lambda text, other, chance: "",
    "unrelated": lambda text, other, chance: other,
    "repeated_words": _repeated_words,
    "repeated_phrase": _repeated_phrase,
    "shuffled": _shuffled,
    "truncated": _truncated,
    "doubled": lambda text, other, chance: f"{text} {text}",
}
"""Name -> function of a text, an unrelated text and a generator that gives a text with little or nothing of the meaning."""


def wreck(operation: str, text: str, other: str, chance: random.Random) -> str | None:
    """Return the text after one operation of SEVERE, or None where that leaves it as it was."""
    changed = SEVERE[operation](text, other, chance)
    return None if changed == text else changed

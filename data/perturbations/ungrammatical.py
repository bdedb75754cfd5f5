"""Rules that turn a good English sentence into one that is wrong in a known place: seeded operations on a tagged sentence.

They make the synthetic training data of the grammar model.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from .lexicons import alternatives, replacements, word_sequence, word_set
from .perturbation import capitalised
from .treebank_words import VERB_TAGS, Corruption, TaggedWord, TreebankWords, render

BE = replacements("ungrammatical.be")
PRONOUNS = replacements("ungrammatical.pronouns")
REFLEXIVES = ("myself", "yourself", "himself", "herself", "itself", "ourselves", "themselves")
SINGULAR = frozenset("a an this that each every another one".split())
PLURAL = frozenset("these those many several few both two three four five six ten various all".split())
DANGLING = frozenset("DT IN TO CC MD PRP$ WDT".split())
FINITE = ("VBZ", "VBP", "VBD", "MD")
CONTENT = ("NN", "NNS", "JJ", "VB", "VBD", "VBZ", "VBP", "VBN", "VBG", "RB", "NNP")
DRAWN = ("NN", "NNS", "JJ", "VB", "VBD", "VBZ", "VBG", "RB", "IN", "DT", "PRP", "CC", "WRB", "MD")
PREPOSITIONS = word_sequence("ungrammatical.prepositions")
PARTICLES = ("up", "out", "off", "down", "on", "in", "over", "away", "back")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
NEGATORS = word_set("ungrammatical.negators")
Words = list[TaggedWord]
Option = tuple[int, str | None, str]
"""A place, the word that comes there (None: nothing does), and its tag."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A tagged sentence that is to be spoilt, the generator that all chance comes from, and the words of a treebank."""

    words: Words
    rng: random.Random
    lexicon: TreebankWords

    def low(self, i: int) -> str:
        """A word in lower case; "" beyond the ends."""
        return self.words[i].text.lower() if 0 <= i < len(self.words) else ""

    def tag(self, i: int) -> str:
        """The Penn tag of a word; "" beyond the ends."""
        return self.words[i].tag if 0 <= i < len(self.words) else ""

    def tagged(self, *tags: str) -> list[int]:
        """The words that have one of the tags (all where none is named) and begin with a letter."""
        return [i for i, word in enumerate(self.words) if word.text[0].isalpha() and (not tags or word.tag in tags)]

    def movable(self, i: int) -> bool:
        """Whether a word can stand elsewhere."""
        return self.words[i].text[0].isalnum() and self.tag(i) not in ("POS", "UH")

    def instead(self, i: int, *new: TaggedWord) -> Words:
        """The sentence with other words in the place of one."""
        return [*self.words[:i], *new, *self.words[i + 1 :]]

    def inserted(self, i: int, text: str) -> Words:
        """The sentence with one more word before a place."""
        return [*self.words[:i], TaggedWord(text, wrong=True), *self.words[i:]]

    def put(self, i: int, text: str | None, tag: str) -> Words | None:
        """The sentence with another word in a place; None where it is the same one."""
        same = not text or text.lower() == self.low(i)
        return None if same else self.instead(i, self.words[i].put(text or "", tag))

    def one(self, options: Iterable[Option]) -> Words | None:
        """One of the options carried out; None where there is none."""
        found = [(i, text, tag) for i, text, tag in options if text]
        if not found:
            return None
        i, text, tag = self.rng.choice(found)
        return self.instead(
            i, self.words[i].put(capitalised(text) if i == 0 and self.words[0].text[0].isupper() else text, tag)
        )

    def at_one(self, places: Sequence[int], change: Callable[[int], Words | None]) -> Words | None:
        """The change made at one of the places; None where there is none."""
        return change(self.rng.choice(places)) if places else None

    def listed(self, table: Mapping[str, str], *tags: str) -> list[Option]:
        """Every word of a table (with one of the tags, where some are named) and what the table puts in its place."""
        return [(i, table.get(self.low(i)), self.tag(i)) for i in range(len(self.words)) if not tags or self.tag(i) in tags]

    def inflected(self, tags: Mapping[str, Sequence[str]]) -> list[Option]:
        """Every word under other tags than its own."""
        found = [(i, word, tag) for i, word in enumerate(self.words) for tag in tags.get(word.tag, ())]
        return [(i, self.lexicon.inflect(word.text, word.tag, tag), tag) for i, word, tag in found]

    def arranged(self, start: int, words: Words) -> Words | None:
        """The words in the places from start on; each place keeps its white space, each word that moved is wrong."""
        places = self.words[start : start + len(words)]
        new = [w if w.text.lower() == p.text.lower() else w.blame() for w, p in zip(words, places, strict=True)]
        spaced = [replace(w, space=p.space) for w, p in zip(new, places, strict=True)]
        moved = sum(word.wrong for word in new) > 1
        return [*self.words[:start], *spaced, *self.words[start + len(words) :]] if moved else None


Operation = Callable[[Draft], Words | None]


def agreement(draft: Draft) -> Words | None:
    """A finite verb that does not agree with its subject: *she go*, *they is*."""
    wished = any(word.text.lower() in ("if", "wish") for word in draft.words)
    options = [option for option in draft.listed(BE, *FINITE[:3]) if not (option[1] == "were" and wished)]
    others = draft.inflected({"VBZ": ("VBP",), "VBP": ("VBZ",)})
    return draft.one([*options, *(option for option in others if draft.low(option[0]) not in BE)])


def number(draft: Draft) -> Words | None:
    """A noun whose number does not fit its determiner or its verb: *two dog*, *a dogs*, *the dogs is*."""
    options = []
    for i, form, tag in draft.inflected({"NN": ("NNS",), "NNS": ("NN",)}):
        before, finite = draft.low(i - 1), draft.tag(i + 1) in ("VBZ", "VBP") or draft.low(i + 1) in ("was", "were")
        counted = before in PLURAL or draft.tag(i - 1) == "CD" and before not in ("one", "1")
        if finite or (before in SINGULAR if tag == "NNS" else counted):
            options.append((i, form, tag))
    return draft.one(options)


def verb_form(draft: Draft) -> Words | None:
    """A verb in a form that its place does not allow: *can goes*, *has go*, *he going home*."""
    options = draft.inflected(alternatives("ungrammatical.wrong_forms"))
    past = {i: form for i, form, _ in draft.inflected({tag: ("VBD" if tag == "VBN" else "VBN",) for tag in VERB_TAGS})}
    return draft.one((i, form, tag) for i, form, tag in options if form != past.get(i))


def tense(draft: Draft) -> Words | None:
    """A finite verb in the other tense; often still grammatical."""
    return draft.one(draft.inflected({"VBD": ("VBZ", "VBP"), "VBZ": ("VBD",), "VBP": ("VBD",)}))


def determiner(draft: Draft) -> Words | None:
    """A determiner that its noun does not allow: *these dog*, *much friends*, *an dog*."""
    wrong = draft.listed(replacements("ungrammatical.demonstratives"), "DT", "JJ", "PDT")
    options = [option for option in wrong if draft.tag(option[0] + 1) in ("NN", "NNS", "JJ", "NNP")]
    options += draft.listed({"a": "an", "an": "a"}, "DT")
    plain = [i for i, word in enumerate(draft.words) if word.tag == "DT" and draft.tag(i + 1) == "NNS"]
    return draft.one([*options, *((i, draft.rng.choice(("a", "each", "every", "this")), "DT") for i in plain)])


def pronoun(draft: Draft) -> Words | None:
    """A pronoun in the wrong case, or a reflexive without an antecedent: *him left*, *herself was asked*."""
    options = draft.listed(PRONOUNS, "PRP") + draft.listed(replacements("ungrammatical.possessives"), "PRP$")
    for i in range(len(draft.words)):
        if draft.low(i) in REFLEXIVES or draft.low(i) in PRONOUNS and i == 0:
            options.append((i, draft.rng.choice([word for word in REFLEXIVES if word != draft.low(i)]), "PRP"))
    return draft.one(options)


def confusion(draft: Draft) -> Words | None:
    """A function word taken for one that looks or works alike: *there house*, *bigger then*, *the man which*."""
    return draft.one(draft.listed(replacements("ungrammatical.confused")))


def degree(draft: Draft) -> Words | None:
    """A wrong comparison: *more better*, *most biggest*, *big than*, *the more big*."""
    for i, word in sorted(enumerate(draft.words), key=lambda _: draft.rng.random()):
        if word.tag in ("JJR", "JJS") and draft.low(i) not in ("more", "most", "less", "least"):
            if draft.rng.random() < 0.6:
                return draft.instead(i, TaggedWord("more" if word.tag == "JJR" else "most", wrong=True), word.doubt())
            base = draft.lexicon.inflect(word.text, word.tag, "JJ")
            if base:
                return draft.instead(i, word.put(base, "JJ"))
        if word.tag == "JJ" and draft.low(i) not in ("other", "such", "own", "same"):
            form = draft.lexicon.inflect(word.text, "JJ", draft.rng.choice(("JJR", "JJS")))
            if form and draft.tag(i - 1) in ("DT", "RB"):
                return draft.instead(i, TaggedWord("more", wrong=True), word.put(form, "JJR"))
    return None


def adverb(draft: Draft) -> Words | None:
    """An adjective for an adverb or the other way round: *sings beautiful*, *a quickly dog*."""
    options, known = [], draft.lexicon.tags
    for i, word in enumerate(draft.words):
        low = draft.low(i)
        if word.tag == "RB" and low.endswith("ly") and "JJ" in known.get(low[:-2], {}):
            options.append((i, low[:-2], "JJ"))
        elif word.tag == "JJ" and "RB" in known.get(low + "ly", {}):
            options.append((i, low + "ly", "RB"))
    return draft.one(options)


MISSING: dict[str, Callable[[Draft, int], bool]] = {
    "article": lambda draft, i: (
        draft.tag(i) in ("DT", "PRP$") and (draft.tag(i + 1) == "NN" or (draft.tag(i + 1), draft.tag(i + 2)) == ("JJ", "NN"))
    ),
    "preposition": lambda draft, i: (
        draft.tag(i) in ("IN", "TO") and draft.low(i) not in ("that", "if") and draft.tag(i + 1) != "PUNCT"
    ),
    "auxiliary": lambda draft, i: (
        draft.low(i) in word_set("ungrammatical.auxiliary_forms") and draft.tag(i) != "POS" and draft.low(i + 1).isalnum()
    ),
    "subject": lambda draft, i: draft.tag(i) in ("PRP", "NN", "NNS", "NNP", "EX", "WP") and draft.tag(i + 1) in FINITE,
    "verb": lambda draft, i: draft.tag(i) in VERB_TAGS and draft.tag(i) != "VBG",
    "noun": lambda draft, i: (
        draft.tag(i) in ("NN", "NNS") and draft.tag(i - 1) in ("DT", "PRP$", "JJ", "IN") and draft.tag(i + 1) != "NN"
    ),
    "modal": lambda draft, i: draft.tag(i) in ("MD", "TO") and draft.tag(i + 1) == "VB",
    "conjunction": lambda draft, i: draft.tag(i) in ("CC", "WDT", "WP", "WRB") and i > 0,
}
"""Which words are needed where they stand."""


def missing(draft: Draft, kind: str) -> Words | None:
    """A needed word is gone: the next word is blamed, the one before is doubted; none where nothing would be left to blame."""

    def removed(i: int) -> Words | None:
        before = [word.doubt() if n == i - 1 else word for n, word in enumerate(draft.words[:i])]
        if before and not draft.words[i].space:
            before[-1] = replace(before[-1], wrong=False)
        return [*before, draft.words[i + 1].blame(), *draft.words[i + 2 :]] if len(draft.words) > 2 else None

    return draft.at_one([i for i in range(len(draft.words) - 1) if MISSING[kind](draft, i)], removed)


def truncated(draft: Draft) -> Words | None:
    """A sentence that stops after a word which needs another one: *He went to the*."""

    def stopped(i: int) -> Words:
        end = [draft.words[-1]] if draft.words[-1].text in ".!?" and draft.rng.random() < 0.7 else []
        return [*draft.words[:i], replace(draft.words[i], space=not end, wrong=True, unsure=False), *end]

    return draft.at_one([i for i in range(2, len(draft.words) - 2) if draft.tag(i) in DANGLING], stopped)


def doubled_word(draft: Draft) -> Words | None:
    """One word stands twice; the second one is wrong."""
    words = [i for i, word in enumerate(draft.words) if word.text.isalnum() and word.space]
    places = [i for i in words if draft.low(i) not in ("very", "had", "that")]
    return draft.at_one(places, lambda i: draft.instead(i, draft.words[i], draft.words[i].blame()))


def doubled_phrase(draft: Draft) -> Words | None:
    """A phrase of two to six words stands two or four times; its repetitions are wrong."""
    count = len(draft.words)
    if count < 4:
        return None
    length = draft.rng.randint(2, min(6, count - 1))
    start = draft.rng.randint(0, count - length)
    *phrase, last = draft.words[start : start + length]
    spaced = [*phrase, TaggedWord(last.text, True, last.tag)]
    again = [word.blame() for word in spaced] * draft.rng.choice((1, 1, 3))
    return [*draft.words[:start], *spaced, *again, *draft.words[start + length :]]


BEFORE_DETERMINER = ("PRP", "NNP", "DT", "PRP$", "VBZ", "VBD", "VBP", "MD", "IN", "TO", "RB")
EXTRA: dict[str, Callable[[Draft, int], bool]] = {
    "extra_determiner": lambda draft, i: draft.tag(i) in BEFORE_DETERMINER,
    "extra_preposition": lambda draft, i: i > 0,
    "extra_auxiliary": lambda draft, i: i > 0 and draft.tag(i) in ("VBZ", "VBD", "VBP", "MD", "VB"),
    "extra_pronoun": lambda draft, i: (
        i > 0 and (draft.tag(i) in ("VBZ", "VBD", "MD") or draft.tag(i - 1) in ("VBD", "VBZ", "VBN"))
    ),
}
"""Before which words another one is too many: *the a dog*, *discuss about it*, *he is goes*, *the man he went*."""


def _inside(draft: Draft) -> list[int]:
    """Places before which a word can stand: after white space, or at the start."""
    return [i for i, word in enumerate(draft.words) if (i == 0 or draft.words[i - 1].space) and word.text[0].isalnum()]


def extra(draft: Draft, kind: str) -> Words | None:
    """A determiner, preposition, auxiliary or pronoun too many."""
    places = [i for i in _inside(draft) if EXTRA[kind](draft, i)]
    words = replacements("ungrammatical.extra_words")[kind].split()
    return draft.at_one(places, lambda i: draft.inserted(i, draft.rng.choice(words)))


def extra_word(draft: Draft) -> Words | None:
    """Any word at any place, drawn by frequency or because it often follows the word before."""

    def drawn(i: int) -> Words | None:
        between = draft.rng.random() < 0.5
        seen = draft.lexicon.draw_between(draft.low(i - 1), draft.low(i), draft.rng) if between else None
        tags = ("NN", "VBD", "JJ", "IN", "RB", "NNS", "VB", "PRP", "VBZ", "WP")
        word = seen or draft.lexicon.draw(draft.rng.choice(tags), draft.rng)
        return draft.inserted(i, word) if word and word[0].isalnum() else None

    return draft.at_one([i for i in _inside(draft) if i], drawn)


def negation(draft: Draft) -> Words | None:
    """A negation too many, too few, or beside its auxiliary: *didn't see nothing*, *he goes not*, *I have ever*."""
    low = [word.text.lower() for word in draft.words]
    table = replacements("ungrammatical.negated" if NEGATORS & set(low) else "ungrammatical.polarity")
    places = [i for i, word in enumerate(low) if word in table]
    if places and draft.rng.random() < 0.8:
        return draft.at_one(places, lambda i: draft.instead(i, draft.words[i].put(table[low[i]])))
    finite = [i for i, word in enumerate(draft.words) if word.tag in FINITE[:3] and word.space and i + 1 < len(draft.words)]
    verbs = [i for i in finite if low[i] not in ("is", "are", "was", "were", "am")]
    verbs = [i for i in verbs if draft.tag(i + 1) not in ("VBN", "VB", "VBG", "RB")]
    return draft.at_one(verbs, lambda i: draft.inserted(i + draft.rng.choice((0, 1)), "not"))


def swap_adjacent(draft: Draft) -> Words | None:
    """Two neighbours of different word classes change places: *dog the*."""
    pairs = [i for i in range(len(draft.words) - 1) if draft.movable(i) and draft.movable(i + 1) and draft.words[i].space]
    other = [i for i in pairs if draft.tag(i)[:2] != draft.tag(i + 1)[:2] and "RB" not in (draft.tag(i), draft.tag(i + 1))]
    return draft.at_one(other, lambda i: draft.arranged(i, [draft.words[i + 1], draft.words[i]]))


def swap_distant(draft: Draft) -> Words | None:
    """Two words of different classes, at least three apart, change places."""
    words = [i for i in range(len(draft.words)) if draft.movable(i)]
    pairs = [(i, j) for i in words for j in words if j - i >= 3 and draft.tag(i)[:2] != draft.tag(j)[:2]]
    i, j = draft.rng.choice(pairs) if pairs else (0, 0)
    return draft.arranged(i, [draft.words[j], *draft.words[i + 1 : j], draft.words[i]]) if pairs else None


def shuffled_window(draft: Draft) -> Words | None:
    """Three to six neighbouring words in random order."""
    length = min(draft.rng.randint(3, 6), len(draft.words) - 1)
    starts = [i for i in range(len(draft.words) - length + 1) if all(draft.movable(k) for k in range(i, i + length))]
    return draft.at_one(starts, lambda i: _shuffled(draft, i, draft.words[i : i + length])) if length >= 3 else None


def shuffled(draft: Draft) -> Words | None:
    """All words but the final mark in random order."""
    return _shuffled(draft, 0, draft.words[:-1]) if len(draft.words) > 4 else None


def _shuffled(draft: Draft, start: int, words: Words) -> Words | None:
    draft.rng.shuffle(words)
    return draft.arranged(start, words)


def moved_word(draft: Draft) -> Words | None:
    """One word (not an adverb) goes to another place; it alone is wrong there, its old and new neighbours are doubted."""
    words = [i for i in range(len(draft.words)) if draft.movable(i) and draft.tag(i) not in ("RB", "CC")]
    words = [i for i in words if i == 0 or draft.words[i - 1].space]
    pairs = [(i, j) for i in words for j in words if abs(i - j) >= 2]
    if not pairs:
        return None
    i, j = draft.rng.choice(pairs)
    word = replace(draft.words[i].blame(), space=True)
    rest = [other.doubt() if k in (i - 1, i + 1, j) else other for k, other in enumerate(draft.words)]
    rest[j : j + 1] = [rest[j], word] if j > i else [word, rest[j]]
    if j > i and not rest[j].space:
        rest[j], rest[j + 1] = replace(rest[j], space=True), replace(word, space=False)
    del rest[i if j > i else i + 1]
    return rest


def verb_last(draft: Draft) -> Words | None:
    """A verb goes to the end, as in a clause of another language: *He the book bought*."""
    end = len(draft.words) - (not draft.words[-1].text[0].isalnum())

    def moved(i: int) -> Words:
        first, *window = draft.words[i + 1 : end]
        window = [first.doubt(), *window]
        verb = replace(draft.words[i].blame(), space=window[-1].space)
        return [*draft.words[:i], *window[:-1], replace(window[-1], space=True), verb, *draft.words[end:]]

    verbs = [i for i in range(max(end - 2, 0)) if draft.tag(i) in VERB_TAGS and draft.words[i].space]
    return draft.at_one(verbs, moved)


def inversion(draft: Draft) -> Words | None:
    """The subject after its auxiliary in a statement, or before it in a question: *Where he is?*, *Is he where knows*."""
    pairs = [(i, draft.tag(i), draft.tag(i + 1)) for i in range(len(draft.words) - 1) if draft.words[i].space]
    told = [(i, one in ("PRP", "NNP", "WP") and two in FINITE) for i, one, two in pairs]
    asked = {i for i, one, two in pairs if one in FINITE and two in ("PRP", "NNP")}
    places = [i for i, fits in told if fits or i in asked]
    return draft.at_one(places, lambda i: draft.arranged(i, [draft.words[i + 1], draft.words[i]]))


def wrong_preposition(draft: Draft) -> Words | None:
    """Another preposition or particle: *depends of*, *picked down*."""
    places = [i for i in draft.tagged("IN", "RP", "TO") if draft.low(i) in PREPOSITIONS + PARTICLES]
    others = {"RP": PARTICLES}
    return draft.at_one(places, lambda i: draft.put(i, draft.rng.choice(others.get(draft.tag(i), PREPOSITIONS)), draft.tag(i)))


def other_class(draft: Draft) -> Words | None:
    """A word of another word class: *the quickly of the*."""

    def drawn(i: int) -> Words | None:
        tag = draft.rng.choice([tag for tag in DRAWN if tag[:2] != draft.tag(i)[:2]])
        return draft.put(i, draft.lexicon.draw(tag, draft.rng), tag)

    return draft.at_one(draft.tagged(), drawn)


def same_class(draft: Draft) -> Words | None:
    """Another word with the same tag: grammatical more often than not, seldom what was meant."""
    return draft.at_one(
        draft.tagged(*CONTENT), lambda i: draft.put(i, draft.lexicon.draw(draft.tag(i), draft.rng), draft.tag(i))
    )


def neighbour_word(draft: Draft) -> Words | None:
    """One to three words, each replaced by one that was seen beside its neighbours."""
    places, new = [i for i in draft.tagged() if 0 < i < len(draft.words) - 1], list(draft.words)
    for i in draft.rng.sample(places, min(len(places), draft.rng.choice((1, 1, 2, 3)))) if places else ():
        word = draft.lexicon.draw_between(draft.low(i - 1), draft.low(i + 1), draft.rng)
        if word and word[0].isalnum() and word != draft.low(i):
            new[i] = new[i].put(word)
    return new if any(word.wrong for word in new) else None


def text_word(draft: Draft) -> Words | None:
    """A word of the same text stands a second time, in the place of a word of another class."""
    places = draft.tagged()
    pairs = [(i, j) for i in places for j in places if abs(i - j) > 1 and draft.tag(i)[:2] != draft.tag(j)[:2]]
    i, j = draft.rng.choice(pairs) if pairs else (0, 0)
    return draft.put(i, draft.words[j].text, draft.tag(j)) if pairs else None


def misspelling(draft: Draft) -> Words | None:
    """A word with one letter dropped, doubled, exchanged for another, or two neighbours swapped; never a word itself."""

    def misspelt(i: int) -> Words | None:
        old = draft.words[i].text
        n, kind = draft.rng.randrange(1, len(old)), draft.rng.randrange(4)
        if kind == 3:
            word = old[: n - 1] + old[n] + old[n - 1] + old[n + 1 :]
        else:
            word = old[:n] + ("", old[n] * 2, draft.rng.choice(LETTERS) if kind == 2 else "")[kind] + old[n + 1 :]
        return None if word.lower() in draft.lexicon.tags else draft.put(i, word, draft.tag(i))

    places = [i for i in draft.tagged() if len(draft.words[i].text) > 3 and draft.tag(i) not in ("NNP", "NNPS")]
    return draft.at_one(places, misspelt)


def split_word(draft: Draft) -> Words | None:
    """A word broken in two: *im possible*."""

    def broken(i: int) -> Words:
        word = draft.words[i]
        cut = draft.rng.randrange(2, len(word.text) - 1)
        return draft.instead(i, replace(word.put(word.text[:cut]), space=True), word.put(word.text[cut:]))

    return draft.at_one([i for i in draft.tagged() if len(draft.words[i].text) > 5], broken)


def _by_name(*operations: Operation) -> dict[str, Operation]:
    return {operation.__name__: operation for operation in operations}


OPERATIONS: dict[str, Operation] = {
    **_by_name(agreement, number, verb_form, tense, determiner, pronoun, confusion, degree, adverb),
    **{f"missing_{kind}": partial(missing, kind=kind) for kind in MISSING},
    **_by_name(truncated, doubled_word, doubled_phrase),
    **{kind: partial(extra, kind=kind) for kind in EXTRA},
    **_by_name(extra_word, negation, swap_adjacent, swap_distant, shuffled_window, shuffled, moved_word, verb_last, inversion),
    **_by_name(wrong_preposition, other_class, same_class, neighbour_word, text_word, misspelling, split_word),
}
"""Every operation by its name, in the order of their kinds: what it makes of a draft, or None where it does not apply."""

STILL_GRAMMATICAL = frozenset(("tense", "same_class", "neighbour_word", "wrong_preposition"))
"""Operations after which the sentence may still be acceptable English; only its words are not the right ones."""

SHARES = {
    4.0: "agreement verb_form neighbour_word",
    3.0: "same_class",
    2.0: "number wrong_preposition moved_word swap_adjacent",
    1.5: "missing_article missing_auxiliary missing_preposition missing_noun missing_verb determiner "
    "extra_word confusion negation inversion extra_pronoun",
    0.7: "doubled_phrase",
    0.4: "split_word",
    0.3: "shuffled",
}
WEIGHTS = {name: weight for weight, names in SHARES.items() for name in names.split()}
"""How often an operation is drawn, 1 where it is not named."""
ATTEMPTS = 12


def corrupt(tokens: Sequence[TaggedWord], operation: str, rng: random.Random, lexicon: TreebankWords) -> Corruption | None:
    """Carry out one named operation on a tagged sentence; None where it does not apply or changes no word.

    The same tokens, generator state and lexicon give the same result. Raises KeyError for a name not in OPERATIONS.
    """
    new = _change(tokens, operation, rng, lexicon)
    return None if new is None else render(new, operation, None if operation in STILL_GRAMMATICAL else True)


def corrupt_randomly(
    tokens: Sequence[TaggedWord], rng: random.Random, lexicon: TreebankWords, count: int = 1
) -> Corruption | None:
    """Carry out ``count`` operations drawn by their weights, one on the other's result; the names are joined by ``+``.

    None when none of a dozen drawn operations applies. What an earlier operation marked wrong stays marked while it stands.
    """
    names = list(OPERATIONS)
    weights = [WEIGHTS.get(name, 1.0) for name in names]
    done: list[str] = []
    current = list(tokens)
    for name in rng.choices(names, weights, k=ATTEMPTS):
        new = _change(current, name, rng, lexicon)
        if new is not None and _letters(new) != _letters(tokens):  # words swapped twice are where they were
            current = new
            done.append(name)
        if len(done) == count:
            break
    if not done:
        return None
    return render(current, "+".join(done), None if STILL_GRAMMATICAL.issuperset(done) else True)


def _change(
    tokens: Sequence[TaggedWord], operation: str, rng: random.Random, lexicon: TreebankWords
) -> list[TaggedWord] | None:
    new = OPERATIONS[operation](Draft(list(tokens), rng, lexicon)) if tokens else None
    spoilt = new and any(token.wrong for token in new) and _letters(new) != _letters(tokens)
    return new if spoilt else None


def _letters(tokens: Sequence[TaggedWord]) -> list[str]:
    return render(tokens).text.lower().split()

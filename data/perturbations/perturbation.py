"""Perturbations: their input (a parsed text, a generator, materials) and their result (a changed text with its exact edits)."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Literal, TypeVar

from rome.exceptions import InputError
from rome.features.errors.typos import vowel_sound
from rome.features.values import Analysis

Severity = Literal["minor", "major", "critical", "base", "none"]
Category = Literal["accuracy", "fluency", "mixed", "typography", "baseline", "robustness"]
Change = tuple[int, int, str]
"""Start, end and new text of a replaced piece."""
Candidate = TypeVar("Candidate")

OPEN_CLASSES = ("NOUN", "VERB", "ADJ", "ADV")
OBJECTIVE = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them", "it": "it", "you": "you"}
SUBJECTIVE = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they", "it": "it", "you": "you"}
FINITE_TAGS = ("MD", "VBZ", "VBP", "VBD")
PREDICATES = ("root", "conj", "parataxis", "ccomp", "advcl", "acl:relcl")
PLURAL_PRONOUNS = ("we", "they", "you", "i", "these", "those", "us", "them", "me")
OPENING, CLOSING = "([{“‘\"'«", ")]}”’,.;:!?%»"
VOWELS = re.compile(r"[aeiou]|8|11\b|18\b", re.IGNORECASE)
"""Beginnings of letters and numbers that are pronounced with a vowel first."""
ACRONYM = re.compile(r"[A-Z]{2,}")


@dataclass(frozen=True, slots=True)
class Replacement:
    """``original_text[start:end]`` (which reads ``original``) became ``perturbed_text[new_start:new_end]`` (which reads ``perturbed``).

    An insertion has an empty ``original``, a deletion an empty ``perturbed``.
    """

    start: int
    end: int
    original: str
    new_start: int
    new_end: int
    perturbed: str


@dataclass(frozen=True, slots=True)
class Perturbed:
    """The new text and its edits, in reading order; putting every ``original`` back gives the old text."""

    text: str
    edits: tuple[Replacement, ...]


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """The reason, for people to read, why a perturbation does not apply to a text: ``no pronoun with another case``."""

    reason: str


Outcome = Perturbed | NotApplicable


@dataclass(frozen=True)
class Materials:
    """Sources that perturbations use besides the text itself; perturbations that need an empty one do not apply.

    Attributes
    ----------
    antonyms, hypernyms, synonyms
        Lemma -> lemmas.
    names
        Kind of name (person, place, organisation) -> names.
    texts
        Other texts, for the unrelated one and for entities of the same kind.
    similar
        Word -> similar words, nearest first.
    inflect
        (lemma, Penn tag) -> the inflected form, or None where the language has none.
    draw
        (tag, generator, words to avoid) -> a random word with that tag, or None.
    """

    antonyms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    hypernyms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    synonyms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    texts: Sequence[str] = ()
    similar: Mapping[str, Sequence[str]] = field(default_factory=dict)
    inflect: Callable[[str, str], str | None] = lambda lemma, tag: None
    draw: Callable[[str, random.Random, Sequence[str]], str | None] = lambda tag, chance, unlike: None


def apply_edits(text: str, changes: Sequence[Change]) -> Perturbed:
    """Replace ``text[start:end]`` by the third entry of each change; changes in reading order that do not overlap.

    Raises InputError for changes that overlap, are out of order or outside the text.
    """
    parts: list[str] = []
    edits: list[Replacement] = []
    place = position = 0
    for start, end, new in changes:
        if not place <= start <= end <= len(text):
            raise InputError(
                f"the change of characters {start} to {end} must follow the previous one and be inside the text. Order the changes"
            )
        parts += [text[place:start], new]
        position += start - place
        edits.append(Replacement(start, end, text[start:end], position, position + len(new), new))
        position += len(new)
        place = end
    return Perturbed("".join([*parts, text[place:]]), tuple(edits))


def base(relation: str) -> str:
    """Return a relation without its subtype: ``nsubj:pass`` -> ``nsubj``."""
    return relation.partition(":")[0]


@cache
def split(names: str) -> frozenset[str]:
    """Return the names between the blanks of a string."""
    return frozenset(names.split())


def capitalised(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


def is_contiguous(indices: Sequence[int]) -> bool:
    """Return whether sorted indices have no gap; an empty sequence has one."""
    return bool(indices) and indices[-1] - indices[0] + 1 == len(indices)


def in_case_of(new: str, old: str) -> str:
    """Return the new word capitalised, or in capitals, as the old one is."""
    if len(old) > 1 and old.isupper() and old.isalpha():
        return new.upper()
    return capitalised(new) if old[:1].isupper() else new


def needs_an(following: str) -> bool:
    """Return whether the indefinite article before this text is *an*: *an hour*, *a university*, *an FBI agent*."""
    first = re.match(r"[^\w]*([\w.]*)", following)
    word = first.group(1) if first else ""
    if ACRONYM.match(word):
        return word[0] in "AEFHILMNORSX8"
    sound = vowel_sound(word)
    return bool(VOWELS.match(word)) if sound is None else sound


class Parse:
    """The input of a perturbation: a text with its dependency trees, the generator of all random choices, and materials.

    Words are identified by their index. `low`, `lemma`, `tag` and so on are "" beyond the ends of the text.
    """

    def __init__(self, analysis: Analysis, rng: random.Random | None = None, materials: Materials | None = None) -> None:
        self.text, self.words, self.sentences = analysis.text, analysis.words, analysis.sentences
        self.rng, self.materials = rng or random.Random(0), materials or Materials()

    @cached_property
    def _below(self) -> list[list[int]]:
        results: list[list[int]] = [[] for _ in self.words]
        for n, word in enumerate(self.words):
            if word.head >= 0 and self.words[word.head].sentence == word.sentence:
                results[word.head].append(n)
        return results

    def low(self, n: int) -> str:
        """Return a word in lower case."""
        return self.words[n].text.lower() if 0 <= n < len(self.words) else ""

    def lemma(self, n: int) -> str:
        """Return the lemma of a word in lower case."""
        return self.words[n].lemma.lower() if 0 <= n < len(self.words) else ""

    def tag(self, n: int) -> str:
        """Return the Penn tag of a word."""
        return self.words[n].xpos if 0 <= n < len(self.words) else ""

    def form(self, n: int) -> str:
        """Return a word as it is written."""
        return self.words[n].text if 0 <= n < len(self.words) else ""

    def pos(self, n: int) -> str:
        """Return the word class of a word."""
        return self.words[n].upos if 0 <= n < len(self.words) else ""

    def relation(self, n: int) -> str:
        """Return the relation of a word to its head."""
        return self.words[n].relation if 0 <= n < len(self.words) else ""

    def head(self, n: int) -> int:
        """Return the head of a word; -1 at the root and beyond the ends of the text."""
        return self.words[n].head if 0 <= n < len(self.words) else -1

    def matches(self, n: int, relation: str = "", *, pos: str = "", tag: str = "", low: str = "", lemma: str = "") -> bool:
        """Return whether a word is among those that each string names: relations, word classes, Penn tags, words."""
        wanted = ((pos, self.pos(n)), (tag, self.tag(n)), (low, self.low(n)), (lemma, self.lemma(n)))
        return (not relation or self.relates(n, *relation.split())) and all(results in split(o) for o, results in wanted if o)

    def reads(self, n: int, names: str) -> bool:
        """Return whether a word in lower case is one of the names between blanks."""
        return self.low(n) in split(names)

    def phrase_at(self, n: int, phrase: str) -> int | None:
        """Return the last word of a phrase that starts at a word, or None where the text is another one."""
        parts = phrase.split()
        last = n + len(parts) - 1
        if [self.low(m) for m in range(n, last + 1)] != parts:
            return None
        start, end = self.span((n, last))
        touched = any(c.isalnum() or c in "-'’_/" for c in self.touching(start, end))
        return last if self.text[start:end].lower() == phrase and not touched else None

    def some(self, words: Iterable[int], relation: str = "", **named: str) -> bool:
        """Return whether one of the words matches (see ``matches``)."""
        return any(self.matches(n, relation, **named) for n in words)

    def inflect(self, lemma: str, tag: str) -> str | None:
        """Return the form of a lemma under a Penn tag; None where the materials have no such form."""
        return self.materials.inflect(lemma, tag)

    def children(self, n: int) -> list[int]:
        """Return the words of its sentence that depend directly on a word, in reading order."""
        return self._below[n]

    def child(self, n: int, *relations: str) -> int | None:
        """Return the first child with one of the relations (a name without a subtype includes its subtypes), or None."""
        return next((m for m in self._below[n] if self.relates(m, *relations)), None)

    def has(self, n: int, *relations: str) -> bool:
        """Return whether a word has a child of one of the relations."""
        return self.child(n, *relations) is not None

    def relates(self, n: int, *relations: str) -> bool:
        """Return whether the relation of a word, or that without the subtype, is one of these."""
        relation = self.relation(n)
        return relation in relations or base(relation) in relations

    def subtree(self, n: int) -> list[int]:
        """Return the word and everything below it, in reading order; a cycle in a broken tree is visited once."""
        results, waiting = {n}, [n]
        while waiting:
            new = [m for m in self._below[waiting.pop()] if m not in results]
            results.update(new)
            waiting += new
        return sorted(results)

    def span(self, indices: Iterable[int]) -> tuple[int, int]:
        """Return the first and the last character of some words."""
        words = [self.words[n] for n in indices]
        return min(word.start for word in words), max(word.end for word in words)

    def phrase(self, indices: Sequence[int]) -> str:
        """Return the characters of neighbouring words."""
        return self.text[slice(*self.span(indices))]

    def touching(self, start: int, end: int) -> str:
        """Return the characters right before and right after a piece of the text."""
        return self.text[max(start - 1, 0) : start] + self.text[end : end + 1]

    def has_own_span(self, n: int) -> bool:
        """Return whether the characters of a word spell it and belong to no neighbour."""
        word, near = self.words[n], self.words[max(n - 1, 0) : n] + self.words[n + 1 : n + 2]
        return self.text[word.start : word.end] == word.text and all((o.start, o.end) != (word.start, word.end) for o in near)

    def stands_alone(self, n: int) -> bool:
        """Return whether a word has its own span and touches no letter, digit, hyphen or apostrophe: not the *do* of *don't*."""
        around = self.touching(self.words[n].start, self.words[n].end)
        return self.has_own_span(n) and not any(c.isalnum() or c in "-'’_/@" for c in around)

    def opens(self, n: int) -> bool:
        """Return whether a word is the first of its sentence."""
        return n == 0 or self.words[n - 1].sentence != self.words[n].sentence

    def in_title_case(self, n: int) -> bool:
        """Return whether a word has a capital without starting a sentence: a part of a name or of a heading."""
        return self.words[n].text[:1].isupper() and not self.opens(n) and self.words[n].text != "I"

    def is_name(self, n: int) -> bool:
        """Return whether a word keeps its capital anywhere: a name, *I*, or a word with capitals inside."""
        word = self.words[n]
        named = word.xpos.startswith("NNP") or word.upos == "PROPN" or word.text == "I"
        return named or word.text[1:] != word.text[1:].lower()

    def lowered(self, n: int, text: str, keeps: bool = False) -> str:
        """Return a text that starts with a word, without the capital of the start of a sentence; a name keeps its own."""
        return text if keeps or self.is_name(n) else text[:1].lower() + text[1:]

    def nominal_core(self, n: int) -> list[int]:
        """Return the head of a noun phrase with the compound nouns and name parts that touch it, in reading order."""
        parts = {n}.union(*(self.subtree(child) for child in self._below[n] if self.relates(child, "compound", "flat")))
        low = high = n
        while low - 1 in parts:
            low -= 1
        while high + 1 in parts:
            high += 1
        return list(range(low, high + 1))

    def subject(self, n: int) -> int | None:
        """Return the first nsubj or expl of a predicate, or None."""
        return self.child(n, "nsubj", "expl")

    def is_plural(self, n: int) -> bool:
        """Return whether a subject takes a plural verb form; *you* and *I* count as plural because they take the bare form."""
        word = self.words[n]
        if any(self.words[m].relation == "conj" for m in self._below[n]):
            return not any(self.lemma(k) in ("or", "nor") for m in self._below[n] for k in self._below[m])
        return word.xpos in ("NNS", "NNPS") or "Number=Plur" in word.feats or word.text.lower() in PLURAL_PRONOUNS

    def clauses(self) -> list[tuple[int, int]]:
        """Return (predicate, finite word) of every finite clause, main clauses first.

        The finite word is the first auxiliary or copula, or the verb itself.
        """
        results = []
        for n, word in enumerate(self.words):
            if self.relates(n, *PREDICATES):
                finite = next((m for m in self._below[n] if self.relates(m, "aux", "cop") and m < n), n)
                if self.words[finite].xpos in FINITE_TAGS and self.words[finite].upos in ("AUX", "VERB"):
                    kind = word.relation if word.relation in PREDICATES else base(word.relation)
                    results.append((PREDICATES.index(kind), n, finite))
        return [(n, finite) for _, n, finite in sorted(results)]

    def starts_sentence(self, start: int) -> bool:
        """Return whether only opening marks and blanks are between the start of a sentence and this character."""
        sentence = next((s for s in reversed(self.sentences) if s.start <= start), None)
        return sentence is None or not any(c.isalnum() for c in self.text[sentence.start : start])

    def choose(
        self,
        candidates: Iterable[Candidate],
        make: Callable[[Candidate], Sequence[Change] | None],
        reason: str,
        rank: Callable[[Candidate], int] = lambda candidate: 0,
    ) -> Outcome:
        """Return what the first candidate gives whose changes make another text; else the reason.

        The order is drawn by the generator; candidates of a lower rank come first.
        """
        order = list(candidates)
        self.rng.shuffle(order)
        for candidate in sorted(order, key=rank):
            changes = make(candidate)
            result = self.finish(changes, reason) if changes else None
            if isinstance(result, Perturbed):
                return result
        return NotApplicable(reason)

    def by_rules(self, rules: Sequence[Rule], reason: str) -> Outcome:
        """Change one word, drawn by the generator, by the first of the rules that applies to it; else return the reason."""
        words = [n for n in range(len(self.words)) if self.has_own_span(n)]
        return self.choose(words, lambda n: next((new for rule in rules for new in (rule(self, n),) if new), None), reason)

    def finish(self, changes: Sequence[Change], reason: str) -> Outcome:
        """Apply the changes in reading order; the reason when they leave the text as it was or leave nothing but blanks."""
        ordered = sorted(change for change in changes if self.text[change[0] : change[1]] != change[2])
        result = apply_edits(self.text, ordered)
        return result if ordered and result.text != self.text and result.text.strip() else NotApplicable(reason)

    def replace(self, start: int, end: int, new: str) -> list[Change]:
        """Put a phrase in the place of characters, and an article right before them into the form that the phrase asks for."""
        return [*self._article(start, new + self.text[end:]), (start, end, new)]

    def put(self, n: int, new: str, last: int | None = None) -> list[Change]:
        """Put a phrase in the place of a word (up to ``last``), in its case, with the article before it put right."""
        end = self.words[n if last is None else last].end
        return self.replace(self.words[n].start, end, in_case_of(new, self.words[n].text))

    def spelled(self, n: int, new: str) -> list[Change]:
        """Put a word in the place of another one, in its case; the text before it stays."""
        word = self.words[n]
        return [(word.start, word.end, in_case_of(new, word.text))]

    def delete(self, start: int, end: int) -> list[Change]:
        """Delete characters with the blank that belonged to them, and with a comma that would start the text or come twice.

        The next word gets a capital when the deletion started the sentence, and an article before it the form it asks for.
        """
        text, first = self.text, self.starts_sentence(start)
        opened = text[:start].endswith(tuple(OPENING))
        after = re.match(r"\s*,", text[end:])
        if after and (first or text[:start].rstrip().endswith((",", "(", ";", ":"))):
            end += after.end()
        if first or opened or (start and text[start - 1].isspace() and not text[end : end + 1].isspace()):
            end += len(text[end:]) - len(text[end:].lstrip())
        if first:
            upper = next((c.isupper() for c in text[start:end] if c.isalpha()), False)
            capital = upper and text[end : end + 1].islower()
            return [(start, end + 1, text[end].upper())] if capital else [(start, end, "")]
        if not opened and (text[end : end + 1] == "" or text[end].isspace() or text[end] in CLOSING):
            start = len(text[:start].rstrip())
        return [*(self._article(start, text[end:]) if start and end < len(text) else []), (start, end, "")]

    def without(self, indices: list[int]) -> list[Change] | None:
        """Return the deletion of a run of words; None where nothing would be left or a letter touches it."""
        start, end = self.span(indices)
        after = indices[-1] + 1
        if after < len(self.words) and self.in_title_case(after) and self.in_title_case(indices[-1]):
            return None
        touched = self.touching(start, end)
        bracketed = touched[:1] in ("(", "[", '"') and touched[-1:] in (")", "]", '"')
        if bracketed or any(c.isalnum() or c in "-/@'’" for c in touched) or len(indices) > len(self.words) - 2:
            return None
        return self.delete(start, end)

    def _article(self, start: int, following: str) -> list[Change]:
        """Return the change of an indefinite article right before ``start`` that must change its form."""
        for n, word in enumerate(self.words):
            if word.text.lower() in ("a", "an") and word.upos == "DET" and self.has_own_span(n):
                if word.end <= start and not self.text[word.end : start].strip(" \"'“‘") and following.strip():
                    right, old_right = ("an" if needs_an(t.lstrip()) else "a" for t in (following, self.text[word.end :]))
                    if right != old_right and right != word.text.lower():
                        capital = in_case_of(right, word.text) if word.text != "A" else right.capitalize()
                        return [(word.start, word.end, capital)]
        return []


Rule = Callable[[Parse, int], list[Change] | None]
"""The changes of a text at a word; None where the rule does not apply."""


@dataclass(frozen=True)
class Perturbation:
    """One way to change a text.

    Attributes
    ----------
    name
        Unique, snake_case, such as ``negation_added``.
    category
        Accuracy, fluency, mixed, typography or baseline (DEMETR, table 1), or robustness (RoMe 4.7).
    type
        The column Type of DEMETR's table A1, such as ``omission``.
    severity
        As table 1 has it; ``base`` for the baselines; ``none`` where meaning and form are kept (a passive form).
    identifier
        The number in DEMETR's table 1, None for what is not there.
    function
        The function of a parsed text; pure, all random choices come from the generator.
    """

    name: str
    category: Category
    type: str
    severity: Severity
    identifier: int | None
    function: Callable[[Parse], Outcome]

    def __call__(self, analysis: Analysis, seed: int, materials: Materials) -> Outcome:
        """Perturb one analysed text; the same seed gives the same text, whatever was perturbed before."""
        return self.function(Parse(analysis, random.Random(f"{self.name}\0{seed}\0{analysis.text}"), materials))


def perturbation(
    category: Category, type: str, severity: Severity, identifier: int | None = None
) -> Callable[[Callable[[Parse], Outcome]], Perturbation]:
    """Make a perturbation of a function, under the function's name."""
    return lambda function: Perturbation(function.__name__, category, type, severity, identifier, function)

"""Careful changes of text: deletions that leave no double blank, capitals at the start of a sentence, a or an."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from rome.features.errors.typos import vowel_sound
from rome.features.values import Analysis

from .tree import has_own_span, in_title_case, span
from .values import NotApplicable, Perturbed, apply_edits

Change = tuple[int, int, str]
Candidate = TypeVar("Candidate")

OPENING, CLOSING = "([{“‘\"'«", ")]}”’,.;:!?%»"
VOWELS = re.compile(r"[aeiou]|8|11\b|18\b", re.IGNORECASE)
"""What the names of letters and numbers begin with that are said with a vowel first."""
ACRONYM = re.compile(r"[A-Z]{2,}")


def choose(
    analysis: Analysis,
    rng: random.Random,
    candidates: Iterable[Candidate],
    make: Callable[[Candidate], Sequence[Change] | None],
    reason: str,
) -> Perturbed | NotApplicable:
    """The first candidate, in an order drawn by the generator, whose changes give another text; else the reason."""
    order = list(candidates)
    rng.shuffle(order)
    for candidate in order:
        changes = make(candidate)
        result = finish(analysis, changes, reason) if changes else None
        if isinstance(result, Perturbed):
            return result
    return NotApplicable(reason)


def finish(analysis: Analysis, changes: Sequence[Change], reason: str) -> Perturbed | NotApplicable:
    """Apply the changes in reading order; the reason when they leave the text as it was or leave nothing but blanks."""
    ordered = sorted(change for change in changes if analysis.text[change[0] : change[1]] != change[2])
    result = apply_edits(analysis.text, ordered)
    return result if ordered and result.text != analysis.text and result.text.strip() else NotApplicable(reason)


def starts_sentence(analysis: Analysis, start: int) -> bool:
    """Whether only opening marks and blanks stand between the start of a sentence and this character."""
    sentence = next((s for s in reversed(analysis.sentences) if s.start <= start), None)
    return sentence is None or not any(c.isalnum() for c in analysis.text[sentence.start : start])


def in_case_of(new: str, old: str) -> str:
    """The new word capitalised, or in capitals, as the old one is."""
    if len(old) > 1 and old.isupper() and old.isalpha():
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def needs_an(following: str) -> bool:
    """Whether the indefinite article before this text is *an*, by its first letters: *an hour*, *a university*, *an FBI agent*."""
    first = re.match(r"[^\w]*([\w.]*)", following)
    word = first.group(1) if first else ""
    if ACRONYM.match(word):
        return word[0] in "AEFHILMNORSX8"
    sound = vowel_sound(word)
    return bool(VOWELS.match(word)) if sound is None else sound


def replacement(analysis: Analysis, start: int, end: int, new: str) -> list[Change]:
    """Put a phrase in the place of characters, and an article right before them into the form that the phrase asks for."""
    return [*_article(analysis, start, new + analysis.text[end:]), (start, end, new)]


def deletion(analysis: Analysis, start: int, end: int) -> list[Change]:
    """Take characters out with the blank that belonged to them, and with a comma that would stand at the start or twice.

    The next word gets a capital when the deletion started the sentence, and an article before it the form it asks for.
    """
    text, first = analysis.text, starts_sentence(analysis, start)
    after = re.match(r"\s*,", text[end:])
    if after and (first or text[:start].rstrip().endswith((",", "(", ";", ":"))):
        end += after.end()
    if (
        first
        or text[:start].endswith(tuple(OPENING))
        or (start and text[start - 1].isspace() and not text[end : end + 1].isspace())
    ):
        end += len(text[end:]) - len(text[end:].lstrip())
    if not first and (text[end : end + 1] == "" or text[end : end + 1].isspace() or text[end] in CLOSING):
        start = len(text[:start].rstrip()) if not text[:start].endswith(tuple(OPENING)) else start
    if first:
        return _capitalised(text, start, end)
    changes = _article(analysis, start, text[end:]) if start and end < len(text) else []
    return [*changes, (start, end, "")]


def without(analysis: Analysis, indices: list[int]) -> list[Change] | None:
    """The deletion of a run of words, where something of the text stays and no letter touches it."""
    start, end = span(analysis, indices)
    text, after = analysis.text, indices[-1] + 1
    if after < len(analysis.words) and in_title_case(analysis, after) and in_title_case(analysis, indices[-1]):
        return None
    touched = (text[start - 1 : start] if start else "") + text[end : end + 1]
    bracketed = touched[:1] in ("(", "[", '"') and touched[-1:] in (")", "]", '"')
    if bracketed or any(c.isalnum() or c in "-/@'’" for c in touched) or len(indices) > len(analysis.words) - 2:
        return None
    return deletion(analysis, start, end)


def _capitalised(text: str, start: int, end: int) -> list[Change]:
    """Delete characters at the start of a sentence and make the next letter a capital where the first one was."""
    upper = next((c.isupper() for c in text[start:end] if c.isalpha()), False)
    if upper and text[end : end + 1].islower():
        return [(start, end + 1, text[end].upper())]
    return [(start, end, "")]


def _article(analysis: Analysis, start: int, following: str) -> list[Change]:
    """The change of the word right before ``start`` from a to an or back, if it is one and must change."""
    for n, word in enumerate(analysis.words):
        if word.text.lower() in ("a", "an") and word.upos == "DET" and has_own_span(analysis, n):
            if word.end <= start and not analysis.text[word.end : start].strip(" \"'“‘") and following.strip():
                right = "an" if needs_an(following.lstrip()) else "a"
                old_right = "an" if needs_an(analysis.text[word.end :].lstrip()) else "a"
                if right != old_right and right != word.text.lower():
                    return [(word.start, word.end, in_case_of(right, word.text) if word.text != "A" else right.capitalize())]
    return []

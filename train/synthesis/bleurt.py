"""BLEURT's synthetic pairs (Sellam et al. 2020, §4.1 and appendix A.1): mask filling, back-translation and dropped words."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rome.exceptions import InputError
from rome.train.synthesis.edits import Operation, Word, applied, diff_operations, words_of
from rome.train.synthesis.fillers import Filler, FillRequest, RoundTrip
from rome.train.synthesis.pairs import Pipeline, SyntheticPair, identifier, pair_seed
from rome.train.synthesis.signals import BACK_TRANSLATION, FLAG

SCATTERED, CONTIGUOUS = "scattered", "contiguous"
"""The two strategies of masks, and the types of their operations."""
CLINGING = frozenset(".,;:!?")


class Mask(NamedTuple):
    """Hidden characters ``start:end`` of a text, and how many words replace them."""

    start: int
    end: int
    words: int = 1


def scattered_masks(text: str, most: int, draw: random.Random) -> list[Mask]:
    """Draw 1 to ``most`` words (no signs), number and places uniformly, from left to right; none for a text without words."""
    words = _without_signs(text)
    chosen = draw.sample(range(len(words)), draw.randint(1, min(most, len(words)))) if words else []
    return [Mask(words[n].start, words[n].end) for n in sorted(chosen)]


def contiguous_masks(text: str, most: int, draw: random.Random) -> list[Mask]:
    """Draw one row of words, its first word and its length (up to ``most``) uniformly; none for a text without words."""
    words = _without_signs(text)
    if not words:
        return []
    first = draw.randrange(len(words))
    length = draw.randint(1, min(most, len(words) - first))
    return [Mask(words[first].start, words[first + length - 1].end, length)]


def _without_signs(text: str) -> list[Word]:
    return [word for word in words_of(text) if not word.is_sign]


@dataclass(frozen=True, slots=True)
class _Path:
    """One way of filling: the text with the finished masks and their operations, and the words of the current mask.

    Attributes
    ----------
    log_probability, score
        Of the current mask, and of all.
    """

    text: str
    operations: tuple[Operation, ...] = ()
    words: tuple[str, ...] = ()
    log_probability: float = 0.0
    score: float = 0.0

    def extended(self, word: str, log: float) -> _Path:
        """Return the path with one more word."""
        return replace(self, words=(*self.words, word), log_probability=self.log_probability + log, score=self.score + log)

    def step(self, old: str, start: int) -> Operation:
        """Return the replacement of a mask by the words so far."""
        start += sum(len(one.new) - len(one.original) for one in self.operations)
        new = "".join(word if n == 0 or word in CLINGING else f" {word}" for n, word in enumerate(self.words))
        details = {"log_probability": round(self.log_probability, 4)}
        return Operation("replacement", start, start + len(old), old, new, details=details)


def fill_masks(text: str, masks: Sequence[Mask], filler: Filler, beams: int, kind: str) -> tuple[Operation, ...]:
    """Return the replacements of the masks in the likeliest filling, from left to right; none if the filler has nothing.

    Parameters
    ----------
    kind
        SCATTERED or CONTIGUOUS, the type of the operations, whose details hold the log probability of the filling.
    """
    paths = [_Path(text)]
    for mask in masks:
        old = text[mask.start : mask.end]
        for _ in range(1 if filler.spans else mask.words):
            paths = _grown(paths, old, mask.start, filler, beams)
        paths = [_finished(path, replace(path.step(old, mask.start), type=kind)) for path in paths]
    return paths[0].operations


def _grown(paths: Sequence[_Path], old: str, start: int, filler: Filler, beams: int) -> list[_Path]:
    """Return the best paths after one more word; a path without candidates stays as it is."""
    grown: list[_Path] = []
    places = [_place(path, path.step(old, start)) for path in paths]
    for path, place, found in zip(paths, places, filler.fill(places), strict=True):
        candidates = [(word, math.log(p)) for word, p in found if p > 0]
        candidates = [(word, log) for word, log in candidates if not _is_beside(place, word)] or candidates
        grown += [path.extended(word, log) for word, log in candidates] or [path]
    likeliest = {applied(path.text, path.step(old, start)): path for path in sorted(grown, key=lambda path: path.score)}
    ordered = sorted(likeliest.items(), key=lambda item: (-round(item[1].score, 4), item[0]))
    return [path for _, path in ordered[:beams]]


def _place(path: _Path, step: Operation) -> FillRequest:
    """Return the place of the next word: the mask itself, or behind the words in it."""
    if not path.words:
        return FillRequest(path.text, step.start, step.end)
    end = step.start + len(step.new)
    return FillRequest(applied(path.text, step), end, end)


def _is_beside(place: FillRequest, word: str) -> bool:
    """Tell whether a word already is right before or after a place; otherwise a row of gaps becomes "on on on on"."""
    beside = place.text[: place.start].split()[-1:] + place.text[place.end :].split()[:1]
    return word.casefold() in map(str.casefold, beside)


def _finished(path: _Path, step: Operation) -> _Path:
    """Return a path whose current mask is filled: with one more operation, unless nothing changed."""
    operations = (*path.operations, step) if path.words and step.new != step.original else path.operations
    text = applied(path.text, step) if path.words else path.text
    return _Path(text, operations, score=path.score)


DROPPED = "dropped"
"""Type of the operations of word dropping."""
VERSION = 4
MASKS = {SCATTERED: scattered_masks, CONTIGUOUS: contiguous_masks}


class BleurtPipeline(Pipeline):
    """Make one pair per text and strategy, and for about ``drop`` of these pairs another one with words dropped from the hypothesis.

    Nothing has a severity or a label: the pre-training signals (`rome.train.synthesis.signals`) measure how far apart two texts are. Ids
    are unique in a run if sources are.

    Parameters
    ----------
    filler
        For the two mask strategies.
    round_trips
        One more strategy each, ``back-translation-fr``.
    masks
        Largest number of hidden words per text (15, our choice).
    beams
        Texts kept after each word, the likeliest ones (8).
    drop
        Share of the pairs with dropped words (0.3).
    least
        Least number of words per text.

    Raises
    ------
    InputError
        For two round trips of one language.
    """

    name = "bleurt"

    def __init__(
        self,
        filler: Filler,
        round_trips: Sequence[RoundTrip] = (),
        *,
        masks: int = 15,
        beams: int = 8,
        drop: float = 0.3,
        least: int = 3,
        block: int = 32,
    ) -> None:
        self.trips = {f"{BACK_TRANSLATION}-{trip.language}": trip for trip in round_trips}
        if len(self.trips) < len(round_trips):
            raise InputError("two pairs of translation checkpoints have one language: give each its own name")
        self.filler, self.masks, self.beams, self.drop = filler, masks, beams, drop
        self.strategies = (*MASKS, *self.trips)
        numbers = f"drop:{drop:g}|least:{least}|masks:{masks}|beam{beams}"
        models = [f"fill:{filler.signature}", *(trip.signature for trip in round_trips)]
        super().__init__("|".join([f"{self.name}{VERSION}", numbers, *models]), block, least)

    def is_long_enough(self, text: str) -> bool:
        """Tell whether a text has enough words, without signs."""
        return len(_without_signs(text)) >= self.least_words

    def pairs_of(self, texts: Sequence[tuple[str, str]], seed: int) -> Iterator[SyntheticPair]:
        """Yield the pairs of each text, strategy by strategy."""
        for source, text in texts:
            for strategy in self.strategies:
                made = self._operations(strategy, text, seed)
                if isinstance(made, str):
                    self.skipped[f"{strategy}: {made}"] += 1
                    continue
                yield self._pair(source, text, strategy, made, seed)
                draw = _draw(seed, f"{strategy}|{DROPPED}", text)
                if draw.random() < self.drop and (further := dropped_words(applied(text, *made), draw)):
                    yield self._pair(source, text, f"{strategy}|{DROPPED}", made + further, seed)

    def _operations(self, strategy: str, text: str, seed: int) -> tuple[Operation, ...] | str:
        """Return the operations of a strategy on a text, or the reason if there are none."""
        if strategy not in self.trips:
            masks = MASKS[strategy](text, self.masks, _draw(seed, strategy, text))
            return fill_masks(text, masks, self.filler, self.beams, strategy) or "no filling"
        again = self.trips[strategy].back(text)
        return "too long" if again is None else diff_operations(text, again, BACK_TRANSLATION) or "unchanged"

    def _pair(self, source: str, text: str, recipe: str, operations: Sequence[Operation], seed: int) -> SyntheticPair:
        own = identifier(seed, source, text)
        signals = {FLAG: float(recipe.startswith(BACK_TRANSLATION))}
        return self.pair(source, text, operations, seed, name=f"{self.name}|{own}|{recipe}", signals=signals)


def dropped_words(text: str, draw: random.Random) -> tuple[Operation, ...]:
    """Return deletions of 1 to all words of a text (separated by white space), number and places drawn uniformly (appendix A.1).

    From right to left, each with the white space behind it, or before it at the end of the text; none for a text without words.
    """
    words = [match.span() for match in re.finditer(r"\S+", text)]
    chosen = sorted(draw.sample(words, draw.randint(1, len(words)))) if words else []
    operations: list[Operation] = []
    for start, end in reversed(chosen):
        if text[end:].strip():
            end = len(text) - len(text[end:].lstrip())
        else:
            start, end = len(text[:start].rstrip()), len(text)
        operations.append(Operation("deletion", start, end, text[start:end], "", type=DROPPED))
        text = applied(text, operations[-1])
    return tuple(operations)


def _draw(seed: int, purpose: str, text: str) -> random.Random:
    """Return a random generator that depends on the arguments alone; the same on every machine."""
    return random.Random(pair_seed(seed, f"{purpose}|{text}"))

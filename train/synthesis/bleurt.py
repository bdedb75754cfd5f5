"""BLEURT's synthetic pairs (Sellam et al. 2020, §4.1 and appendix A.1): mask filling, back-translation and dropped words."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from rome.exceptions import InputError
from rome.train.synthesis.edits import WordSpan, diff_operations, words_of
from rome.train.synthesis.fillers import Filler, FillRequest
from rome.train.synthesis.pairs import Operation, Pipeline, SyntheticPair, applied
from rome.train.synthesis.signals import BACK_TRANSLATION, FLAG
from rome.train.synthesis.translation import RoundTrip

SCATTERED, CONTIGUOUS = "scattered", "contiguous"
"""The two strategies, and the types of their operations."""
CLINGING = frozenset(".,;:!?")


@dataclass(frozen=True, slots=True)
class Mask:
    """Characters ``start:end`` of a text, hidden, and how many words take their place."""

    start: int
    end: int
    words: int = 1


def scattered_masks(text: str, most: int, draw: random.Random) -> list[Mask]:
    """1 to ``most`` words (signs left alone), how many and which drawn uniformly, from left to right; none for a text without words."""
    words = _without_signs(text)
    chosen = draw.sample(range(len(words)), draw.randint(1, min(most, len(words)))) if words else []
    return [Mask(words[n].start, words[n].end) for n in sorted(chosen)]


def contiguous_masks(text: str, most: int, draw: random.Random) -> list[Mask]:
    """One row of words, its first word and its length (up to ``most`` and to the text's end) drawn uniformly; none without words."""
    words = _without_signs(text)
    if not words:
        return []
    first = draw.randrange(len(words))
    length = draw.randint(1, min(most, len(words) - first))
    return [Mask(words[first].start, words[first + length - 1].end, length)]


def _without_signs(text: str) -> list[WordSpan]:
    return [word for word in words_of(text) if not word.is_sign]


@dataclass(frozen=True, slots=True)
class _Path:
    """One way of filling so far.

    Attributes
    ----------
    begun
        Where the current mask begins; -1 before its first word.
    at
        Where the next word of the current mask is put in.
    """

    text: str
    score: float = 0.0
    shift: int = 0
    begun: int = -1
    at: int = -1
    mask_score: float = 0.0
    operations: tuple[Operation, ...] = ()


@dataclass(slots=True)
class _Job:
    """One text with its masks, word for word, and the paths that are kept."""

    text: str
    steps: Sequence[tuple[Mask, int]]
    paths: list[_Path]


def fill_masks(
    requests: Sequence[tuple[str, Sequence[Mask]]], filler: Filler, beams: int, kind: str
) -> list[tuple[Operation, ...]]:
    """For each text the replacements of its masks in the likeliest filling, from left to right; none where the filler has nothing.

    Parameters
    ----------
    kind
        SCATTERED or CONTIGUOUS, the type of the operations, whose details hold the filling's log_probability. The texts go through the filler
        together, step by step, and do not change each other's result.
    """
    jobs = []
    for text, masks in requests:
        steps = [(mask, n) for mask in masks for n in range(1 if filler.spans else mask.words)]
        jobs.append(_Job(text, steps, [_Path(text)]))
    for step in range(max((len(job.steps) for job in jobs), default=0)):
        active = [(job, *job.steps[step]) for job in jobs if step < len(job.steps)]
        places = [[_place(path, mask, n) for path in job.paths] for job, mask, n in active]
        wanted = list(dict.fromkeys(place for row in places for place in row if place is not None))
        found = dict(zip(wanted, filler.fill(wanted), strict=True))
        for (job, mask, n), row in zip(active, places, strict=True):
            job.paths = _next(job.paths, row, found, beams)
            if filler.spans or n == mask.words - 1:
                job.paths = [_finished(path, job.text[mask.start : mask.end], kind) for path in job.paths]
    return [job.paths[0].operations for job in jobs]


def _place(path: _Path, mask: Mask, number: int) -> FillRequest | None:
    """Where the next word goes: in place of the hidden characters, then behind the word put in before; None after a gap without words."""
    if number == 0:
        return FillRequest(path.text, mask.start + path.shift, mask.end + path.shift)
    return FillRequest(path.text, path.at, path.at) if path.begun >= 0 else None


def _next(
    paths: Sequence[_Path],
    places: Sequence[FillRequest | None],
    found: Mapping[FillRequest, list[tuple[str, float]]],
    beams: int,
) -> list[_Path]:
    """The best paths after one more word. A path without candidates goes on as it is."""
    grown: list[_Path] = []
    for path, place in zip(paths, places, strict=True):
        candidates = [(word, p) for word, p in found[place] if p > 0] if place else []
        if place is None or not candidates:
            grown.append(path)
            continue
        candidates = [(word, p) for word, p in candidates if not _stands_beside(place, word)] or candidates
        grown += [_with(path, place, word, p) for word, p in candidates]
    unique = {path.text: path for path in sorted(grown, key=lambda path: path.score)}  # of equal texts the likeliest
    ordered = sorted(unique.values(), key=lambda path: (-round(path.score, 4), path.text))
    return ordered[:beams]


def _stands_beside(place: FillRequest, word: str) -> bool:
    """Whether a word stands right before or after a place: a row of gaps would be filled with "on on on on"."""
    beside = place.text[: place.start].split()[-1:] + place.text[place.end :].split()[:1]
    return word.casefold() in map(str.casefold, beside)


def _with(path: _Path, place: FillRequest, word: str, probability: float) -> _Path:
    """A path with one more word in it."""
    fresh = place.start != place.end
    gap = "" if fresh or word in CLINGING else " "
    text = place.text[: place.start] + gap + word + place.text[place.end :]
    log = math.log(probability)
    at = place.start + len(gap) + len(word)
    begun, so_far = (place.start, log) if fresh else (path.begun, path.mask_score + log)
    return replace(path, text=text, score=path.score + log, begun=begun, at=at, mask_score=so_far)


def _finished(path: _Path, old: str, kind: str) -> _Path:
    """A path whose current mask is filled: one more operation, unless what stood there stands there again or nothing was found."""
    if path.begun < 0:
        return path
    new, operations = path.text[path.begun : path.at], path.operations
    if new != old:
        details = {"log_probability": round(path.mask_score, 4)}
        operations += (Operation("replacement", path.begun, path.begun + len(old), old, new, type=kind, details=details),)
    shift = path.shift + len(new) - len(old)
    return replace(path, shift=shift, begun=-1, at=-1, mask_score=0.0, operations=operations)


DROPPED = "dropped"
"""Type of the operations of word dropping."""
VERSION = 2
MASKS = {SCATTERED: scattered_masks, CONTIGUOUS: contiguous_masks}


class BleurtPipeline(Pipeline):
    """Of each text one pair a strategy, and for about ``drop`` of these pairs a further one with words dropped from the hypothesis.

    Nothing has a severity or a label here: the pre-training signals (`rome.train.synthesis.signals`) say how far two texts are apart. Ids
    are unique in a run as far as sources are. Raises InputError for numbers out of range or when no strategy is left.

    Parameters
    ----------
    filler
        For the two mask strategies; None leaves them out.
    round_trips
        One more strategy each, ``back-translation-fr``.
    masks
        The most words hidden in a text (15; a choice of ours).
    beams
        Texts kept after each mask, the likeliest ones (8).
    drop
        Share of the pairs (0.3).
    least
        Words that a text needs.
    """

    name = "bleurt"

    def __init__(
        self,
        filler: Filler | None = None,
        round_trips: Sequence[RoundTrip] = (),
        *,
        masks: int = 15,
        beams: int = 8,
        drop: float = 0.3,
        least: int = 3,
        block: int = 32,
    ) -> None:
        if min(masks, beams, least, block) < 1 or not 0 <= drop <= 1:
            raise InputError(
                f"masks={masks}, beams={beams}, least={least}, block={block}, drop={drop}: give at least 1, and drop in [0, 1]"
            )
        if filler is None and not round_trips:
            raise InputError(
                "BLEURT's pipeline needs a filler or a pair of translation checkpoints: give one, such as the filler embedded"
            )
        self.trips = {f"{BACK_TRANSLATION}-{trip.language}": trip for trip in round_trips}
        if len(self.trips) < len(round_trips):
            raise InputError("two pairs of translation checkpoints have one language: give each its own name")
        self.filler, self.masks, self.beams, self.drop, self.least = filler, masks, beams, drop, least
        self.strategies = (*(MASKS if filler is not None else ()), *self.trips)
        parts = [f"{self.name}{VERSION}:{','.join(self.strategies)}", f"drop:{drop:g}", f"least:{least}"]
        if filler is not None:
            parts += [f"masks:{masks}", f"beam{beams}", f"fill:{filler.signature}"]
        super().__init__("|".join([*parts, *(trip.signature for trip in round_trips)]), block)

    def is_long_enough(self, text: str) -> bool:
        """By its words, signs left aside."""
        return len(_without_signs(text)) >= self.least

    def pairs_of(self, texts: Sequence[tuple[str, str]], seed: int) -> Iterator[SyntheticPair]:
        """The pairs of each text, strategy by strategy."""
        columns = [self._operations(strategy, [text for _, text in texts], seed) for strategy in self.strategies]
        for (source, text), row in zip(texts, zip(*columns, strict=True), strict=True):
            for strategy, made in zip(self.strategies, row, strict=True):
                if isinstance(made, str):
                    self.skipped[f"{strategy}: {made}"] += 1
                    continue
                yield self._pair(source, text, strategy, made, seed)
                draw = _draw(seed, f"{strategy}|{DROPPED}", text)
                if draw.random() < self.drop and (further := dropped_words(applied(text, *made), draw)):
                    yield self._pair(source, text, f"{strategy}|{DROPPED}", made + further, seed)

    def _operations(self, strategy: str, texts: Sequence[str], seed: int) -> list[tuple[Operation, ...] | str]:
        """What a strategy does to each of the texts; the reason instead where it does nothing."""
        if strategy in self.trips:
            back = self.trips[strategy].back(texts)
            return [
                "too long" if again is None else diff_operations(text, again, BACK_TRANSLATION) or "unchanged"
                for text, again in zip(texts, back, strict=True)
            ]
        if self.filler is None:
            return []
        masked = [(text, MASKS[strategy](text, self.masks, _draw(seed, strategy, text))) for text in texts]
        return [operations or "no filling" for operations in fill_masks(masked, self.filler, self.beams, strategy)]

    def _pair(self, source: str, text: str, recipe: str, operations: Sequence[Operation], seed: int) -> SyntheticPair:
        own = _digest(f"{seed}\0{source}\0{text}").hex()
        signals = {FLAG: float(recipe.startswith(BACK_TRANSLATION))}
        return self.pair(source, text, operations, seed, name=f"{self.name}|{own}|{recipe}", signals=signals)


def dropped_words(text: str, draw: random.Random) -> tuple[Operation, ...]:
    """Deletions of 1 to all words of a text (what white space separates), how many and which drawn uniformly (appendix A.1).

    From left to right, each with the white space behind it, or before it at the end of the text; none for a text without words.
    """
    words = [match.span() for match in re.finditer(r"\S+", text)]
    chosen = sorted(draw.sample(words, draw.randint(1, len(words)))) if words else []
    operations, gone = [], 0
    for start, end in chosen:
        start, end = start - gone, end - gone
        behind = len(text) - len(text[end:].lstrip()) if text[end:].strip() else end
        start = start if behind > end else len(text[:start].rstrip())
        operations.append(Operation("deletion", start, behind, text[start:behind], "", type=DROPPED))
        text = applied(text, operations[-1])
        gone += behind - start
    return tuple(operations)


def _draw(seed: int, purpose: str, text: str) -> random.Random:
    """Chance that depends on nothing else; the same on every machine."""
    return random.Random(int.from_bytes(_digest(f"{seed}|{purpose}|{text}"), "big"))


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()

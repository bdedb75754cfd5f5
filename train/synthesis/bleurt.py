"""BLEURT's synthetic pairs (Sellam et al. 2020, §4.1 and appendix A.1): mask filling, back-translation and dropped words."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import islice

from rome.exceptions import InputError
from rome.train.synthesis.edits import Word, diff_operations, words_of
from rome.train.synthesis.fillers import Filler, FillRequest
from rome.train.synthesis.pairs import GeneratedPair, Operation
from rome.train.synthesis.signals import BACK_TRANSLATION, FLAG
from rome.train.synthesis.translation import RoundTrip

__all__ = [
    "Beams",
    "BleurtPipeline",
    "CONTIGUOUS",
    "DROPPED",
    "Mask",
    "SCATTERED",
    "contiguous_masks",
    "dropped_words",
    "fill_masks",
    "scattered_masks",
]

SCATTERED, CONTIGUOUS = "scattered", "contiguous"
"""The two strategies, and the types of their operations."""
CLINGING = frozenset(".,;:!?")


@dataclass(frozen=True, slots=True)
class Mask:
    """Characters ``start:end`` of a text, hidden, and how many words take their place."""

    start: int
    end: int
    words: int = 1


@dataclass(frozen=True, slots=True)
class Beams:
    """How fillings are chosen.

    Attributes
    ----------
    width
        Texts kept after each mask, the likeliest ones (8 in the paper).
    sample
        Draw one filling a mask from the filler's candidates by their probabilities instead; the width does not matter then.
    """

    width: int = 8
    sample: bool = False

    @property
    def signature(self) -> str:
        """In a few letters."""
        return "sampled" if self.sample else f"beam{self.width}"


def scattered_masks(text: str, most: int, draw: random.Random) -> list[Mask]:
    """1 to ``most`` words (signs left alone), how many and which drawn uniformly, from left to right; none for a text without words."""
    words = _own_words(text)
    if not words:
        return []
    chosen = draw.sample(range(len(words)), draw.randint(1, min(most, len(words))))
    return [Mask(words[n].start, words[n].end) for n in sorted(chosen)]


def contiguous_masks(text: str, most: int, draw: random.Random) -> list[Mask]:
    """One row of words, its first word and its length (up to ``most`` and to the text's end) drawn uniformly; none without words."""
    words = _own_words(text)
    if not words:
        return []
    first = draw.randrange(len(words))
    length = draw.randint(1, min(most, len(words) - first))
    return [Mask(words[first].start, words[first + length - 1].end, length)]


def _own_words(text: str) -> list[Word]:
    return [word for word in words_of(text) if not word.is_sign]


@dataclass(frozen=True, slots=True)
class _Path:
    """One way of filling so far.

    Attributes
    ----------
    at
        Where the next word of the current mask is put in.
    begun
        Where the current mask begins.
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
    """One text with its masks, and the paths that are kept."""

    text: str
    masks: Sequence[Mask]
    kind: str
    draw: random.Random
    paths: list[_Path] = field(default_factory=list)


def fill_masks(
    requests: Sequence[tuple[str, Sequence[Mask], random.Random]], filler: Filler, beams: Beams, kind: str
) -> list[tuple[Operation, ...]]:
    """For each text the replacements of its masks in the likeliest filling, from left to right; none where the filler has nothing.

    Parameters
    ----------
    kind
        SCATTERED or CONTIGUOUS, the type of the operations, whose details hold the filling's log_probability. The texts go through the filler
        together, step by step, and do not change each other's result.
    """
    jobs = [_Job(text, masks, kind, draw, [_Path(text)]) for text, masks, draw in requests]
    plans = [[(mask, n) for mask in job.masks for n in range(1 if filler.spans else mask.words)] for job in jobs]
    for step in range(max(map(len, plans), default=0)):
        active = [(job, *plan[step]) for job, plan in zip(jobs, plans, strict=True) if step < len(plan)]
        places = [[_place(path, mask, n) for path in job.paths] for job, mask, n in active]
        wanted = list(dict.fromkeys(place for row in places for place in row if place is not None))
        found = dict(zip(wanted, filler.fill(wanted), strict=True))
        for (job, mask, n), row in zip(active, places, strict=True):
            last = filler.spans or n == mask.words - 1
            job.paths = _next(job, row, found, beams)
            if last:
                job.paths = [_finished(path, job, mask) for path in job.paths]
    return [job.paths[0].operations for job in jobs]


def _place(path: _Path, mask: Mask, number: int) -> FillRequest | None:
    """Where the next word goes: in place of the hidden characters, then behind the word put in before; None after a gap without words."""
    if number == 0:
        return FillRequest(path.text, mask.start + path.shift, mask.end + path.shift)
    return FillRequest(path.text, path.at, path.at) if path.begun >= 0 else None


def _next(
    job: _Job, places: Sequence[FillRequest | None], found: Mapping[FillRequest, list[tuple[str, float]]], beams: Beams
) -> list[_Path]:
    """The paths after one more word: the best ones, or one that is drawn. A path without candidates goes on as it is."""
    grown: list[_Path] = []
    for path, place in zip(job.paths, places, strict=True):
        candidates = [] if place is None else [(word, p) for word, p in found[place] if p > 0]
        candidates = [
            (word, p) for word, p in candidates if place is not None and not _stands_beside(place, word)
        ] or candidates
        if beams.sample and candidates:
            candidates = job.draw.choices(candidates, [p for _, p in candidates])
        grown += [_with(path, place, word, p) for word, p in candidates if place is not None] or [path]
    unique = {path.text: path for path in sorted(grown, key=lambda path: path.score)}  # of equal texts the likeliest
    ordered = sorted(unique.values(), key=lambda path: (-round(path.score, 4), path.text))
    return ordered[: 1 if beams.sample else beams.width]


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


def _finished(path: _Path, job: _Job, mask: Mask) -> _Path:
    """A path whose current mask is filled: one more operation, unless what stood there stands there again or nothing was found."""
    old = job.text[mask.start : mask.end]
    if path.begun < 0:
        return path
    new = path.text[path.begun : path.at]
    operations = path.operations
    if new != old:
        details = {"log_probability": round(path.mask_score, 4)}
        operations += (Operation("replacement", path.begun, path.begun + len(old), old, new, type=job.kind, details=details),)
    return replace(path, shift=path.shift + len(new) - len(old), begun=-1, at=-1, mask_score=0.0, operations=operations)


DROPPED = "dropped"
"""Type of the operations of word dropping."""
VERSION = 2
MASKS = {SCATTERED: scattered_masks, CONTIGUOUS: contiguous_masks}


@dataclass(frozen=True, slots=True)
class _Made:
    """What one strategy did to one text; a reason instead when it did nothing."""

    operations: tuple[Operation, ...] = ()
    reason: str = ""


class BleurtPipeline:
    """Of each text one pair a strategy, and for about ``drop`` of these pairs a further one with words dropped from the hypothesis.

    Raises InputError for numbers out of range or when no strategy is left.

    Parameters
    ----------
    filler
        For the two mask strategies; None leaves them out.
    round_trips
        One more strategy each, ``back-translation-fr``.
    masks
        The most words hidden in a text (15), beams : how fillings are chosen (beam search, 8); both figures are choices of ours.
    drop
        Share of the pairs (0.3).
    least
        Words that a text needs.
    block
        Texts at a time, speed only. Nothing has a severity or a label here: the pre-training signals (`rome.train.synthesis.signals`) say how
        far two texts are apart. ``skipped`` counts what gave no pair, by reason; ``left_out`` says which strategies there were no models for.
    """

    name = "bleurt"

    def __init__(
        self,
        filler: Filler | None = None,
        round_trips: Sequence[RoundTrip] = (),
        *,
        masks: int = 15,
        beams: Beams = Beams(),
        drop: float = 0.3,
        least: int = 3,
        block: int = 32,
    ) -> None:
        if min(masks, beams.width, least, block) < 1 or not 0 <= drop <= 1:
            raise InputError(
                f"masks={masks}, {beams}, least={least}, block={block}, drop={drop}: give at least 1, and drop in [0, 1]"
            )
        if filler is None and not round_trips:
            raise InputError(
                "BLEURT's pipeline needs a filler or a pair of translation checkpoints: give one, such as the filler embedded"
            )
        if len({trip.language for trip in round_trips}) < len(round_trips):
            raise InputError("two pairs of translation checkpoints have one language: give each its own name")
        self.filler, self.round_trips = filler, tuple(round_trips)
        self.masks, self.beams, self.drop, self.least, self.block = masks, beams, drop, least, block
        self.skipped: Counter[str] = Counter()
        self.left_out: dict[str, str] = {}
        if filler is None:
            self.left_out = dict.fromkeys(MASKS, "no filler was given")
        if not round_trips:
            self.left_out[BACK_TRANSLATION] = "no translation checkpoints, there and back, were given"

    @property
    def strategies(self) -> tuple[str, ...]:
        """In the order of the pairs of a text."""
        masks = () if self.filler is None else tuple(MASKS)
        return (*masks, *(f"{BACK_TRANSLATION}-{trip.language}" for trip in self.round_trips))

    @property
    def signature(self) -> str:
        """Every choice that changes a pair."""
        parts = [f"{self.name}{VERSION}:{','.join(self.strategies)}", f"drop:{self.drop:g}", f"least:{self.least}"]
        if self.filler is not None:
            parts += [f"masks:{self.masks}", self.beams.signature, f"fill:{self.filler.signature}"]
        return "|".join([*parts, *(trip.signature for trip in self.round_trips)])

    def pairs(self, texts: Iterable[tuple[str, str]], seed: int) -> Iterator[GeneratedPair]:
        """Yield the pairs of each (source, text) in turn; what a text gives depends on the seed and itself alone.

        Ids are unique in a run as far as sources are.
        """
        rest = iter(texts)
        while block := list(islice(rest, self.block)):
            kept = [(source, text) for source, text in block if self._usable(text)]
            columns = [self._made(strategy, [text for _, text in kept], seed) for strategy in self.strategies]
            for (source, text), row in zip(kept, zip(*columns, strict=True), strict=True):
                for strategy, made in zip(self.strategies, row, strict=True):
                    yield from self._pairs_of(source, text, strategy, made, seed)

    def _usable(self, text: str) -> bool:
        """Whether a text has words enough; otherwise it is counted."""
        enough = sum(not word.is_sign for word in words_of(text)) >= self.least
        if not enough:
            self.skipped["too short"] += 1
        return enough

    def _made(self, strategy: str, texts: Sequence[str], seed: int) -> list[_Made]:
        """What a strategy does to each of the texts."""
        if strategy in MASKS and self.filler is not None:
            draws = [_draw(seed, strategy, text) for text in texts]
            chosen = [MASKS[strategy](text, self.masks, draw) for text, draw in zip(texts, draws, strict=True)]
            filled = fill_masks(list(zip(texts, chosen, draws, strict=True)), self.filler, self.beams, strategy)
            return [_Made(operations, "" if operations else "no filling") for operations in filled]
        trip = self.round_trips[self.strategies.index(strategy) - len(self.strategies)]
        return [_translated(text, again) for text, again in zip(texts, trip.back(texts), strict=True)]

    def _pairs_of(self, source: str, text: str, strategy: str, made: _Made, seed: int) -> Iterator[GeneratedPair]:
        """The pair of a strategy, and the one with dropped words where that is drawn."""
        if made.reason:
            self.skipped[f"{strategy}: {made.reason}"] += 1
            return
        first = self._pair(source, text, strategy, made.operations, seed)
        yield first
        draw = _draw(seed, f"{strategy}|{DROPPED}", text)
        if draw.random() < self.drop and (further := dropped_words(first.hypothesis, draw)):
            yield self._pair(source, text, f"{strategy}|{DROPPED}", made.operations + further, seed)

    def _pair(self, source: str, text: str, recipe: str, operations: tuple[Operation, ...], seed: int) -> GeneratedPair:
        digest = blake2b(f"{seed}\0{source}\0{text}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        signals = {FLAG: float(recipe.startswith(BACK_TRANSLATION))}
        hypothesis = _carried_out(text, operations)
        return GeneratedPair(
            f"{self.name}|{digest}|{recipe}", self.signature, seed, text, hypothesis, operations, None, signals, source
        )


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
        text = text[:start] + text[behind:]
        gone += behind - start
    return tuple(operations)


def _translated(text: str, again: str | None) -> _Made:
    if again is None:
        return _Made(reason="too long")
    operations = diff_operations(text, again, BACK_TRANSLATION)
    return _Made(operations, "" if operations else "unchanged")


def _draw(seed: int, purpose: str, text: str) -> random.Random:
    """Chance that depends on nothing else; the same on every machine."""
    return random.Random(
        int.from_bytes(blake2b(f"{seed}|{purpose}|{text}".encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
    )


def _carried_out(text: str, operations: Sequence[Operation]) -> str:
    for step in operations:
        text = text[: step.start] + step.new + text[step.end :]
    return text

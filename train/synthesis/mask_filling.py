"""Mask filling (BLEURT §4.1, appendix A.1): words hidden here and there, or in a row, and filled by a language model with beam search.

A filler fills one place at a time. Scattered masks are filled from left to right, those still to come showing their old word.
In a row, all hidden words are taken out first, so that the model sees none of them, and as many are put in one after the other;
a filler of phrases does it in one step. A word that stands beside its place already is taken only where there is no other.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rome.train.synthesis.edit_script import Word, words_of
from rome.train.synthesis.fillers import Filler, FillRequest
from rome.train.synthesis.values import Operation

__all__ = ["CONTIGUOUS", "SCATTERED", "Beams", "Mask", "contiguous_masks", "fill_masks", "scattered_masks"]

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
    """How fillings are chosen. width : texts kept after each mask, the likeliest ones (8 in the paper).

    sample : draw one filling a mask from the filler's candidates by their probabilities instead; the width does not matter then.
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
    """One way of filling so far. at : where the next word of the current mask is put in. begun : where the current mask begins."""

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

    kind : SCATTERED or CONTIGUOUS, the type of the operations, whose details hold the filling's log_probability. The texts go
    through the filler together, step by step, and do not change each other's result.
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

"""SEScore's stratified error synthesis (Xu et al. 2022, §3.2, §3.3, algorithm 1): raw text in, texts with weighted mistakes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rome.train.synthesis.edits import Draft, Operation, deletion, error_type, insertion, replacement, swap, words_of
from rome.train.synthesis.fillers import Filler, FillRequest
from rome.train.synthesis.pairs import Pipeline, SyntheticPair, pair_seed, settings_signature
from rome.train.synthesis.severities import SeverityModel, with_severity

KINDS = ("insertion", "deletion", "replacement", "swap")
VERSION = 4


@dataclass(frozen=True, slots=True)
class SEScoreSettings:
    """Numbers of the paper (§3.2, §3.3, §4.1).

    Attributes
    ----------
    edits
        Mean number of edits per text (lambda_e), Poisson.
    most_edits
        Largest number of edits (M_max).
    deletion, replacement
        Mean length of a span in words (lambda_d, lambda_r), Poisson without 0.
    swap
        Largest distance between swapped words (lambda_s).
    least_words
        Shorter texts are skipped.
    tries
        Draws of a place before an edit is given up (algorithm 1 would draw forever).
    """

    edits: float = 5.0
    most_edits: int = 5
    deletion: float = 1.5
    replacement: float = 1.5
    swap: int = 4
    least_words: int = 4
    tries: int = 50


@dataclass(slots=True)
class _Work:
    """A text in progress: the edits to draw, and those that were made."""

    source: str
    reference: str
    chance: np.random.Generator
    edits: int
    draft: Draft


class _Plan(NamedTuple):
    """A drawn edit: the whole operation, or the place that a filler fills."""

    kind: str
    operation: Operation | None = None
    filler: int = 0
    request: FillRequest | None = None


class SEScorePipeline(Pipeline):
    """Draw insertions, deletions, replacements and swaps with equal chance, each on the text after the previous edits.

    With a probability of exp(-lambda_e) a pair has no mistake and the label 0. The paper asks for one untouched word more than an edit
    takes, which would leave the end of every text unedited; its algorithm 1 only forbids overlap, as is done here.

    Parameters
    ----------
    fillers
        Models that fill gaps, drawn with equal chance; a filler of single words replaces single words.
    severities
        Judge each step on the text after the previous ones.
    """

    name = "sescore"

    def __init__(
        self, fillers: Sequence[Filler], severities: SeverityModel, settings: SEScoreSettings | None = None, *, block: int = 64
    ) -> None:
        self.fillers, self.severities, self.settings = tuple(fillers), severities, settings or SEScoreSettings()
        filled = "+".join(filler.signature for filler in self.fillers)
        parts = f"sescore{VERSION}", settings_signature(self.settings), f"fill:{filled}", severities.signature
        super().__init__("|".join(parts), block, self.settings.least_words)

    def pairs_of(self, texts: Sequence[tuple[str, str]], seed: int) -> Iterator[SyntheticPair]:
        """Yield one pair per text."""
        works = [self._begin(source, text, seed) for source, text in texts]
        for step in range(self.settings.most_edits):
            self._step([work for work in works if step < work.edits])
        verdicts = iter(self.severities.of([edit for work in works for edit in work.draft.steps]))
        for work in works:
            if work.edits and not work.draft.steps:
                self.skipped["no edit found a place"] += 1
                continue
            operations = [with_severity(operation, next(verdicts)) for operation in work.draft.operations]
            yield self.pair(work.source, work.reference, operations, seed)

    def _begin(self, source: str, text: str, seed: int) -> _Work:
        chance = np.random.default_rng(pair_seed(seed, text))
        edits = min(int(chance.poisson(self.settings.edits)), self.settings.most_edits)
        return _Work(source, text, chance, edits, Draft(text))

    def _step(self, works: Sequence[_Work]) -> None:
        """Draw the next edit of every text, let each filler fill its places at once, and carry the edits out."""
        plans = [(work, plan) for work in works if (plan := self._drawn(work)) is not None]
        for number, filler in enumerate(self.fillers):
            asked = [(work, plan, plan.request) for work, plan in plans if plan.request and plan.filler == number]
            filled = filler.fill([request for _, _, request in asked]) if asked else []
            for (work, plan, request), candidates in zip(asked, filled, strict=True):
                _fill(work, plan.kind, request, candidates)
        for work, plan in plans:
            if plan.operation is not None:
                work.draft.apply(replace(plan.operation, type=error_type(plan.operation)))

    def _drawn(self, work: _Work) -> _Plan | None:
        """Draw kind, model and a free place (algorithm 1, lines 7 to 29), or None if no place was found."""
        chance, settings, draft = work.chance, self.settings, work.draft
        kind, filler = KINDS[chance.integers(len(KINDS))], int(chance.integers(len(self.fillers)))
        words = words_of(draft.text)
        for _ in range(settings.tries):
            first = int(chance.integers(len(words)))
            length = {
                "insertion": 1,
                "deletion": int(chance.poisson(settings.deletion)),
                "replacement": int(chance.poisson(settings.replacement)) if self.fillers[filler].spans else 1,
                "swap": 1 + int(chance.integers(1, settings.swap + 1)),
            }[kind]
            if not 0 < length <= len(words) - first:
                continue
            one, last = words[first], words[first + length - 1]
            if kind == "deletion":
                operation = deletion(draft.text, one.start, last.end)
            elif kind == "swap":
                operation = swap(draft.text, one, last)
            else:
                operation = _filled(kind, draft.text, one.start, last.end, "x")
            if operation is None or not draft.allows(operation):
                continue
            if kind in ("deletion", "swap"):
                return _Plan(kind, operation)
            end = one.start if kind == "insertion" else last.end
            return _Plan(kind, filler=filler, request=FillRequest(draft.text, one.start, end))
        return None


def _filled(kind: str, text: str, start: int, end: int, filling: str) -> Operation:
    return insertion(text, start, filling) if kind == "insertion" else replacement(text, start, end, filling)


def _fill(work: _Work, kind: str, request: FillRequest, candidates: Sequence[tuple[str, float]]) -> None:
    """Carry out an edit with a candidate drawn in proportion to the probabilities, or nothing if none changes the text."""
    usable = [(" ".join(word.split()), p) for word, p in candidates if word.strip() and word.strip() != request.original]
    if usable:
        weights = np.array([p for _, p in usable]) + 1e-12
        filling, probability = usable[work.chance.choice(len(usable), p=weights / weights.sum())]
        operation = _filled(kind, request.text, request.start, request.end, filling)
        work.draft.apply(replace(operation, type=error_type(operation), details={"filling_probability": probability}))

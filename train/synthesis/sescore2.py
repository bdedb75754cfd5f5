"""SEScore2 (Xu et al. 2023): parts of the difference between a sentence and a similar one, each step judged alone (§4.1, §4.2).

Random word drops are added to the steps towards the neighbour.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rome.exceptions import InputError
from rome.train.synthesis.edits import SPACING, Difference, applied, chained, deletion, differences, error_type, words_of
from rome.train.synthesis.pairs import Pipeline, SyntheticPair, settings_signature
from rome.train.synthesis.retrieval import MARGIN, SentenceIndex
from rome.train.synthesis.severities import SeverityModel, with_severity

VERSION = 4


@dataclass(frozen=True, slots=True)
class SEScore2Settings:
    """Numbers of the pipeline, the paper's where it gives one.

    Attributes
    ----------
    margin
        Least ratio margin of a neighbour (1.06).
    most
        Largest number of operations (5), drawn evenly from 1 to it.
    longest, longest_drop
        Words of the longest step (6) and of the longest drop (3).
    shortest
        Texts of fewer words are skipped (3).
    drops
        Share of the operations that drop words (1/3), whatever the neighbour is.
    minor, major
        Labels.
    """

    margin: float = MARGIN
    most: int = 5
    longest: int = 6
    longest_drop: int = 3
    shortest: int = 3
    drops: float = 1 / 3
    minor: float = -1.0
    major: float = -5.0

    def __post_init__(self) -> None:
        """Raise InputError for numbers that leave nothing to do."""
        if min(self.most, self.longest, self.longest_drop, self.shortest) < 1 or not 0 <= self.drops <= 1:
            raise InputError(f"most, longest, longest_drop and shortest must be at least 1, and drops in [0, 1], got {self}")
        if not self.major <= self.minor <= 0:
            raise InputError(f"major <= minor <= 0 must hold, got {self}")


class SEScore2Pipeline(Pipeline):
    """Make at most one pair per text.

    ``signals`` of a pair are row, cosine and margin of the neighbour. Types of operations are those of SEScore; their details hold the
    number behind the severity, and whether the step leads towards the neighbour or drops words (``retrieved``, 1 or 0).

    Parameters
    ----------
    index
        Source of the neighbours.
    severities
        Tell minor steps from major ones.
    """

    name = "sescore2"

    def __init__(
        self, index: SentenceIndex, severities: SeverityModel, settings: SEScore2Settings | None = None, *, block: int = 64
    ) -> None:
        self.index, self.severities, self.settings = index, severities, settings or SEScore2Settings()
        parts = f"index:{index.identity}", severities.signature, settings_signature(self.settings)
        super().__init__("|".join((f"{self.name}-{VERSION}", *parts)), block, self.settings.shortest)

    def pairs_of(self, texts: Sequence[tuple[str, str]], seed: int) -> Iterator[SyntheticPair]:
        """Yield the pairs; every step is judged in a text without the other steps, all at once."""
        works = []
        for (source, text), near in zip(texts, self.index.of([t for _, t in texts], self.settings.margin), strict=True):
            if not near:
                self.skipped["no neighbour"] += 1
                continue
            chance = random.Random(f"{self.name}\0{seed}\0{text}")
            chosen = chance.choice(sorted(near, key=lambda one: one.row))
            steps = draw_steps(text, chosen.text, self.settings, chance)
            if applied(text, *chained(step.operation for step in steps)) == text:
                self.skipped["nothing to change"] += 1
            else:
                works.append((source, text, chosen, steps))
        verdicts = iter(self.severities.of([(text, step.operation) for _, text, _, steps in works for step in steps]))
        for source, text, chosen, steps in works:
            weighed = []
            for step in steps:
                typed = replace(step.operation, type=error_type(step.operation), details={"retrieved": float(not step.is_drop)})
                weighed.append(with_severity(typed, next(verdicts), self.settings.minor, self.settings.major))
            about = {"cosine": round(chosen.cosine, 4), "margin": round(chosen.margin, 4)}
            yield self.pair(source, text, chained(weighed), seed, signals={"neighbour": float(chosen.row), **about})


def draw_steps(text: str, neighbour: str, settings: SEScore2Settings, chance: random.Random) -> list[Difference]:
    """Return a random part of the differences of two texts and some drops, from left to right; maybe none.

    A word remains between any two of them, and drops leave at least half of the words.
    """
    count = chance.randint(1, settings.most)
    drops = sum(chance.random() < settings.drops for _ in range(count))
    able = [
        step
        for step in differences(text, neighbour)
        if step.operation.kind != SPACING and max(step.last - step.first, step.count) <= settings.longest
    ]
    chosen = chance.sample(able, min(count - drops, len(able)))
    words = words_of(text)
    room = len(words) // 2 - sum(max(0, step.last - step.first - step.count) for step in chosen)
    for _ in range(drops):
        blocked = {n for step in chosen for n in range(step.first - 1, step.last + 1)}
        free = [n for n in range(len(words)) if n not in blocked]
        if not free or room < 1:
            break
        first = chance.choice(free)
        last, limit = first + 1, first + min(room, chance.randint(1, settings.longest_drop))
        while last < min(limit, len(words)) and last not in blocked:
            last += 1
        operation = deletion(text, words[first].start, words[last - 1].end)
        if operation is not None:
            chosen.append(Difference(first, last, 0, operation, is_drop=True))
            room -= last - first
    return sorted(chosen, key=lambda step: step.first)

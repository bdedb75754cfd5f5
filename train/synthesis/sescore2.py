"""SEScore2: what differs between a sentence and a similar one, carried out in part, each step judged by itself (§4.1, §4.2).

Beside the steps towards the neighbour there are random word drops.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rome.exceptions import InputError
from rome.train.synthesis.edits import EditSequence, Step, error_type, words_of
from rome.train.synthesis.pairs import Pipeline, SyntheticPair, applied, settings_signature
from rome.train.synthesis.retrieval import MARGIN, SentenceIndex
from rome.train.synthesis.severities import SeverityModel, with_severity

VERSION = 3


@dataclass(frozen=True, slots=True)
class SEScore2Settings:
    """Every number of the pipeline; the paper's where it gives one.

    Attributes
    ----------
    margin
        Least ratio margin of a neighbour (1.06).
    most
        The greatest number of operations (5); how many is drawn evenly from 1 to most.
    longest, longest_drop
        Words of the longest step (6) and of the longest drop (3).
    shortest
        Texts of fewer words are skipped (3).
    drops
        Share of the operations that are word drops (1/3), whatever the neighbour says.
    minor, major
        The labels.
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
        """Raises InputError for numbers that leave nothing to do or mean nothing."""
        if min(self.most, self.longest, self.longest_drop, self.shortest) < 1 or not 0 <= self.drops <= 1:
            raise InputError(f"{self}: most, longest and shortest must be at least 1, longest_drop too, drops in [0, 1]")
        if not self.major <= self.minor <= 0:
            raise InputError(f"{self}: major <= minor <= 0 must hold")


class SEScore2Pipeline(Pipeline):
    """At most one pair a text.

    ``signals`` of a pair: row, cosine and margin of the neighbour. Type of an operation: as in SEScore; details: the number behind its
    severity, and whether it leads towards the neighbour or is a drop (retrieved, 1 or 0).

    Parameters
    ----------
    index
        Where neighbours come from.
    severities
        Tell minor steps from major ones.
    """

    name = "sescore2"

    def __init__(
        self, index: SentenceIndex, severities: SeverityModel, settings: SEScore2Settings | None = None, *, block: int = 64
    ) -> None:
        self.index, self.severities, self.settings = index, severities, settings or SEScore2Settings()
        parts = f"index:{index.identity}", severities.signature, settings_signature(self.settings)
        super().__init__("|".join((f"{self.name}-{VERSION}", *parts)), block)

    def is_long_enough(self, text: str) -> bool:
        """By its words and signs."""
        return len(words_of(text)) >= self.settings.shortest

    def pairs_of(self, texts: Sequence[tuple[str, str]], seed: int) -> Iterator[SyntheticPair]:
        """Every step is judged in a text where nothing else was done, all at once."""
        works = []
        for (source, text), near in zip(texts, self.index.of([t for _, t in texts], self.settings.margin), strict=True):
            if not near:
                self.skipped["no neighbour"] += 1
                continue
            chance = random.Random(f"{self.name}\0{seed}\0{text}")
            chosen = chance.choice(sorted(near, key=lambda one: one.row))
            edits = EditSequence.between(text, chosen.text)
            steps = draw_steps(edits, self.settings, chance)
            operations = edits.operations(steps)
            if applied(text, *operations) == text:  # no step could be drawn, or one brought back what another took
                self.skipped["nothing to change"] += 1
            else:
                works.append((source, text, chosen, edits, steps, operations))
        alone = [(text, edits.operations([step])[0]) for _, text, _, edits, steps, _ in works for step in steps]
        verdicts = iter(self.severities.of(alone))
        for source, text, chosen, edits, steps, operations in works:
            weighed = []
            for step, one in zip(steps, operations, strict=True):
                typed = replace(one, type=error_type(one), details={"retrieved": float(step in edits.steps)})
                weighed.append(with_severity(typed, next(verdicts), self.settings.minor, self.settings.major))
            about = {"cosine": round(chosen.cosine, 4), "margin": round(chosen.margin, 4)}
            yield self.pair(source, text, weighed, seed, signals={"neighbour": float(chosen.row), **about})


def draw_steps(edits: EditSequence, settings: SEScore2Settings, chance: random.Random) -> tuple[Step, ...]:
    """A random part of the sequence's steps, and drops of words that no chosen step is beside, from left to right; maybe none.

    Drops leave at least half of the anchor's words.
    """
    count = chance.randint(1, settings.most)
    drops = sum(chance.random() < settings.drops for _ in range(count))
    able = [step for step in edits.steps if step.length <= settings.longest]
    chosen = chance.sample(able, min(count - drops, len(able)))
    words = len(edits.places)
    room = words // 2 - sum(max(0, step.end - step.start - step.new_end + step.new_start) for step in chosen)
    for _ in range(drops):
        blocked = {n for step in chosen for n in range(step.start - 1, step.end + 1)}
        free = [n for n in range(words) if n not in blocked]
        if not free or room < 1:
            break
        start = chance.choice(free)
        end, last = start + 1, start + min(room, chance.randint(1, settings.longest_drop))
        while end < last and end < words and end not in blocked:
            end += 1
        chosen.append(Step(start, end, 0, 0))
        room -= end - start
    return tuple(sorted(chosen))

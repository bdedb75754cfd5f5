"""SEScore2: what differs between a sentence and a similar one, carried out in part, each step judged by itself (§4.1, §4.2).

Beside the steps towards the neighbour there are random word drops.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from rome.exceptions import InputError
from rome.train.synthesis.edits import EditScript, Step, error_type, identifier, words_of
from rome.train.synthesis.pairs import MOST, GeneratedPair, Operation
from rome.train.synthesis.retrieval import MARGIN, Neighbour, SentenceIndex, batches
from rome.train.synthesis.severities import Severities

__all__ = ["SEScore2", "SEScore2Settings", "draw_steps"]

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

    @property
    def signature(self) -> str:
        """All of them, ``key:value`` with bars between."""
        values = ((f.name, getattr(self, f.name)) for f in fields(self))
        return "|".join(f"{key}:{value:.6g}" if isinstance(value, float) else f"{key}:{value}" for key, value in values)


class EditPlan(NamedTuple):
    """What is to be done to one text, before it is judged."""

    source: str
    neighbour: Neighbour
    script: EditScript
    steps: tuple[Step, ...]
    operations: tuple[Operation, ...]

    @property
    def hypothesis(self) -> str:
        """The text after all operations."""
        text = self.script.anchor
        for operation in self.operations:
            text = text[: operation.start] + operation.new + text[operation.end :]
        return text


class SEScore2:
    """The pipeline.

    Parameters
    ----------
    index
        Where neighbours come from.
    severities
        Tell minor steps from major ones.
    batch
        Texts at a time; changes the speed only.

    Attributes
    ----------
    skipped
        How many texts gave no pair, by reason: too short, no neighbour, nothing to change.
    signature
        Everything that changes a pair.
    """

    name = "sescore2"

    def __init__(
        self, index: SentenceIndex, severities: Severities, settings: SEScore2Settings | None = None, *, batch: int = 64
    ) -> None:
        self.index, self.severities, self.batch = index, severities, batch
        self.settings = settings or SEScore2Settings()
        self.skipped: Counter[str] = Counter()
        parts = (f"index:{index.identity}", severities.signature, self.settings.signature)
        self.signature = "|".join((f"{self.name}-{VERSION}", *parts))

    def pairs(self, texts: Iterable[tuple[str, str]], seed: int) -> Iterator[GeneratedPair]:
        """Yield at most one pair a text, in order. texts : (source, text); a pair depends on its own source, text and seed alone.

        signals : row, cosine and margin of the neighbour. type of an operation : as in SEScore; details : the number behind its
        severity, and whether it leads towards the neighbour or is a drop (retrieved, 1 or 0).
        """
        for block in batches(texts, self.batch):
            yield from self._judged(self._plans(block, seed), seed)

    def _plans(self, block: Sequence[tuple[str, str]], seed: int) -> Iterator[EditPlan]:
        """What is to be done to the texts of a block; those that give nothing are counted."""
        long = [(source, text) for source, text in block if len(words_of(text)) >= self.settings.shortest]
        if len(long) < len(block):
            self.skipped["too short"] += len(block) - len(long)
        neighbours = self.index.of([text for _, text in long], self.settings.margin)
        for (source, text), near in zip(long, neighbours, strict=True):
            if not near:
                self.skipped["no neighbour"] += 1
                continue
            chance = random.Random(f"{self.name}\0{seed}\0{text}")
            chosen = chance.choice(sorted(near, key=lambda one: one.row))
            script = EditScript.between(text, chosen.text)
            steps = draw_steps(script, self.settings, chance)
            plan = EditPlan(source, chosen, script, steps, script.operations(steps))
            if plan.hypothesis == text:  # no step could be drawn, or one brought back what another took
                self.skipped["nothing to change"] += 1
            else:
                yield plan

    def _judged(self, plans: Iterable[EditPlan], seed: int) -> Iterator[GeneratedPair]:
        """The pairs of some plans, every step judged in a text where nothing else was done, all at once."""
        ready = list(plans)
        alone = [(plan.script.anchor, plan.script.operations([step])[0]) for plan in ready for step in plan.steps]
        verdicts = iter(self.severities.of(alone))
        for plan in ready:
            operations = []
            for step, operation in zip(plan.steps, plan.operations, strict=True):
                minor, details = next(verdicts)
                severity, label = ("minor", self.settings.minor) if minor else ("major", self.settings.major)
                details = {**details, "retrieved": float(step in plan.script.steps)}
                kind = error_type(operation)
                operations.append(replace(operation, severity=severity, label=label, type=kind, details=details))
            yield self._pair(plan, tuple(operations), seed)

    def _pair(self, plan: EditPlan, operations: tuple[Operation, ...], seed: int) -> GeneratedPair:
        """One pair of a plan whose operations have been judged."""
        reference = plan.script.anchor
        label = max(-MOST, sum(operation.label or 0.0 for operation in operations))
        row, _, cosine, margin = plan.neighbour
        signals = {"neighbour": float(row), "cosine": round(cosine, 4), "margin": round(margin, 4)}
        identity = identifier(self.signature, seed, plan.source, reference)
        return GeneratedPair(
            identity, self.signature, seed, reference, plan.hypothesis, operations, label, signals, plan.source
        )


def draw_steps(script: EditScript, settings: SEScore2Settings, chance: random.Random) -> tuple[Step, ...]:
    """A random part of the script's steps, and drops of words that no chosen step is beside, from left to right; maybe none.

    Drops leave at least half of the anchor's words.
    """
    count = chance.randint(1, settings.most)
    drops = sum(chance.random() < settings.drops for _ in range(count))
    able = [step for step in script.steps if step.length <= settings.longest]
    chosen = chance.sample(able, min(count - drops, len(able)))
    room = len(script.places) // 2 - sum(max(0, step.end - step.start - step.new_end + step.new_start) for step in chosen)
    for _ in range(drops):
        blocked = {n for step in chosen for n in range(step.start - 1, step.end + 1)}
        free = [n for n in range(len(script.places)) if n not in blocked]
        if not free or room < 1:
            break
        start = chance.choice(free)
        end, last = start + 1, start + min(room, chance.randint(1, settings.longest_drop))
        while end < last and end < len(script.places) and end not in blocked:
            end += 1
        chosen.append(Step(start, end, 0, 0))
        room -= end - start
    return tuple(sorted(chosen))

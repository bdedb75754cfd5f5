"""RoMe's own negatives as a pipeline: TextAttack's perturbations, one word at a time, each weighed (RoMe §3.4)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rome.train.perturb import Perturber, Request
from rome.train.scorer_chains import DRAW, edit_severity
from rome.train.synthesis.differences import diff_operations
from rome.train.synthesis.seeds import identifier, pair_seed
from rome.train.synthesis.stratified import words_of
from rome.train.synthesis.values import MOST, GeneratedPair, Operation

__all__ = ["TextAttackPairs", "weighed"]

HARMLESS = ("contract", "extend")
MAJOR_FROM = 2.5
"""From this weight of `edit_severity` on a step is major: wrong numbers, lost content words, swapped-in neighbours."""
TRIES = 5
"""Operations drawn for a step before it is given up."""
VERSION = 2


class TextAttackPairs:
    """Of each text one pair with up to ``most`` steps of TextAttack, each on what the former made; TextAttack's words for its steps.

    A step that changes nothing, or touches what a former one wrote, is drawn anew: what an edit cost can be told from the text.
    TextAttack gives neither spans nor severities: spans come from the difference of both texts, severities from the weights with
    which the scorer's negatives are made. skipped : how many texts gave nothing, by reason.
    """

    name = "rome"

    def __init__(self, perturber: Perturber, *, most: int = 5, least_words: int = 4) -> None:
        self.perturber, self.most, self.least_words = perturber, most, least_words
        self.operations = tuple(name for name in DRAW if name in perturber.operations)
        drawn = ",".join(f"{name}*{count}" for name, count in Counter(self.operations).items())
        self.signature = f"rome{VERSION}|textattack:{perturber.version}|most:{most}|least_words:{least_words}|draw:{drawn}"
        self.skipped: Counter[str] = Counter()

    def pairs(self, texts: Iterable[tuple[str, str]], seed: int) -> Iterator[GeneratedPair]:
        """Yield one pair a text in their order; a pair depends on its text and the seed alone."""
        for source, text in texts:
            if len(words_of(text)) < self.least_words:
                self.skipped["too short"] += 1
                continue
            hypothesis, operations = self._steps(text, pair_seed(seed, text))
            if not operations:
                self.skipped["no perturbation applies"] += 1
                continue
            label = max(sum(operation.label or 0.0 for operation in operations), -MOST)
            name = identifier(self.signature, seed, source, text)
            yield GeneratedPair(name, self.signature, seed, text, hypothesis, operations, label, source=source)

    def _steps(self, text: str, own: int) -> tuple[str, tuple[Operation, ...]]:
        """The text after 1 to ``most`` perturbations, and what they were; a step for which none is found is left out."""
        chance = random.Random(own)
        operations: list[Operation] = []
        fresh = [True] * len(text)
        for step in range(chance.randint(1, self.most)):
            for attempt in range(TRIES):
                name = chance.choice(self.operations)
                request = Request("", text, name, 1, own % 2**32 + TRIES * step + attempt)
                after = next((after for _, after in self.perturber.run([request])), text)
                found = weighed(text, after, name) if after.strip() else []
                marks = _untouched(fresh, found) if found else None
                if marks is not None:
                    operations, text, fresh = operations + found, after, marks
                    break
        return text, tuple(operations)


def _untouched(fresh: Sequence[bool], operations: Iterable[Operation]) -> list[bool] | None:
    """For each character after some operations whether none wrote it; None when one of them changes what a former one wrote.

    fresh : the same before them.
    """
    marks = list(fresh)
    for one in operations:
        inside = one.start == one.end and 0 < one.start < len(marks) and not any(marks[one.start - 1 : one.start + 1])
        if inside or not all(marks[one.start : one.end]):
            return None
        marks[one.start : one.end] = [False] * len(one.new)
    return marks


def weighed(before: str, after: str, name: str) -> list[Operation]:
    """What a TextAttack operation did, as operations: their type is its name; the first one bears the label of the whole step."""
    weight = edit_severity(before, after, name)[1]
    severity, label = ("none", 0.0) if name in HARMLESS else ("major", -5.0) if weight >= MAJOR_FROM else ("minor", -1.0)
    found = diff_operations(before, after, name)
    return [
        replace(one, severity=severity, label=0.0 if n else label, details={"weight": weight}) for n, one in enumerate(found)
    ]

"""Training pairs from clean pairs: a ladder of TextAttack perturbations and severe cases for each base pair."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import pairwise

from rome.data.perturbations.damage import SEVERE, wreck
from rome.train.common.textattack import CHARACTER_OPERATIONS, STOPWORDS, Perturber, Request
from rome.train.scorer.pairs import TrainingPair
from rome.train.synthesis.edits import applied, diff_operations
from rome.train.synthesis.severities import Edits, SeverityModel

LADDER = (("light", 1), ("medium", 2), ("heavy", 4))
"""Levels and edits; each level perturbs the previous one, so that heavy (about 7 edits) contains medium (about 3) and light (1)."""
DRAW: tuple[str, ...] = (
    ("word_deletion",) * 4 + ("embedding",) * 4 + ("textfooler",) * 3 + ("inner_swap",) * 3 + ("change_number",) * 2
)
DRAW += CHARACTER_OPERATIONS + ("contract", "extend")
SEVERE_SHARE = 0.6
"""Share of the base pairs with one severe case."""
MINOR, MAJOR = 1.0, 5.0
FEW = frozenset(STOPWORDS)


SYNONYMS = ("embedding", "textfooler")
"""Operations whose severity is that of the words they put in, which their name does not tell."""


def make_pairs(
    bases: Sequence[TrainingPair], perturber: Perturber, synonyms: SeverityModel, seed: int
) -> Iterator[TrainingPair]:
    """Yield every base pair, its light, medium and heavy TextAttack perturbations, and for some a severe case.

    A level at which no operation changes anything ends the ladder. The same bases and seed give the same pairs.

    Parameters
    ----------
    synonyms
        Judges every edit of a step of SYNONYMS by its ``weight``.
    """
    ladders = [list(_ladder(base, perturber, seed)) for base in bases]
    steps = [step for ladder in ladders for step in pairwise(ladder) if step[1].operation in SYNONYMS]
    edits = [_edits(before.hypothesis, after.hypothesis) for before, after in steps]
    verdicts = iter(synonyms.of([edit for step in edits for edit in step]))
    judged = {
        after.id: max(0.1, sum(next(verdicts)[1]["weight"] for _ in step))
        for (_, after), step in zip(steps, edits, strict=True)
    }
    for place, (base, *rungs) in enumerate(ladders):
        yield base
        last, severity = base, 0.0
        for rung in rungs:
            known = judged.get(rung.id)
            severity += edit_severity(last.hypothesis, rung.hypothesis, rung.operation)[1] if known is None else known
            yield replace(rung, severity=round(severity, 3))
            last = rung
        chance = random.Random(f"{seed}|severe|{base.group}")
        if chance.random() < SEVERE_SHARE:
            other = bases[(place + 1 + chance.randrange(len(bases) - 1)) % len(bases)]
            yield from _severe(base, other, chance)


def _edits(before: str, after: str) -> Edits:
    """Return the edits between two texts, each with the text before it."""
    edits = []
    for operation in diff_operations(before, after):
        edits.append((before, operation))
        before = applied(before, operation)
    return edits


def _ladder(base: TrainingPair, perturber: Perturber, seed: int) -> Iterator[TrainingPair]:
    """Yield the base pair and its perturbations, without severities."""
    yield base
    chance = random.Random(f"{seed}|ladder|{base.group}")
    loyal = chance.choice(DRAW) if chance.random() < 0.5 else None
    last = base
    for level, edits in LADDER:
        tries = ([loyal] if loyal else []) + [chance.choice(DRAW) for _ in range(4)] + ["word_deletion"]
        for operation in (name for name in tries if name in perturber.operations):
            text = perturber.run(Request(last.hypothesis, operation, edits, seed)) or last.hypothesis
            strength = edit_severity(base.hypothesis, text, operation)[0] if text != last.hypothesis and text.strip() else 0
            if strength > last.strength:  # a swap may also undo an earlier one
                break
        else:
            return
        last = replace(last, id=f"{base.group}-{level}", hypothesis=text, operation=operation, level=level, strength=strength)
        yield last


def _severe(base: TrainingPair, other: TrainingPair, chance: random.Random) -> Iterator[TrainingPair]:
    for operation in chance.sample(sorted(SEVERE), len(SEVERE)):
        text = wreck(operation, base.hypothesis, other.reference, chance)
        if text is not None:
            words = max(len(base.hypothesis.split()), len(text.split()))
            name = f"{base.group}-{operation}"
            yield replace(base, id=name, hypothesis=text, operation=operation, level="severe", strength=words, severity=25.0)
            return


def edit_severity(before: str, after: str, operation: str) -> tuple[int, float]:
    """Return the number of changed words between two texts, at least 1, and their weight; TextAttack gives no severities.

    Deleted content words and wrong numbers are major, misspellings and function words minor, swaps in between.
    """
    old, new = before.split(), after.split()
    count, total = 0, 0.0
    for tag, a, b, c, d in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        changed = old[a:b] or new[c:d]
        count += max(b - a, d - c)
        total += sum(_weight(word, operation) for word in changed)
    return max(count, 1), max(total, 0.1)


def _weight(word: str, operation: str) -> float:
    bare = word.strip(".,;:!?\"'()").lower()
    if operation in ("contract", "extend"):
        return 0.1
    if operation == "change_number" or any(map(str.isdigit, bare)):
        return MAJOR
    if operation in CHARACTER_OPERATIONS or bare in FEW:
        return MINOR
    return {"word_deletion": 4.0, "inner_swap": 1.5}.get(operation, 2.5)

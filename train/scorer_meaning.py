"""The scorer's pairs about meaning: groups of a text, what says the same near and far, and both with a fact turned."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from rome.train.errors_groups import Groups, Member
from rome.train.errors_texts import Pool, paraphrases
from rome.train.scorer_pairs import Pair

__all__ = ["QUALITY", "meaning_pairs"]

QUALITY = {"acceptable": 0.93, "minor": 0.88, "major": 0.6, "critical": 0.3, "unrelated": 0.02}
"""What a hypothesis is worth, by the worst that is wrong with it and whatever its distance from the reference."""
LEVELS = {0.0: "acceptable", 0.35: "minor", 1.0: "major", 2.0: "critical", 3.0: "unrelated"}


def meaning_pairs(texts: Sequence[Path], count: int, seed: int) -> list[Pair]:
    """``count`` groups of the texts that `rome train errors` prepared; drawn by another seed than those that taught the reader."""
    groups = Groups(Pool(texts), paraphrases(seed, 10**6, 10**6), None, seed)
    chance = random.Random(f"{seed}|meaning pairs")
    found = []
    for number in range(count):
        group = groups.meaning(chance)
        for k, member in enumerate(group.members):
            found.append(_pair(f"meaning-{number:05d}", k, group.reference.text, member))
    return found


def _pair(group: str, number: int, reference: str, member: Member) -> Pair:
    kind = LEVELS[member.level]
    operation = f"{kind}_{'near' if member.near else 'far'}" if kind != "unrelated" else kind
    level = "clean" if kind == "acceptable" else "severe"
    hypothesis = member.text.text
    return Pair(
        f"{group}-{number}", group, reference, hypothesis, "meaning", "meaning", operation, level, 0, 0.0, QUALITY[kind]
    )

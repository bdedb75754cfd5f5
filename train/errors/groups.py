"""The form of a lesson, and the lessons made of perturbed texts, ranked outputs and rated sentences.

`Groups` draws five kinds. Meaning: acceptable and wrong texts, each of them both near to the reference and far from it. Mistakes: a real
output, and copies of it with one mistake each. Outputs: those of one segment, ranked by their agreement with the others. Ladders: a text with
more and more mistakes. Rated: sentences whose similarity people rated.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rome.data.perturbations.changes import Made, NamedChange, Text, fits, made, plain
from rome.data.sources import data_file, read_jsonl
from rome.exceptions import InputError
from rome.train.errors.texts import Paraphrase, Pool, translated

NAN = float("nan")
GRADES = ("none", "minor", "major", "critical")
COST = {"none": 0.0, "minor": 1.0, "major": 5.0, "critical": 10.0}
MOST = UNRELATED = 25.0
"""The highest cost of a text, and that of a text that has nothing to do with its reference."""
RUNGS = (1, 2, 4, 8)
"""Most changes of a member of a ladder."""
OWN = 0.5
"""The share of ladders whose text is the reference; the others change an output."""
UNLIKE = 12.0
"""The cost of an output that agrees with no other."""
RATING = 5.0
"""The rating of sentences that mean the same."""
RATING_POWER = 1.3
"""Above 1, so that cost falls faster among low ratings than among high ones."""
TOGETHER = 5
"""Members of a group of mistakes, outputs or rated sentences, at most."""
LONGEST = 70
"""Words of two rated sentences together, at most."""
RARE = 0.6
"""The share of groups of meaning whose pair is drawn by the kind of a change, each kind equally often; the others draw from all pairs."""
PLAIN = 0.25
"""The weight of a critical change that is visible without the reference, relative to any other."""


@dataclass(frozen=True, slots=True)
class Member:
    """One hypothesis of a group.

    Attributes
    ----------
    cost
        The total cost of its errors, NaN where it is unknown.
    level
        Its rank: of two members, the one with the higher level must get the higher amount.
    sure
        The weight of its words' labels, in [0, 1].
    near
        Whether it was made of the reference itself.
    reference
        Its own reference, where it differs from the group's.
    reference_sure
        The weight of the labels of the reference's words; None for that of the text's own.
    somewhere
        Whether a word of the reference, or of either text where ``sure`` is 0, is part of an error at an unknown place.
    """

    text: Made
    cost: float
    level: float
    sure: float
    near: bool = False
    reference: Made | None = None
    reference_sure: float | None = None
    somewhere: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Hypotheses for one reference.

    Attributes
    ----------
    kind
        The name of its source.
    """

    kind: str
    reference: Made
    members: tuple[Member, ...]


class Groups:
    """Draws one group of a kind per call.

    Raises InputError when fewer than one pair is prepared, or fewer than five sentences are rated.

    Parameters
    ----------
    pool
        Prepared texts with their changes.
    paraphrases
        Pairs that say the same; those without prepared texts are left out.
    outputs
        The file of `write_agreements`; None where no outputs are ranked.
    """

    def __init__(self, pool: Pool, paraphrases: Sequence[Paraphrase], outputs: Path | None = None) -> None:
        self.pool = pool
        self.pairs = [p for p in paraphrases if pool.get(p.one) and pool.get(p.other)]
        self.real = [p for p in self.pairs if p.origin == "outputs"]
        self.outputs = [] if outputs is None else list(read_jsonl(outputs))
        self.rated = _rated()
        self.texts = [text for text in pool.texts.values() if text.words]
        self.counts = Counter(change.name for text in self.texts for change in text.changes)
        self.by_kind = self._by_kind()
        if not self.pairs or len(self.rated) < TOGETHER:
            raise InputError(
                f"training needs at least 1 pair with prepared texts and {TOGETHER} rated pairs of sentences, got {len(self.pairs)} and "
                f"{len(self.rated)}: give --texts the file made of the same pairs, and check pairs/sts_2012_2016.jsonl.gz"
            )

    def _by_kind(self) -> list[list[Paraphrase]]:
        """Return, for each kind of critical change of a fact, the pairs of which a text has such a change."""
        found: dict[str, list[Paraphrase]] = defaultdict(list)
        for pair in self.pairs:
            for name in {change.name for text in (pair.one, pair.other) for change in self.pool.texts[text].of("critical")}:
                if not _plainly_wrong(name):
                    found[name].append(pair)
        return [found[name] for name in sorted(found)]

    def _one(self, changes: Sequence[NamedChange], chance: random.Random) -> NamedChange | None:
        """Draw one of the changes, rare kinds about as often as frequent ones; None where there is none."""
        if not changes:
            return None
        weights = [self.counts[change.name] ** -0.7 * (PLAIN if _plainly_wrong(change.name) else 1.0) for change in changes]
        return chance.choices(changes, weights)[0]

    def _taken(self, changes: list[NamedChange], chance: random.Random) -> NamedChange:
        """Remove and return one of the changes, rare kinds about as often as frequent ones."""
        weights = [self.counts[change.name] ** -0.7 for change in changes]
        return changes.pop(chance.choices(range(len(changes)), weights)[0])

    def _with_harmless(self, text: Text, change: NamedChange | None, most: int, chance: random.Random) -> Made:
        """Return the text with a change and up to ``most`` harmless ones."""
        found = [] if change is None else [change]
        harmless = text.of("none")
        chance.shuffle(harmless)
        for other in harmless[: chance.randint(0, most)]:
            if fits([*found, other]):
                found.append(other)
        return made(text, found)

    def meaning(self, chance: random.Random) -> Group:
        """Draw acceptable and critical texts, near and far, and often one with a minor or major error."""
        pair = chance.choice(chance.choice(self.by_kind) if self.by_kind and chance.random() < RARE else self.pairs)
        one, other = self.pool.texts[pair.one], self.pool.texts[pair.other]
        if chance.random() < 0.5:
            one, other = other, one
        acceptable = [
            Member(self._with_harmless(one, None, 3, chance), 0.0, 0.0, 1.0, True),
            Member(self._with_harmless(other, None, 2, chance), 0.0 if pair.sure > 0.6 else NAN, 0.0, 0.4 * pair.sure),
        ]
        critical: list[Member] = []
        near = self._one(one.of("critical"), chance)
        if near is not None:
            critical.append(Member(self._with_harmless(one, near, 2, chance), 10.0, 2.0, 1.0, True))
        same = [change for change in other.of("critical") if near is not None and change.name == near.name]
        far = self._one(same or other.of("critical"), chance)
        if far is not None:
            critical.append(Member(self._with_harmless(other, far, 2, chance), 10.0, 2.0, 0.4 * pair.sure))
        members = [*acceptable, *critical]
        if chance.random() < 0.6:
            text, is_near = (one, True) if chance.random() < 0.6 else (other, False)
            change = self._one(text.of("minor", "major"), chance)
            if change is not None:
                level, sure = 1.0 if change.severity == "major" else 0.35, 1.0 if is_near else 0.4 * pair.sure
                harmless = self._with_harmless(text, change, 1, chance)
                members.append(Member(harmless, COST[change.severity], level, sure, is_near))
        if chance.random() < 0.15:
            members.append(Member(made(chance.choice(self.texts), ()), UNRELATED, 3.0, 0.0))
        return Group("meaning", made(one, ()), tuple(members))

    def mistakes(self, chance: random.Random) -> Group:
        """Draw a real output, whose own errors are unknown, and copies of it with one mistake each."""
        pair = chance.choice(self.real or self.pairs)
        reference, output = self.pool.texts[pair.one], self.pool.texts[pair.other]
        changes = output.of("minor", "major", "critical")
        chosen = [self._taken(changes, chance) for _ in range(min(TOGETHER - 1, len(changes)))]
        members = [Member(made(output, [change]), NAN, float(GRADES.index(change.severity)), 0.3) for change in chosen]
        return Group("mistakes", made(reference, ()), (Member(made(output, ()), NAN, 0.0, 0.15), *members))

    def ranked(self, chance: random.Random) -> Group:
        """Draw outputs of one segment, ranked by their agreement with the others."""
        row = chance.choice(self.outputs)
        chosen = chance.sample(row["outputs"], min(TOGETHER, len(row["outputs"])))
        members = [Member(plain(text), UNLIKE * (1.0 - agreement), -10.0 * agreement, 0.0) for text, agreement in chosen]
        return Group("outputs", plain(row["reference"]), tuple(members))

    def rating(self, chance: random.Random) -> Group:
        """Draw pairs of rated sentences; each member has its own reference."""
        members = []
        for one, other, rating in chance.sample(self.rated, TOGETHER):
            members.append(Member(plain(other), weight_of_rating(rating), RATING - rating, 0.0, False, plain(one)))
        return Group("rated", plain(""), tuple(members))

    def ladder(self, chance: random.Random) -> Group:
        """Draw a text, and copies of it with more and more changes of one list."""
        own = chance.random() < OWN
        pair = chance.choice(self.pairs if own else self.real or self.pairs)
        reference, text = self.pool.texts[pair.one], self.pool.texts[pair.one if own else pair.other]
        changes: list[NamedChange] = []
        known = text.of("minor", "major", "critical")
        for change in chance.sample(known, len(known)):
            if len(changes) < RUNGS[-1] and fits([*changes, change]):
                changes.append(change)
        members = [Member(made(text, ()), 0.0 if own else NAN, 0.0, 1.0 if own else 0.15, own)]
        for count in sorted({min(rung, len(changes)) for rung in RUNGS}):
            cost = sum(COST[change.severity] for change in changes[:count])
            severity = min(cost, UNRELATED) if own else NAN
            members.append(Member(made(text, changes[:count]), severity, cost / 5.0, 1.0 if own else 0.3, own))
        return Group("ladders", made(reference, ()), tuple(members))


def weight_of_rating(rating: float) -> float:
    """Return the cost of a sentence by its rated similarity: 0 for the highest rating, 25 for the rating 0."""
    return UNRELATED * (1.0 - rating / RATING) ** RATING_POWER


def _plainly_wrong(name: str) -> bool:
    """Return whether a change leaves a gap or an unrelated word in the text, so that the error is visible without the reference."""
    return name.startswith("omitted") or name in ("added_word", "word_added", "words_by_token", "stranger_word", "truncated_text")


def _rated() -> list[tuple[str, str, float]]:
    """Return the rated pairs of STS (a, b, similarity), without texts made by machine translation."""
    rows = [row for row in read_jsonl(data_file("pairs/sts_2012_2016.jsonl.gz")) if not translated(row["source"])]
    return [(row["a"], row["b"], row["similarity"]) for row in rows if len((row["a"] + row["b"]).split()) < LONGEST]

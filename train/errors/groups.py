"""The groups that the reader is trained on: hypotheses of one reference, with what is known of their errors.

Meaning: a text and what says the same, near and far, and both with a fact turned, so that distance from the reference says nothing.
Mistakes: a real output, and copies of it with one mistake each. Outputs: those of one segment, ranked by how much the others agree
with them. Ladders: a text and what more and more mistakes make of it. Rated: sentences whose likeness people rated. Synthesized:
what a pipeline of `rome synthesize` made of a text.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rome.data.perturbations.changes import Made, NamedChange, Text, damages, fits, made, plain
from rome.data.sources import data_file, read_jsonl
from rome.exceptions import InputError
from rome.train.errors.texts import Paraphrase, Pool, translated
from rome.train.synthesis.pairs import SyntheticPair

NAN = float("nan")
GRADES = ("none", "minor", "major", "critical")
COST = {"none": 0.0, "minor": 1.0, "major": 5.0, "critical": 10.0}
MOST = UNRELATED = 25.0
RUNGS = (1, 2, 4, 8)
"""Changes of the members of a ladder, at most."""
OWN = 0.5
"""The share of ladders that begin at the reference itself; the others begin at an output."""
UNLIKE = 12.0
"""What the errors of an output would weigh that agrees with the others in nothing."""
RATING = 5.0
"""The highest, of sentences that mean the same."""
RATING_POWER = 1.3
"""How much more the lower ratings tell of errors than the higher."""
TOGETHER = 5
"""Rated sentences, outputs or changes that are compared in one group, at most."""
LONGEST = 70
"""Words of two rated sentences together."""
RARE = 0.6
"""The share of groups whose pair is drawn by a kind of change, all kinds as often; the others are drawn from all pairs."""
PLAIN = 0.25
"""How much less readily a change that anyone sees without the reference is taken for a critical one."""


@dataclass(frozen=True, slots=True)
class Mixture:
    """How many groups of each kind a step holds."""

    meaning: int = 4
    mistakes: int = 1
    outputs: int = 1
    rated: int = 1
    synthesized: int = 1
    ladders: int = 0


@dataclass(frozen=True, slots=True)
class Member:
    """One hypothesis of a group.

    Attributes
    ----------
    cost
        What its errors weigh together, NaN where that is not known.
    sure
        How sure its words' labels are.
    level
        A higher one must have the higher count.
    near
        Whether it was made of the reference itself.
    reference
        Its own, where it is not the group's.
    reference_sure
        How sure the labels of the reference's words are; None where it is as with the text's own.
    somewhere
        Whether some word of the reference, or of either text where ``sure`` is 0, is part of an error although nobody knows which.
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
        For the log.
    """

    kind: str
    reference: Made
    members: tuple[Member, ...]


class Groups:
    """Draws the groups of a step."""

    def __init__(
        self,
        pool: Pool,
        paraphrases: Sequence[Paraphrase],
        outputs: Path | None,
        seed: int,
        generated: Iterable[SyntheticPair] = (),
    ) -> None:
        self.pool = pool
        self.pairs = [p for p in paraphrases if pool.get(p.one) and pool.get(p.other)]
        self.real = [p for p in self.pairs if p.origin == "outputs"]
        self.outputs = [] if outputs is None else list(read_jsonl(outputs))
        self.rated = _rated()
        self.generated = _by_reference(generated)
        self.texts = [text for text in pool.texts.values() if text.words]
        self.counts = Counter(change.name for text in self.texts for change in text.changes)
        self.by_kind = self._by_kind()
        if not self.pairs or len(self.rated) < TOGETHER:
            raise InputError(
                f"{len(self.pairs)} pairs that say the same have prepared texts, and {len(self.rated)} pairs of sentences are rated: training "
                f"needs at least 1 and {TOGETHER}; give --texts the file made of the same pairs, and look into pairs/sts_2012_2016.jsonl.gz"
            )

    def step(self, mixture: Mixture, chance: random.Random) -> Iterator[Group]:
        """The groups of one step."""
        outputs, synthesized = mixture.outputs if self.outputs else 0, mixture.synthesized if self.generated else 0
        draws = [self.meaning] * mixture.meaning + [self.mistakes] * mixture.mistakes + [self.ranked] * outputs
        draws += [self.rating] * mixture.rated + [self.ladder] * mixture.ladders + [self._synthesized] * synthesized
        for draw in draws:
            yield draw(chance)

    def _by_kind(self) -> list[list[Paraphrase]]:
        """For each kind of critical change that turns a fact, the pairs that have it on one of their sides."""
        found: dict[str, list[Paraphrase]] = defaultdict(list)
        for pair in self.pairs:
            for name in {change.name for text in (pair.one, pair.other) for change in self.pool.texts[text].of("critical")}:
                if not _plainly_wrong(name):
                    found[name].append(pair)
        return [found[name] for name in sorted(found)]

    def _one(self, changes: Sequence[NamedChange], chance: random.Random) -> NamedChange | None:
        """One of the changes, rare kinds as readily as frequent ones."""
        if not changes:
            return None
        weights = [self.counts[change.name] ** -0.7 * (PLAIN if _plainly_wrong(change.name) else 1.0) for change in changes]
        return chance.choices(changes, weights)[0]

    def _taken(self, changes: list[NamedChange], chance: random.Random) -> NamedChange:
        """One of the changes, as `_one` chooses it without regard to how plain it is, taken out of the list."""
        weights = [self.counts[change.name] ** -0.7 for change in changes]
        return changes.pop(chance.choices(range(len(changes)), weights)[0])

    def _with_harmless(self, text: Text, change: NamedChange | None, most: int, chance: random.Random) -> Made:
        """The text with a change and up to so many harmless ones."""
        found = [] if change is None else [change]
        harmless = text.of("none")
        chance.shuffle(harmless)
        for other in harmless[: chance.randint(0, most)]:
            if fits([*found, other]):
                found.append(other)
        return made(text, found)

    def meaning(self, chance: random.Random) -> Group:
        """All four cells, with something between acceptable and critical where there is such."""
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
        """A real output, and the same with one mistake each; what is wrong with the output itself nobody knows."""
        pair = chance.choice(self.real or self.pairs)
        reference, output = self.pool.texts[pair.one], self.pool.texts[pair.other]
        changes = output.of("minor", "major", "critical")
        chosen = [self._taken(changes, chance) for _ in range(min(TOGETHER - 1, len(changes)))]
        members = [Member(made(output, [change]), NAN, float(GRADES.index(change.severity)), 0.3) for change in chosen]
        return Group("mistakes", made(reference, ()), (Member(made(output, ()), NAN, 0.0, 0.15), *members))

    def ranked(self, chance: random.Random) -> Group:
        """Outputs of one segment, those that agree least with the others last."""
        row = chance.choice(self.outputs)
        chosen = chance.sample(row["outputs"], min(TOGETHER, len(row["outputs"])))
        members = [Member(plain(text), UNLIKE * (1.0 - agreement), -10.0 * agreement, 0.0) for text, agreement in chosen]
        return Group("outputs", plain(row["reference"]), tuple(members))

    def rating(self, chance: random.Random) -> Group:
        """Sentences rated by people; the reference of a group is its first member's, each member has its own."""
        rows = chance.sample(self.rated, TOGETHER)
        members = [
            Member(plain(other), weight_of_rating(rating), RATING - rating, 0.0, False, plain(one))
            for one, other, rating in rows
        ]
        return Group("rated", plain(""), tuple(members))

    def ladder(self, chance: random.Random) -> Group:
        """A text, and what more and more of one list of changes make of it."""
        own = chance.random() < OWN
        pair = chance.choice(self.pairs if own else self.real or self.pairs)
        reference, text = self.pool.texts[pair.one], self.pool.texts[pair.one if own else pair.other]
        changes = damages(text, self._strangers(chance), chance.choice(RUNGS), chance)
        known = text.of("minor", "major", "critical")
        for change in chance.sample(known, min(RUNGS[-1], len(known))):
            if fits([*changes, change]):
                changes.append(change)
        chance.shuffle(changes)
        members = [Member(made(text, ()), 0.0 if own else NAN, 0.0, 1.0 if own else 0.15, own)]
        for count in sorted({min(rung, len(changes)) for rung in RUNGS}):
            cost = sum(COST[change.severity] for change in changes[:count])
            severity = min(cost, UNRELATED) if own else NAN
            members.append(Member(made(text, changes[:count]), severity, cost / 5.0, 1.0 if own else 0.3, own))
        return Group("ladders", made(reference, ()), tuple(members))

    def _strangers(self, chance: random.Random) -> list[str]:
        """The words of some text."""
        text = chance.choice(self.texts)
        return [text.text[a:b] for a, b in text.words]

    def _synthesized(self, chance: random.Random) -> Group:
        """A reference and what a pipeline of `rome synthesize` made of it, the costlier the worse."""
        pairs = chance.choice(self.generated)
        chosen = chance.sample(pairs, min(TOGETHER, len(pairs)))
        members = [Member(plain(pair.hypothesis), -(pair.label or 0.0), -(pair.label or 0.0) / 5.0, 0.0) for pair in chosen]
        reference = plain(pairs[0].reference)
        return Group("synthesized", reference, (Member(reference, 0.0, 0.0, 1.0, True), *members))


def weight_of_rating(rating: float) -> float:
    """What the errors weigh of a sentence whose likeness was rated so: none for the highest rating, those of an unrelated text for 0."""
    return UNRELATED * (1.0 - rating / RATING) ** RATING_POWER


def _by_reference(generated: Iterable[SyntheticPair]) -> list[list[SyntheticPair]]:
    """Generated pairs that have a label, by their references."""
    found: dict[str, list[SyntheticPair]] = defaultdict(list)
    for pair in generated:
        if pair.label is not None and pair.reference.strip() and pair.hypothesis.strip():
            found[pair.reference].append(pair)
    return list(found.values())


def _plainly_wrong(name: str) -> bool:
    """Whether a change leaves a gap or a stranger in the text, which tells it from a fact that is merely another."""
    return name.startswith("omitted") or name in ("added_word", "word_added", "words_by_token")


def _rated() -> list[tuple[str, str, float]]:
    """STS pairs whose texts are none of machine translation."""
    rows = read_jsonl(data_file("pairs/sts_2012_2016.jsonl.gz"))
    return [
        (row["a"], row["b"], row["similarity"])
        for row in rows
        if not translated(row["source"]) and len((row["a"] + row["b"]).split()) < LONGEST
    ]

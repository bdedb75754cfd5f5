"""One's own ratings (`--ratings`): the lessons that fine-tune a reader on them, and its agreement with those that are held out."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import rankdata

from rome.data.perturbations.changes import Mark, plain
from rome.data.readers.mqm import MqmWeights, marks_score
from rome.data.readers.rated import RatedSegment
from rome.features.model_files import ANSWERS, MANIFEST, record_files
from rome.train.common.ratings import LICENCES, Figures, Ratings, agreement_figures
from rome.train.errors.batches import Batches
from rome.train.errors.groups import COST, MOST, NAN, Group, Member
from rome.train.errors.net import PairNet
from rome.train.errors.sources import level_of, together, touching

RATINGS = "ratings"
ENOUGH = 500
"""Rated outputs that train, below which a warning is printed."""
PASSES = 4
"""Passes over the lessons, at most: a reader soon knows few ratings by heart."""
SURE = 0.3
"""Weight of the labels of words that a rater marked or left unmarked."""
WEIGHTS = MqmWeights(critical=COST["critical"], minor_punctuation=COST["minor"], most=MOST)
Vector = NDArray[np.float64]


@torch.no_grad()
def readings(net: PairNet, segments: Sequence[RatedSegment], source_of: Callable[[Iterable[Group]], Batches]) -> Vector:
    """Return (n,) the expected cost of each output with its best reference; NaN for texts that are too long.

    Parameters
    ----------
    source_of
        Makes batches of lessons, each pair with its number as level.
    """
    net.eval()
    pairs = [(reference, segment.hypothesis) for segment in segments for reference in segment.references]
    costs = np.array([0.0 if one == other else NAN if plain(other).words else MOST for one, other in pairs])
    members = (Member(plain(other), NAN, float(n), 0.0, reference=plain(one)) for n, (one, other) in enumerate(pairs))
    source = source_of(Group(RATINGS, plain(""), (member,)) for member in members)
    for step in range(len(source)):
        for part in source[step]:
            costs[part.level.long().numpy()] = net(part.to(net.marks.device.type)).amount.expm1().cpu().numpy()
    starts = np.cumsum([0, *(len(segment.references) for segment in segments)])[:-1]
    return np.asarray(np.fmin.reduceat(costs, starts))


def costs_of(ratings: Ratings, before: Vector) -> Vector:
    """Return (n,) the costs that train: of the errors that raters marked, else the reader's own costs in the order of the ratings.

    Ratings have no common scale (0 to 100, z-scores, grades), so only their order within a file counts.
    """
    costs = np.empty(len(ratings))
    for number, rated in enumerate(ratings.sets):
        rows = np.flatnonzero(ratings.file == number)
        if ratings.dimensions[number] == ("mqm",) and all(segment.marks for segment in rated.segments):
            costs[rows] = [-marks_score(segment.marks, WEIGHTS) for segment in rated.segments]
        else:
            own = np.sort(before[rows])
            costs[rows] = np.interp(rankdata(-ratings.people[rows]) - 1.0, np.arange(len(own)), own)
    return costs


def members_of(segment: RatedSegment, cost: float) -> list[Member]:
    """Return an output with its cost: once for every rater who marked errors, with these marks; else once, without labels."""
    reference, text, found = plain(segment.references[0]), plain(segment.hypothesis), []
    for marks in segment.marks.values():
        errors = [mark for mark in marks if mark.severity != "neutral"]
        spans = [(mark, touching(text.words, mark.start, mark.end)) for mark in errors if mark.start is not None and mark.end]
        made = replace(text, marks=tuple(Mark(mark.category.lower(), mark.severity, new, (), ()) for mark, new in spans))
        omitted = len(spans) < len(errors)
        sure = 0.0 if omitted else SURE
        found.append(Member(made, cost, level_of(cost), SURE, False, reference, reference_sure=sure, somewhere=omitted))
    return found or [Member(text, cost, level_of(cost), 0.0, False, reference)]


@dataclass(frozen=True, eq=False)
class Rated:
    """Draws the lessons of rated outputs: those that answer one input together, and any outputs of a file together."""

    ratings: Ratings
    costs: Vector

    def __call__(self, chance: random.Random, times: float) -> Iterator[Group]:
        """Yield every output once or twice."""
        inputs: dict[int, list[Member]] = defaultdict(list)
        files: dict[int, list[Member]] = defaultdict(list)
        each = zip(self.ratings.segments, self.costs.tolist(), self.ratings.item, self.ratings.file, strict=True)
        for segment, cost, item, file in each:
            members = members_of(segment, cost)
            inputs[int(item)] += members
            files[int(file)] += members
        for several in (*inputs.values(), *files.values()):
            yield from together(RATINGS, several, chance, times)


def mixed(own: Sequence[Group], others: Iterable[Group], share: float, chance: random.Random) -> list[Group]:
    """Return the lessons of ratings with as many others, drawn at random, as give these a share of all pairs."""
    wanted = share / (1.0 - share) * sum(len(lesson.members) for lesson in own)
    pool = list(others)
    order = chance.sample(pool, len(pool))
    before = np.cumsum([0, *(len(lesson.members) for lesson in order)]).tolist()
    return [*own, *(lesson for lesson, pairs in zip(order, before, strict=False) if pairs < wanted)]


def figures_of(ratings: Ratings, before: Vector, after: Vector) -> Figures:
    """Return the agreement of both readings with the ratings, each dimension and figure; texts that are too long are left out."""
    known = np.flatnonzero(~np.isnan(before))
    return agreement_figures(ratings.only(known), {"before": -before[known], "after": -after[known]})


def described(ratings: Ratings, held_out: int) -> list[str]:
    """Return a line of the card for each rated set."""
    return [
        f"{RATINGS} of {one.name} ({', '.join(names)}; {LICENCES.get(one.name, 'licence as its source says')}): "
        f"{len(one.segments):,} outputs, of which about one in five was held out ({held_out:,} in all)"
        for one, names in zip(ratings.sets, ratings.dimensions, strict=True)
    ]


def complete_set(begin: Path, out: Path) -> None:
    """Copy to a new reader the rest of its model set, name the set after its folder, and record its files.

    Recorded answers and the supervised net stay behind, because they belong to the features of the former reader.
    """
    left_out = {ANSWERS, "errors", "scorer-supervised"}
    shutil.copytree(begin, out, dirs_exist_ok=True, ignore=lambda _, names: left_out & {*names}, copy_function=shutil.copyfile)
    name = re.sub(r"[^\w-]", "-", out.resolve().name)
    content = json.loads((out / MANIFEST).read_text(encoding="utf-8")) | {"name": name}
    (out / MANIFEST).write_text(json.dumps(content), encoding="utf-8")
    record_files(out)

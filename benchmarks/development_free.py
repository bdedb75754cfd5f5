"""Read human judgements of free text as development sets: edited summaries, paraphrases, and translations with assessments or error marks."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from rome.data.readers.groups import is_held_out_paws, is_held_out_summary
from rome.data.readers.rated import RatedSegment
from rome.data.readers.registry import read_rated
from rome.data.sources import data_file, read_jsonl
from rome.evaluation.statistics.agreement import Average, agreement

PAIRS, ASSESSED, MARKED, SEED = 1000, 1500, 150, 0
"""The size of the sample of PAWS pairs, of MLQE-PE outputs and of TED segments, and the seed that draws it."""
COSTS = {"neutral": 0.0, "minor": 1.0, "major": 5.0, "critical": 10.0}
HUMAN = ("ref", "refB")
"""Names under which the TED set lists its references as systems."""
Item = TypeVar("Item")
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Judged:
    """Name a development set, one of its ratings, and the figure of agreement with it."""

    name: str
    rating: str
    statistic: str
    average: Average
    title: str

    def segments(self, limit: int | None = None) -> Sequence[RatedSegment]:
        """Return the segments, or the first of them. Raises InputError without the development data."""
        return read_rated(self.name).segments[:limit]

    def follows(self, segments: Sequence[RatedSegment], scores: ArrayLike) -> float:
        """Return the agreement of (n,) scores with the ratings of these segments; nan if it is undefined."""
        return agreement(
            [segment.ratings[self.rating] for segment in segments],
            scores,
            statistic=self.statistic,
            average=self.average,
            items=[segment.item for segment in segments],
            language_pairs=[segment.language_pair for segment in segments],
        ).value


@dataclass(frozen=True)
class Labelled:
    """Hold pairs that people labelled good (1) or bad (0); pairs are compared within their group."""

    title: str
    references: tuple[str, ...]
    hypotheses: tuple[str, ...]
    labels: tuple[int, ...]
    groups: tuple[Hashable, ...]

    def auc(self, scores: ArrayLike) -> float:
        """Return `auc_within` of the scores of these pairs."""
        return auc_within(self.labels, scores, self.groups)


def auc_within(labels: Sequence[int], scores: ArrayLike, groups: Sequence[Hashable]) -> float:
    """Return how often a good pair scores above a bad one of its group, in percent; a tie is half, a group counts by its comparisons.

    nan where no group has both.
    """
    good, values = np.asarray(labels, dtype=bool), np.asarray(scores, dtype=np.float64)
    members: dict[Hashable, list[int]] = defaultdict(list)
    for place, group in enumerate(groups):
        members[group].append(place)
    won = compared = 0.0
    for places in members.values():
        ranks, best = rankdata(values[places]), good[places]
        positives = int(best.sum())
        won += float(ranks[best].sum()) - positives * (positives + 1) / 2
        compared += positives * (len(places) - positives)
    return 100.0 * won / compared if compared else np.nan


def sample(items: Sequence[Item], most: int | None) -> list[Item]:
    """Return at most so many of the items, always the same ones, in their order; None takes all."""
    if most is None or len(items) <= most:
        return list(items)
    return [items[n] for n in sorted(random.Random(SEED).sample(range(len(items)), most))]


def smaller(most: int, limit: int | None, whole: bool) -> int | None:
    """Return how many items are taken; None for all of them."""
    return limit if whole else min(most, limit or most)


def read_labelled(limit: int | None = None, whole: bool = False) -> list[Labelled]:
    """Return SummEdits, its held-out domain and the others, and the held-out half of PAWS.

    Raises
    ------
    InputError
        Without the development data.
    """
    summaries = list(read_jsonl(data_file("meaning/summedits.jsonl.gz")))
    held = [row for row in summaries if is_held_out_summary(row)]
    others = [row for row in summaries if not is_held_out_summary(row)]
    pairs = [row for row in read_jsonl(data_file("pairs/paws_wiki_dev.jsonl.gz")) if is_held_out_paws(row)]
    return [
        _summaries("SummEdits, held-out domain, AUC", held[:limit]),
        _summaries("SummEdits, other domains, AUC", others[:limit]),
        _labelled("PAWS, held-out half, AUC", sample(pairs, smaller(PAIRS, limit, whole)), ("a", "b", "paraphrase", "")),
    ]


def _summaries(title: str, rows: Iterable[Row]) -> Labelled:
    return _labelled(title, rows, ("reference", "hypothesis", "consistent", "group"))


def _labelled(title: str, rows: Iterable[Row], keys: tuple[str, str, str, str]) -> Labelled:
    """Return the pairs of rows by the keys of reference, hypothesis, label and group; without a key of groups all are one."""
    columns = list(zip(*([row.get(key, "") for key in keys] for row in rows), strict=True))
    return Labelled(title, *(columns or [()] * len(keys)))


def read_judged(limit: int | None = None, whole: bool = False) -> list[tuple[Judged, list[RatedSegment]]]:
    """Return the rated sets that judge only: MLQE-PE from Estonian, and TED talks from Chinese.

    Raises
    ------
    InputError
        Without the development data.
    """
    assessed = sample(list(read_jsonl(data_file("rated/mlqe_pe_et.jsonl.gz"))), smaller(ASSESSED, limit, whole))
    return [
        (
            Judged("mlqe_pe_et", "da", "kendall_b", "none", "MLQE-PE et-en assessment, tau"),
            [
                RatedSegment(str(n), (row["reference"],), row["hypothesis"], {"da": float(row["da"])})
                for n, row in enumerate(assessed)
            ],
        ),
        (
            Judged("ted_mqm", "mqm", "kendall_b", "item", "TED zh-en MQM, tau per item"),
            marked_segments(read_jsonl(data_file("rated/ted_mqm_zh-en.jsonl.gz")), smaller(MARKED, limit, whole)),
        ),
    ]


def marked_segments(rows: Iterable[Row], most: int | None = None) -> list[RatedSegment]:
    """Return the outputs of at most so many segments, rated by minus the mean cost of a rater's marks; human translations are left out."""
    costs: dict[tuple[str, str], list[float]] = defaultdict(list)
    known: dict[tuple[str, str], Row] = {}
    for row in rows:
        if row["system"] not in HUMAN:
            key = row["segment"], row["system"]
            known[key] = row
            costs[key].append(sum(COSTS[error["severity"].lower()] for error in row["errors"]))
    chosen = set(sample(list(dict.fromkeys(segment for segment, _ in known)), most))
    return [
        RatedSegment(
            segment, tuple(row["references"]), row["hypothesis"], {"mqm": -float(np.mean(costs[segment, system]))}, system
        )
        for (segment, system), row in known.items()
        if segment in chosen
    ]

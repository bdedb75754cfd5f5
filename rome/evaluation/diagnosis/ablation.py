"""RoMe's component ablation (section 4.5, table 5): what each component adds to the agreement with people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rome.data.readers.rated import RatedSet
from rome.evaluation.agreement.checks import check_scores
from rome.evaluation.agreement.grouping import agreement
from rome.evaluation.agreement.groups import Average
from rome.evaluation.agreement.uncertainty import bootstrap_difference, bootstrap_interval
from rome.evaluation.diagnosis.features_of import COLUMNS, GROWING_SETS, AblationFeatures, texts_digest
from rome.evaluation.diagnosis.fitting import Fit, cross_validated, fit_monotone_net
from rome.evaluation.diagnosis.runs import watched
from rome.exceptions import InputError
from rome.reports.model import Cell, Heatmap, Table

__all__ = ["MEASURES", "ablation", "ablation_heatmap", "ratings_of"]

Vector = NDArray[np.float64]
Measure = tuple[str, Average]

MEASURES: tuple[Measure, ...] = (("spearman", "none"), ("kendall_b", "none"), ("kendall_b", "item"))
"""Statistic and average: Spearman's correlation as in the paper, tau over all outputs, and tau within each item."""

FULL = tuple(GROWING_SETS)[-1]
LEFT_OUT = {"soft": "semantic", "syntax": "syntax", "grammar": "grammar", "errors": "errors"}
FIRST = 8
"""The column of the first measure."""
ALONE, REFITTED, GIVEN = "alone", "refitted", "as given"


@dataclass(frozen=True, slots=True)
class _Variant:
    """One row of the table before its numbers: compared names the row (by name and kind) that ``change`` is measured from."""

    name: str
    kind: str
    columns: tuple[str, ...]
    compared: tuple[str, str] | None = None


def _variants() -> Iterator[_Variant]:
    """The semantic variants alone, the growing sets refitted, and the full set without each of its components."""
    names = tuple(GROWING_SETS)
    for before, name in zip((None, *names), names, strict=False):
        if len(GROWING_SETS[name]) == 1:
            yield _Variant(name, ALONE, GROWING_SETS[name], (before, ALONE) if before else None)
    for before, name in zip((None, *names), names, strict=False):
        yield _Variant(name, REFITTED, GROWING_SETS[name], (before, REFITTED) if before else None)
    for column, component in LEFT_OUT.items():
        rest = tuple(name for name in GROWING_SETS[FULL] if name != column)
        yield _Variant(f"all without {component}", REFITTED, rest, (FULL, REFITTED))


def ablation(
    rated: RatedSet,
    features: AblationFeatures,
    *,
    fit: Fit = fit_monotone_net,
    others: Mapping[str, ArrayLike] | None = None,
    measures: Sequence[Measure] = MEASURES,
    folds: int = 5,
    seed: int = 0,
    samples: int = 1000,
    progress: bool | None = None,
) -> Table:
    """Agreement of each growing set of components with each human dimension, with intervals over items.

    Rows: the three semantic variants alone, as the paper has them; every growing set, and the full set without each component, with
    the scorer fitted anew on the ratings and judged by cross-validation over items; then ``others``, name -> (n,) scores as given (the
    shipped score, for one). change : of the first measure against the row named in ``compared with``, with the interval of a paired
    bootstrap; where it excludes 0, the difference is more than chance. samples : bootstrap resamples. progress : as in `watched`.

    Raises InputError when the features were not measured on these texts, and for fewer items than folds.
    """
    _check(rated, features)
    rows: list[tuple[Cell, ...]] = []
    scorer = _Scorer(rated, features, fit, folds, seed)
    judge = _Judge(rated, tuple(measures), samples, seed)
    variants = {(variant.name, variant.kind): variant for variant in _variants()}
    for dimension, variant in watched([(d, v) for d in rated.dimensions for v in variants.values()], "ablation", progress):
        against = scorer.scores(dimension, variants[variant.compared]) if variant.compared else None
        numbers = judge.numbers(dimension, scorer.scores(dimension, variant), against)
        compared = " ".join(variant.compared) if variant.compared else None
        rows.append((dimension, variant.name, ", ".join(variant.columns), variant.kind, compared, *numbers))
    for dimension, name in ((d, n) for d in rated.dimensions for n in others or {}):
        given, full = check_scores((others or {})[name], name), scorer.scores(dimension, variants[FULL, REFITTED])
        rows.append((dimension, name, None, GIVEN, f"{FULL} {REFITTED}", *judge.numbers(dimension, given, full)))
    return _table(rated, rows, measures, folds)


def _check(rated: RatedSet, features: AblationFeatures) -> None:
    """The features are those of the rated texts, in their order."""
    texts = texts_digest([segment.references for segment in rated.segments], [segment.hypothesis for segment in rated.segments])
    if len(features) != len(rated.segments) or features.texts not in ("", texts):
        raise InputError(
            f"the features are of {len(features)} segments and not those of {rated.name} ({len(rated.segments)}): "
            "measure them on its references and hypotheses, in its order"
        )


class _Scorer:
    """The scores of each variant, fitted once for each dimension and set of columns."""

    def __init__(self, rated: RatedSet, features: AblationFeatures, fit: Fit, folds: int, seed: int) -> None:
        self.rated, self.features, self.fit, self.folds, self.seed = rated, features, fit, folds, seed
        self.groups = [segment.group for segment in rated.segments]
        self.fitted: dict[tuple[str, tuple[str, ...]], Vector] = {}

    def scores(self, dimension: str, variant: _Variant) -> Vector:
        """(n,) the component alone, or what scorers say that were fitted on other items."""
        rows, key = self.features.matrix(variant.columns), (dimension, variant.columns)
        if variant.kind == REFITTED and key not in self.fitted:
            people = ratings_of(self.rated, dimension)
            self.fitted[key] = cross_validated(rows, people, self.groups, self.fit, folds=self.folds, seed=self.seed)
        return self.fitted[key] if variant.kind == REFITTED else rows[:, 0]


class _Judge:
    """The numbers of one row: each measure with its interval, and the change of the first against another row."""

    def __init__(self, rated: RatedSet, measures: tuple[Measure, ...], samples: int, seed: int) -> None:
        self.rated, self.measures, self.samples, self.seed = rated, measures, samples, seed
        self.items = [segment.item for segment in rated.segments]
        self.pairs = [segment.language_pair for segment in rated.segments]

    def numbers(self, dimension: str, scores: Vector, against: Vector | None) -> tuple[Cell, ...]:
        """Change, its low and high; then value, low and high of each measure."""
        people = ratings_of(self.rated, dimension)
        found: list[Cell] = [None, None, None]
        if against is not None:
            statistic, average = self.measures[0]
            gap = bootstrap_difference(
                people,
                scores,
                against,
                statistic=statistic,
                average=average,
                items=self.items,
                language_pairs=self.pairs,
                samples=self.samples,
                seed=self.seed,
            )
            found = [gap.difference, gap.interval.low, gap.interval.high]
        for statistic, average in self.measures:
            found += self._measured(people, scores, statistic, average)
        return tuple(found)

    def _measured(self, people: Vector, scores: Vector, statistic: str, average: Average) -> tuple[float, float, float]:
        value = agreement(
            people, scores, statistic=statistic, average=average, items=self.items, language_pairs=self.pairs
        ).value
        interval = bootstrap_interval(
            people,
            scores,
            statistic=statistic,
            average=average,
            items=self.items,
            language_pairs=self.pairs,
            samples=self.samples,
            seed=self.seed,
        )
        return value, interval.low, interval.high


def ratings_of(rated: RatedSet, dimension: str) -> Vector:
    """(n,) what people said in one dimension."""
    return np.array([segment.ratings[dimension] for segment in rated.segments], dtype=np.float64)


def _label(measure: Measure) -> str:
    statistic, average = measure
    return statistic if average == "none" else f"{statistic} per {average.replace('_', ' ')}"


def _table(rated: RatedSet, rows: Sequence[tuple[Cell, ...]], measures: Sequence[Measure], folds: int) -> Table:
    columns = ["dimension", "set", "components", "scorer", "compared with", "change", "change low", "change high"]
    for measure in measures:
        columns += [_label(measure), f"{_label(measure)} low", f"{_label(measure)} high"]
    items = len({segment.group for segment in rated.segments})
    note = (
        f"{len(rated.segments)} outputs of {items} items; RoMe, table 5. Alone: the component itself. Refitted: fitted on people's ratings, "
        f"judged on items of other folds ({folds} folds). low, high: 95 % bootstrap intervals over items; change: in {_label(measures[0])}, "
        "paired. Columns: " + ", ".join(COLUMNS) + "."
    )
    brackets = tuple((name, f"{name} low", f"{name} high") for name in ("change", *map(_label, measures)))
    return Table("ablation", f"Component ablation on {rated.name}", tuple(columns), tuple(rows), note, intervals=brackets)


def ablation_heatmap(table: Table) -> Heatmap:
    """The first measure of an `ablation` table: one row a set and scorer, one column a human dimension."""
    columns = tuple(dict.fromkeys(str(row[0]) for row in table.rows))
    labels = tuple(dict.fromkeys(f"{row[1]} ({row[3]})" for row in table.rows))
    values = np.full((len(labels), len(columns)), np.nan)
    for row in table.rows:
        value = row[FIRST]
        values[labels.index(f"{row[1]} ({row[3]})"), columns.index(str(row[0]))] = value if isinstance(value, float) else np.nan
    return Heatmap(
        "ablation-matrix", f"{table.title}: {table.columns[FIRST]}", labels, columns, values, note=table.note, digits=3
    )

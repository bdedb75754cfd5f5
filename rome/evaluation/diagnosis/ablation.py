"""RoMe's component ablation (section 4.5, table 5): what each component adds to the agreement with people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rome.checks import check_pairs
from rome.data.readers.rated import RatedSet
from rome.evaluation.diagnosis.fitting import cross_validated, watched
from rome.evaluation.findings import Row, interval_table
from rome.evaluation.metrics.functions import PairValues, TextPair
from rome.evaluation.statistics.agreement import Average, check_scores
from rome.evaluation.statistics.resampling import bootstrap_difference, bootstrap_interval
from rome.exceptions import InputError
from rome.features.errors.errors import Errors
from rome.features.grammar import Grammar
from rome.features.idf import IdfTable
from rome.features.protocol import Feature, Resources, compare_pairs
from rome.features.semantic import Semantic
from rome.features.syntax import Syntax
from rome.metric import RoMe
from rome.reports.model import Heatmap, Table

COLUMNS = ("standard", "aligned", "soft", "syntax", "grammar", "errors")
"""The measured columns: the semantic component by its three transport costs, then the other three components."""

GROWING_SETS: dict[str, tuple[str, ...]] = {
    "EMD standard": ("standard",),
    "EMD aligned": ("aligned",),
    "EMD soft": ("soft",),
    "+ TED-SE": ("soft", "syntax"),
    "+ grammar": ("soft", "syntax", "grammar"),
    "+ errors": ("soft", "syntax", "grammar", "errors"),
}
"""The rows of RoMe's table 5, and the errors component, which is this package's own."""


@dataclass(frozen=True, eq=False)
class AblationFeatures:
    """One row a candidate (a hypothesis against one of its references), in the order of the segments.

    Attributes
    ----------
    segment
        (m,) int64, 0 to n - 1, rising.
    values
        (m, 6) float64 in [0, 1], columns as COLUMNS.
    """

    segment: NDArray[np.int64]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        """Number of segments."""
        return int(self.segment[-1]) + 1 if len(self.segment) else 0

    def matrix(self, columns: Sequence[str]) -> NDArray[np.float64]:
        """(n, d) one row a segment with the named columns, of the reference that the hypothesis is nearest to.

        That is the candidate with the highest value of the first semantic column among ``columns`` (of ``soft`` when none is
        there), the first of equals. The choice uses no rating and no fitted net, so rows that train and rows that test are made
        alike; with the semantic column alone it is the usual maximum over references.
        """
        key = next((name for name in columns if name in COLUMNS[:3]), "soft")
        order = np.lexsort((-self.values[:, COLUMNS.index(key)], self.segment))  # stable: the first of equals stays first
        best = order[np.r_[True, np.diff(self.segment[order]) > 0]] if len(order) else order
        return self.values[best][:, [COLUMNS.index(name) for name in columns]]


def features_of(
    metric: RoMe,
    references: Sequence[Sequence[str]],
    hypotheses: Sequence[str],
    *,
    progress: bool | None = None,
) -> AblationFeatures:
    """Measure the six columns for every candidate; each text is analysed once, each distinct pair measured once.

    Raises InputError as `RoMe.score` does.

    Parameters
    ----------
    metric
        Decides models and settings; its own choice of ``emd`` does not matter. It must weigh words by the embedded IDF table.
    progress
        True, False, or None for a bar when stderr is a terminal.
    """
    if metric.idf != "embedded":
        raise InputError("the ablation weighs words by the embedded table: leave the weights of the references out")
    checked = check_pairs(references, hypotheses, empty_reference=metric.empty_reference)
    candidates = [(reference, pair.hypothesis) for pair in checked for reference in pair.references]
    measured = PairValues("ablation", partial(_measured, metric, _parts(metric)), width=len(COLUMNS), progress=progress)
    values = measured.of(candidates)
    segment = np.repeat(np.arange(len(checked), dtype=np.int64), [len(pair.references) for pair in checked])
    return AblationFeatures(segment, values)


def _parts(metric: RoMe) -> tuple[Feature[Any], ...]:
    """The measures of the six columns, with the metric's settings."""
    folder = metric.models.folder
    table = IdfTable.load(folder / "idf" / "idf.tsv")
    semantic, syntax, grammar, errors, *_ = metric.configs
    return (
        Semantic(table, replace(semantic, emd="standard")),
        Semantic(table, replace(semantic, emd="aligned")),
        Semantic(table, replace(semantic, emd="soft")),
        Syntax(syntax),
        Grammar(grammar),
        Errors.make(errors, Resources(table, folder)),
    )


def _measured(metric: RoMe, parts: Sequence[Feature[Any]], pairs: Sequence[TextPair]) -> NDArray[np.float64]:
    """(n, 6) the columns of some pairs of reference and hypothesis."""
    analyses = metric.analyse([text for pair in pairs for text in pair])
    found = compare_pairs(parts, [(analyses[one], analyses[other]) for one, other in pairs])
    rows = [[component.value for component in row] for row in found]
    return np.array(rows, dtype=np.float64).reshape(-1, len(COLUMNS))


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
    shipped score, for one). The change is that of the first measure against the row named in ``compared with``, with the interval of a
    paired bootstrap; where it excludes 0, the difference is more than chance.

    Raises InputError for fewer items than folds.

    Parameters
    ----------
    samples
        Bootstrap resamples.
    progress
        As in `watched`.
    """
    rows: list[Row] = []
    fitted: dict[tuple[str, tuple[str, ...]], Vector] = {}
    groups = [segment.group for segment in rated.segments]

    def scored(dimension: str, variant: _Variant) -> Vector:
        """(n,) the component alone, or what scorers say that were fitted on other items."""
        values, key = features.matrix(variant.columns), (dimension, variant.columns)
        if variant.kind != REFITTED:
            return values[:, 0]
        if key not in fitted:
            fitted[key] = cross_validated(values, ratings_of(rated, dimension), groups, folds=folds, seed=seed)
        return fitted[key]

    def numbers(dimension: str, scores: Vector, against: Vector | None) -> Row:
        """Change of the first measure, then each measure, with intervals."""
        people = ratings_of(rated, dimension)
        keys: dict[str, Any] = {name: [getattr(s, name[:-1]) for s in rated.segments] for name in ("items", "language_pairs")}
        drawn: dict[str, Any] = {**keys, "samples": samples, "seed": seed}
        found: list[Any] = [None, None, None]
        if against is not None:
            statistic, average = measures[0]
            found = [bootstrap_difference(people, scores, against, statistic=statistic, average=average, **drawn).estimate]
        for statistic, average in measures:
            found.append(bootstrap_interval(people, scores, statistic=statistic, average=average, **drawn))
        return tuple(found)

    variants = {(variant.name, variant.kind): variant for variant in _variants()}
    for dimension, variant in watched([(d, v) for d in rated.dimensions for v in variants.values()], "ablation", progress):
        against = scored(dimension, variants[variant.compared]) if variant.compared else None
        compared = " ".join(variant.compared) if variant.compared else None
        row = (dimension, variant.name, ", ".join(variant.columns), variant.kind, compared)
        rows.append((*row, *numbers(dimension, scored(dimension, variant), against)))
    for dimension, name in ((d, n) for d in rated.dimensions for n in others or {}):
        given, full = check_scores((others or {})[name], name), scored(dimension, variants[FULL, REFITTED])
        rows.append((dimension, name, None, GIVEN, f"{FULL} {REFITTED}", *numbers(dimension, given, full)))
    return _table(rated, rows, measures, folds)


def ratings_of(rated: RatedSet, dimension: str) -> Vector:
    """(n,) what people said in one dimension."""
    return np.array([segment.ratings[dimension] for segment in rated.segments], dtype=np.float64)


def _label(measure: Measure) -> str:
    statistic, average = measure
    return statistic if average == "none" else f"{statistic} per {average.replace('_', ' ')}"


def _table(rated: RatedSet, rows: Sequence[Row], measures: Sequence[Measure], folds: int) -> Table:
    columns = ("dimension", "set", "components", "scorer", "compared with", "change*", *(f"{_label(one)}*" for one in measures))
    items = len({segment.group for segment in rated.segments})
    note = (
        f"{len(rated.segments)} outputs of {items} items; RoMe, table 5. Alone: the component itself. Refitted: fitted on people's ratings, "
        f"judged on items of other folds ({folds} folds). low, high: 95 % bootstrap intervals over items; change: in {_label(measures[0])}, "
        "paired. Columns: " + ", ".join(COLUMNS) + "."
    )
    return interval_table("ablation", f"Component ablation on {rated.name}", columns, rows, note, joint=" ")


def ablation_heatmap(table: Table) -> Heatmap:
    """The first measure of an `ablation` table: one row a set and scorer, one column a human dimension."""
    columns = tuple(dict.fromkeys(row[0] for row in table.rows))
    found = {(f"{row[1]} ({row[3]})", row[0]): row[FIRST] for row in table.rows}
    labels = tuple(dict.fromkeys(label for label, _ in found))
    values = np.array([[found.get((label, column), np.nan) for column in columns] for label in labels], dtype=np.float64)
    title = f"{table.title}: {table.columns[FIRST]}"
    return Heatmap("ablation-matrix", title, labels, columns, values, note=table.note, digits=3)

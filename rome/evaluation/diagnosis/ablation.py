"""RoMe's component ablation (section 4.5, table 5): the contribution of each component to the agreement with people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rome.checks import check_pairs
from rome.combining.net import MonotoneNet
from rome.data.readers.rated import RatedSet
from rome.evaluation.diagnosis.fitting import cross_validated, watched
from rome.evaluation.findings import Row, interval_table
from rome.evaluation.metrics.functions import PairValues, TextPair
from rome.evaluation.statistics.agreement import check_scores
from rome.evaluation.statistics.resampling import bootstrap_difference, bootstrap_interval
from rome.exceptions import InputError
from rome.features.analyser.config import part_folder
from rome.features.errors.errors import Errors
from rome.features.grammar import Grammar
from rome.features.idf import IdfTable
from rome.features.protocol import Feature, Resources, compare_pairs
from rome.features.semantic import Emd, Semantic
from rome.features.syntax import Syntax
from rome.features.values import FEATURES
from rome.metric import RoMe
from rome.reports.model import Table

Vector = NDArray[np.float64]
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
FULL = tuple(GROWING_SETS)[-1]
LEFT_OUT = {"soft": "semantic", "syntax": "syntax", "grammar": "grammar", "errors": "errors"}
MEASURES = {"spearman": ("spearman", "none"), "kendall_b": ("kendall_b", "none"), "kendall_b per item": ("kendall_b", "item")}
"""Column -> statistic and average; the paper has Spearman's correlation."""
FOLDS = 5
ALONE, REFITTED, SHIPPED, GIVEN = "alone", "refitted", "as shipped", "as given"


@dataclass(frozen=True, eq=False)
class AblationFeatures:
    """Hold one row per candidate (a hypothesis against one of its references), in the order of the segments.

    Attributes
    ----------
    segment
        (m,) int64, 0 to n - 1, rising.
    values
        (m, 6) float64 in [0, 1], columns as COLUMNS.
    """

    segment: NDArray[np.int64]
    values: NDArray[np.float64]

    def matrix(self, columns: Sequence[str]) -> NDArray[np.float64]:
        """Return (n, d) one row per segment with the named columns, of the nearest reference.

        It has the highest value of the first semantic column among ``columns`` (of ``soft`` without any) and is the first of equals. The
        choice uses neither ratings nor a fitted net, so it is the same for rows that train and rows that test.
        """
        key = next((name for name in columns if name in COLUMNS[:3]), "soft")
        order = np.lexsort((-self.values[:, COLUMNS.index(key)], self.segment))  # stable: the first of equals stays first
        best = order[np.r_[True, np.diff(self.segment[order]) > 0]] if len(order) else order
        return self.values[best][:, [COLUMNS.index(name) for name in columns]]


def features_of(
    metric: RoMe, references: Sequence[Sequence[str]], hypotheses: Sequence[str], *, progress: bool | None = None
) -> AblationFeatures:
    """Measure the six columns for every candidate; each text is analysed once, each distinct pair measured once.

    Raises InputError as `RoMe.score` does.

    Parameters
    ----------
    metric
        RoMe with its models and settings, except ``emd``. It must weight words by the embedded IDF table.
    progress
        True, False, or None for a bar if stderr is a terminal.
    """
    if metric.idf != "embedded":
        raise InputError(f"idf must be 'embedded' for the ablation, got {metric.idf!r}")
    checked = check_pairs(references, hypotheses, empty_reference=metric.empty_reference)
    candidates = [(reference, pair.hypothesis) for pair in checked for reference in pair.references]
    measured = PairValues("ablation", partial(_measured, metric, _parts(metric)), width=len(COLUMNS), progress=progress)
    values = measured.of(candidates)
    segment = np.repeat(np.arange(len(checked), dtype=np.int64), [len(pair.references) for pair in checked])
    return AblationFeatures(segment, values)


def _parts(metric: RoMe) -> tuple[Feature[Any], ...]:
    """Return the features of the six columns, with the metric's settings."""
    folder = metric.models.folder
    table = IdfTable.load(part_folder(folder, "idf") / "idf.tsv")
    semantic, syntax, grammar, errors, *_ = metric.configs
    return (
        *(Semantic(table, replace(semantic, emd=emd)) for emd in get_args(Emd)),
        Syntax(syntax),
        Grammar(grammar),
        Errors.make(errors, Resources(table, folder)),
    )


def _measured(metric: RoMe, parts: Sequence[Feature[Any]], pairs: Sequence[TextPair]) -> NDArray[np.float64]:
    """Return (n, 6) the columns of some pairs of reference and hypothesis."""
    components = compare_pairs(parts, metric.analyse_pairs(pairs))
    rows = [[component.value for component in row] for row in components]
    return np.array(rows, dtype=np.float64).reshape(-1, len(COLUMNS))


@dataclass(frozen=True, slots=True)
class _Variant:
    """Describe one row of the table: compared names the row (by name and scorer) from which ``change`` is measured."""

    name: str
    scorer: str
    columns: tuple[str, ...]
    compared: tuple[str, str] | None = None


def _variants() -> Iterator[_Variant]:
    """Yield the semantic variants alone, the growing sets refitted, and the full set without each of its components."""
    names = tuple(GROWING_SETS)
    for scorer, shown in ((ALONE, names[:3]), (REFITTED, names), (SHIPPED, names)):
        for previous, name in zip((None, *shown), shown, strict=False):
            yield _Variant(name, scorer, GROWING_SETS[name], (previous, scorer) if previous else None)
    for scorer in (REFITTED, SHIPPED):
        for column, component in LEFT_OUT.items():
            rest = tuple(name for name in GROWING_SETS[FULL] if name != column)
            yield _Variant(f"all without {component}", scorer, rest, (FULL, scorer))


def _shipped(net: MonotoneNet, columns: Sequence[str], values: Vector) -> Vector:
    """Return (n,) scores of a net of the four features from some columns; the other features are perfect."""
    rows = np.ones((len(values), len(FEATURES)))
    rows[:, [max(0, COLUMNS.index(name) - 2) for name in columns]] = values
    return net.score_rows(rows)


def ablation(
    rated: RatedSet,
    features: AblationFeatures,
    net: MonotoneNet,
    *,
    others: Mapping[str, ArrayLike] | None = None,
    seed: int = 0,
    samples: int = 1000,
    progress: bool | None = None,
) -> Table:
    """Tabulate the agreement of each growing set of components with each human dimension, with intervals over items.

    Rows: the three semantic variants alone, as in the paper; every growing set, and the full set without each component, with the net fitted
    anew on the ratings and judged by cross-validation over items, and again with ``net`` as it is, features outside the set perfect; then
    ``others``, name -> (n,) scores as given. The change is that of the first measure against the row named in ``compared with``, with the
    interval of a paired bootstrap.

    Raises InputError for fewer items than folds.

    Parameters
    ----------
    net
        The metric's own.
    samples
        Bootstrap resamples.
    progress
        As in `watched`.
    """
    groups = [segment.group for segment in rated.segments]
    drawn: dict[str, Any] = {"samples": samples, "seed": seed, "items": [segment.item for segment in rated.segments]}
    drawn["language_pairs"] = [segment.language_pair for segment in rated.segments]
    known: dict[tuple[str, tuple[str, str]], Vector] = {}
    rows: list[Row] = []

    def add(dimension: str, variant: _Variant, scores: Vector, shown: str | None) -> None:
        """Add the row of a variant: the change of the first measure, then each measure, with intervals."""
        people = ratings_of(rated, dimension)
        known[dimension, (variant.name, variant.scorer)] = scores
        first, *_ = chosen = [{"statistic": statistic, "average": average, **drawn} for statistic, average in MEASURES.values()]
        change: Any = [None] * 3
        if variant.compared:
            change = [bootstrap_difference(people, scores, known[dimension, variant.compared], **first).estimate]
        intervals = [bootstrap_interval(people, scores, **one) for one in chosen]
        compared = " ".join(variant.compared) if variant.compared else None
        rows.append((dimension, variant.name, shown, variant.scorer, compared, *change, *intervals))

    for dimension, variant in watched([(d, v) for d in rated.dimensions for v in _variants()], "ablation", progress):
        values = features.matrix(variant.columns)
        scores = values[:, 0] if variant.scorer == ALONE else _shipped(net, variant.columns, values)
        if variant.scorer == REFITTED:
            scores = cross_validated(values, ratings_of(rated, dimension), groups, folds=FOLDS, seed=seed)
        add(dimension, variant, scores, ", ".join(variant.columns))
    for dimension in rated.dimensions:
        for name, given in (others or {}).items():
            add(dimension, _Variant(name, GIVEN, (), (FULL, REFITTED)), check_scores(given, name), None)
    return _table(rated, rows)


def ratings_of(rated: RatedSet, dimension: str) -> Vector:
    """Return (n,) the ratings of one dimension."""
    return np.array([segment.ratings[dimension] for segment in rated.segments], dtype=np.float64)


def _table(rated: RatedSet, rows: Sequence[Row]) -> Table:
    columns = ("dimension", "set", "components", "scorer", "compared with", "change*", *(f"{name}*" for name in MEASURES))
    items = len({segment.group for segment in rated.segments})
    note = (
        f"{len(rated.segments)} outputs of {items} items; RoMe, table 5. Alone: the component itself. Refitted: fitted on people's ratings, "
        f"judged on items of other folds ({FOLDS} folds). As shipped: the metric's own net, features outside the set perfect. "
        f"low, high: 95 % bootstrap intervals over items; change: in {next(iter(MEASURES))}, "
        "paired. Columns: " + ", ".join(COLUMNS) + "."
    )
    return interval_table("ablation", f"Component ablation on {rated.name}", columns, rows, note, joint=" ")

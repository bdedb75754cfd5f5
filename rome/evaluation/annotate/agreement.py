"""Agreement of annotators: Cohen's and Krippendorff's coefficients for each dimension, and the overlap of error spans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean

from scipy.stats import rankdata

from rome.evaluation.annotate.ratings import Ratings, dimensions_of
from rome.evaluation.statistics.spans import segment_spans
from rome.features.packages import needed
from rome.reports.model import Table

Matrix = Mapping[str, Mapping[int, float]]
"""Annotator -> item -> rating; items without a rating are left out."""
_MOST_CATEGORIES = 10
_NOTE = (
    "shared: items that two or more rated. Cohen: mean over pairs of annotators, on the items that both rated. Krippendorff's alpha: on all "
    "shared items. 1: full agreement, 0: chance. A dash: not defined, because all ratings are equal or nobody shares an item, or (Cohen) not "
    f"meant for ratings more than {_MOST_CATEGORIES - 1} apart."
)


def cohen_kappa(ratings: Matrix) -> float | None:
    """Return Cohen's kappa (1960), the mean over pairs of annotators that share items.

    None if no pair shares an item, or every shared rating is the same. A missing rating leaves the item out for that pair.
    """
    values = []
    for one, other in combinations(ratings, 2):
        common = ratings[one].keys() & ratings[other].keys()
        rows = [(name, item, ratings[name][item]) for name in (one, other) for item in sorted(common)]
        values.append(_coefficient(rows, "kappa_pairwise", one, other))
    defined = [value for value in values if value is not None]
    return fmean(defined) if defined else None


def krippendorff_alpha(ratings: Matrix, level: str) -> float | None:
    """Return Krippendorff's alpha on all items with two ratings or more; ratings may be missing.

    None if no item has two ratings, or all of these are the same. Source: Krippendorff, Computing Krippendorff's alpha-reliability (2011).

    Parameters
    ----------
    level
        "ordinal" or "interval".
    """
    counts = Counter(item for rated in ratings.values() for item in rated)
    rows = [(name, item, value) for name, rated in ratings.items() for item, value in rated.items() if counts[item] > 1]
    if level == "ordinal":  # Krippendorff's ordinal difference is the interval difference of mean ranks
        ranks = rankdata([value for *_, value in rows]).tolist()
        rows = [(name, item, rank) for (name, item, _), rank in zip(rows, ranks, strict=True)]
    return _coefficient(rows, "alpha", interval=True)


def agreement_table(ratings: Ratings) -> Table:
    """Tabulate the coefficients of every dimension. Raises ModelMissingError without NLTK."""
    columns = ("dimension", "annotators", "items", "shared", "Cohen", "alpha ordinal", "alpha interval")
    rows = tuple(_row(ratings, name) for name in dimensions_of(ratings))
    return Table("agreement", "Agreement between annotators", columns, rows, _NOTE)


def span_table(ratings: Ratings) -> Table:
    """Tabulate the overlap of the marked characters for each pair of annotators."""
    names = sorted({name for group in ratings.values() for name in group})
    rows = []
    for one, other in combinations(names, 2):
        shared = [(group[one], group[other]) for group in ratings.values() if one in group and other in group]
        scores = [segment_spans(left.marks, right.marks, len(left.item.hypothesis)) for left, right in shared]
        overlaps = [score.f1 for score in scores if score.predicted or score.gold]
        rows.append((f"{one}, {other}", len(shared), len(overlaps), fmean(overlaps) if overlaps else None))
    note = (
        "F1 of the marked characters, 1/2 for another severity (WMT's task on error spans), mean over the items that either marked; items "
        "that neither marked agree and are not counted."
    )
    return Table("span_agreement", "Agreement on error spans", ("annotators", "items", "marked", "F1"), tuple(rows), note)


def _row(ratings: Ratings, dimension: str) -> tuple[str | int | float | None, ...]:
    """Return the coefficients of one dimension."""
    matrix: dict[str, dict[int, float]] = {}
    for number, group in enumerate(ratings.values()):
        for annotator, record in group.items():
            if dimension in record.ratings:
                matrix.setdefault(annotator, {})[number] = record.ratings[dimension]
    values = [value for rated in matrix.values() for value in rated.values()]
    nominal = max(values) - min(values) < _MOST_CATEGORIES
    counts = Counter(number for rated in matrix.values() for number in rated)
    return (
        dimension,
        len(matrix),
        len(counts),
        sum(count > 1 for count in counts.values()),
        cohen_kappa(matrix) if nominal else None,
        krippendorff_alpha(matrix, "ordinal"),
        krippendorff_alpha(matrix, "interval"),
    )


def _coefficient(rows: Sequence[tuple[str, int, float]], name: str, *annotators: str, interval: bool = False) -> float | None:
    """Return a coefficient of NLTK's annotation task; None for fewer than two different ratings.

    Without ``interval``, ratings are equal or different.
    """
    with needed("agreement", '"rome-metric[evaluate]"'):
        from nltk.metrics import AnnotationTask, binary_distance, interval_distance
    if len({label for _, _, label in rows}) < 2:
        return None
    task = AnnotationTask(rows, distance=interval_distance if interval else binary_distance)
    return float(getattr(task, name)(*annotators))

"""How alike metrics and components are (RoMe figure 5): the correlation of every two over the same outputs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from rome.evaluation.agreement.checks import check_choice, check_scores
from rome.evaluation.agreement.correlation import STATISTICS
from rome.exceptions import InputError
from rome.reports.model import Heatmap

__all__ = ["component_correlations"]


def component_correlations(scores: Mapping[str, ArrayLike], *, statistic: str = "spearman") -> Heatmap:
    """The matrix of ``statistic`` between every two of the given scores; symmetric, 1 on the diagonal.

    scores : name of a metric, a component or a human dimension -> (n,) numbers for the same outputs. A cell is nan where one side is
    constant, on the diagonal too. Raises InputError for fewer than two names, other lengths, or numbers that are not finite.
    """
    check_choice(statistic, "statistic", ("spearman", "pearson", "kendall_b"))
    columns = {name: check_scores(given, name) for name, given in scores.items()}
    sizes = {name: len(values) for name, values in columns.items()}
    if len(columns) < 2 or len(set(sizes.values())) != 1:
        listed = ", ".join(f"{name} ({size})" for name, size in sizes.items()) or "none"
        raise InputError(f"the scores given are {listed}: give two or more, each for the same outputs")
    names, measure = tuple(columns), STATISTICS[statistic]
    values = np.full((len(names), len(names)), np.nan)
    for row, name in enumerate(names):
        for column in range(row + 1):
            values[row, column] = values[column, row] = measure(columns[name], columns[names[column]])
    outputs = next(iter(sizes.values()))
    note = f"{statistic} between every two, over the same {outputs} outputs (RoMe, figure 5)."
    return Heatmap("correlations", "How alike the scores are", names, names, values, note=note)

"""Is the difference between two metrics real? The first metric of a run against each other one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import pearsonr

from rome.evaluation.agreement.uncertainty import bootstrap_difference, permutation_test, williams_test
from rome.evaluation.judging.plan import Judged
from rome.reports.model import Table

__all__ = ["differences"]


def differences(judged: Judged) -> Table:
    """The first metric against each other one, by the main figure: bootstrap, permutation, Williams."""
    first, *others = judged.scores
    main, plan = judged.figures[0], judged.plan
    rows = []
    for other in others:
        common = (judged.people, judged.scores[first], judged.scores[other])
        chosen: dict[str, Any] = {"statistic": main.statistic, "average": main.average, "seed": plan.seed, **judged.keys}
        gap = bootstrap_difference(*common, samples=plan.samples, level=plan.level, **chosen)
        test = permutation_test(*common, samples=plan.permutations, **chosen) if plan.permutations else None
        rows.append(
            (
                *(other, gap.difference, gap.interval.low, gap.interval.high, gap.wins),
                test.p_two_sided if test else None,
                _williams(judged, first, other),
            )
        )
    return Table(
        f"{judged.label}_differences",
        f"{judged.rated.name}, {judged.dimension}: {first} minus each other metric ({main.label})",
        ("metric", "difference", "difference_low", "difference_high", "wins", "permutation_p", "williams_p"),
        tuple(rows),
        f"wins: share of bootstrap resamples in which {first} is ahead. permutation_p: two-sided, {plan.permutations} swaps of the two "
        "metrics' standardised scores. williams_p: two-sided Williams' test of the pooled Pearson correlations.",
        digits={"difference": 3, "wins": 3, "permutation_p": 4, "williams_p": 4},
        intervals=(("difference", "difference_low", "difference_high"),),
    )


def _williams(judged: Judged, first: str, other: str) -> float | None:
    """The two-sided p-value for pooled Pearson; None where a correlation is undefined."""
    sides = [judged.people, judged.scores[first], judged.scores[other]]
    if any(len(side) < 4 or side.std() == 0 for side in sides):
        return None
    pairs = ((0, 1), (0, 2), (1, 2))
    r12, r13, r23 = (float(np.clip(pearsonr(sides[a], sides[b]).statistic, -1, 1)) for a, b in pairs)
    return williams_test(r12, r13, r23, len(sides[0])).p_two_sided

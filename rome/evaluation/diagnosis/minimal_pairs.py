"""Minimal pairs under a metric: does the better text score higher, and by how much of the way to an empty text (DEMETR, §3.2 and §4)?

And minimal pairs from the user's own texts: what the perturbations made of them, and what they could not be made of.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_ind

from rome.checks import check_pairs
from rome.data.perturbations.perturbation import Replacement
from rome.data.perturbations.registry import PERTURBATIONS
from rome.evaluation.metrics.functions import Metric, Scores
from rome.evaluation.perturbing import Analyse, materials_for, perturb_texts
from rome.evaluation.statistics.resampling import draw
from rome.exceptions import InputError
from rome.reports.model import Heatmap, Table

EMPTY = "."
"""What stands for the empty text, because some metrics refuse one (as in the paper)."""
SEES_EMPTY = 0.95
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Contrast:
    """One metric's scores of n minimal pairs.

    Attributes
    ----------
    better, worse
        (n,) scores of the unperturbed and the perturbed text.
    empty
        (n,) of the empty text, same references.
    """

    name: str
    signature: str
    better: Scores
    worse: Scores
    empty: Scores

    @property
    def wins(self) -> Flags:
        """(n,) where the unperturbed text scores strictly higher; a tie is no win."""
        return np.asarray(self.better > self.worse)

    @property
    def sensitivity(self) -> Scores:
        """(n,) z, the drop as a share of the drop to the empty text (equation 1); nan where the empty text scores no lower.

        All nan for a metric that scores the empty text lower in fewer than SEES_EMPTY of the pairs: the ratio says nothing then, and the
        paper takes no such metric (footnote 20).
        """
        if float((self.better > self.empty).mean()) < SEES_EMPTY:
            return np.full(len(self.better), np.nan)
        whole = self.better - self.empty
        return np.divide(self.better - self.worse, whole, out=np.full(len(whole), np.nan), where=whole > 0)

    def welch(self, rows: Flags) -> tuple[float, float, float]:
        """Welch's two-sample t-test of the unperturbed against the perturbed scores of some pairs: t, the two-sided p, degrees of freedom.

        nan where it is undefined (fewer than two pairs, or no variance on either side).
        """
        better, worse = self.better[rows], self.worse[rows]
        if len(better) < 2 or (better.std() == 0 and worse.std() == 0):
            return (float("nan"),) * 3
        with warnings.catch_warnings():  # nearly equal scores: the result says as much as the warning
            warnings.simplefilter("ignore", RuntimeWarning)
            found = ttest_ind(better, worse, equal_var=False)
        return float(found.statistic), float(found.pvalue), float(found.df)


def contrast(metric: Metric, references: Sequence[Sequence[str]], better: Sequence[str], worse: Sequence[str]) -> Contrast:
    """Score both texts of every pair, and the empty one, against the pair's references."""
    scores = [metric.score(references, texts) for texts in (better, worse, [EMPTY] * len(better))]
    return Contrast(metric.name, metric.signature, *scores)


def mean_of(rows: Sequence[NDArray[np.float64]], length: int) -> NDArray[np.float64]:
    """(length,) the unweighted mean over the given (length,) rows, nan left out; nan where there is none."""
    table = np.array(rows, dtype=np.float64).reshape(-1, length)
    known = ~np.isnan(table)
    counts = known.sum(axis=0)
    return np.divide(np.where(known, table, 0.0).sum(axis=0), counts, out=np.full(length, np.nan), where=counts > 0)


class PairScores:
    """What metrics make of minimal pairs: accuracy and sensitivity z of each kind of pair, on the data and in resamples of the clusters.

    Attributes
    ----------
    correct
        Metric -> (n,) 1 (or 100) where it is right.
    accuracy, z
        Metric -> kind -> (1 + samples,) mean over the pairs of that kind.
    """

    def __init__(
        self,
        contrasts: Sequence[Contrast],
        keys: Sequence[str],
        clusters: Sequence[str],
        samples: int,
        seed: int,
        correct: Mapping[str, NDArray[np.float64]] | None = None,
    ) -> None:
        self.contrasts, self.keys, self.counts = contrasts, keys, Counter(keys)
        self.names = [contrast.name for contrast in contrasts]
        self.draws = draw(len(keys), clusters, None, samples, seed)
        self.correct = correct or {one.name: one.wins.astype(np.float64) for one in contrasts}
        self.accuracy = {name: self.draws.means(correct, keys) for name, correct in self.correct.items()}
        self.z = {one.name: self.draws.means(one.sensitivity, keys) for one in contrasts}

    def over(self, of_kind: Mapping[str, NDArray[np.float64]], kinds: Iterable[str]) -> NDArray[np.float64]:
        """(1 + samples,) the unweighted mean over kinds."""
        return mean_of([of_kind[kind] for kind in kinds], len(self.draws.weights))

    def by_severity(self, name: str, kinds: Iterable[Iterable[str]]) -> tuple[list[NDArray[np.float64]], float | None]:
        """The mean z of each severity's kinds, and the share of resamples in which they fall from one severity to the next."""
        z = [self.over(self.z[name], of_one) for of_one in kinds]
        steps = [higher[1:] > lower[1:] for higher, lower in zip(z, z[1:], strict=False)]
        return z, float(np.logical_and.reduce(steps).mean()) if len(z[0]) > 1 else None

    def heatmap(self, rows: Mapping[str, tuple[str, str]], name: str, title: str, note: str) -> Heatmap:
        """Return sensitivity z, one row per kind, given with its label and its group, and one column per metric."""
        values = np.array([[self.z[metric][kind][0] for metric in self.names] for kind in rows])
        labels, groups = tuple(label for label, _ in rows.values()), tuple(group for _, group in rows.values())
        return Heatmap(name, title, labels, tuple(self.names), values.reshape(len(rows), len(self.names)), groups, note)


MOST_REASONS = 3


@dataclass(frozen=True, slots=True)
class Probe:
    """One minimal pair.

    Attributes
    ----------
    better
        The text before the perturbation.
    worse
        After it.
    number
        Which of the texts, from 0.
    """

    number: int
    references: tuple[str, ...]
    better: str
    worse: str
    perturbation: str
    category: str
    severity: str
    edits: tuple[Replacement, ...]


def names_of(robustness: bool) -> list[str]:
    """RoMe's robustness cases, or the minimal pairs of DEMETR with its baselines."""
    return [p.name for p in PERTURBATIONS.values() if (p.category == "robustness") == robustness]


def make_probes(
    references: Sequence[Sequence[str]],
    hypotheses: Sequence[str],
    analyse: Analyse,
    names: Sequence[str],
    *,
    seed: int = 0,
    limit: int | None = None,
) -> tuple[list[Probe], Table]:
    """Perturb every hypothesis in every named way; and a table of how often each applies and why not otherwise.

    Raises InputError for texts that do not pair, an unknown perturbation, and when no perturbation applies to any text.

    Parameters
    ----------
    limit
        At most so many pairs a perturbation.
    """
    pairs = check_pairs(references, hypotheses)
    texts = [pair.hypothesis for pair in pairs]
    probes: list[Probe] = []
    made: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = {name: Counter() for name in names}
    for found in perturb_texts(texts, names, analyse=analyse, seed=seed, materials=materials_for(texts)):
        if found.perturbed is None:
            reasons[found.perturbation][found.reason or ""] += 1
        else:
            made[found.perturbation] += 1
            if limit is None or made[found.perturbation] <= limit:
                pair = pairs[found.number]
                shape = (found.perturbation, found.category, found.severity, found.edits)
                probes.append(Probe(found.number, pair.references, pair.hypothesis, found.perturbed, *shape))
    if not probes:
        raise InputError("no perturbation applies to any of these texts: give whole sentences of English")
    return probes, applicability(made, reasons, len(texts))


def applicability(made: Counter[str], reasons: dict[str, Counter[str]], texts: int) -> Table:
    """How many of the texts each perturbation was made of, and the usual reasons where it was not."""
    rows = []
    for name, why in reasons.items():
        usual = "; ".join(f"{reason} ({count})" for reason, count in why.most_common(MOST_REASONS))
        rows.append(
            (name, PERTURBATIONS[name].category, PERTURBATIONS[name].severity, made[name], made[name] / texts, usual or None)
        )
    return Table(
        "applicability",
        f"Perturbations of {texts} texts",
        ("perturbation", "category", "severity", "made", "share", "otherwise"),
        tuple(rows),
        "otherwise: why a text gave none, with how many texts.",
        {"share": 2},
    )

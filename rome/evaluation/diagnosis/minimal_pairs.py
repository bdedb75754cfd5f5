"""Minimal pairs under metrics: does the better text score higher, and by how much of the way to an empty text (DEMETR, §3.2 and §4)?

Pairs are made of the user's texts by perturbations. They show the blind spots of a metric, and how it weighs the five changes of RoMe's
robustness analysis (§4.7) against each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rome.checks import check_pairs
from rome.data.perturbations.perturbation import Replacement
from rome.data.perturbations.registry import PERTURBATIONS
from rome.evaluation.findings import Row, few_note, interval_table
from rome.evaluation.metrics.functions import Metric, Scores, checked_scores
from rome.evaluation.perturbing import Analyse, materials_for, perturb_texts
from rome.evaluation.statistics.agreement import quotient
from rome.evaluation.statistics.resampling import draw, estimate
from rome.exceptions import InputError
from rome.reports.model import Cell, Figure, Table

EMPTY = "."
"""Used for the empty text, because some metrics refuse one (as in the paper)."""
SEES_EMPTY = 0.95
"""Smallest share of pairs in which a metric must score the empty text lower."""
NOTICED = 0.95
"""A perturbation that a metric notices in fewer of the texts is a blind spot."""
SEVERITIES = ("critical", "major", "minor")
EXAMPLES, WORST = 2, 5
MOST_REASONS = 3
Flags = NDArray[np.bool_]
Part = Table | Figure
Groups = Mapping[str, Sequence[str]]
"""The perturbations of each severity."""


# scores of pairs


@dataclass(frozen=True, eq=False)
class Contrast:
    """Hold the scores of n minimal pairs under one metric.

    Attributes
    ----------
    better, worse
        (n,) scores of the unperturbed and the perturbed text.
    empty
        (n,) of the empty text, same references.
    """

    name: str
    better: Scores
    worse: Scores
    empty: Scores

    @property
    def wins(self) -> Flags:
        """Return (n,) where the unperturbed text scores strictly higher; a tie is not a win."""
        return np.asarray(self.better > self.worse)

    @property
    def sensitivity(self) -> Scores:
        """Return (n,) z, the drop as a share of the drop to the empty text (equation 1); nan where the empty text scores no lower.

        All nan for a metric that scores the empty text lower in fewer than SEES_EMPTY of the pairs: then the ratio is meaningless, and the
        paper leaves such metrics out (footnote 20).
        """
        if float((self.better > self.empty).mean()) < SEES_EMPTY:
            return np.full(len(self.better), np.nan)
        whole = self.better - self.empty
        return quotient(self.better - self.worse, whole)


def contrast(metric: Metric, references: Sequence[Sequence[str]], better: Sequence[str], worse: Sequence[str]) -> Contrast:
    """Score both texts of every pair, and the empty one, against the pair's references."""
    return Contrast(metric.name, *(scores_of(metric, references, texts) for texts in (better, worse, [EMPTY] * len(better))))


def scores_of(metric: Metric, references: Sequence[Sequence[str]], hypotheses: Sequence[str]) -> Scores:
    """Return (n,) the checked scores of texts. Raises InputError for a metric that scores only rated sets."""
    if not hasattr(metric, "score"):
        raise InputError(f"{metric.name} has scores of its own rated set only: leave it out here")
    return checked_scores(metric.score(references, hypotheses), len(hypotheses), metric.name)


class PairScores:
    """Compute accuracy and sensitivity z of metrics for each kind of pair, on the data and in resamples of the clusters.

    Attributes
    ----------
    correct
        Metric -> (n,) 1 (or 100) where it is right, otherwise 0.
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
        """Return (1 + samples,) the unweighted mean over kinds, nan left out."""
        table = np.array([of_kind[kind] for kind in kinds], dtype=np.float64).reshape(-1, len(self.draws.weights))
        return quotient(np.nansum(table, axis=0), (~np.isnan(table)).sum(axis=0).astype(np.float64))

    def by_severity(self, name: str, kinds: Iterable[Iterable[str]]) -> tuple[list[NDArray[np.float64]], float | None]:
        """Return the mean z of each severity's kinds, and the share of resamples in which they fall from one severity to the next."""
        z = [self.over(self.z[name], of_one) for of_one in kinds]
        steps = [higher[1:] > lower[1:] for higher, lower in zip(z, z[1:], strict=False)]
        return z, float(np.logical_and.reduce(steps).mean()) if len(z[0]) > 1 else None


# pairs of the user's texts


@dataclass(frozen=True, slots=True)
class Probe:
    """Hold one minimal pair: a text of the user before and after a perturbation.

    Attributes
    ----------
    number
        Number of the text, from 0.
    """

    number: int
    references: tuple[str, ...]
    better: str
    worse: str
    perturbation: str
    edits: tuple[Replacement, ...]


def make_probes(
    references: Sequence[Sequence[str]],
    hypotheses: Sequence[str],
    analyse: Analyse,
    names: Sequence[str],
    *,
    seed: int = 0,
    limit: int | None = None,
) -> tuple[list[Probe], Table]:
    """Perturb every hypothesis in every named way, and tabulate how often each perturbation applies.

    Raises InputError for texts that do not pair, for an unknown perturbation, and if no perturbation applies to any text.

    Parameters
    ----------
    limit
        Most pairs per perturbation.
    """
    pairs = check_pairs(references, hypotheses)
    texts = [pair.hypothesis for pair in pairs]
    probes: list[Probe] = []
    made: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = {name: Counter() for name in names}
    for one in perturb_texts(texts, names, analyse=analyse, seed=seed, materials=materials_for(texts)):
        if one.perturbed is None:
            reasons[one.perturbation][one.reason or ""] += 1
        else:
            made[one.perturbation] += 1
            if limit is None or made[one.perturbation] <= limit:
                pair = pairs[one.number]
                sides = (pair.hypothesis, one.perturbed)
                probes.append(Probe(one.number, pair.references, *sides, one.perturbation, one.edits))
    if not probes:
        raise InputError("no perturbation applies to any of these texts: give whole sentences of English")
    return probes, applicability(made, reasons, len(texts))


def applicability(made: Counter[str], reasons: dict[str, Counter[str]], texts: int) -> Table:
    """Tabulate in how many of the texts each perturbation was made, and the usual reasons if it was not."""
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
        "otherwise: the reasons why it did not apply, with the number of texts.",
        {"share": 2},
    )


# blind spots


def _of_probes(probes: Sequence[Probe], contrasts: Sequence[Contrast], samples: int, seed: int) -> PairScores:
    """Return accuracy and sensitivity by perturbation; everything made of one text is resampled together."""
    clusters = [str(probe.number) for probe in probes]
    return PairScores(contrasts, [probe.perturbation for probe in probes], clusters, samples, seed)


def blind_spot_parts(
    probes: Sequence[Probe], contrasts: Sequence[Contrast], *, samples: int = 1000, seed: int = 0
) -> list[Part]:
    """Tabulate for every metric a summary, its blind spots with examples, and sensitivity and accuracy by perturbation.

    Parameters
    ----------
    contrasts
        The scores of the probes under each metric.
    samples
        Bootstrap resamples of the texts.
    """
    data = _of_probes(probes, contrasts, samples, seed)
    present = [name for name in PERTURBATIONS if name in data.counts]
    groups = {severity: [name for name in present if PERTURBATIONS[name].severity == severity] for severity in SEVERITIES}
    spots = {name: _spots(data, name, groups) for name in data.names}
    return [
        _summary(data, groups, spots, len({probe.number for probe in probes})),
        _table_of_spots(data, spots),
        _examples(data, spots, probes),
        _by_perturbation(data, present),
    ]


def _spots(data: PairScores, metric: str, groups: Groups) -> dict[str, str]:
    """Return the blind spots of a metric with the reasons, the most severe and least noticed first."""
    noticed, z = ({name: float(drawn[0]) for name, drawn in of[metric].items()} for of in (data.accuracy, data.z))
    slight = [z[name] for name in groups["minor"] if z[name] == z[name]]
    spots = {}
    for severity in SEVERITIES:
        for name in sorted(groups[severity], key=lambda name: (noticed[name], z[name])):
            why = [f"not noticed in {1 - noticed[name]:.0%}"] if noticed[name] < NOTICED else []
            if severity != "minor" and slight and z[name] < float(np.median(slight)):
                why.append("costs less than the median minor mistake")
            if why:
                spots[name] = ", ".join(why)
    return spots


def _summary(data: PairScores, groups: Groups, spots: Mapping[str, Mapping[str, str]], texts: int) -> Table:
    rows: list[Row] = []
    mistakes = [name for severity in SEVERITIES for name in groups[severity]]
    for name in data.names:
        z, ordered = data.by_severity(name, [groups[severity] for severity in SEVERITIES])
        noticed = estimate(data.over(data.accuracy[name], mistakes))
        rows.append((name, noticed, *(float(mean[0]) for mean in z), ordered, len(spots[name])))
    return interval_table(
        "blind_spots_summary",
        f"{len(data.keys)} minimal pairs of {texts} texts",
        ("metric", "noticed*", *(f"z_{severity}" for severity in SEVERITIES), "ordered", "blind_spots"),
        rows,
        "noticed: mean over perturbations of the share of texts that score strictly lower after it. z: mean drop as a share of the drop to an "
        "empty text. ordered: share of bootstrap resamples with z critical > major > minor. blind_spots: perturbations of the next table."
        + few_note(texts, "texts"),
        highest=("noticed", "ordered"),
        lowest=("blind_spots",),
    )


def _table_of_spots(data: PairScores, spots: Mapping[str, Mapping[str, str]]) -> Table:
    rows: list[Row] = []
    for metric, reasons in spots.items():
        for name, why in reasons.items():
            noticed, z = estimate(data.accuracy[metric][name]), float(data.z[metric][name][0])
            rows.append((metric, name, PERTURBATIONS[name].severity, data.counts[name], noticed, z, why))
    return interval_table(
        "blind_spots",
        "Where the metrics are blind",
        ("metric", "perturbation", "severity", "texts", "noticed*", "z", "why"),
        rows,
        f"Perturbations noticed in fewer than {NOTICED:.0%} of the texts, and critical or major ones that cost less than the metric's median "
        "minor mistake. Baselines and perturbations that keep the meaning are left out.",
    )


def _examples(data: PairScores, spots: Mapping[str, Mapping[str, str]], probes: Sequence[Probe]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for contrast in data.contrasts:
        drop = contrast.better - contrast.worse
        for name in list(spots[contrast.name])[:WORST]:
            here = [n for n, key in enumerate(data.keys) if key == name]
            for n in sorted(here, key=lambda n: (drop[n], n))[:EXAMPLES]:
                probe, scores = probes[n], (float(contrast.better[n]), float(contrast.worse[n]))
                edits = (f"{edit.original or '(nothing)'} > {edit.perturbed or '(nothing)'}" for edit in probe.edits)
                rows.append((contrast.name, name, probe.better, probe.worse, " / ".join(edits), *scores))
    return Table(
        "blind_spot_examples",
        "Examples: the perturbed texts that score highest",
        ("metric", "perturbation", "text", "perturbed", "changed", "score", "score_perturbed"),
        tuple(rows),
        f"Up to {EXAMPLES} texts of each metric's {WORST} worst blind spots, those whose score falls least.",
        4,
    )


def _by_perturbation(data: PairScores, present: Sequence[str]) -> Table:
    rows: list[Row] = []
    for name in present:
        row = PERTURBATIONS[name]
        for metric in data.names:
            both = (estimate(values[metric][name]) for values in (data.accuracy, data.z))
            rows.append((name, row.category, row.severity, metric, data.counts[name], *both))
    columns = ("perturbation", "category", "severity", "metric", "texts", "noticed*", "z*")
    return interval_table("blind_spots_all", "Every perturbation and metric", columns, rows)


# robustness


CASES = {
    "entities_replaced_partially": "1 one entity replaced",
    "entities_replaced_fully": "1 all entities replaced",
    "adjectives_by_synonyms": "2 adjectives by synonyms",
    "adjectives_by_antonyms": "2 adjectives by antonyms",
    "words_by_token": "3 words by a generic token",
    "words_by_similar": "4 two words by similar words",
    "passive_form": "5 passive form",
}
EXPECTED = (
    ("adjectives_by_antonyms", "adjectives_by_synonyms"),
    ("entities_replaced_fully", "entities_replaced_partially"),
    ("entities_replaced_partially", "passive_form"),
    ("words_by_token", "words_by_similar"),
    ("words_by_token", "passive_form"),
)
"""Pairs of changes of one text of which the first should cost more."""


def robustness_parts(
    probes: Sequence[Probe], contrasts: Sequence[Contrast], *, samples: int = 1000, seed: int = 0
) -> list[Part]:
    """Tabulate for every metric how much each of the five cases costs, and whether the costs are ordered as expected.

    Human ratings of such texts (table 7 of the paper) can be made by `rome perturb` and `rome annotate`, and judged by `rome evaluate`.
    """
    data = _of_probes(probes, contrasts, samples, seed)
    present = [case for case in CASES if case in data.counts]
    costs = [(CASES[case], data.counts[case], name, estimate(data.z[name][case])) for case in present for name in data.names]
    table = interval_table(
        "robustness",
        "What each case costs (RoMe, §4.7)",
        ("case", "texts", "metric", "z*"),
        costs,
        "z: mean drop as a share of the drop to an empty text, with a 95 % bootstrap interval over texts."
        + few_note(data.draws.weights.shape[1], "texts"),
    )
    return [_order(data, probes), table]


def _order(data: PairScores, probes: Sequence[Probe]) -> Table:
    """Tabulate for every expectation the share of texts in which the metric meets it; chance is one half."""
    place = {(probe.number, probe.perturbation): n for n, probe in enumerate(probes)}
    numbers = {probe.number for probe in probes}
    rows: list[Row] = []
    for worse, better in EXPECTED:
        both = sorted((place[n, worse], place[n, better]) for n in numbers if {(n, worse), (n, better)} <= place.keys())
        if not both:
            continue
        left, right = np.array(both).T
        for contrast in data.contrasts:
            met, scores = np.full(len(probes), np.nan), contrast.worse
            met[left] = np.where(scores[left] == scores[right], 0.5, scores[left] < scores[right])
            share = data.draws.means(met, ["all"] * len(probes))["all"]
            rows.append((f"{CASES[worse][2:]} > {CASES[better][2:]}", len(both), contrast.name, estimate(share)))
    return interval_table(
        "robustness_order",
        "Does the worse change cost more?",
        ("expected", "texts", "metric", "met*"),
        rows,
        "Share of the texts to which both changes apply in which the first scores lower than the second; a tie counts one half, as chance does.",
    )

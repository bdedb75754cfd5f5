"""What is a metric blind to, on the user's own texts? Perturbations it does not notice, severe ones it takes for slight, and RoMe's
robustness analysis (§4.7): five ways to change a text, weighed against each other as a person would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rome.data.perturbations.registry import PERTURBATIONS
from rome.evaluation.diagnosis.minimal_pairs import Contrast, PairScores, Probe
from rome.evaluation.findings import Row, few_note, interval_table
from rome.evaluation.statistics.resampling import estimate
from rome.reports.model import Cell, Figure, Table

NOTICED = 0.95
"""A perturbation that a metric notices in fewer of the texts is a blind spot."""
SEVERITIES = ("critical", "major", "minor")
EXAMPLES, WORST = 2, 5
Part = Table | Figure
Groups = Mapping[str, Sequence[str]]
"""The perturbations of each severity."""


def _scored(probes: Sequence[Probe], contrasts: Sequence[Contrast], samples: int, seed: int) -> PairScores:
    """Accuracy and sensitivity by perturbation; everything made of one text is resampled together."""
    clusters = [str(probe.number) for probe in probes]
    return PairScores(contrasts, [probe.perturbation for probe in probes], clusters, samples, seed)


def blind_spot_parts(
    probes: Sequence[Probe], contrasts: Sequence[Contrast], *, samples: int = 1000, seed: int = 0
) -> list[Part]:
    """A summary of every metric, its blind spots with examples, and sensitivity and accuracy by perturbation.

    Parameters
    ----------
    probes
        N minimal pairs.
    contrasts
        Each metric's scores of them.
    samples
        Bootstrap resamples of the texts.
    """
    data = _scored(probes, contrasts, samples, seed)
    present = [name for name in PERTURBATIONS if name in data.counts]
    groups = {
        severity: [name for name in present if PERTURBATIONS[name].severity == severity]
        for severity in (*SEVERITIES, "base", "none")
    }
    spots = {name: _spots(data, name, groups) for name in data.names}
    rows = {
        name: (name, "meaning kept" if severity == "none" else severity) for severity in groups for name in groups[severity]
    }
    title, note = "Sensitivity z by perturbation", "Share of the drop to an empty text; darker: more sensitive."
    return [
        _summary(data, groups, spots, len({probe.number for probe in probes})),
        _table_of_spots(data, spots),
        _examples(data, spots, probes),
        data.heatmap(rows, "blind_spots_sensitivity", title, note),
        _by_perturbation(data, present),
    ]


def _spots(data: PairScores, metric: str, groups: Groups) -> dict[str, str]:
    """The blind spots of a metric with the reason, the most severe and least noticed first."""
    noticed, z = ({name: float(drawn[0]) for name, drawn in of[metric].items()} for of in (data.accuracy, data.z))
    slight = [z[name] for name in groups["minor"] if z[name] == z[name]]
    found = {}
    for severity in SEVERITIES:
        for name in sorted(groups[severity], key=lambda name: (noticed[name], z[name])):
            why = [f"not noticed in {1 - noticed[name]:.0%}"] if noticed[name] < NOTICED else []
            if severity != "minor" and slight and z[name] < float(np.median(slight)):
                why.append("costs less than the median minor mistake")
            if why:
                found[name] = ", ".join(why)
    return found


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
    for metric, found in spots.items():
        for name, why in found.items():
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
            both = (estimate(found[metric][name]) for found in (data.accuracy, data.z))
            rows.append((name, row.category, row.severity, metric, data.counts[name], *both))
    columns = ("perturbation", "category", "severity", "metric", "texts", "noticed*", "z*")
    return interval_table("blind_spots_all", "Every perturbation and metric", columns, rows)


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
"""Of each two changes of one text the first should cost more."""


def robustness_parts(
    probes: Sequence[Probe], contrasts: Sequence[Contrast], *, samples: int = 1000, seed: int = 0
) -> list[Part]:
    """The five cases under every metric, without human ratings: how much each costs, and whether the costs are ordered as expected.

    Human ratings of such texts (table 7 of the paper) come from `rome perturb` and `rome annotate`, and are judged by `rome evaluate`.
    """
    data = _scored(probes, contrasts, samples, seed)
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
    """For every expectation the share of texts in which the metric meets it, chance being one half."""
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

"""What is a metric blind to, on the user's own texts? Perturbations it does not notice, severe ones it takes for slight, and RoMe's
robustness analysis (§4.7): five ways to change a text, weighed against each other as a person would.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rome.data.perturbations.registry import PERTURBATIONS
from rome.evaluation.diagnosis.minimal_pairs import Contrast, Draws, Probe, interval, mean_of
from rome.reports.model import Cell, Figure, Heatmap, Table

__all__ = ["EXPECTED", "blind_spot_parts", "robustness_parts"]

NOTICED = 0.95
"""A perturbation that a metric notices in fewer of the texts is a blind spot."""
SEVERITIES = ("critical", "major", "minor")
EXAMPLES, WORST = 2, 5
Part = Table | Figure
Vector = NDArray[np.float64]


class _Data:
    """The probes with every metric's accuracy and sensitivity by perturbation, on the data and in resamples of the texts."""

    def __init__(self, probes: Sequence[Probe], contrasts: Sequence[Contrast], samples: int, seed: int) -> None:
        self.probes, self.contrasts = probes, contrasts
        self.keys = [probe.perturbation for probe in probes]
        self.names = [name for name in PERTURBATIONS if name in set(self.keys)]
        self.draws = Draws.of([str(probe.number) for probe in probes], samples, seed)
        self.accuracy = {c.name: self.draws.means(c.wins.astype(np.float64), self.keys) for c in contrasts}
        self.z = {c.name: self.draws.means(c.sensitivity, self.keys) for c in contrasts}

    def of_severity(self, severity: str) -> list[str]:
        """The perturbations of one severity."""
        return [name for name in self.names if PERTURBATIONS[name].severity == severity]


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
    data = _Data(probes, contrasts, samples, seed)
    return [
        _summary(data),
        _spots(data),
        _examples(data),
        _matrix(
            data,
            data.z,
            "sensitivity",
            "Sensitivity z by perturbation",
            "Share of the drop to an empty text; darker: more sensitive.",
        ),
        _matrix(
            data,
            data.accuracy,
            "accuracy",
            "Share of texts in which a perturbation is noticed",
            "Strictly lower score; ties count as not noticed.",
        ),
        _by_perturbation(data),
    ]


def _summary(data: _Data) -> Table:
    rows: list[tuple[Cell, ...]] = []
    length = len(data.draws.weights)
    for contrast in data.contrasts:
        name = contrast.name
        mistakes = [p for severity in SEVERITIES for p in data.of_severity(severity)]
        noticed = mean_of([data.accuracy[name][p] for p in mistakes], length)
        z = [mean_of([data.z[name][p] for p in data.of_severity(severity)], length) for severity in SEVERITIES]
        steps = [higher[1:] > lower[1:] for higher, lower in zip(z, z[1:], strict=False)]
        ordered = float(np.logical_and(*steps).mean()) if length > 1 else None
        spots = sum(1 for p in mistakes if _faults(data, name, p))
        rows.append((name, float(noticed[0]), *interval(noticed), *(float(mean[0]) for mean in z), ordered, spots))
    return Table(
        "blind_spots_summary",
        f"{len(data.probes)} minimal pairs of {len(set(p.number for p in data.probes))} texts",
        (
            "metric",
            "noticed",
            "noticed_low",
            "noticed_high",
            *(f"z_{severity}" for severity in SEVERITIES),
            "ordered",
            "blind_spots",
        ),
        tuple(rows),
        "noticed: mean over perturbations of the share of texts that score strictly lower after it. z: mean drop as a share of the drop to an "
        "empty text. ordered: share of bootstrap resamples with z critical > major > minor. blind_spots: perturbations of the next table.",
        {"blind_spots": 0, **dict.fromkeys(("noticed", "z_critical", "z_major", "z_minor", "ordered"), 3)},
        highest=("noticed", "ordered"),
        lowest=("blind_spots",),
        intervals=(("noticed", "noticed_low", "noticed_high"),),
    )


def _faults(data: _Data, metric: str, perturbation: str) -> list[str]:
    """Why a perturbation is a blind spot of a metric; nothing when it is none."""
    noticed, z = float(data.accuracy[metric][perturbation][0]), float(data.z[metric][perturbation][0])
    faults = [f"not noticed in {1 - noticed:.0%}"] if noticed < NOTICED else []
    slight = [float(data.z[metric][name][0]) for name in data.of_severity("minor")]
    known = [value for value in slight if value == value]
    if PERTURBATIONS[perturbation].severity in ("critical", "major") and known and z < float(np.median(known)):
        faults.append("costs less than the median minor mistake")
    return faults


def _ranked(data: _Data, metric: str) -> list[str]:
    """The blind spots of a metric, the most severe and least noticed first."""
    order = {severity: place for place, severity in enumerate(SEVERITIES)}
    spots = [p for severity in SEVERITIES for p in data.of_severity(severity) if _faults(data, metric, p)]
    return sorted(spots, key=lambda p: (order[PERTURBATIONS[p].severity], data.accuracy[metric][p][0], data.z[metric][p][0]))


def _spots(data: _Data) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for contrast in data.contrasts:
        for name in _ranked(data, contrast.name):
            accuracy, z = data.accuracy[contrast.name][name], data.z[contrast.name][name]
            why = ", ".join(_faults(data, contrast.name, name))
            numbers = (data.keys.count(name), float(accuracy[0]), *interval(accuracy), float(z[0]))
            rows.append((contrast.name, name, PERTURBATIONS[name].severity, *numbers, why))
    return Table(
        "blind_spots",
        "Where the metrics are blind",
        ("metric", "perturbation", "severity", "texts", "noticed", "noticed_low", "noticed_high", "z", "why"),
        tuple(rows),
        f"Perturbations noticed in fewer than {NOTICED:.0%} of the texts, and critical or major ones that cost less than the metric's median "
        "minor mistake. Baselines and perturbations that keep the meaning are left out.",
        {"texts": 0, "noticed": 3, "z": 3},
        intervals=(("noticed", "noticed_low", "noticed_high"),),
    )


def _examples(data: _Data) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for contrast in data.contrasts:
        drop = contrast.better - contrast.worse
        for name in _ranked(data, contrast.name)[:WORST]:
            here = [n for n, key in enumerate(data.keys) if key == name]
            for n in sorted(here, key=lambda n: (drop[n], n))[:EXAMPLES]:
                probe = data.probes[n]
                changed = " / ".join(
                    f"{edit.original or '(nothing)'} > {edit.perturbed or '(nothing)'}" for edit in probe.edits
                )
                rows.append(
                    (
                        contrast.name,
                        name,
                        probe.better,
                        probe.worse,
                        changed,
                        float(contrast.better[n]),
                        float(contrast.worse[n]),
                    )
                )
    return Table(
        "blind_spot_examples",
        "Examples: the perturbed texts that score highest",
        ("metric", "perturbation", "text", "perturbed", "changed", "score", "score_perturbed"),
        tuple(rows),
        f"Up to {EXAMPLES} texts of each metric's {WORST} worst blind spots, those whose score falls least.",
        4,
    )


def _matrix(data: _Data, found: dict[str, dict[str, Vector]], name: str, title: str, note: str) -> Heatmap:
    order = [*SEVERITIES, "base", "none"]
    rows = sorted(data.names, key=lambda p: order.index(PERTURBATIONS[p].severity))
    columns = [contrast.name for contrast in data.contrasts]
    values = np.array([[found[column][row][0] for column in columns] for row in rows])
    groups = tuple({"none": "meaning kept"}.get(PERTURBATIONS[row].severity, PERTURBATIONS[row].severity) for row in rows)
    return Heatmap(
        f"blind_spots_{name}", title, tuple(rows), tuple(columns), values.reshape(len(rows), len(columns)), groups, note
    )


def _by_perturbation(data: _Data) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name in data.names:
        for contrast in data.contrasts:
            accuracy, z = data.accuracy[contrast.name][name], data.z[contrast.name][name]
            row = PERTURBATIONS[name]
            numbers = (data.keys.count(name), float(accuracy[0]), *interval(accuracy), float(z[0]), *interval(z))
            rows.append((name, row.category, row.severity, contrast.name, *numbers))
    triples = tuple((name, f"{name}_low", f"{name}_high") for name in ("noticed", "z"))
    columns = ("perturbation", "category", "severity", "metric", "texts", *(name for triple in triples for name in triple))
    return Table(
        "blind_spots_all",
        "Every perturbation and metric",
        columns,
        tuple(rows),
        "",
        {"texts": 0, "noticed": 3, "z": 3},
        intervals=triples,
    )


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
) -> list[Table | Figure]:
    """The five cases under every metric, without human ratings: how much each costs, and whether the costs are ordered as expected.

    Human ratings of such texts (table 7 of the paper) come from `rome perturb` and `rome annotate`, and are judged by `rome evaluate`.
    """
    draws = Draws.of([str(probe.number) for probe in probes], samples, seed)
    keys = [probe.perturbation for probe in probes]
    present = [case for case in CASES if case in set(keys)]
    z = {c.name: draws.means(c.sensitivity, keys) for c in contrasts}
    rows: list[tuple[Cell, ...]] = []
    for case in present:
        for contrast in contrasts:
            costs = z[contrast.name][case]
            rows.append((CASES[case], keys.count(case), contrast.name, float(costs[0]), *interval(costs)))
    table = Table(
        "robustness",
        "What each case costs (RoMe, §4.7)",
        ("case", "texts", "metric", "z", "z_low", "z_high"),
        tuple(rows),
        "z: mean drop as a share of the drop to an empty text, with a 95 % bootstrap interval over texts.",
        {"texts": 0, "z": 3},
        intervals=(("z", "z_low", "z_high"),),
    )
    values = np.array([[z[c.name][case][0] for c in contrasts] for case in present]).reshape(len(present), len(contrasts))
    labels, names = tuple(CASES[case] for case in present), tuple(c.name for c in contrasts)
    figure = Heatmap(
        "robustness_matrix", "What each case costs", labels, names, values, note="Sensitivity z; darker costs more."
    )
    return [_order(probes, contrasts, draws), table, figure]


def _order(probes: Sequence[Probe], contrasts: Sequence[Contrast], draws: Draws) -> Table:
    """For every expectation the share of texts in which the metric meets it, chance being one half."""
    place = {(probe.number, probe.perturbation): n for n, probe in enumerate(probes)}
    rows: list[tuple[Cell, ...]] = []
    for worse, better in EXPECTED:
        both = [
            (place[n, worse], place[n, better]) for n in {p.number for p in probes} if {(n, worse), (n, better)} <= place.keys()
        ]
        if not both:
            continue
        left, right = (np.array(side) for side in zip(*sorted(both), strict=True))
        for contrast in contrasts:
            met = np.full(len(probes), np.nan)
            met[left] = np.where(
                contrast.worse[left] == contrast.worse[right], 0.5, contrast.worse[left] < contrast.worse[right]
            )
            share = draws.means(met, ["all"] * len(probes))["all"]
            rows.append(
                (f"{CASES[worse][2:]} > {CASES[better][2:]}", len(both), contrast.name, float(share[0]), *interval(share))
            )
    return Table(
        "robustness_order",
        "Does the worse change cost more?",
        ("expected", "texts", "metric", "met", "met_low", "met_high"),
        tuple(rows),
        "Share of the texts to which both changes apply in which the first scores lower than the second; a tie counts one half, as chance does.",
        {"texts": 0, "met": 3},
        intervals=(("met", "met_low", "met_high"),),
    )

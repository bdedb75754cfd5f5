"""RoMe's robustness analysis (§4.7): five ways to change a text, and whether a metric weighs them against each other as a person would."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rome.evaluation.diagnosis.contrast import Contrast, Draws, interval
from rome.evaluation.diagnosis.probes import Probe
from rome.reports.model import Cell, Figure, Heatmap, Table

__all__ = ["EXPECTED", "robustness_parts"]

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

"""Meaning before surface: does every acceptable rewrite score above every critical text, whatever their distance in words?"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rome.checks import check_pairs
from rome.data.perturbations.registry import PERTURBATIONS
from rome.data.readers.meaning import MeaningGroup, Wording
from rome.evaluation.diagnosis.minimal_pairs import applicability, scores_of
from rome.evaluation.findings import Row, few_note, interval_table
from rome.evaluation.metrics.functions import Metric
from rome.evaluation.perturbing import Analyse, PerturbedText, materials_for, perturb_texts
from rome.evaluation.statistics.resampling import draw, estimate
from rome.exceptions import InputError
from rome.reports.model import Cell, Table

Vector = NDArray[np.float64]
CELLS = ("near>near", "far>far", "far>near", "near>far")
"""Distance of the acceptable text > distance of the critical one."""
WITH_INTERVALS = ("all", "far>near", "whole")
SHARES = (
    "Per cent of the comparisons of an acceptable with a critical text of the same group in which the acceptable one scores strictly "
    "higher; ties are wrong. far>near: an acceptable text whose words are far from the reference's against a critical near-copy; the "
    "other columns likewise. whole: groups with every acceptable text above every critical one; those that have near texts and no far "
    "ones are left out. Brackets: 95 %, bootstrap over {over}."
)


def meaning(
    metrics: Sequence[Metric], groups: Sequence[MeaningGroup], *, samples: int = 1000, seed: int = 0, worst: int = 10
) -> list[Table]:
    """Tabulate how metrics order the texts of every group; each distinct pair of references and text is scored once.

    Raises InputError without groups or metrics, and for a metric without a finite score for each pair.

    Parameters
    ----------
    samples
        Bootstrap resamples of the groups, those of one text together.
    worst
        Number of wrong comparisons that are shown of each metric.

    Returns
    -------
    list of Table
        Shares in order, a row per metric; the same by kind of falsehood and by kind of rewrite, if groups name them; the
        comparisons with the largest wrong margins.
    """
    if not groups or not metrics:
        raise InputError("the experiment needs at least one group and one metric: give both")
    data = _Data(groups, metrics, samples, seed)
    one = len(groups) * ["all"]
    kinds, rewrites = [g.kind or "(not named)" for g in groups], [g.rewrite or "(none)" for g in groups]
    title = f"In order, over {len(groups)} groups and {len(data.acceptable)} comparisons"
    tables = [_shares(data, "meaning", title, "", one)]
    if any(group.kind for group in groups):
        tables.append(_shares(data, "meaning_by_kind", "In order by kind of falsehood", "kind", kinds))
    if any(group.rewrite for group in groups):
        tables.append(_shares(data, "meaning_by_rewrite", "In order by kind of rewrite", "rewrite", rewrites))
    return [*tables, _worst(data, worst)]


class _Data:
    """Lay out the groups: every distinct pair once, every text of a group, every comparison, and the scores of each metric.

    Attributes
    ----------
    texts
        (group, side, wording, number of its pair).
    acceptable, critical
        (comparisons,) the places in ``texts``.
    """

    def __init__(self, groups: Sequence[MeaningGroup], metrics: Sequence[Metric], samples: int, seed: int) -> None:
        self.groups = groups
        pairs: dict[tuple[tuple[str, ...], str], int] = {}
        self.texts: list[tuple[int, str, Wording, int]] = []
        places: list[tuple[int, int]] = []
        for number, group in enumerate(groups):
            start = len(self.texts)
            for side, wordings in (("acceptable", group.acceptable), ("critical", group.critical)):
                for one in wordings:
                    self.texts.append((number, side, one, pairs.setdefault((group.references, one.text), len(pairs))))
            middle = start + len(group.acceptable)
            places += [(a, c) for a in range(start, middle) for c in range(middle, len(self.texts))]
        self.acceptable, self.critical = (np.array(side) for side in zip(*places, strict=True))
        self.of_group = np.array([self.texts[place][0] for place in self.acceptable])
        self.first = np.concatenate([[True], self.of_group[1:] != self.of_group[:-1]])
        distances = [{one.distance for one in (*group.acceptable, *group.critical)} for group in groups]
        self.complete = np.array([distances[n] != {"near"} for n in self.of_group])
        self.cells = np.array([f"{self.texts[a][2].distance}>{self.texts[c][2].distance}" for a, c in places])
        clusters = [groups[n].cluster or f"group {n}" for n in self.of_group]
        self.draws = draw(len(clusters), clusters, None, samples, seed)
        rows = np.array([row for *_, row in self.texts])
        references, hypotheses = [list(given) for given, _ in pairs], [text for _, text in pairs]
        self.scores = {metric.name: scores_of(metric, references, hypotheses)[rows] for metric in metrics}

    def columns(self, name: str) -> dict[str, Vector]:
        """Return (comparisons,) for each column: 100 where the acceptable text scores strictly higher, otherwise 0, nan where it does not count.

        A whole group counts at its first comparison, unless all its texts are near.
        """
        scores = self.scores[name]
        right = np.where(scores[self.acceptable] > scores[self.critical], 100.0, 0.0)
        whole = np.minimum.reduceat(right, np.flatnonzero(self.first))[self.of_group]
        known = [cell for cell in CELLS if cell in set(self.cells)]
        cells = {cell: np.where(self.cells == cell, right, np.nan) for cell in known}
        return {"all": right, **cells, "whole": np.where(self.first & self.complete, whole, np.nan)}


def _shares(data: _Data, name: str, title: str, key: str, of_group: Sequence[str]) -> Table:
    """Tabulate shares in order.

    Parameters
    ----------
    key
        Name of the column that splits the groups, or "" for one row per metric.
    """
    keys, over = [of_group[n] for n in data.of_group], "texts" if any(group.cluster for group in data.groups) else "groups"
    rows: list[Row] = []
    for metric in data.scores:
        means = {column: data.draws.means(values, keys) for column, values in data.columns(metric).items()}
        for value, size in Counter(keys).items():
            cells = (estimate(drawn[value]) for drawn in means.values())
            shown = (cell if column in WITH_INTERVALS else cell[0] for column, cell in zip(means, cells, strict=True))
            rows.append((metric, *([value, size] if key else []), *shown))
    names = (f"{column}*" if column in WITH_INTERVALS else column for column in means)
    return interval_table(
        name,
        title,
        ("metric", *([key, "comparisons"] if key else []), *names),
        rows,
        SHARES.format(over=over) + few_note(data.draws.weights.shape[1], over),
        1,
        highest=() if key else tuple(means),
    )


def _worst(data: _Data, most: int) -> Table:
    """Tabulate the wrong comparisons of each metric, the largest margin first."""
    rows: list[tuple[Cell, ...]] = []
    for metric, scores in data.scores.items():
        margins = scores[data.acceptable] - scores[data.critical]
        for n in np.argsort(margins, kind="stable")[:most]:
            if margins[n] <= 0:
                a, c = data.acceptable[n], data.critical[n]
                better, worse, group = data.texts[a][2], data.texts[c][2], data.groups[data.of_group[n]]
                kind = " ".join(filter(None, (group.kind, data.cells[n].strip(">"))))
                texts = (group.references[0], better.text, worse.text)
                rows.append((metric, kind or None, *texts, float(scores[a]), float(scores[c]), float(margins[n])))
    return Table(
        "meaning_worst",
        "The worst comparisons",
        ("metric", "kind", "reference", "acceptable", "critical", "score_acceptable", "score_critical", "margin"),
        tuple(rows),
        f"Up to {most} of each metric: critical texts that score above an acceptable one by most, or tie with it.",
        3,
    )


def groups_of_texts(
    references: Sequence[Sequence[str]], hypotheses: Sequence[str], analyse: Analyse, *, seed: int = 0, limit: int | None = None
) -> tuple[list[MeaningGroup], Table]:
    """Make a group of every hypothesis and every critical perturbation that applies to it, and tabulate how often each applies.

    Near are the hypothesis itself (acceptable) and its perturbed copy (critical). Far are both after one perturbation that keeps the meaning
    (severity none), drawn among those that apply to both; without any, the group has near texts only.

    Raises InputError for texts that do not pair and if no group can be made.

    Parameters
    ----------
    limit
        Most groups per perturbation.
    """
    pairs = check_pairs(references, hypotheses)
    texts = [pair.hypothesis for pair in pairs]
    materials, keeping = materials_for(texts), _names("none")
    made: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = {name: Counter() for name in (*_names("critical"), *keeping)}
    critical: list[PerturbedText] = []
    rewritten: dict[str, dict[str, str]] = {}
    for one in perturb_texts(texts, list(reasons), analyse=analyse, seed=seed, materials=materials):
        if one.perturbed is None or one.perturbed == one.text:
            reasons[one.perturbation][one.reason or "nothing changed"] += 1
            continue
        made[one.perturbation] += 1
        if one.severity == "none":
            rewritten.setdefault(one.text, {})[one.perturbation] = one.perturbed
        elif limit is None or made[one.perturbation] <= limit:
            critical.append(one)
    copies = list(dict.fromkeys(one.perturbed for one in critical if one.perturbed and one.text in rewritten))
    for one in perturb_texts(copies, keeping, analyse=analyse, seed=seed, materials=materials):
        if one.perturbed not in (None, one.text):
            rewritten.setdefault(one.text, {})[one.perturbation] = str(one.perturbed)
    groups = [_group(one, pairs[one.number].references, rewritten, seed) for one in critical]
    if not groups:
        raise InputError("no perturbation changes the meaning of any of these texts: give whole sentences of English")
    return groups, applicability(made, reasons, len(texts))


def _names(severity: str) -> list[str]:
    return [one.name for one in PERTURBATIONS.values() if one.severity == severity]


def _group(one: PerturbedText, references: tuple[str, ...], rewritten: dict[str, dict[str, str]], seed: int) -> MeaningGroup:
    """Return the group of one text and its critical copy, with far texts if there are any."""
    text, copy = one.text, str(one.perturbed)
    same, changed = rewritten.get(text, {}), rewritten.get(copy, {})
    shared = [name for name in same if name in changed and {same[name], text}.isdisjoint((changed[name], copy))]
    acceptable, critical, rewrite = [Wording(text, "near")], [Wording(copy, "near")], ""
    if shared:
        rewrite = random.Random(f"rewrite\0{one.perturbation}\0{seed}\0{text}").choice(shared)
        acceptable.append(Wording(same[rewrite], "far"))
        critical.append(Wording(changed[rewrite], "far"))
    place = f"text {one.number + 1}"
    return MeaningGroup(references, tuple(acceptable), tuple(critical), one.perturbation, rewrite, place, place)

"""The experiments of `rome diagnose`, each from texts or rated sets and metrics to the parts of a report."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from rome.checks import SegmentError
from rome.data.readers.demetr import read_demetr
from rome.data.readers.lines import set_name
from rome.data.readers.meaning import MEANING_SETS, MeaningGroup, meaning_digest, read_meaning
from rome.data.readers.rated import RatedSet
from rome.evaluation.catalogue import EXPERIMENTS, ON_SETS
from rome.evaluation.diagnosis.ablation import ablation, ablation_heatmap, features_of, ratings_of
from rome.evaluation.diagnosis.blind_spots import blind_spot_parts, robustness_parts
from rome.evaluation.diagnosis.demetr import demetr_parts
from rome.evaluation.diagnosis.drift import drift
from rome.evaluation.diagnosis.meaning import groups_of_texts, meaning
from rome.evaluation.diagnosis.minimal_pairs import Contrast, Probe, contrast, make_probes, names_of
from rome.evaluation.findings import Findings
from rome.evaluation.metrics.registry import MetricMaker, scores_on
from rome.exceptions import InputError
from rome.reports.model import Figure, Table
from rome.reports.tables import as_table
from rome.storage.files import read_lines
from rome.storage.pair_files import is_table, pair_rows

Part = Table | Figure
REFITTED = "RoMe refitted"
SHOWN = (
    *("blind_spots_summary", "blind_spots", "blind_spot_examples", "robustness_order", "robustness"),
    *("demetr_table4", "demetr_by_table1", "demetr_severity_order", "demetr_accuracy"),
    *("meaning", "meaning_scores", "meaning_by_kind", "meaning_by_rewrite", "meaning_worst"),
)
"""The tables that a display has; of the experiments on sets, all."""


@dataclass(frozen=True)
class Texts:
    """Texts to perturb, with the references that they are judged against; plain texts are their own."""

    name: str
    references: Sequence[Sequence[str]]
    hypotheses: Sequence[str]

    @staticmethod
    def of(path: str) -> Texts:
        """Those of a file: pairs, or a text a line. Raises InputError for a file without any."""
        lines = read_lines(path)
        texts = [line for line in lines if line.strip()]
        if texts and is_table(texts[0], path):
            pairs = list(pair_rows(lines, path))
            texts, references = [row.hypothesis for row in pairs], [row.references for row in pairs]
        else:
            references = [[line] for line in texts]
        if not texts:
            raise InputError(f"{path} holds no text: give one a line, or pairs of reference and hypothesis")
        return Texts(path, references, texts)


@dataclass(frozen=True)
class DiagnosisSettings:
    """Hold what every experiment shares.

    Attributes
    ----------
    samples
        Bootstrap resamples.
    limit
        Minimal pairs per perturbation.
    progress
        As in RoMe.
    worst
        Comparisons shown for each metric.
    """

    samples: int = 1000
    seed: int = 0
    limit: int | None = None
    progress: bool | None = None
    worst: int = 10


def find(
    experiment: str,
    metrics: Sequence[Any],
    maker: MetricMaker,
    settings: DiagnosisSettings,
    data: Texts | Mapping[str, Sequence[MeaningGroup]] | Sequence[RatedSet] | str | None,
) -> Findings:
    """Run an experiment on the data that it takes.

    Parameters
    ----------
    data
        Texts; for ``meaning`` also groups by the name of their set; for ``demetr`` the folder of its files or None; rated sets.
    """
    if isinstance(data, Texts):
        run = on_meaning_texts if experiment == "meaning" else partial(on_texts, experiment)
        try:
            parts, digest = run(data.references, data.hypotheses, maker, metrics, settings)
        except SegmentError as error:
            raise InputError(f"{data.name}, text {error.segment + 1}: {error.in_words}") from error
        digests = {data.name: digest}
    elif isinstance(data, Mapping):
        parts, digests = on_meaning(metrics, settings, data)
    elif data is None or isinstance(data, str):
        parts, digest = on_demetr(metrics, settings, data)
        digests = {"DEMETR": digest}
    else:
        parts, digests = on_rated(experiment, data, maker, metrics, settings), {rated.name: rated.digest for rated in data}
    shown = [part for part in parts if part.name.rpartition("-")[2] in SHOWN or experiment in ON_SETS]
    signatures = {metric.name: metric.signature for metric in metrics}
    tables = tuple(part.name for part in shown if isinstance(part, Table))
    return Findings(*EXPERIMENTS[experiment], tuple(parts), tables, as_table(shown[0]), signatures, digests)


def on_demetr(metrics: Sequence[Any], settings: DiagnosisSettings, folder: str | None = None) -> tuple[list[Part], str]:
    """DEMETR's tables and figures for these metrics, and the digest of its items.

    Parameters
    ----------
    folder
        The released files, or the development half.
    """
    seen: Counter[str] = Counter()
    pairs = []
    for pair in read_demetr(folder):
        seen[pair.kind] += 1
        if settings.limit is None or seen[pair.kind] <= settings.limit:
            pairs.append(pair)
    references = [(pair.reference,) for pair in pairs]
    better, worse = [pair.translation for pair in pairs], [pair.perturbed for pair in pairs]
    found = [contrast(metric, references, better, worse) for metric in metrics]
    return demetr_parts(pairs, found, samples=settings.samples, seed=settings.seed), _digest([references, better, worse])


def on_texts(
    experiment: str,
    references: Sequence[Sequence[str]],
    hypotheses: Sequence[str],
    maker: MetricMaker,
    metrics: Sequence[Any],
    settings: DiagnosisSettings,
) -> tuple[list[Part], str]:
    """Minimal pairs of the user's texts: ``texts`` finds blind spots, ``robustness`` runs RoMe's five cases. And the texts' digest."""
    names = names_of(robustness=experiment == "robustness")
    analyse = maker.rome.analyse
    probes, table = make_probes(references, hypotheses, analyse, names, seed=settings.seed, limit=settings.limit)
    found = [_of_probes(metric, probes) for metric in metrics]
    parts = {"texts": blind_spot_parts, "robustness": robustness_parts}[experiment]
    return [*parts(probes, found, samples=settings.samples, seed=settings.seed), table], _digest([references, hypotheses])


def on_meaning(
    metrics: Sequence[Any], settings: DiagnosisSettings, sets: Mapping[str, Sequence[MeaningGroup]]
) -> tuple[list[Part], dict[str, str]]:
    """Meaning before surface on sets of groups, each by itself, and the digest of each."""
    parts: list[Part] = []
    for name, groups in sets.items():
        found = meaning(metrics, groups, samples=settings.samples, seed=settings.seed, worst=settings.worst)
        parts += [replace(part, name=f"{name}-{part.name}", title=f"{name}: {part.title}") for part in found.parts]
    return parts, {name: meaning_digest(groups) for name, groups in sets.items()}


def read_groups(files: Sequence[str], limit: int | None = None) -> dict[str, list[MeaningGroup]]:
    """The groups of files (none: the development sets) by the names of their sets. Raises InputError for two of one name."""
    sets = {set_name(file): read_meaning(file, limit) for file in files or MEANING_SETS}
    if len(sets) < len(files):
        raise InputError(f"two of {', '.join(files)} have one name up to the first full stop: rename one of them")
    return sets


def on_meaning_texts(
    references: Sequence[Sequence[str]],
    hypotheses: Sequence[str],
    maker: MetricMaker,
    metrics: Sequence[Any],
    settings: DiagnosisSettings,
) -> tuple[list[Part], str]:
    """The same on groups made of the user's texts. And the texts' digest."""
    analyse = maker.rome.analyse
    groups, table = groups_of_texts(references, hypotheses, analyse, seed=settings.seed, limit=settings.limit)
    found = meaning(metrics, groups, samples=settings.samples, seed=settings.seed, worst=settings.worst)
    return [*found.parts, table], _digest([references, hypotheses])


def _of_probes(metric: Any, probes: Sequence[Probe]) -> Contrast:
    return contrast(metric, [p.references for p in probes], [p.better for p in probes], [p.worse for p in probes])


def on_rated(
    experiment: str, sets: Sequence[RatedSet], maker: MetricMaker, metrics: Sequence[Any], settings: DiagnosisSettings
) -> list[Part]:
    """Run an experiment that fits the net to people's ratings, ``ablation`` or ``drift``, on each set."""
    run = {"ablation": _ablation, "drift": _drift}[experiment]
    return [replace(part, name=f"{rated.name}-{part.name}") for rated in sets for part in run(rated, maker, metrics, settings)]


def _texts(rated: RatedSet) -> tuple[list[tuple[str, ...]], list[str]]:
    return [segment.references for segment in rated.segments], [segment.hypothesis for segment in rated.segments]


def _scores(rated: RatedSet, metrics: Sequence[Any]) -> dict[str, Any]:
    return {metric.name: scores_on(metric, rated) for metric in metrics}


def _ablation(rated: RatedSet, maker: MetricMaker, metrics: Sequence[Any], settings: DiagnosisSettings) -> list[Part]:
    """RoMe's table 5: what every component adds, with the net fitted anew each time."""
    references, hypotheses = _texts(rated)
    features = features_of(maker.rome, references, hypotheses, progress=settings.progress)
    others = _scores(rated, metrics)
    table = ablation(rated, features, others=others, samples=settings.samples, seed=settings.seed, progress=settings.progress)
    return [table, ablation_heatmap(table)]


def _drift(rated: RatedSet, maker: MetricMaker, metrics: Sequence[Any], settings: DiagnosisSettings) -> list[Part]:
    """Compare RoMe's net, fitted anew, with the metrics as they are, in each dimension."""
    groups, scores = [segment.group for segment in rated.segments], _scores(rated, metrics)
    supervised = {REFITTED: maker.features.best(*_texts(rated))[0]}
    parts: list[Part] = []
    for dimension in rated.dimensions:
        found = drift(ratings_of(rated, dimension), groups, supervised, scores, progress=settings.progress)
        parts += [replace(part, name=f"{part.name}-{dimension}", title=f"{part.title}: {dimension}") for part in found]
    return parts


def _digest(texts: object) -> str:
    """16 hexadecimal digits of all texts."""
    return hashlib.blake2b(json.dumps(texts, ensure_ascii=False).encode("utf-8", "replace"), digest_size=8).hexdigest()

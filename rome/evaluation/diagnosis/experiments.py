"""Run the experiments of `rome diagnose`, from metrics and data to the parts of a report."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rome.checks import SegmentError
from rome.data.perturbations.registry import PERTURBATIONS
from rome.data.readers.demetr import read_demetr
from rome.data.readers.lines import set_name
from rome.data.readers.meaning import MEANING_SETS, MeaningGroup, meaning_digest, read_meaning
from rome.data.readers.rated import RatedSet
from rome.evaluation import EXPERIMENTS, ON_SETS
from rome.evaluation.diagnosis.ablation import ablation, features_of, ratings_of
from rome.evaluation.diagnosis.demetr import demetr_parts
from rome.evaluation.diagnosis.drift import drift
from rome.evaluation.diagnosis.meaning import groups_of_texts, meaning
from rome.evaluation.diagnosis.minimal_pairs import Part, blind_spot_parts, contrast, make_probes, robustness_parts
from rome.evaluation.findings import Findings
from rome.evaluation.metrics.registry import MetricMaker, check_names, scores_on
from rome.exceptions import InputError
from rome.reports.model import Table
from rome.reports.tables import as_table
from rome.storage.files import read_lines
from rome.storage.pair_files import Columns, is_table, pair_rows

REFITTED, PRETRAINED = "RoMe refitted", "RoMe refitted, pre-trained"
"""A net fitted on ratings alone, and one that begins from the net of the metric, which synthetic pairs have trained."""
SHOWN = (
    *("blind_spots_summary", "blind_spots", "blind_spot_examples", "robustness_order", "robustness"),
    *("demetr_table4", "demetr_severity_order", "demetr_accuracy"),
    *("meaning", "meaning_by_kind", "meaning_by_rewrite", "meaning_worst"),
)
"""Tables that a display shows; it shows all tables of the experiments on sets."""


@dataclass(frozen=True)
class Texts:
    """Hold texts to perturb, with their references; plain texts are their own references."""

    name: str
    references: Sequence[Sequence[str]]
    hypotheses: Sequence[str]

    @staticmethod
    def of(path: str, columns: Columns = Columns()) -> Texts:
        """Return the texts of a file: pairs, or one text per line. Raises InputError for a file without any."""
        lines = read_lines(path)
        texts = [line for line in lines if line.strip()]
        if texts and (any(columns) or is_table(texts[0], path)):
            pairs = list(pair_rows(lines, path, columns))
            texts, references = [row.hypothesis for row in pairs], [row.references for row in pairs]
        else:
            references = [[line] for line in texts]
        if not texts:
            raise InputError(f"{path} has no text: give one per line, or pairs of reference and hypothesis")
        return Texts(path, references, texts)


@dataclass(frozen=True)
class DiagnosisSettings:
    """Hold the settings of every experiment.

    Attributes
    ----------
    samples
        Bootstrap resamples.
    limit
        Most minimal pairs per perturbation.
    progress
        As in RoMe.
    worst
        Number of comparisons shown for each metric.
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
    check_names(metrics)
    if isinstance(data, Texts):
        try:
            parts = on_texts(experiment, data, maker, metrics, settings)
        except SegmentError as error:
            raise InputError(f"{data.name}, text {error.segment + 1}: {error.in_words}") from error
        digests = {data.name: _digest([data.references, data.hypotheses])}
    elif isinstance(data, Mapping):
        parts = on_meaning(metrics, settings, data)
        digests = {name: meaning_digest(groups) for name, groups in data.items()}
    elif data is None or isinstance(data, str):
        parts, digest = on_demetr(metrics, settings, data)
        digests = {"DEMETR": digest}
    else:
        run = {"ablation": _ablation, "drift": _drift}[experiment]
        parts = [replace(part, name=f"{one.name}-{part.name}") for one in data for part in run(one, maker, metrics, settings)]
        digests = {rated.name: rated.digest for rated in data}
    shown = [part for part in parts if part.name.rpartition("-")[2] in SHOWN or experiment in ON_SETS]
    signatures = {metric.name: metric.signature for metric in metrics}
    tables = tuple(part.name for part in shown if isinstance(part, Table))
    return Findings(*EXPERIMENTS[experiment], tuple(parts), tables, as_table(shown[0]), signatures, digests)


def on_demetr(metrics: Sequence[Any], settings: DiagnosisSettings, folder: str | None = None) -> tuple[list[Part], str]:
    """Return DEMETR's tables and figures for these metrics, and the digest of its items.

    Parameters
    ----------
    folder
        The released files; by default the development half.
    """
    seen: Counter[str] = Counter()
    pairs = []
    for pair in read_demetr(folder):
        seen[pair.kind] += 1
        if settings.limit is None or seen[pair.kind] <= settings.limit:
            pairs.append(pair)
    references = [(pair.reference,) for pair in pairs]
    better, worse = [pair.translation for pair in pairs], [pair.perturbed for pair in pairs]
    contrasts = [contrast(metric, references, better, worse) for metric in metrics]
    return demetr_parts(pairs, contrasts, samples=settings.samples, seed=settings.seed), _digest([references, better, worse])


def on_texts(
    experiment: str, texts: Texts, maker: MetricMaker, metrics: Sequence[Any], settings: DiagnosisSettings
) -> list[Part]:
    """Perturb the user's texts and ask the metrics: ``texts`` shows blind spots, ``robustness`` RoMe's five cases, or ``meaning``."""
    pairs, analyse = (texts.references, texts.hypotheses), maker.rome.analyse
    drawn = {"samples": settings.samples, "seed": settings.seed}
    if experiment == "meaning":
        groups, table = groups_of_texts(*pairs, analyse, seed=settings.seed, limit=settings.limit)
        return [*meaning(metrics, groups, worst=settings.worst, **drawn), table]
    names = [one.name for one in PERTURBATIONS.values() if (one.category == "robustness") == (experiment == "robustness")]
    probes, table = make_probes(*pairs, analyse, names, seed=settings.seed, limit=settings.limit)
    sides = [p.references for p in probes], [p.better for p in probes], [p.worse for p in probes]
    contrasts = [contrast(metric, *sides) for metric in metrics]
    parts = robustness_parts if experiment == "robustness" else blind_spot_parts
    return [*parts(probes, contrasts, **drawn), table]


def on_meaning(metrics: Sequence[Any], settings: DiagnosisSettings, sets: Mapping[str, Sequence[MeaningGroup]]) -> list[Part]:
    """Return the tables of meaning before surface on each set of groups."""
    parts: list[Part] = []
    for name, groups in sets.items():
        tables = meaning(metrics, groups, samples=settings.samples, seed=settings.seed, worst=settings.worst)
        parts += [replace(table, name=f"{name}-{table.name}", title=f"{name}: {table.title}") for table in tables]
    return parts


def read_groups(files: Sequence[str], limit: int | None = None) -> dict[str, list[MeaningGroup]]:
    """Return the groups of files (by default the development sets) by the names of their sets. Raises InputError for two of one name."""
    sets = {set_name(file): read_meaning(file, limit) for file in files or MEANING_SETS}
    if len(sets) < len(files):
        raise InputError(f"two of {', '.join(files)} have one name up to the first full stop: rename one of them")
    return sets


def _texts(rated: RatedSet) -> tuple[list[tuple[str, ...]], list[str]]:
    return [segment.references for segment in rated.segments], [segment.hypothesis for segment in rated.segments]


def _ablation(rated: RatedSet, maker: MetricMaker, metrics: Sequence[Any], settings: DiagnosisSettings) -> list[Part]:
    """Return RoMe's table 5, with the metric's own net and with one fitted anew for each set of components."""
    features = features_of(maker.rome, *_texts(rated), progress=settings.progress)
    others = {metric.name: scores_on(metric, rated) for metric in metrics}
    drawn = {"samples": settings.samples, "seed": settings.seed}
    return [ablation(rated, features, maker.rome.combiner, others=others, progress=settings.progress, **drawn)]


def _drift(rated: RatedSet, maker: MetricMaker, metrics: Sequence[Any], settings: DiagnosisSettings) -> list[Part]:
    """Compare RoMe's net, fitted on skewed ratings with and without pre-training, with the metrics as they are, in each dimension."""
    groups = [segment.group for segment in rated.segments]
    fixed = {metric.name: scores_on(metric, rated) for metric in metrics}
    supervised = dict.fromkeys((REFITTED, PRETRAINED), maker.features.best(*_texts(rated))[0])
    begin = {PRETRAINED: maker.rome.combiner}
    parts: list[Part] = []
    for dimension in rated.dimensions:
        people = ratings_of(rated, dimension)
        tables = drift(people, groups, supervised, fixed, begin=begin, progress=settings.progress)
        parts += [replace(part, name=f"{part.name}-{dimension}", title=f"{part.title}: {dimension}") for part in tables]
    return parts


def _digest(texts: object) -> str:
    """Return 16 hexadecimal digits of all texts."""
    return hashlib.blake2b(json.dumps(texts, ensure_ascii=False).encode("utf-8", "replace"), digest_size=8).hexdigest()

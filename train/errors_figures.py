"""Development figures of an estimator of errors: minimal pairs (DEMETR) and people's ratings, for the component alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rome.data.readers.demetr import KINDS, MinimalPair, read_demetr
from rome.data.readers.rated import RatedSet
from rome.data.readers.registry import read_rated
from rome.evaluation.agreement.correlation import kendall_b
from rome.evaluation.agreement.grouping import agreement
from rome.exceptions import InputError
from rome.features.analyser.config import ModelConfig
from rome.features.errors.estimator import EditScriptErrors, Errors, ErrorsConfig
from rome.features.errors.head import PairHead
from rome.features.errors.learned import LearnedErrors
from rome.features.errors.lexicon import Lexicon
from rome.features.idf import IdfTable

from .errors_probes import Analyse

__all__ = ["RATED", "comparison", "demetr_figures", "development_figures", "once", "rated_figures"]

RATED = ("wmt15", "wmt23", "bagel", "webnlg17")
BLOCK = 500
Read = TypeVar("Read")
Scores = NDArray[np.float64]
Score = Callable[[Sequence[str], Sequence[str]], Scores]
"""(n,) values, higher is better, of n pairs of one reference and one hypothesis."""


def component_score(errors: Errors, analyse: Analyse) -> Score:
    """The score of an errors component alone."""

    def score(references: Sequence[str], hypotheses: Sequence[str]) -> Scores:
        values: list[float] = []
        for start in range(0, len(hypotheses), BLOCK):
            part = list(zip(references[start : start + BLOCK], hypotheses[start : start + BLOCK], strict=True))
            analyses = analyse([text for pair in part for text in pair])
            values += [errors.measure(analyses[one], analyses[other]).value for one, other in part]
        return np.array(values)

    return once(score)


def once(score: Score) -> Score:
    """The same score, with every distinct pair scored once."""
    known: dict[tuple[str, str], float] = {}

    def remembered(references: Sequence[str], hypotheses: Sequence[str]) -> Scores:
        pairs = list(zip(references, hypotheses, strict=True))
        todo = [pair for pair in dict.fromkeys(pairs) if pair not in known]
        known.update(zip(todo, score([one for one, _ in todo], [other for _, other in todo]).tolist(), strict=True))
        return np.array([known[pair] for pair in pairs])

    return remembered


def development_figures(head: PairHead, analyse: Analyse, models: ModelConfig) -> dict[str, Any]:
    """Figures of the learned estimator and of the edit script; nothing for data that is not there. models : whose word weights."""
    folder = models.folder
    parts = IdfTable.load(folder / "idf" / "idf.parquet"), Lexicon.load(folder / "lexicon" / "antonyms.tsv")
    estimators: dict[str, Errors] = {
        "learned": LearnedErrors(*parts, head, ErrorsConfig(estimator="learned")),
        "edit_script": EditScriptErrors(*parts),
    }
    pairs, sets = _there(read_demetr), {name: _there(partial(read_rated, name)) for name in RATED}
    figures: dict[str, Any] = {}
    for name, errors in estimators.items():
        score = component_score(errors, analyse)
        figures[name] = {} if pairs is None else demetr_figures(score, pairs)
        figures[name] |= {rated: rated_figures(score, data) for rated, data in sets.items() if data is not None}
    return figures


def _there(read: Callable[[], Read]) -> Read | None:
    """What can be read, or None where the development data is not there."""
    try:
        return read()
    except InputError:
        return None


def demetr_figures(score: Score, pairs: Sequence[MinimalPair]) -> dict[str, Any]:
    """Accuracy in percent (ties wrong) over all kinds but the baselines and by severity, the weakest kinds, and mean z by severity."""
    references = [pair.reference for pair in pairs]
    better, worse, empty = (
        score(references, texts)
        for texts in ([p.translation for p in pairs], [p.perturbed for p in pairs], ["." for _ in pairs])
    )
    kinds, severities = np.array([p.kind for p in pairs]), np.array([p.severity for p in pairs])
    whole = better - empty
    z = np.divide(better - worse, whole, out=np.full(len(whole), np.nan), where=whole > 0)
    present = [kind for kind in KINDS if (kinds == kind).any() and KINDS[kind].severity != "base"]
    wins = {kind: 100.0 * float((better > worse)[kinds == kind].mean()) for kind in present}
    weakest = sorted((value, kind) for kind, value in wins.items())[:5]
    figures: dict[str, Any] = {"demetr_all": round(100.0 * float((better > worse)[severities != "base"].mean()), 2)}
    for severity in ("critical", "major", "minor"):
        some = [kind for kind in present if KINDS[kind].severity == severity]
        if some:
            figures[f"demetr_{severity}"] = round(100.0 * float((better > worse)[severities == severity].mean()), 2)
            means = [
                float(z[kinds == kind][whole[kinds == kind] > 0].mean()) for kind in some if (whole[kinds == kind] > 0).any()
            ]
            if means:
                figures[f"z_{severity}"] = round(float(np.mean(means)), 3)
    return figures | {"weakest": {kind: round(value, 1) for value, kind in weakest}}


def rated_figures(score: Score, rated: RatedSet) -> dict[str, float]:
    """Kendall's tau-b of every dimension, pooled; on WMT15 Pearson's r by language pair too, on WMT23 and WebNLG tau by item too."""
    rows = [(n, reference) for n, segment in enumerate(rated.segments) for reference in segment.references]
    values = score([reference for _, reference in rows], [rated.segments[n].hypothesis for n, _ in rows])
    best = np.full(len(rated.segments), -np.inf)
    np.maximum.at(best, [n for n, _ in rows], values)
    figures: dict[str, float] = {}
    items, pairs = [s.item for s in rated.segments], [s.language_pair for s in rated.segments]
    for dimension in rated.dimensions:
        people = np.array([segment.ratings[dimension] for segment in rated.segments])
        figures[dimension] = round(kendall_b(people, best), 3)
        if rated.name.startswith("wmt15"):
            figures[f"{dimension} r"] = round(
                agreement(people, best, statistic="pearson", average="language_pair", items=items, language_pairs=pairs).value,
                3,
            )
        elif rated.name.startswith(("wmt23", "webnlg")):
            found = agreement(people, best, statistic="kendall_b", average="item", items=items, language_pairs=pairs).value
            figures[f"{dimension} per item"] = round(found, 3)
    return figures


def comparison(path: Path | None) -> Mapping[str, Any]:
    """Figures of another architecture, as {"cross_encoder": ...}; empty for None. Raises InputError for a file that is none."""
    if path is None:
        return {}
    try:
        found: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} holds no figures ({error}): give what `rome train errors_cross` wrote") from error
    return {"cross_encoder": found}

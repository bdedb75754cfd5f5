"""Large learned metrics through their own packages, where those and a checkpoint are on this machine: BLEURT, COMET, PRISM.

Nothing is downloaded: the checkpoint is a local path that the user names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rome.data.readers.rated import RatedSet
from rome.evaluation.metrics.lexical import library
from rome.evaluation.metrics.pairs import PairMetric, PairValues
from rome.evaluation.metrics.protocol import Scores
from rome.evaluation.metrics.score_store import ScoreStore, TextPair
from rome.exceptions import InputError, ModelMissingError
from rome.features.analyser.identity import file_digest

__all__ = ["Comet", "bleurt", "prism"]


def _checkpoint(name: str, path: str) -> Path:
    """The checkpoint as a path that exists."""
    if not path or not Path(path).exists():
        raise ModelMissingError(
            f"{name} needs a checkpoint on this machine, {path or 'none'} was named: download one and give its path, {name}:PATH"
        )
    return Path(path)


def _identity(path: Path) -> str:
    """The checkpoint by its files."""
    return file_digest(path if path.is_dir() else path.parent)


def _pair_metric(name: str, path: str, load: Callable[[Path], Any], **stored: Any) -> PairMetric:
    """A metric of pairs whose model is loaded now, so that what is missing is said before anything is computed."""
    checkpoint = _checkpoint(name, path)
    function = load(checkpoint)
    values = PairValues(f"{name}:{checkpoint.name}|files:{_identity(checkpoint)}", function, label=name, **stored)
    return PairMetric(f"{name.upper()}-{checkpoint.name}", values)


def bleurt(path: str, **stored: Any) -> PairMetric:
    """BLEURT (Sellam et al. 2020) through the package ``bleurt``. Raises ModelMissingError without package or checkpoint."""

    def load(checkpoint: Path) -> Callable[[Sequence[TextPair]], Any]:
        scorer = library("bleurt.score", "bleurt").BleurtScorer(str(checkpoint))
        return lambda pairs: scorer.score(references=[r for r, _ in pairs], candidates=[h for _, h in pairs])

    return _pair_metric("bleurt", path, load, **stored)


def prism(path: str, **stored: Any) -> PairMetric:
    """PRISM (Thompson and Post 2020) through the module ``prism``. Raises ModelMissingError without module or checkpoint."""

    def load(checkpoint: Path) -> Callable[[Sequence[TextPair]], Any]:
        scorer = library("prism", "prism").Prism(model_dir=str(checkpoint), lang="en")
        return lambda pairs: scorer.score(cand=[h for _, h in pairs], ref=[r for r, _ in pairs], segment_scores=True)

    return _pair_metric("prism", path, load, **stored)


class Comet:
    """COMET (Rei et al. 2020) through the package ``unbabel-comet``; it also reads the source, so it scores rated sets only.

    path : a local checkpoint file. With several references the best one counts.
    """

    name = "COMET"

    def __init__(self, path: str, *, store: ScoreStore | None = None, progress: bool | None = None) -> None:
        self.checkpoint = _checkpoint("comet", path)
        self.comet = library("comet", "unbabel-comet")
        self.store, self.progress = store, progress

    @property
    def signature(self) -> str:
        """The checkpoint by its files."""
        return f"comet:{self.checkpoint.name}|files:{_identity(self.checkpoint)}|references:best"

    @cached_property
    def model(self) -> Any:
        """The loaded checkpoint."""
        return self.comet.load_from_checkpoint(str(self.checkpoint))

    def score_set(self, rated: RatedSet) -> Scores:
        """(n,) one score a segment. Raises InputError when a segment has no source text."""
        for segment in rated.segments:
            if not segment.source:
                raise InputError(
                    f"{segment.place}: COMET needs the source text and there is none: leave COMET out for {rated.name}"
                )
        rows = [
            {"src": segment.source, "mt": segment.hypothesis, "ref": reference}
            for segment in rated.segments
            for reference in segment.references
        ]
        scores = np.asarray(self.model.predict(rows, batch_size=8, gpus=0, progress_bar=bool(self.progress)).scores)
        counts = [len(segment.references) for segment in rated.segments]
        return np.maximum.reduceat(scores.astype(np.float64), np.cumsum([0, *counts[:-1]]))

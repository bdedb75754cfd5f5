"""Provide a metric module for `evaluate.load` and a function for `datasets.Dataset.map`. Neither package is imported here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from rome.exceptions import InputError, ModelMissingError
from rome.integrations.columns import DEFAULT_COLUMNS, check_columns, check_names, default_metric, refuse_batches, score_columns

__all__ = ["BatchScorer", "batch_scorer", "module_path"]


def module_path() -> str:
    """Return the file for ``evaluate.load(module_path())``, which needs no network.

    Raises ModelMissingError, with the install line, when the package evaluate is not installed.
    """
    if find_spec("evaluate") is None:
        raise ModelMissingError("the metric module needs the package evaluate: run `pip install evaluate`")
    return str(Path(__file__).with_name("rome_score.py"))


@dataclass(kw_only=True)
class BatchScorer:
    """Add score columns in ``dataset.map(batch_scorer(), batched=True)``; see `score_frame` for the arguments.

    The fingerprint, under which datasets keeps results, depends on the metric's options, signature, store and threads, and on the arguments
    here. A pickle contains these settings, and a process that unpickles it loads the models at the first batch.
    """

    metric: Any = field(default=None, kw_only=False)
    reference: str = "reference"
    hypothesis: str = "hypothesis"
    columns: Sequence[str] = DEFAULT_COLUMNS
    prefix: str = ""
    missing: Literal["error", "null"] = "error"

    def __post_init__(self) -> None:
        """Check the settings."""
        check_columns(self.columns, self.missing)
        check_names((), {}, self.columns)
        refuse_batches(self.metric, "Dataset.map")
        self.columns = tuple(self.columns)
        self.metric = default_metric() if self.metric is None else self.metric

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the signature, too, so that `datasets` scores anew after a change of the models."""
        return {**vars(self), "_signature": str(self.metric.signature)}

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        """Return the new columns of one batch. Raises InputError, naming the row within the batch; see `score_frame`."""
        names = (self.reference, self.hypothesis)
        if any(isinstance(batch.get(name), str) for name in names):
            raise InputError("batch must contain several rows, got one. Call map with batched=True")
        added = [f"{self.prefix}{name}" for name in self.columns]
        check_names(list(batch), {"reference": self.reference, "hypothesis": self.hypothesis}, added)
        texts = [list(batch[name]) for name in names]
        scores = score_columns(self.metric, *texts, columns=self.columns, missing=self.missing, names=names)
        return {f"{self.prefix}{name}": values for name, values in scores.items()}


batch_scorer = BatchScorer

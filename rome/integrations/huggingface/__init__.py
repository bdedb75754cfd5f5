"""Hugging Face: a metric module for `evaluate.load`, and a function for `datasets.Dataset.map`. Neither is imported here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from rome.exceptions import InputError, ModelMissingError
from rome.integrations.columns import DEFAULT_COLUMNS, check_columns, check_names, default_metric, refuse_batches, score_columns

__all__ = ["BatchScorer", "batch_scorer", "module_path"]

MODULE = "rome_score"


def module_path() -> str:
    """The folder that `evaluate.load` takes: ``evaluate.load(module_path())`` needs no network.

    Raises ModelMissingError, with the install line, when the package evaluate is not there.
    """
    if find_spec("evaluate") is None:
        raise ModelMissingError("the metric module needs the package evaluate: run `pip install evaluate`")
    return str(Path(__file__).parent / MODULE)


@dataclass(kw_only=True)
class BatchScorer:
    """A function for ``dataset.map(batch_scorer(), batched=True)`` that adds score columns; see `score_frame` for the arguments.

    datasets keeps what it computed under a fingerprint of this function: the metric's options, its signature, store and threads, and the
    arguments here. The same settings find the stored columns again, and a change of any, or of the embedded models, scores anew. It pickles
    as its settings, and a process that unpickles it loads the models at the first batch.
    """

    metric: Any = field(default=None, kw_only=False)
    reference: str = "reference"
    hypothesis: str = "hypothesis"
    columns: Sequence[str] = DEFAULT_COLUMNS
    prefix: str = ""
    missing: Literal["error", "null"] = "error"

    def __post_init__(self) -> None:
        """Refuse what no batch can be scored with."""
        check_columns(self.columns, self.missing)
        check_names((), {}, self.columns)
        refuse_batches(self.metric, "Dataset.map")
        self.columns = tuple(self.columns)
        self.metric = default_metric() if self.metric is None else self.metric

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the signature, too, so that `datasets` scores anew after a change of the models."""
        return {**vars(self), "_signature": str(self.metric.signature)}

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        """The new columns of one batch. Raises InputError, naming the row within the batch; see `score_frame`."""
        if any(isinstance(batch[name], str) for name in (self.reference, self.hypothesis) if name in batch):
            raise InputError("a single row arrived in place of a batch: call map with batched=True")
        added = [f"{self.prefix}{name}" for name in self.columns]
        check_names(list(batch), {"reference": self.reference, "hypothesis": self.hypothesis}, added)
        texts = [list(batch[name]) for name in (self.reference, self.hypothesis)]
        names = (self.reference, self.hypothesis)
        found = score_columns(self.metric, *texts, columns=self.columns, missing=self.missing, names=names)
        return {f"{self.prefix}{name}": values for name, values in found.items()}


batch_scorer = BatchScorer

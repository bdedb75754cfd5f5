"""Score batch by batch, as in a training loop: update, compute, reset. No torch is needed, and no text is kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rome.checks import hints
from rome.combining.table import FeatureTable
from rome.exceptions import InputError
from rome.features.values import FEATURES
from rome.integrations.columns import default_metric, refuse_batches

MEANS = ("score", *FEATURES)
"""What `RunningScore` computes; completeness and faithfulness need the errors, which it does not keep."""


class RunningScore:
    """Accumulate batches: ``update(predictions=..., references=...)``, ``compute()``, ``reset()``, named as in torchmetrics.

    The state is the FeatureTable of each batch (a few dozen numbers per segment), never a text, so it pickles small and can be merged with
    that of another process. The order of batches and of merging changes no digit of the result.

    Raises InputError for a metric whose scores depend on the batch.

    Parameters
    ----------
    metric
        A RoMe; None uses the one with default settings.
    """

    def __init__(self, metric: Any = None) -> None:
        refuse_batches(metric, "RunningScore")
        self._metric = default_metric() if metric is None else metric
        self._tables: list[FeatureTable] = []

    @hints
    def update(self, *, predictions: Sequence[str], references: Sequence[str | Sequence[str]]) -> None:
        """Measure one batch. An empty batch adds nothing. Raises as `RoMe.score`; nothing of a refused batch is kept.

        Parameters
        ----------
        references
            One text, or a list of texts, per prediction.
        """
        if not len(predictions) and not len(references):
            return
        self._add(self._metric.features(references=references, hypotheses=predictions))

    def compute(self) -> dict[str, float]:
        """Return the means over all segments so far, in [0, 1]: ``score`` and the four features of the best references.

        All are nan before the first segment.
        """
        if not self._tables:
            return dict.fromkeys(MEANS, math.nan)
        table, net = self.table, self._metric.combiner
        best = net.combine(table, allow_mismatch=True)
        columns = [best.score, *table.values[best.row].T]
        return {name: math.fsum(column) / len(best) for name, column in zip(MEANS, columns, strict=True)}

    def reset(self) -> None:
        """Forget every batch."""
        self._tables = []

    def merge_state(self, other: RunningScore) -> None:
        """Add the segments of another RunningScore, which stays as it is.

        Raises InputError for one whose metric has another signature.
        """
        if other.signature != self.signature:
            raise InputError(f"states of one metric can be merged, got the signatures {self.signature} and {other.signature}")
        for table in list(other._tables):
            self._add(table)

    @property
    def table(self) -> FeatureTable:
        """Return the features of every candidate so far, with segments numbered by arrival. Raises InputError before the first."""
        if not self._tables:
            raise InputError("nothing was measured yet: call update first")
        self._tables = [FeatureTable.concat(self._tables)]
        return self._tables[0]

    @property
    def signature(self) -> str:
        """Return every choice that changes the score."""
        return str(self._metric.signature)

    def __len__(self) -> int:
        """Return the number of segments so far."""
        return int(self._tables[-1].segment[-1]) + 1 if self._tables else 0

    def _add(self, table: FeatureTable) -> None:
        """Keep a table with its segments numbered after the previous ones."""
        self._tables.append(replace(table, segment=table.segment - table.segment[0] + len(self)))

"""Use RoMe as a torchmetrics.Metric: in a MetricCollection, in Lightning, and over several processes. Needs torchmetrics.

For a loop without torchmetrics see `rome.integrations.running.RunningScore`, which keeps every segment's features and needs no torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rome.features.packages import needed
from rome.integrations.columns import DEFAULT_COLUMNS, default_metric, refuse_batches

with needed("RoMeScore", "torchmetrics"):
    import torch
    import torchmetrics


class RoMeScore(torchmetrics.Metric):
    """The mean score and the means of the four features, of completeness and of faithfulness, each in [0, 1].

    Note the order in ``update(preds, target)``, which is that of all text metrics of torchmetrics. The state is seven sums and a count, which
    torchmetrics adds up over processes; texts are never gathered. The sums are float64; for a device without it (``mps``) use
    ``RoMeScore().set_dtype(torch.float32)``.

    Raises InputError for a metric whose scores depend on the batch.

    Parameters
    ----------
    metric
        A RoMe; None uses the one with default settings.
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    plot_lower_bound = 0.0
    plot_upper_bound = 1.0
    total: torch.Tensor
    segments: torch.Tensor

    def __init__(self, metric: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        refuse_batches(metric, "RoMeScore")
        self._metric = default_metric() if metric is None else metric
        self.add_state("total", default=torch.zeros(len(DEFAULT_COLUMNS), dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("segments", default=torch.zeros((), dtype=torch.int64), dist_reduce_fx="sum")

    def update(self, preds: Sequence[str], target: Sequence[str | Sequence[str]]) -> None:
        """Score one batch.

        Parameters
        ----------
        target
            One text, or a list of texts, per prediction. An empty batch adds nothing. Raises as `RoMe.score`.
        """
        if not len(preds) and not len(target):
            return
        columns = self._metric.score(references=target, hypotheses=preds).columns()
        sums = [sum(columns[name]) for name in DEFAULT_COLUMNS]
        self.total += torch.tensor(sums, dtype=self.total.dtype, device=self.total.device)
        self.segments += len(preds)

    def compute(self) -> dict[str, torch.Tensor]:
        """Return ``rome``, ``rome_semantic``, ``rome_syntax``, ``rome_grammar``, ``rome_errors``, ``rome_completeness`` and
        ``rome_faithfulness``; nan before the first segment.
        """
        means = self.total / self.segments
        names = ("rome", *(f"rome_{name}" for name in DEFAULT_COLUMNS[1:]))
        return dict(zip(names, means, strict=True))

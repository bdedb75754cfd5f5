"""A metric inside other people's objects: copied without its models, pickled as its options, built anew where it arrives."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

from rome.combiner import TENSORS, Combiner
from rome.exceptions import InputError, SignatureMismatchError
from rome.features.analyser.config import ModelConfig
from rome.metric import RoMe
from rome.supervision import RatedSource

__all__ = ["MetricHolder", "metric_of", "refuse_batches", "settings_of", "shared_metric"]


@lru_cache(maxsize=1)
def shared_metric() -> RoMe:
    """The metric with the default settings, one a process: what every integration takes that is given none."""
    return RoMe(progress=False)


class MetricHolder:
    """Holds a RoMe, or anything with its methods, for an object that is cloned, pickled or fingerprinted.

    A copy shares the metric. A pickle of a RoMe holds its options, signature and net as plain values, never models or texts: the same
    options give the same bytes, whatever was scored before. metric : None is the shared default, made when first asked for.
    """

    def __init__(self, metric: Any = None) -> None:
        self._metric = metric
        self._settings: dict[str, Any] | None = None

    @property
    def metric(self) -> Any:
        """The metric; one that was pickled is built when it is first asked for. Raises as `metric_of`."""
        if self._metric is None:
            self._metric = shared_metric() if self._settings is None else metric_of(self._settings)
        return self._metric

    @classmethod
    def from_settings(cls, settings: dict[str, Any]) -> MetricHolder:
        """What a pickle of a RoMe is read with."""
        holder = cls()
        holder._settings = settings
        return holder

    def __deepcopy__(self, memo: object) -> MetricHolder:
        """Itself: nothing in it changes."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """A RoMe as its options, any other metric as itself."""
        if self._settings is not None and self._metric is None:
            return MetricHolder.from_settings, (self._settings,)
        if type(self.metric) is RoMe:
            return MetricHolder.from_settings, (settings_of(self.metric),)
        return MetricHolder, (self._metric,)


def settings_of(metric: RoMe) -> dict[str, Any]:
    """Everything that `metric_of` needs to build the same metric again, as plain values, the signature among them."""
    config, net = metric.config, metric.combiner
    store = None if config.store is None else str(config.store)
    return {
        "options": asdict(
            replace(config, models=metric.models, store=store, progress=False, combiner=None, scorer="unsupervised")
        ),
        "net": {name: getattr(net, name).tolist() for name in TENSORS},
        "net_features": net.feature_signature,
        "net_fitted_on": [tuple(source) for source in net.fitted_on],
        "signature": metric.signature,
    }


def metric_of(settings: Mapping[str, Any]) -> RoMe:
    """Build the metric again that `settings_of` described; it shows no progress bar.

    In a worker process it takes one thread and gives torch one, as data loaders do: a forked process hangs in its parent's threads.
    Raises SignatureMismatchError where this installation's models or settings are not those of the description.
    """
    options = settings["options"]
    net = Combiner(
        **settings["net"],
        feature_signature=settings["net_features"],
        fitted_on=tuple(RatedSource(*source) for source in settings["net_fitted_on"]),
    )
    changed = {"models": ModelConfig(**options["models"]), "combiner": net, "threads": _threads(options["threads"])}
    metric = RoMe(**{**options, **changed})
    if metric.signature != settings["signature"]:
        raise SignatureMismatchError(
            f"a pickled metric has the signature {settings['signature']} and this installation makes {metric.signature}: "
            "install the same version of rome-metric in both places"
        )
    return metric


def refuse_batches(metric: Any, what: str) -> None:
    """Raise InputError for a metric whose scores depend on the other segments of a call, where calls are mere batches."""
    if getattr(metric, "idf", "embedded") == "references":
        raise InputError(
            f'{what} scores batch by batch, and with idf="references" a score depends on its batch: use idf="embedded"'
        )


def _threads(given: int | None) -> int | None:
    """The number of threads for this process; where multiprocessing (or the multiprocess of datasets) started it, one for all of torch."""
    modules = (sys.modules.get(name) for name in ("multiprocessing.process", "multiprocess.process"))
    if not any(module is not None and module.parent_process() is not None for module in modules):
        return given
    if "torch" in sys.modules:  # only a torch that was there before the fork has threads to hang in
        sys.modules["torch"].set_num_threads(1)
    return 1

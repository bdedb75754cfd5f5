"""What the integrations share: a metric that is copied without its models and pickled as its options, and one call of it as plain columns."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rome.checks import SegmentError
from rome.combining.combiner import TENSORS, Combiner
from rome.combining.signature import RatedSource
from rome.combining.table import FeatureTable
from rome.exceptions import InputError, SignatureMismatchError
from rome.features.analyser.config import ModelConfig
from rome.features.values import FEATURES
from rome.metric import RoMe

__all__ = [
    "COLUMNS",
    "DEFAULT_COLUMNS",
    "Measured",
    "MetricHolder",
    "check_names",
    "measure",
    "metric_of",
    "refuse_batches",
    "score_columns",
    "settings_of",
    "shared_metric",
]


@lru_cache(maxsize=1)
def shared_metric() -> RoMe:
    """The metric with the default settings, one a process: what every integration takes that is given none."""
    return RoMe(progress=False)


class MetricHolder:
    """Holds a RoMe, or anything with its methods, for an object that is cloned, pickled or fingerprinted.

    A copy shares the metric. A pickle of a RoMe holds its options, signature and net as plain values, never models or texts: the same options
    give the same bytes, whatever was scored before.

    Parameters
    ----------
    metric
        None is the shared default, made when first asked for.
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


DEFAULT_COLUMNS = ("score", *FEATURES)
COLUMNS = (
    *DEFAULT_COLUMNS,
    *(f"{name}_raw" for name in FEATURES),
    *(f"{name}_contribution" for name in FEATURES),
    *("reference_index", "flags", "signature"),
)
"""What can be asked for: numbers, but for ``flags`` (names with commas between them) and ``signature``."""

_PLACE = re.compile(r"^(references|hypotheses)\[(\d+)\](?:\[(\d+)\])?")


@dataclass(frozen=True, eq=False)
class Measured:
    """m segments, each by the row of the reference that it matches best.

    Attributes
    ----------
    table
        M rows.
    score
        (m,) float64 in [0, 1].
    net
        What made the scores of the features.
    """

    table: FeatureTable
    score: NDArray[np.float64]
    net: Combiner

    @property
    def signature(self) -> str:
        """Every choice that changes a score."""
        return f"{self.table.signature}|{self.net.signature}"

    def column(self, name: str) -> list[Any]:
        """One of COLUMNS as plain Python values, one a segment."""
        count = len(self.score)
        if name == "flags":
            return [",".join(self.table.flags_of(row)) for row in range(count)]
        if name.endswith("_contribution"):
            return list(self.net.contributions(self.table)[:, FEATURES.index(name.removesuffix("_contribution"))].tolist())
        if name == "signature":
            return [self.signature] * count
        arrays = {**self.table.to_dict(), "score": self.score, "reference_index": self.table.reference}
        return list(arrays[name].tolist())


def measure(metric: Any, references: Sequence[str | Sequence[str]], hypotheses: Sequence[str]) -> Measured:
    """The numbers that ``metric.score`` gives, to the last digit, without evidence: memory stays small. Raises as `RoMe.score`."""
    net = metric.combiner  # a missing net is reported before anything is analysed
    table = metric.features(references=references, hypotheses=hypotheses)
    best = net.combine(table, allow_mismatch=True)
    return Measured(table[best.row], best.score, net)


def score_columns(
    metric: Any,
    references: Sequence[Any],
    hypotheses: Sequence[Any],
    *,
    columns: Sequence[str] = DEFAULT_COLUMNS,
    missing: str = "error",
    names: tuple[str, str] = ("reference", "hypothesis"),
    labels: Sequence[Any] | None = None,
) -> dict[str, list[Any]]:
    """The asked columns, one value a row.

    Raises InputError that names the row; no rows give empty columns.

    Parameters
    ----------
    missing
        What a row whose reference or hypothesis is missing (None or nan) means: "error" refuses it, "null" gives None in every column of
        that row.
    names
        What messages call the two columns.
    labels
        What they call the rows besides their numbers from 0.
    """
    check_columns(columns, missing)
    gaps = [
        next((n for n, v in zip(names, pair, strict=True) if _is_missing(v)), None) for pair in _rows(references, hypotheses)
    ]
    if missing == "error":
        _refuse_gaps(gaps, labels)
    kept = [row for row, gap in enumerate(gaps) if gap is None]
    if not kept:
        return {name: [None] * len(gaps) for name in columns}
    try:
        measured = measure(metric, [references[row] for row in kept], [hypotheses[row] for row in kept])
    except SegmentError as error:
        raise InputError(_placed(str(error), kept, names, labels)) from error
    result: dict[str, list[Any]] = {}
    for name in columns:
        result[name] = [None] * len(gaps)
        for row, value in zip(kept, measured.column(name), strict=True):
            result[name][row] = value
    return result


def check_columns(columns: Sequence[str], missing: str) -> None:
    """Raise InputError for a column or a rule that there is not."""
    unknown = [name for name in ([columns] if isinstance(columns, str) else columns) if name not in COLUMNS]
    if isinstance(columns, str) or unknown or not columns:
        asked = repr(unknown[0]) if unknown else repr(columns)
        raise InputError(f"columns={asked} is no list of columns: choose among {', '.join(COLUMNS)}")
    if missing not in ("error", "null"):
        raise InputError(f'missing={missing!r} is unknown: choose "error" or "null"')


def check_names(present: Sequence[str], needed: Mapping[str, str], added: Sequence[str]) -> None:
    """Raise InputError unless every needed column is there, and none of the added ones; ``needed`` is argument -> column."""
    for argument, name in needed.items():
        if name not in present:
            raise InputError(
                f"there is no column {name!r}: give {argument}=, one of {', '.join(map(str, present)) or '(none)'}"
            )
    if len(set(added)) != len(added):
        raise InputError(f"columns={list(added)} names one column twice: ask for each of them once")
    clashes = [name for name in added if name in present]
    if clashes:
        raise InputError(
            f"the frame has a column {', '.join(clashes)} already: drop or rename it, or choose prefix=, such as 'rome_'"
        )


def _rows(references: Sequence[Any], hypotheses: Sequence[Any]) -> list[tuple[Any, Any]]:
    return list(zip(references, hypotheses, strict=True))


def _is_missing(value: Any) -> bool:
    """None, nan, and what else is not equal to itself."""
    return value is None or (isinstance(value, float) and value != value)


def _refuse_gaps(gaps: Sequence[str | None], labels: Sequence[Any] | None) -> None:
    rows = [row for row, gap in enumerate(gaps) if gap is not None]
    if rows:
        shown = ", ".join(f"{gaps[row]} of {_row_name(row, labels)}" for row in rows[:5])
        more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
        raise InputError(
            f'a text is missing, {shown}{more}: fill or drop these rows, or pass missing="null" to score the others'
        )


def _row_name(row: int, labels: Sequence[Any] | None) -> str:
    """``row 3``, with its label where that says something else."""
    label = str(row if labels is None else labels[row])
    return f"row {row}" if label == str(row) else f"row {row} (index {label})"


def _placed(message: str, kept: Sequence[int], names: tuple[str, str], labels: Sequence[Any] | None) -> str:
    """The message about a segment, with the column and the row of the table in place of the argument and the segment."""

    def place(match: re.Match[str]) -> str:
        column = names[0] if match.group(1) == "references" else names[1]
        which = "" if match.group(3) is None else f"[{match.group(3)}]"
        return f"{column}{which} of {_row_name(kept[int(match.group(2))], labels)}"

    return _PLACE.sub(place, message)

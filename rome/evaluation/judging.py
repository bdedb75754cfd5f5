"""Judge metrics in one call: their agreement with people, and their blind spots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any

from rome.data.readers.meaning import MeaningGroup, meaning_groups
from rome.data.readers.own import COLUMNS, rated_rows
from rome.data.readers.rated import RatedSet
from rome.evaluation import EXPERIMENTS, ON_SETS, ON_TEXTS
from rome.evaluation.diagnosis.experiments import DiagnosisSettings, Texts, find, read_groups
from rome.evaluation.findings import Findings
from rome.evaluation.leaderboard import judge
from rome.evaluation.metrics.functions import UserMetric
from rome.evaluation.metrics.registry import BASELINES, MetricMaker
from rome.evaluation.metrics.rome_scores import RomeFeatures, RomeScore
from rome.evaluation.rated_scores import EvaluationSettings, read_sets
from rome.exceptions import InputError
from rome.integrations.frames import frame_rows, texts_of_frame
from rome.metric import RoMe


def evaluate(
    metric: Any,
    data: Any,
    *,
    dimensions: str | Sequence[str] = (),
    figures: str | Sequence[str] = (),
    samples: int = 1000,
    permutations: int = 200,
    seed: int = 0,
    baselines: bool = True,
    published: bool = True,
) -> Findings:
    """Judge how far metrics agree with people, with intervals and tests, as ``rome evaluate`` does.

    >>> found = rome.evaluate([rome.RoMe(), "chrf"], ratings)             # doctest: +SKIP
    >>> found.to_dataframe()[["metric", "kendall_b"]]                     # doctest: +SKIP

    Raises InputError, with the remedy, for an unknown metric, set or figure, and for ratings that do not line up; ModelMissingError if a
    package is not installed.

    Parameters
    ----------
    metric
        A RoMe; a name that ``rome evaluate --metric`` takes, such as ``"chrf"`` or ``"rome.semantic"``; a function of references
        (a list of lists) and hypotheses that returns one number per hypothesis, higher is better; a list of metrics, of which the first is
        compared with the others; or a dictionary of metrics by name. Names such as ``"rome.semantic"`` mean the first RoMe of the list, or
        the default one.
    data
        The name of a public set, such as ``"webnlg17"``; a file of your own or ``"FORMAT:PATH"``, as the command takes it; a data frame with
        the columns ``item``, ``reference``, ``hypothesis``, ``rating`` (or ``rating:NAME``), optionally ``system`` and ``language_pair``;
        a RatedSet; or a list of sets.
    dimensions
        Rated dimensions; by default all of the set.
    figures
        STATISTIC or STATISTIC/AVERAGE, such as ``kendall_b/item``; ``all`` for every one. The first orders the tables and is tested.
    samples, permutations, seed
        Bootstrap resamples, permutations of the test (0: none), and the seed of both.
    baselines
        Whether length and random are judged too.
    published
        Whether scores that were published with a set are judged too.
    """
    figures, dimensions = ([given] if isinstance(given, str) else given for given in (figures, dimensions))
    settings = EvaluationSettings.of(figures, samples, max(0, permutations), seed)
    metrics, maker = _metrics(metric, seed)
    if baselines:
        metrics += [maker.make(name) for name in BASELINES if name not in [one.name for one in metrics]]
    return judge(_sets(data), metrics, settings, dimensions, published=published)


def diagnose(
    metric: Any,
    data: Any = None,
    experiment: str = "texts",
    *,
    limit: int | None = None,
    worst: int = 10,
    samples: int = 1000,
    seed: int = 0,
) -> Findings:
    """Find the blind spots of metrics, as ``rome diagnose`` does.

    >>> rome.diagnose([rome.RoMe(), "chrf"], texts)                       # doctest: +SKIP

    Raises InputError, with the remedy, for an unknown experiment and for data that it does not take; ModelMissingError if a package is not
    installed.

    Parameters
    ----------
    metric
        As in `evaluate`.
    data
        For ``texts`` and ``robustness``: texts (an iterable, a data frame with ``reference`` and ``hypothesis``, or the path of a file).
        For ``meaning``: texts likewise; groups (a path, or dictionaries with ``reference``, ``acceptable`` and ``critical``); or None for
        the public sets. For ``demetr``: the folder of its files, or None. Otherwise rated sets, as in `evaluate`.
    experiment
        ``texts`` (blind spots), ``robustness``, ``demetr``, ``meaning``, ``ablation`` or ``drift``.
    limit
        Most minimal pairs (meaning: groups) of each perturbation.
    worst
        Number of the worst comparisons that are shown (meaning).
    samples, seed
        Bootstrap resamples and their seed.
    """
    if experiment not in EXPERIMENTS:
        raise InputError(f"the experiment {experiment!r} is unknown: choose one of {', '.join(EXPERIMENTS)}")
    if limit is not None and limit < 1:
        raise InputError(f"limit must be 1 or more, got {limit}")
    settings = DiagnosisSettings(samples, seed, limit, worst=worst)
    metrics, maker = _metrics(metric, seed)
    return find(experiment, metrics, maker, settings, _data(data, experiment, limit))


def _metrics(given: Any, seed: int) -> tuple[list[Any], MetricMaker]:
    """Return the metrics that are named or given, and their maker."""
    several = given if isinstance(given, (list, tuple)) else [given]
    named = dict(given) if isinstance(given, Mapping) else dict(enumerate(several))
    own = [one for one in named.values() if isinstance(one, RoMe)]
    rome = own[0] if own else RoMe()
    maker = MetricMaker(rome, progress=rome.config.progress, seed=seed)
    metrics = [_metric(one, name if isinstance(name, str) else "", maker) for name, one in named.items()]
    return metrics, maker


def _metric(given: Any, name: str, maker: MetricMaker) -> Any:
    """Return one metric, with the name if it has none of its own."""
    if isinstance(given, str):
        return maker.make(given)
    if isinstance(given, RoMe):
        features = maker.features if given is maker.rome else RomeFeatures(given, progress=given.config.progress)
        return RomeScore(features, name=name)
    if all(hasattr(given, needed) for needed in ("name", "signature", "score")):
        return given
    if callable(given):
        return UserMetric(name or getattr(given, "__name__", type(given).__name__), given)
    raise InputError(
        f"a metric must be a RoMe, a name such as 'chrf', or a function of references and hypotheses, got {type(given).__name__}"
    )


def _data(data: Any, experiment: str, limit: int | None) -> Any:
    """Return the data of the experiment."""
    named = isinstance(data, (str, PathLike))
    if experiment in ON_SETS:
        return _sets(data)
    if experiment == "demetr":
        if data is not None and not named:
            raise InputError("data must be the folder of DEMETR's released files or None for demetr: leave the data out")
        return None if data is None else fspath(data)
    if experiment in ON_TEXTS and named:
        return Texts.of(fspath(data))
    if experiment in ON_TEXTS and data is None:
        raise InputError(f"{experiment} needs texts: give a list of them, a data frame of pairs, or the path of a file")
    if data is None or named:
        return read_groups([] if data is None else [fspath(data)], limit)
    if not isinstance(data, Iterable) or hasattr(data, "columns"):
        references, hypotheses = texts_of_frame(data)
        return Texts("texts", [[row] if isinstance(row, str) else row for row in references], hypotheses)
    rows = list(data)
    if experiment == "meaning" and rows and all(isinstance(row, (Mapping, MeaningGroup)) for row in rows):
        places = [(f"group {number}", row) for number, row in enumerate(rows) if isinstance(row, Mapping)]
        return {"groups": meaning_groups(places, limit) + [row for row in rows if isinstance(row, MeaningGroup)]}
    return Texts("texts", [[row] for row in rows], rows)


def _sets(data: Any) -> list[RatedSet]:
    """Return the rated sets that are named or given."""
    given = data if isinstance(data, (list, tuple)) else [data]
    return read_sets([_set(one, f"data {number}" if len(given) > 1 else "data") for number, one in enumerate(given, start=1)])


def _set(given: Any, name: str) -> str | RatedSet:
    """Return the name of a rated set, or the set itself; read a data frame as a table of ratings."""
    if isinstance(given, RatedSet):
        return given
    if isinstance(given, (str, PathLike)):
        return fspath(given)
    rows = frame_rows(given)
    missing = [column for column in COLUMNS if rows and column not in rows[0]]
    if missing:
        raise InputError(f"the frame has no column {', '.join(missing)}: name the columns {', '.join(COLUMNS)}, rating")
    gaps = [number for number, row in enumerate(rows) if row["hypothesis"] is None]
    if gaps:
        raise InputError(f"row {gaps[0]}: the hypothesis is missing: drop the row, or give an empty text")
    return rated_rows(name, ((f"row {number}", _cells(row)) for number, row in enumerate(rows)))


def _cells(row: Mapping[str, Any]) -> dict[str, str]:
    """Return a row of a frame as one of a table, with a column for each reference."""
    references = row["reference"] if isinstance(row["reference"], list) else [row["reference"]]
    columns = {f"reference_{number}" if number > 1 else "reference": text for number, text in enumerate(references, start=1)}
    return {str(name): "" if value is None else str(value) for name, value in (dict(row) | columns).items()}

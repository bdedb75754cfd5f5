"""RoMe, the metric: check -> analyse -> measure -> combine -> report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from rome.checks import CheckedPair, check_pairs, check_texts
from rome.combining.combiner import TENSORS, Combiner
from rome.combining.signature import RatedSource, feature_signature
from rome.combining.table import FeatureTable
from rome.config import FeatureConfigs, MetricConfig, MetricOptions
from rome.exceptions import InputError, RomeError, SignatureMismatchError
from rome.features.analyser.config import ModelConfig
from rome.features.analyser.model_set import ModelSet, found_device, found_precision
from rome.features.flags import FLAGS, flags_of, pack_flags
from rome.features.idf import IdfTable
from rome.features.protocol import Feature, Resources, compare_pairs, feature_class
from rome.features.values import FEATURES, Analysis, Component
from rome.results import Components, Contributions, CorpusScore, SegmentScore
from rome.storage.analyses import Analyses, Seen

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from rome.results.counterfactual import Change

BLOCK = 1000
COMBINED = 256
"""Candidates that the net takes at once; the numbers do not depend on it."""
Measured = tuple[Component, ...]
Candidate = tuple[CheckedPair, int, Measured, tuple[str, ...]]
"""A hypothesis against one of its references, by its index: the four components, and the flags."""
Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


def _by_name(method: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """The method, which takes references and hypotheses by name alone. Raises InputError that says so for a call by place."""

    @wraps(method)
    def called(*given: Parameters.args, **named: Parameters.kwargs) -> Returned:
        if len(given) > 1:
            raise InputError(
                f"references and hypotheses go by name, so that they cannot be swapped: "
                f"write metric.{method.__name__}(references=..., hypotheses=...)"
            )
        return method(*given, **named)

    return called


class RoMe:
    """Compares hypotheses with references through four features and one learned score, each in [0, 1], 1 is best.

    Examples
    --------
    >>> from rome import RoMe
    >>> metric = RoMe()
    >>> result = metric.score(references=["The museum opens at nine."], hypotheses=["The museum opens at ten."])
    >>> f"{result:.2f}"
    '0.37'
    >>> result[0].evidence.errors.errors[0].type
    'number'

    ``RoMe(models="small", store="analyses.sqlite")`` takes the options of `MetricConfig` by name; a config may be given in their place, and
    options given beside it change it. Nothing is read or loaded before it is needed: make one and keep it. Several threads may use it
    at once. A pickle carries its options and loads the models anew at its first text, a deep copy is the metric itself.
    Raises InputError and ModelMissingError.
    """

    __signature__ = Signature([p.replace(kind=Parameter.KEYWORD_ONLY) for p in signature(MetricConfig).parameters.values()])

    def __init__(self, config: MetricConfig = MetricConfig(), /, **options: Unpack[MetricOptions]) -> None:
        if not isinstance(config, MetricConfig):
            raise InputError(f"options go by name: write RoMe(models={config!r}), or the name of another option")
        self.config = config = replace(config, **options)
        self.models, self.idf, self.empty_reference = config.model_config, config.idf, config.empty_reference
        store = None if config.store is None else Path(config.store)
        self.device = found_device(config.device)
        self.precision = found_precision(config.precision, self.device)
        how = (config.threads, self.device, config.batch_size, self.precision)
        self._analyses = Analyses(self.models, store, config.progress, *how)
        self._lock = Lock()
        self._made: tuple[Feature[Any], ...] = ()

    @cached_property
    def model_set(self) -> ModelSet:
        """The folder of models, settings, word weights and nets."""
        return ModelSet.load(self.models.set)

    @cached_property
    def configs(self) -> FeatureConfigs:
        """The configurations of the four features."""
        return self.config.feature_configs(self.model_set)

    @cached_property
    def combiner(self) -> Combiner:
        """The net that turns the four values into the score."""
        return self.config.combiner or Combiner.load(models=self.model_set.folder, scorer=self.config.scorer)

    @cached_property
    def _idf_table(self) -> IdfTable:
        return IdfTable.load(self.model_set.folder / "idf" / "idf.tsv")

    @property
    def feature_signature(self) -> str:
        """Every choice that changes a component."""
        table = self._idf_table.name if self.idf == "embedded" else "references"
        name = "+".join((self.model_set.name, *self.models.foreign))
        found = feature_signature(name, self._analyses.models_identity, table, *self.configs)
        found += "" if self.device == "cpu" else f"|device:{self.device}"
        return found if self.precision == "float32" else f"{found}|precision:{self.precision}"

    @property
    def signature(self) -> str:
        """Every choice that changes the score: those of the features, and the net."""
        return f"{self.feature_signature}|{self.combiner.signature}"

    def __repr__(self) -> str:
        """The models and the signature, for which no model is loaded; in its place what is wrong where there is none."""
        try:
            signed = repr(self.signature)
        except RomeError as error:
            signed = f"<{error}>"
        return f"RoMe(models={self.config.models!r}, signature={signed})"

    def analyse(self, texts: Iterable[str]) -> dict[str, Analysis]:
        """The analysis of each distinct text, from the store where it is there. Raises InputError for what `score` would not take."""
        return self._analyses.of(check_texts(texts))

    @property
    def blocks(self) -> PairBlocks:
        """The same metric for work that is checked and cut into blocks of pairs, as `rome.batch` and the service do."""
        return PairBlocks(self)

    @_by_name
    def features(self, *, references: Iterable[str | Iterable[str]], hypotheses: Iterable[str]) -> FeatureTable:
        """The four features of every candidate (a hypothesis against one of its references) as a table; see `score`."""
        return self.blocks.measure_pairs(check_pairs(references, hypotheses, empty_reference=self.empty_reference))

    @_by_name
    def score(self, *, references: Iterable[str | Iterable[str]], hypotheses: Iterable[str]) -> CorpusScore:
        """Score each hypothesis against its reference, or against the one of its references that it matches best.

        Raises InputError for anything else, naming the segment. What was analysed before an error or an interruption is in the store.

        Parameters
        ----------
        references
            One text, or several texts, for each hypothesis: a list, a column, a generator.
        hypotheses
            One text a segment; may be empty.
        """
        return self.blocks.score_pairs(check_pairs(references, hypotheses, empty_reference=self.empty_reference))

    def what_if(self, segment: SegmentScore, *, hypothesis: str) -> Change:
        """Score another hypothesis against the segment's reference: what moved, component by component. See `score` for the errors."""
        from rome.results.counterfactual import Change

        (after,) = self.score(references=[segment.reference], hypotheses=[hypothesis])
        return Change(before=segment, after=after)

    def __deepcopy__(self, memo: object) -> RoMe:
        """Itself: its options do not change, and its models are loaded once."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Options, signature and net as plain values, never models or texts: the same options give the same bytes."""
        config, net = self.config, self.combiner
        store = None if config.store is None else str(config.store)
        plain = replace(config, models=self.models, store=store, progress=False, combiner=None, scorer="unsupervised")
        tensors = {name: getattr(net, name).tolist() for name in TENSORS}
        fitted_on = [tuple(source) for source in net.fitted_on]
        options = asdict(plain) | {"precision": self.precision}  # "auto" may be another elsewhere
        return _unpickled, (options, {**tensors, "feature_signature": net.feature_signature}, fitted_on, self.signature)

    def _combined(self, candidates: Sequence[Candidate], signature: str) -> Iterator[SegmentScore]:
        """Combine the candidates of some segments, at least one, and keep the best of each segment, the first of equals."""
        net, segments = self.combiner, np.array([pair.segment for pair, *_ in candidates])
        values = np.array([[c.value for c in parts] for _, _, parts, _ in candidates])
        scores = net.score_rows(values)
        starts = [0, *(np.flatnonzero(np.diff(segments)) + 1).tolist(), len(segments)]
        best = [start + int(np.argmax(scores[start:end])) for start, end in zip(starts, starts[1:], strict=False)]
        for n, score, contributions in zip(best, scores[best].tolist(), net.contributions(values[best]).tolist(), strict=True):
            pair, index, parts, flags = candidates[n]
            yield SegmentScore(
                segment=pair.segment,
                reference=pair.references[index],
                hypothesis=pair.hypothesis,
                reference_index=index,
                score=score,
                components=Components(*parts),
                contributions=Contributions(*contributions),
                flags=flags,
                signature=signature,
            )

    def _measure(self, pairs: Sequence[CheckedPair]) -> Iterator[Candidate]:
        """The four components of every candidate, in order; texts are analysed block by block, so memory stays bounded."""
        with self._analyses.progress_bar(pairs) as seen:
            table = self._reference_table(pairs, seen) if self.idf == "references" else self._idf_table
            features = self._features(table)
            for start in range(0, len(pairs), BLOCK):
                block = pairs[start : start + BLOCK]
                analyses: Mapping[str, Analysis] = self._analyses.of(
                    [text for pair in block for text in (*pair.references, pair.hypothesis)], seen
                )
                candidates = [(pair, index) for pair in block for index in range(len(pair.references))]
                texts = [(analyses[pair.references[index]], analyses[pair.hypothesis]) for pair, index in candidates]
                for (pair, index), each, measured in zip(candidates, texts, compare_pairs(features, texts), strict=True):
                    flags = flags_of(*each, english=self._idf_table, syntax=self.configs[1], cut=pair.cut)
                    yield pair, index, measured, flags

    def _features(self, table: IdfTable) -> tuple[Feature[Any], ...]:
        """The features; those for the table that most calls share are made once."""
        with self._lock:
            if table is self._idf_table and self._made:
                return self._made
            how = (self._analyses.threads, self.device, self.config.batch_size, self.precision)
            resources = Resources(table, self.model_set.folder, *how)
            made = tuple(
                feature_class(name).make(config, resources) for name, config in zip(FEATURES, self.configs, strict=True)
            )
            if table is self._idf_table:
                self._made = made
            return made

    def _reference_table(self, pairs: Sequence[CheckedPair], seen: Seen) -> IdfTable:
        """An IDF table over the distinct references of this call."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair.references))
        words = (
            [w.text for w in a.words]
            for start in range(0, len(texts), BLOCK)
            for a in self._analyses.of(texts[start : start + BLOCK], seen).values()
        )
        return IdfTable.from_texts(words, "references")


class PairBlocks:
    """A metric for pairs that `check_pairs` has passed, block by block."""

    def __init__(self, metric: RoMe) -> None:
        self._metric = metric

    def load(self) -> None:
        """Load features and models now, which the first text would do. Raises ModelMissingError."""
        metric = self._metric
        if metric.idf == "embedded":
            metric._features(metric._idf_table)
        metric._analyses.load()

    def begin_block(self) -> None:
        """From here on the numbers depend on nothing that earlier calls left in memory, only on the texts and the store.

        For work that is cut into blocks, see `rome.batch.blocks`: what is in memory is dropped, but for shared texts, and new analyses
        reach the store at most 1,000 pairs at a time, all or none.
        """
        self._metric._analyses.begin_block()

    def share(self, texts: Sequence[str]) -> None:
        """Keep the analyses of these texts, which several blocks hold, for all of them; they are analysed in groups of their own."""
        self._metric._analyses.share(texts)

    def measure_pairs(self, pairs: Sequence[CheckedPair]) -> FeatureTable:
        """`RoMe.features` of pairs, at least one."""
        rows = [
            (pair.segment, index, [c.value for c in parts], [c.raw for c in parts], pack_flags(flags), [c.unit for c in parts])
            for pair, index, parts, flags in self._metric._measure(pairs)
        ]
        return FeatureTable(
            segment=np.array([row[0] for row in rows], dtype=np.int64),
            reference=np.array([row[1] for row in rows], dtype=np.int32),
            values=np.array([row[2] for row in rows], dtype=np.float64).reshape(-1, len(FEATURES)),
            raw=np.array([row[3] for row in rows], dtype=np.float64).reshape(-1, len(FEATURES)),
            units=tuple(rows[0][5]),
            signature=self._metric.feature_signature,
            flags=np.array([row[4] for row in rows], dtype=np.uint32),
            flag_names=FLAGS,
        )

    def score_pairs(self, pairs: Sequence[CheckedPair]) -> CorpusScore:
        """`RoMe.score` of pairs."""
        metric = self._metric
        net = metric.combiner  # a missing net is reported before anything is analysed
        signature = f"{metric.feature_signature}|{net.signature}" if pairs else ""
        segments: list[SegmentScore] = []
        waiting: list[Candidate] = []
        for candidate in metric._measure(pairs):
            if len(waiting) >= COMBINED and candidate[0].segment != waiting[-1][0].segment:
                segments += metric._combined(waiting, signature)
                waiting = []
            waiting.append(candidate)
        segments += metric._combined(waiting, signature) if waiting else []
        return CorpusScore(tuple(segments), signature)


def _unpickled(options: dict[str, Any], net: dict[str, Any], fitted_on: Sequence[tuple[Any, ...]], signature: str) -> RoMe:
    """The metric that was pickled, without a progress bar; in a worker process with one thread.

    Raises SignatureMismatchError where this installation's models or settings are others.
    """
    combiner = Combiner(**net, fitted_on=tuple(RatedSource(*source) for source in fitted_on))
    models = ModelConfig(**options["models"])
    called = models.set if models == ModelConfig.of(models.set) else models
    changed = {"models": called, "combiner": combiner, "threads": _threads(options["threads"])}
    metric = RoMe(**{**options, **changed})
    if metric.signature != signature:
        raise SignatureMismatchError(
            f"a pickled metric has the signature {signature} and this installation makes {metric.signature}: "
            "install the same version of rome-metric in both places"
        )
    return metric


def _threads(given: int | None) -> int | None:
    """The number of threads for this process; one for all of torch where multiprocessing (or the multiprocess of datasets) started it:
    a forked process hangs in its parent's threads."""
    modules = (sys.modules.get(name) for name in ("multiprocessing.process", "multiprocess.process"))
    if not any(module is not None and module.parent_process() is not None for module in modules):
        return given
    if "torch" in sys.modules:  # only a torch that was there before the fork has threads to hang in
        sys.modules["torch"].set_num_threads(1)
    return 1

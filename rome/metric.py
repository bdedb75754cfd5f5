"""The metric: check -> analyse -> measure -> combine -> report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from itertools import islice
from multiprocessing import parent_process
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rome.checks import CheckedPair, EmptyReference, check_pairs, check_texts, hints
from rome.combining.combiner import Combiner
from rome.combining.signature import feature_signature
from rome.combining.table import FeatureTable
from rome.config import Device, Emd, Idf, MetricConfig, Models, Precision, Preset, Scorer
from rome.exceptions import RomeError
from rome.features.analyser.config import BATCH_SIZE, DEFAULT_SET, part_folder
from rome.features.analyser.model_set import ModelSet, found_device, found_precision
from rome.features.flags import FLAGS, flags_of, pack_flags
from rome.features.idf import IdfTable
from rome.features.packages import needed
from rome.features.protocol import Feature, Resources, compare_pairs, feature_class
from rome.features.text import compared, compared_pair
from rome.features.values import FEATURES, Analysis, Component
from rome.features.windows import windows_of
from rome.progress import progress_bar, without_widget_advice
from rome.results import Change, Components, Contributions, CorpusScore, SegmentScore
from rome.storage.analyses import Analyses

if TYPE_CHECKING:
    from rome.config import FeatureConfigs
    from rome.features.errors.evidence import ErrorsConfig
    from rome.features.grammar import GrammarConfig
    from rome.features.semantic import SemanticConfig
    from rome.features.syntax import SyntaxConfig

BLOCK = 256
"""Pairs that are analysed and combined together."""
_IMPORTED_BY = os.getpid()
"""The process that imported this module; another one was forked from it."""
Measured = tuple[Component, ...]
Candidate = tuple[CheckedPair, int, Measured, tuple[str, ...]]
"""A segment, the index of one of its references, the four components and the flags."""


@contextmanager
def _as_guest() -> Iterator[None]:
    """Compute with NumPy's own handling of errors, and name the extra of a package that is missing."""
    what = "scoring text, unlike `rome rescore` of stored features,"
    with needed(what, '"rome-metric[models]"'), np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
        yield


class RoMe:
    """Compare hypotheses with references through four features and one learned score, each in [0, 1] where 1 is best.

    Examples
    --------
    >>> from rome import RoMe
    >>> metric = RoMe()
    >>> result = metric.score(references=["The museum opens at nine."], hypotheses=["The museum opens at ten."])
    >>> f"{result:.2f}"
    '0.46'
    >>> result[0].evidence.errors.errors[0].type
    'number'

    ``RoMe(models="small", store="analyses.sqlite")`` takes the options of `MetricConfig`, where they are described. Nothing is read or loaded
    before it is needed: make one metric and keep it. Several threads may use it at once. A pickle holds the options alone; the copy loads
    its models at the first text. A deep copy is the metric itself. Raises InputError and ModelMissingError.
    """

    @hints
    def __init__(
        self,
        *,
        models: Models = DEFAULT_SET,
        emd: Emd | None = None,
        rho: float | None = None,
        idf: Idf = "embedded",
        store: str | os.PathLike[str] | None = None,
        progress: bool | None = None,
        threads: int | None = None,
        device: Device = "cpu",
        precision: Precision = "float32",
        batch_size: int = BATCH_SIZE,
        empty_reference: EmptyReference = "error",
        combiner: Combiner | None = None,
        scorer: Scorer = "unsupervised",
        preset: Preset = "default",
        semantic: SemanticConfig | Mapping[str, Any] | None = None,
        syntax: SyntaxConfig | Mapping[str, Any] | None = None,
        grammar: GrammarConfig | Mapping[str, Any] | None = None,
        errors: ErrorsConfig | Mapping[str, Any] | None = None,
    ) -> None:
        config = self.config = MetricConfig(
            *(models, emd, rho, idf, store, progress, threads, device, precision, batch_size),
            *(empty_reference, combiner, scorer, preset, semantic, syntax, grammar, errors),
        )
        self.models, self.idf, self.empty_reference = config.model_config, config.idf, config.empty_reference
        self.device = cast(Device, found_device(device))
        self.precision = cast(Precision, found_precision(precision, self.device))
        self._analyses = Analyses(replace(config, device=self.device, precision=self.precision))

    @cached_property
    def model_set(self) -> ModelSet:
        """Return the folder of models, settings, word weights and nets."""
        return ModelSet.load(self.models.set)

    @cached_property
    def configs(self) -> FeatureConfigs:
        """Return the configurations of the four features."""
        return self.config.feature_configs(self.model_set)

    @cached_property
    def combiner(self) -> Combiner:
        """Return the net that turns the four values into the score."""
        return self.config.combiner or Combiner.load(models=self.model_set.folder, scorer=self.config.scorer)

    @cached_property
    def _idf_table(self) -> IdfTable:
        return IdfTable.load(part_folder(self.model_set.folder, "idf") / "idf.tsv")

    @property
    def feature_signature(self) -> str:
        """Return every choice that changes a component, as ``key:value|key:value``."""
        table = self._idf_table.name if self.idf == "embedded" else "references"
        name = "+".join((self.model_set.name, *self.models.foreign))
        signature = feature_signature(name, self._analyses.models_identity, table, self.configs)
        signature += "" if self.device == "cpu" else f"|device:{self.device}"
        return signature if self.precision == "float32" else f"{signature}|precision:{self.precision}"

    @property
    def signature(self) -> str:
        """Return every choice that changes the score: the signature of the features, and the net."""
        return f"{self.feature_signature}|{self.combiner.signature}"

    def __repr__(self) -> str:
        """Show the models and the signature, or the reason why there is none; no model is loaded."""
        try:
            signature = repr(self.signature)
        except RomeError as error:
            signature = f"<{error}>"
        return f"RoMe(models={self.config.models!r}, signature={signature})"

    @_as_guest()
    def analyse(self, texts: Iterable[str]) -> dict[str, Analysis]:
        """Return the analysis of each distinct text, from the store where it has one. Raises InputError as `score` does."""
        return self._analyses.of(check_texts(texts))

    def analyse_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[Analysis, Analysis]]:
        """Return the analyses of pairs of checked texts as they are compared, see `rome.features.text`."""
        forms = [compared_pair(*pair) for pair in pairs]
        found = self._analyses.of([form.text for both in forms for form in both])
        known = {form: replace(found[form.text], written=form) for both in forms for form in both if form.text != form.original}
        return [(known.get(one, found[one.text]), known.get(other, found[other.text])) for one, other in forms]

    @hints
    def features(self, *, references: Iterable[str | Iterable[str]], hypotheses: Iterable[str]) -> FeatureTable:
        """Return the four features of every candidate (a hypothesis against one of its references); see `score`."""
        return self.measure_pairs(check_pairs(references, hypotheses, empty_reference=self.empty_reference))

    @hints
    def score(self, *, references: Iterable[str | Iterable[str]], hypotheses: Iterable[str]) -> CorpusScore:
        """Score each hypothesis against the one of its references that it matches best.

        Analyses made before an error or an interruption stay in the store. Raises InputError, naming the segment.

        Parameters
        ----------
        references
            One text, or several texts, for each hypothesis: a list, a column, a generator.
        hypotheses
            One text per segment; it may be empty.
        """
        return self.score_pairs(check_pairs(references, hypotheses, empty_reference=self.empty_reference))

    @hints
    def what_if(self, segment: SegmentScore, *, hypothesis: str) -> Change:
        """Score another hypothesis against the segment's reference and return the changes; raises as `score` does."""
        (after,) = self.score(references=[segment.reference], hypotheses=[hypothesis])
        return Change(before=segment, after=after)

    @_as_guest()
    def load(self) -> None:
        """Load features and models now instead of at the first text. Raises ModelMissingError."""
        if self.idf == "embedded":
            _ = self._own_features
        self._analyses.load()

    @_as_guest()
    def measure_pairs(self, pairs: Sequence[CheckedPair]) -> FeatureTable:
        """Return the features of checked pairs, at least one; see `features`."""
        rows = [
            (pair.segment, index, [c.value for c in parts], [c.raw for c in parts], pack_flags(flags), [c.unit for c in parts])
            for block in self._measure(pairs)
            for pair, index, parts, flags in block
        ]
        segment, reference, values, raw, flags, units = zip(*rows, strict=True)
        return FeatureTable(
            *(np.array(segment), np.array(reference), np.array(values), np.array(raw)),
            units=tuple(units[0]),
            signature=self.feature_signature,
            flags=np.array(flags),
            flag_names=FLAGS,
        )

    @_as_guest()
    def score_pairs(self, pairs: Sequence[CheckedPair]) -> CorpusScore:
        """Score checked pairs; see `score`."""
        net = self.combiner  # report a missing net before anything is analysed
        signature = f"{self.feature_signature}|{net.signature}" if pairs else ""
        segments = (segment for block in self._measure(pairs) for segment in self._combined(block, signature))
        return CorpusScore(tuple(segments), signature)

    def __deepcopy__(self, memo: object) -> RoMe:
        """Return the metric itself: its options do not change, and its models are loaded once."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the options alone."""
        return _unpickled, (replace(self.config, progress=False, precision=self.precision),)

    def _combined(self, candidates: Sequence[Candidate], signature: str) -> Iterator[SegmentScore]:
        """Combine the candidates of whole segments and keep the best of each, the first of equals."""
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

    def _measure(self, pairs: Sequence[CheckedPair]) -> Iterator[list[Candidate]]:
        """Yield the candidates of each block in order; texts are analysed block by block, so that memory stays bounded."""
        features = self._features(self._reference_table(pairs)) if self.idf == "references" else self._own_features
        syntax = self.configs[1]
        with progress_bar(self.config.progress, len(pairs)) as bar:
            for start in range(0, len(pairs), BLOCK):
                block = pairs[start : start + BLOCK]
                candidates = [(pair, index) for pair in block for index in range(len(pair.references))]
                divided = [windows_of(pair.references[index], pair.hypothesis) for pair, index in candidates]
                read = [(window.reference, window.hypothesis) for windows in divided for window in windows.read]
                texts = self.analyse_pairs(read)
                flags = (flags_of(*each, english=self._idf_table, syntax=syntax) for each in texts)
                found = zip(compare_pairs(features, texts), flags, strict=True)
                yield [
                    (pair, index, *windows.joined(list(islice(found, len(windows.read)))))
                    for (pair, index), windows in zip(candidates, divided, strict=True)
                ]
                bar.update(len(block))

    @cached_property
    def _own_features(self) -> tuple[Feature[Any], ...]:
        """Return the features for the model set's own IDF table."""
        return self._features(self._idf_table)

    def _features(self, table: IdfTable) -> tuple[Feature[Any], ...]:
        """Return the features for an IDF table."""
        resources = Resources(
            table, self.model_set.folder, self.config.threads, self.device, self.config.batch_size, self.precision
        )
        with without_widget_advice():
            return tuple(feature_class(name).make(config, resources) for name, config in zip(FEATURES, self.configs, strict=True))

    def _reference_table(self, pairs: Sequence[CheckedPair]) -> IdfTable:
        """Return an IDF table over the distinct references of this call."""
        references = dict.fromkeys(text for pair in pairs for text in pair.references)
        texts = [compared(window.reference).text for text in references for window in windows_of(text, "").read]
        words = (
            [w.text for w in a.words]
            for start in range(0, len(texts), BLOCK)
            for a in self._analyses.of(texts[start : start + BLOCK]).values()
        )
        return IdfTable.from_texts(words, "references")


def _unpickled(config: MetricConfig) -> RoMe:
    """Make a metric of pickled options, with one thread in a worker process."""
    forked = os.getpid() != _IMPORTED_BY
    if forked:  # it would wait for threads of torch that exist only in its parent
        with suppress(ImportError):
            import torch

            torch.set_num_threads(1)
    return RoMe(**vars(replace(config, threads=1) if forked or parent_process() is not None else config))

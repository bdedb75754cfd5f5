"""RoMe, the metric: check -> analyse -> measure -> combine -> report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rome.analyses import Analyses, Seen
from rome.combiner import Combiner
from rome.exceptions import InputError
from rome.features.analyser.config import DEFAULT_SET, ModelConfig
from rome.features.analyser.model_set import ModelSet
from rome.features.errors.lexicon import Lexicon
from rome.features.idf import IdfTable
from rome.features.protocol import Feature, Resources, compared, feature_class
from rome.features.values import FEATURES, Analysis, Component
from rome.flags import FLAGS, flags_of, pack_flags
from rome.inputs import EmptyReference, Pair, check_pairs, check_texts
from rome.results import Components, Contributions, CorpusScore, SegmentScore
from rome.settings import feature_configs
from rome.signature import feature_signature
from rome.supervision import SCORERS, Scorer
from rome.table import FeatureTable

if TYPE_CHECKING:
    from rome.what_if import Change

__all__ = ["RoMe"]

BLOCK = 1000
COMBINED = 256
"""Candidates that the net takes at once; the numbers do not depend on it."""
Measured = tuple[Component, ...]
Candidate = tuple[Pair, int, Measured, tuple[str, ...]]
"""A hypothesis against one of its references, by its index: the four components, and the flags."""


class RoMe:
    """Compares hypotheses with references through four features and one learned score, each in [0, 1], 1 is best.

    models : a model set ("base" or "small", which the package carries, or the folder of another), "paper" (the models of the RoMe
        paper) or a ModelConfig. Settings, word weights and net are those of the set.
    emd : "soft" is RoMe in full; "aligned" and "standard" are the ablations of its table 5.
    rho : the share of their cosine that words outside the alignment are credited with, see SemanticConfig; 0 is the paper's distance,
        None takes what the models were measured best with.
    idf : "embedded", or "references" to weigh words by how rare they are in the references of each call (a score then depends on
        the other segments).
    store : a file that keeps analyses between runs; made when absent. None keeps them in memory for one call.
    progress : True, False, or None for a bar on stderr when that is a terminal. threads : CPU threads; None leaves torch's choice.
    empty_reference : "error" refuses an empty reference, "score" scores it (every word of the hypothesis is unnecessary).
    combiner : the net; the set's own by default. It was trained on the features of the default settings: with other
        settings its scores rank, but the scale of the model card no longer holds.
    scorer : "supervised" takes, in place of the set's net, the one that was fitted on human ratings (its card says which);
        results and signature say so.
    errors : "learned" estimates mistakes with the reader of both texts, "edit-script" with closed rules alone. None takes the learned
        one where the set has a reader and the encoder is the set's own, whose trunk it belongs to, and the rules elsewhere.

    Models are loaded at the first text that needs them. Raises InputError and ModelMissingError.
    """

    def __init__(
        self,
        *,
        models: str | PathLike[str] | ModelConfig = DEFAULT_SET,
        emd: Literal["soft", "aligned", "standard"] = "soft",
        rho: float | None = None,
        idf: Literal["embedded", "references"] = "embedded",
        store: str | PathLike[str] | None = None,
        progress: bool | None = None,
        threads: int | None = None,
        empty_reference: EmptyReference = "error",
        combiner: Combiner | None = None,
        scorer: Scorer = "unsupervised",
        errors: Literal["learned", "edit-script"] | None = None,
    ) -> None:
        if emd not in ("soft", "aligned", "standard"):
            raise InputError(f'emd={emd!r} is unknown: choose "soft", "aligned" or "standard"')
        if idf not in ("embedded", "references"):
            raise InputError(f'idf={idf!r} is unknown: choose "embedded" or "references"')
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
            raise InputError(f"threads={threads!r} is no number of threads: give 1 or more, or None for torch's own choice")
        if scorer not in SCORERS:
            raise InputError(f'scorer={scorer!r} is unknown: choose "unsupervised" or "supervised"')
        if combiner is not None and scorer != "unsupervised":
            raise InputError(f'combiner= and scorer="{scorer}" name two nets: give one of them')
        if errors not in (None, "learned", "edit-script"):
            raise InputError(f'errors={errors!r} is unknown: choose "learned" or "edit-script"')
        self.models = ModelConfig.of(models)
        self.model_set = ModelSet.load(self.models.set)
        if scorer == "supervised" and not self.model_set.has(SCORERS[scorer]):
            Combiner.load(models=self.model_set.folder, scorer=scorer)  # says what to do
        self.configs = feature_configs(self.models, self.model_set, emd=emd, rho=rho, errors=errors)
        self.idf, self.empty_reference = idf, empty_reference
        self._analyses = Analyses(self.models, None if store is None else Path(store), progress, threads)
        self._idf_table = IdfTable.load(self.model_set.folder / "idf" / "idf.parquet")
        self._lexicon = Lexicon.load(self.model_set.folder / "lexicon" / "antonyms.tsv")
        self._combiner, self._scorer = combiner, scorer
        self._lock = Lock()
        self._made: tuple[Feature[Any], ...] = ()

    @property
    def combiner(self) -> Combiner:
        """The net that turns the four values into the score."""
        if self._combiner is None:
            self._combiner = Combiner.load(models=self.model_set.folder, scorer=self._scorer)
        return self._combiner

    @property
    def feature_signature(self) -> str:
        """Every choice that changes a component."""
        table = self._idf_table.name if self.idf == "embedded" else "references"
        name = "+".join((self.model_set.name, *self.models.foreign))
        return feature_signature(name, self._analyses.models_identity, table, *self.configs)

    @property
    def signature(self) -> str:
        """Every choice that changes the score: those of the features, and the net."""
        return f"{self.feature_signature}|{self.combiner.signature}"

    def analyse(self, texts: Sequence[str]) -> dict[str, Analysis]:
        """The analysis of each distinct text, from the store where it is there. Raises InputError for what `score` would not take."""
        return self._analyses.of(check_texts(texts))

    def begin_block(self) -> None:
        """From here on the numbers depend on nothing that earlier calls left in memory, only on the texts and the store.

        For work that is cut into blocks, see `rome.streaming`: what is in memory is dropped, but for shared texts, and new analyses
        reach the store at most 1,000 pairs at a time, all or none.
        """
        self._analyses.begin_block()

    def share(self, texts: Sequence[str]) -> None:
        """Keep the analyses of these texts, which several blocks hold, for all of them; they are analysed in groups of their own."""
        self._analyses.share(texts)

    def features(self, *, references: Sequence[str | Sequence[str]], hypotheses: Sequence[str]) -> FeatureTable:
        """The four features of every candidate (a hypothesis against one of its references) as a table; see `score`."""
        pairs = check_pairs(references, hypotheses, empty_reference=self.empty_reference)
        rows = [
            (pair.segment, index, [c.value for c in parts], [c.raw for c in parts], pack_flags(flags), [c.unit for c in parts])
            for pair, index, parts, flags in self._measure(pairs)
        ]
        return FeatureTable(
            segment=np.array([row[0] for row in rows], dtype=np.int64),
            reference=np.array([row[1] for row in rows], dtype=np.int32),
            values=np.array([row[2] for row in rows], dtype=np.float64).reshape(-1, len(FEATURES)),
            raw=np.array([row[3] for row in rows], dtype=np.float64).reshape(-1, len(FEATURES)),
            units=tuple(rows[0][5]),
            signature=self.feature_signature,
            flags=np.array([row[4] for row in rows], dtype=np.uint32),
            flag_names=FLAGS,
        )

    def score(self, *, references: Sequence[str | Sequence[str]], hypotheses: Sequence[str]) -> CorpusScore:
        """Score each hypothesis against its reference, or against the one of its references that it matches best.

        references : one text, or a list of texts, for each hypothesis. hypotheses : one text a segment; may be empty.
        Raises InputError for anything else, naming the segment. What was analysed before an error or an interruption is in the store.
        """
        pairs = check_pairs(references, hypotheses, empty_reference=self.empty_reference)
        net = self.combiner  # a missing net is reported before anything is analysed
        signature = f"{self.feature_signature}|{net.signature}" if pairs else ""
        segments: list[SegmentScore] = []
        waiting: list[Candidate] = []
        for candidate in self._measure(pairs):
            if len(waiting) >= COMBINED and candidate[0].segment != waiting[-1][0].segment:
                segments += self._combined(waiting, signature)
                waiting = []
            waiting.append(candidate)
        segments += self._combined(waiting, signature) if waiting else []
        return CorpusScore(tuple(segments), signature)

    def what_if(self, segment: SegmentScore, *, hypothesis: str) -> Change:
        """Score another hypothesis against the segment's reference: what moved, component by component. See `score` for the errors."""
        from rome.what_if import Change

        (after,) = self.score(references=[segment.reference], hypotheses=[hypothesis])
        return Change(before=segment, after=after)

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

    def _measure(self, pairs: Sequence[Pair]) -> Iterator[Candidate]:
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
                for (pair, index), each, measured in zip(candidates, texts, compared(features, texts), strict=True):
                    yield pair, index, measured, flags_of(*each)

    def _features(self, table: IdfTable) -> tuple[Feature[Any], ...]:
        """The features; those for the table that most calls share are made once."""
        with self._lock:
            if table is self._idf_table and self._made:
                return self._made
            resources = Resources(table, self._lexicon, self.model_set.folder, self._analyses.threads)
            made = tuple(
                feature_class(name).make(config, resources) for name, config in zip(FEATURES, self.configs, strict=True)
            )
            if table is self._idf_table:
                self._made = made
            return made

    def _reference_table(self, pairs: Sequence[Pair], seen: Seen) -> IdfTable:
        """An IDF table over the distinct references of this call."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair.references))
        words = (
            [w.text for w in a.words]
            for start in range(0, len(texts), BLOCK)
            for a in self._analyses.of(texts[start : start + BLOCK], seen).values()
        )
        return IdfTable.from_texts(words, "references")

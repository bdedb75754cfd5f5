"""Provide analyses from memory, from the store, or from the models, which are loaded at the first text that needs them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from rome.config import MetricConfig
from rome.features.analyser.model_set import RUN, arithmetic, models_identity
from rome.features.packages import check_versions
from rome.features.values import Analysis
from rome.progress import without_widget_advice
from rome.storage.analysis_store import AnalysisStore

if TYPE_CHECKING:
    from rome.features.analyser.analyser import Analyser

KEPT = 60_000
"""Words of the texts that stay in memory, about 200 MB; a text without words counts as one."""
BATCH = 64


class Analyses:
    """Provide the Analysis of any text; each distinct text passes the models at most once.

    Parameters
    ----------
    config
        The options of the metric, with the device and the precision that were found. The most recently used analyses stay in memory between
        blocks and calls, up to KEPT words of them. Threads are served one at a time.
    """

    def __init__(self, config: MetricConfig) -> None:
        self.config, self.models = config, config.model_config
        self.path = None if config.store is None else Path(config.store)
        self._lock = RLock()
        self._analyser: Analyser | None = None
        self._memory: OrderedDict[str, Analysis] = OrderedDict()
        self._words = 0

    @cached_property
    def models_identity(self) -> str:
        """Return what identifies the models. Raises ModelMissingError as `ModelSet.load`."""
        return models_identity(self.models)

    def load(self) -> Analyser:
        """Return the models, loading them at the first call."""
        with self._lock:
            if self._analyser is None:
                check_versions()
                with without_widget_advice():
                    from rome.features.analyser.analyser import Analyser
                how = {name: getattr(self.config, name) for name in ("threads", "device", "batch_size", "precision")}
                self._analyser = Analyser(self.models, **how)
            return self._analyser

    def of(self, texts: Sequence[str]) -> dict[str, Analysis]:
        """Return the analysis of each distinct text; new ones are stored batch by batch, so an interruption loses one batch."""
        wanted = dict.fromkeys(texts)
        with self._lock:
            analyses = {text: self._memory[text] for text in wanted if text in self._memory}
            analyses |= self._analysed([text for text in wanted if text not in analyses])
            self._keep(analyses)
        return analyses

    def _analysed(self, texts: Sequence[str]) -> dict[str, Analysis]:
        """Return the analyses of distinct texts from the store or, the longest first, from the models."""
        if not texts:
            return {}
        store, identity, analyses = None, "", dict[str, Analysis]()
        if self.path is not None:
            store = AnalysisStore(self.path)
            identity = f"{self.models_identity},{arithmetic(self.config.device, self.config.precision)},{RUN}"
            analyses = store.get_many(texts, identity=identity)
        missing = sorted((text for text in texts if text not in analyses), key=len, reverse=True)
        new = iter(self.load().analyse(missing) if missing else ())
        while batch := list(islice(new, BATCH)):
            if store is not None:
                store.put_many(batch, identity=identity)
            analyses |= {analysis.text: analysis for analysis in batch}
        return analyses

    def _keep(self, analyses: dict[str, Analysis]) -> None:
        """Put analyses into memory, and drop those used longest ago when it is full."""
        for text, analysis in analyses.items():
            if text not in self._memory:
                self._words += _size(analysis)
            self._memory[text] = analysis
            self._memory.move_to_end(text)
        while self._words > KEPT:
            self._words -= _size(self._memory.popitem(last=False)[1])


def _size(analysis: Analysis) -> int:
    return max(1, len(analysis.words))

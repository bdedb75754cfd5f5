"""Provide analyses from memory, from the store, or from the models, which are loaded at the first text that needs them."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from itertools import islice
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from rome.checks import CheckedPair
from rome.features.analyser.config import BATCH_SIZE, ModelConfig
from rome.features.analyser.model_set import RUN, arithmetic, models_identity
from rome.features.packages import check_versions, import_failed
from rome.features.values import Analysis
from rome.progress import progress_bar, without_widget_advice
from rome.storage.analysis_store import AnalysisStore

if TYPE_CHECKING:
    from rome.features.analyser.analyser import Analyser

KEPT = 60_000
"""Words of the texts that stay in memory, about 200 MB; a text without words counts as one."""
BATCH = 64
Seen = Callable[[Iterable[str]], None]
"""Called with texts whose analyses are available."""


class Analyses:
    """Provide the Analysis of any text; each distinct text passes the models at most once.

    Parameters
    ----------
    path
        The store's file, or None. The most recently used analyses stay in memory between blocks and calls, up to KEPT words of them. Threads
        are served one at a time.
    """

    def __init__(
        self,
        models: ModelConfig,
        path: Path | None,
        progress: bool | None,
        threads: int | None,
        device: str = "cpu",
        batch_size: int = BATCH_SIZE,
        precision: str = "float32",
    ) -> None:
        self.models, self.path, self.progress, self.threads = models, path, progress, threads
        self.device, self.batch_size, self.precision = device, batch_size, precision
        self._lock = RLock()
        self._analyser: Analyser | None = None
        self._memory: OrderedDict[str, Analysis] = OrderedDict()
        self._words = 0
        self._batch = BATCH
        self._groups: dict[str, tuple[str, ...]] = {}
        self._shared: dict[str, Analysis] = {}

    def share(self, texts: Sequence[str]) -> None:
        """Keep the analyses of these texts in memory; a group of them is analysed when one of its texts is first needed."""
        groups = (tuple(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH))
        with self._lock:
            self._groups = {text: group for group in groups for text in group}
            self._shared = {}

    def begin_block(self) -> None:
        """Forget all but shared texts, and from now on store the new analyses of a call together, all or none."""
        with self._lock:
            self._memory.clear()
            self._words = 0
            self._batch = sys.maxsize

    @cached_property
    def models_identity(self) -> str:
        """Return what identifies the models. Raises ModelMissingError as `ModelSet.load`."""
        return models_identity(self.models)

    def load(self) -> Analyser:
        """Return the models, loading them at the first call. Raises ModelMissingError when the extra ``models`` is not installed."""
        with self._lock:
            if self._analyser is None:
                check_versions()
                try:
                    with without_widget_advice():
                        from rome.features.analyser.analyser import Analyser
                except ImportError as error:
                    what = "analysing text, unlike `rome rescore` of stored features,"
                    raise import_failed(error, what, '"rome-metric[models]"') from error
                self._analyser = Analyser(
                    self.models,
                    threads=self.threads,
                    device=self.device,
                    batch_size=self.batch_size,
                    precision=self.precision,
                )
            return self._analyser

    @contextmanager
    def progress_bar(self, pairs: Sequence[CheckedPair]) -> Iterator[Seen]:
        """Show a bar over distinct texts and yield the function that advances it; silent unless stderr is a terminal or progress is True."""
        waiting = {text for pair in pairs for text in (*pair.references, pair.hypothesis)}
        with progress_bar(self.progress, len(waiting), unit="text") as bar:

            def seen(texts: Iterable[str]) -> None:
                done = waiting.intersection(texts)
                waiting.difference_update(done)
                bar.update(len(done))

            yield seen

    def of(self, texts: Sequence[str], seen: Seen = lambda _: None) -> dict[str, Analysis]:
        """Return the analysis of each distinct text; new ones are stored batch by batch, so an interruption loses one batch."""
        wanted = dict.fromkeys(texts)
        with self._lock:
            for text in wanted:
                if text in self._groups and text not in self._shared:
                    self._shared |= self._analysed(self._groups[text], seen)
            analyses = {text: known[text] for known in (self._memory, self._shared) for text in wanted if text in known}
            seen(analyses)
            analyses |= self._analysed([text for text in wanted if text not in analyses], seen)
            self._keep({text: analysis for text, analysis in analyses.items() if text not in self._shared})
        return analyses

    def _analysed(self, texts: Sequence[str], seen: Seen) -> dict[str, Analysis]:
        """Return the analyses of distinct texts from the store or, the longest first, from the models."""
        if not texts:
            return {}
        with AnalysisStore(self.path) if self.path is not None else nullcontext() as store:
            identity, analyses = "", dict[str, Analysis]()
            if store is not None:
                identity = f"{self.models_identity},{arithmetic(self.device, self.precision)},{RUN}"
                analyses = store.get_many(texts, identity=identity)
            seen(analyses)
            missing = sorted((text for text in texts if text not in analyses), key=len, reverse=True)
            new = iter(self.load().analyse(missing) if missing else ())
            while batch := list(islice(new, self._batch)):
                if store is not None:
                    store.put_many(batch, identity=identity)
                analyses |= {analysis.text: analysis for analysis in batch}
                seen([analysis.text for analysis in batch])
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

"""Analyses on demand: from memory, from the store, or from the models, which are loaded at the first text that needs them."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
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
"""Told of texts whose analyses are there."""


class Analyses:
    """Gives the Analysis of any text, each distinct text through the models at most once.

    Parameters
    ----------
    path
        The store's file, or None. The analyses used last stay in memory between blocks and calls, up to KEPT words of them. Several threads may
        ask at once; one of them is served at a time.
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
        """Analyse these texts in groups of their own, each when one of its texts is needed for the first time, and keep them in memory."""
        groups = (tuple(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH))
        with self._lock:
            self._groups = {text: group for group in groups for text in group}
            self._shared = {}

    def begin_block(self) -> None:
        """Drop what is in memory but for shared texts, and from now on store new analyses in one go.

        So a block is known to the store whole or not at all.
        """
        with self._lock:
            self._memory.clear()
            self._words = 0
            self._batch = sys.maxsize

    @cached_property
    def models_identity(self) -> str:
        """Which models these are; their files are read and hashed once. Raises ModelMissingError as `ModelSet.load`."""
        return models_identity(self.models)

    def load(self) -> Analyser:
        """The models, loaded unless they are. Raises ModelMissingError, with the install line, when the extra ``models`` is not there."""
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
        """A bar over distinct texts on stderr, moved by what it gives; silent unless that is a terminal or progress is True."""
        waiting = {text for pair in pairs for text in (*pair.references, pair.hypothesis)}
        with progress_bar(self.progress, len(waiting), unit="text") as bar:

            def seen(texts: Iterable[str]) -> None:
                done = waiting.intersection(texts)
                waiting.difference_update(done)
                bar.update(len(done))

            yield seen

    def of(self, texts: Sequence[str], seen: Seen = lambda _: None) -> dict[str, Analysis]:
        """The analysis of each distinct text; what the models make is stored batch by batch, so an interruption loses one batch."""
        wanted = dict.fromkeys(texts)
        with self._lock:
            for text in wanted:
                if text in self._groups and text not in self._shared:
                    self._shared |= self._found(dict.fromkeys(self._groups[text]), {}, seen)
            found = {text: self._memory[text] for text in wanted if text in self._memory}
            found |= {text: self._shared[text] for text in wanted if text in self._shared}
            found = self._found(wanted, found, seen)
            self._keep({text: analysis for text, analysis in found.items() if text not in self._shared})
        return found

    def _found(self, wanted: Iterable[str], found: dict[str, Analysis], seen: Seen) -> dict[str, Analysis]:
        """What is found and all other texts wanted, from the store or the models."""
        with AnalysisStore(self.path) if self.path is not None else nullcontext() as store:
            identity = ""
            if store is not None:
                identity = f"{self.models_identity},{arithmetic(self.device, self.precision)},{RUN}"
                found |= store.get_many([text for text in wanted if text not in found], identity=identity)
            seen(found)
            for batch in self._analysed([text for text in wanted if text not in found]):
                if store is not None:
                    store.put_many(batch, identity=identity)
                found |= {analysis.text: analysis for analysis in batch}
                seen([analysis.text for analysis in batch])
        return found

    def _analysed(self, texts: Sequence[str]) -> Iterator[list[Analysis]]:
        """Lists of new analyses, longest texts first, so that batches hold texts of similar length."""
        batch: list[Analysis] = []
        for analysis in self.load().analyse(sorted(texts, key=len, reverse=True)) if texts else ():
            batch.append(analysis)
            if len(batch) == self._batch:
                yield batch
                batch = []
        if batch:
            yield batch

    def _keep(self, found: dict[str, Analysis]) -> None:
        for text, analysis in found.items():
            if text not in self._memory:
                self._words += _size(analysis)
            self._memory[text] = analysis
            self._memory.move_to_end(text)
        while self._words > KEPT:
            self._words -= _size(self._memory.popitem(last=False)[1])


def _size(analysis: Analysis) -> int:
    return max(1, len(analysis.words))

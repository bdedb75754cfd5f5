"""The columns of RoMe's component ablation: three semantic variants and the other features, measured once."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rome.evaluation.metrics.pairs import PairValues
from rome.evaluation.metrics.score_store import ScoreStore, TextPair
from rome.exceptions import InputError, StoreError
from rome.features.errors.learned import LearnedErrors
from rome.features.errors.lexicon import Lexicon
from rome.features.grammar import Grammar
from rome.features.idf import IdfTable
from rome.features.protocol import Feature, Resources, compared
from rome.features.semantic import Semantic
from rome.features.syntax import Syntax
from rome.files import atomic_path
from rome.inputs import check_pairs
from rome.metric import RoMe

__all__ = ["COLUMNS", "GROWING_SETS", "AblationFeatures", "features_of", "texts_digest"]

COLUMNS = ("standard", "aligned", "soft", "syntax", "grammar", "errors")
"""The measured columns: the semantic component by its three transport costs, then the other three components."""

GROWING_SETS: dict[str, tuple[str, ...]] = {
    "EMD standard": ("standard",),
    "EMD aligned": ("aligned",),
    "EMD soft": ("soft",),
    "+ TED-SE": ("soft", "syntax"),
    "+ grammar": ("soft", "syntax", "grammar"),
    "+ errors": ("soft", "syntax", "grammar", "errors"),
}
"""The rows of RoMe's table 5, and the errors component, which is this package's own."""

FORMAT = "rome-ablation-1"


@dataclass(frozen=True, eq=False)
class AblationFeatures:
    """One row a candidate (a hypothesis against one of its references), in the order of the segments.

    segment : (m,) int64, 0 to n - 1, rising. values : (m, 6) float64 in [0, 1], columns as COLUMNS.
    signature : every choice that changes a number. texts : `texts_digest` of the references and hypotheses that were measured.
    """

    segment: NDArray[np.int64]
    values: NDArray[np.float64]
    signature: str = ""
    texts: str = ""

    def __len__(self) -> int:
        """Number of segments."""
        return int(self.segment[-1]) + 1 if len(self.segment) else 0

    def matrix(self, columns: Sequence[str]) -> NDArray[np.float64]:
        """(n, d) one row a segment with the named columns, of the reference that the hypothesis is nearest to.

        That is the candidate with the highest value of the first semantic column among ``columns`` (of ``soft`` when none is
        there), the first of equals. The choice uses no rating and no fitted net, so rows that train and rows that test are made
        alike; with the semantic column alone it is the usual maximum over references. Raises InputError for an unknown column.
        """
        unknown = [name for name in columns if name not in COLUMNS]
        if unknown or not columns:
            raise InputError(f"the columns {', '.join(unknown) or '(none)'} are unknown: choose from {', '.join(COLUMNS)}")
        key = next((name for name in columns if name in COLUMNS[:3]), "soft")
        order = np.lexsort((-self.values[:, COLUMNS.index(key)], self.segment))  # stable: the first of equals stays first
        best = order[np.r_[True, np.diff(self.segment[order]) > 0]] if len(order) else order
        return self.values[best][:, [COLUMNS.index(name) for name in columns]]

    def save(self, path: str | PathLike[str]) -> None:
        """Write the columns as npz without pickles, whole or not at all. Raises StoreError when that fails."""
        described = json.dumps({"format": FORMAT, "columns": COLUMNS, "signature": self.signature, "texts": self.texts})
        try:
            with atomic_path(path) as name, open(name, "wb") as file:
                np.savez_compressed(file, segment=self.segment, values=self.values, described=np.array(described))
        except OSError as error:
            raise StoreError(f"{path} cannot be written ({error.strerror}): choose another folder") from error

    @staticmethod
    def load(path: str | PathLike[str]) -> AblationFeatures:
        """Read what `save` wrote, bit by bit. Raises StoreError for a file that is missing, damaged or of another kind."""
        try:
            with np.load(path, allow_pickle=False) as file:
                described = json.loads(str(file["described"]))
                segment, values = file["segment"], file["values"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise StoreError(f"{path} holds no ablation features ({error}): remove it and measure again") from error
        if described.get("format") != FORMAT or described.get("columns") != list(COLUMNS) or values.shape != (len(segment), 6):
            raise StoreError(f"{path} holds ablation features of another version: remove it and measure again")
        return AblationFeatures(segment, values, described["signature"], described["texts"])


def features_of(
    metric: RoMe,
    references: Sequence[Sequence[str]],
    hypotheses: Sequence[str],
    *,
    store: ScoreStore | None = None,
    progress: bool | None = None,
) -> AblationFeatures:
    """Measure the six columns for every candidate; each text is analysed once, each distinct pair measured once.

    metric : decides models and settings; its own choice of ``emd`` does not matter. It must weigh words by the embedded IDF table.
    store : keeps the six numbers of each pair between runs. progress : True, False, or None for a bar when stderr is a terminal.
    Raises InputError as `RoMe.score` does.
    """
    if metric.idf != "embedded":
        raise InputError('the ablation weighs words by the embedded table: pass RoMe(idf="embedded")')
    checked = check_pairs(references, hypotheses, empty_reference=metric.empty_reference)
    candidates = [(reference, pair.hypothesis) for pair in checked for reference in pair.references]
    signature, parts = ablation_signature(metric), _parts(metric)
    values = PairValues(
        signature,
        lambda pairs: _measured(metric, parts, pairs),
        width=len(COLUMNS),
        store=store,
        progress=progress,
        label="ablation",
    ).of(candidates)
    texts = texts_digest([pair.references for pair in checked], [pair.hypothesis for pair in checked])
    segment = np.repeat(np.arange(len(checked), dtype=np.int64), [len(pair.references) for pair in checked])
    return AblationFeatures(segment, values, signature, texts)


def ablation_signature(metric: RoMe) -> str:
    """The signature of the metric's features with all three transport costs in the place of its own."""
    own = f"|emd:{metric.configs[0].emd}|"
    return metric.feature_signature.replace(own, f"|emd:{','.join(COLUMNS[:3])}|")


def texts_digest(references: Sequence[Sequence[str]], hypotheses: Sequence[str]) -> str:
    """16 hexadecimal digits that change when any text, or which belong together, does."""
    rows = [[[row] if isinstance(row, str) else list(row), text] for row, text in zip(references, hypotheses, strict=True)]
    return hashlib.blake2b(json.dumps(rows, ensure_ascii=False).encode("utf-8"), digest_size=8).hexdigest()


def _parts(metric: RoMe) -> tuple[Feature[Any], ...]:
    """The measures of the six columns, with the metric's settings."""
    folder = metric.models.folder
    table, lexicon = IdfTable.load(folder / "idf" / "idf.parquet"), Lexicon.load(folder / "lexicon" / "antonyms.tsv")
    semantic, syntax, grammar, errors, *_ = metric.configs
    return (
        Semantic(table, replace(semantic, emd="standard")),
        Semantic(table, replace(semantic, emd="aligned")),
        Semantic(table, replace(semantic, emd="soft")),
        Syntax(syntax),
        Grammar(grammar),
        LearnedErrors.make(errors, Resources(table, lexicon, folder)),
    )


def _measured(metric: RoMe, parts: Sequence[Feature[Any]], pairs: Sequence[TextPair]) -> NDArray[np.float64]:
    """(n, 6) the columns of some pairs of reference and hypothesis."""
    analyses = metric.analyse([text for pair in pairs for text in pair])
    found = compared(parts, [(analyses[one], analyses[other]) for one, other in pairs])
    rows = [[component.value for component in row] for row in found]
    return np.array(rows, dtype=np.float64).reshape(-1, len(COLUMNS))

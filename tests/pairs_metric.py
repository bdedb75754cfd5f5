"""What RoMe has beside `score` and `features`, for metrics without models that stand in its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rome.checks import CheckedPair
from rome.combining.table import FeatureTable
from rome.results import CorpusScore


class PairsMetric:
    """Scores and measures checked pairs by what its subclass says of texts."""

    def score_pairs(self, pairs: Sequence[CheckedPair]) -> CorpusScore:
        result = self.score(**_texts(pairs))  # type: ignore[attr-defined]
        numbered = (replace(segment, segment=pair.segment) for segment, pair in zip(result, pairs, strict=True))
        return replace(result, segments=tuple(numbered))

    def measure_pairs(self, pairs: Sequence[CheckedPair]) -> FeatureTable:
        table = self.features(**_texts(pairs))  # type: ignore[attr-defined]
        return replace(table, segment=table.segment + pairs[0].segment)


def _texts(pairs: Sequence[CheckedPair]) -> dict[str, Any]:
    return {"references": [list(pair.references) for pair in pairs], "hypotheses": [pair.hypothesis for pair in pairs]}

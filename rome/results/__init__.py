"""Scores with their evidence, comparisons of systems, counterfactuals, gates."""

from __future__ import annotations

from rome.results.corpus import CorpusScore
from rome.results.segment import Change, ComponentMeans, Components, Contributions, Counterfactual, Evidence, SegmentScore

__all__ = [
    "Change",
    "ComponentMeans",
    "Components",
    "Contributions",
    "CorpusScore",
    "Counterfactual",
    "Evidence",
    "SegmentScore",
]

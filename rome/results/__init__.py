"""What a user holds after scoring: scores with their evidence, comparisons of systems, counterfactuals."""

from __future__ import annotations

from rome.results.scores import ComponentMeans, Components, Contributions, CorpusScore, Evidence, SegmentScore

__all__ = ["ComponentMeans", "Components", "Contributions", "CorpusScore", "Evidence", "SegmentScore"]

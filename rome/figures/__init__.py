"""Figures for files, drawn with matplotlib: one function each that returns a figure, and `save` for PNG, SVG and PDF."""

from rome.reports.figures import (
    comparison_figure,
    corpus_figure,
    correlations_figure,
    matrices_figure,
    save,
    segment_figure,
    trees_figure,
)

__all__ = [
    "comparison_figure",
    "corpus_figure",
    "correlations_figure",
    "matrices_figure",
    "save",
    "segment_figure",
    "trees_figure",
]

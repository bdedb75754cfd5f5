"""Figures for files, drawn with matplotlib: one function each that returns a figure, and `save` for PNG, SVG and PDF.

Importing this room loads no matplotlib; drawing does, without pyplot, so that no window, no global figure and no backend is touched.
"""

from rome.figures.canvas import save
from rome.figures.comparison import comparison_figure
from rome.figures.corpus import corpus_figure, correlations_figure
from rome.figures.matrices import matrices_figure
from rome.figures.segment import segment_figure
from rome.figures.trees import trees_figure

__all__ = [
    "comparison_figure",
    "corpus_figure",
    "correlations_figure",
    "matrices_figure",
    "save",
    "segment_figure",
    "trees_figure",
]

"""The table of a corpus: one line a segment, as `rome score` prints it, row by row or of results in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rome.combining.signature import supervision_note
from rome.features.values import FEATURES
from rome.reports.segment import error_note
from rome.text_table import aligned, shorten

if TYPE_CHECKING:
    from rome.results import CorpusScore, SegmentScore

RIGHT = [True] * (2 + len(FEATURES))
"""Segment and numbers stand at the right of their columns, the texts after them at the left."""
HYPOTHESIS_WIDTH, NOTE_WIDTH, WORST = 36, 44, 3
WHOLE = 200
"""Columns of a text in a table that is as wide as it likes; a longer one would fill every other row with blanks."""


def corpus_table(result: CorpusScore, notes: Sequence[str] | None = None) -> str:
    """One line a segment (score, components, hypothesis, flags and worst errors), then the means and the signature.

    Parameters
    ----------
    notes
        One text a segment for a column of its own, such as what kind of mistake an example shows.
    """
    header = corpus_header(notes is not None)
    rows = [
        corpus_row(segment, None if notes is None else notes[number]) for number, segment in enumerate(result.segments)
    ]
    right = RIGHT + [False] * (len(header) - len(RIGHT))
    means = (result.score, *result.components)
    table = "\n".join(aligned(header, rows, right, last=lambda: corpus_means(means, len(header))))
    return f"{table}\n\n{corpus_footer(len(result), result.score, result.signature)}"


def corpus_header(notes: bool) -> list[str]:
    """The names of the columns of a corpus table."""
    return ["segment", "score", *FEATURES, *(["example"] if notes else []), "hypothesis", "flags and worst errors"]


def corpus_row(segment: SegmentScore, note: str | None = None, *, whole: bool = False) -> list[str]:
    """The line of one segment in a corpus table; ``whole`` cuts its texts at WHOLE columns only."""
    values = [f"{value:.3f}" for value in (segment.score, *(c.value for c in segment.components))]
    narrow, wide = (WHOLE, WHOLE) if whole else (HYPOTHESIS_WIDTH, NOTE_WIDTH)
    texts = [shorten(segment.hypothesis, narrow), shorten(_remarks(segment), wide)]
    return [str(segment.segment), *values, *([] if note is None else [shorten(note, wide)]), *texts]


def corpus_means(means: Sequence[float], columns: int) -> list[str]:
    """The last line of a corpus table: the means of the score and the components."""
    return ["mean", *(f"{value:.3f}" for value in means), *[""] * (columns - len(RIGHT))]


def corpus_footer(segments: int, score: float, signature: str) -> str:
    """What stands below a corpus table."""
    label = supervision_note(signature)
    named = f"{'supervised ' if label else ''}score {score:.4f}"
    return f"{segments} segments, {named}, signature {signature}" + (f"\n{label}" if label else "")


def _remarks(segment: SegmentScore) -> str:
    """Flags first, then the worst errors."""
    evidence = segment.evidence.errors
    punished = [error for error in evidence.errors if error.severity != "none"] if evidence is not None else []
    errors = sorted(punished, key=lambda error: -error.weight)[:WORST]
    return "; ".join([*segment.flags, *(error_note(error) for error in errors)])

"""The parts of a report, independent of their display: texts with marks, tables, drawings and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rome.features.errors.evidence import ErrorSpan


@dataclass(frozen=True)
class Strip:
    """A drawing in a cell, on a scale from 0 to 1.

    Attributes
    ----------
    pieces
        Start, end, kind (a colour of the palette) and height in [0, 1].
    marks
        Place and kind (``mean``, ``was``, ``zero``).
    tall
        True for a histogram, whose pieces begin at the bottom.
    label
        Its content in words, for screen readers; empty where numbers are beside it.
    """

    pieces: tuple[tuple[float, float, str, float], ...] = ()
    marks: tuple[tuple[float, str], ...] = ()
    tall: bool = False
    label: str = ""


Cell = str | int | float | None
"""A table's cell; None and nan are shown as a dash."""


@dataclass(frozen=True)
class Table:
    """A table of rows of cells; strips are for display only.

    Attributes
    ----------
    name
        File name without ending.
    note
        One or two sentences below the title (definitions, ties).
    digits
        Displayed decimals, one number for all columns or by column name; files keep every digit.
    highest, lowest
        Columns whose highest (lowest) value is marked as the best one.
    intervals
        (value, low, high) columns that are displayed as one, ``0.182 [0.150, 0.214]``; files keep the three.
    signed
        Columns whose numbers always show their sign.
    right
        Columns of texts that are aligned to the right as numbers are.
    strong
        (row, column) of emphasised cells.
    rules
        Rows that a line follows.
    scale
        Labels below a column of drawings, from its left to its right end.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""
    digits: int | Mapping[str, int] = 3
    highest: tuple[str, ...] = ()
    lowest: tuple[str, ...] = ()
    intervals: tuple[tuple[str, str, str], ...] = ()
    signed: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    strong: tuple[tuple[int, str], ...] = ()
    rules: tuple[int, ...] = ()
    scale: tuple[str, ...] = ()
    header: bool = True


@dataclass(frozen=True, eq=False)
class Heatmap:
    """A matrix in colours with its numbers in the cells; the darker, the higher. nan is blank.

    Attributes
    ----------
    values
        (rows, columns).
    ends
        Of the scale of colours (default: the lowest and the highest value); with ends that are each other's negative, the two signs have
        different colours, and nan is a dash.
    """

    name: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: NDArray[np.float64]
    note: str = ""
    digits: int = 3
    ends: tuple[float, float] | None = None

    @property
    def signed(self) -> bool:
        """True when the two signs have different colours."""
        return self.ends is not None and self.ends[0] == -self.ends[1]


@dataclass(frozen=True)
class Bars:
    """One value with an interval per label (a leaderboard).

    Attributes
    ----------
    low, high
        Ends of the intervals.
    """

    name: str
    title: str
    labels: tuple[str, ...]
    values: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    axis: str = ""
    note: str = ""


@dataclass(frozen=True)
class Lines:
    """One line per series over a common x (quality drift, data sizes).

    Attributes
    ----------
    series
        Name -> y for each x (nan: no point).
    """

    name: str
    title: str
    x: tuple[float, ...]
    series: Mapping[str, Sequence[float]]
    x_label: str = ""
    y_label: str = ""
    note: str = ""


Figure = Heatmap | Bars | Lines


@dataclass(frozen=True)
class Head:
    """A number in large letters, its name, and labels beside it."""

    number: str
    words: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Note:
    """A paragraph.

    Attributes
    ----------
    kind
        ``note`` for an aside, ``verdict``, ``values``.
    """

    text: str
    kind: str = "note"


@dataclass(frozen=True)
class Mark:
    """An error in a text, from start to end; empty where a word is missing.

    Attributes
    ----------
    words
        Severity, kind and weight.
    """

    number: int
    severity: str
    start: int
    end: int
    words: str


@dataclass(frozen=True)
class Line:
    """A text with its name and its errors marked.

    Attributes
    ----------
    rest
        A note on the part that was cut.
    """

    name: str
    text: str
    marks: tuple[Mark, ...] = ()
    rest: str = ""


@dataclass(frozen=True)
class Texts:
    """Texts under each other."""

    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Errors:
    """The errors that count, in the order of their marks, and the differences that are not counted."""

    counted: tuple[ErrorSpan, ...]
    doubtful: tuple[ErrorSpan, ...] = ()


@dataclass(frozen=True)
class Link:
    """A word on each side of an alignment, empty where there is none.

    Attributes
    ----------
    text
        The similarity of two different words.
    words
        The link in words.
    """

    reference: str
    hypothesis: str
    text: str = ""
    words: str = ""
    alone: bool = False


@dataclass(frozen=True)
class Alignment:
    """Two texts word by word, one above the other."""

    links: tuple[Link, ...]


@dataclass(frozen=True)
class TreeNode:
    """A node: lemma, relation, steps from the root, and the row of its parent (None at the top)."""

    label: str
    relation: str
    depth: int
    parent: int | None


@dataclass(frozen=True)
class TreeRow:
    """One edit, ``match``, ``change``, ``insert`` or ``delete``, with its node on each side; None on the side that has none."""

    kind: str
    reference: TreeNode | None
    hypothesis: TreeNode | None


@dataclass(frozen=True)
class Trees:
    """Two trees row by row, as the edits pair their nodes."""

    rows: tuple[TreeRow, ...]
    label: str


@dataclass(frozen=True)
class Section:
    """A part that unfolds.

    Attributes
    ----------
    lead
        A number before the title.
    about
        The rest of the title, shown where there is room.
    note
        A text beside the title.
    """

    title: str
    parts: tuple[Part, ...]
    open: bool = True
    note: str = ""
    lead: str = ""
    about: str = ""


Part = Head | Note | Texts | Errors | Alignment | Trees | Table | Heatmap | Section


@dataclass(frozen=True)
class Document:
    """One result, explained.

    Attributes
    ----------
    label
        Its name for screen readers.
    """

    label: str
    parts: tuple[Part, ...]
    signature: str = ""

"""Tables of reports: nothing lost in files, cells as people see them, figures as tables of their numbers."""

from __future__ import annotations

import csv
import math
import re
from typing import Any

import numpy as np
import pytest

from rome.reports.model import Bars, Heatmap, Lines, Table
from rome.reports.tables import DASH, as_table, exact, shown, table_tsv
from rome.reports.text import table_text

NAN, INF = float("nan"), float("inf")
NASTY = (
    *("<script>document.title='taken'</script>", '"><img src=x onerror="document.title=1">', "</table></section>", "&amp;&lt;"),
    *("a\tb\nc\r\nd", "\\n is no line end", "nul \x00 bell \x07", "\u202eleft to right"),
    *("  two  spaces ", "", "$x_1$", "漢字 🙂"),
)
TEXTS = Table(
    "texts",
    "Texts <b>with</b> markup",
    ("text", "score", "count"),
    tuple((text, math.pi / (place + 1), place) for place, text in enumerate(NASTY)),
    note="A note & <i>more</i>.",
    highest=("score",),
)
BOARD = Table(
    "board",
    "Agreement",
    ("metric", "tau", "low", "high", "p"),
    (("RoMe", 0.5004, 0.41, 0.59, None), ("chrF2", 0.25, 0.2, NAN, 0.0123456789012345678), ("none", NAN, NAN, NAN, -1e-300)),
    digits={"tau": 2},
    highest=("tau",),
    lowest=("p",),
    intervals=(("tau", "low", "high"),),
)
HEAT = Heatmap(
    "heat",
    "Accuracy",
    ("negation", "<tense>", "empty"),
    ("BLEU", "$chrF_2$"),
    np.array([[0.5, 0.25], [NAN, 1.0], [0.125, 1 / 3]]),
)
BARS = Bars("bars", "Taus", ("a & b", "_c"), (0.3, NAN), (0.2, NAN), (0.4, NAN), "tau")
LINES = Lines("lines", "Drift", (0.0, 1.5), {"RoMe": [0.5, NAN], "_x": [0.25, 0.75]}, "alpha", "tau")
PARTS = (BOARD, TEXTS, HEAT, BARS, LINES)


def unescaped(cell: str) -> str:
    """What a cell of a table file stood for."""
    return re.sub(r"\\(.)", lambda found: {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}[found[1]], cell)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_tables_lose_nothing(part: Any) -> None:
    """Split without quoting, a file has every cell: numbers to the last digit, texts once they are unescaped."""
    table = as_table(part)
    lines = table_tsv(table).split("\n")[:-1]
    header, *rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    assert tuple(map(unescaped, header)) == table.columns and len(rows) == len(table.rows)
    for cells, row in zip(rows, table.rows, strict=True):
        for cell, value in zip(cells, row, strict=True):
            if isinstance(value, str):
                assert unescaped(cell).removeprefix("'") == value.removeprefix("'")
            elif value is None or value != value:
                assert cell == ""
            else:
                assert float(cell) == value


def test_figures_keep_their_numbers() -> None:
    """A figure's table holds its labels, ends and series."""
    assert as_table(HEAT).columns == ("row", "BLEU", "$chrF_2$")
    assert as_table(HEAT).rows[2] == ("empty", 0.125, 1 / 3)
    assert as_table(BARS).rows[0] == ("a & b", 0.3, 0.2, 0.4)
    assert as_table(LINES).columns == ("alpha", "RoMe", "_x")


@pytest.mark.parametrize(
    ("cell", "people", "file"),
    [
        (None, DASH, ""),
        (NAN, DASH, ""),
        (0.12345, "0.123", "0.12345"),
        (-0.0001, "0.000", "-0.0001"),
        (np.int64(3), "3", "3"),
        (INF, "inf", "inf"),
    ],
)
def test_cells(cell: Any, people: str, file: str) -> None:
    """People see rounded numbers and a dash, files every digit and nothing."""
    assert (shown(cell), exact(cell)) == (people, file)


def test_terminal_table() -> None:
    """Numbers are at the right, the interval behind its value, the best value has its mark, nan is a dash; texts fold."""
    assert table_text(BOARD).splitlines() == [
        "Agreement",
        "  metric    tau                     p",
        "  ------------------------------------",
        f"  RoMe    *0.50  [0.41, 0.59]       {DASH}",
        f"  chrF2    0.25  [0.20, {DASH}]      0.012",
        f"  none        {DASH}                *0.000",
        "* the best of its column",
    ]
    assert max(map(len, table_text(TEXTS, room=24).splitlines())) <= 24

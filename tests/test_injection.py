"""Injection: whatever texts, names and notes hold, each writer's format still says what it said, and a terminal or a spreadsheet runs nothing.

HTML has tests of its own beside each page: test_report, test_page, test_page_browser, test_display_*, test_annotate_page, test_service.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rome.cli import main
from rome.cli.perturb import WRITERS as PERTURB_WRITERS
from rome.combining.table import FeatureTable
from rome.evaluation.perturbing import PerturbedText
from rome.exceptions import InputError
from rome.reports.model import Table
from rome.reports.tables import table_tsv

HOSTILE = (
    *("=1+1", "+1", "-2+3", "@SUM(A1)", '=HYPERLINK("http://x.example","y")', "=cmd|' /C calc'!A0", "＝1+1", "'=1", " =1"),
    *("a\tb", "a\nb", "a\r\nb", "\t=1", "\r=1", 'a"b', "a,b", "a;b", "\\t", "\\"),
    *("\x1b[2J", "\x1b]0;title\x07", "\x9b31m", "\x08\x08", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\0", "\x7f"),
    *(
        "\u202edrow",
        "\u2066x",
        "<script>alert(1)</script>",
        "</table>",
        "| a | b |",
        "`x`",
        "{0}",
        "%s",
        "${x}",
        "نص",
        "é" * 60,
    ),
)
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys, line ends and tabs apart."""


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """A pair for each hostile text, which is hypothesis, id and note."""
    rows = [{"id": text, "note": text, "reference": "A cat.", "hypothesis": text} for text in HOSTILE]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def written(pairs: Path, metric: Any, form: str, *words: str) -> str:
    """What `rome score` writes in a format."""
    output = pairs.with_name("output")
    assert main(["score", str(pairs), "--format", form, "--output", str(output), *words], metric=lambda _: metric) == 0
    return output.read_bytes().decode("utf-8")


def test_scores_as_tsv_keep_their_columns(pairs: Path, fake_metric: Any) -> None:
    """A line a segment, as many cells as the header; names are as given, but for tabs and line ends, which become blanks."""
    lines = written(pairs, fake_metric, "tsv").removesuffix("\n").split("\n")
    header, *rows = [line.split("\t") for line in lines]
    assert {len(row) for row in rows} == {len(header)} and len(rows) == len(HOSTILE)
    assert [row[header.index("id")] for row in rows] == [re.sub("[\t\n\r]", " ", text) for text in HOSTILE]
    assert all(re.fullmatch(r"-?\d+\.\d{6}", row[header.index("score")]) for row in rows)


def test_scores_as_json_are_as_given(pairs: Path, fake_metric: Any) -> None:
    """Every text comes back to the character, a line an object however many line ends the texts have."""
    lines = written(pairs, fake_metric, "jsonl").removesuffix("\n").split("\n")
    whole = json.loads(written(pairs, fake_metric, "json"))["segments"]
    for rows in ([json.loads(line) for line in lines], whole):
        assert [(row["id"], row["hypothesis"]) for row in rows] == [(text, text) for text in HOSTILE]


def test_scores_as_a_table_command_no_terminal(pairs: Path, fake_metric: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A line a segment, none of them as wide as a long note; no control character reaches the screen."""
    table = written(pairs, fake_metric, "table")
    assert main(["score", str(pairs)], metric=lambda _: fake_metric) == 0
    assert capsys.readouterr().out == table
    head, *rest = table.split("\n")
    assert len([line for line in rest if re.match(r" *\d+  ", line)]) == len(HOSTILE)
    assert not OBEYED.search(table) and "\t" not in table and max(map(len, table.split("\n")[:-3])) < 460


@pytest.mark.parametrize("text", HOSTILE)
def test_explanations_command_no_terminal(make_segment: Any, text: str) -> None:
    """The plain explanation, as files and terminals without colours get it."""
    shown = str(make_segment(hypothesis=text, reference=text[::-1]))
    assert not OBEYED.search(shown) and "\t" not in shown


@pytest.mark.parametrize("name", ["\x1b[2Jgone", "\u202egone", "go\nne\x07"])
def test_errors_command_no_terminal(name: str, fake_metric: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The name of a file in an error is one visible line."""
    assert main(["score", name], metric=lambda _: fake_metric) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and not OBEYED.search(said) and "does not exist" in said


def perturbed(text: str) -> PerturbedText:
    """A text that was perturbed."""
    return PerturbedText(0, "word_swap", "fluency", "order", "minor", 14, 0, text, f"{text} x", (), None)


@pytest.mark.parametrize("form", ["tsv", "pairs"])
@pytest.mark.parametrize("text", HOSTILE)
def test_perturbed_texts_keep_their_columns(form: str, text: str) -> None:
    """Texts stand in their cells to the character; one that no cell can hold is refused, with the format that can."""
    results = iter([perturbed(text)])
    if "\t" in text or "\n" in text:
        with pytest.raises(InputError, match="use --format jsonl"):
            list(PERTURB_WRITERS[form](results))
        return
    header, row = (line.split("\t") for line in PERTURB_WRITERS[form](results))
    assert len(header) == len(row) and {text, f"{text} x"} <= set(row)
    (line,) = PERTURB_WRITERS["jsonl"](iter([perturbed(text)]))
    assert "\n" not in line and json.loads(line)["text"] == text


@given(
    cells=st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=8), st.floats(), st.integers()), min_size=1, max_size=4)
)
@settings(max_examples=40, deadline=None)
def test_no_cell_of_a_table_is_a_formula(cells: list[Any]) -> None:
    """No text of a table's file begins as a formula does; numbers, negative ones too, stay numbers; the columns are kept."""
    header, row, end = table_tsv(Table("t", "T", tuple(f"c{n}" for n in range(len(cells))), (tuple(cells),))).split("\n")
    assert end == "" and len(row.split("\t")) == len(cells)
    for cell, shown in zip(cells, row.split("\t"), strict=True):
        if isinstance(cell, str):
            assert not shown.startswith(tuple("=@＝＋－＠\t\r")) and (not shown.startswith(("+", "-")) or _number(shown))
        elif cell == cell:
            assert type(cell)(shown) == cell


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("name", ["=1+1", "-a", "@x"])
def test_the_columns_of_a_table_are_no_formulas(name: str) -> None:
    """The names of systems and metrics become headers, and the texts of the notes of figures too."""
    assert table_tsv(Table("t", "T", (name, "b"), (("x", 1.0),))).split("\n")[0] == f"'{name}\tb"


@pytest.mark.parametrize("text", [text for text in HOSTILE if text.strip()])
def test_parquet_keeps_every_character(tmp_path: Path, text: str) -> None:
    """The signature of a table of features, which names what its user named, comes back as it was."""
    table = FeatureTable(np.zeros(1, int), np.zeros(1, int), np.full((1, 4), 0.5), np.zeros((1, 4)), signature=text)
    table.save(tmp_path / "f.parquet")
    assert FeatureTable.load(tmp_path / "f.parquet") == table

"""Results as text: the same words in colours and folded on a terminal, and nothing that a text could do to a terminal."""

from __future__ import annotations

import argparse
import io
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rome.cli import results as command
from rome.features.errors.evidence import ErrorsEvidence, ErrorSpan, TextSpan
from rome.reports.segment import segment_document
from rome.reports.summaries import comparison_document, corpus_document
from rome.reports.text import document_text, takes_colours
from rome.results import CorpusScore, SegmentScore
from rome.results.comparison import compare
from rome.text_table import display_width

from scored_segments import corpus

Make = Callable[..., SegmentScore]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def coloured(segment: SegmentScore) -> str:
    return document_text(segment_document(segment), colours=True)


def bare(text: str) -> str:
    """Without escape sequences."""
    return re.sub(r" +$", "", re.sub(r"\x1b\[[\d;]*m", "", text), flags=re.M)


def test_colours_change_no_word(make_segment: Make) -> None:
    """Without the escape sequences it is the plain explanation; with flags, without evidence, with an empty text."""
    stored = {c.name: replace(c, evidence=None) for c in make_segment().components}
    for segment in (
        make_segment(flags=("identical",)),
        replace(make_segment(), components=replace(make_segment().components, **stored)),
        make_segment(hypothesis=""),
        make_segment(hypothesis="  two  \n lines   and blanks "),
        make_segment(hypothesis="[red](odd) :smile: major --|++ 1.00  minor[/]"),
        replace(make_segment(), signature="scorer:supervised.tac_2008|net:1"),
    ):
        assert bare(coloured(segment)) == bare(str(segment)) == str(segment)


def test_what_stands_out(make_segment: Make) -> None:
    """Errors underlined in both texts by severity, bars and edits by kind, asides faint."""
    text = coloured(make_segment())
    for expected in (
        "\x1b[1;4;31mFive\x1b[0m cats sleep.",
        "\x1b[1;4;31mFour\x1b[0m cats sleep \x1b[4;33msoundly\x1b[0m.",
        "\x1b[1mWhere the points went\x1b[0m\n  perfect",
        "sleep\x1b[2m (root)\x1b[0m",
        *("\x1b[35m≠\x1b[0m", "\x1b[31m−\x1b[0m"),
        *("4.500  \x1b[1;4;31mmajor\x1b[0m replacement: number", "1.250  \x1b[4;33mminor\x1b[0m missing: adverb"),
    ):
        assert expected in text
    assert re.search(r"Five -> Four +\x1b\[31m +-+ *\x1b\[0m +-0.245  number, major", text)


def test_texts_cannot_command_the_terminal(make_segment: Make) -> None:
    """Escape sequences, bells, carriage returns and direction overrides of a text show as their codes."""
    hostile = "clear \x1b[2J title \x1b]0;x\x07 back \x08 c1 \x9b31m turn \u202elive\u202c"
    text = coloured(make_segment(hypothesis=hostile, reference=hostile[::-1]))
    assert re.findall(r"\x1b(?!\[[\d;]*m)", text) == []
    assert not set(text) & set("\x07\x08\x9b\r\u202e\u202c")
    assert "clear <U+001B>[2J" in bare(text)


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_every_character_of_an_error_is_underlined(make_segment: Make, data: st.DataObject) -> None:
    """On one line, whatever blanks the text holds: the visible characters under a code are those of the errors of that severity."""
    text = data.draw(st.text("ab \n", max_size=12).map(lambda drawn: f"x{drawn}x"))
    places = st.tuples(*[st.integers(0, len(text))] * 2).map(sorted)
    rows = data.draw(st.lists(st.tuples(places, st.sampled_from(["major", "minor", "none"])), max_size=4))
    errors = tuple(
        ErrorSpan("unnecessary", "other", severity, 1.0, 0.5, None, TextSpan(text[a:b], a, b)) for (a, b), severity in rows
    )
    segment = make_segment(hypothesis=text)
    parts = replace(segment.components, errors=replace(segment.components.errors, evidence=ErrorsEvidence(errors, 1.0)))
    lines = coloured(replace(segment, components=parts)).split("\n")
    line = next(line for line in lines if line.startswith("\x1b[2mhypothesis\x1b[0m  ")).removeprefix(
        "\x1b[2mhypothesis\x1b[0m  "
    )
    assert bare(line) == " ".join(text.split())
    major, minor = ({n for (a, b), s in rows if s == severity for n in range(a, b)} for severity in ("major", "minor"))
    wanted = ["1;4;31" if n in major else "4;33" if n in minor else "" for n, c in enumerate(text) if not c.isspace()]
    found = [code for code, c in _characters(line) if not c.isspace()]
    assert found == wanted


def _characters(line: str) -> list[tuple[str, str]]:
    """Each character with the code it stands under."""
    code, found = "", []
    for token in re.findall(r"\x1b\[[\d;]*m|.", line, re.S):
        if token.startswith("\x1b"):
            code = "" if token == "\x1b[0m" else token[2:-1]
        else:
            found.append((code, token))
    return found


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_number_of_a_table_is_cut(width: int) -> None:
    """Columns that do not fit stand below the others, beside the first one again; every number is there, and no line is too wide."""
    document = comparison_document(compare(corpus(30, 1), corpus(30, 2), names=("careful", "hasty"), resamples=50))
    whole, narrow = (document_text(document, width=columns) for columns in (100_000, width))
    table = whole.split("Differences\n")[1].split("bold or")[0]
    shown = narrow.split("Differences\n")[1].split("bold or")[0]
    assert all(display_width(line) <= width for line in shown.splitlines())
    numbers = re.findall(r"[-+*]*\d\.\d+", table)
    assert len(numbers) > 30 and set(numbers) <= set(re.findall(r"[-+*]*\d\.\d+", shown))
    assert shown.count("semantic") == (1 if width == 120 else 2 if width > 60 else shown.count("semantic"))
    assert "…" not in shown


@pytest.mark.parametrize("width", [30, 80])
def test_text_fits_the_terminal(make_segment: Make, width: int) -> None:
    """However long and wide the texts, no line is wider than the window; nothing is cut."""
    segment = make_segment(reference="常用 " * 40, hypothesis="Five cats sleep. " * 20)
    result = CorpusScore((segment, make_segment(1)), "rome:test")
    for document in (segment_document(segment), corpus_document(result)):
        text = document_text(document, width=width)
        assert max(map(display_width, text.split("\n"))) <= width
    assert document_text(segment_document(segment), width=width).count("常用") >= 40


@pytest.mark.parametrize(
    ("term", "no_color", "expected"), [("xterm", "", True), ("xterm", "1", False), ("xterm", "0", False), ("dumb", "", False)]
)
def test_who_gets_colours(term: str, no_color: str, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal, unless NO_COLOR is set to anything or the terminal is dumb; a pipe or a file never."""
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("NO_COLOR", no_color)
    assert takes_colours(Terminal()) is expected
    assert takes_colours(io.StringIO()) is False


def test_the_command_colours_a_terminal(fake_metric: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same words with escape sequences, as wide as the window; without them when NO_COLOR is set."""
    options = argparse.ArgumentParser()
    command.add_explain_arguments(options)
    chosen = options.parse_args(["--reference", "A cat.", "--hypothesis", "A dog."])
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "50")
    written = []
    for value in ("", "1"):
        monkeypatch.setenv("NO_COLOR", value)
        stream = Terminal()
        monkeypatch.setattr("sys.stdout", stream)
        assert command.run_explain(chosen, lambda _: fake_metric) == 0
        written.append(stream.getvalue())
    assert "\x1b[" in written[0]
    assert written[1] == bare(written[0])
    assert max(map(len, written[1].split("\n"))) <= 50

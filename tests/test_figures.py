"""Figures for files: every result draws, whatever is in it; same figure, same bytes; pyplot and the user's settings stay untouched."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from rome.exceptions import InputError, ModelMissingError
from rome.reports import figures
from rome.results import CorpusScore
from rome.results.comparison import compare

from scored_segments import corpus, error, scored, signature

matplotlib = pytest.importorskip("matplotlib", reason="figures are drawn with matplotlib")

HOSTILE = "<script>alert(1)</script> & $\\frac{1}{2}$ \x1b[31m \0 שלום 猫 \ud800 _x_ "
SEGMENT_FIGURES = figures.segment_figure, figures.trees_figure, figures.matrices_figure


def one(segment: Any) -> CorpusScore:
    return CorpusScore((segment,), signature())


def drawn() -> dict[str, Callable[[], Any]]:
    """One of each kind."""
    segment = scored(errors=[error(3.0)])
    return {
        **{draw.__name__: lambda draw=draw: draw(segment) for draw in SEGMENT_FIGURES},
        "corpus_figure": lambda: figures.corpus_figure(corpus(30, 1)),
        "correlations_figure": lambda: figures.correlations_figure(corpus(30, 1), others={"BLEU": np.arange(30)}),
        "comparison_figure": lambda: figures.comparison_figure(compare(corpus(30, 1), corpus(30, 2), resamples=50)),
    }


def texts_of(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.findobj(matplotlib.text.Text) if text.get_text().strip()]


@pytest.mark.parametrize("name", drawn())
def test_same_figure_same_bytes(name: str, tmp_path: Path) -> None:
    """Drawn twice and saved twice the SVG is equal, byte by byte."""
    for path in (tmp_path / "first.svg", tmp_path / "second.svg"):
        figures.save(drawn()[name](), path)
    assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "second.svg").read_bytes()


def test_the_ending_names_the_kind(tmp_path: Path) -> None:
    """PNG, SVG and PDF by the name's ending, in either case; saved twice, equal."""
    figure = figures.trees_figure(scored())
    for ending, magic in ((".png", b"\x89PNG"), (".SVG", b"<?xml"), (".pdf", b"%PDF")):
        first, second = tmp_path / f"first{ending}", tmp_path / f"second{ending}"
        for path in (first, second):
            figures.save(figure, path)
        assert first.read_bytes() == second.read_bytes()
        assert first.read_bytes().startswith(magic)


def test_other_endings_are_refused(tmp_path: Path) -> None:
    """The error names the three that there are; a folder that is not there is named too; nothing is left behind."""
    figure = figures.segment_figure(scored())
    for name, ending in (("figure.jpg", ".jpg"), ("figure", "nothing"), (".svg", "nothing")):
        with pytest.raises(InputError, match=f"ends in {ending}.*written as .png, .svg or .pdf"):
            figures.save(figure, tmp_path / name)
    with pytest.raises(InputError):
        figures.save(figure, tmp_path / "absent" / "figure.svg")
    assert list(tmp_path.iterdir()) == []


def test_pyplot_and_settings_stay_untouched(tmp_path: Path) -> None:
    """In a fresh interpreter: importing loads no matplotlib, drawing no pyplot; the user's settings neither change nor count."""
    script = """
import sys
import rome.reports.figures as figures
print("matplotlib" in sys.modules)
from scored_segments import scored
import matplotlib
matplotlib.rcParams.update({"font.size": 20, "axes.titlesize": 33, "svg.fonttype": "path"})
kept = "font.size", "axes.titlesize", "svg.fonttype", "svg.hashsalt"
before = [matplotlib.rcParams[key] for key in kept]
figure = figures.segment_figure(scored())
figures.save(figure, sys.argv[1])
print("matplotlib.pyplot" in sys.modules, before == [matplotlib.rcParams[key] for key in kept], figure.axes[0].title.get_fontsize())
"""
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n{script}"
    command = [sys.executable, "-I", "-c", code, str(tmp_path / "figure.svg")]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert found == ["False", "False", "True", "9.0"]


@pytest.mark.parametrize("draw", SEGMENT_FIGURES, ids=lambda draw: draw.__name__)
def test_odd_segments_draw(draw: Callable[[Any], Any], tmp_path: Path) -> None:
    """Without evidence, without words on either side, with one word, with hundreds: a figure, or a sentence that says why not."""
    rows = {
        "stored": scored(evidence=False),
        "no hypothesis": scored(hypothesis=""),
        "no words": scored(reference="", hypothesis=""),
        "one word": scored(reference="Yes.", hypothesis="No."),
        "long": scored(reference="word " * 400, hypothesis="other " * 400),
        "tall": scored(reference=" ".join(f"a{n}" for n in range(65)), hypothesis=" ".join(f"b{n}" for n in range(65))),
    }
    for segment in rows.values():
        draw(segment)
    figures.save(draw(rows["no words"]), tmp_path / "figure.svg")
    if draw is not figures.segment_figure:
        assert "no evidence" in " ".join(texts_of(draw(rows["stored"])))
        assert "without words" in " ".join(texts_of(draw(rows["no words"])))


def test_what_is_cut_says_so() -> None:
    """Long texts draw their beginning: words of the matrices, rows of the trees."""
    tall = scored(reference=" ".join(f"a{n}" for n in range(65)), hypothesis=" ".join(f"b{n}" for n in range(65)))
    assert "only the first 64 words" in " ".join(texts_of(figures.matrices_figure(tall)))
    assert "the first 60 of" in " ".join(texts_of(figures.trees_figure(tall)))
    long = scored(reference="word " * 600, hypothesis="other " * 600)
    assert "too many to draw" in " ".join(texts_of(figures.trees_figure(long)))


def test_any_text_is_only_text(tmp_path: Path) -> None:
    """Markup, formulas, control characters and lone surrogates are labels: the SVG stays well formed and holds no script."""
    segment = replace(scored(reference=HOSTILE, hypothesis=HOSTILE, errors=[error(1.0)]), flags=(HOSTILE,))
    other = replace(segment, hypothesis="x")
    made = [draw(segment) for draw in SEGMENT_FIGURES]
    made += [figures.comparison_figure(compare(one(segment), one(other), names=(HOSTILE, "b"), resamples=5))]
    made += [figures.correlations_figure(corpus(5, 1), others={HOSTILE: range(5)})]
    for number, figure in enumerate(made):
        figures.save(figure, tmp_path / f"{number}.svg")
        root = ElementTree.parse(tmp_path / f"{number}.svg").getroot()
        assert not [element for element in root.iter() if element.tag.endswith("script")]
    for ending in ("png", "pdf"):
        figures.save(made[-1], tmp_path / f"figure.{ending}")
    assert any("<script>" in text and "$" in text for text in texts_of(made[0]))


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_few_segments_draw(count: int) -> None:
    """No, one, two and three segments: distributions without intervals, correlations only where they are defined."""
    figure = figures.corpus_figure(corpus(count, 1))
    words = " ".join(texts_of(figure))
    assert "nan" not in words
    assert ("no segments" in words) == (count == 0)
    assert ("Correlations need 3 segments" in words) == (0 < count < 3)


def test_constant_components_have_no_correlation() -> None:
    """A dash in the cells, and a line that says why."""
    result = CorpusScore(tuple(scored(n, values=(0.1 * n, 0.5, 0.2 * n)) for n in range(4)), signature())
    words = texts_of(figures.correlations_figure(result))
    assert words.count("–") == 16
    assert any("syntax and errors have the same value for every segment" in text for text in words)


def test_correlations_take_other_numbers() -> None:
    """A metric or ratings for the same segments stand beside the components; other lengths and gaps are refused."""
    result = corpus(10, 1)
    same = [-segment.score for segment in result]
    words = texts_of(figures.correlations_figure(result, others={"reversed": same}))
    assert "reversed" in words and words.count("−1.00") == 2
    for wrong in ([1.0], [float("nan")] * 10, [same]):
        with pytest.raises(InputError, match=r"others\['m'\].*give 10 numbers"):
            figures.correlations_figure(result, others={"m": wrong})


def test_figures_show_the_numbers() -> None:
    """Values, contributions, differences and p-values stand in words beside their bars."""
    segment = scored(errors=[error(3.0)])
    words = texts_of(figures.segment_figure(segment))
    assert {f"{component.value:.3f}" for component in segment.components} <= set(words)
    large = [loss.loss for loss in segment.losses if loss.loss <= -0.005]
    assert {f"−{-loss:.2f}".replace("0.", ".") for loss in large} <= set(words)
    assert f"{segment.score:.2f}" in words and "1.00" in words
    comparison = compare(corpus(30, 1), corpus(30, 2), names=("new", "old"), resamples=50)
    words = texts_of(figures.comparison_figure(comparison))
    assert f"new better: {comparison.score.wins}" in words and f"old better: {comparison.score.losses}" in words
    assert sum(text.startswith(("+", "−")) and " p " in text for text in words) == 5


def test_equal_systems_draw(tmp_path: Path) -> None:
    """No difference anywhere, and one segment alone."""
    for other in (corpus(1, 1), corpus(1, 2)):
        comparison = compare(corpus(1, 1), other)
        drawn = figures.comparison_figure(comparison)
        assert f"a better: {comparison.score.wins}" in texts_of(drawn)
        figures.save(drawn, tmp_path / "figure.svg")
        assert ElementTree.parse(tmp_path / "figure.svg").getroot().tag.endswith("svg")


def test_missing_matplotlib_gives_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without matplotlib the error says how to get it."""
    monkeypatch.setattr("rome.reports.figures.find_spec", lambda name: None)
    with pytest.raises(ModelMissingError, match=r'pip install "rome-metric\[evaluate\]"'):
        figures.segment_figure(scored())

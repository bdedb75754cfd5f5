"""Figures of leaderboards and diagnoses as files: same figure, same bytes; pyplot and the user's settings stay untouched."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from rome.exceptions import InputError, ModelMissingError
from rome.reports import figures
from rome.reports.model import Bars, Heatmap, Lines

pytest.importorskip("matplotlib", reason="figures are drawn with matplotlib")

NAN = float("nan")
HOSTILE = "<script>alert(1)</script> & $\\frac{1}{2}$ \x1b[31m \0 שלום 猫 \ud800 _x_ "
HEAT = Heatmap(
    "heat",
    "Accuracy",
    ("negation", "<tense>", HOSTILE),
    ("BLEU", "$chrF_2$"),
    np.array([[0.5, 0.25], [NAN, 1.0], [0.125, 1 / 3]]),
)
BARS = Bars("bars", "Taus", ("a & b", HOSTILE), (0.3, NAN), (0.2, NAN), (0.4, NAN), "tau")
LINES = Lines("lines", "Drift", (0.0, 1.5), {"RoMe": [0.5, NAN], "_x": [0.25, 0.75]}, "alpha", "tau")
PARTS = (HEAT, BARS, LINES)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_same_figure_same_bytes(part: Any, tmp_path: Path) -> None:
    """Drawn and saved twice, PNG, SVG and PDF are equal byte by byte; the ending, in either case, names the kind."""
    for ending, magic in ((".png", b"\x89PNG"), (".SVG", b"<?xml"), (".pdf", b"%PDF")):
        first, second = tmp_path / f"first{ending}", tmp_path / f"second{ending}"
        for path in (first, second):
            figures.save(figures.draw(part), path)
        assert first.read_bytes() == second.read_bytes()
        assert first.read_bytes().startswith(magic)


def test_pictures_have_the_numbers_and_no_script(tmp_path: Path) -> None:
    """SVG is XML without a script, with the texts as texts."""
    figures.save(figures.draw(HEAT), tmp_path / "heat.svg")
    elements = list(ElementTree.parse(tmp_path / "heat.svg").iter())
    assert not [element for element in elements if element.tag.endswith("script")]
    assert {"negation", "<tense>", "$chrF_2$", "0.500", "0.333"} <= {element.text for element in elements}


def test_other_endings_are_refused(tmp_path: Path) -> None:
    """The error names the three that there are; a folder that is not there is named too; nothing is left behind."""
    figure = figures.draw(BARS)
    for name, ending in (("figure.jpg", "jpg"), ("figure", "no ending"), (".svg", "no ending")):
        with pytest.raises(InputError, match=f"must end in .png, .svg or .pdf, got {ending}"):
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
from test_figures import LINES
import matplotlib
matplotlib.rcParams.update({"font.size": 20, "axes.labelsize": 33, "svg.fonttype": "path"})
kept = "font.size", "axes.labelsize", "svg.fonttype", "svg.hashsalt"
before = [matplotlib.rcParams[key] for key in kept]
figure = figures.draw(LINES)
figures.save(figure, sys.argv[1])
print("matplotlib.pyplot" in sys.modules, before == [matplotlib.rcParams[key] for key in kept])
print(figure.axes[0].xaxis.label.get_fontsize() < 20)
"""
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n{script}"
    command = [sys.executable, "-I", "-c", code, str(tmp_path / "figure.svg")]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert found == ["False", "False", "True", "True"]


def test_missing_matplotlib_gives_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without matplotlib the error says how to get it."""
    monkeypatch.setattr("rome.reports.figures.find_spec", lambda name: None)
    with pytest.raises(ModelMissingError, match=r'pip install "rome-metric\[evaluate\]"'):
        figures.draw(BARS)

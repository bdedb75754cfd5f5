"""A report's folder: nothing lost in its tables, nothing alive in its page, the same bytes from the same report."""

from __future__ import annotations

import csv
import json
import math
import re
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from html_checks import Markup

from rome.exceptions import InputError, ModelMissingError
from rome.reports import figures
from rome.reports import folder as writer
from rome.reports.folder import read_manifest, write_report
from rome.reports.manifest import file_digest, git_commit, machine_manifest
from rome.reports.model import Bars, Heatmap, Lines, Report, Table
from rome.reports.tables import DASH, as_table, describe, exact, shown
from rome.reports.text import table_text

NAN, INF = float("nan"), float("inf")
NASTY = (
    *("<script>document.title='taken'</script>", '"><img src=x onerror="document.title=1">', "</table></section>", "&amp;&lt;"),
    *(
        "a\tb\nc\r\nd",
        "\\n is no line end",
        "nul \x00 bell \x07",
        "\u202eleft to right",
        "  two  spaces ",
        "",
        "$x_1$",
        "漢字 🙂",
    ),
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
    ("critical", "minor", "minor"),
)
BARS = Bars("bars", "Taus", ("a & b", "_c"), (0.3, NAN), (0.2, NAN), (0.4, NAN), "tau")
LINES = Lines(
    "lines",
    "Drift",
    (0.0, 1.5),
    {"RoMe": [0.5, NAN], "_x": [0.25, 0.75]},
    "alpha",
    "tau",
    low={"_x": [0.2, 0.7]},
    high={"_x": [0.3, 0.8]},
)
TWICE = replace(LINES, name="twice", x_label="tau", series={"tau": [1.0, 2.0]}, low={}, high={})
MANIFEST = {"seed": 7, "data": {"set <b>": "sha256:0"}, "loss": NAN}
REPORT = Report("Judged & <judged>", (BOARD, TEXTS, HEAT, BARS, LINES, TWICE), MANIFEST, "First <p>.\n\nSecond.")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example report, written once."""
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    return write_report(REPORT, tmp_path_factory.mktemp("reports") / "new" / "folder").parent


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def unescaped(cell: str) -> str:
    """What a cell of a table file stood for."""
    return re.sub(r"\\(.)", lambda found: {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}[found[1]], cell)


def read_tsv(path: Path) -> list[list[str]]:
    """The cells of a table file, split as any reader without quoting splits them."""
    return list(csv.reader(path.read_text(encoding="utf-8").split("\n")[:-1], delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize("part", REPORT.parts, ids=lambda part: part.name)
def test_tables_lose_nothing(folder: Path, part: Any) -> None:
    """Every cell of every table and figure comes back from its file: texts as they were, numbers to the last digit."""
    table = as_table(part)
    header, *rows = read_tsv(folder / "tables" / f"{part.name}.tsv")
    assert [unescaped(name) for name in header] == list(table.columns)
    assert len(rows) == len(table.rows)
    for row, cells in zip(rows, table.rows, strict=True):
        for text, cell in zip(row, cells, strict=True):
            if cell is None or cell != cell:
                assert text == ""
            else:
                assert (unescaped(text) if isinstance(cell, str) else type(cell)(text)) == cell


def test_figures_keep_their_numbers() -> None:
    """A figure's table holds its labels, groups, ends and series; two axes of one name stay apart."""
    assert as_table(HEAT).columns == ("group", "row", "BLEU", "$chrF_2$")
    assert as_table(HEAT).rows[2] == ("minor", "empty", 0.125, 1 / 3)
    assert as_table(BARS).rows[0] == ("a & b", 0.3, 0.2, 0.4)
    assert as_table(LINES).columns == ("alpha", "RoMe", "_x", "_x low", "_x high")
    assert as_table(TWICE).columns == ("tau", "tau (2)")


def test_json_is_strict_and_complete(folder: Path) -> None:
    """report.json and manifest.json hold no NaN or Infinity, and every part with its kind, in order."""

    def refuse(token: str) -> None:
        raise AssertionError(token)

    report, manifest = (
        json.loads((folder / name).read_text(encoding="utf-8"), parse_constant=refuse)
        for name in ("report.json", "manifest.json")
    )
    assert [(part["kind"], part["name"]) for part in report["parts"]] == [
        *(
            ("table", "board"),
            ("table", "texts"),
            ("heatmap", "heat"),
            ("bars", "bars"),
            ("lines", "lines"),
            ("lines", "twice"),
        )
    ]
    assert report["parts"][1]["rows"] == [list(row) for row in TEXTS.rows]
    assert report["parts"][2]["values"][1] == [None, 1.0]
    assert report["manifest"] == manifest["manifest"] == read_manifest(folder) == {**MANIFEST, "loss": None}
    assert sorted([*manifest["files"], "manifest.json"]) == sorted(contents(folder))


def test_markup_in_texts_is_inert(folder: Path) -> None:
    """Texts with markup appear as they are; they add no element, no attribute, and the page has one script and no handler."""
    tags = Markup((folder / "index.html").read_text(encoding="utf-8"))
    names = tags.tags
    assert names.count("script") == names.count("style") == 1
    assert not {"b", "i"} & set(names)
    keys = {key for _, attributes in tags.found for key in attributes}
    assert not [key for key in keys if key.startswith("on") or key == "style"]
    sources = [str(attributes["src"]) for tag, attributes in tags.found if tag == "img"]
    assert len(sources) == 4 and all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    assert {text for text in NASTY[:4]} <= set(tags.texts)
    assert "Judged & <judged>" in tags.texts
    assert not re.search("[\x00-\x08\x0b-\x1f]", "".join(tags.texts))


def test_page_needs_nothing_from_elsewhere(folder: Path) -> None:
    """Every address of the page leads to itself or to a file of the report that is there."""
    tags = Markup((folder / "index.html").read_text(encoding="utf-8"))
    idents = [attributes["id"] for _, attributes in tags.found if "id" in attributes]
    assert len(idents) == len(set(idents))
    for tag, attributes in tags.found:
        address = attributes.get("href") or attributes.get("xlink:href")
        if address and not (tag == "link" and address == "data:,"):
            assert address[1:] in idents if address.startswith("#") else (folder / address).is_file(), address
    policy = next(attributes["content"] for _, attributes in tags.found if attributes.get("http-equiv"))
    assert policy is not None and policy.startswith("default-src 'none';") and "unsafe" not in policy


def test_same_report_same_bytes(folder: Path, tmp_path: Path) -> None:
    """Another folder gets the same bytes, whatever matplotlib's settings are, and writing again over it changes none."""
    import matplotlib

    with matplotlib.rc_context({"font.size": 30, "text.usetex": False, "svg.fonttype": "path"}):
        write_report(REPORT, tmp_path / "report")
        assert matplotlib.rcParams["font.size"] == 30
    assert contents(tmp_path / "report") == contents(folder)


def test_new_report_replaces_the_old_one(tmp_path: Path) -> None:
    """Files of the earlier report that the new one lacks are gone; a file that is not ours stays."""
    write_report(Report("Old", (BOARD, replace(BOARD, name="other"))), tmp_path)
    (tmp_path / "tables" / "mine.tsv").write_text("mine")
    page = write_report(Report("New", (BOARD,)), tmp_path)
    assert "<h1>New</h1>" in page.read_text(encoding="utf-8")
    assert set(contents(tmp_path)) == {"index.html", "manifest.json", "report.json", "tables/board.tsv", "tables/mine.tsv"}


def test_foreign_folders_are_refused(tmp_path: Path) -> None:
    """A folder with anything else in it, a file, and a manifest of something else are refused and left as they were."""
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.txt").write_text("years of work")
    (tmp_path / "file").write_text("text")
    other = tmp_path / "other"
    other.mkdir()
    (other / "manifest.json").write_text('{"kind": "web app", "files": ["index.html"], "manifest": {}}')
    before = contents(tmp_path)
    for place in (foreign, tmp_path / "file", other):
        with pytest.raises(InputError, match=place.name):
            write_report(REPORT, place)
        with pytest.raises(InputError, match="holds no report"):
            read_manifest(place)
    assert contents(tmp_path) == before


def test_manifest_names_no_file_outside(tmp_path: Path) -> None:
    """A manifest that someone changed cannot make a later report delete a file elsewhere."""
    page = write_report(Report("Old", (BOARD,)), tmp_path / "report")
    (tmp_path / "precious.tsv").write_text("mine")
    manifest = json.loads((page.parent / "manifest.json").read_text())
    manifest["files"] += ["../precious.tsv", "tables/../../precious.tsv", str(tmp_path / "precious.tsv"), 3]
    (page.parent / "manifest.json").write_text(json.dumps(manifest))
    write_report(Report("New", ()), page.parent)
    assert (tmp_path / "precious.tsv").read_text() == "mine"
    assert set(contents(page.parent)) == {"index.html", "manifest.json", "report.json"}


def test_interrupted_report_can_be_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk fills in the middle, no half file is left, and the folder is still known as ours."""
    with monkeypatch.context() as patch:
        write = Path.write_bytes

        def full(self: Path, data: bytes) -> int:
            if b"metric\ttau" in data:
                write(self, data[:3])
                raise OSError(28, "No space left on device")
            return write(self, data)

        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(InputError, match="No space left"):
            write_report(Report("Title", (BOARD,)), tmp_path)
    assert set(contents(tmp_path)) == {"manifest.json"}
    assert write_report(Report("Title", (BOARD,)), tmp_path).is_file()


def test_without_matplotlib_there_is_still_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No plots, the figures' numbers in tables, and the page says what to install."""
    monkeypatch.setattr(figures, "find_spec", lambda name: None)
    page = write_report(REPORT, tmp_path).read_text(encoding="utf-8")
    assert not (tmp_path / "figures").exists()
    assert "<img" not in page and page.count("No plot: matplotlib was not installed") == 4
    assert 'pip install "rome-metric[evaluate]"' in page
    assert [tag for tag, attributes in Markup(page).found if tag == "details" and "open" in attributes] == ["details"] * 4
    assert len(read_tsv(tmp_path / "tables" / "heat.tsv")) == 4
    with pytest.raises(ModelMissingError, match=r"rome-metric\[evaluate\]"):
        figures.render(BARS)


def test_empty_report_and_empty_parts(tmp_path: Path) -> None:
    """No parts, a table without rows and figures without a number make a page that says so."""
    parts = (
        *(Table("none", "No rows", ("a", "b"), ()), Table("bare", "No columns", (), ()), Bars("bars", "No bars", (), ())),
        *(Heatmap("heat", "No cells", (), (), np.zeros((0, 0))), Lines("lines", "No line", (), {})),
        *(Bars("gaps", "Gaps", ("a",), (NAN,)), Lines("points", "No points", (1.0,), {"a": (NAN,)})),
    )
    page = write_report(Report("Empty", parts), tmp_path / "parts").read_text(encoding="utf-8")
    assert page.count("There is nothing to plot.") == 5
    assert (tmp_path / "parts" / "tables" / "none.tsv").read_text() == "a\tb\n"
    assert write_report(Report("Nothing", ()), tmp_path / "nothing").is_file()


def test_huge_tables_are_cut_on_the_page_only(tmp_path: Path) -> None:
    """The page holds the first thousand rows of a table and says how many there are; its file holds them all."""
    table = Table("huge", "Huge", ("name", "number"), tuple((f"row {number}", number) for number in range(1005)))
    page = write_report(Report("Huge", (table,)), tmp_path).read_text(encoding="utf-8")
    assert "The first 1000 of 1005 rows" in page and "row 999<" in page and "row 1000<" not in page
    assert len(read_tsv(tmp_path / "tables" / "huge.tsv")) == 1006


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((BOARD, replace(BARS, name="Board")), "two parts of the report are called 'Board'"),
        ((replace(BOARD, name="../board"),), "cannot name a file"),
        ((replace(BOARD, name=""),), "cannot name a file"),
        ((replace(BOARD, rows=(("a", 1),)),), "'board' of the report: a row does not have the 5 cells"),
        ((replace(BOARD, lowest=("q",)),), "no column is called 'q'"),
        ((Table("t", "", ("a", "a"), ()),), "two columns bear one name"),
        ((replace(HEAT, values=np.zeros((2, 3))),), "its sides have not one length"),
        ((replace(HEAT, groups=("a", "b")),), "its sides have not one length"),
        ((replace(BARS, high=(1.0,)),), "its sides have not one length"),
        ((replace(LINES, series={"RoMe": [1.0]}),), "its sides have not one length"),
    ],
)
def test_faulty_parts_are_refused(tmp_path: Path, parts: tuple[Any, ...], message: str) -> None:
    """Parts that do not fit are named before anything is written."""
    with pytest.raises(InputError, match=message):
        write_report(Report("Faulty", parts), tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_plots_are_pictures(folder: Path) -> None:
    """PNG by its first bytes; SVG is XML without a script, with the texts as texts."""
    for figure in (HEAT, BARS, LINES):
        assert (folder / "figures" / f"{figure.name}.png").read_bytes().startswith(b"\x89PNG\r\n")
        root = ElementTree.parse(folder / "figures" / f"{figure.name}.svg").getroot()
        assert figure.title in {element.text for element in root.iter() if element.text}
        assert not [element for element in root.iter() if element.tag.endswith("script")]
    heat = {element.text for element in ElementTree.parse(folder / "figures" / "heat.svg").iter()}
    assert ">160.2<" in figures.render(Bars("rates", "Pairs a second", ("a", "b"), (160.24, 5.0), digits=1))[1]
    assert {"negation", "<tense>", "$chrF_2$", "critical", "minor", "0.50", "0.33"} <= heat


def test_descriptions_say_what_stands_out() -> None:
    """The text for a picture names its kind, its size, and its highest and lowest values."""
    assert describe(HEAT) == (
        "Accuracy. Heat map of 3 rows by 2 columns. Highest 1.00 (<tense>, $chrF_2$), lowest 0.12 (empty, BLEU)."
    )
    assert describe(BARS) == "Taus. Bars of 2 values, with intervals. Highest 0.300 (a & b), lowest 0.300 (a & b)."
    assert "Highest 160.2 (a)" in describe(Bars("rates", "Pairs a second", ("a", "b"), (160.24, 5.0), digits=1))
    assert describe(LINES) == "Drift. Lines of 2 series over alpha: RoMe from 0.500 to 0.500; _x from 0.250 to 0.750."


@pytest.mark.parametrize(
    ("cell", "people", "file"),
    [
        (None, DASH, ""),
        (NAN, DASH, ""),
        (0.12345, "0.123", "0.12345"),
        (-0.0001, "0.000", "-0.0001"),
        (1200, "1200", "1200"),
        (np.int64(3), "3", "3"),
        (np.float64(0.1), "0.100", "0.1"),
        (True, "True", "True"),
        (INF, "inf", "inf"),
        ("text", "text", "text"),
    ],
)
def test_cells(cell: Any, people: str, file: str) -> None:
    """People see rounded numbers and a dash, files every digit and nothing."""
    assert (shown(cell), exact(cell)) == (people, file)


def test_terminal_table() -> None:
    """Numbers stand to the right, the interval behind its value, the best value has its mark, nan is a dash."""
    assert table_text(BOARD).splitlines() == [
        "Agreement",
        "",
        "metric    tau                     p",
        "------------------------------------",
        f"RoMe    *0.50  [0.41, 0.59]       {DASH}",
        f"chrF2    0.25  [0.20, {DASH}]      0.012",
        f"none        {DASH}                *0.000",
        "",
        "* the best of its column",
    ]
    assert table_text(Table("t", "Empty", ("a", "b"), (), "Nothing.")) == "Empty\n\na  b\n-----\n\nNothing."
    assert table_text(Table("t", "Bare", (), ())) == "Bare\n\n"
    assert max(map(len, table_text(TEXTS, width=12).splitlines()[2:-3])) <= 12 + 2 + 7 + 2 + 5


def test_manifest_tells_what_made_a_report(tmp_path: Path) -> None:
    """Versions, machine, command, seed, data and metrics, as plain values; the time is the one given."""
    import sys
    from importlib.metadata import version

    time = datetime(2024, 5, 6, 7, 8, 9, tzinfo=timezone.utc)
    manifest = machine_manifest(
        command=["/opt/bin/rome", "evaluate", "two words"],
        seed=3,
        data={"set": "sha256:1"},
        metrics={"BLEU": "v:1"},
        seconds=1.26,
        options={"out": tmp_path},
        time=time,
    )
    assert json.loads(json.dumps(manifest)) == manifest
    assert manifest["command"] == "rome evaluate 'two words'" and manifest["time"] == "2024-05-06T07:08:09+00:00"
    assert (manifest["seed"], manifest["seconds"], manifest["data"]) == (3, 1.3, {"set": "sha256:1"})
    assert manifest["options"] == {"out": str(tmp_path)} and manifest["metrics"] == {"BLEU": "v:1"}
    assert manifest["packages"]["numpy"] == np.__version__ and manifest["rome"] == version("rome-metric")
    assert manifest["machine"]["cores"] >= 1 and manifest["machine"]["python"].endswith(sys.version.split()[0])
    assert manifest["commit"] is None or re.fullmatch(r"[0-9a-f]{40,64}(\+changes)?", manifest["commit"])


def test_commit_is_quiet_without_git(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Without git, or when it fails, there is no commit and not a word."""
    monkeypatch.setenv("PATH", "")
    assert git_commit() is None
    assert capfd.readouterr() == ("", "")


def test_file_digest(tmp_path: Path) -> None:
    """The digest of the empty file is SHA-256's; a missing file is named."""
    (tmp_path / "empty").touch()
    assert file_digest(tmp_path / "empty") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    with pytest.raises(InputError, match="missing cannot be read"):
        file_digest(tmp_path / "missing")


def test_report_loads_matplotlib_only_to_draw() -> None:
    """Importing the writer, the terminal table and the manifest loads no matplotlib."""
    import subprocess
    import sys

    script = f"import sys, {writer.__name__}, rome.reports.text, rome.reports.manifest as m; "
    script += "m.machine_manifest(); print([name for name in ('matplotlib', 'torch', 'sacrebleu') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_axes_of_sizes_and_of_ranks() -> None:
    """Sizes that double stand on a logarithmic axis with plain numbers; thirty ranks at even steps stand evenly."""
    sizes, ranks = tuple(2.0**n for n in range(14)), tuple(map(float, range(1, 31)))
    for x, scale in ((sizes, "log"), (ranks, "linear")):
        (axes,) = figures.draw(Lines("lines", "Lines", x, {"y": x})).axes[:1]
        assert axes.get_xscale() == scale
        labels = [label.get_text() for label in axes.get_xticklabels()]
        assert any(labels) and not any("$" in label for label in labels)

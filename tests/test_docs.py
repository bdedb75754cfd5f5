"""The documentation: every example runs and prints what its page says, nothing is left out, and the site asks no network."""

from __future__ import annotations

import argparse
import ast
import importlib
import re
import shlex
import shutil
import subprocess
import sys
from configparser import ConfigParser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import rome
from rome.cli import COMMANDS, _parser
from rome.cli.models import read_cards
from rome.features.values import FEATURES
from rome.metric import RoMe

TOP = Path(__file__).resolve().parents[1]
DOCS, PAGES = TOP / "docs", TOP / "docs" / "pages"
PICTURES = PAGES / "pictures"
TEXTS = {path.relative_to(PAGES).as_posix(): path.read_text(encoding="utf-8") for path in sorted(PAGES.rglob("*.md"))}
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
INNER = {f"rome.integrations.{name}" for name in ("columns",)}
KILOBYTES, KILOBYTES_TOGETHER = 150, 2000
needs_site = pytest.mark.skipif(find_spec("mkdocs") is None, reason='mkdocs is not installed: pip install "rome-metric[docs]"')
POLICY = "default-src 'self' file: data: blob: 'unsafe-inline'"

sys.path.append(str(DOCS))
examples: Any = importlib.import_module("examples")
figures: Any = importlib.import_module("figures")
generated: Any = importlib.import_module("generated")


@pytest.fixture(scope="module")
def metric() -> RoMe:
    return RoMe(progress=False)


@pytest.mark.parametrize("name", [name for name, text in TEXTS.items() if examples.examples_of(text)])
def test_examples_print_what_the_page_says(name: str, metric: RoMe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of Python of a page runs, in order, and prints the output that stands under it, to the last digits."""
    found = examples.examples_of(TEXTS[name])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rome, "RoMe", lambda **options: RoMe(**options) if options else metric)
    printed = examples.run(found, name, {})
    wrong = [(e.line, e.output, out) for e, out in zip(found, printed, strict=True) if not examples.agree(e.output or "", out)]
    assert wrong == [], (
        "put the true outputs into the pages with `python docs/examples.py --write`, and read the texts around them"
    )


def test_no_example_is_overlooked() -> None:
    """Every fence of Python and every output is one that the test above runs; the feature pages and the first ones have some."""
    for name, text in TEXTS.items():
        found = examples.examples_of(text)
        assert text.count("```python\n") == len(found), name
        assert text.count("```output\n") == sum(e.output is not None for e in found), name
    wanted = {
        "index.md",
        "start.md",
        "reading.md",
        *(f"features/{n}.md" for n in ("semantic", "syntax", "grammar", "errors", "score")),
    }
    assert all(examples.examples_of(TEXTS[name]) for name in wanted)


def test_programs_that_want_a_server_could_run() -> None:
    """The fences that no test runs are Python, and what they import of RoMe is there (where its package is)."""
    blocks = [(name, block) for name, text in TEXTS.items() for block in re.findall(r"^```py\n(.*?)^```$", text, re.M | re.S)]
    for name, block in blocks:
        for node in ast.walk(ast.parse(block, name)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rome"):
                module = importlib.import_module(str(node.module))
                assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == [], name


def test_outputs_agree_to_the_last_digits_only() -> None:
    """Numbers may differ by what processors round; words, whole numbers and the number of lines may not."""
    assert examples.agree("score 0.853 of 4\n", "score 0.855 of 4")
    assert not examples.agree("score 0.85 of 4", "score 0.91 of 4")
    assert not examples.agree("score 0.85 of 4", "score 0.85 of 5")
    assert not examples.agree("score 0.85", "value 0.85") and not examples.agree("a\nb", "a") and not examples.agree("", "a")


def test_outputs_are_put_into_a_page() -> None:
    """A page with stale or no outputs gets the true ones, and then agrees with itself."""
    page = "Text.\n\n```python\nprint(1)\n```\n\n```python\nx = 2\n```\n\n```python\nprint(x)\n```\n\n```output\n3\n```\nEnd.\n"
    found = examples.examples_of(page)
    assert [e.output for e in found] == [None, None, "3\n"] and [e.line for e in found] == [4, 8, 12]
    new = examples.rewritten(page, examples.run(found, "page", {}))
    again = examples.examples_of(new)
    assert [e.output for e in again] == ["1\n", None, "2\n"] and new.endswith("End.\n")
    assert examples.rewritten(new, examples.run(again, "page", {})) == new


def test_console_lines_are_commands() -> None:
    """Every command line of the pages is one that the program understands."""
    lines = [line[2:] for text in TEXTS.values() for block in re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S)
             for line in block.splitlines() if line.startswith("$ ")]  # fmt: skip
    own = [line.split(" | ")[-1] for line in lines if "rome " in line]
    assert len(own) >= 10
    for line in own:
        program, *words = shlex.split(line, comments=True)
        assert program == "rome" and _parser().parse_args([word for word in words if word != "&"]), line


def test_every_public_name_is_in_the_api_pages() -> None:
    """What `rome` offers, and every module of rome/integrations, has its section."""
    described = set(
        re.findall(r"^::: ([\w.]+)$", "\n".join(text for name, text in TEXTS.items() if name.startswith("api/")), re.M)
    )
    homes = {f"{rome._HOME[name]}.{name}" for name in rome.__all__ if name in rome._HOME}
    assert {home for home in homes if home not in described and home.rpartition(".")[0] not in described} == set()
    folder = Path(str(rome.__file__)).parent / "integrations"
    modules = {f"rome.integrations.{path.stem}" for path in folder.iterdir() if not path.name.startswith("_")}
    assert modules - INNER - described == set()


def test_every_option_is_in_the_command_page() -> None:
    """The page is written from the parser: every command, every option of it."""
    page = generated.command_page()

    def options(parser: argparse.ArgumentParser) -> set[str]:
        below = [
            choice
            for action in parser._actions
            if isinstance(action, argparse._SubParsersAction)
            for choice in action.choices.values()
        ]
        own = {name for action in parser._actions if action.help != argparse.SUPPRESS for name in action.option_strings}
        return own.union(*map(options, below)) - {"-h", "--help", "--version"}

    assert [name for name in COMMANDS if f"\n## rome {name}\n" not in page] == []
    assert len(options(_parser())) > 30
    assert [name for name in options(_parser()) if not re.search(rf"`[^`\n]*{name}\b", page)] == []


def test_every_model_has_its_card() -> None:
    """Each embedded model has a section with its data, licence and figures; marks of Markdown in a card do no harm."""
    page = generated.card_page()
    cards = [(name, card["name"]) for name, cards in read_cards().items() for card in cards]
    assert [
        name for name in cards if f"\n### {name[0]}: {name[1]}\n" not in page or f"](#{name[0]}-{name[1]})" not in page
    ] == []
    assert page.count("| licence |") == len(cards) and "| in domain dev mcc |" in page
    assert generated._escaped("a_b*c|d <b>\n`x`") == r"a\_b\*c\|d &lt;b&gt; `x`"


def test_every_table_is_made_and_used() -> None:
    """Each name that a page calls is a table with rows, and no table is made for nothing."""
    called = {name for text in TEXTS.values() for name in figures.PLACE.findall(text)}
    assert called == set(figures.TABLES)
    for name in called:
        assert figures.TABLES[name]().count("\n") >= 4, name
    with pytest.raises(KeyError):
        figures.filled("{{ no_such_table }}")


def test_pictures_are_there_and_small() -> None:
    """Every picture that a page shows exists and is described in words; none is left over; they stay small."""
    shown = [
        found for text in TEXTS.values() for found in re.findall(r"!\[([^\]]*)\]\((?:\.\./)?pictures/([\w-]+\.png)\)", text)
    ]
    assert {name for _, name in shown} == {path.name for path in PICTURES.iterdir()}
    assert all(len(words) > 20 for words, _ in shown)
    sizes = {path.name: path.stat().st_size / 1000 for path in PICTURES.iterdir()}
    assert {name: size for name, size in sizes.items() if size > KILOBYTES} == {}
    assert sum(sizes.values()) < KILOBYTES_TOGETHER


def test_what_the_pages_name_is_there() -> None:
    """Every dotted name and every path of the pages and the README; `rome.semantic` and the like are columns of tables."""
    texts = "\n".join([*TEXTS.values(), (TOP / "README.md").read_text(encoding="utf-8")])
    columns = {f"rome.{feature}" for feature in FEATURES}
    named = set(re.findall(r"\brome(?:\.[A-Za-z_]\w*)+", texts)) - columns
    assert len(named) > 40 and [name for name in sorted(named) if not _importable(name)] == []
    paths = set(re.findall(r"(?<![\w/.])(?:\.ci|benchmarks|data|docs|features|notebooks|rome|tests|train)/[\w./-]*\w", texts))
    assert (
        len(paths) > 20 and [path for path in sorted(paths) if not (TOP / path).exists() and not (PAGES / path).exists()] == []
    )


def _importable(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    module, _, attribute = name.rpartition(".")
    try:
        return find_spec(name) is not None or hasattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError:  # what holds it is no package: a module's attribute, or nothing
        return find_spec(module) is not None and hasattr(importlib.import_module(module), attribute)


def test_the_drawing_of_the_rooms_is_their_order() -> None:
    """From top to bottom it names the rooms of import-linter's contract, each once; the text names the other two."""
    drawing = TEXTS["design.md"].split("```text\n")[1].split("```")[0]
    rows = [re.split(" {3,}", line.strip(" |+-"))[0].split() for line in drawing.splitlines()]
    drawn = [name.removesuffix(".py").rstrip("/") for row in rows for name in row]
    config = ConfigParser()
    config.read(TOP / ".importlinter")
    layers = [re.split(r" [|:] ", layer) for layer in config["importlinter:contract:rooms"]["layers"].split("\n")[1:]]
    places = {room: place for place, layer in enumerate(layers) for room in layer}
    assert sorted(drawn) == sorted(set(places) - {"data", "train"})
    assert drawn == sorted(drawn, key=places.__getitem__)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: a broken link, a missing anchor or picture, or a page outside the navigation fails."""
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-I",
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--config-file",
        str(DOCS / "mkdocs.yml"),
        "--site-dir",
        str(folder),
    ]
    built = subprocess.run(command, capture_output=True, text=True, cwd=TOP)
    assert built.returncode == 0, built.stderr
    return folder


@needs_site
def test_the_site_is_whole_and_asks_no_network(site: Path) -> None:
    """Every page is built, formulas are MathML, code is coloured, generated pages are there; a browser may load the site's own files alone."""
    pages = {path.relative_to(site).as_posix(): path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    assert {name.replace(".md", ".html") for name in TEXTS} | {"models.html", "use/cli.html", "404.html"} == set(pages)
    for name in ("semantic", "syntax", "grammar", "errors", "score"):
        page = pages[f"features/{name}.html"]
        assert "<math" in page and "```math" not in page and "$`" not in page
    assert not any("{{ " in page for page in pages.values())
    assert all(f'content="{POLICY}"' in page for page in pages.values())
    assert all(path.stat().st_size > 1000 for path in (site / "styles").glob("*.css"))
    assert "Compare hypotheses with references" in pages["api/metric.html"] and "counterfactual" in pages["api/metric.html"]


@needs_site
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_browser_loads_nothing_from_elsewhere(site: Path) -> None:
    """A real browser, light and dark, on a narrow screen: no request leaves the site, no script fails, nothing is too wide; search finds."""
    sync = pytest.importorskip("playwright.sync_api")
    asked: list[str] = []
    failed: list[str] = []
    wide: list[str] = []
    handler = partial(_Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync.sync_playwright() as playwright:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 400, "height": 800})
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: failed.append(str(error)))
        page.on("console", lambda message: failed.append(message.text) if message.type == "error" else None)
        for number, name in enumerate(("index", "features/semantic", "use/cli", "models", "api/metric", "blind_spots")):
            page.emulate_media(color_scheme="dark" if number % 2 else "light")
            page.goto(f"{address}{name}.html")
            assert page.evaluate("document.styleSheets.length") > 5
            if page.evaluate("document.documentElement.scrollWidth") > 401:
                wide.append(name)
        page.goto(f"{address}index.html?q=transport")
        page.wait_for_selector("#mkdocs-search-results article", state="attached", timeout=60_000)
        served = list(failed)
        page.goto((site / "index.html").as_uri())  # from the folder, where a browser allows no worker to search
        assert page.evaluate("getComputedStyle(document.querySelector('.navbar')).position") == "sticky"
        browser.close()
        server.shutdown()
    assert [url for url in asked if not url.startswith((address, "data:", "blob:", site.as_uri()))] == []
    assert (served, wide) == ([], [])


def test_tests_that_the_page_of_safety_names_exist() -> None:
    """As files of this folder, or as tests in one of them."""
    files = list(Path(__file__).parent.glob("test_*.py"))
    there = {path.stem for path in files} | {
        name for path in files for name in re.findall(r"^def (test_\w+)", path.read_text(), re.M)
    }
    named = set(re.findall(r"`(test_\w+)`", (PAGES / "safety.md").read_text(encoding="utf-8")))
    assert len(named) > 20 and named <= there


class _Quiet(SimpleHTTPRequestHandler):
    """Serves the site and says nothing."""

    def log_message(self, format: str, *_: Any) -> None:  # noqa: A002  (the base class names it)
        """Keep what was asked for to itself."""

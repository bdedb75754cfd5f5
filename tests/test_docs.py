"""Test the documentation: examples, command lines, names, generated pages, and the built site."""

from __future__ import annotations

import argparse
import ast
import importlib
import re
import shlex
import shutil
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import rome
from rome.cli import COMMANDS, _parser
from rome.cli.package import read_cards
from rome.features.values import FEATURES
from rome.metric import RoMe

TOP = Path(__file__).resolve().parents[1]
DOCS, PAGES = TOP / "docs", TOP / "docs" / "pages"
PICTURES = PAGES / "pictures"
TEXTS = {path.relative_to(PAGES).as_posix(): path.read_text(encoding="utf-8") for path in sorted(PAGES.rglob("*.md"))}
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
INNER = {f"rome.integrations.{name}" for name in ("columns", "rome_score")}
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
    """Run the Python blocks of a page in order and compare their outputs."""
    blocks = examples.examples_of(TEXTS[name])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rome, "RoMe", lambda **options: RoMe(**options) if options else metric)
    printed = examples.run(blocks, name, {})
    wrong = [(e.line, e.output, out) for e, out in zip(blocks, printed, strict=True) if not examples.agree(e.output or "", out)]
    assert wrong == [], "renew the outputs with `python docs/examples.py --write`, and read the texts around them"


def test_no_example_is_overlooked() -> None:
    """Count the fences of Python and of outputs, and require examples on the first pages and on the feature pages."""
    for name, text in TEXTS.items():
        blocks = examples.examples_of(text)
        assert text.count("```python\n") == len(blocks), name
        assert text.count("```output\n") == sum(block.output is not None for block in blocks), name
    features = (f"features/{name}.md" for name in (*FEATURES, "score"))
    assert all(examples.examples_of(TEXTS[name]) for name in ("index.md", "tasks.md", "start.md", "reading.md", *features))


def test_programs_that_want_a_server_could_run() -> None:
    """Parse the fences that need a server or a cluster, and import what they import from RoMe."""
    blocks = [(name, block) for name, text in TEXTS.items() for block in re.findall(r"^```py\n(.*?)^```$", text, re.M | re.S)]
    for name, block in blocks:
        for node in ast.walk(ast.parse(block, name)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rome"):
                module = importlib.import_module(str(node.module))
                assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == [], name


def test_console_lines_are_commands() -> None:
    """Parse every command line of the pages."""
    lines = [line[2:] for text in TEXTS.values() for block in re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S)
             for line in block.splitlines() if line.startswith("$ ")]  # fmt: skip
    own = [line.split(" | ")[-1] for line in lines if "rome " in line]
    assert len(own) >= 10
    for line in own:
        program, *words = shlex.split(line, comments=True)
        assert program == "rome" and _parser().parse_args([word for word in words if word != "&"]), line


def test_every_public_name_is_in_the_api_pages() -> None:
    """Find every name that `rome` exports, and every module of rome/integrations, in the API pages."""
    described = set(
        re.findall(r"^::: ([\w.]+)$", "\n".join(text for name, text in TEXTS.items() if name.startswith("api/")), re.M)
    )
    homes = {f"{rome._MODULES[name]}.{name}" for name in rome.__all__ if name in rome._MODULES}
    assert {home for home in homes if home not in described and home.rpartition(".")[0] not in described} == set()
    folder = Path(str(rome.__file__)).parent / "integrations"
    modules = {f"rome.integrations.{path.stem}" for path in folder.iterdir() if not path.name.startswith("_")}
    assert modules - INNER - described == set()


def test_every_option_is_in_the_command_page() -> None:
    """Find every command and option in the generated page."""
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
    """Find a section for each model in the generated page, and escape Markdown in cards."""
    page = generated.card_page()
    cards = [(name, card["name"]) for name, cards in read_cards().items() for card in cards]
    assert [
        name for name in cards if f"\n### {name[0]}: {name[1]}\n" not in page or f"](#{name[0]}-{name[1]})" not in page
    ] == []
    assert page.count("| licence |") == len(cards) and "| in domain dev mcc |" in page
    assert generated._escaped("a_b*c|d <b>\n`x`") == r"a\_b\*c\|d &lt;b&gt; `x`"


def test_every_table_is_made_and_used() -> None:
    """Require each table of docs/figures.py on a page, with rows; the phrase has numbers, and figures of cards three decimals."""
    called = {name for text in TEXTS.values() for name in figures.PLACE.findall(text) if "/" not in name}
    assert called == set(figures.TABLES)
    for name in called - {"memory"}:
        assert figures.TABLES[name]().count("\n") >= 4, name
    assert re.fullmatch(r"\d\.\d GB with `base` or \d\.\d GB with `small`", figures.memory())
    assert re.fullmatch(r"0\.\d{3} [\d,]+", figures.filled("{{base/scorer/mean_one_major_error}} {{base/idf/texts}}"))
    for wrong in ("no_such_table", "base/scorer/no_such_figure"):
        with pytest.raises(KeyError):
            figures.filled(f"{{{{ {wrong} }}}}")


def test_the_table_of_peers_in_the_readme_is_measured() -> None:
    """Compute each row of the README's table from benchmarks/results; the best of a row is bold."""
    own = {(row["models"], row["row"]): row["rome"] for row in figures._read("development.tsv")}
    peers = {row["row"]: row for row in figures._read("meaning_peers.tsv")}
    for row in figures._read("human.tsv"):
        for column in ("tau", "per_item"):
            peers.setdefault(f"{row['set']} {row['rating']} {column}", {})[row["metric"]] = row[column]
    expected, rows = [], {
        **{"handmade, all": "handmade, all", "webnlg_dev, far>near": "webnlg_dev, far>near"},
        **{"WebNLG semantics, tau per item": "webnlg17 semantics per_item", "WMT23 MQM, tau per item": "wmt23 mqm per_item"},
        "BAGEL quality, tau": "bagel quality tau",
    }  # fmt: skip
    for key, peer in rows.items():
        values = [own["base", key], own["small", key], *(peers[peer][name] for name in ("BERTScore", "chrF2", "BLEU"))]
        cells = [f"{float(value):.{3 if 'tau' in key else 1}f}" for value in values]
        best = max(cells, key=float)
        expected.append([f"**{cell}**" if cell == best else cell for cell in cells])
    place, names = "groups/dev, place found, ", ("critical", "major", "minor")
    found = [", ".join(f"{float(own[models, place + name]):.0f}" for name in names) for models in ("base", "small")]
    rates = [float(row["pairs_per_second"]) for row in figures._read("peers.tsv") if row["mode"] in ("cold, in processes", "")]
    base, small, bertscore, _, chrf = rates
    speeds = [f"{base:.0f}", f"{small:.0f}", f"{bertscore:.1f} with roberta-large", f"{round(chrf, -2):,.0f}", ""]
    expected += [[*found, "", "", ""], speeds]
    text = (TOP / "README.md").read_text(encoding="utf-8").partition("|---|---|---|---|---|---|\n")[2].partition("\n\n")[0]
    assert [[cell.strip() for cell in line.strip("|").split("|")[1:]] for line in text.splitlines()] == expected


def test_pictures_are_there_and_small() -> None:
    """Require that every picture exists, is used, described and small."""
    shown = [
        found for text in TEXTS.values() for found in re.findall(r"!\[([^\]]*)\]\((?:\.\./)?pictures/([\w-]+\.png)\)", text)
    ]
    assert {name for _, name in shown} == {path.name for path in PICTURES.iterdir()}
    assert all(len(words) > 20 for words, _ in shown)
    sizes = {path.name: path.stat().st_size / 1000 for path in PICTURES.iterdir()}
    assert {name: size for name, size in sizes.items() if size > KILOBYTES} == {}
    assert sum(sizes.values()) < KILOBYTES_TOGETHER


def test_what_the_pages_name_is_there() -> None:
    """Look up every dotted name and path of the pages and the README; `rome.semantic` and the like are names of metrics."""
    texts = "\n".join([*TEXTS.values(), (TOP / "README.md").read_text(encoding="utf-8")])
    names = set(re.findall(r"\brome(?:\.[A-Za-z_]\w*)+", texts)) - {f"rome.{feature}" for feature in FEATURES}
    assert len(names) > 20 and [name for name in sorted(names) if not _importable(name)] == []
    paths = set(re.findall(r"(?<![\w/.])(?:\.ci|benchmarks|data|docs|features|notebooks|rome|tests|train)/[\w./-]*\w", texts))
    missing = [path for path in sorted(paths) if not (TOP / path).exists() and not (PAGES / path).exists()]
    assert len(paths) > 10 and missing == []


def _importable(name: str) -> bool:
    """Return whether a dotted name is a module, or an attribute of one."""
    module, _, attribute = name.rpartition(".")
    try:
        return find_spec(name) is not None or hasattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError:
        return find_spec(module) is not None and hasattr(importlib.import_module(module), attribute)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site; a broken link, a missing anchor or picture, or a page outside the navigation fails."""
    folder = tmp_path_factory.mktemp("site")
    options = ["--strict", "--config-file", str(DOCS / "mkdocs.yml"), "--site-dir", str(folder)]
    built = subprocess.run([sys.executable, "-I", "-m", "mkdocs", "build", *options], capture_output=True, text=True, cwd=TOP)
    assert built.returncode == 0, built.stderr
    return folder


@needs_site
def test_the_site_is_whole_and_asks_no_network(site: Path) -> None:
    """Require every page, formulas as MathML, and a policy that allows only the site's own files."""
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
    """Open pages in a narrow browser, light and dark: no request leaves the site, no script fails, nothing is too wide, search works."""
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
        page.set_viewport_size({"width": 1200, "height": 800})
        assert page.locator(".navbar").bounding_box()["height"] < 70, "the top menu needs two lines"
        page.goto(f"{address}index.html?q=transport")
        page.wait_for_selector("#mkdocs-search-results article", state="attached", timeout=60_000)
        served = list(failed)
        page.goto((site / "index.html").as_uri())  # from the folder, where a browser allows no worker to search
        assert page.evaluate("getComputedStyle(document.querySelector('.navbar')).position") == "sticky"
        browser.close()
        server.shutdown()
    assert [url for url in asked if not url.startswith((address, "data:", "blob:", site.as_uri()))] == []
    assert (served, wide) == ([], [])


class _Quiet(SimpleHTTPRequestHandler):
    """Serve the site without logging."""

    def log_message(self, format: str, *_: Any) -> None:  # noqa: A002  (the base class names it)
        """Log nothing."""

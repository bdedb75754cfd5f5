"""The page of a report in a real browser: silent, sealed, sorted and filtered by keyboard, readable in light and dark."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rome.reports.folder import write_report
from rome.reports.model import Heatmap, Lines, Report, Table

CHROMIUM = shutil.which("chromium")
NAN = float("nan")
ATTACKS = ("<script>document.title='taken'</script>", "<img src=x onerror=\"document.title='taken'\">", "</table>", "a\nb")
ROWS = tuple(
    (number, ("negation", "tense", "name")[number % 3], ATTACKS[number % 4] + " plain words" * (number % 7), number / 7)
    for number in range(120)
)
BOARD = Table(
    "board",
    "Agreement with people",
    ("metric", "tau", "low", "high", "items"),
    (("b", 0.30001, 0.2, 0.4, 10), ("a", NAN, NAN, NAN, 9), ("c", 0.30002, 0.1, 0.5, 100), ("d", -0.5, -0.6, -0.4, None)),
    note="Ties count half.",
    digits={"tau": 2},
    highest=("tau",),
    intervals=(("tau", "low", "high"),),
)
LONG = Table("blind", "Blind spots", ("pair", "perturbation", "text", "difference"), ROWS)
WIDE = Heatmap("heat", "Accuracy", tuple(f"r{i}" for i in range(20)), tuple(f"metric {i}" for i in range(14)), np.eye(20, 14))
DRIFT = Lines("drift", "Drift", (0.0, 1.0), {"RoMe": (0.1, 0.2), "BLEU": (0.2, 0.1)}, "alpha", "tau")
REPORT = Report("Report <title>", (BOARD, LONG, WIDE, DRIFT), {"seed": 1, "data": {"set": "sha256:0"}}, "What this is.")

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium for all tests of this file."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The example report's page as a file address."""
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    return write_report(REPORT, tmp_path_factory.mktemp("reports") / "report").as_uri()


@pytest.fixture
def show(browser: Any, address: str) -> Iterator[Open]:
    """Open the page with settings of a browser context; whatever it says or asks for is in `page.heard`."""
    contexts = []

    def open_page(**settings: Any) -> Any:
        contexts.append(browser.new_context(**settings))
        page = contexts[-1].new_page()
        page.heard = []
        page.on("console", lambda message: page.heard.append(message.text))
        page.on("pageerror", lambda error: page.heard.append(str(error)))
        page.on("request", lambda request: page.heard.append(request.url))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()


def column(page: Any, table: str, place: int) -> list[str]:
    """The visible texts of a column."""
    cells = page.locator(f"#table-{table} tbody tr:visible > :nth-child({place})")
    return [text.strip() for text in cells.all_inner_texts()]


def test_page_is_silent_and_sealed(show: Open, address: str) -> None:
    """Opened as a file it says nothing, asks for nothing but itself, and no text of the report comes alive."""
    page = show()
    page.wait_for_load_state("networkidle")
    assert [heard for heard in page.heard if not heard.startswith("data:")] == [address]
    assert page.title() == "Report <title>"
    assert page.locator("img:not([src^='data:image/svg+xml']), iframe, object, link[rel=stylesheet], script[src]").count() == 0
    assert column(page, "blind", 3)[0] == ATTACKS[0]


def test_policy_stops_injected_code(show: Open) -> None:
    """Even an element that got into the page could neither run a script nor load anything."""
    page = show()
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', `<img src='https://example.org/x.png' onerror='document.title=1'>`)"
    )
    page.evaluate("const s = document.createElement('script'); s.textContent = 'document.title = 2'; document.body.append(s)")
    for _ in range(600):
        if len([heard for heard in page.heard if "Content Security Policy" in heard]) >= 2:
            break
        page.wait_for_timeout(100)
    assert page.title() == "Report <title>"
    assert len([heard for heard in page.heard if "Content Security Policy" in heard]) >= 2


def test_tables_sort_by_keyboard(show: Open) -> None:
    """Enter on a header sorts by the exact numbers, highest first, then lowest first, then as given; dashes stay last."""
    page = show()
    header = page.locator("#table-board thead th").nth(1)
    button = header.get_by_role("button", name="tau")
    button.focus()
    seen = []
    for key in ("Enter", "Space", "Enter"):
        page.keyboard.press(key)
        seen.append((header.get_attribute("aria-sort"), "".join(column(page, "board", 1))))
        assert page.evaluate("document.activeElement.textContent") == "tau"
    assert seen == [("descending", "cbda"), ("ascending", "dbca"), ("none", "bacd")]
    page.locator("#table-board thead button").first.click()
    assert column(page, "board", 1) == ["a", "b", "c", "d"]
    assert page.locator("#table-board thead th[aria-sort=ascending]").count() == 1


def test_every_control_is_reached_by_tab(show: Open) -> None:
    """Tab alone leads to the skip link first, then to each header, filter, box that scrolls, and plot."""
    page = show()
    reached = []
    for _ in range(34):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate("document.activeElement.id || document.activeElement.className || document.activeElement.tagName")
        )
    assert reached[0] == "skip"
    assert {"table-blind-filter", "scroll", "plot", "BUTTON", "SUMMARY"} <= set(reached)


def test_long_tables_filter_and_page(show: Open) -> None:
    """A long table starts with fifty rows; words narrow it, a button shows all, and the count is said."""
    page = show()
    tools = page.locator("#table-blind-tools")
    count, box, more = tools.locator("output"), page.get_by_label("Filter rows").first, tools.get_by_role("button")
    assert (len(column(page, "blind", 1)), count.inner_text()) == (50, "120 rows, the first 50 shown")
    more.click()
    assert (len(column(page, "blind", 1)), more.inner_text()) == (120, "Show the first 50")
    more.click()
    box.press_sequentially("Negation SCRIPT")
    expected = [str(row[0]) for row in ROWS if row[1] == "negation" and "script" in str(row[2])]
    assert column(page, "blind", 1) == expected
    assert count.inner_text() == f"{len(expected)} of 120 rows match"
    page.locator("#table-blind thead button").nth(3).click()
    assert column(page, "blind", 1) == expected[::-1]
    box.fill("no such words")
    assert (column(page, "blind", 1), count.inner_text()) == ([], "0 of 120 rows match")
    box.fill("")
    assert column(page, "blind", 1)[0] == "119"
    assert page.locator("#table-board-tools").count() == 0


def test_paper_and_no_script_show_every_row(show: Open) -> None:
    """Printed, and where scripts are off, a long table is whole and has no controls that do nothing."""
    page = show()
    page.emulate_media(media="print")
    assert len(column(page, "blind", 1)) == 120
    assert page.locator(".tools:visible, nav:visible").count() == 0
    plain = show(java_script_enabled=False)
    assert plain.locator("#table-blind tbody tr:visible").count() == 120
    assert plain.locator(".tools:visible, thead button").count() == 0


def test_structure_serves_every_reader(show: Open) -> None:
    """One main heading, levels in order, names for every control, table, region and picture, scopes for every header."""
    page = show()
    assert page.locator("html").get_attribute("lang") == "en"
    levels = [int(tag[1]) for tag in page.locator("h1, h2, h3, h4").evaluate_all("all => all.map(one => one.tagName)")]
    assert levels.count(1) == 1 and levels[0] == 1
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))
    assert [page.locator(name).count() for name in ("main", "header", "nav", "h1")] == [1, 1, 1, 1]
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true })")
    for part in (BOARD, LONG):
        assert page.get_by_role("table", name=part.title, exact=True).count() == 1
    for role in ("button", "searchbox", "region", "img", "navigation"):
        found = page.get_by_role(role)
        assert found.count() == page.get_by_role(role, name=re.compile(r"\w")).count() > 0, role
    assert page.locator("th:not([scope])").count() == 0
    assert page.get_by_role("rowheader", name="b", exact=True).count() == 1
    assert page.locator("[tabindex]:not([tabindex='0']):not([tabindex='-1'])").count() == 0
    idents = page.locator("[id]").evaluate_all("all => all.map(one => one.id)")
    assert len(idents) == len(set(idents))


LUMINANCE = """([name, ground]) => {
  const of = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number)
    .map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, place) => sum + c * [0.2126, 0.7152, 0.0722][place], 0);
  const element = document.querySelector(name);
  const [a, b] = [of(getComputedStyle(element).color), of(getComputedStyle(document.querySelector(ground)).backgroundColor)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_are_legible(show: Open, scheme: str) -> None:
    """Texts, notes, links and headers reach a contrast of 4.5 in both schemes, and a plot stands on white ground."""
    page = show(color_scheme=scheme)
    pairs = [
        ("body", "body"),
        (".note", "body"),
        ("nav a", "body"),
        ("small", "body"),
        ("thead th", "thead th"),
        ("td.m", "body"),
    ]
    for name, ground in pairs:
        assert page.evaluate(LUMINANCE, [name, ground]) >= 4.5, name
    ground = page.locator("#part-drift img").evaluate("one => getComputedStyle(one).backgroundColor")
    assert ground == "rgb(255, 255, 255)"


@pytest.mark.parametrize("width", [400, 1200])
def test_page_fits_the_window(show: Open, width: int) -> None:
    """Wide tables and plots scroll in their own boxes, the page itself never sideways; headers stay in sight."""
    page = show(viewport={"width": width, "height": 800})
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#part-blind .scroll").evaluate("box => box.scrollTo(0, 300)")
    top, header = page.evaluate(
        "['.scroll', 'thead th'].map(name => document.querySelector(`#part-blind ${name}`).getBoundingClientRect().top)"
    )
    assert 0 <= header - top <= 2


def test_numbers_stand_to_the_right(show: Open) -> None:
    """Columns of numbers are aligned to the right, texts to the left, and the best number is bold and explained."""
    page = show()
    row = page.locator("#table-board tbody tr").nth(2)
    assert [cell.evaluate("one => getComputedStyle(one).textAlign") for cell in row.locator("> *").all()] == [
        "left",
        "right",
        "right",
    ]
    assert row.locator("strong").inner_text() == "0.30"
    assert page.get_by_text("Bold: the best value of its column.").count() == 1
    assert row.inner_text().split("\t") == ["c", "0.30 [0.10, 0.50]", "100"]


def test_page_is_small(address: str) -> None:
    """A heat map of 20 by 14 with its numbers, and 120 rows, stay far below a megabyte."""
    assert Path(address.removeprefix("file://")).stat().st_size < 250_000

"""The page of `rome report` in a real browser: silent, sealed, by keyboard and mouse, linked by its address, readable in light and dark."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from html_checks import write_report

from rome.reports.html import fragment
from rome.reports.segment import segment_document
from rome.results import CorpusScore, SegmentScore

from scored_segments import error, scored

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
expect = sync_api.expect
expect.set_options(timeout=60_000)

COUNT = 130
HOSTILE = (
    "</script><script>document.title='taken'</script>",
    "<img src=x onerror=\"document.title='taken'\">",
    "<!-- never closed",
    '=HYPERLINK("https://example.org")',
    "a \u202e right to left \t and a tab",
)
NAMES = ("old", "new <b>&\u202e")

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def results(make_segment: Callable[..., SegmentScore]) -> dict[str, CorpusScore]:
    """Two systems: the second is worse by a little, some outputs hostile, every tenth empty and flagged."""
    random, found = np.random.default_rng(7), {}
    for name in NAMES:
        rows = []
        for n in range(COUNT):
            text = HOSTILE[n] if n < len(HOSTILE) else "" if n % 10 == 9 else f"Output {n} of this system, straße."
            row = make_segment(n, score=round(float(random.random()), 6), hypothesis=text, reference=f"Reference {n}.")
            row = replace(row, flags=("empty_hypothesis",)) if not text else row
            if n % 3 == 0:
                errors = replace(row.components.errors, evidence=replace(row.evidence.errors, errors=()))
                row = replace(row, components=replace(row.components, errors=errors))
            rows.append(row)
        found[name] = CorpusScore(tuple(rows), "rome:test")
    return found


@pytest.fixture(scope="module")
def address(results: dict[str, CorpusScore], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report as a file address."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(results, path, ids=[f"doc-{n}" for n in range(COUNT)], resamples=50)
    return path.as_uri()


@pytest.fixture
def show(browser: Any, address: str) -> Iterator[Open]:
    """Open the page; at the end it said nothing and asked for nothing but itself."""
    contexts, heard = [], []

    def open_page(hash: str = "", **settings: Any) -> Any:
        contexts.append(browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings}))
        contexts[-1].set_default_timeout(60_000)
        page = contexts[-1].new_page()
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("dialog", lambda dialog: heard.append(dialog.message))
        page.on("request", lambda request: heard.append(request.url))
        page.goto(address + hash)
        if settings.get("java_script_enabled", True):
            page.wait_for_selector("#browse:not([hidden])")
            page.wait_for_load_state("networkidle")
        return page

    yield open_page
    titles = {context.pages[0].title() for context in contexts}
    for context in contexts:
        context.close()
    assert titles <= {"RoMe report"}
    assert [text for text in heard if not text.startswith(("data:", "blob:", address))] == []


def names(page: Any) -> list[str]:
    """The segments of the rows, in order."""
    return [text.strip() for text in page.locator("#rows tbody .open").all_inner_texts()]


def scores(page: Any) -> list[float]:
    """The scores of the rows, in order."""
    return [float(text) for text in page.locator("#rows tbody td.score").all_inner_texts()]


def focused(page: Any) -> str:
    """The text of what has the focus."""
    return str(page.evaluate("document.activeElement.innerText")).strip()


def test_leaderboard_needs_no_script(show: Open, results: dict[str, CorpusScore]) -> None:
    """Without scripts the leaderboard and the distributions stand, and the page says what is missing."""
    page = show(java_script_enabled=False)
    rows = page.locator("#leaderboard tbody tr")
    best = max(results, key=lambda name: results[name].score)
    assert rows.nth(0).locator("th").inner_text() == best
    assert f"{results[best].score:.3f}" in rows.nth(0).inner_text()
    assert page.locator("#distributions svg").count() == 14
    assert "needs JavaScript" in page.locator("#segments").inner_text()
    assert not page.locator("#browse").is_visible()


def test_rows_are_sorted_and_paged(show: Open, results: dict[str, CorpusScore]) -> None:
    """A header sorts lowest first, then highest first, and says so; pages turn; equal order as Python's."""
    page = show()
    assert names(page)[:4] == ["doc-0", "doc-0", "doc-1", "doc-1"]
    assert page.locator("#found").inner_text() == "260 rows in all, 1 to 50 shown"
    header = page.locator("#rows thead th", has_text="score")
    every = sorted(round(s.score, 3) for result in results.values() for s in result)
    for order, expected in (("ascending", every), ("descending", every[::-1])):
        header.get_by_role("button").click()
        assert header.get_attribute("aria-sort") == order
        assert scores(page) == expected[:50]
    page.get_by_role("button", name="Next").click()
    assert scores(page) == every[::-1][50:100]
    assert page.locator("#rows").get_attribute("aria-rowcount") == "261"
    assert page.locator("#rows tbody tr").first.get_attribute("aria-rowindex") == "52"
    page.get_by_label("Sort by").select_option("-difference")
    shown = [float(text.replace("−", "-")) for text in page.locator("#rows tbody td.difference").all_inner_texts()]
    assert shown == sorted(shown, reverse=True) and shown[0] > 0
    assert page.locator("#page").input_value() == "1"


def test_rows_are_filtered(show: Open, results: dict[str, CorpusScore]) -> None:
    """By system, component below a value, flag, error type and severity, and together; the number found is said."""
    page = show()
    found = page.locator("#found")
    page.get_by_label("System", exact=True).select_option(NAMES[0])
    assert found.inner_text().startswith("130 rows found of 260")
    page.get_by_label("Below", exact=True).fill("0.4")
    low = [s for s in results[NAMES[0]] if s.score < 0.4]
    assert found.inner_text().startswith(f"{len(low)} rows found")
    page.get_by_label("Flag").select_option("empty_hypothesis")
    assert names(page) == [f"doc-{s.segment}" for s in low if s.flags]
    page.get_by_role("button", name="Clear filters").first.click()
    page.get_by_label("Severity").select_option("major")
    page.get_by_label("Error type").select_option("number")
    marked = sum(bool(s.evidence.errors.errors) for result in results.values() for s in result)
    assert found.inner_text().startswith(f"{marked} rows found")
    page.get_by_label("Error type").select_option("adverb")
    assert found.inner_text() == "0 rows found of 260"
    assert page.get_by_text("No row fits.").is_visible()
    page.locator("#again").click()
    page.get_by_label("Severity").select_option("none")
    assert found.inner_text().startswith(f"{260 - marked} rows found")


def test_texts_are_searched(show: Open) -> None:
    """Slash leads to the search; every word must occur in output, reference or id, whatever its case; what fits is marked."""
    page = show()
    page.keyboard.press("/")
    page.keyboard.type("STRASSE")
    plain = 2 * (COUNT - len(HOSTILE) - COUNT // 10)
    expect(page.locator("#found")).to_contain_text(f"{plain} rows found")
    page.locator("#q").fill("SYSTEM reference doc-12")
    expect(page.locator("#found")).not_to_contain_text(f"{plain} rows")
    assert set(names(page)) == {"doc-12", *(f"doc-{n}" for n in range(120, 130) if n % 10 != 9)}
    assert {text.lower() for text in page.locator("#rows mark").all_inner_texts()} == {"system", "reference"}
    page.locator("#q").fill("<SCRIPT>")
    expect(page.locator("#found")).to_contain_text("2 rows found")
    assert page.locator("#rows .output").first.inner_text() == HOSTILE[0]


def test_segment_opens_by_keyboard(show: Open, results: dict[str, CorpusScore]) -> None:
    """Arrows move between rows and pages, Enter opens, arrows lead on, Escape closes and gives the focus back."""
    page = show()
    page.locator("#rows tbody .open").first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    assert page.locator("#rows tbody tr:focus-within").get_attribute("aria-rowindex") == "3"
    assert page.locator("#rows tbody [tabindex='0']").count() == 1
    page.keyboard.press("Enter")
    article = page.locator("#explanation article")
    article.wait_for()
    assert page.locator("#detail-title").inner_text() == f"Segment doc-0 {NAMES[1]}"
    assert focused(page) == f"Segment doc-0 {NAMES[1]}"
    drawn = page.evaluate(
        "html => { const d = document.createElement('div'); d.innerHTML = html; return d.innerHTML }",
        _html(results[NAMES[1]][0]),
    )
    assert article.evaluate("one => one.outerHTML") == drawn.strip()
    right = "one => one.getBoundingClientRect().right"
    ends = [text.evaluate(right) for text in article.locator(".rome-trees text").all()]
    assert max(ends) <= article.locator(".rome-trees").evaluate(right), "a label of the trees is clipped"
    page.keyboard.press("ArrowRight")
    expect(page.locator("#detail-title")).to_contain_text("doc-1")
    assert "open=1%3Aold" in page.url
    page.keyboard.press("Escape")
    assert not page.locator("#detail").is_visible()
    assert focused(page) == "doc-1"
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    assert page.locator("#page").input_value() == "2" and focused(page) == "doc-25"
    page.keyboard.press("ArrowUp")
    assert page.locator("#page").input_value() == "1" and focused(page) == "doc-24"
    page.keyboard.press("PageDown")
    assert page.locator("#page").input_value() == "2"


def _html(segment: SegmentScore) -> str:
    """What the browser should show."""
    return fragment(segment_document(segment, every=False))


def test_every_explanation_arrives(show: Open, results: dict[str, CorpusScore]) -> None:
    """Unpacked in the browser, every explanation is what Python wrote, hostile texts too, and none of them comes alive."""
    page = show()
    found = page.evaluate(
        "async (count) => { const all = []; for (let n = 0; n < count; n += 1) all.push(await fragments.of(n)); return all }",
        2 * COUNT,
    )
    assert found == [_html(results[name][n]) for n in range(COUNT) for name in NAMES]
    for n in range(2 * len(HOSTILE)):
        page.locator("#rows tbody .open").nth(n).click()
        page.locator("#explanation article").wait_for()
        assert page.locator("#explanation").locator("script, img, iframe, [onerror]").count() == 0
        page.keyboard.press("Escape")


def test_address_keeps_the_state(show: Open) -> None:
    """Filters, order, page and open segment come back from the address; Back closes a segment; nonsense in it is ignored."""
    page = show("#sort=-score&below=0.9&page=2&system=old&open=40:old")
    page.locator("#explanation article").wait_for()
    assert "doc-40" in page.locator("#detail-title").inner_text()
    page.keyboard.press("Escape")
    state = [page.locator(f"#{name}").input_value() for name in ("sort", "below", "page", "system")]
    assert state == ["-score", "0.9", "2", "old"]
    page.locator("#rows tbody .open").nth(3).click()
    page.locator("#explanation article").wait_for()
    page.go_back()
    expect(page.locator("#detail")).not_to_be_visible()
    assert page.locator("#sort").input_value() == "-score"
    page = show("#sort=__proto__&system=nobody&below=x&page=-7&flag=1&open=999999:old&size=1")
    assert page.locator("#found").inner_text() == "260 rows in all, 1 to 50 shown"
    assert not page.locator("#detail").is_visible()


def test_mistakes_lead_to_their_segments(browser: Any, tmp_path: Path) -> None:
    """The error diff of two systems: kind by kind how many more or fewer, and a link to each segment, which opens it."""
    made = {"of one & all": {1: "cow", 2: "bat"}, "two": {2: "bat", 3: "hen"}}
    results = {
        name: CorpusScore(tuple(scored(n, errors=[error(3.0, hypothesis=w)] if (w := wrong.get(n)) else ()) for n in range(4)))
        for name, wrong in made.items()
    }
    results["two"] = replace(results["two"], segments=(scored(0, errors=[error(0.6, "order")]), *results["two"].segments[1:]))
    write_report(results, tmp_path / "report.html", ids=["a", "b", "c", "d"], resamples=50)
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    section = page.locator("#mistakes")
    assert section.locator("h3").inner_text() == "two against of one & all: 1 more misplaced noun"
    assert section.locator("tbody tr").all_inner_texts()[0].split("\t")[:2] == ["misplaced nouns", "+1"]
    link = section.get_by_role("link", name="a", exact=True)
    link.click()
    expect(page.locator("#detail-title")).to_contain_text("Segment a two")
    page.go_back()
    expect(page.locator("#detail")).not_to_be_visible()
    assert page.get_by_role("navigation", name="Parts of this page").get_by_role("link", name="Mistakes").count() == 1
    page.close()


def test_rows_are_exported(show: Open, results: dict[str, CorpusScore], tmp_path: Path) -> None:
    """The rows found as TSV with every digit; a text that a spreadsheet takes for a formula is disarmed, tabs are blanks."""
    page = show("#system=old&sort=score")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export rows").click()
    download.value.save_as(tmp_path / "rows.tsv")
    header, *lines = (tmp_path / "rows.tsv").read_text(encoding="utf-8").splitlines()
    rows = [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]
    expected = sorted(results["old"], key=lambda s: s.score)
    assert [row["score"] for row in rows] == [f"{s.score:.6f}" for s in expected]
    texts = {row["segment"]: row["hypothesis"] for row in rows}
    assert texts["doc-3"] == "'" + HOSTILE[3] and "\t" not in texts["doc-4"]
    assert not any(re.match(r"[=+\-@]", row["hypothesis"]) for row in rows)


def test_structure_serves_every_reader(show: Open) -> None:
    """One main heading, levels in order, names for every control and picture, rows with headers, results said in a live region."""
    page = show("#open=1:old")
    page.locator("#explanation article").wait_for()
    page.keyboard.press("Escape")
    levels = [int(tag[1]) for tag in page.locator("h1, h2, h3, h4").evaluate_all("all => all.map(one => one.tagName)")]
    assert levels.count(1) == 1 and all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))
    for role in ("button", "combobox", "searchbox", "spinbutton", "region", "img", "table", "navigation"):
        found = page.get_by_role(role)
        assert found.count() == page.get_by_role(role, name=re.compile(r"\w")).count() > 0, role
    assert page.locator("#found").get_attribute("role") == "status"
    assert (
        page.get_by_role("rowheader", name="Open segment doc-1 of old").count()
        + page.locator("#rows tbody th[scope=row]").count()
        > 0
    )
    idents = page.locator("[id]").evaluate_all("all => all.map(one => one.id)")
    assert len(idents) == len(set(idents))


@pytest.mark.parametrize("width", [360, 800, 1400, 1440])
def test_page_fits_the_window(show: Open, width: int) -> None:
    """The page never scrolls sideways, nor does an open segment; on a narrow screen every number has its name."""
    page = show("#open=12:old", viewport={"width": width, "height": 800})
    page.locator("#explanation article").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("(() => { const d = document.getElementById('detail'); return d.scrollWidth - d.clientWidth })()") <= 0
    page.keyboard.press("Escape")
    label = page.locator("#rows tbody td.syntax").first.evaluate("one => getComputedStyle(one, '::before').content")
    assert ("syntax" in label) == (width < 700)


def test_paper_shows_tables_or_the_open_segment(show: Open) -> None:
    """Printed, there are no controls; with a segment open, it alone."""
    page = show()
    page.emulate_media(media="print")
    assert page.locator("#tools:visible, #pages:visible, header nav:visible").count() == 0
    assert page.locator("#rows tbody tr:visible").count() == 50
    page.emulate_media(media="screen")
    page.locator("#rows tbody .open").first.click()
    page.locator("#explanation article").wait_for()
    page.emulate_media(media="print")
    assert page.locator("#explanation article").is_visible() and not page.locator("#leaderboard").is_visible()


def test_damaged_file_says_so(browser: Any, address: str, tmp_path: Path) -> None:
    """A page that was cut or changed gives a sentence, not an empty box."""
    html = Path(address.removeprefix("file://")).read_text(encoding="utf-8")
    (tmp_path / "cut.html").write_text(re.sub(r'(id="block-0">)[^<]*', r"\1AAAA", html), encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "cut.html").as_uri() + "#open=0:old")
    expect(page.locator("#explanation")).to_contain_text("damaged")
    page.close()

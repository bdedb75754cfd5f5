"""The annotation page in a real browser: by keyboard and mouse, two tabs, a server that goes away, texts that are markup."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the page needs the extra `serve`")
pytest.importorskip("starlette", reason="the page needs the extra `serve`")

from rome.evaluation.annotate.ratings import RatingsFile, rated_items  # noqa: E402
from rome.evaluation.annotate.server import AnnotationServer, usual_port  # noqa: E402
from rome.evaluation.annotate.study import Guideline, Scale, Study  # noqa: E402
from rome.storage.pair_files import read_pairs  # noqa: E402

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")

MARKUP = "<img src=x onerror=\"document.title='broken'\"><script>alert(1)</script> & </div>"
EMOJI = "👩‍🍳 cafe\u0301 is an cheap plase."
PAIRS = [("one", "The café is cheap.", EMOJI), ("two", "A \u202etext & <b>more</b>.", MARKUP), ("three", "It rains.", "")]


class Site:
    """A study that can be stopped and started again, and its file."""

    def __init__(self, folder: Path, guideline: Guideline) -> None:
        self.folder, self.guideline, self.path = folder, guideline, str(folder / "ratings.jsonl")
        rows = [{"id": i, "reference": r, "hypothesis": h, "system": "secret-system"} for i, r, h in PAIRS]
        (folder / "pairs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        self.start()

    def start(self) -> None:
        """As a new process would, on the port that the file is known by."""
        self.ratings = RatingsFile(self.path)
        study = Study(rated_items(read_pairs(str(self.folder / "pairs.jsonl"))), self.ratings, self.guideline)
        self.server = AnnotationServer(study, preferred=usual_port(self.path))
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()

    def stop(self) -> None:
        """End; the file stays."""
        self.server.stop()
        self.thread.join()
        self.ratings.close()

    def last(self) -> dict[str, Any]:
        """Item -> its last line."""
        rows = [json.loads(line) for line in Path(self.path).read_text(encoding="utf-8").splitlines()]
        return {row["item"]: row for row in rows}


@pytest.fixture
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Site]:
    """A running study; a parameter is its guideline."""
    made = Site(tmp_path, getattr(request, "param", Guideline()))
    yield made
    made.stop()


class Visitor:
    """Opens the study in tabs of one browser, and keeps what goes wrong in any of them.

    expected : statuses of refusals that a test provokes; the browser itself reports them on the console.
    """

    def __init__(self, context: Any, site: Site) -> None:
        self.context, self.site = context, site
        self.wrong: list[str] = []
        self.expected: tuple[str, ...] = ()

    def __call__(self) -> Any:
        """A new tab."""
        page = self.context.new_page()
        page.on("console", lambda message: self.wrong.append(message.text))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("dialog", self.dialog)
        page.on("request", lambda request: self.note_address(request.url))
        page.goto(self.site.server.url)
        page.wait_for_selector("#start:not([hidden]), #task:not([hidden])")
        return page

    def dialog(self, dialog: Any) -> None:
        """Only leaving with unsaved work may ask."""
        if dialog.type != "beforeunload":
            self.wrong.append(dialog.message)
        dialog.accept()

    def note_address(self, url: str) -> None:
        """Nothing leaves this machine."""
        if not url.startswith(("http://127.0.0.1:", "data:")):
            self.wrong.append(url)


@pytest.fixture
def visit(browser: Any, site: Site) -> Iterator[Visitor]:
    """At the end nothing was said on the console, no dialog opened, nothing left this machine."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    context.set_default_timeout(60_000)
    sync_api.expect.set_options(timeout=60_000)
    visitor = Visitor(context, site)
    yield visitor
    context.close()
    assert [text for text in visitor.wrong if not any(part in text for part in visitor.expected)] == []


def begin(page: Any, name: str = "Ann") -> None:
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.wait_for_selector("#task:not([hidden])")


def saved(page: Any) -> None:
    """Wait until nothing is unsaved."""
    page.wait_for_function("() => !Object.keys(localStorage).some((name) => name.includes('draft'))")
    sync_api.expect(page.locator("#saving")).to_have_text("✓ Saved")


def heading(page: Any, text: str) -> None:
    sync_api.expect(page.locator("#heading")).to_have_text(text)


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_two_items_by_keyboard_and_a_reload(visit: Visitor, site: Site) -> None:
    """Name, ratings, a span behind an emoji and a combining accent, the next item: without a mouse; a reload shows all of it."""
    page = visit()
    begin(page)
    heading(page, "Item 1 of 3")
    press(page, "3", "2", "1")
    page.focus("#hypothesis")
    press(page, "Home", *["ArrowRight"] * 10, *["Shift+ArrowRight"] * 2)  # characters as people see them: two before the blank
    sync_api.expect(page.locator("#marking-hint")).to_contain_text("“an”")
    press(page, "x", "Delete")  # the text cannot be changed
    press(page, "Enter", "ArrowDown", "Tab", "Tab", "Enter")  # category, minor, major
    sync_api.expect(page.locator("#marks li")).to_have_count(1)
    saved(page)
    start = EMOJI.index("an cheap")
    error = {"start": start, "end": start + 2, "severity": "major", "category": "Accuracy/Omission"}
    row = site.last()["one"]
    assert (row["ratings"], row["errors"]) == ({"fluency": 3, "semantic": 2, "grammar": 1}, [error])
    assert (row["hypothesis"], row["annotator"], row["system"]) == (EMOJI, "Ann", "secret-system")
    page.reload()
    heading(page, "Item 1 of 3")
    assert page.locator("#ratings input:checked").evaluate_all("all => all.map((one) => one.value)") == ["3", "2", "1"]
    assert (
        page.inner_text("#hypothesis mark.major") == "an"
        and page.locator("#hypothesis").evaluate("e => e.textContent") == EMOJI
    )
    press(page, "Enter")
    heading(page, "Item 2 of 3")
    press(page, "1", "1", "1", "Enter")
    heading(page, "Item 3 of 3")
    press(page, "ArrowLeft")
    heading(page, "Item 2 of 3")
    sync_api.expect(page.locator("#counted")).to_have_text("2 of 3 rated")
    assert site.last()["two"]["ratings"] == {"fluency": 1, "semantic": 1, "grammar": 1}
    other = visit()
    begin(other, "ANN")
    heading(other, "Item 3 of 3")  # where the work stopped


def test_texts_are_shown_as_they_are(visit: Visitor, site: Site) -> None:
    """Markup in a text is text, an empty one says so, and nobody sees which system wrote it."""
    page = visit()
    begin(page)
    press(page, "ArrowRight")
    heading(page, "Item 2 of 3")
    assert page.locator("#hypothesis").evaluate("e => e.textContent") == MARKUP
    assert page.locator("#references p").evaluate("e => e.textContent") == PAIRS[1][1]
    assert page.locator("#task img, #task script, #task b:not(.scale b)").count() == 0
    assert "Item 2" in page.title() and "secret" not in page.content()
    press(page, "ArrowRight")
    heading(page, "Item 3 of 3")
    assert page.locator("#hypothesis.empty").count() == 1
    page.click("#omission")
    page.click("#severities .critical")
    saved(page)
    assert site.last()["three"]["errors"] == [
        {"start": None, "end": None, "severity": "critical", "category": "Accuracy/Addition"}
    ]


def test_marks_by_mouse_overlap_and_go(visit: Visitor, site: Site) -> None:
    """Select with the mouse, mark twice over the same words, change a severity, remove; half a character is never marked."""
    page = visit()
    begin(page)
    page.dblclick("#hypothesis", position={"x": 150, "y": 30})
    sync_api.expect(page.locator("#marking-hint")).to_contain_text("Mark “")
    page.click("#severities .minor")
    saved(page)
    (first,) = site.last()["one"]["errors"]
    assert EMOJI[first["start"] : first["end"]] in EMOJI.split() and first["severity"] == "minor"
    page.focus("#hypothesis")
    press(page, "Control+a", "c")
    sync_api.expect(page.locator("#marks li")).to_have_count(2)
    assert page.locator("#hypothesis mark.several").inner_text() == EMOJI[first["start"] : first["end"]]
    press(page, "Control+a", "c")
    sync_api.expect(page.locator("#message")).to_contain_text("marked already")
    page.locator("#marks select").first.select_option("critical")
    page.locator("#marks button").last.click()
    sync_api.expect(page.locator("#marks li")).to_have_count(1)
    saved(page)
    assert site.last()["one"]["errors"] == [{**first, "severity": "critical"}]
    select = """([from, to]) => { const node = document.getElementById('hypothesis').firstChild;
        getSelection().setBaseAndExtent(node, from, node, to); }"""
    page.locator("#marks button").last.click()
    page.evaluate(select, [1, 10])  # in UTF-16 units: from inside the emoji to between e and its accent
    sync_api.expect(page.locator("#marking-hint")).to_contain_text(f"“{EMOJI[:9]}”")
    page.click("#severities .major")
    saved(page)
    assert [(mark["start"], mark["end"]) for mark in site.last()["one"]["errors"]] == [(0, 9)]


def test_two_tabs_keep_both_changes(visit: Visitor, site: Site) -> None:
    """Two tabs of one annotator on one item: what each changed is in the last line."""
    visit.expected += ("status of 409",)
    one, two = visit(), visit()
    begin(one)
    begin(two)
    one.keyboard.press("3")
    saved(one)
    two.evaluate("document.querySelectorAll('#ratings fieldset')[2].querySelector('input').click()")
    saved(two)
    assert site.last()["one"]["ratings"] == {"fluency": 3, "grammar": 1}
    assert two.locator("#ratings input:checked").count() == 2


def test_a_server_that_goes_away_costs_nothing(visit: Visitor, site: Site) -> None:
    """Ratings wait in the browser, say so, and are saved when the server is back: for the open tab and after a closed one."""
    visit.expected += ("status of 403", "net::ERR_")
    page = visit()
    begin(page)
    site.stop()
    press(page, "3", "2")
    sync_api.expect(page.locator("#saving")).to_contain_text("Not saved yet (1): the server does not answer")
    page.close(run_before_unload=False)
    site.start()
    page = visit()
    begin(page, "ann")
    saved(page)
    assert site.last()["one"]["ratings"] == {"fluency": 3, "semantic": 2}
    site.stop()
    press(page, "1")
    sync_api.expect(page.locator("#saving")).to_contain_text("Not saved yet")
    site.start()
    other = visit()  # brings the new run's token into this browser
    saved(page)
    assert site.last()["one"]["ratings"] == {"fluency": 3, "semantic": 2, "grammar": 1}
    other.close()


@pytest.mark.parametrize("site", [Guideline(Scale(0, 100), ("adequacy", "fluency"))], indirect=True)
def test_a_long_scale_takes_numbers(visit: Visitor, site: Site) -> None:
    """0-100: typed numbers, Enter goes on; what is off the scale is shown as wrong and not saved."""
    page = visit()
    begin(page)
    press(page, "Enter")
    page.keyboard.type("85")
    press(page, "Enter")
    page.keyboard.type("101")
    sync_api.expect(page.locator("#ratings input[type=number]").last).to_have_attribute("aria-invalid", "true")
    saved(page)
    assert site.last()["one"]["ratings"] == {"adequacy": 85}  # not the 10 on the way to 101
    press(page, "Enter")
    heading(page, "Item 1 of 3")
    press(page, "Backspace", "Enter")
    heading(page, "Item 2 of 3")
    page.locator("#ratings input[type=range]").first.fill("40")
    saved(page)
    assert site.last()["two"]["ratings"] == {"adequacy": 40}

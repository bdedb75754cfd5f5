"""The page of `rome serve` in a real browser: texts in, explanation out, edits that move the points, by keyboard, silent and sealed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
pytest.importorskip("uvicorn", reason="the service needs the extra `serve`")
pytest.importorskip("starlette", reason="the service needs the extra `serve`")

from pairs_metric import PairsMetric  # noqa: E402

from rome.checks import check_pairs  # noqa: E402
from rome.results import CorpusScore  # noqa: E402
from rome.service.app import ScoreServer  # noqa: E402
from rome.service.limits import Limits  # noqa: E402

from scored_segments import error, scored, signature  # noqa: E402
from serving import running  # noqa: E402

expect = sync_api.expect
expect.set_options(timeout=60_000)
REFERENCE, HYPOTHESIS = "The cat sleeps on the mat.", "The dog sleeps on the <b>rug</b>."

Open = Callable[..., Any]


class WordMetric(PairsMetric):
    """A word of the hypothesis that the reference has not is a major error; the best reference is the one with the fewest."""

    def score(self, *, references: Any, hypotheses: Any) -> CorpusScore:
        found = []
        for pair in check_pairs(references, hypotheses):
            candidates = []
            for reference in pair.references:
                known = reference.split()
                wrong = [word for word in pair.hypothesis.split() if word not in known]
                errors = [error(3.0, reference=None, hypothesis=word) for word in wrong]
                candidates.append(scored(pair.segment, reference=reference, hypothesis=pair.hypothesis, errors=errors))
            found.append(max(candidates, key=lambda segment: segment.score))
        return CorpusScore(tuple(found), signature())


@pytest.fixture(scope="module")
def server() -> Iterator[ScoreServer]:
    with running(WordMetric, limits=Limits(max_characters=200, max_references=3)) as found:
        yield found


@pytest.fixture
def show(browser: Any, server: ScoreServer) -> Iterator[Open]:
    """Open the page; at the end it asked for nothing but its server, and said nothing but of answers that refuse."""
    contexts, heard = [], []

    def open_page(**settings: Any) -> Any:
        contexts.append(browser.new_context(**{"viewport": {"width": 1000, "height": 900}, **settings}))
        contexts[-1].set_default_timeout(60_000)
        page = contexts[-1].new_page()
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("dialog", lambda dialog: heard.append(dialog.message))
        page.on("request", lambda request: heard.append(request.url))
        page.goto(server.url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    refused = "Failed to load resource: the server responded with a status of 422"
    assert [text for text in heard if not text.startswith(("data:", server.url, refused))] == []


def explained(page: Any, hypothesis: str = HYPOTHESIS, reference: str = REFERENCE) -> Any:
    """The page once this pair is explained."""
    page.get_by_label("Reference", exact=True).fill(reference)
    page.get_by_label("Hypothesis", exact=True).fill(hypothesis)
    page.get_by_role("button", name="Explain", exact=True).click()
    page.locator("#explanation article").wait_for()
    return page


def test_two_texts_are_explained(show: Open) -> None:
    """The explanation is what a notebook shows, led by the points that were lost; texts stay texts."""
    page = explained(show())
    article = page.locator("#explanation article")
    assert article.locator("caption").first.inner_text() == "Where the points went"
    assert HYPOTHESIS in re.sub(r"(?<=\S)\d\b", "", article.locator("dd").nth(1).inner_text())
    assert article.locator("dd b").count() == 0
    assert page.locator("#said").inner_text() == "Explained below."


def test_an_edit_moves_the_points(show: Open) -> None:
    """Typing shows the new score, the mistakes that went and came; one question for many letters; the edit is taken back or kept."""
    page = explained(show())
    asked: list[Any] = []
    page.on("request", lambda request: asked.append(request.post_data_json))
    edited = page.get_by_label("Edit the hypothesis")
    assert edited.input_value() == HYPOTHESIS and page.locator("#keep").is_disabled()
    edited.press("End")
    for _ in range(11):
        edited.press("Backspace")
    edited.press_sequentially("mat.", delay=20)
    change = page.locator("#change")
    expect(change).to_contain_text("What moved the points")
    expect(change.locator("tr", has_text="<b>rug</b>.")).to_contain_text("+0.")
    expect(change.locator("strong")).not_to_be_empty()
    assert asked[-1] == {"reference": REFERENCE, "hypothesis": HYPOTHESIS, "edited": "The dog sleeps on the mat."}
    assert len(asked) < 6
    page.get_by_role("button", name="Take the edit back").click()
    assert edited.input_value() == HYPOTHESIS and not change.is_visible()
    edited.fill(REFERENCE)
    expect(change).to_contain_text("noun, major")
    page.get_by_role("button", name="Keep the edit").click()
    expect(page.locator("#explanation")).not_to_contain_text("rug")
    assert page.get_by_label("Hypothesis", exact=True).input_value() == REFERENCE
    expect(change).not_to_be_visible()


def test_several_references(show: Open) -> None:
    """They are added and removed; each has its name; the best one counts, also for the edit."""
    page = show()
    page.get_by_label("Reference", exact=True).fill("Something else.")
    page.get_by_role("button", name="Add a reference").click()
    assert page.evaluate("document.activeElement.id") == "reference-1"
    page.get_by_label("Reference 2", exact=True).fill(REFERENCE)
    page.get_by_label("Hypothesis", exact=True).fill("The dog sleeps on the mat.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#explanation dd").first).to_contain_text("The cat")
    page.get_by_label("Edit the hypothesis").fill("Something else.")
    expect(page.locator("#change dd").first).to_contain_text("The cat")
    page.get_by_role("button", name="Remove reference 1").click()
    assert page.get_by_label("Reference", exact=True).input_value() == REFERENCE


def test_refusals_are_said(show: Open) -> None:
    """What the service refuses stands by the form in its own words; a reference must be there."""
    page = show()
    page.get_by_role("button", name="Explain", exact=True).click()
    assert page.evaluate("document.activeElement.id") == "reference-0"
    page.get_by_label("Reference", exact=True).fill("x" * 201)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#said.wrong")).to_contain_text("at most 200 characters, got 201")
    assert not page.locator("#explained").is_visible()
    page.get_by_role("button", name="Fill in an example").click()
    page.keyboard.press("Enter")
    page.locator("#explanation article").wait_for()
    assert not page.locator("#said.wrong").count()


def test_the_page_serves_every_reader(show: Open) -> None:
    """Headings in order, a name for every control, no scrolling sideways, legible in light and dark."""
    for width, scheme in ((360, "light"), (1000, "dark")):
        page = explained(show(viewport={"width": width, "height": 800}, color_scheme=scheme))
        page.get_by_label("Edit the hypothesis").fill(REFERENCE)
        page.locator("#change article").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        levels = [int(tag[1]) for tag in page.locator("h1, h2, h3").evaluate_all("all => all.map(one => one.tagName)")]
        assert levels.count(1) == 1 and all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))
        for role in ("button", "textbox"):
            assert page.get_by_role(role).count() == page.get_by_role(role, name=re.compile(r"\w")).count() > 0
        page.emulate_media(media="print")
        assert page.locator("button:visible, #programs:visible").count() == 0
        assert page.locator("#explanation article").is_visible()


def test_without_scripts_it_says_what_to_do(show: Open) -> None:
    """The description stands."""
    page = show(java_script_enabled=False)
    assert "needs JavaScript" in page.locator("main").inner_text()

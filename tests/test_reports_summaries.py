"""Corpora, comparisons and changes as HTML: complete, escaped, short, and the same for every odd row."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import numpy as np
import pytest
from html_checks import checked
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rome.reports.html import fragment
from rome.reports.model import Table
from rome.reports.summaries import (
    BINS,
    CUT,
    change_document,
    comparison_document,
    corpus_document,
    correlations,
    histogram,
    worst_places,
)
from rome.reports.tables import shown
from rome.reports.text import document_text
from rome.results import CorpusScore
from rome.results.comparison import MEASURES, Comparison, compare
from rome.results.segment import Change

from scored_segments import corpus, error, scored, signature

HOSTILE = '</style><script>alert("x")</script><img src=x onerror=alert(1)> & \' " \0 \x1b[31m ￾ שלום мир 猫 e\u0301 <b title="'


def corpus_fragment(result: CorpusScore) -> str:
    return fragment(corpus_document(result))


def comparison_fragment(comparison: Comparison) -> str:
    return fragment(comparison_document(comparison))


def change_fragment(change: Change) -> str:
    return fragment(change_document(change))


def one(*segments: object) -> CorpusScore:
    return CorpusScore(tuple(segments), signature())  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def result() -> CorpusScore:
    return corpus(40, 1)


def test_corpus_shows_means_intervals_and_flags(result: CorpusScore) -> None:
    """The score stands at the top, each measure has its row, flags are counted."""
    flagged = CorpusScore((*result.segments, replace(result[0], segment=40, flags=("long",))), result.signature)
    text = checked(corpus_fragment(flagged)).text
    assert text.strip().startswith(f"{flagged.score:.3f}score of 41 segments, 95% interval ") and "long × 1" in text
    for name, mean in zip(MEASURES[1:], (*flagged.components, flagged.completeness, flagged.faithfulness), strict=True):
        assert re.search(rf"{name}median [^a-z]*half in [^a-z]*{mean:.3f} ", text)
    for name in MEASURES:
        assert f"Lowest {name}" in text


def test_worst_segments_are_the_worst(result: CorpusScore) -> None:
    """Five of each measure, the lowest first; each unfolds into its texts and its heaviest errors."""
    fragment = corpus_fragment(result)
    values = result.measures
    for column in range(5):
        expected = sorted(range(40), key=lambda row: (values[row, column], row))[:5]
        assert worst_places(values[:, column], 5) == [n for n in expected if values[n, column] < 1]
    lists = fragment.split("<bdi>Lowest ")[1:]
    shown = [int(n) for n in re.findall(r"<bdi>segment (\d+):", lists[0])]
    assert shown == worst_places(values[:, 0], 5)
    assert lists[0].count("rome-texts") == 5


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=300))
def test_histogram_counts_every_value(values: list[float]) -> None:
    """The 25 parts hold every value once, 1 in the last one; a plain loop says the same."""
    strip = histogram(np.array(values))
    edges = np.linspace(0, 1, BINS + 1)
    slow = [sum(low <= v < high or (high == 1 and v == 1) for v in values) for low, high in zip(edges, edges[1:], strict=False)]
    drawn = {round(start * BINS): height for start, _, _, height in strip.pieces}
    assert drawn == {n: pytest.approx(max(0.04, count / max(slow))) for n, count in enumerate(slow) if count}
    assert strip.marks == ((pytest.approx(np.mean(values)), "mean"),)


def test_correlations_are_spearmans(result: CorpusScore) -> None:
    """Scipy gives the same for every pair, ties included; symmetric, 1 on the diagonal."""
    table = np.round(result.measures, 1)
    found = correlations(table)
    for i in range(5):
        for j in range(5):
            assert found[i, j] == pytest.approx(stats.spearmanr(table[:, i], table[:, j]).statistic, abs=1e-12)
    assert np.allclose(found, found.T, atol=1e-15) and np.diag(found) == pytest.approx([1.0] * 7)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_few_segments_are_shown_all_the_same(count: int) -> None:
    """Nothing, one and two segments have a display, without numbers that nothing supports; nothing decides between equals."""
    result = corpus(count, 5)
    if count:
        text = checked(comparison_fragment(compare(result, result))).text
        assert "the same score" in text and "nan" not in text
    found = checked(corpus_fragment(result))
    assert "nan" not in found.text.lower() and "nan" not in document_text(corpus_document(result)).replace("score nan", "")
    assert ("No segments" in found.text) == (count == 0) and "Correlations" not in found.text
    assert ("95% interval 0" in found.text) == (count > 1)


def test_stored_and_empty_segments_are_shown() -> None:
    """Without evidence, with an empty hypothesis, and with both texts empty."""
    result = one(scored(evidence=False), scored(1, hypothesis="", errors=[error(5.0, "missing", hypothesis=None)]))
    text = checked(corpus_fragment(result)).text
    assert "No evidence: the numbers come from a stored table." in text and "segment 1: empty hypothesis" in text
    change = Change(result[0], scored(hypothesis=""))
    assert "which errors came and went is not known" in checked(change_fragment(change)).text
    checked(corpus_fragment(one(scored(reference="", hypothesis=""))))


def test_markup_in_texts_stays_text() -> None:
    """Hypotheses, references, names, signatures and errors may hold markup: it is shown, never obeyed."""
    bad = error(4.0, hypothesis=HOSTILE, reference=HOSTILE)
    segment = replace(scored(reference=f"see {HOSTILE}", hypothesis=f"see {HOSTILE}", errors=[bad]), flags=(HOSTILE,))
    other = replace(scored(reference=f"see {HOSTILE}", hypothesis=f"{HOSTILE} {HOSTILE}", errors=[bad, bad]), flags=(HOSTILE,))
    comparison = compare(one(segment), one(other), names=(HOSTILE, "b"))
    for made in (corpus_fragment(one(segment)), comparison_fragment(comparison), change_fragment(Change(segment, other))):
        found = checked(made)
        assert "<script>alert" in found.text and "\0" not in made
    for result in (one(segment), comparison, Change(segment, other)):
        shown = result._repr_html_()
        assert shown.count("<style>") == 1 and shown.count("</style>") == 1 and "<script" not in shown


def test_long_texts_are_cut_and_say_so() -> None:
    """A text of 400 words and more shows its beginning; errors beyond it are not listed there."""
    text = "word " * 2000
    far = replace(error(5.0), hypothesis=replace(error(5.0).hypothesis, start=9000, end=9003))
    segment = scored(reference=text, hypothesis=text + "end", errors=[far])
    fragment = corpus_fragment(one(segment))
    assert f"… and {len(text) + 3 - CUT} more characters" in checked(fragment).text
    assert len(fragment) < 60_000
    assert len(change_fragment(Change(segment, scored(reference=text, hypothesis="word")))) < 30_000


def test_a_hundred_thousand_segments_are_quick_and_small() -> None:
    """The page hangs on the worst segments' texts, not on how many there are."""
    many = CorpusScore(corpus(500, 1, evidence=False).segments * 200, signature())
    start = time.process_time()
    fragment = corpus_fragment(many)
    assert time.process_time() - start < 30
    assert len(fragment) < 60_000 and "score of 100,000 segments" in fragment
    assert len(document_text(corpus_document(many))) < 3000


def test_comparison_shows_every_number() -> None:
    """Both means, the difference, its interval, the p-value, and wins, ties and losses; the verdict is the text's."""
    comparison = compare(corpus(40, 1), corpus(40, 2), names=("new", "old"))
    found = checked(comparison_fragment(comparison))
    for measure in comparison:
        row = f"{measure.name}{measure.a:.3f}{measure.b:.3f}{shown(measure.difference, signed=True)}".replace("-", "−")
        assert row in found.text
        assert f"{measure.wins}{measure.losses}{measure.ties}" in found.text
    assert str(comparison).split("\n")[0] in found.text
    assert found.text.count("segment ") >= 10 and "the 10 largest differences" in found.text


def test_change_shows_both_lists() -> None:
    """Both texts are there; errors that went and came are in their lists."""
    before = scored(errors=[error(3.0)])
    change = Change(before, scored(hypothesis="The cow sleeps on the mat.", errors=[error(2.0, hypothesis="cow")]))
    fragment = change_fragment(change)
    text = checked(fragment).text
    went, came = text.split("Errors that went")[1].split("Errors that came")
    assert ("dog" in went, "cow" in went, "dog" in came, "cow" in came) == (True, False, False, True)
    assert f"{change.difference:+.3f}".replace("-", "−") in text
    dropped = checked(change_fragment(before.counterfactual(without=0)))
    assert "Without these errors" in dropped.text and "counterfactual" in dropped.text


def test_a_change_leads_with_what_moved_the_points() -> None:
    """From the score before to the one after, mistake by mistake: what went gives points back, what came costs some."""
    stayed, went, came = error(1.0, "order"), error(3.0), error(2.0, hypothesis="cow")
    before = scored(errors=[stayed, went])
    for change in (Change(before, scored(errors=[stayed, came], values=(0.6, 0.7, 0.9))), before.counterfactual(without=1)):
        table = change_document(change).parts[1]
        assert isinstance(table, Table) and table.title == "What moved the points"
        rows = {row[0]: row for row in table.rows}
        assert (rows["before"][2], rows["after"][2]) == (f"{change.before.score:.3f}", f"{change.after.score:.3f}")
        assert rows["cat -> dog"][2].startswith("+") and rows["cat -> dog"][3] == "noun, major"
        steps = [row for row in table.rows if row[1].pieces]
        assert [row[1].pieces[0][2] for row in steps] == ["up" if row[2].startswith("+") else "down" for row in steps]
        assert sum(float(row[2]) for row in table.rows[1:-1]) == pytest.approx(change.difference, abs=0.003)
        if change.came:
            assert rows["cat -> cow"][2].startswith("-") and "semantic" in rows
    still = change_document(Change(before, before))
    assert not any(isinstance(part, Table) and part.name == "moves" for part in still.parts)


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_can_be_shown(first: str, second: str) -> None:
    """Whatever the characters: the fragment is well formed."""
    checked(change_fragment(Change(scored(hypothesis=first), scored(hypothesis=second))))

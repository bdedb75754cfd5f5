"""Completeness and faithfulness: their laws, and where they are found."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rome.features.errors.evidence import SHARES, ErrorSpan, TextSpan, severity_of, share_of
from rome.results import CorpusScore, SegmentScore
from rome.results.comparison import MEASURES, compare
from rome.results.segment import Change
from rome.storage.rows import parse_json

from scored_segments import corpus, error, scored

REFERENCE, HYPOTHESIS = "The cat sleeps on the mat all day.", "The dog sleeps on a mat, and snores."
SIDES = {"missing": (True, False), "unnecessary": (False, True), "replacement": (True, True), "order": (True, True)}


@st.composite
def spans(draw: Any, text: str) -> TextSpan:
    """A piece of a text."""
    start = draw(st.integers(0, len(text) - 1))
    end = draw(st.integers(start + 1, len(text)))
    return TextSpan(text[start:end], start, end)


@st.composite
def listed(draw: Any) -> ErrorSpan:
    """An error of words with the spans that its kind has."""
    kind, weight = draw(st.sampled_from(sorted(SIDES))), draw(st.floats(0.01, 25.0))
    texts = zip(SIDES[kind], (REFERENCE, HYPOTHESIS), strict=True)
    places = [draw(spans(text)) if has else None for has, text in texts]
    return ErrorSpan(kind, "noun", severity_of(weight), weight, 0.9, *places)


def both(errors: list[ErrorSpan]) -> tuple[float, float]:
    """Completeness and faithfulness of a segment with these errors."""
    segment = scored(reference=REFERENCE, hypothesis=HYPOTHESIS, errors=errors)
    return segment.completeness, segment.faithfulness


@given(st.lists(listed(), max_size=5))
def test_the_laws_of_both_shares(errors: list[ErrorSpan]) -> None:
    """In [0, 1]; 1 exactly without such an error; to take one away never lowers either; swapped texts swap them."""
    found = both(errors)
    kinds = {error.kind for error in errors}
    assert all(0.0 <= share <= 1.0 for share in found)
    assert (found[0] == 1.0) == kinds.isdisjoint({"missing", "replacement", "order"})
    assert (found[1] == 1.0) == kinds.isdisjoint({"unnecessary", "replacement", "order"})
    for n in range(len(errors)):
        fewer = both([*errors[:n], *errors[n + 1 :]])
        assert fewer[0] >= found[0] and fewer[1] >= found[1]
    other = {"missing": "unnecessary", "unnecessary": "missing"}
    swapped = [replace(e, kind=other.get(e.kind, e.kind), reference=e.hypothesis, hypothesis=e.reference) for e in errors]
    back = scored(reference=HYPOTHESIS, hypothesis=REFERENCE, errors=swapped)
    assert (back.faithfulness, back.completeness) == found


def test_the_formula() -> None:
    """A major or critical error takes its characters whole, a minor one weight / 3; the heaviest of several counts; the surface does not."""
    assert share_of("reference", 10, [error(5.0, reference="cat")]) == pytest.approx(0.7)
    assert share_of("reference", 10, [error(10.0, reference="cat"), error(1.5, reference="cats")]) == pytest.approx(0.65)
    assert share_of("hypothesis", 10, [error(1.5, hypothesis="dog")]) == pytest.approx(0.85)
    assert share_of("hypothesis", 10, [error(5.0, "surface")]) == share_of("hypothesis", 10, []) == 1.0
    everything = ErrorSpan("missing", "omission", "critical", 25.0, 1.0, TextSpan(REFERENCE, 0, len(REFERENCE)), None)
    segment = scored(reference=REFERENCE, hypothesis="", errors=[everything])
    assert (segment.completeness, segment.faithfulness) == (0.0, 1.0)
    assert share_of("reference", 0, [error(5.0, reference="")]) == 1.0


def test_both_are_beside_the_score_everywhere() -> None:
    """In plain values, tables, data frames, documents, comparisons and changes; their means; nan and null without evidence."""
    result, bare = corpus(25, 1), corpus(3, 1, evidence=False)
    first, row = result[0], result.to_dict()
    assert (row["completeness"], row["faithfulness"]) == pytest.approx((result.completeness, result.faithfulness))
    assert result.completeness == pytest.approx(sum(s.completeness for s in result) / 25)
    assert row["segments"][0]["faithfulness"] == first.faithfulness == first.measures[MEASURES.index("faithfulness")]
    assert list(result.to_dataframe()["completeness"]) == [s.completeness for s in result]
    assert "complete  faithful" in str(result) and f"  {result.faithfulness:.3f}" in str(result)
    for shown in (str(first), first._repr_html_(), result._repr_html_(), str(Change(first, scored(reference=first.reference)))):
        assert "completeness" in shown and "faithfulness" in shown
    comparison = compare(result, corpus(25, 2))
    assert comparison["faithfulness"].a == pytest.approx(result.faithfulness) and "completeness" in str(comparison)
    assert Change(first, first).to_dict()["completeness"] == {
        **dict.fromkeys(("before", "after"), first.completeness),
        "difference": 0.0,
    }
    assert math.isnan(bare.completeness) and bare.to_dict()["segments"][0]["faithfulness"] is None
    assert "completeness" not in str(bare[0]) and bare[0].error_counts == {}


@pytest.mark.parametrize("evidence", [True, False])
def test_files_of_earlier_versions_have_them_too(evidence: bool, tmp_path: Path) -> None:
    """Computed from the stored errors, which had the hypothesis' span at the top, or without evidence from those of the losses."""
    result = corpus(9, 4)

    def earlier(value: Any) -> Any:
        """The value as an earlier version wrote it."""
        if isinstance(value, list):
            return [earlier(one) for one in value]
        if not isinstance(value, dict):
            return value
        row = {name: earlier(one) for name, one in value.items() if name not in SHARES}
        if "severity" in row:
            row |= row.pop("hypothesis") or dict.fromkeys(("text", "start", "end"))
        return row

    path = tmp_path / "old.jsonl"
    path.write_text("".join(json.dumps(earlier(s.to_dict(evidence=evidence))) + "\n" for s in result))
    assert '"hypothesis": {"text"' not in path.read_text() and not any(name in path.read_text() for name in SHARES)
    loaded = CorpusScore.load(path)
    assert loaded.measures.tolist() == result.measures.tolist()
    assert loaded.to_dict(evidence=False) == result.to_dict(evidence=False)
    assert len(loaded.errors_to_dataframe()) == len(result.errors_to_dataframe())


def test_several_references_give_those_of_the_chosen_one() -> None:
    """The reference that scored best is the one whose words count."""
    from overlap_metric import OverlapMetric

    (segment,) = OverlapMetric().score(references=[["dogs bark", "a dog barks loudly"]], hypotheses=["a dog barks"])
    assert segment.reference == "a dog barks loudly"
    assert (segment.completeness, segment.faithfulness) == pytest.approx(
        (1 - len("loudly") / 3 / len("a dog barks loudly"), 1.0)
    )


def test_json_of_numbers_that_are_not_known_is_json() -> None:
    """No nan is written."""
    segments: tuple[SegmentScore, ...] = corpus(2, 1, evidence=False).segments
    text = json.dumps(CorpusScore(segments).to_dict(), allow_nan=False)
    assert parse_json(text.encode())["completeness"] is None

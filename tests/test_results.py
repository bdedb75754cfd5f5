"""Results: frozen, comparable, plain when asked, readable when printed."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from errors_laws import severity_of
from hypothesis import given
from hypothesis import strategies as st

from rome.exceptions import InputError, ModelMissingError, SignatureMismatchError
from rome.features.errors.evidence import SHARES, ErrorSpan, TextSpan, share_of
from rome.features.values import FEATURES
from rome.results import ComponentMeans, CorpusScore, SegmentScore
from rome.results.comparison import MEASURES, compare
from rome.results.corpus import stored_line
from rome.results.segment import Change

from overlap_metric import OverlapMetric
from scored_segments import corpus, error, scored

Make = Callable[..., SegmentScore]


def test_results_compare_by_value(make_segment: Make) -> None:
    """Two equal computations are equal, arrays in the evidence included; any other number makes a difference."""
    assert make_segment() == make_segment()
    assert CorpusScore((make_segment(),)) == CorpusScore((make_segment(),))
    assert make_segment(score=0.25) != make_segment()
    changed = make_segment()
    changed.components.semantic.evidence.flow[0, 0] += 1
    assert changed != make_segment()


def test_corpus_score_is_the_mean(make_segment: Make) -> None:
    """The corpus score and its components are means over the segments; without segments they are nan."""
    result = CorpusScore((make_segment(0, score=0.25), make_segment(1, score=0.75)))
    assert result.score == 0.5
    assert result.components == ComponentMeans(0.9, 2 / 3, 0.875, 0.77)
    assert np.isnan(CorpusScore(()).score) and str(CorpusScore(())).splitlines()[-1].startswith("0 segments")
    segments = tuple(make_segment(number) for number in range(3))
    result = CorpusScore(segments)
    assert (len(result), list(result), result[-1], result[1:]) == (3, list(segments), segments[2], CorpusScore(segments[1:]))


def test_numbers_come_as_numpy_and_python_have_them(make_segment: Make) -> None:
    """An array that may be changed, float() and the formats of a number; no format gives the text that print gives."""
    result = CorpusScore((make_segment(0, score=0.25), make_segment(1, score=0.625)))
    assert result.scores.dtype == np.float64 and result.scores.tolist() == [0.25, 0.625]
    result.scores[:] = 0.0
    assert float(result) == result.score == 0.4375 and [*map(float, result)] == [0.25, 0.625]
    assert (f"{result:.3f}", f"{result[1]:.1%}", format(result, ">8.2f")) == ("0.438", "62.5%", "    0.44")
    assert f"{result}" == str(result) and f"{result[0]}" == str(result[0])
    assert np.mean(result, dtype=float) == 0.4375 and CorpusScore(()).scores.shape == (0,)
    with pytest.raises(ValueError, match="format"):
        format(result, "three")


def test_worst_and_best_are_results(make_segment: Make) -> None:
    """The lowest first and the highest first; equals keep their order; as many as there are, at most."""
    result = CorpusScore(tuple(make_segment(n, score=score) for n, score in enumerate((0.5, 0.25, 0.75, 0.25))), "rome:test")
    assert [s.segment for s in result.worst(3)] == [1, 3, 0] and [s.segment for s in result.best(3)] == [2, 0, 1]
    assert result.worst(2).score == 0.25 and result.best(2).signature == "rome:test"
    assert len(result.worst()) == len(result.best(99)) == 4 and len(result.worst(0)) == 0


@pytest.mark.parametrize("name", ["scores.jsonl", "scores.jsonl.gz"])
@pytest.mark.parametrize("evidence", [True, False])
def test_what_is_saved_is_loaded(evidence: bool, name: str, tmp_path: Path) -> None:
    """Equal in every number, mistake and matrix, packed or not; explained, compared and counted as before."""
    result = corpus(8, evidence=evidence)
    result.save(tmp_path / name)
    loaded = CorpusScore.load(str(tmp_path / name))
    assert loaded == result and loaded.score == result.score and str(loaded[3]) == str(result[3])
    assert (tmp_path / name).read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")
    assert compare(loaded, result).score.difference == 0.0


def test_saved_results_are_what_the_command_writes(tmp_path: Path) -> None:
    """Each line is the segment's dictionary, so `rome explain --from`, `compare` and `check` read it; an empty file is no segment."""
    result = corpus(3)
    result.save(tmp_path / "scores.jsonl")
    lines = (tmp_path / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [segment.to_dict() for segment in result]
    assert [stored_line(s) for s in result] == lines
    result[:0].save(tmp_path / "none.jsonl")
    assert CorpusScore.load(tmp_path / "none.jsonl") == CorpusScore(())


def test_wrong_files_are_named(tmp_path: Path) -> None:
    """What is no result, what is not there, what cannot be written, and scores that were made in two ways."""
    path = tmp_path / "scores.jsonl"
    path.write_text('{"score": 1}\n')
    with pytest.raises(InputError, match="scores.jsonl:1: not a stored score"):
        CorpusScore.load(path)
    with pytest.raises(InputError, match="absent.jsonl"):
        CorpusScore.load(tmp_path / "absent.jsonl")
    with pytest.raises(InputError, match="cannot be written"):
        corpus(1).save(tmp_path / "nowhere" / "scores.jsonl")
    one, other = corpus(2)
    CorpusScore((one, replace(other, signature="features:1"))).save(path)
    with pytest.raises(
        SignatureMismatchError, match=r"scored in two ways \(features: 2 in .*scores.jsonl: the first segment, 1 in segment 1"
    ):
        CorpusScore.load(path)


def test_every_result_is_a_page(tmp_path: Path) -> None:
    """A whole page with the same content as the notebook's, as text or as a file; half a file is never left."""
    first, second = corpus(4, 1), corpus(4, 2)
    comparison = compare(first, second)
    for result in (first, first[0], comparison, Change(first[0], first[0])):
        page = result.to_html()
        assert page.startswith("<!doctype html>") and "default-src 'none'" in page and "<script" not in page
        assert result.to_html(tmp_path / "page.html") is None
        assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    with pytest.raises(InputError, match="is a directory"):
        first.to_html(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_to_dict_survives_json(make_segment: Make) -> None:
    """The dictionary is what JSON gives back: no array, no tuple, no class is left in it."""
    result = CorpusScore((make_segment(flags=("identical",)),), "rome:test")
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False)) == result.to_dict()


def test_to_dict_holds_all_parts(make_segment: Make) -> None:
    """Numbers stand under their names, edit operations are found, and evidence can be left out."""
    row = make_segment().to_dict()
    assert row["components"]["syntax"] == {"value": 2 / 3, "raw": 2.0, "unit": "tree edits"}
    assert row["contributions"]["semantic"] == -0.0625
    assert [loss["feature"] for loss in row["losses"]] == ["errors", "syntax", "errors", "semantic", "grammar"]
    assert row["losses"][0]["error"] == row["evidence"]["errors"]["errors"][1]
    assert sum(loss["loss"] for loss in row["losses"]) == pytest.approx(row["score"] - 1.0)
    assert row["evidence"]["semantic"]["flow"] == [[1 / 12] * 4] * 3
    kinds = sorted(edit["kind"] for edit in row["evidence"]["syntax"]["operations"])
    assert kinds == ["change", "delete", "match", "match", "match"]
    assert "evidence" not in make_segment().to_dict(evidence=False)


def test_error_spans_take_the_customary_form(make_segment: Make) -> None:
    """What it is, and the span of each text as {text, start, end}; null in a text that it does not touch."""
    missing, replaced = make_segment().to_dict()["evidence"]["errors"]["errors"]
    assert replaced == {
        **{"kind": "replacement", "type": "number", "severity": "major", "weight": 4.5, "confidence": 0.9},
        **{side: {"text": text, "start": 0, "end": 4} for side, text in (("reference", "Five"), ("hypothesis", "Four"))},
    }
    assert missing["reference"] is None


def test_dataframe_has_one_row_a_segment(make_segment: Make) -> None:
    """Every number has its own column, flags are joined by commas."""
    frame = CorpusScore((make_segment(0), make_segment(1, flags=("a", "b")))).to_dataframe()
    assert list(frame["segment"]) == [0, 1]
    assert list(frame["flags"]) == ["", "a,b"]
    assert list(frame.loc[0, list(FEATURES)]) == [0.9, 2 / 3, 0.875, 0.77]
    total = 1.0 + sum(frame[f"{name}_contribution"] for name in FEATURES)
    assert np.allclose(total, frame["score"]) is True


def test_errors_have_a_frame_of_their_own(make_segment: Make) -> None:
    """One row per error with both spans and both texts, empty where a text has none; counts by severity are in the other frame."""
    result = CorpusScore((make_segment(0), make_segment(4)), "rome:test")
    frame = result.errors_to_dataframe()
    spans = [f"{side}_{part}" for side in ("reference", "hypothesis") for part in ("text", "start", "end")]
    described = ["kind", "type", "severity", "weight", "confidence"]
    assert list(frame.columns) == ["segment", *described, *spans, "reference", "hypothesis"]
    assert list(frame["segment"]) == [0, 0, 4, 4] and list(frame["kind"][:2]) == ["missing", "replacement"]
    assert list(frame.loc[3, spans]) == ["Five", 0, 4, "Four", 0, 4] and frame.loc[0, spans[:3]].isna().all()
    for _, row in frame[frame["hypothesis_start"].notna()].iterrows():
        assert row["hypothesis"][row["hypothesis_start"] : row["hypothesis_end"]] == row["hypothesis_text"]
    counts = result.to_dataframe()[["critical_count", "major_count", "minor_count"]]
    assert [*map(list, counts.to_numpy())] == [[0, 1, 1]] * 2 == [list(segment.error_counts.values()) for segment in result]
    assert frame["weight"].sum() == sum(segment.components.errors.raw for segment in result)
    empty = result[:0].errors_to_dataframe()
    assert len(empty) == 0 and list(empty.dtypes[["segment", "reference_start"]]) == list(
        frame.dtypes[["segment", "reference_start"]]
    )
    with pytest.raises(InputError, match="segment 0 has no evidence"):
        corpus(1, evidence=False).errors_to_dataframe()


def test_missing_pandas_gives_the_install_line(make_segment: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pandas the error says how to get it."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModelMissingError, match="pip install pandas"):
        CorpusScore((make_segment(),)).to_dataframe()


def test_table_shows_score_components_and_worst_errors(make_segment: Make) -> None:
    """One line a segment, the worst error first, then the means."""
    lines = str(CorpusScore((make_segment(0), make_segment(1, flags=("identical",))), "rome:test")).splitlines()
    assert lines[0].split()[:6] == ["segment", "score", *FEATURES]
    assert lines[2].split()[:8] == ["0", "0.500", "0.900", "0.667", "0.875", "0.770", "0.750", "0.712"]
    assert lines[2].endswith('major replacement:number "Five" -> "Four";…')
    assert "identical; major" in lines[3]
    assert lines[5].split() == ["mean", "0.500", "0.900", "0.667", "0.875", "0.770", "0.750", "0.712"]
    assert lines[-1] == "2 segments, score 0.500, signature rome:test"


def test_explanation_names_everything(make_segment: Make) -> None:
    """Texts, alignment, unaligned words, trees, edits, sentences and errors are all there."""
    text = str(make_segment(flags=("identical",)))
    for expected in (
        *("reference   Five cats sleep.\n", "identical", "  Five   0.800  Four\n", "  ∅             soundly\n"),
        *("    cat (nsubj)      =    cat (nsubj)\n      five (nummod)  ≠      four (nummod)\n", "−    soundly (advmod)"),
        "0.875      1.000  Four cats sleep soundly.",
        ' 4.500  major replacement: number "Five" -> "Four"  (reference 0-4, hypothesis 0-4; confidence 0.900)',
        *("  -0.245  number, major\n", "grammar       ------------------    0.875   0.000 points  -0.134 log probability\n"),
    ):
        assert expected in text


# completeness and faithfulness

REFERENCE, HYPOTHESIS = "The cat sleeps on the mat all day.", "The dog sleeps on a mat, and snores."
SIDES = {"missing": (True, False), "unnecessary": (False, True), "replacement": (True, True), "order": (True, True)}


def spans(text: str) -> st.SearchStrategy[TextSpan]:
    """Pieces of a text."""
    places = st.tuples(st.integers(0, len(text) - 1), st.integers(1, 9))
    return places.map(lambda at: TextSpan(text[at[0] : at[0] + at[1]], at[0], min(at[0] + at[1], len(text))))


def listed(kind: str) -> st.SearchStrategy[ErrorSpan]:
    """Errors of words with the spans that their kind has."""
    places = (spans(text) if has else st.none() for has, text in zip(SIDES[kind], (REFERENCE, HYPOTHESIS), strict=True))
    found = st.tuples(st.floats(0.01, 25.0), *places)
    return found.map(lambda it: ErrorSpan(kind, "noun", severity_of(it[0]), it[0], 0.9, *it[1:]))  # type: ignore[arg-type]


def both(errors: list[ErrorSpan]) -> tuple[float, float]:
    """Completeness and faithfulness of a segment with these errors."""
    segment = scored(reference=REFERENCE, hypothesis=HYPOTHESIS, errors=errors)
    return segment.completeness, segment.faithfulness


@given(st.lists(st.sampled_from(sorted(SIDES)).flatmap(listed), max_size=5))
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
    (best,) = OverlapMetric().score(references=[["dogs bark", "a dog barks now"]], hypotheses=["a dog barks"])
    assert (best.reference_index, best.completeness, best.faithfulness) == (1, pytest.approx(1 - 3 / 3 / 15), 1.0)


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
    assert Change(first, first).to_dict()["completeness"]["after"] == first.completeness
    assert math.isnan(bare.completeness) and json.loads(json.dumps(bare.to_dict(), allow_nan=False))["faithfulness"] is None
    assert "completeness" not in str(bare[0]) and bare[0].error_counts == {}


@pytest.mark.parametrize("evidence", [True, False])
def test_files_of_earlier_versions_have_them_too(evidence: bool, tmp_path: Path) -> None:
    """Computed from the stored errors, which had the hypothesis' span at the top, or without evidence from those of the losses."""
    result = corpus(9, 4)

    def earlier(row: dict[str, Any]) -> dict[str, Any]:
        """The object as an earlier version wrote it."""
        kept = {name: value for name, value in row.items() if name not in SHARES}
        return kept | (kept.pop("hypothesis") or dict.fromkeys(("text", "start", "end"))) if "severity" in row else kept

    path = tmp_path / "old.jsonl"
    rows = (json.loads(json.dumps(s.to_dict(evidence=evidence)), object_hook=earlier) for s in result)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert '"hypothesis": {"text"' not in path.read_text() and not any(name in path.read_text() for name in SHARES)
    loaded = CorpusScore.load(path)
    assert loaded.measures.tolist() == result.measures.tolist()
    assert loaded.to_dict(evidence=False) == result.to_dict(evidence=False)
    assert len(loaded.errors_to_dataframe()) == len(result.errors_to_dataframe())

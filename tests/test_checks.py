"""The door: what may come in, and what every refusal says."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rome.checks import CheckedPair, check_pairs
from rome.exceptions import InputError
from rome.features.text import visible

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(visible)


ROWS = st.lists(st.tuples(st.one_of(TEXT, st.lists(TEXT, min_size=1, max_size=3)), st.one_of(TEXT, st.just(""))))


@given(ROWS)
def test_texts_pass_unchanged(rows: list[tuple[str | list[str], str]]) -> None:
    """One text or several a segment: every text comes out as it came in, in its order; only no segments at all are refused."""
    if not rows:
        with pytest.raises(InputError, match="at least one segment"):
            check_pairs([], [])
        return
    pairs = check_pairs([references for references, _ in rows], [hypothesis for _, hypothesis in rows])
    expected = [((given,) if isinstance(given, str) else tuple(given), hypothesis) for given, hypothesis in rows]
    assert [(pair.references, pair.hypothesis) for pair in pairs] == expected
    assert [pair.segment for pair in pairs] == list(range(len(rows)))


@pytest.mark.parametrize("shape", [list, tuple, iter, pd.Series, lambda texts: np.array(texts, dtype=object)])
def test_any_listing_will_do(shape: type) -> None:
    """Lists, tuples, generators, pandas columns and arrays give the same pairs."""
    assert check_pairs(shape(["a", "b"]), shape(["c", "d"])) == [CheckedPair(0, ("a",), "c"), CheckedPair(1, ("b",), "d")]


@pytest.mark.parametrize("empty", ["", "  ", "\n", "\u200b", "\ufeff \x00", "\u00ad"])
def test_empty_reference_is_refused_unless_asked_for(empty: str) -> None:
    """An empty reference is an error that names its place; empty_reference="score" lets it pass."""
    with pytest.raises(InputError, match=re.escape("references[1][0] is empty")):
        check_pairs(["a", [empty, "b"]], ["c", "d"])
    assert check_pairs([[empty, "b"]], ["d"], empty_reference="score")[0].references == (empty, "b")


def test_square_nest_is_read_by_segment() -> None:
    """As many references as segments: the documented reading [segment][reference] is taken."""
    assert check_pairs([["a", "b"], ["c", "d"]], ["e", "f"])[0].references == ("a", "b")


SQUARE = (
    [
        ["The museum opens at nine every day.", "Every day the doors of the museum open at nine."],
        ["Prices fell in March for the third time.", "In March prices fell, which happened for the third time."],
    ],
    ["Every day at nine the museum opens.", "For the third time prices fell in March."],
)


def test_a_square_nest_whose_texts_say_that_it_is_transposed_is_refused() -> None:
    """Both the hypotheses and the references fit by column: one sentence says how to write it; rows of files are never transposed."""
    references, hypotheses = SQUARE
    streams = [list(stream) for stream in zip(*references, strict=True)]
    assert check_pairs(references, hypotheses)[1].references == tuple(references[1])
    with pytest.raises(
        InputError, match=re.escape("references is 2 lists of 2 texts") + ".*" + re.escape("list(zip(*references))")
    ):
        check_pairs(streams, hypotheses)
    assert check_pairs(streams, hypotheses, by_segment=True)[1].references == tuple(streams[1])


def test_a_square_nest_is_not_refused_on_half_a_reason() -> None:
    """Hypotheses in the wrong order, references that stand there twice, and texts with nothing in common: read as they are."""
    references, hypotheses = SQUARE
    for nest, texts in (
        (references, hypotheses[::-1]),
        ([references[0], references[0][::-1]], hypotheses),
        ([["a", "b", "c"], ["d", "e", "f"], ["g", "h", "i"]], ["j", "k", "l"]),
    ):
        assert [pair.references for pair in check_pairs(nest, texts)] == [tuple(row) for row in nest]


def test_columns_with_other_labels_are_refused() -> None:
    """Rows meet by position, so two Series in different orders are not scored; equal labels, or labels on one side, pass."""
    one, other = pd.Series(["a", "b"], index=[3, 5]), pd.Series(["c", "d"], index=[5, 3])
    with pytest.raises(InputError, match=re.escape("different indices (at position 0: 3 and 5)") + ".*loc"):
        check_pairs(one, other)
    with pytest.raises(InputError, match="different indices"):
        check_pairs(one, other.reset_index(drop=True))
    expected = check_pairs(["a", "b"], ["d", "c"])
    assert check_pairs(one, other.loc[one.index]) == check_pairs(one, ["d", "c"]) == expected
    assert check_pairs(one.reset_index(drop=True), pd.Series(["d", "c"])) == expected


REFUSED = [
    ("a text", ["b"], "references is a bare string"),
    (["a"], "b", "hypotheses is a bare string"),
    (b"a", ["b"], "references is of type bytes"),
    ({"a": 1}, ["b"], "references is of type dict"),
    ({"a"}, ["b"], "references is of type set"),
    (["a"], [None], "hypotheses[0] is None"),
    (["a", "b"], ["b", b"c"], "hypotheses[1] is of type bytes, not a text: decode it first"),
    ([["a", 3]], ["b"], "references[0][1] is of type int"),
    (["a"], [float("nan")], "hypotheses[0] is a missing value (nan)"),
    (["a"], [["b"]], "hypotheses[0] is of type list"),
    ([[]], ["b"], "references[0] is an empty list"),
    (["a"], ["b", "c"], "references has 1 segments and hypotheses has 2"),
    (["a", "b"], ["c"], "references=[[text, text]]"),
    ([["a", "b", "c"]] * 2, ["x", "y", "z"], "looks transposed, [reference][segment] as sacreBLEU has it (2 lists of 3 texts)"),
    (["a\ud800"], ["b"], "references[0] has a lone surrogate (U+D800) at character 1"),
]


@pytest.mark.parametrize(("references", "hypotheses", "message"), REFUSED)
def test_refusals_name_the_place_and_the_remedy(references: object, hypotheses: object, message: str) -> None:
    """What is no text, or has the wrong shape, is refused in one line that names the argument and the segment."""
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        check_pairs(references, hypotheses)
    assert "\n" not in str(caught.value) and ": " in str(caught.value)


def test_unknown_choice_for_empty_references_is_refused() -> None:
    """A misspelt option never falls back to a default."""
    with pytest.raises(InputError, match='empty_reference must be "error" or "score"'):
        check_pairs(["a"], ["b"], empty_reference="skip")  # type: ignore[arg-type]

"""Agreement of annotators: published examples, cases computed by hand, and what is not defined."""

from __future__ import annotations

import math
from itertools import permutations
from random import Random

import pytest

from rome.data.readers.rated import ErrorMark as Mark
from rome.evaluation.annotate.ratings import AnnotationItem, Record

pytest.importorskip("nltk", reason="agreement is computed by NLTK")

from rome.evaluation.annotate.agreement import (  # noqa: E402 - only with NLTK
    agreement_table,
    cohen_kappa,
    krippendorff_alpha,
    span_table,
)


def matrix(*rows: list[float | None]) -> dict[str, dict[int, float]]:
    """Annotators A, B, ... with their ratings of items 0, 1, ...; None: not rated."""
    return {chr(65 + n): {i: v for i, v in enumerate(row) if v is not None} for n, row in enumerate(rows)}


def published() -> dict[str, dict[int, float]]:
    """Krippendorff (2011), section E: four observers, twelve units, missing ratings."""
    x = None
    return matrix(
        [1, 2, 3, 3, 2, 1, 4, 1, 2, x, x, x],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, x, 3],
        [x, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, x],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, x],
    )


@pytest.mark.parametrize(("level", "value"), [("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_the_published_example(level: str, value: float) -> None:
    """Krippendorff's own example, with missing ratings, gives his figures."""
    found = krippendorff_alpha(published(), level)
    assert found is not None and round(found, 3) == value


def slow_alpha(ratings: dict[str, dict[int, float]], level: str) -> float:
    """Alpha from the coincidence matrix, as the textbook writes it."""
    units: dict[int, list[float]] = {}
    for rated in ratings.values():
        for item, value in rated.items():
            units.setdefault(item, []).append(value)
    pairs = [(a, b, 1 / (len(u) - 1)) for u in units.values() if len(u) > 1 for a, b in permutations(u, 2)]
    labels = sorted({a for a, _, _ in pairs})
    o = {(a, b): sum(w for c, d, w in pairs if (c, d) == (a, b)) for a in labels for b in labels}
    n = {a: sum(o[a, b] for b in labels) for a in labels}

    def delta(a: float, b: float) -> float:
        if level == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        return (sum(n[g] for g in labels if low <= g <= high) - (n[a] + n[b]) / 2) ** 2

    observed = sum(o[a, b] * delta(a, b) for a in labels for b in labels)
    expected = sum(n[a] * n[b] * delta(a, b) for a in labels for b in labels)
    return 1 - (sum(n.values()) - 1) * observed / expected


@pytest.mark.parametrize("level", ["ordinal", "interval"])
def test_alpha_is_the_textbook_one(level: str) -> None:
    """On random ratings with gaps, of one to five annotators an item."""
    random = Random(1)
    for _ in range(20):
        ratings = matrix(*([random.choice([1, 2, 3, 7, None]) for _ in range(12)] for _ in range(random.randint(2, 5))))
        assert krippendorff_alpha(ratings, level) == pytest.approx(slow_alpha(ratings, level))


def test_cohen_leaves_out_what_one_did_not_rate() -> None:
    """A missing rating removes the item for that pair only; the mean is over the pairs that share items."""
    full = [1.0, 2.0, 3.0, 1.0]
    gaps: list[float | None] = [1, 2, None, None]
    assert cohen_kappa(matrix(full, gaps)) == pytest.approx(1.0)  # type: ignore[arg-type]
    apart: list[float | None] = [None, None, 3, 1]
    assert cohen_kappa(matrix(gaps, apart)) is None
    wrong: list[float | None] = [2, 1, None, None]  # against full and gaps: all wrong, -1 each; gaps against full: 1
    assert cohen_kappa(matrix(full, gaps, wrong)) == pytest.approx(-1 / 3)  # type: ignore[arg-type]


def test_what_is_not_defined_is_none() -> None:
    """One annotator, no shared item, or nothing but one value: no coefficient, instead of a lucky 1."""
    for ratings in (matrix([1, 2, 3]), matrix([1, None], [None, 2]), matrix([2, 2], [2, 2]), {}):
        assert [cohen_kappa(ratings), *(krippendorff_alpha(ratings, level) for level in ("ordinal", "interval"))] == [None] * 3


def record(annotator: str, item: int, *marks: Mark, **ratings: float) -> Record:
    """What one annotator said of one item."""
    return Record(AnnotationItem(str(item), ("r",), "abcdefghij"), annotator, ratings, marks, "", f"f:{item}")


def test_spans_agree_by_characters() -> None:
    """Marked 0-4 and 2-6: two of 4 + 4 characters in common, one of them with the same severity; items without a place do not count."""
    one = record("A", 1, Mark(0, 4, "major", ""))
    other = record("B", 1, Mark(2, 3, "major", ""), Mark(3, 6, "minor", ""), Mark(None, None, "critical", ""))
    nowhere = Mark(None, None, "minor", "")
    items = [(one, other), (record("A", 2), record("B", 2, nowhere)), (record("A", 3, Mark(0, 2, "minor", "")), record("B", 3))]
    ratings = {(n, "", ""): {"A": left, "B": right} for n, (left, right) in enumerate(items)}
    assert span_table(ratings).rows == (("A, B", 3, 2, (2 * 1.5 / 8 + 0) / 2),)  # type: ignore[arg-type]


def test_tables_have_a_row_for_each_dimension_and_pair() -> None:
    """Counts say on how much a coefficient stands; wide scales have no nominal coefficient."""
    records = [
        record("A", 1, Mark(0, 2, "minor", ""), fluency=1, semantic=80),
        record("B", 1, Mark(0, 2, "minor", ""), fluency=1, semantic=70),
        record("A", 2, fluency=3, semantic=10),
        record("B", 2, fluency=3, semantic=20),
        record("A", 3, fluency=2),
    ]
    ratings: dict[tuple[str, str, str], dict[str, Record]] = {}
    for one in records:
        ratings.setdefault(one.item.identity, {})[one.annotator] = one
    fluency, semantic = agreement_table(ratings).rows
    assert fluency == ("fluency", 2, 3, 2, 1.0, 1.0, 1.0)
    assert semantic[:5] == ("semantic", 2, 2, 2, None)
    assert isinstance(semantic[6], float) and math.isclose(semantic[6], slow_alpha(matrix([80, 10], [70, 20]), "interval"))
    assert span_table(ratings).rows == (("A, B", 2, 1, 1.0),)

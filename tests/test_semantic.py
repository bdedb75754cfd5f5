"""Semantic: laws of the transport, an independent linear programme, the paper's equations by hand, and the edge rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from rome.features.idf import IdfTable
from rome.features.semantic import Semantic, SemanticConfig, align, position_differences, soft_cost

from handmade import analysis

IDF = IdfTable(100, {"the": 90, "a": 80, "is": 70, "cat": 3, "dog": 4, "sat": 2})
WORDS = st.lists(st.sampled_from("the a cat dog sat is mat ran red big .".split()), min_size=1, max_size=9).map(" ".join)
EMDS = ("soft", "aligned", "standard")


def semantic(**options: object) -> Semantic:
    return Semantic(IDF, SemanticConfig(**options))  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None)
@given(WORDS, WORDS, st.sampled_from(EMDS))
def test_the_distance_is_the_optimum_of_an_independent_linear_programme(reference: str, hypothesis: str, emd: str) -> None:
    """Exact transport: scipy's linear programme over the same costs and masses finds the same optimum; marginals are the weights."""
    found = semantic(emd=emd).measure(analysis(reference), analysis(hypothesis))
    evidence = found.evidence
    p, q = evidence.cost.shape
    rows = np.kron(np.eye(p), np.ones(q))
    columns = np.kron(np.ones(p), np.eye(q))
    solved = linprog(
        evidence.cost.ravel(),
        A_eq=np.vstack([rows, columns]),
        b_eq=np.concatenate([evidence.reference_weights, evidence.hypothesis_weights]),
    )
    assert found.raw == pytest.approx(solved.fun, abs=1e-7)
    assert evidence.flow.sum(1) == pytest.approx(evidence.reference_weights)
    assert evidence.flow.sum(0) == pytest.approx(evidence.hypothesis_weights)


@settings(max_examples=60, deadline=None)
@given(WORDS, WORDS)
def test_with_hard_alignment_the_transport_has_a_closed_form(reference: str, hypothesis: str) -> None:
    """Every pair outside the one-to-one alignment costs 1, so the similarity is the sum of min(mass, mass) (1 - cost) over it."""
    found = semantic(emd="soft").measure(analysis(reference), analysis(hypothesis))
    evidence = found.evidence
    expected = sum(
        min(evidence.reference_weights[pair.reference], evidence.hypothesis_weights[pair.hypothesis]) * (1 - pair.distance)
        for pair in evidence.pairs
    )
    assert found.value == pytest.approx(expected, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(WORDS, WORDS, st.sampled_from(EMDS))
def test_range_identity_and_symmetry(reference: str, hypothesis: str, emd: str) -> None:
    """In [0, 1]; 1 for a text against itself; the very same from both sides, also where alignments tie."""
    one, other = analysis(reference), analysis(hypothesis)
    feature = semantic(emd=emd)
    value = feature.measure(one, other).value
    assert 0.0 <= value <= 1.0
    assert feature.measure(one, one).value == pytest.approx(1.0, abs=1e-6)
    assert feature.measure(other, one).value == value


@settings(max_examples=60, deadline=None)
@given(WORDS, WORDS)
def test_the_alignment_is_one_to_one(reference: str, hypothesis: str) -> None:
    """Hard constraint of section 3.1: no word of either side is aligned twice."""
    pairs = semantic().measure(analysis(reference), analysis(hypothesis)).evidence.pairs
    assert len({p.reference for p in pairs}) == len({p.hypothesis for p in pairs}) == len(pairs)


def test_position_differences_follow_the_equation() -> None:
    """|q (i + 1) - p (j + 1)| / (p q) for p = 2, q = 3, computed by hand."""
    assert position_differences(2, 3) == pytest.approx(np.array([[1, 1, 3], [4, 2, 0]]) / 6)


def test_soft_cost_follows_equation_4() -> None:
    """Costs of a crossed alignment, by hand: 1 - cos exp(-|j - i| / max(p, q) * difference); below delta and unaligned 1."""
    similarity = np.array([[0.0, 0.8], [0.2, 0.0]])
    rows, columns = align(similarity)
    assert list(zip(rows, columns, strict=True)) == [(0, 1), (1, 0)]
    cost = soft_cost(similarity, rows, columns, SemanticConfig(delta=0.5))
    assert cost[0, 1] == pytest.approx(1 - 0.8 * np.exp(-0.5 * 0.5))
    assert cost[1, 0] == 1.0
    assert cost[0, 0] == cost[1, 1] == 1.0


def test_the_three_distances_order_as_they_constrain() -> None:
    """Alignment forbids pairs and the soft penalty takes from those that are left: soft >= aligned >= standard as distances."""
    one, other = analysis("the cat sat . a big dog ran ."), analysis("a dog ran the red cat sat big .")
    raw = [semantic(emd=emd, delta=-1.0).measure(one, other).raw for emd in EMDS]
    assert raw[0] >= raw[1] - 1e-9 >= raw[2] - 2e-9
    assert raw[0] > raw[2]


def test_a_repeated_word_is_aligned_once() -> None:
    """RoMe figure 4: what is repeated cannot pay its way: two of three equal words stay unaligned or below delta."""
    feature = semantic()
    reference = analysis("cat sat mat")
    once, thrice = feature.measure(reference, analysis("cat sat mat")), feature.measure(reference, analysis("cat cat cat"))
    assert thrice.value < 0.5 < once.value
    assert sum(pair.distance < 1 for pair in thrice.evidence.pairs) == 1


@pytest.mark.parametrize(
    ("reference", "hypothesis", "value"), [("", "", 1.0), ("cat", "", 0.0), ("", "cat", 0.0), ("cat", "cat", 1.0)]
)
def test_edge_rows(reference: str, hypothesis: str, value: float) -> None:
    """Two empty texts are the same; one empty text shares nothing; one word is itself."""
    assert semantic().measure(analysis(reference), analysis(hypothesis)).value == pytest.approx(value)


def test_rare_words_weigh_more() -> None:
    """Losing a rare word costs more than losing a frequent one."""
    feature, reference = semantic(), analysis("the cat sat")
    assert feature.measure(reference, analysis("cat sat")).value > feature.measure(reference, analysis("the sat")).value


def test_weights_sum_to_one_and_survive_punctuation_alone() -> None:
    """TF-IDF masses are a distribution, also for a text of marks only."""
    assert IDF.weights(["the", "cat", "zebra"]).sum() == pytest.approx(1.0)
    assert IDF.weights([".", "!"]) == pytest.approx([0.5, 0.5])
    assert len(IDF.weights([])) == 0
    assert IDF.idf("zebra") > IDF.idf("cat") > IDF.idf("the") > 0

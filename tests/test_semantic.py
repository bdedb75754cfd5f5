"""Semantic: laws of the transport, an independent linear programme, the paper's equations by hand, and the edge rows."""

from __future__ import annotations

import itertools
import math
import pickle
import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

from rome.exceptions import InputError
from rome.features.idf import IdfTable
from rome.features.matching import cosines, unit_vectors
from rome.features.semantic import Semantic, SemanticConfig, align, transport_plan
from rome.features.values import Analysis

from handmade import WIDTH, analysis

IDF = IdfTable(100, {"the": 90, "a": 80, "is": 70, "cat": 3, "dog": 4, "sat": 2})
WORDS = st.lists(st.sampled_from("the a cat dog sat is mat ran red big .".split()), min_size=1, max_size=9).map(" ".join)
EMDS = ("soft", "aligned", "standard")
RHOS = st.sampled_from((0.0, 0.5, 0.95, 1.0))
SHARED = np.random.default_rng(5).normal(size=WIDTH).astype(np.float32) / 8


def semantic(**options: object) -> Semantic:
    return Semantic(IDF, SemanticConfig(**options))  # type: ignore[arg-type]


def alike(text: str) -> Analysis:
    """An analysis whose words all have something in common: cosines of different words lie around a half."""
    plain = analysis(text)
    return analysis(text, vectors=plain.vectors + SHARED)


def slow_costs(one: Analysis, other: Analysis, *, rho: float, delta: float = 0.4, soft: bool = True) -> list[list[float]]:
    """The costs as a textbook writes them, pair by pair: eq. 4, and 1 - rho max(cos, 0) for what it prices at 1."""
    similarity = cosines(unit_vectors(one.vectors), unit_vectors(other.vectors))
    p, q = similarity.shape
    aligned = set(zip(*(ends.tolist() for ends in align(similarity)), strict=True))
    costs = [[1 - rho * max(float(cosine), 0.0) for cosine in row] for row in similarity]
    for i, j in aligned:
        if similarity[i, j] > delta:
            gamma = -abs(j - i) / max(p, q) if soft else 0.0
            away = abs(q * (i + 1) - p * (j + 1)) / (p * q)
            costs[i][j] = min(max(1 - float(similarity[i, j]) * math.exp(gamma * away), 0.0), 1.0)
    return costs


@settings(max_examples=40, deadline=None)
@given(*[st.lists(st.sampled_from("cat dog sat mat ran".split()), min_size=1, max_size=5).map(" ".join)] * 2)
def test_the_papers_equations_as_printed(reference: str, hypothesis: str) -> None:
    """Equations 1 to 5, one-based, with every one-to-one alignment tried for equation 3 as printed, cosine times difference."""
    one, other = sorted((alike(reference), alike(hypothesis)), key=lambda side: (len(side.words), side.text))
    cosine = cosines(unit_vectors(one.vectors), unit_vectors(other.vectors))
    p, q = cosine.shape
    away = [[abs(q * i - p * j) / (p * q) for j in range(1, q + 1)] for i in range(1, p + 1)]
    masses = [IDF.weights([word.text for word in side.words]) for side in (one, other)]
    totals, values = [], []
    for columns in itertools.permutations(range(q), p):
        cost = np.ones((p, q))
        for i, j in enumerate(columns):
            if cosine[i, j] > 0.6:
                cost[i, j] = 1.0 - cosine[i, j] * math.exp(-abs(j - i) / max(p, q) * away[i][j])
        totals.append(sum(cosine[i, j] * away[i][j] for i, j in enumerate(columns)))
        values.append(1.0 - optimum(cost, masses))
    best = [value for total, value in zip(totals, values, strict=True) if total > max(totals) - 1e-9]
    found = semantic(delta=0.6, rho=0.0, position="difference").measure(one, other).value
    assert min(abs(value - found) for value in (*best, *([1.0] if reference == hypothesis else []))) < 1e-6


def optimum(cost: ArrayLike, masses: Sequence[NDArray[np.float64]]) -> float:
    """The least transport cost by scipy's linear programme."""
    p, q = np.shape(cost)
    sides = np.vstack([np.kron(np.eye(p), np.ones(q)), np.kron(np.ones(p), np.eye(q))])
    return float(linprog(np.ravel(cost), A_eq=sides, b_eq=np.concatenate(masses)).fun)


@settings(max_examples=60, deadline=None)
@given(WORDS, WORDS, st.sampled_from(EMDS), RHOS)
def test_the_distance_is_the_optimum_of_an_independent_linear_programme(
    reference: str, hypothesis: str, emd: str, rho: float
) -> None:
    """Exact transport: scipy's linear programme over the same costs and masses finds the same optimum; marginals are the weights."""
    found = semantic(emd=emd, rho=rho).measure(alike(reference), alike(hypothesis))
    evidence = found.evidence
    masses = evidence.reference_weights, evidence.hypothesis_weights
    assert found.raw == pytest.approx(optimum(evidence.cost, masses), abs=1e-7)
    assert evidence.flow.sum(1) == pytest.approx(masses[0])
    assert evidence.flow.sum(0) == pytest.approx(masses[1])


@settings(max_examples=60, deadline=None)
@given(WORDS, WORDS, st.sampled_from(EMDS[:2]), RHOS)
def test_the_value_is_that_of_the_textbook(reference: str, hypothesis: str, emd: str, rho: float) -> None:
    """Costs written down pair by pair and a linear programme give the same value; with rho 0 that is the paper's equation 4."""
    one, other = sorted((alike(reference), alike(hypothesis)), key=lambda side: (len(side.words), side.text))
    masses = [IDF.weights([word.text for word in side.words]) for side in (one, other)]
    expected = 1 - optimum(slow_costs(one, other, rho=rho, soft=emd == "soft"), masses)
    assert semantic(emd=emd, rho=rho).measure(one, other).value == pytest.approx(expected, abs=1e-7)


@settings(max_examples=60, deadline=None)
@given(WORDS, WORDS)
def test_by_the_papers_costs_the_transport_has_a_closed_form(reference: str, hypothesis: str) -> None:
    """With rho 0 a pair outside the alignment costs 1, so the similarity is the sum of min(mass, mass) (1 - cost) over the alignment."""
    found = semantic(emd="soft", rho=0.0).measure(alike(reference), alike(hypothesis))
    evidence = found.evidence
    expected = sum(
        min(evidence.reference_weights[pair.reference], evidence.hypothesis_weights[pair.hypothesis]) * (1 - pair.distance)
        for pair in evidence.pairs
    )
    assert found.value == pytest.approx(expected, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(WORDS, WORDS, st.sampled_from(EMDS), RHOS)
def test_range_identity_and_symmetry(reference: str, hypothesis: str, emd: str, rho: float) -> None:
    """In [0, 1]; 1 for a text against itself; the very same from both sides, also where alignments tie."""
    one, other = alike(reference), alike(hypothesis)
    feature = semantic(emd=emd, rho=rho)
    value = feature.measure(one, other).value
    assert 0.0 <= value <= 1.0
    assert feature.measure(one, one).value == pytest.approx(1.0, abs=1e-6)
    assert feature.measure(other, one).value == value


@settings(max_examples=60, deadline=None)
@given(WORDS, WORDS, st.sampled_from(EMDS))
def test_more_credit_never_lowers_the_value(reference: str, hypothesis: str, emd: str) -> None:
    """The value rises with rho, where it matters at all: the plain distance ignores it."""
    values = [semantic(emd=emd, rho=rho).measure(alike(reference), alike(hypothesis)).value for rho in (0.0, 0.3, 0.95, 1.0)]
    assert all(less <= more + 1e-9 for less, more in itertools.pairwise(values))
    assert emd != "standard" or len(set(values)) == 1


@settings(max_examples=60, deadline=None)
@given(WORDS, WORDS)
def test_the_alignment_is_one_to_one(reference: str, hypothesis: str) -> None:
    """Hard constraint of section 3.1: no word of either side is aligned twice, and only words above delta are."""
    pairs = semantic().measure(alike(reference), alike(hypothesis)).evidence.pairs
    assert len({p.reference for p in pairs}) == len({p.hypothesis for p in pairs}) == len(pairs)
    assert all(p.similarity > SemanticConfig().delta for p in pairs)


def test_mass_left_over_is_credited() -> None:
    """Two words like one: what the one cannot give to its partner goes to the other, credited with rho cos."""
    one, other = analysis("dog cat", vectors=np.eye(2, dtype=np.float32)), analysis("cat", vectors=np.float32([[0.8, 1.0]]))
    cosines, masses = np.array([0.8, 1.0]) / math.sqrt(1.64), IDF.weights(["dog", "cat"])
    for rho in (0.0, 0.5):
        assert semantic(emd="aligned", rho=rho).measure(one, other).value == pytest.approx(masses @ (cosines * [rho, 1.0]))


@pytest.mark.parametrize("rho", [-0.1, 1.01, math.nan, True, "0.5", None])
def test_what_is_no_share_is_refused(rho: object) -> None:
    """rho, penalty and coverage are numbers from 0 to 1."""
    for name in ("rho", "penalty", "coverage"):
        with pytest.raises(InputError, match=re.escape(f"{name} must be in [0, 1]")):
            semantic(**{name: rho})


def test_the_penalty_goes_from_none_to_the_papers() -> None:
    """Without a penalty ``soft`` is ``aligned``; the stronger it is, the farther apart are texts whose words moved."""
    one, other = analysis("the cat sat . a big dog ran ."), analysis("a dog ran the red cat sat big .")
    raw = [semantic(delta=-1.0, penalty=penalty).measure(one, other).raw for penalty in (0.0, 0.25, 1.0)]
    assert raw[0] == semantic(emd="aligned", delta=-1.0).measure(one, other).raw
    assert raw == sorted(raw) and raw[0] < raw[-1]


def test_the_three_distances_order_as_they_constrain() -> None:
    """Alignment forbids pairs and the soft penalty takes from those that are left: soft >= aligned >= standard as distances."""
    one, other = analysis("the cat sat . a big dog ran ."), analysis("a dog ran the red cat sat big .")
    raw = [semantic(emd=emd, delta=-1.0).measure(one, other).raw for emd in EMDS]
    assert raw[0] >= raw[1] - 1e-9 >= raw[2] - 2e-9
    assert raw[0] > raw[2]


SHARES = st.sampled_from((0.25, 0.5, 1.0))


@settings(max_examples=60, deadline=None)
@given(WORDS, WORDS, st.sampled_from(EMDS[:2]), SHARES)
def test_coverage_asks_where_each_word_of_the_reference_goes_cheapest(
    reference: str, hypothesis: str, emd: str, coverage: float
) -> None:
    """The textbook: the balanced optimum and, word by word, the least cost of the reference's words, in these shares; no more than the former."""
    one, other = alike(reference), alike(hypothesis)
    balanced, found = (semantic(emd=emd, coverage=share).measure(one, other) for share in (0.0, coverage))
    weights, cost = found.evidence.reference_weights.tolist(), found.evidence.cost.tolist()
    nearest = sum(weight * min(row) for weight, row in zip(weights, cost, strict=True))
    assert nearest <= balanced.raw + 1e-9
    if one.text != other.text:
        assert found.raw == pytest.approx((1 - coverage) * balanced.raw + coverage * nearest, abs=1e-9)
        assert (found.evidence.cost * found.evidence.flow).sum() == pytest.approx(found.raw, abs=1e-9)
    assert found.evidence.flow.sum(1) == pytest.approx(found.evidence.reference_weights)
    assert 0.0 <= found.value <= 1.0 and semantic(emd=emd, coverage=coverage).measure(one, one).value == 1.0


def test_what_is_missing_costs_more_than_what_is_added() -> None:
    """With coverage half of a text is worse than twice of one; without it both are the same, and the plain distance knows no coverage."""
    short, long = analysis("cat dog"), analysis("cat dog sat mat")
    for emd in EMDS[:2]:
        feature = semantic(emd=emd, coverage=1.0)
        assert feature.measure(long, short).value < 0.75 < feature.measure(short, long).value
        balanced = semantic(emd=emd)
        assert balanced.measure(long, short).value == balanced.measure(short, long).value
    plain = [semantic(emd="standard", coverage=share).measure(long, short).raw for share in (0.0, 1.0)]
    assert plain[0] == plain[1]


def test_a_repeated_word_is_aligned_once() -> None:
    """RoMe figure 4: what is repeated cannot pay its way: two of three equal words stay unaligned or below delta."""
    feature = semantic()
    reference = analysis("cat sat mat")
    once, thrice = feature.measure(reference, analysis("cat sat mat")), feature.measure(reference, analysis("cat cat cat"))
    assert thrice.value < 0.5 < once.value
    assert len(thrice.evidence.pairs) == 1


@pytest.mark.parametrize("rho", [0.0, 0.95])
@pytest.mark.parametrize(
    ("reference", "hypothesis", "value"),
    [
        ("", "", 1.0),
        ("cat", "", 0.0),
        ("", "cat", 0.0),
        ("cat", "cat", 1.0),
        ("cat", "dog", 0.0),
        ("cat sat", "dog ran big", 0.0),
    ],
)
def test_edge_rows(reference: str, hypothesis: str, value: float, rho: float) -> None:
    """Two empty texts are the same; one empty text shares nothing; one word is itself; words without likeness earn nothing."""
    words = sorted({*reference.split(), *hypothesis.split()})
    one, other = (
        analysis(t, vectors=np.eye(9, dtype=np.float32)[[words.index(w) for w in t.split()]]) for t in (reference, hypothesis)
    )
    assert semantic(rho=rho).measure(one, other).value == pytest.approx(value)


@pytest.mark.parametrize("emd", EMDS)
def test_evidence_of_long_texts_is_small_and_still_adds_up(emd: str) -> None:
    """What is kept of a long pair grows with its words, not with their square; the flow costs what it did, and no less is possible."""
    draw = np.random.default_rng(3)
    one, other = (alike(" ".join(draw.choice([f"word{n}" for n in range(90)], size=size))) for size in (300, 280))
    found = semantic(emd=emd).measure(one, other)
    evidence = found.evidence
    assert len(pickle.dumps(evidence)) < evidence.cost.nbytes / 8
    assert (evidence.cost * evidence.flow).sum() == pytest.approx(found.raw)
    masses = evidence.reference_weights, evidence.hypothesis_weights
    assert (transport_plan(*masses, evidence.cost) * evidence.cost).sum() == pytest.approx(found.raw)
    assert all(evidence.cost[pair.reference, pair.hypothesis] == pytest.approx(pair.distance) for pair in evidence.pairs)


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

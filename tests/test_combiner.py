"""The net and its contributions: monotone, in range, independent of neighbours, exactly additive."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from safetensors.numpy import load_file, save_file

from rome.combining.combiner import Combiner
from rome.combining.signature import differing_keys
from rome.combining.table import FeatureTable
from rome.exceptions import InputError, ModelMissingError, SignatureMismatchError, StoreError

ROW = arrays(np.float64, 4, elements=st.floats(0.0, 1.0))


def _make(seed: int = 0, hidden: int = 5, signature: str = "") -> Combiner:
    chance = np.random.default_rng(seed)
    shape = chance.random((hidden, 4)) * 3, chance.normal(size=hidden), chance.random(hidden) * 2
    return Combiner(*shape, np.asarray(chance.normal()), chance.dirichlet(np.ones(5))[:4], signature)


def _table(values: list | np.ndarray, segment: list, reference: list, signature: str = "") -> FeatureTable:
    return FeatureTable(segment, reference, np.asarray(values, float), np.zeros((len(segment), 4)), signature=signature)


@settings(deadline=None)
@given(seed=st.integers(0, 99), row=ROW, other=ROW)
def test_a_better_feature_never_lowers_the_score(seed: int, row: np.ndarray, other: np.ndarray) -> None:
    """The score rises, or stays, with every feature, for any non-negative net; and lies in [0, 1]."""
    low, high = _make(seed).score(np.stack([np.minimum(row, other), np.maximum(row, other)]))
    assert 0.0 <= low <= high + 1e-15 <= 1.0 + 1e-15


@settings(deadline=None)
@given(seed=st.integers(0, 99), rows=arrays(np.float64, (3, 4), elements=st.floats(0.0, 1.0)))
def test_contributions_are_losses_that_add_up_to_score_minus_one(seed: int, rows: np.ndarray) -> None:
    """Efficiency: the four contributions of a row sum to its score minus 1; none is positive, nor a negative zero."""
    net = _make(seed)
    contributions = net.contributions(rows)
    assert np.allclose(contributions.sum(axis=1), net.score(rows) - 1.0, rtol=0, atol=1e-9)
    assert (contributions <= 0.0).all() and not np.signbit(contributions[contributions == 0.0]).any()


@settings(deadline=None)
@given(seed=st.integers(0, 99), bias=st.floats(-2000.0, 2000.0), row=ROW)
def test_perfect_features_score_exactly_one(seed: int, bias: float, row: np.ndarray) -> None:
    """For any net, also one whose sigmoid leaves nothing; nothing scores above, and nothing is lost there."""
    net = replace(_make(seed), output_bias=np.asarray(bias))
    below, perfect = net.score(np.stack([row, np.ones(4)]))
    assert perfect == 1.0 and 0.0 <= below <= 1.0
    assert net.contributions(np.ones((1, 4))).tolist() == [[0.0] * 4]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 99), row=ROW)
def test_contributions_equal_the_average_over_all_orders(seed: int, row: np.ndarray) -> None:
    """Oracle: Shapley's definition, the mean gain of a feature over the 24 orders in which features may arrive."""
    net, gains = _make(seed), np.zeros(4)
    for order in permutations(range(4)):
        state = np.ones(4)
        for feature in order:
            before = net.score_rows(state[None])[0]
            state[feature] = row[feature]
            gains[feature] += (net.score_rows(state[None])[0] - before) / 24
    assert np.allclose(net.contributions(row[None])[0], gains, rtol=0, atol=1e-12)


def test_a_score_does_not_depend_on_its_neighbours() -> None:
    """A row alone, or among 20,000 others, has the same score to the last bit."""
    net, rows = _make(hidden=16), np.random.default_rng(1).random((20_000, 4))
    scores = net.score(rows)
    assert all(net.score(rows[place : place + 1])[0] == scores[place] for place in range(0, 20_000, 997))


def test_the_forward_pass_is_the_formula() -> None:
    """Oracle: the matrix form of the docstring."""
    net, rows = _make(3), np.vstack([np.random.default_rng(2).random((50, 4)), np.ones(4)])
    logits = np.tanh(rows @ net.hidden_weight.T + net.hidden_bias) @ net.output_weight + net.output_bias
    sigmoid = 1 / (1 + np.exp(-logits))
    wanted = (1 - net.direct_weight.sum()) * sigmoid / sigmoid[-1] + rows @ net.direct_weight
    assert np.allclose(net.score(rows), wanted, rtol=0, atol=1e-12)


def test_each_segment_gets_its_best_reference() -> None:
    """Several references: the highest score wins, the first of equals; rows may come in any order."""
    net = _make()
    low, high = np.full(4, 0.2), np.full(4, 0.9)
    got = net.combine(_table([low, high, high, low, high, low], [0, 0, 0, 1, 3, 3], [0, 1, 2, 0, 0, 1]))
    assert (got.segment.tolist(), got.reference.tolist(), got.row.tolist()) == ([0, 1, 3], [1, 0, 0], [1, 3, 4])
    none = np.empty((0, 4))
    assert net.contributions(none).shape == (0, 4) and len(net.combine(_table(none, [], []))) == 0
    mixed = net.combine(_table([low, high, low], [5, 2, 2], [0, 0, 1]))
    assert (mixed.segment.tolist(), mixed.reference.tolist(), mixed.row.tolist()) == ([2, 5], [0, 0], [1, 0])


def test_another_signature_is_refused_with_the_keys_that_differ() -> None:
    """Features measured in another way are not combined, unless asked for; the message names what differs."""
    net, mine = _make(signature="version:1|delta:0.5"), _table([[0.5] * 4], [0], [0], "version:1|delta:0.6")
    with pytest.raises(SignatureMismatchError, match=r"delta: 0\.6 in the table, 0\.5 in the net\)"):
        net.score(mine)
    assert net.score(mine, allow_mismatch=True).shape == (1,)
    assert differing_keys("a:1|b:2", "a:1", ("the table", "the net")) == ["b: 2 in the table, absent in the net"]


def test_round_trip_on_disk_keeps_bytes_and_signature(tmp_path: Path) -> None:
    """Saving and loading keeps the net; the same net is saved as the same bytes; another net has another signature."""
    net = _make(signature="x:1")
    for name in ("a", "b"):
        net.save(tmp_path / name)
    again = Combiner.load(tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (again.signature, again.feature_signature) == (net.signature, "x:1") and _make(1).signature != net.signature
    assert np.array_equal(again.score(np.eye(4)), net.score(np.eye(4)))
    save_file({name: t for name, t in load_file(tmp_path / "a").items() if name != "direct_weight"}, tmp_path / "older")
    assert not Combiner.load(tmp_path / "older").direct_weight.any()


def test_bad_nets_and_bad_values_are_refused(tmp_path: Path) -> None:
    """A missing file, a damaged one, negative weights, wrong shapes, values outside [0, 1]: each a clear error."""
    with pytest.raises(ModelMissingError, match="rome train scorer"):
        Combiner.load(tmp_path / "absent")
    (tmp_path / "bad").write_bytes(b"no safetensors")
    with pytest.raises(StoreError, match="damaged"):
        Combiner.load(tmp_path / "bad")
    net = _make()
    for wrong in ({"hidden_weight": -net.hidden_weight}, {"direct_weight": np.full(4, 0.3)}):
        with pytest.raises(InputError, match="not monotone"):
            replace(net, **wrong)
    for values, says in (
        (np.ones((2, 3)), "shape"),
        (np.full((1, 4), 1.5), r"\[0, 1\]"),
        (np.full((1, 4), np.nan), r"\[0, 1\]"),
    ):
        with pytest.raises(InputError, match=says):
            net.score(values)

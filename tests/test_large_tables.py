"""Evidence of long texts: large tables take little memory and come back as they were."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, fields, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from rome.features.semantic import LARGE, LargeTable


@dataclass(frozen=True, eq=False)
class Evidence:
    """Two tables."""

    name: str
    cost: NDArray[np.float64] = LargeTable(1.0)  # type: ignore[assignment]
    flow: NDArray[np.float64] = LargeTable(0.0)  # type: ignore[assignment]


def tables(size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A cost of ones and a flow of zeros, but for a diagonal."""
    cost, flow = np.ones((size, size + 1)), np.zeros((size, size + 1))
    cost[range(size), range(size)] = np.linspace(0.0, 0.9, size)
    flow[range(size), range(size)] = 1.0 / max(1, size)
    return cost, flow


@pytest.mark.parametrize("size", [0, 3, 400])
def test_tables_come_back_as_they_were(size: int) -> None:
    """Small or large, by name, by position, copied, replaced or sent to another process: every number is the one that was put in."""
    cost, flow = tables(size)
    given = Evidence("a", cost, flow=flow)
    for one in (given, copy.deepcopy(given), replace(given, name="b"), pickle.loads(pickle.dumps(given))):
        np.testing.assert_allclose(one.cost, cost, atol=1e-15)
        assert np.array_equal(one.flow, flow)
    assert [field.name for field in fields(Evidence)] == ["name", "cost", "flow"]


def test_large_tables_are_kept_small() -> None:
    """A large table takes the memory of its exceptions; a small one stays itself."""
    cost, flow = tables(400)
    assert cost.size > LARGE
    assert len(pickle.dumps(Evidence("a", cost, flow))) < cost.nbytes / 50
    assert Evidence("a", cost, small := np.eye(3)).flow is small


def test_a_table_must_be_given() -> None:
    """The fields have no default."""
    with pytest.raises(TypeError, match="cost"):
        Evidence("a")

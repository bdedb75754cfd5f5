"""Real faults, a few of each: what a process was told is kept stays, and nothing wrong comes back. `benchmarks/faults.py` does hundreds."""

from __future__ import annotations

import importlib
import random
import tempfile
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("fcntl", reason="kills and forks as POSIX has them")
KINDS = (
    "store: writer killed",
    "store: two writers, one killed now and then",
    "store: files may not grow",
    "store: bits flipped",
    "store: header changed",
    "store: pages zeroed or exchanged",
    "store: cut short",
    "store: two find it damaged at once",
    "output: writer killed",
    "output: files may not grow",
    "table: bits flipped",
    "table: cut short",
    "run: ended again and again",
)


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The faults of the benchmark."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    return importlib.import_module("faults")


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_finished_is_lost_and_nothing_wrong_returned(kinds: ModuleType, kind: str) -> None:
    """Rows are missing only where the fault destroyed them, none is wrong, and afterwards everything can be written and read."""

    @settings(max_examples=3, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, 1 << 32))
    def trial(seed: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            counts = kinds.FAULTS[kind](random.Random(seed), Path(folder))
        assert (counts["times"], counts["wrong"], counts["healed"]) == (1, 0, 1)
        if kind not in kinds.DAMAGE:
            assert counts.get("missing", 0) == 0

    trial()

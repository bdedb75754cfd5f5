"""The benchmarks fit the present code: every script can be imported."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.parametrize("name", [path.stem for path in sorted(BENCHMARKS.glob("*.py"))])
def test_every_script_can_be_imported(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it takes from RoMe and from the other scripts is there; nothing runs."""
    pytest.importorskip("torch", reason="most of them need the extra `models`")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import_module(name)

"""What takes RoMe's place when a benchmark is only tried: no models, the same numbers for every pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memory import Constant


class StandIn(Constant):
    """Takes RoMe's arguments, and has the methods that the benchmarks call."""

    def __init__(self, **_: Any) -> None:
        super().__init__()

    def analyse(self, texts: Sequence[str]) -> dict[str, Any]:
        """Nothing is known of any text."""
        return dict.fromkeys(texts)

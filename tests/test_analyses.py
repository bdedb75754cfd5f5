"""Analyses on demand: each text through the models once, and what stays in memory is bounded by words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from rome.config import MetricConfig
from rome.features.values import Analysis
from rome.storage import analyses as module
from rome.storage.analyses import Analyses

from handmade import analysis


class Counting:
    """In place of the models: hand-made analyses, and the texts that were asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def analyse(self, texts: Sequence[str]) -> Iterator[Analysis]:
        self.asked += texts
        yield from map(analysis, texts)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> tuple[Analyses, Counting]:
    """Analyses over the counting models, ten words of memory."""
    monkeypatch.setattr(module, "KEPT", 10)
    made, models = Analyses(MetricConfig()), Counting()
    made._analyser = models  # type: ignore[assignment]
    return made, models


def test_a_text_in_memory_is_not_analysed_again(made: tuple[Analyses, Counting]) -> None:
    """Equal texts of one call and of later calls cost one analysis, however they are ordered."""
    found, models = made
    first = found.of(["one two", "three", "one two"])
    assert sorted(models.asked) == ["one two", "three"]
    assert found.of(["three", "one two"])["one two"] is first["one two"]
    assert len(models.asked) == 2


def test_memory_is_bounded_by_words(made: tuple[Analyses, Counting]) -> None:
    """The texts used longest ago leave first; a text longer than the bound is given, and not kept."""
    found, models = made
    found.of(["a b c d", "e f g h"])
    found.of(["a b c d"])
    found.of(["i j k l"])
    found.of(["a b c d", "i j k l"])
    assert len(models.asked) == 3
    found.of(["e f g h"])
    assert models.asked.count("e f g h") == 2
    long = " ".join("abcdefghijklmnop")
    assert len(found.of([long])[long].words) == 16
    assert found._words == 0 and not found._memory
    found.of([""] * 3)
    assert found._words == 1

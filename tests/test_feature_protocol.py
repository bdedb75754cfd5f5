"""The protocol of a feature."""

from __future__ import annotations

import numpy as np
import pytest

from rome.features.protocol import compare_pairs, feature_class
from rome.features.syntax import Syntax
from rome.features.values import FEATURES

from handmade import analysis


@pytest.mark.parametrize("name", FEATURES)
def test_every_feature_keeps_the_protocol(name: str) -> None:
    """Its class bears its name, and its settings have defaults."""
    found = feature_class(name)
    assert found.name == name and found.about.endswith(".")
    assert found.config_class() == found.config_class()


def test_texts_are_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of several pairs is prepared once, and what is said of a pair is what is said of it alone."""
    prepared: list[str] = []
    feature, own = Syntax(), Syntax.prepare
    monkeypatch.setattr(Syntax, "prepare", lambda self, text: prepared.append(text.analysis.text) or own(self, text))
    one, two, three = (analysis(text) for text in ("red house", "big red house", "dog"))
    found = [row[0] for row in compare_pairs([feature], [(one, two), (one, three), (one, one)])]
    assert sorted(prepared) == ["big red house", "dog", "red house"]
    monkeypatch.undo()
    assert found == [feature.measure(one, other) for other in (two, three, one)]
    assert np.isfinite([component.raw for component in found]).all()

"""What holds of the errors of every pair, whatever the reader says."""

from __future__ import annotations

import math

import pytest

from rome.features.errors.evidence import BANDS, MAXIMUM, value_of
from rome.features.values import Analysis, Component


def severity_of(weight: float) -> str:
    """The band of a weight; between two bands nothing lies, and an error on the surface may weigh less than any of words."""
    return "none" if weight <= 0.0 else next(name for name, (_, most) in BANDS.items() if weight <= most)


def check_laws(found: Component, reference: Analysis, hypothesis: Analysis) -> None:
    """The errors that are listed are what counts, and all of it, up to the cap; spans are the text at their places; differences weigh nothing.

    A severity is the band of its weight, so a minor error never weighs more than a major one.
    """
    errors, differences = found.evidence.errors, found.evidence.differences
    assert 0.0 <= found.evidence.count <= found.raw == found.evidence.cost <= MAXIMUM and found.evidence.doubt >= 0.0
    assert all(0.0 < error.weight <= MAXIMUM and error.severity == severity_of(error.weight) != "none" for error in errors)
    assert all((other.severity, other.weight) == ("none", 0.0) for other in differences)
    assert found.evidence.count == pytest.approx(min(MAXIMUM, math.fsum(error.weight for error in errors)))
    if hypothesis.words or not reference.words:
        assert found.value == value_of(found.raw)
    else:
        assert (found.value, found.raw) == (0.0, MAXIMUM)
    for error in (*errors, *differences):
        assert 0.0 <= error.confidence <= 1.0 and (error.reference or error.hypothesis)
        for span, text in ((error.reference, reference.text), (error.hypothesis, hypothesis.text)):
            assert span is None or text[span.start : span.end] == span.text
    starts = [(error.hypothesis or error.reference).start for error in errors if error.hypothesis or error.reference]
    assert starts == sorted(starts)


def check_same(found: Component) -> None:
    """Nothing is wrong with a text beside itself."""
    assert (found.value, found.raw, found.evidence.errors, found.evidence.differences) == (1.0, 0.0, (), ())

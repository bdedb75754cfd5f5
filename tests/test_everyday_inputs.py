"""The shipped reader on everyday inputs, kind by kind; the table of pairs is in everyday_inputs.py and taught nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest
from everyday_inputs import EQUAL, WRONG

from rome import RoMe

SEVERE = {"major", "critical"}
UNKNOWN = "scope of only"
"""The kind of which the reader of `base` knows fewer than nine pairs."""


@cache
def severe(models: str) -> dict[tuple[str, str], bool]:
    """Return whether a pair has a major or critical error, for all pairs."""
    pairs = [pair for kinds in (WRONG, EQUAL) for kind in kinds.values() for pair in kind]
    references, hypotheses = zip(*pairs, strict=True)
    result = RoMe(models=models).score(references=list(references), hypotheses=list(hypotheses))
    found = ({error.severity for error in segment.evidence.errors.errors} for segment in result.segments)
    return {pair: bool(severities & SEVERE) for pair, severities in zip(pairs, found, strict=True)}


def right(pairs: Sequence[tuple[str, str]], wrong: bool) -> list[bool]:
    """Return for each pair whether it is judged as a person would."""
    return [severe("base")[pair] == wrong for pair in pairs]


def _marked(kind: str) -> object:
    """Return the kind, expected to fail where the reader does not know it."""
    return pytest.param(kind, marks=pytest.mark.xfail(strict=True)) if kind == UNKNOWN else kind


@pytest.mark.parametrize("kind", [*map(_marked, WRONG)])
def test_something_else_is_a_severe_error(kind):
    """At least nine of ten pairs of a kind have a major or critical error."""
    assert sum(right(WRONG[kind], True)) >= 9


@pytest.mark.parametrize("kind", EQUAL)
def test_the_same_in_another_form_is_no_severe_error(kind):
    """At least nine of ten pairs of a kind have none."""
    assert sum(right(EQUAL[kind], False)) >= 9

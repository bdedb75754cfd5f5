"""A fixture for pytest, found by its entry point: ``rome_check(reference, hypothesis)`` fails a test whose text has a bad mistake.

    def test_answer(rome_check):
        rome_check("The train leaves at nine.", answer(), no=("critical",))

The metric is made at the first check of a session; ``rome_models`` in pytest's configuration names its model set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from rome.metric import RoMe
    from rome.results import SegmentScore

NO = ("critical",)


class RomeCheck(Protocol):
    """What the fixture ``rome_check`` is."""

    def __call__(
        self, reference: str | Sequence[str], hypothesis: str, *, no: Sequence[str] = NO, min_score: float | None = None
    ) -> SegmentScore:
        """Score one pair; fails the test for an error of the severities ``no`` and for a score below ``min_score``."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The name of the model set."""
    parser.addini("rome_models", "the model set of the fixture rome_check: base, small or a folder", default="base")


@pytest.fixture(scope="session")
def rome_metric(pytestconfig: pytest.Config) -> RoMe:
    """The metric that `rome_check` asks; a conftest.py may put another one in its place."""
    from rome.metric import RoMe

    return RoMe(models=pytestconfig.getini("rome_models"), progress=False)


@pytest.fixture(scope="session")
def rome_check(request: pytest.FixtureRequest) -> RomeCheck:
    """A function that checks one pair; returns its SegmentScore."""

    def check(
        reference: str | Sequence[str], hypothesis: str, *, no: Sequence[str] = NO, min_score: float | None = None
    ) -> SegmentScore:
        from rome.exceptions import InputError
        from rome.reports.gate import gate_text
        from rome.results.gate import SEVERITIES, Limits, check_limits

        unknown = [severity for severity in ([no] if isinstance(no, str) else no) if severity not in SEVERITIES]
        if unknown or isinstance(no, str):
            raise InputError(f'no={no!r} names no severities: give some of {SEVERITIES}, such as no=("critical", "major")')
        limits = Limits(**{severity: 0 for severity in no}, score=min_score)
        metric: RoMe = request.getfixturevalue("rome_metric")
        (segment,) = metric.score(references=[reference], hypotheses=[hypothesis])
        result = check_limits([segment], limits)
        if not result.passed:
            pytest.fail(f"rome_check: {gate_text(result)}", pytrace=False)
        return segment

    return check

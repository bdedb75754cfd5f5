"""Provide the pytest fixture ``rome_check(reference, hypothesis)``, which fails a test whose text has a critical error.

    def test_answer(rome_check):
        rome_check("The train leaves at nine.", answer(), no=("critical",))

Pytest finds it by its entry point. The metric is made at the first check of a session; ``rome_models`` in pytest's configuration names its
model set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from rome.metric import RoMe
    from rome.results import SegmentScore

NO = ("critical",)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting for the model set."""
    parser.addini("rome_models", "the model set of the fixture rome_check: base, small or a folder", default="base")


@pytest.fixture(scope="session")
def rome_metric(pytestconfig: pytest.Config) -> RoMe:
    """Return the metric of `rome_check`; a conftest.py may replace it."""
    from rome.metric import RoMe

    return RoMe(models=pytestconfig.getini("rome_models"), progress=False)


@pytest.fixture(scope="session")
def rome_check(request: pytest.FixtureRequest) -> Callable[..., SegmentScore]:
    """Return a function of a reference and a hypothesis that fails the test or returns their SegmentScore.

    It fails for an error of the severities ``no`` (default: critical) and for a score below ``min_score``.
    """

    def check(
        reference: str | Sequence[str], hypothesis: str, *, no: Sequence[str] = NO, min_score: float | None = None
    ) -> SegmentScore:
        from rome.exceptions import InputError
        from rome.reports.gate import gate_text
        from rome.results.gate import SEVERITIES, Limits, check_limits

        unknown = [severity for severity in ([no] if isinstance(no, str) else no) if severity not in SEVERITIES]
        if unknown or isinstance(no, str):
            raise InputError(f'no must be a sequence of some of {SEVERITIES}, got {no!r}. Try no=("critical", "major")')
        limits = Limits(**{severity: 0 for severity in no}, score=min_score)
        metric: RoMe = request.getfixturevalue("rome_metric")
        (segment,) = metric.score(references=[reference], hypotheses=[hypothesis])
        result = check_limits([segment], limits)
        if not result.passed:
            pytest.fail(f"rome_check: {gate_text(result)}", pytrace=False)
        return segment

    return check

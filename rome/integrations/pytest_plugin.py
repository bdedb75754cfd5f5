"""Provide the pytest fixture ``rome_check(reference, hypothesis)``, which fails a test whose text has a critical error.

    def test_answer(rome_check):
        rome_check("The train leaves at nine.", answer(), max_added=0, ignore=("casing", "punctuation"))

Pytest finds it by its entry point. The metric is made at the first check of a session; ``rome_models`` in pytest's configuration names its
model set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from rome.metric import RoMe
    from rome.results import SegmentScore


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

    Its limits are those of `rome check` (see `Limits`); critical errors are allowed by ``max_critical=None`` only.
    """

    def check(
        reference: str | Sequence[str],
        hypothesis: str,
        *,
        max_critical: int | None = 0,
        max_major: int | None = None,
        max_minor: int | None = None,
        max_added: int | None = None,
        max_missing: int | None = None,
        max_type: Mapping[str, int] = {},
        min_score: float | None = None,
        min_completeness: float | None = None,
        min_faithfulness: float | None = None,
        ignore: Sequence[str] = (),
    ) -> SegmentScore:
        from rome.reports.gate import gate_text
        from rome.results.gate import Limits, check_limits

        numbers = (max_critical, max_major, max_minor, min_score, max_added, max_missing, min_completeness, min_faithfulness)
        limits = Limits(*numbers, type=max_type, ignore=ignore)
        metric: RoMe = request.getfixturevalue("rome_metric")
        (segment,) = metric.score(references=[reference], hypotheses=[hypothesis])
        result = check_limits([segment], limits)
        if not result.passed:
            pytest.fail(f"rome_check: {gate_text(result)}", pytrace=False)
        return segment

    return check

"""The development table: orders, places and reliability of annotated groups, AUC within groups, samples, and means over raters."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rome.data.readers.groups import AnnotatedGroup, parse_marks
from rome.features.errors.evidence import ErrorSpan, TextSpan

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
GROUP = AnnotatedGroup(
    "g1",
    "invented",
    "The red boat left early.",
    (
        parse_marks("The {red=>blue|critical|adjective} boat left{ early=>|major|omission}."),
        parse_marks(
            "At an early hour the {scarlet =>|minor|omission}boat {departed=>arrived|critical|antonym}{=> from Oslo|major|addition}."
        ),
    ),
)


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules of the script, by name."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return SimpleNamespace(
        groups=importlib.import_module("development_groups"), free=importlib.import_module("development_free")
    )


def listed(
    hypothesis: tuple[str, int] | None,
    reference: tuple[str, int] | None = None,
    severity: str = "critical",
    type_: str = "adjective",
    weight: float = 10.0,
    confidence: float = 0.9,
) -> ErrorSpan:
    """An error at the first place of these words in two texts; None where it touches one text only."""
    sides = [side and TextSpan(side[0], side[1], side[1] + len(side[0])) for side in (reference, hypothesis)]
    return ErrorSpan("replacement", type_, severity, weight, confidence, *sides)  # type: ignore[arg-type]


def test_every_text_has_at_most_one_error(scripts: Any) -> None:
    """Acceptable texts come before the texts made of them, and know what they were made of."""
    texts = scripts.groups.texts_of([GROUP])
    assert [(text.number, text.severity, text.hypothesis) for text in texts] == [
        (0, "reference", "The red boat left early."),
        (0, "critical", "The blue boat left early."),
        (0, "major", "The red boat left."),
        (1, "acceptable", "At an early hour the scarlet boat departed."),
        (1, "minor", "At an early hour the boat departed."),
        (1, "critical", "At an early hour the scarlet boat arrived."),
        (1, "major", "At an early hour the scarlet boat departed from Oslo."),
    ]


def test_orders_count_pairs_of_a_group_and_ties_are_wrong(scripts: Any) -> None:
    """Texts of two groups are never compared, and the reference's own text is a base only."""
    texts = scripts.groups.texts_of([GROUP, GROUP])
    first = [1.0, 0.9, 0.5, 0.8, 0.8, 0.4, 0.3]
    figures = dict(scripts.groups.order_figures(texts, np.array([*first, *(-np.array(first))])))
    assert figures["acceptable above critical"] == 50.0  # one of two, then the other
    assert figures["acceptable above major"] == 50.0
    assert figures["acceptable above minor"] == 0.0  # twice a tie
    assert figures["acceptable above near critical"] == 50.0
    assert figures["own base above critical"] == 50.0
    assert figures["own base above minor"] == 0.0
    assert figures["mean score, acceptable"] == pytest.approx(0.0)


@pytest.mark.parametrize(
    "number, error, right",
    [
        (1, listed(("blue", 4)), True),
        (1, listed(("boat", 9)), False),
        (1, listed(None, ("red", 4)), True),
        (1, listed(None, ("boat", 8)), False),
        (2, listed(None, ("early", 18)), True),  # an omission of the reference's own text
        (2, listed(("left", 13)), True),  # the words beside an omission
        (2, listed(("boat", 8)), False),
        (3, listed(("early", 6)), False),  # nothing is wrong in an acceptable text
        (4, listed(("boat", 21)), True),
        (4, listed(None, ("red", 4)), False),  # another word than the omitted one
        (4, listed(None, ("scarlet", 4)), True),  # a content word that it shares with the omitted one
        (5, listed(None, ("left", 13)), False),  # no omission, so the reference does not count
        (6, listed(("departed", 34)), False),  # white space before an addition belongs to nothing
        (6, listed(("Oslo", 48)), True),
    ],
)
def test_the_place_of_a_listed_error(scripts: Any, number: int, error: ErrorSpan, right: bool) -> None:
    """It overlaps the wrong characters, touches an omission, or is at the right ones of the reference where these are known."""
    assert scripts.groups.is_at(scripts.groups.texts_of([GROUP])[number], error) is right


def test_the_heaviest_error_in_place_has_severity_and_type(scripts: Any) -> None:
    """Errors elsewhere do not count, and neither do differences that are not counted."""
    texts = scripts.groups.texts_of([GROUP])
    blue, boat = listed(("blue", 4)), listed(("boat", 9), confidence=0.1)
    light = listed(("blue", 4), severity="minor", type_="noun", weight=1.0)
    none = listed(("boat", 21), severity="none", weight=0.0)
    errors = [[], [light, blue, boat], [], [listed(("hour", 12), severity="major"), none], [none], [], []]
    figures = dict(scripts.groups.explanation_figures(texts, errors))
    assert figures["errors listed in an acceptable text"] == 1.0
    assert figures["acceptable texts with a major or critical error"] == 100.0
    assert figures["place found, critical"] == 50.0
    assert figures["place found, minor"] == figures["place found, major"] == 0.0
    assert figures["severity right where found, critical"] == figures["type right where found"] == 100.0
    assert math.isnan(figures["severity right where found, minor"])
    assert figures["confidence 0.8 to 1.0, errors"] == 3.0
    assert figures["confidence 0.8 to 1.0, true"] == pytest.approx(200 / 3)
    assert figures["confidence 0.0 to 0.2, true"] == 0.0


def test_reliability_of_certain_and_of_no_errors(scripts: Any) -> None:
    """A confidence of 1 is in the last bin, and without errors nothing is known."""
    figures = dict(scripts.groups.reliability([(1.0, True), (0.0, False)]))
    assert figures["confidence 0.8 to 1.0, errors"] == figures["confidence 0.0 to 0.2, errors"] == 1.0
    assert figures["expected calibration error"] == 0.0
    assert math.isnan(dict(scripts.groups.reliability([]))["expected calibration error"])


def test_auc_compares_within_groups(scripts: Any) -> None:
    """A tie is half, a group with one label counts nothing, and without comparisons there is no figure."""
    auc = scripts.free.auc_within
    assert auc([1, 0, 1, 0, 1], [0.9, 0.1, 0.5, 0.5, 0.0], ["a", "a", "b", "b", "c"]) == 75.0
    assert auc([1, 0, 0, 1], [0.2, 0.1, 0.3, 0.4], [""] * 4) == 75.0
    assert math.isnan(auc([1, 1], [0.1, 0.2], ["a", "a"]))


def test_samples_are_the_same_every_time(scripts: Any) -> None:
    """In order, none twice, and all where there are fewer."""
    found = scripts.free.sample(range(100), 10)
    assert found == scripts.free.sample(range(100), 10) == sorted(set(found)) and len(found) == 10
    assert scripts.free.sample("abc", 10) == scripts.free.sample("abc", None) == list("abc")
    assert [scripts.free.smaller(9, *given) for given in ((None, False), (3, False), (None, True))] == [9, 3, None]


def test_marks_are_averaged_over_raters(scripts: Any) -> None:
    """Minor 1, major 5, critical 10; the references are no outputs."""

    def row(system: str, rater: str, *severities: str) -> dict[str, Any]:
        errors = [{"severity": severity} for severity in severities]
        return {"segment": "s", "system": system, "rater": rater, "references": ["r"], "hypothesis": "h", "errors": errors}

    rows = [row("one", "a", "minor", "major"), row("one", "b", "Critical"), row("refB", "a"), row("two", "a")]
    segments = scripts.free.marked_segments(rows)
    assert [(segment.system, segment.ratings["mqm"]) for segment in segments] == [("one", -8.0), ("two", 0.0)]

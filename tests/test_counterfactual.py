"""What if: errors dropped and hypotheses edited; laws over random errors, and the metric itself where its models are the point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rome.combining.combiner import Combiner
from rome.exceptions import InputError, SignatureMismatchError
from rome.features.values import FEATURES
from rome.results.segment import COUNTERFACTUAL, Change

from scored_segments import error, net, scored

WEIGHTS = st.lists(st.floats(0.05, 40.0), min_size=1, max_size=7)


def weighted(weights: Sequence[float]) -> object:
    return scored(errors=[error(w, hypothesis=f"dog{n}") for n, w in enumerate(weights)])


@settings(deadline=None, max_examples=50)
@given(WEIGHTS)
def test_without_all_errors_the_component_is_one(weights: list[float]) -> None:
    """Nothing is left to punish: errors 1, raw 0, and the score is the net's there."""
    segment = weighted(weights)
    found = segment.counterfactual(without=range(len(weights)))
    assert (found.after.components.errors.value, found.after.components.errors.raw) == (1.0, 0.0)
    assert found.score == net().score_rows(np.array([[0.8, 0.7, 0.9, 1.0]]))[0]
    assert found.dropped == segment.evidence.errors.errors


@settings(deadline=None, max_examples=50)
@given(WEIGHTS)
def test_gains_and_losses_agree(weights: list[float]) -> None:
    """Each mistake that cost something gains something; a heavier one cost and gains at least as much; losses and contributions add up."""
    segment = weighted(weights)
    losses = [loss for loss in segment.losses if loss.error]
    found = [segment.counterfactual(without=loss.error) for loss in losses]
    gains = [one.difference for one in found]
    assert all(tuple(one.components)[:3] == (0.0, 0.0, 0.0) for one in found)
    assert all(sum(one.contributions) == pytest.approx(one.difference, abs=1e-9) for one in found)
    assert all(gain >= 0.0 >= loss.loss for gain, loss in zip(gains, losses, strict=True))
    assert (np.diff([loss.error.weight for loss in losses]) <= 0.0).all() and (np.diff(gains) <= 1e-12).all()
    assert sum(loss.loss for loss in segment.losses) == pytest.approx(segment.score - 1.0, abs=1e-9)


@settings(deadline=None, max_examples=50)
@given(WEIGHTS, st.data())
def test_one_after_the_other_equals_both(weights: list[float], data: st.DataObject) -> None:
    """Dropping errors in two steps ends where dropping them at once does."""
    dropped = sorted(data.draw(st.sets(st.integers(0, len(weights) - 1), min_size=1)))
    segment = weighted(weights)
    together = segment.counterfactual(without=dropped)
    step = segment
    for place in reversed(dropped):
        step = step.counterfactual(without=place).after
    assert step.score == pytest.approx(together.score, abs=1e-9)
    assert step.evidence.errors.errors == together.after.evidence.errors.errors


def test_the_formula_is_the_estimators() -> None:
    """The errors feature itself, given fewer errors, says what the counterfactual says."""
    from rome.features.errors.errors import Errors

    from handmade import analysis, prepared, saying

    reference, hypothesis = "the cat sleeps on a mat", "the dog sleeps on a mat"
    pair = prepared(analysis(reference)), prepared(analysis(hypothesis))
    errors = [error(4.5), error(10.0, hypothesis="cow"), error(0.7, hypothesis="pig"), error(0.01, hypothesis="fly")]
    whole, less = (Errors(saying(0.0))._component(*pair, part, 0.0) for part in (errors[:3], [errors[0], *errors[2:3]]))
    segment = scored(reference=reference, hypothesis=hypothesis, errors=errors[:3])
    assert (segment.components.errors.value, segment.components.errors.raw) == (whole.value, whole.raw)
    after = segment.counterfactual(without=errors[1]).after.components.errors
    assert (after.value, after.raw) == (pytest.approx(less.value, rel=1e-12), pytest.approx(less.raw, rel=1e-12))


def test_errors_are_named_by_place_or_by_value() -> None:
    """A place, a span, or several of both; equal spans are two errors, and each may be named."""
    twin = error(2.0)
    segment = scored(errors=[twin, error(1.0, hypothesis="cow"), twin])
    assert segment.counterfactual(without=0).score == segment.counterfactual(without=twin).score
    assert segment.counterfactual(without=[twin, twin]).score == segment.counterfactual(without=np.array([0, 2])).score
    assert segment.counterfactual(without=[0, twin]).dropped == (twin, twin)


@pytest.mark.parametrize(
    ("without", "message"),
    [
        ((), "names no error"),
        (2, "2 is not an error of this segment, which has 2"),
        (None, "not an error of this segment"),
        ([0, 0], "0 is .* named twice"),
        (error(3.3), "not an error of this segment"),
    ],
)
def test_what_is_no_error_is_refused(without: object, message: str) -> None:
    """The error names the segment and what was given."""
    with pytest.raises(InputError, match=f"segment 0: .*{message}"):
        weighted([2.0, 1.0]).counterfactual(without=without)  # type: ignore[arg-type]


def test_segments_that_cannot_be_computed_anew_are_refused() -> None:
    """Stored numbers have no errors; an empty hypothesis has the full count by definition; errors that do not add up are another's."""
    with pytest.raises(InputError, match="no evidence"):
        scored(evidence=False).counterfactual(without=0)
    with pytest.raises(InputError, match="empty hypothesis"):
        scored(hypothesis="", errors=[error(5.0, "missing", hypothesis=None)]).counterfactual(without=0)
    whole = weighted([2.0])
    wrong = replace(whole, components=replace(whole.components, errors=replace(whole.components.errors, value=0.5)))
    with pytest.raises(InputError, match="do not add up"):
        wrong.counterfactual(without=0)


def test_only_the_net_that_made_the_score_will_do() -> None:
    """Another net, another signature, or another score: the error says to give combiner=; the right net is taken."""
    embedded = net()
    other = replace(embedded, output_bias=embedded.output_bias + 0.5)
    segment = weighted([2.0])
    with pytest.raises(InputError, match="combiner must be the net"):
        segment.counterfactual(without=0, combiner=other)
    foreign = replace(
        segment,
        score=float(other.score_rows(np.array([[c.value for c in segment.components]]))[0]),
        signature=segment.signature.replace(embedded.signature, other.signature),
    )
    with pytest.raises(InputError, match="the net of its model set must be the net.*give combiner="):
        foreign.counterfactual(without=0)
    assert foreign.counterfactual(without=0, combiner=other).difference > 0
    with pytest.raises(InputError, match="gives another score"):
        replace(segment, score=segment.score - 0.1).counterfactual(without=0)


def test_a_supervised_score_takes_the_supervised_net() -> None:
    """The signature says which of the set's nets it was."""
    supervised = Combiner.load(scorer="supervised")
    segment = weighted([2.0])
    score = float(supervised.score_rows(np.array([[c.value for c in segment.components]]))[0])
    segment = replace(segment, score=score, signature=f"features:2|{supervised.signature}")
    assert segment.counterfactual(without=0).score >= score


def test_a_counterfactual_says_that_it_was_not_measured() -> None:
    """Its segment has a flag, once, and the texts stay."""
    once = weighted([2.0, 1.0]).counterfactual(without=0).after
    assert (once.flags, once.counterfactual(without=0).after.flags) == ((COUNTERFACTUAL,), (COUNTERFACTUAL,))
    assert once.hypothesis == weighted([2.0]).hypothesis


def test_errors_come_and_go() -> None:
    """What moved in the hypothesis is the same error; what is new came, what is gone went; equal ones are counted."""
    shared, moved = error(2.0), replace(error(2.5), hypothesis=replace(error(2.5).hypothesis, start=9, end=12))
    before = scored(errors=[shared, error(3.0, hypothesis="cow"), error(2.6)])
    after = scored(hypothesis="A dog sleeps.", errors=[error(2.0), error(1.0, "missing", "mat", None), moved])
    change = Change(before, after)
    assert [e.hypothesis.text for e in change.went] == ["cow"]
    assert [e.reference.text for e in change.came] == ["mat"]
    assert Change(before, before).went == Change(before, before).came == ()
    assert Change(before, scored(evidence=False)).came == ()


def test_a_change_adds_up() -> None:
    """Differences are after minus before; those of the contributions add up to the score's; going back has the other sign."""
    before, after = weighted([3.0]), scored(hypothesis="A cat sleeps.", values=(0.9, 0.4, 0.95))
    there, back = Change(before, after), Change(after, before)
    assert there.difference == after.score - before.score == -back.difference
    assert sum(there.contributions) == pytest.approx(there.difference, abs=1e-9)
    assert there.components.syntax == pytest.approx(-0.3)
    assert there.to_dict()["components"]["syntax"]["difference"] == there.components.syntax
    assert set(there.to_dict()["contributions"]) == set(FEATURES)


def test_two_references_or_two_metrics_do_not_compare() -> None:
    """Differences mean something only against one reference, measured in one way."""
    with pytest.raises(InputError, match="different references"):
        Change(scored(), scored(reference="Another one."))
    with pytest.raises(SignatureMismatchError, match="models: hand in before, other in after"):
        Change(scored(), replace(scored(), signature=scored().signature.replace("hand", "other")))


def test_text_shows_every_number_and_the_errors() -> None:
    """Components and contributions before and after, and the errors by weight; slight ones are counted."""
    before = scored(errors=[error(3.0), *[error(0.1, hypothesis=f"w{n}") for n in range(3)]])
    lines = str(Change(before, scored(hypothesis="A cat sleeps."))).splitlines()
    start = lines.index("before     The dog sleeps on the mat.")
    assert lines[start + 1] == "after      A cat sleeps." and "What moved the points" in lines[:start]
    went = '   3.000  major replacement: noun "cat" -> "dog"  (reference 4-7, hypothesis 4-7; confidence 0.700)'
    slight = "  differences not counted: cat -> w0, cat -> w1, cat -> w2"
    start = lines.index("Errors that went")
    assert lines[start : start + 6] == ["Errors that went", went, slight, "", "Errors that came", "  None."]
    text = str(before.counterfactual(without=[0, 1]))
    assert f"Without these errors\n{went}\n  differences not counted: cat -> w0\n" in text
    assert "before  " not in text.split("\n\n")[2]


def test_the_metric_answers_what_if() -> None:
    """With the models: dropping every error of a wrong number brings it near the identical text; the edited text is scored anew."""
    from rome.metric import RoMe

    metric, reference = RoMe(progress=False, threads=1), "Shakespeare wrote the play Macbeth in 1606."
    segment = metric.score(references=[reference], hypotheses=["Shakespeare wrote the play Macbeth in 1906."])[0]
    heaviest = max(segment.evidence.errors.errors, key=lambda e: e.weight)
    assert segment.counterfactual(without=heaviest).difference > 0.1
    change = metric.what_if(segment, hypothesis=reference)
    assert heaviest in change.went
    assert change.score == metric.score(references=[reference], hypotheses=[reference])[0].score

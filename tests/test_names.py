"""Other tools' names for arguments: a TypeError that names the right one."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

import rome
from rome.checks import SYNONYMS, meant
from rome.integrations.frames import score_frame
from rome.integrations.running import RunningScore
from rome.results import CorpusScore

METRIC = rome.RoMe(models="small")
A = ["A cat."]
MISUSES: list[tuple[Callable[[], object], str]] = [
    (lambda: rome.RoMe(model="small"), r"^RoMe\(\) has no argument model: did you mean models\?"),
    (lambda: rome.RoMe("small"), r"^RoMe\(\) takes its arguments by name: write models=, "),
    (lambda: rome.RoMe(lang="en"), r"no argument lang: it takes models, "),
    (lambda: METRIC.score(predictions=A, references=A), r"^RoMe.score\(\) has no argument predictions: did you mean hyp"),
    (lambda: METRIC.score(preds=A, target=A), r"no argument preds, target: did you mean hypotheses, references\?"),
    (lambda: METRIC.score(candidates=A, refs=A), r"no argument candidates, refs: did you mean hypotheses, references\?"),
    (lambda: METRIC.score(A, A), r"by name: write references=, hypotheses="),
    (lambda: METRIC.score(references=A), "missing 1 required keyword-only argument: 'hypotheses'"),
    (lambda: METRIC.features(refrences=A, hypotheses=A), r"did you mean references\?"),
    (lambda: METRIC.what_if(None, prediction="A."), r"did you mean hypothesis\?"),
    (lambda: RunningScore(METRIC).update(hypotheses=A, references=A), r"did you mean predictions\?"),
    (lambda: score_frame(None, prediction="mt"), r"did you mean hypothesis\?"),
    (lambda: rome.compare(CorpusScore(()), CorpusScore(()), name=("a", "b")), r"did you mean names\?"),
]


@pytest.mark.parametrize(("call", "message"), MISUSES)
def test_a_wrong_argument_leads_to_the_right_one(call: Callable[[], object], message: str) -> None:
    """Nothing is loaded; the signature that editors show stays the function's own."""
    with pytest.raises(TypeError, match=message):
        call()
    assert list(inspect.signature(METRIC.score).parameters) == ["references", "hypotheses"]


def test_each_word_of_the_field_is_in_one_group() -> None:
    """So a word never means two things; case, hyphens and underscores do not count, and far words mean nothing."""
    words = [word for group in SYNONYMS for word in group]
    assert len(words) == len(set(words))
    assert meant("Ground-Truth", ["src", "Ref", "mt"]) == "Ref" and meant("src", ["reference", "hypothesis"]) is None


def test_a_segment_beyond_the_last() -> None:
    """The message says how many there are; a slice is empty, as that of a list."""
    with pytest.raises(IndexError, match="there is no segment 5: the result has 0"):
        CorpusScore(())[5]
    assert len(CorpusScore(())[5:]) == 0

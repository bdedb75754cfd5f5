"""`RoMe.analyse` has a door like `RoMe.score`: what the one refuses, the other refuses; and a long text, which only scores are made of."""

from __future__ import annotations

from typing import Any

import pytest

from rome.checks import check_texts
from rome.exceptions import InputError
from rome.features.windows import MOST_CHARACTERS, MOST_WORDS
from rome.metric import RoMe

REFUSED = {
    "a bare string": "texts is a bare string: put it in a list",
    None: "texts is None: give a list",
    ("a", None): r"texts\[1\] is None, not a text",
    (b"a",): r"texts\[0\] is of type bytes, not a text: decode it first",
    ("a", "b\ud800"): r"texts\[1\] has a lone surrogate \(U\+D800\) at character 1",
    ("b", "a" * (MOST_CHARACTERS + 1)): r"texts\[1\] has more than 2,500 words and marks, or 20,000 characters: give",
    ("cat " * (MOST_WORDS + 1),): r"texts\[0\] has more than 2,500 words and marks",
}


@pytest.mark.parametrize(("texts", "says"), REFUSED.items(), ids=[says[:30] for says in REFUSED.values()])
def test_what_cannot_be_scored_is_not_analysed(texts: Any, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text's number and the remedy, before a model is loaded."""
    metric = RoMe(progress=False)
    monkeypatch.setattr(metric._analyses, "of", lambda _: pytest.fail("it was analysed"))
    with pytest.raises(InputError, match=says):
        metric.analyse(texts)


def test_everything_else_passes_unchanged() -> None:
    """Empty and blank texts, no texts at all, any listing of them."""
    assert check_texts([]) == []
    assert check_texts(("", " \n", "The cat sat.")) == ["", " \n", "The cat sat."]
    assert check_texts(iter("ab")) == ["a", "b"]

"""Test signatures in sacreBLEU's style."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rome
from rome.integrations.sacrebleu import format_score, format_signature
from rome.results import CorpusScore


@pytest.mark.parametrize(
    ("references", "first"),
    [
        (["a", "b"], "nrefs:1|"),
        ([["a", "b"], ["c", "d"]], "nrefs:2|"),
        ([["a", "b"], "c"], "nrefs:var|"),
        ([["a"], "b"], "nrefs:1|"),
        (None, ""),
    ],
)
def test_signature_and_score(make_segment: Callable[..., Any], references: Any, first: str) -> None:
    """Write the number of references before the stored signature and the version behind it; a score has as many decimals as given."""
    own = CorpusScore((make_segment(0, score=0.25), make_segment(1, score=0.5)), "features:2|net:abc")
    expected = f"{first}features:2|net:abc|version:{rome.__version__}"
    assert format_signature(own, references=references) == expected
    assert format_score(own, references=references, width=2) == f"RoMe|{expected} = 0.38 0.90/0.67/0.88/0.77"

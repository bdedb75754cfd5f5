"""Signatures as sacreBLEU prints them: nothing of the stored string changes, short and long say the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rome
from rome.exceptions import InputError
from rome.integrations.columns import default_metric
from rome.integrations.sacrebleu import SHORT, format_score, format_signature, parse_signature, reference_count
from rome.metric import RoMe
from rome.results import CorpusScore


def result(make_segment: Callable[..., Any], signature: str) -> CorpusScore:
    return CorpusScore((make_segment(0, score=0.25), make_segment(1, score=0.5)), signature)


def test_the_stored_signature_stands_in_the_long_one(make_segment: Callable[..., Any]) -> None:
    """nrefs before it, the version behind it, and the stored string between them, unchanged."""
    stored = default_metric().signature
    own = result(make_segment, stored)
    assert format_signature(own, references=["a", "b"]) == f"nrefs:1|{stored}|version:{rome.__version__}"
    assert format_signature(own) == f"{stored}|version:{rome.__version__}"


@pytest.mark.parametrize("scorer", ["unsupervised", "supervised"])
def test_short_and_long_say_the_same(make_segment: Callable[..., Any], scorer: Any) -> None:
    """Every key of a real signature has a short name of one or two letters, and the values are untouched."""
    own = result(make_segment, RoMe(scorer=scorer).signature)
    short, long = (format_signature(own, references=["a"], short=kind) for kind in (True, False))
    assert parse_signature(short) == parse_signature(long)
    assert len(short) < len(long)
    assert all(len(part.partition(":")[0]) <= 2 for part in short.split("|"))


def test_short_names_are_distinct() -> None:
    """No two keys share a short name, and none is another's long name."""
    assert len(set(SHORT.values())) == len(SHORT)
    assert not set(SHORT.values()) & set(SHORT)


def test_sacrebleu_names_its_own_keys_alike() -> None:
    """The keys that both have are shortened as sacreBLEU does it."""
    base = pytest.importorskip("sacrebleu.metrics.base")
    theirs = base.Signature({"num_refs": 1})._abbr
    assert {name: SHORT[name] for name in ("nrefs", "version")} == {name: theirs[name] for name in ("nrefs", "version")}
    assert not {SHORT[name] for name in SHORT if name not in theirs} & set(theirs.values())


@pytest.mark.parametrize(
    ("references", "count"),
    [(["a", "b"], "1"), ([["a", "b"], ["c", "d"]], "2"), ([["a", "b"], "c"], "var"), ([["a"], "b"], "1")],
)
def test_references_are_counted(references: Any, count: str) -> None:
    """A number where all segments have as many, else var."""
    assert reference_count(references) == count


def test_one_line_for_a_paper(make_segment: Callable[..., Any]) -> None:
    """Signature, score and the four features with as many decimals as asked for."""
    line = format_score(result(make_segment, "features:2|net:abc"), references=["a", "b"], short=True, width=2)
    assert line == f"RoMe|#:1|f:2|n:abc|v:{rome.__version__} = 0.38 0.90/0.67/0.88/0.77"


def test_what_is_no_signature_is_refused() -> None:
    """No key, or no colon; an empty one has no parts."""
    assert parse_signature("") == {}
    for wrong in ("features", ":2|net:a", "net:a|b"):
        with pytest.raises(InputError, match="signature must be key:value"):
            parse_signature(wrong)
    with pytest.raises(InputError, match="references must contain"):
        reference_count([])

"""Annotated groups: every mark becomes one error at its exact place, and a text with it is what the annotator wrote."""

from __future__ import annotations

import json

import pytest

from rome.data.readers.groups import (
    HELD_DOMAIN,
    AnnotatedText,
    is_held_out_group,
    is_held_out_paws,
    is_held_out_summary,
    parse_marks,
    read_groups,
)
from rome.exceptions import InputError
from rome.features.errors.evidence import TYPES
from rome.train.errors.sources import FURTHER, OWN_GROUPS, training_groups


def test_a_mark_is_one_error_at_its_place():
    """Offsets are those of the acceptable text, and each alternative is an error of its own."""
    text = parse_marks("It {rose=>fell|critical|antonym||rises|minor|tense} by 5 %{=>, they say|major|addition}.")
    assert text.text == "It rose by 5 %."
    assert [text.with_errors(error) for error in text.errors] == [
        "It fell by 5 %.",
        "It rises by 5 %.",
        "It rose by 5 %, they say.",
    ]
    assert [(error.severity, error.type) for error in text.errors] == [
        ("critical", "antonym"),
        ("minor", "tense"),
        ("major", "addition"),
    ]
    assert all(text.text[error.start : error.end] == error.right for error in text.errors)


def test_errors_combine_whatever_their_order():
    """Several errors of one text do not move each other."""
    assert parse_marks("Nothing to see.") == AnnotatedText("Nothing to see.", ())
    text = parse_marks("{A=>The|minor|article} dog {barked=>slept|critical|verb}.")
    assert text.with_errors(*text.errors) == text.with_errors(*reversed(text.errors)) == "The dog slept."


@pytest.mark.parametrize("mark", ["{a=>b}", "{a=>b|bad|noun}", "{a=>a|minor|noun}", "{a}", None])
def test_an_unreadable_group_names_its_line(tmp_path, mark):
    """File, line, and what is wrong: the mark, or a missing key. A group without a reference has its first text."""
    path = tmp_path / "groups.jsonl"
    row = {"id": "1", "domain": "d", "reference": "r", **({"texts": ["r", mark]} if mark else {})}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="groups.jsonl.*1.*cannot be read" if mark else "needs id, domain and texts"):
        list(read_groups(path))
    path.write_text(json.dumps({"id": "1", "domain": "d", "texts": ["{A=>The|minor|article} dog."]}), encoding="utf-8")
    assert [group.reference for group in read_groups(path)] == ["A dog."]


def test_the_groups_of_the_package_are_whole() -> None:
    """Each begins with its reference, has rewrites that differ from it, and only types that the reader knows; no error leaves a text as it was."""
    groups = [group for path in OWN_GROUPS.glob("*.jsonl*") for group in read_groups(path)]
    assert len({group.id for group in groups}) == len(groups) > 1000
    apart = [{group.id for group in training_groups(name)} for name in ("groups", FURTHER)]
    assert apart[0].isdisjoint(apart[1]) and {group.id for group in groups} <= apart[0] | apart[1]
    for group in groups:
        texts = [text.text for text in group.texts]
        assert texts[0] == group.reference and len(set(texts)) == len(texts) > 1
        for text in group.texts:
            assert all(error.type in TYPES and text.with_errors(error) != text.text for error in text.errors)


def test_the_same_items_are_held_out():
    """Hashes choose a tenth of the groups and half of the pairs, by the longest word of a sentence; summaries go by domain."""
    assert 150 < sum(is_held_out_group(f"w{n:03}") for n in range(2000)) < 250
    words = [f"longestword{n:04}" for n in range(2000)]
    held = [is_held_out_paws({"a": f"The {word} is near."}) for word in words]
    assert 900 < sum(held) < 1100
    assert held == [is_held_out_paws({"a": f"Near is the {word.title()}!"}) for word in words]
    assert isinstance(is_held_out_paws({"a": ""}), bool)
    assert is_held_out_summary({"domain": HELD_DOMAIN}) and not is_held_out_summary({"domain": "scitldr"})

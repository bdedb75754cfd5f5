"""The benchmarks of speed: clocks, texts, growth and the page by hand-made values, and the one command that runs them all, small."""

from __future__ import annotations

import importlib
import math
import platform
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

TOP = Path(__file__).parents[1]
NAMES = (
    "speed_texts",
    "stages",
    "scaling_parts",
    "peer_models",
    "peers",
    "report",
    "report_page",
    "result_rows",
    "laws",
)


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The scripts as modules, by name."""
    for package in ("torch", "sacrebleu", "matplotlib"):
        pytest.importorskip(package, reason="needs the extra evaluate")
    monkeypatch.syspath_prepend(str(TOP / "benchmarks"))
    return SimpleNamespace(**{name: importlib.import_module(name) for name in NAMES})


def test_stages_are_those_of_the_set_and_precision_asked_for(
    scripts: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The metric is made so, and the table says so."""
    made: list[dict[str, Any]] = []

    def metric(**options: Any) -> Any:
        made.append(options)
        return SimpleNamespace(score=lambda **_: None)

    monkeypatch.setattr(scripts.stages, "RoMe", metric)
    where = ("--pairs", "2", "--before", "1", "--output", str(tmp_path / "stages.tsv"))
    for words, expected in (((), ("base", "float32")), (("--models", "small", "--precision", "int8"), ("small", "int8"))):
        assert scripts.stages.main([*where, *words]) == 0
        assert (made[-1]["models"], made[-1]["precision"], made[-1]["threads"]) == (*expected, 1)
        (note, *_), _ = scripts.result_rows.read_rows(tmp_path / "stages.tsv")
        assert f"{expected[0]} in {expected[1]}; 2 pairs" in note


def test_stages_add_up_to_the_whole(scripts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a stage calls is taken from its own time, also after an error; methods are put back; a stage that is not there is named."""
    now, work = [0.0], ModuleType("work_of_a_test")
    monkeypatch.setitem(sys.modules, "work_of_a_test", work)
    monkeypatch.setattr(scripts.stages, "time", SimpleNamespace(perf_counter=lambda: now[0]))

    class Outer:
        def run(self, seconds: float, wrong: bool = False) -> None:
            now[0] += seconds
            vars(work)["inner"](2.0, wrong)
            now[0] += seconds

    def inner(seconds: float, wrong: bool) -> None:
        now[0] += seconds
        if wrong:
            raise ValueError("on purpose")

    vars(work).update(Outer=Outer, inner=inner)
    stage = scripts.stages.Stage
    known = (
        stage("outer", "pair", ("work_of_a_test:Outer.run",)),
        stage("inner", "text", ("nowhere:x", "work_of_a_test:inner")),
    )
    gone = stage("gone", "pair", ("work_of_a_test:Outer.stop", "work_of_a_test:Nobody.run"))
    with scripts.stages.clock((*known, gone)) as counting:
        Outer().run(1.0)
        now[0] += 100
        with pytest.raises(ValueError, match="on purpose"):
            Outer().run(3.0, wrong=True)
    Outer().run(50.0)
    assert counting.seconds == {"outer": 5.0, "inner": 4.0} and counting.missing == ["gone"]
    assert vars(work)["inner"] is inner
    rows = scripts.stages.table(counting, [("a", "b"), ("a", "c")], (*known, gone))
    assert [row[:2] for row in rows] == [["outer", "pair"], ["inner", "text"], ["all of it", "pair"]]
    assert [row[2] for row in rows] == pytest.approx([2500, 4000 / 3, 4500]) and rows[0][3] + rows[1][3] == pytest.approx(100)


@pytest.mark.parametrize("data", (True, False))
def test_texts(scripts: Any, monkeypatch: pytest.MonkeyPatch, data: bool) -> None:
    """Pairs are distinct and about 25 words long, texts of a length have that length, and no two systems say the same, with and without WMT."""
    texts = scripts.speed_texts
    if not data:
        monkeypatch.setattr(texts, "_wmt", dict)
    elif not texts._wmt():
        pytest.skip("the WMT texts are not here")
    found = texts.pairs(200)
    assert len(set(found)) == 200 and len({text for pair in found for text in pair}) == 400
    assert 15 <= texts.mean_words(found) <= 30 and ("WMT" in texts.source()) == data
    for one in (True, False):
        long = texts.pairs_of_length(texts.all_pairs(), 60, 3, one_sentence=one)
        assert [len(reference.split()) for reference, _ in long] == [60] * 3 and len(set(long)) == 3
        assert all(40 <= len(hypothesis.split()) <= 60 for _, hypothesis in long)
    assert ". " in long[0][0] and ". " not in texts.pairs_of_length(texts.all_pairs(), 60, 1, one_sentence=True)[0][0]
    references, outputs = texts.systems(5, 30)
    assert len(references) == 5 and len({text for system in outputs for text in system} | set(references)) == 155


def test_growth(scripts: Any) -> None:
    """The exponent of a stage is that of its cost from 25 words on, fitted and at the end; a stage without cost has none."""
    lengths = (5, 25, 100, 400)
    rows = [["one", "square", n, 1, 7.0 if n == 5 else n**2] for n in lengths] + [["one", "none", n, 1, 0.0] for n in lengths]
    rows += [["one", "bent", n, 1, float(max(n, 100))] for n in lengths]
    square, none, bent = scripts.scaling_parts.growth(rows)
    assert square[:2] == ["one", "square"] and square[2:] == pytest.approx([2, 2, 160_000])
    assert none[2:] == [None, None, 0.0] and bent[2] == pytest.approx(0.5) and bent[3] == pytest.approx(1)


def test_what_takes_too_long_is_told_not_run(scripts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes beyond the budget follow from the largest that was measured, and are marked."""
    asked: list[int] = []
    monkeypatch.setattr(scripts.scaling_parts, "timed", lambda work: work() or asked[-1] * 0.5)
    rows = list(scripts.scaling_parts.by_number("x", (1000, 10, 20), asked.append, 10.0))
    assert asked == [10, 20] and [row[1] for row in rows] == [10, 20, 1000]
    assert [row[4] for row in rows] == ["measured", "measured", "extrapolated"]
    assert rows[-1][2:4] == [500.0, 500.0] and rows[-1][-1] is None


@pytest.fixture
def tiny(scripts: Any) -> Any:
    """The tokenizer of the peers, and their smallest size."""
    from rome.features.analyser.config import set_folder

    return scripts.peer_models.word_pieces(set_folder("small") / "encoder"), scripts.peer_models.TINY


def test_bertscore_peer(scripts: Any, tiny: Any) -> None:
    """The F1 in batches is that of a plain loop over the pieces of single texts, and a text against itself gets 1."""
    import torch

    metric = scripts.peer_models.BertScore(*tiny, batch=4)
    pairs = scripts.speed_texts.pairs(7) + [("A cat.", "A cat."), ("Dogs bark at night.", "No.")]
    found = metric.score([reference for reference, _ in pairs], [hypothesis for _, hypothesis in pairs])
    for (reference, hypothesis), f1 in zip(pairs, found, strict=True):
        with torch.no_grad():
            pieces = [tiny[0](text, return_tensors="pt", return_token_type_ids=False) for text in (reference, hypothesis)]
            r, h = (metric.model(**given).last_hidden_state[0] for given in pieces)
        cosines = [[float(torch.cosine_similarity(a, b, dim=0)) for b in r] for a in h]
        precision = sum(map(max, cosines)) / len(cosines)
        recall = sum(map(max, zip(*cosines, strict=True))) / len(cosines[0])
        assert f1 == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-5)
    assert found[-2] == pytest.approx(1, abs=1e-5)
    assert tiny[0].convert_ids_to_tokens(tiny[0]("a").input_ids) == ["[CLS]", "a", "[SEP]"]


def test_comet_peer(scripts: Any, tiny: Any) -> None:
    """A segment's score is its own, whatever stands in its batch, and depends on all three texts; the sizes are those of the models."""
    metric = scripts.peer_models.Comet(*tiny, batch=4)
    pairs = scripts.speed_texts.pairs(6)
    references, hypotheses = [r for r, _ in pairs], [h for _, h in pairs]
    together = metric.score(references[::-1], references, hypotheses)
    alone = [metric.score([s], [r], [h])[0] for s, r, h in zip(references[::-1], references, hypotheses, strict=True)]
    assert together == pytest.approx(alone, abs=1e-5) and len(set(together)) == 6
    assert metric.score(references, references, hypotheses) != pytest.approx(together, abs=1e-5)
    large = [scripts.peer_models.LARGE_17, scripts.peer_models.LARGE_24]
    assert [(s.layers, s.width, s.heads, s.inner) for s in large] == [(17, 1024, 16, 4096), (24, 1024, 16, 4096)]


def test_rounds_of_peers(scripts: Any) -> None:
    """In every round each metric takes that round's pairs, one metric after the other; what it is given before is not timed."""
    peers = scripts.peers
    told: list[tuple[str, int, str]] = []

    def noting(name: str) -> Any:
        return lambda given: told.append((name, len(given), given[0][0]))

    both = [
        peers.Contender("a", "small", "stored analyses", 3, noting("a"), noting("before a")),
        peers.Contender("b", "", "", 2, noting("b")),
    ]
    rates = peers.rounds(both, 2)
    assert [len(found) for found in rates] == [2, 2] and all(rate > 0 for found in rates for rate in found)
    assert [row[:2] for row in told[3:]] == [("before a", 3), ("a", 3), ("b", 2)] * 2
    first, second = {row[2] for row in told[3:6]}, {row[2] for row in told[6:]}
    assert len(first) == len(second) == 1 and first != second


def test_peers_are_compared_round_by_round(scripts: Any) -> None:
    """Ratios are medians of the rounds' own."""
    peers = scripts.peers
    names = (("RoMe", "base", "cold"), (peers.BERTSCORE, "", ""), (peers.COMET, "", ""))
    contenders = [peers.Contender(*name, 4, lambda given: None) for name in names]
    rows = peers.table(contenders, [[6.0, 8.0, 9.0], [2.0, 4.0, 1.0], [1.0, 1.0, 1.0]])
    assert rows[0] == ["RoMe", "base", "cold", 4, 8.0, 6.0, 9.0, 3.0, 8.0]
    assert rows[1][-2:] == [1.0, 2.0] and len(rows[0]) == len(peers.COLUMNS)


def test_aims(scripts: Any, tmp_path: Path) -> None:
    """An aim is met, missed, or unknown where the benchmark has not run; tables can be read back."""
    write, page = scripts.result_rows.write_rows, scripts.report_page
    assert scripts.result_rows.read_rows(tmp_path / "peers.tsv") == ([], [])
    columns = ("metric", "models", "mode", "pairs_per_second", "lowest", "highest", "times_bertscore", "times_comet")
    rows = [
        ["RoMe", "small", "cold", 50.0, 1.0, 70.0, 25.0, None],
        ["RoMe", "small", "cold, in processes", 59.0, 1.0, 70.0, 29.5, None],
        ["RoMe", "small", "stored analyses", 500.0, 1.0, 700.0, 250.0, None],
        ["BERTScore, large", "", "", 2.0, 1.0, 3.0, 1.0, None],
        ["chrF2", "", "", 1000.0, 1.0, 2000.0, 500.0, None],
    ]
    write(tmp_path / "peers.tsv", ["a note"], columns, rows)
    memory = [
        ["rome score --format tsv", 10, 40.0],
        ["rome score --format tsv", 100, 60.0],
        [f"{page.WITH} base, cold", 10, 900.0],
    ]
    write(tmp_path / "memory.tsv", ["peaks"], ("operation", "size", "peak_mib"), memory)
    path = page.write_page(tmp_path)
    text = path.read_text(encoding="utf-8")
    lines = {
        line.split(" | ")[0].strip("| "): line.strip(" |").split(" | ")[1:]
        for line in text.splitlines()
        if line.startswith("|")
    }
    assert lines["small: pairs a second, cold"] == ["59", ">= 60", "no"]
    assert lines["small: times as fast as BERTScore, roberta-large architecture"] == ["29.5", ">= 20", "yes"]
    assert lines["small: times as fast as COMET-22's architecture"] == ["–", ">= 10", "–"]
    assert lines["small: pairs a second, stored analyses"] == ["500", ">= 400", "yes"]
    assert lines["base: times as fast as BERTScore, roberta-large architecture"] == ["–", ">= 4", "–"]
    assert lines["largest peak over smallest, any size, without models"][::2] == ["1.5", "no"]
    assert lines["base: highest peak memory, MiB"] == ["900", "<= 1,431", "yes"]
    assert lines["small: highest peak memory, MiB"] == ["–", "<= 954", "–"]
    assert "- a note" in text and {file.name for file in tmp_path.glob("*.svg")} == {
        *("speed_peers.svg", "speed_memory_models.svg", "speed_memory_others.svg"),
    }


def test_the_machine_names_its_arithmetic(scripts: Any, tmp_path: Path) -> None:
    """The kinds by which speed differs most, as Linux lists them; elsewhere the kind of processor."""
    (tmp_path / "cpuinfo").write_text(
        "flags : fpu avx2 avx512f avx512_bf16\nflags : fpu avx2 avx512f avx512_bf16\n", encoding="utf-8"
    )
    assert scripts.result_rows.arithmetic_kinds(tmp_path / "cpuinfo") == "AVX2 and AVX512 and AVX512-BF16"
    assert scripts.result_rows.arithmetic_kinds(tmp_path / "absent") == platform.machine()
    assert scripts.result_rows.arithmetic_kinds() in scripts.result_rows.conditions()


def test_the_report_of_faults_is_one_command(scripts: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs faults, laws, hostile texts and the fuzzer, and puts their tables on one page; a benchmark that found something fails it."""
    ran: list[str] = []

    def one(words: list[str], check: bool) -> Any:
        ran.append(Path(words[1]).stem)
        if ran[-1] == "faults":
            (tmp_path / "faults.md").write_text("# Faults, and what each one cost\n", encoding="utf-8")
        else:
            scripts.result_rows.write_rows(Path(words[-1]), ["a note"], ("what", "broken"), [[ran[-1], 0]])
        return SimpleNamespace(returncode=int(ran[-1] == "fuzz"))

    monkeypatch.setattr(scripts.report.subprocess, "run", one)
    assert scripts.report.main(["--report", "faults", "--output", str(tmp_path)]) == 1
    page = (tmp_path / "fault_report.md").read_text(encoding="utf-8")
    assert tuple(ran) == scripts.report.FAULTS and page.count("\n## ") == 4 and page.count("| 0 |") == 3


def test_laws_are_counted(scripts: Any) -> None:
    """A number that differs, or is none, is a law broken, with how far; random steps through the nets break none."""
    expected = np.full((3, 5), 0.5)
    found = expected.copy()
    found[0, 1], found[1, 4] = 0.75, np.nan
    assert scripts.laws.compared("law", found, expected) == ("law", 3, 2, 1.0)
    assert scripts.laws.compared("law", expected, expected) == ("law", 3, 0, 0.0)
    assert [broken for *_, broken, _ in scripts.laws.steps()] == [0, 0]


def test_the_one_command(
    scripts: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`python benchmarks/report.py` runs every benchmark and shows every table and plot; README and site name the command.

    Each benchmark is called here instead of as a process of its own, so that torch and Stanza are imported once.
    """

    def called(command: list[str], check: bool) -> Any:
        assert command[0] == sys.executable
        monkeypatch.setattr("sys.argv", command[1:])
        return SimpleNamespace(returncode=importlib.import_module(Path(command[1]).stem).main())

    monkeypatch.setattr(scripts.report, "subprocess", SimpleNamespace(run=called))
    assert scripts.report.main(["--tiny", "--output", str(tmp_path)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in told if ": done after" in line] == list(scripts.report.BENCHMARKS)
    command = [sys.executable, str(TOP / "benchmarks" / "report.py"), "--only", "--output", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    page = (tmp_path / "speed_report.md").read_text(encoding="utf-8")
    assert page.count("\n## ") == 11
    pictures = {path.name for path in tmp_path.glob("*.svg")}
    assert len(pictures) == 8 and all(f"]({name})" in page for name in pictures)
    _, stages = scripts.result_rows.read_rows(tmp_path / "stages.tsv")
    assert len(stages) >= len(scripts.stages.STAGES) - 1, "stages are no longer measured: mend STAGES in benchmarks/stages.py"
    assert math.isclose(sum(float(row["share_percent"]) for row in stages[:-1]), 100, abs_tol=0.5)
    for text in (TOP / "docs" / "pages" / "figures.md", TOP / "docs" / "pages" / "blind_spots.md"):
        assert "`python benchmarks/report.py`" in text.read_text(encoding="utf-8")


def test_trying_never_replaces_results(scripts: Any, capsys: Any) -> None:
    """The smallest sizes are refused for the folder of the results."""
    with pytest.raises(SystemExit):
        scripts.report.main(["--tiny"])
    assert "--output" in capsys.readouterr().err

"""The trial of somebody who evaluates summaries, answers and translations: one story, from a file of outputs to a decision."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_readme import serve

import rome
from rome.cli import main
from rome.metric import RoMe

pandas = pytest.importorskip("pandas")
pytest.importorskip("torch")

SOURCES = ["The museum opens at nine.", "Prices are low.", "Children under six pay nothing.", "The tour lasts two hours."]
FAITHFUL = ["At nine, the museum opens.", "The prices are low.", "Children below the age of six are free.", "The tour takes two hours."]
WRONG = ["The museum opens at ten.", "Prices are high.", "Children under sixteen pay nothing.", "The tour lasts two hours and is free."]


@pytest.fixture(scope="module")
def metric() -> RoMe:
    """The small set, loaded once."""
    return RoMe(models="small", progress=False)


@pytest.fixture(scope="module")
def folder(metric: RoMe, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with columns of the user's own, and the scores of two systems."""
    folder = tmp_path_factory.mktemp("trial")
    frame = pandas.DataFrame({"gold": SOURCES, "faithful": FAITHFUL, "wrong": WRONG})
    frame.to_csv(folder / "outputs.tsv", sep="\t", index=False)
    for name in ("faithful", "wrong"):
        columns = ("--reference-column", "gold", "--hypothesis-column", name)
        form = ("--format", "jsonl", "--evidence", "--output", f"{folder}/{name}.jsonl")
        assert main(["score", f"{folder}/outputs.tsv", *columns, *form], metric=lambda _: metric) == 0
    return folder


def test_in_python_the_wrong_system_is_behind_and_says_why(metric: RoMe) -> None:
    """Score, both shares, and errors as a data frame."""
    good, bad = (metric.score(references=SOURCES, hypotheses=texts) for texts in (FAITHFUL, WRONG))
    assert good.score > bad.score and good.faithfulness > bad.faithfulness
    errors = bad.errors_to_dataframe()
    assert {"ten", "high"} <= {word for text in errors["hypothesis_text"].dropna() for word in text.split()}
    assert bad.to_dataframe()["critical_count"].sum() > good.to_dataframe()["critical_count"].sum()
    assert "ahead" in str(rome.compare(bad, good)) and rome.compare(bad, good).score.difference > 0.0


@pytest.mark.parametrize(("name", "code"), [("faithful", 0), ("wrong", 1)])
def test_the_gate_lets_the_right_system_pass(folder: Path, capsys: pytest.CaptureFixture[str], name: str, code: int) -> None:
    """Critical errors close it, and are shown."""
    assert main(["check", "--scores", f"{folder}/{name}.jsonl", "--max-critical", "0", "--ignore", "style"]) == code
    assert ("ten" in capsys.readouterr().out) == bool(code)


def test_comparison_report_and_explanation(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """From stored scores, without a model."""
    monkeypatch.chdir(folder)
    assert main(["compare", "wrong.jsonl", "faithful.jsonl"]) == 0
    assert "faithful minus wrong" in capsys.readouterr().out
    assert main(["report", "--scores", "wrong=wrong.jsonl", "faithful=faithful.jsonl", "--output", "report.html"]) == 0
    assert "<html" in (folder / "report.html").read_text(encoding="utf-8")
    assert main(["explain", "--from", "wrong.jsonl", "--worst", "1"]) == 0
    assert "critical" in capsys.readouterr().out


def test_other_metrics_people_and_mistakes(folder: Path, capsys: pytest.CaptureFixture[str], metric: RoMe) -> None:
    """Beside chrF in one table; against ratings; on perturbed texts."""
    pytest.importorskip("sacrebleu")
    columns = ("--reference-column", "gold", "--hypothesis-column", "wrong", "--metrics", "chrf", "--show", "reference")
    assert main(["score", f"{folder}/outputs.tsv", *columns], metric=lambda _: metric) == 0
    assert "chrf" in (shown := capsys.readouterr().out) and "opens at nine" in shown
    rows = [(n, name, text, made, rating) for name, side, rating in (("good", FAITHFUL, 5), ("bad", WRONG, 1))
            for n, (text, made) in enumerate(zip(SOURCES, side, strict=True))]  # fmt: skip
    ratings = pandas.DataFrame(rows, columns=["item", "system", "reference", "hypothesis", "rating"])
    ratings.to_csv(folder / "ratings.tsv", sep="\t", index=False)
    for line in (["evaluate", f"{folder}/ratings.tsv"], ["diagnose", "--texts", f"{folder}/texts.txt"]):
        (folder / "texts.txt").write_text("\n".join(SOURCES), encoding="utf-8")
        assert main([*line, "--metric", "rome", "chrf", "--samples", "20"], metric=lambda _: metric) == 0
        assert "chrf" in capsys.readouterr().out.lower()


def test_the_service_answers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of `rome serve` opens."""
    monkeypatch.chdir(folder)
    serve("serve", "--models", "small", "--port", "0")


def test_stored_features_are_scored_again_without_torch(folder: Path, metric: RoMe) -> None:
    """`rome rescore` gives the scores of the full installation."""
    path = folder / "features.parquet"
    pytest.importorskip("pyarrow")
    columns = ("--reference-column", "gold", "--hypothesis-column", "wrong")
    assert main(["features", f"{folder}/outputs.tsv", *columns, "--output", str(path)], metric=lambda _: metric) == 0
    program = "import sys; sys.modules['torch'] = None; from rome.cli import main; sys.exit(main(['rescore', sys.argv[1], '-f', 'jsonl']))"
    done = subprocess.run([sys.executable, "-I", "-c", program, path], capture_output=True, text=True, check=True)
    stored = [json.loads(line)["score"] for line in (folder / "wrong.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [json.loads(line)["score"] for line in done.stdout.splitlines()] == pytest.approx(stored, abs=1e-6)


def test_a_notebook_shows_a_segment(metric: RoMe, tmp_path: Path) -> None:
    """What a cell displays fits a narrow window of Chromium, with the words of the error."""
    sync = pytest.importorskip("playwright.sync_api")
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no Chromium")
    (segment,) = metric.score(references=SOURCES[:1], hypotheses=WRONG[:1])
    (tmp_path / "cell.html").write_text(f"<!doctype html><meta charset=utf-8>{segment._repr_html_()}", encoding="utf-8")
    with sync.sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"]).new_page(viewport={"width": 420, "height": 800})
        page.goto((tmp_path / "cell.html").as_uri())
        assert "completeness" in page.inner_text("body") and "nine" in page.inner_text("body")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

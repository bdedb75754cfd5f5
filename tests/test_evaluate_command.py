"""`rome evaluate` and `rome diagnose`: from files to tables and reports, with every fault named and nothing computed twice."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from rome.cli import main
from rome.data.sources import data_file
from rome.exceptions import InputError

from rated_sets import REFERENCES, ratings_file

PEERS = ["--metric", "chrf", "length", "--samples", "20", "--permutations", "5"]


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    return ratings_file(tmp_path / "ratings.tsv")


def test_figures_and_all_tables(ratings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The figures that were asked for, in that order; --all-tables prints the tests as well."""
    assert main(["evaluate", str(ratings), *PEERS, "--figure", "spearman/item", "pearson", "--all-tables"]) == 0
    shown = capsys.readouterr().out
    assert shown.index("spearman/item") < shown.index("pearson")
    assert "minus each other metric" in shown and "ranking 3 systems" in shown


def test_ratings_from_csv(ratings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same rows with commas or semicolons, a text with a comma in quotation marks, give the same table."""
    rows = [line.split("\t") for line in ratings.read_text(encoding="utf-8").splitlines()]
    rows = [[cell.replace("car", "car, a red one,") for cell in row] for row in rows]
    shown = []
    for mark, name in (("\t", "one/ratings.tsv"), (",", "two/ratings.csv"), (";", "three/ratings.csv")):
        path = tmp_path / name
        path.parent.mkdir()
        with path.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, delimiter=mark, lineterminator="\n").writerows(rows)
        assert main(["evaluate", str(path), *PEERS]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] == shown[2] and "agreement with people, quality" in shown[0]


def test_formats_and_output(ratings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--output is all or nothing and opened at once; tsv is the first table with every digit, json the main tables, html a whole page."""
    command = ["evaluate", str(ratings), *PEERS, "--dimension", "quality"]
    assert main([*command, "-o", str(tmp_path / "no" / "folder")]) == 2
    assert "cannot be written" in capsys.readouterr().err
    written = {}
    for form in ("text", "tsv", "json", "html"):
        assert main([*command, "-f", form, "-o", str(tmp_path / form)]) == 0
        written[form] = (tmp_path / form).read_text(encoding="utf-8")
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "")
    header, *rows = [line.split("\t") for line in written["tsv"].splitlines()]
    told = json.loads(written["json"])
    first = next(iter(told["tables"].values()))
    assert [row[header.index("metric")] for row in rows] == [row["metric"] for row in first["rows"]]
    assert written["html"].startswith("<!doctype html>") and first["title"] in written["text"]
    assert told["signatures"]["chrF2"].startswith("chrf:") and len(told["data"]) == 1
    assert main([*command, "-f", "json", "--all-tables"]) == 0
    assert len(json.loads(capsys.readouterr().out)["tables"]) > len(told["tables"])


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(REFERENCES) + "\n", encoding="utf-8")
    return path


def test_blind_spots_of_own_texts(texts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A metric that ignores case and punctuation is told so, with examples; one that counts characters is blind to swaps."""
    command = ["diagnose", "--texts", str(texts), "--metric", "rouge-2", "length", "--samples", "20", "--all-tables"]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "Where the metrics are blind" in shown
    spots = [line.split() for line in shown.splitlines() if line.startswith(("  ROUGE-2 ", "  length "))]
    assert ["ROUGE-2", "lowercased_text", "minor"] in [line[:3] for line in spots]
    assert ["length", "word_swap", "minor"] in [line[:3] for line in spots]
    assert "Perturbations of" in shown and "made" in shown


def test_robustness_of_own_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pairs keep their own references; a generic token costs more than nothing under chrF."""
    path = tmp_path / "pairs.tsv"
    path.write_text("reference\thypothesis\n" + "".join(f"{text}\t{text}\n" for text in REFERENCES), encoding="utf-8")
    assert main(["diagnose", "robustness", "--texts", str(path), "--metric", "chrf", "--samples", "20"]) == 0
    shown = capsys.readouterr().out
    assert "3 words by a generic token" in shown
    assert "Does the worse change cost more?" in shown


@pytest.mark.parametrize("experiment", ["drift", "ablation"])
def test_experiments_on_ratings(tmp_path: Path, experiment: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The experiments that fit a scorer run on a user's own ratings of RoMe's features and write their tables."""
    path = tmp_path / "many.tsv"
    rows = ["item\tsystem\treference\thypothesis\trating:quality\trating:brevity"]
    for n in range(12):
        reference = f"The {('red', 'old', 'small')[n % 3]} boat number {n} left the harbour at noon."
        for system, text, rating in (
            ("a", reference, 3),
            ("b", f"The boat number {n} left.", 2),
            ("c", "Harbour noon the at.", 1),
        ):
            rows.append(f"i{n}\t{system}\t{reference}\t{text}\t{rating}\t{-len(text)}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    words = ["--metric", "chrf", "--samples", "20", "--store", str(tmp_path / "store")]
    assert main(["diagnose", experiment, str(path), *words]) == 0 and (tmp_path / "store" / "analyses.sqlite").exists()
    assert "chrF2" in capsys.readouterr().out


def test_known_figures_are_reproduced(capsys: pytest.CaptureFixture[str]) -> None:
    """BAGEL with references: chrF tau .182/.078/.064 and BLEU .138/.104/.085; WMT15: chrF .585 and BERTScore roberta-large .769 mean
    Pearson, the latter from the published scores; each within 0.002."""
    try:
        data_file("human/bagel_references.jsonl.gz")
    except InputError as error:
        pytest.skip(str(error))
    command = ["evaluate", "bagel", "wmt15", "--metric", "chrf", "bleu", "--samples", "2", "--permutations", "0", "-f", "json"]
    assert main(command) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    named = {name.removesuffix("_leaderboard"): table["rows"] for name, table in tables.items()}
    found = {(name, str(row.get("metric"))): row for name, rows in named.items() for row in rows}
    taus = {
        ("informativeness", "chrF2"): 0.182,
        ("naturalness", "chrF2"): 0.078,
        ("quality", "chrF2"): 0.064,
        ("informativeness", "BLEU"): 0.138,
        ("naturalness", "BLEU"): 0.104,
        ("quality", "BLEU"): 0.085,
    }
    for (dimension, metric), wanted in taus.items():
        assert float(found[f"bagel_{dimension}", metric]["kendall_b"]) == pytest.approx(wanted, abs=0.002)
    assert float(found["wmt15_z", "chrF2"]["pearson/language_pair"]) == pytest.approx(0.585, abs=0.002)
    published = found["wmt15_z", "bertscore-roberta-large (published)"]
    assert float(published["pearson/language_pair"]) == pytest.approx(0.769, abs=0.002)

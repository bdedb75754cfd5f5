"""Readers of judged data, on small files in the released layouts, and the recipe that counts words."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from rome.cli import main
from rome.data.readers.demetr import read_demetr
from rome.data.readers.human import read_human
from rome.data.sources import data_folder
from rome.exceptions import InputError
from rome.features.idf import IdfTable


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROME_DATA", str(tmp_path))
    return tmp_path


def write(path: Path, rows: list[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def test_one_reference_or_several(folder: Path) -> None:
    """A single reference becomes a tuple of one; items of one segment and language pair share a group."""
    rows = [
        {"lp": "de-en", "segment": 1, "reference": "A b.", "hypothesis": "A c.", "scores": {"z": 0.5}},
        {"lp": "de-en", "segment": 1, "reference": ["A b.", "B a."], "hypothesis": "A d.", "scores": {"z": 0.1}},
    ]
    write(folder / "human" / "wmt15_da_to-en.jsonl.gz", rows)
    items = read_human("wmt15_da_to-en")
    assert [item.references for item in items] == [("A b.",), ("A b.", "B a.")]
    assert items[0].group == items[1].group
    assert items[0].pool == "de-en"


def test_mqm_is_the_weighted_count_averaged_over_raters(folder: Path) -> None:
    """Minor 1, major 5, a non-translation 25, at most 25 a rater, negative because higher is better."""
    errors = [
        {"category": "Accuracy/Mistranslation", "severity": "Major"},
        {"category": "Fluency/Grammar", "severity": "Minor"},
    ]
    nothing = [{"category": "Non-translation!", "severity": "Major"}, {"category": "Fluency/Grammar", "severity": "Minor"}]
    row = {
        "lp": "zh-en",
        "segment": 7,
        "reference": "A.",
        "hypothesis": "B.",
        "ratings": [{"errors": errors}, {"errors": nothing}],
    }
    write(folder / "human" / "wmt23_mqm_zh-en_spans.jsonl.gz", [row])
    assert read_human("wmt23_mqm_zh-en_spans")[0].scores == {"mqm": -(6 + 25) / 2}


def test_an_item_without_a_reference_is_named_by_its_line(folder: Path) -> None:
    """A wrong file cannot be missed: the line is in the message; so is an unknown set's name."""
    good = {"segment": 1, "reference": "A.", "hypothesis": "B.", "scores": {"quality": 3}}
    write(folder / "human" / "bagel_references.jsonl.gz", [good, {**good, "reference": []}])
    with pytest.raises(InputError, match="line 2"):
        read_human("bagel_references")
    with pytest.raises(InputError, match="choose one of"):
        read_human("wmt99")


def test_minimal_pairs(folder: Path) -> None:
    """Unchecked items are left out, an empty perturbed text stands for a full stop, and a file of another kind is refused."""
    row = {
        "id": 1,
        "eng_sent": "R.",
        "mt_sent": "T.",
        "pert_sent": "",
        "pert_check": True,
        "severity": "base",
        "pert_name": "base_id33_empty",
    }
    (folder / "demetr").mkdir()
    path = folder / "demetr" / "base_id33_empty.json"
    path.write_text(json.dumps([row, {**row, "pert_check": False}]))
    assert [(p.kind, p.translation, p.perturbed) for p in read_demetr()] == [("base_id33_empty", "T.", ".")]
    path.write_text(json.dumps([{**row, "pert_name": "minor_id1_repeat2"}]))
    with pytest.raises(InputError, match="minor_id1_repeat2"):
        read_demetr()


def test_missing_data_names_the_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the data is absent the message says which variable to set."""
    monkeypatch.setenv("ROME_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="ROME_DATA"):
        data_folder()


def test_train_idf_counts_texts_not_words(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`rome train idf`: a word counts once a text, contractions are split, rare words are left out, and a card is written."""
    write(
        folder / "text" / "wikipedia_sentences.jsonl.gz", [{"text": "The the cat don't sit."}, {"text": "The dog don't sit."}]
    )
    segments = [{"lp": "de-en", "segment": 1, "reference": ["The cat ran."], "outputs": {}}]
    for year in ("wmt22", "wmt23"):
        write(folder / "text" / f"{year}_to_en_outputs.jsonl.gz", segments)
    assert main(["train", "idf", "--out", str(folder / "idf")]) == 0
    table = IdfTable.load(folder / "idf" / "idf.parquet")
    assert table.documents == 3
    assert (table.counts["the"], table.counts["n't"], table.counts["cat"]) == (3, 2, 2)
    assert "dog" not in table.counts
    assert json.loads((folder / "idf" / "card.json").read_text())["figures"] == {"texts": 3, "words": len(table.counts)}

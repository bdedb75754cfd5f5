"""Readers of judged data, on small files in the released layouts, and the recipe that counts words."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from rome.cli import main
from rome.data.readers.registry import read_rated
from rome.data.sources import data_folder
from rome.exceptions import InputError, ModelMissingError
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
    """A single reference becomes a tuple of one; outputs for one segment share a group; ratings and published scores stay."""
    row = {"system": "a", "segment": 1, "mr": "M", "reference": "A b.", "hypothesis": "A c.", "scores": {"z": 0.5}}
    other = {**row, "segment": 2, "mr": "N", "reference": ["A b.", "B a."], "lp": "de-en", "published": {"chrF": 2}}
    write(folder / "human" / "webnlg17_third.jsonl.gz", [row, {**row, "system": "b", "hypothesis": ""}, other])
    one, two, three = read_rated("webnlg17").segments
    assert [one.references, three.references] == [("A b.",), ("A b.", "B a.")]
    assert one.group == two.group == ("", "1") != three.group == ("de-en", "2")
    assert (one.ratings, one.source, three.published) == ({"z": 0.5}, "M", {"chrF": 2})
    assert one.place.endswith("webnlg17_third.jsonl.gz:1")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("reference", []),
        ("reference", ""),
        ("reference", 3),
        ("hypothesis", None),
        ("scores", {}),
        ("scores", {"quality": "good"}),
        ("scores", {"informativeness": 7, "naturalness": 3, "quality": 3}),
    ],
)
def test_an_item_without_texts_or_ratings_is_named_by_its_line(folder: Path, field: str, value: object) -> None:
    """The message names the line of a missing text, a missing rating or one off the scale from 1 to 6."""
    ratings = {"informativeness": 3, "naturalness": 3, "quality": 3}
    good = {"segment": 1, "reference": "A.", "hypothesis": "B.", "scores": ratings}
    write(folder / "human" / "bagel_references.jsonl.gz", [good, {**good, "segment": 2, field: value}])
    with pytest.raises(InputError, match="bagel_references.jsonl.gz:2"):
        read_rated("bagel")


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
    table = IdfTable.load(folder / "idf" / "idf.tsv")
    assert table.documents == 3
    assert (table.counts["the"], table.counts["n't"], table.counts["cat"]) == (3, 2, 2)
    assert "dog" not in table.counts
    assert json.loads((folder / "idf" / "card.json").read_text())["figures"] == {"texts": 3, "words": len(table.counts)}


def test_an_idf_table_survives_its_file(tmp_path: Path) -> None:
    """Whatever its words are made of; a table of no words, and one that is none, which is named."""
    for counts in ({"the": 9, "a\tb": 2, '"': 2, "\x85": 1, "caf\u00e9": 1, "": 1}, {}):
        IdfTable(10, counts, "a name").save(tmp_path / "idf.tsv")
        assert IdfTable.load(tmp_path / "idf.tsv") == IdfTable(10, counts, "a name")
    for damaged in (b"", b"10\tname\nno number\tthe\n", b"10\tname\n3", b"10\tn\xff\n"):
        (tmp_path / "idf.tsv").write_bytes(damaged)
        with pytest.raises(ModelMissingError, match=r"idf\.tsv is damaged .*rome train idf"):
            IdfTable.load(tmp_path / "idf.tsv")

"""The table of word frequencies: how it is counted, saved and loaded."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from rome.cli import main
from rome.exceptions import ModelMissingError
from rome.features.idf import IdfTable


def write(path: Path, *rows: dict[str, object]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))


def test_train_idf_counts_texts_not_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`rome train idf`: a word counts once a text, contractions are split, rare words are left out, and a card is written."""
    monkeypatch.setenv("ROME_DATA", str(tmp_path))
    texts = [{"text": "The the cat don't sit."}, {"text": "The dog don't sit."}]
    write(tmp_path / "text" / "wikipedia_sentences.jsonl.gz", *texts)
    segment = {"lp": "de-en", "segment": 1, "reference": ["The cat ran."], "outputs": {}}
    for year in ("wmt22", "wmt23"):
        write(tmp_path / "text" / f"{year}_to_en_outputs.jsonl.gz", segment)
    assert main(["train", "idf", "--out", str(tmp_path / "idf")]) == 0
    table = IdfTable.load(tmp_path / "idf" / "idf.tsv")
    assert table.documents == 3
    assert (table.counts["the"], table.counts["n't"], table.counts["cat"]) == (3, 2, 2)
    assert "dog" not in table.counts
    assert json.loads((tmp_path / "idf" / "card.json").read_text())["figures"] == {"texts": 3, "words": len(table.counts)}


def test_an_idf_table_survives_its_file(tmp_path: Path) -> None:
    """Whatever its words are made of; a table of no words, and one that is none, which is named."""
    for counts in ({"the": 9, "a\tb": 2, '"': 2, "\x85": 1, "caf\u00e9": 1, "": 1}, {}):
        IdfTable(10, counts, "a name").save(tmp_path / "idf.tsv")
        assert IdfTable.load(tmp_path / "idf.tsv") == IdfTable(10, counts, "a name")
    for damaged in (b"", b"10\tname\nno number\tthe\n", b"10\tname\n3", b"10\tn\xff\n"):
        (tmp_path / "idf.tsv").write_bytes(damaged)
        with pytest.raises(ModelMissingError, match=r"idf\.tsv is damaged .*rome train idf"):
            IdfTable.load(tmp_path / "idf.tsv")

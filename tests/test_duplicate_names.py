"""A name that stands twice leaves a reader the choice: it is refused with the file, the line and the name."""

from __future__ import annotations

from pathlib import Path

import pytest

from rome.cli import main
from rome.combining.table import FeatureTable
from rome.data.readers.lines import json_objects
from rome.exceptions import InputError
from rome.storage.pair_files import read_pairs

from serving import SmallMetric, ask, running

TWICE = '{"reference": "A cat.", "hypothesis": "A dog.", "hypothesis": "A cat."}'


def test_columns_without_a_name_may_be_several(tmp_path: Path) -> None:
    """Spreadsheets write separators behind the last column."""
    (tmp_path / "a.csv").write_text("reference,hypothesis,,\nA cat.,A dog.,,\n")
    (row,) = read_pairs(str(tmp_path / "a.csv"))
    assert (row.references, row.hypothesis) == (["A cat."], "A dog.")


def test_ratings(tmp_path: Path) -> None:
    """Rated data, of one's own or released."""
    path = tmp_path / "rated.jsonl"
    path.write_text('{"item": "1", "rating": 1, "rating": 2}\n')
    with pytest.raises(InputError, match=r"rated\.jsonl:1: not JSON \(the name 'rating' occurs twice"):
        list(json_objects(path))


def test_tables_of_features(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A Parquet file may hold two columns of one name."""
    import pyarrow.parquet as pq

    path = tmp_path / "f.parquet"
    FeatureTable([0], [0], [[0.5] * 4], [[0.5] * 4]).save(path)
    table = pq.read_table(path)
    pq.write_table(table.append_column("semantic", table["grammar"]), path)
    assert main(["rescore", str(path)]) == 2
    assert f"{path} must have the columns segment" in capsys.readouterr().err


def test_requests() -> None:
    """A body of the service."""
    with running(SmallMetric) as server:
        status, _, answer = ask(server, "/score", TWICE.encode())
    assert (status, answer["error"]["code"]) == (400, "invalid_json") and "occurs twice" in answer["error"]["message"]

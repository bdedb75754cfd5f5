"""FeatureTable: plain columns in, the same columns out, and every damaged file named."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rome.combining.combiner import Combiner
from rome.combining.table import FeatureTable
from rome.exceptions import InputError, StoreError


def _make(rows: int, seed: int = 0, *, references: int = 1, flags: bool = False) -> FeatureTable:
    chance = np.random.default_rng(seed)
    segment = np.arange(rows, dtype=np.int64) // references
    mask = chance.integers(0, 4, rows, dtype=np.uint32) if flags else None
    names = ("empty_hypothesis", "identical") if flags else ()
    reference = (np.arange(rows) % references).astype(np.int32)
    return FeatureTable(
        segment, reference, chance.random((rows, 4)), chance.normal(size=(rows, 4)), ("a", "b", "", "d"), "x:1|y:2", mask, names
    )


@settings(max_examples=25, deadline=None)
@given(rows=st.integers(0, 60), references=st.integers(1, 4), flags=st.booleans())
def test_round_trip_is_exact(tmp_path_factory: pytest.TempPathFactory, rows: int, references: int, flags: bool) -> None:
    """What was saved comes back bit by bit, with its signature, units and flags, for any size, 0 included."""
    path = tmp_path_factory.mktemp("table") / "f.parquet"
    table = _make(rows, references=references, flags=flags)
    table.save(path)
    assert FeatureTable.load(path) == table


@pytest.mark.parametrize("batch", [1, 2, 3, 7, 100])
def test_batches_join_to_the_whole_and_keep_segments_together(tmp_path: Path, batch: int) -> None:
    """Reading in batches gives every row once, in order, and never separates the references of a segment."""
    table = _make(30, references=3, flags=True)
    table.save(tmp_path / "f.parquet")
    parts = list(FeatureTable.iter_batches(tmp_path / "f.parquet", batch))
    assert FeatureTable.concat(parts) == table
    seen = [set(part.segment.tolist()) for part in parts]
    assert sum(map(len, seen)) == len(set().union(*seen))


@pytest.mark.parametrize("bad", [np.nan, -0.01, 1.01, np.inf])
def test_a_value_outside_the_range_names_feature_and_row(bad: float) -> None:
    """NaN and values outside [0, 1] are refused when the table is made, with the place."""
    values = np.full((3, 4), 0.5)
    values[2, 1] = bad
    with pytest.raises(InputError, match=r"syntax .* row 2"):
        FeatureTable(np.arange(3), np.zeros(3, int), values, np.zeros((3, 4)))


@pytest.mark.parametrize(
    ("segment", "values", "says"),
    [
        ([0, 1], np.ones((3, 4)), "one length"),
        ([0, 1, 2], np.ones((3, 3)), r"shape \(n, 4\)"),
        ([0, -1, 2], np.ones((3, 4)), "0 or more"),
        ([0.5, 1.0, 2.0], np.ones((3, 4)), "whole number per row"),
    ],
)
def test_wrong_columns_are_refused(segment: list, values: np.ndarray, says: str) -> None:
    """Unequal lengths, wrong shapes, negative or fractional numbers: each a clear InputError."""
    with pytest.raises(InputError, match=says):
        FeatureTable(segment, np.zeros(3, int), values, np.ones((3, values.shape[1])))


def test_absent_folder_and_foreign_files_are_named(tmp_path: Path) -> None:
    """A missing file, a folder, a text file and a foreign Parquet file: InputError with the path and the remedy."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "text").write_text("segment\tscore\n")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "foreign")
    for name, says in (
        ("absent", "does not exist"),
        ("", "is a directory"),
        ("text", "not a readable Parquet"),
        ("foreign", "not a feature table of RoMe"),
    ):
        with pytest.raises(InputError, match=says) as caught:
            FeatureTable.load(tmp_path / name)
        assert str(tmp_path / name) in str(caught.value) and "rome features" in str(caught.value)


def _damaged(path: Path, change: object) -> None:
    import pyarrow.parquet as pq

    pq.write_table(change(pq.read_table(path)), path)  # type: ignore[operator]


def test_missing_columns_future_formats_and_bad_values_in_a_file_are_named(tmp_path: Path) -> None:
    """A file that lost a column, carries another format version or a NaN is refused with its name."""
    import pyarrow as pa

    cases = [
        (lambda t: t.drop_columns(["grammar"]), "must have the columns .*grammar: double"),
        (lambda t: t.replace_schema_metadata({**t.schema.metadata, b"rome.feature_table": b"99"}), "format 99"),
        (lambda t: t.set_column(2, "semantic", pa.array([0.5, float("nan"), 0.5])), "not valid: the feature semantic"),
        (lambda t: t.set_column(0, "segment", pa.array(["a", "b", "c"])), "must have the columns segment: int64"),
    ]
    for change, says in cases:
        _make(3).save(tmp_path / "f.parquet")
        _damaged(tmp_path / "f.parquet", change)
        with pytest.raises(InputError, match=says) as caught:
            FeatureTable.load(tmp_path / "f.parquet")
        assert "f.parquet" in str(caught.value)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_changed_bit_is_never_a_changed_table(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """One bit flipped anywhere, the file's own description included: an error of ours, or the same table."""
    path, table = tmp_path_factory.mktemp("table") / "f.parquet", _make(40, flags=True)
    table.save(path)
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    try:
        assert FeatureTable.load(path) == table
        assert FeatureTable.concat(list(FeatureTable.iter_batches(path, 7))) == table
    except (InputError, StoreError) as error:
        assert str(path) in str(error)


def test_a_row_that_fell_out_is_noticed(tmp_path: Path) -> None:
    """A file that is a good Parquet file with one row less is refused, in batches after the last one."""
    path = tmp_path / "f.parquet"
    _make(20).save(path)
    _damaged(path, lambda table: table.slice(0, 19))
    for read in (FeatureTable.load, lambda path: list(FeatureTable.iter_batches(path, 5))):
        with pytest.raises(StoreError, match=r"f\.parquet is damaged \(its content does not fit its checksum\)"):
            read(path)


def test_tables_of_the_first_format_are_read(tmp_path: Path) -> None:
    """Files made before there were checksums stay readable."""
    path = tmp_path / "f.parquet"
    _make(20).save(path)
    _damaged(path, lambda t: t.replace_schema_metadata({**t.schema.metadata, b"rome.feature_table": b"1"}))
    assert FeatureTable.load(path) == _make(20)


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    """Saving is all or nothing: a stream that fails half way changes nothing and leaves no temporary file."""
    path = tmp_path / "f.parquet"
    _make(3).save(path)

    def stream():  # type: ignore[no-untyped-def]
        yield _make(5)
        raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        FeatureTable.save_batches(path, stream())
    assert FeatureTable.load(path) == _make(3)
    assert [entry.name for entry in tmp_path.iterdir()] == ["f.parquet"]


def test_unwritable_places_are_store_errors(tmp_path: Path) -> None:
    """A folder as target, or a folder that does not exist, is a StoreError with the path."""
    for path in (tmp_path, tmp_path / "absent" / "f.parquet"):
        with pytest.raises(StoreError, match=str(path)):
            _make(1).save(path)


def _scores(path: Path, rows: int) -> list[tuple[int, float, int]]:
    net = Combiner(np.ones((2, 4)), np.zeros(2), np.ones(2), np.array(0.0))
    found = [net.combine(table) for table in FeatureTable.iter_batches(path, rows)]
    return [row for one in found for row in zip(one.segment.tolist(), one.score.tolist(), one.reference.tolist(), strict=True)]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=40), st.integers(1, 50), st.randoms())
def test_rows_in_any_order_give_the_same_scores(
    tmp_path_factory: pytest.TempPathFactory, segments: list[int], batch: int, chance: Random
) -> None:
    """Oracle: a file whose segments are scattered gives every segment once, with the score and the reference of the file in order."""
    folder, order = tmp_path_factory.mktemp("table"), list(range(len(segments)))
    chance.shuffle(order)
    segment = np.sort(np.array(segments))
    reference = np.arange(len(segment)) - np.searchsorted(segment, segment)
    values = np.array([[chance.choice((0.1, 0.5, 0.9)) for _ in range(4)] for _ in order])
    table = FeatureTable(segment, reference, values, values)
    table.save(folder / "a.parquet")
    table[np.array(order)].save(folder / "b.parquet")
    assert _scores(folder / "b.parquet", batch) == _scores(folder / "a.parquet", 1000)
    assert len(_scores(folder / "b.parquet", batch)) == len(set(segments))

"""Scoring a batch of rows, and sharing files out in parts: what every engine for many machines rests on."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pairs_metric import PairsMetric

from rome.batch.parts import OutputFolder, score_part
from rome.batch.plan import PART_WORK, PartPlan, make_plan
from rome.batch.row_files import input_files, read_rows
from rome.batch.rows import COLUMNS, RowOptions, arrow_schema, own_metric, score_rows
from rome.exceptions import InputError, ModelMissingError, StoreError
from rome.features.values import FEATURES

GOOD = [("A cat sat.", "A cat sat."), ("A dog ran.", "A dog sat."), (["One.", "Two."], "Two."), ("It rains.", "")]
BAD: list[tuple[Any, Any, str]] = [
    (None, "a", "reference is None, not a text"),
    ("a", None, "hypothesis is None, not a text"),
    ("a", float("nan"), "hypothesis is a missing value"),
    ("", "a", "reference is empty"),
    ("  ", "a", "reference is empty"),
    ([], "a", "reference is an empty list"),
    (["a", None], "a", r"reference\[1\] is None"),
    ("a", 7, "hypothesis is of type int"),
    (b"a", "a", "reference is of type bytes"),
    ({"a": 1}, "a", "reference is of type dict"),
    ("a", "\ud800", "lone surrogate"),
    ("a", "b" * 101, "hypothesis has 101 characters, more than 100"),
    (["a", "b" * 101], "a", "reference has 101 characters"),
]
SHORT = RowOptions(longest=100)


def columns(rows: Sequence[tuple[Any, Any]]) -> dict[str, list[Any]]:
    """The rows as columns."""
    return {"reference": [row[0] for row in rows], "hypothesis": [row[1] for row in rows]}


def rows_of(out: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    """The columns as rows that compare."""
    return [tuple(map(repr, row)) for row in zip(*out.values(), strict=True)]


def test_a_scored_row_has_every_column(fake_metric: Any) -> None:
    """Values of the segment under the documented names and types; no error; the digest of the texts as key."""
    out = score_rows(columns(GOOD), fake_metric)
    assert list(out) == ["key", *COLUMNS]
    assert out["score"] == [1.0, 0.5, 0.5, 0.5]
    assert out["semantic"] == [0.9] * 4
    assert out["errors_raw"] == [5.75] * 4
    assert out["error"] == [None] * 4
    assert [sum(out[f"{name}_contribution"][n] for name in FEATURES) for n in range(4)] == pytest.approx(
        [0.0, -0.5, -0.5, -0.5]
    )
    table = pa.table(out, schema=arrow_schema(RowOptions()))
    assert table.schema.field("flags").type == pa.list_(pa.string())
    assert len(set(out["key"])) == 4


@pytest.mark.parametrize(("reference", "hypothesis", "message"), BAD)
def test_a_bad_row_is_reported_and_stops_nothing(fake_metric: Any, reference: Any, hypothesis: Any, message: str) -> None:
    """Its message in ``error``, everything else null; its neighbours are what they are without it."""
    out = score_rows(columns([GOOD[0], (reference, hypothesis), GOOD[1]]), fake_metric, SHORT)
    alone = score_rows(columns([GOOD[0], GOOD[1]]), fake_metric, SHORT)
    assert out["error"][0] is None
    assert pa.compute.match_substring_regex(pa.array([out["error"][1]]), message)[0].as_py(), out["error"][1]
    assert {out[name][1] for name in COLUMNS if name != "error"} == {None}
    assert [rows_of(out)[n] for n in (0, 2)] == rows_of(alone)
    pa.table(out, schema=arrow_schema(SHORT))


def test_a_row_that_breaks_the_metric_is_found_among_the_others(fake_metric: Any) -> None:
    """The rows are scored one by one when a batch fails; a missing model is no fault of a row."""

    class Fragile(PairsMetric):
        def score(self, *, references: Any, hypotheses: Any) -> Any:
            if "boom" in hypotheses:
                raise RuntimeError("too hard")
            if "model" in hypotheses:
                raise ModelMissingError("gone")
            return fake_metric.score(references=references, hypotheses=hypotheses)

    out = score_rows(columns([*GOOD, ("a", "boom")]), Fragile(), RowOptions(exact=False))
    assert out["error"] == [None] * 4 + ["RuntimeError: too hard"]
    with pytest.raises(ModelMissingError):
        score_rows(columns([("a", "model")]), Fragile())


def test_order_and_batches_change_nothing(fake_metric: Any) -> None:
    """Backwards, one by one, or all at once: the same rows."""
    rows = [*GOOD, *((reference, hypothesis) for reference, hypothesis, _ in BAD)]
    out = rows_of(score_rows(columns(rows), fake_metric, SHORT))
    assert out == rows_of(score_rows(columns(rows[::-1]), fake_metric, SHORT))[::-1]
    assert out == [rows_of(score_rows(columns([row]), fake_metric, SHORT))[0] for row in rows]


def test_keys_kept_columns_and_evidence(fake_metric: Any) -> None:
    """A key column names the rows, a missing key is an error of its row, kept columns pass, evidence is JSON."""
    given = {**columns(GOOD), "id": [7, "b", "\ud800", True], "system": ["x", "y", None, "z"]}
    out = score_rows(given, fake_metric, RowOptions(key="id", keep=("system",), evidence=True))
    assert out["key"][:2] == ["7", "b"]
    assert [error is None for error in out["error"]] == [True, True, False, False]
    assert r"the key id is '\ud800'" in out["error"][2]
    assert out["system"] == given["system"]
    assert json.loads(out["evidence"][0])["errors"]["errors"][0]["severity"] == "minor"
    assert out["evidence"][2] is None
    for wrong in (RowOptions(key="nr"), RowOptions(reference="ref")):
        with pytest.raises(InputError, match="the data has no column"):
            score_rows(given, fake_metric, wrong)
    with pytest.raises(InputError, match="keep names 'score'"):
        RowOptions(keep=("score",))


def test_a_metric_whose_rows_depend_on_each_other_is_refused(fake_metric: Any) -> None:
    """IDF weights of the references of a batch would make a score depend on where a row was sent."""

    class Dependent(type(fake_metric)):  # type: ignore[misc]
        idf = "references"

    with pytest.raises(InputError, match="depend on the other rows"):
        score_rows(columns(GOOD), Dependent())


def test_exact_rows_of_the_real_metric_have_the_same_bits_in_any_company() -> None:
    """Whatever the order and the batches, and whatever the worker scored before: every bit; together they are within 1e-6."""
    rows = [
        ("Shakespeare wrote the play Macbeth in 1606.", "The play Macbeth was written by Shakespeare in 1606."),
        ("My neighbour's dog barks at every passing car.", "The dog of my neighbours barks at every car that passes by."),
        (["The results were good.", "Results were pleasing."], "Result was pleasing."),
        ("He bought three apples, two pears and a melon at the market.", "He buyed three apple and melon at market."),
        ("It rains.", ""),
    ]
    metric = own_metric()()
    first = rows_of(score_rows(columns(rows), metric))
    other = own_metric()()
    other._analyses._analyser = metric._analyses.load()  # type: ignore[attr-defined]  # the same models, nothing remembered
    assert rows_of(score_rows(columns(rows[::-1]), other))[::-1] == first
    assert [rows_of(score_rows(columns([row]), metric))[0] for row in rows] == first
    other._analyses._memory.clear()  # type: ignore[attr-defined]
    together = score_rows(columns(rows), other, RowOptions(exact=False))
    exact = score_rows(columns(rows), metric)
    for name in ("score", *FEATURES):
        assert together[name] == pytest.approx(exact[name], abs=1e-6)


def write_pairs(folder: Path, kind: str, count: int = 25, files: int = 2) -> Path:
    """Files of pairs with ids; in JSON lines also a broken line, a blank one and rows of wrong types."""
    folder.mkdir()
    for file in range(files):
        rows: list[Any] = [
            {"id": f"{file}-{n}", "reference": f"Cat {n} sat.", "hypothesis": f"Cat {n} ran.", "n": n} for n in range(count)
        ]
        rows[3]["hypothesis"] = None
        rows[4]["reference"] = ""
        if kind == "parquet":
            pq.write_table(pa.Table.from_pylist(rows), folder / f"pairs{file}.parquet", row_group_size=10)
            continue
        rows[5]["reference"] = 5
        lines = [json.dumps(row) for row in rows]
        lines[6:6] = ["{broken", "", "[1]"]
        (folder / f"pairs{file}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_any_span_of_a_file_reads_what_the_whole_reads(tmp_path: Path, kind: str) -> None:
    """The spans of a plan, whatever their size, hold each row of the file once, with its number."""
    source = write_pairs(tmp_path / "in", kind)
    system, files = input_files(source)
    whole = [row for file in files for row in read_rows(system, file, ["id", "reference"])]
    assert [row.number for row in whole][:5] == [1, 2, 3, 4, 5]
    for size in (1, 3, 10, 1000):
        plan = make_plan(source, RowOptions(), signature="s", output_format=kind, part_rows=size)
        parts = [list(read_rows(system, part.file, ["id", "reference"], part)) for part in plan.parts]
        assert [row for part in parts for row in part] == whole
        assert max(map(len, parts)) <= size


def test_long_texts_make_small_parts(tmp_path: Path) -> None:
    """Work is shared out by what texts cost; a text over the bound costs nothing."""
    path = tmp_path / "long.parquet"
    long = "word " * 1900
    pq.write_table(
        pa.Table.from_pylist([{"reference": long, "hypothesis": long}] * 8 + [{"reference": "a", "hypothesis": "b"}] * 90), path
    )
    plan = make_plan(path, RowOptions(), signature="", output_format="parquet")
    assert [part.rows for part in plan.parts[:4]] == [1] * 4 or plan.parts[0].work <= PART_WORK
    assert len(plan.parts) >= 4
    assert len(make_plan(path, RowOptions(longest=100), signature="", output_format="parquet").parts) == 1


def score_all(plan: PartPlan, output: OutputFolder, source: Path, metric: Any, options: RowOptions) -> None:
    """Every part in this process."""
    done = output.begin(plan.description)
    for part in plan.parts:
        if part.number not in done:
            score_part(part, metric, options, output, input_files(source)[0])


def results(folder: Path) -> list[dict[str, Any]]:
    """All rows of a folder of results."""
    if list(folder.glob("*.parquet")):
        return [row for file in sorted(folder.glob("*.parquet")) for row in pq.read_table(file).to_pylist()]
    return [
        json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_text(encoding="utf-8").splitlines()
    ]


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
@pytest.mark.parametrize("written", ["parquet", "jsonl"])
def test_files_in_files_out(tmp_path: Path, fake_metric: Any, kind: str, written: str) -> None:
    """One row a row, in order, in either format; bad rows and broken lines counted; a key of the place where no column has one."""
    source, options = write_pairs(tmp_path / "in", kind), RowOptions(keep=("id", "n"))
    plan = make_plan(source, options, signature="s", output_format=written, part_rows=10)
    output = OutputFolder(tmp_path / "out", written)
    score_all(plan, output, source, fake_metric, options)
    summary = output.finish(plan, 0)
    found = results(tmp_path / "out")
    bad = 2 if kind == "parquet" else 5
    assert (summary.rows, summary.errors) == (len(found), 2 * bad) == (50 if kind == "parquet" else 54, 2 * bad)
    assert len({row["key"] for row in found}) == len(found)
    assert found[0]["key"].startswith(f"pairs0.{kind}:1#")
    assert [row["id"] for row in found if row["id"]] == [f"{file}-{n}" for file in range(2) for n in range(25)]
    assert found[0]["n"] == ("0" if (kind, written) == ("jsonl", "parquet") else 0)
    assert json.loads((tmp_path / "out" / "_SUCCESS").read_text())["errors"] == 2 * bad
    if kind == "jsonl":
        assert "the line is not JSON" in str([row["error"] for row in found])


def test_a_folder_is_gone_on_with_and_guarded(tmp_path: Path, fake_metric: Any) -> None:
    """Parts that are there stay as they are; other data or options, foreign files and lost rows are refused."""
    source, options = write_pairs(tmp_path / "in", "parquet"), RowOptions(key="id")
    plan = make_plan(source, options, signature="s", output_format="jsonl", part_rows=10)
    output = OutputFolder(tmp_path / "out", "jsonl")
    score_all(plan, output, source, fake_metric, options)
    before = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    (tmp_path / "out" / "part-000002.jsonl").unlink()
    (tmp_path / "out" / ".part-0123").write_text("half a li")
    score_all(plan, output, source, fake_metric, options)
    assert {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()} == before
    other = make_plan(source, RowOptions(key="id", longest=5), signature="t", output_format="jsonl", part_rows=10)
    with pytest.raises(InputError, match=r"other data or options \(signature, options differ\)"):
        output.begin(other.description)
    with pytest.raises(InputError, match="holds other files"):
        OutputFolder(source, "jsonl").begin(plan.description)
    attempts = [output.attempt(plan.parts[0]) for _ in range(5)]
    with pytest.raises(StoreError, match=r"10 rows of .*pairs0.parquet from number 1 on ended 4 workers"):
        for attempt in attempts:
            attempt.__enter__()
    (tmp_path / "out" / "part-000002.jsonl").write_text('{"error": null}\n')
    with pytest.raises(StoreError, match="holds 1 rows, not 5"):
        output.finish(plan, 0)


REFUSED: list[tuple[Callable[[Path], Any], RowOptions, str]] = [
    (
        lambda p: (p / "a.jsonl").write_text('{"reference": "a", "hypothesis": "b", "id": 1}\n\n{"id": "1"}\n'),
        RowOptions(key="id"),
        r"a.jsonl:1 and .*a.jsonl:3 have one id",
    ),
    (
        lambda p: (p / "a.jsonl").write_text('{"reference": "a", "hyp": "b"}\n'),
        RowOptions(),
        "no row has the column 'hypothesis'",
    ),
    (lambda p: (p / "a.jsonl").write_text("\n"), RowOptions(), "holds no row"),
    (lambda p: (p / "a.txt").write_text("a"), RowOptions(), "holds no .parquet or .jsonl file"),
    (lambda p: pq.write_table(pa.table({"reference": ["a"]}), p / "a.parquet"), RowOptions(), "has no column 'hypothesis'"),
    (lambda p: (p / "a.parquet").write_bytes(b"PAR1 not really"), RowOptions(), "cannot be read as Parquet"),
]


@pytest.mark.parametrize(("write", "options", "message"), REFUSED)
def test_what_no_row_can_answer_for_is_refused_before_anything_is_scored(
    tmp_path: Path, write: Callable[[Path], Any], options: RowOptions, message: str
) -> None:
    """Two rows of one key, a column that nobody has, nothing to score, a damaged file: an error that names the place."""
    write(tmp_path)
    with pytest.raises((InputError, StoreError), match=message):
        make_plan(tmp_path, options, signature="", output_format="jsonl")


def test_a_source_that_is_not_there(tmp_path: Path) -> None:
    """Named as it was given, with the remedy."""
    with pytest.raises(InputError, match="does not exist: name a Parquet or JSON-lines file"):
        input_files(tmp_path / "gone")
    (tmp_path / "a.csv").write_text("a")
    with pytest.raises(InputError, match=r"neither .parquet nor .jsonl"):
        input_files(tmp_path / "a.csv")


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_data_that_changes_between_the_two_readings_is_refused(tmp_path: Path, fake_metric: Any, kind: str) -> None:
    """Other texts of the same length, fewer rows, a file of other rows: no part is written from them."""
    source, options = write_pairs(tmp_path / "in", kind), RowOptions(keep=("id",))
    plan = make_plan(source, options, signature="s", output_format="jsonl", part_rows=10)
    first, output = source / f"pairs0.{kind}", OutputFolder(tmp_path / "out", "jsonl")
    output.begin(plan.description)
    before, other = first.read_bytes(), (source / f"pairs1.{kind}").read_bytes()
    if kind == "jsonl":
        changes = [before.replace(b"reference", b"hypothesi"), before[: len(before) // 10], other]
    else:
        changes = [other]
    for content in changes:
        first.write_bytes(content)
        with pytest.raises(
            InputError, match=rf"pairs0\.{kind} changed while it was read: its rows from number 1 on are others"
        ):
            score_part(plan.parts[0], fake_metric, options, output, input_files(source)[0])
    first.write_bytes(before)
    score_part(plan.parts[0], fake_metric, options, output, input_files(source)[0])
    assert [file.name for file in (tmp_path / "out").glob("part*")] == ["part-000000.jsonl"]

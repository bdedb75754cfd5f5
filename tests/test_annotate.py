"""Collecting ratings: what is shown, what is saved, what a crash leaves, and what the command reads back."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rome.cli import annotate
from rome.data.readers.own import read_own
from rome.evaluation.annotate.ratings import AnnotationItem, RatingsFile, rated_items, read_ratings, read_records
from rome.evaluation.annotate.study import Guideline, Scale, Study
from rome.exceptions import InputError, StoreError
from rome.storage.pair_files import read_pairs

PAIRS = "id\tsystem\treference\thypothesis\nr1\ta\tA cat sat.\tA 🐈 sat.\nr1\tb\tA cat sat.\tCat.\nr2\ta\tIt rains.\t\n"
Make = Callable[..., Study]


@pytest.fixture
def pairs(tmp_path: Path) -> str:
    """Three outputs of two systems, one of them empty."""
    path = tmp_path / "pairs.tsv"
    path.write_text(PAIRS, encoding="utf-8")
    return str(path)


@pytest.fixture
def study(tmp_path: Path, pairs: str) -> Any:
    """Open a study on `ratings.jsonl`; the one before is closed, as when its process has ended."""
    opened: list[RatingsFile] = []

    def make(guideline: Guideline = Guideline(), source: str = pairs) -> Study:
        for ratings in opened:
            ratings.close()
        opened.append(RatingsFile(str(tmp_path / "ratings.jsonl")))
        return Study(rated_items(read_pairs(source)), opened[-1], guideline)

    yield make
    for ratings in opened:
        ratings.close()


def body(revision: int = 0, errors: list[Any] | None = None, **ratings: Any) -> dict[str, Any]:
    """What the page sends."""
    return {"ratings": ratings, "errors": errors or [], "revision": revision}


def span(start: Any, end: Any, severity: str = "major", category: str = "Other") -> dict[str, Any]:
    """A mark as the page sends it."""
    return {"start": start, "end": end, "severity": severity, "category": category}


def lines(tmp_path: Path) -> list[dict[str, Any]]:
    """Every line of the file of ratings."""
    return [json.loads(line) for line in (tmp_path / "ratings.jsonl").read_text(encoding="utf-8").splitlines()]


def test_items_have_ids_and_systems(pairs: str) -> None:
    """Identity from id, system and language pair; a key for the page that gives no name away and changes with a text."""
    items = rated_items(read_pairs(pairs))
    assert [item.identity for item in items] == [("", "r1", "a"), ("", "r1", "b"), ("", "r2", "a")]
    assert len({item.key for item in items}) == 3
    assert AnnotationItem("r1", ("A cat sat.",), "Cat!", "b").key != items[1].key


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id\treference\thypothesis\nx\tA\tB\nx\tA\tC\n", r"pairs:3: item x is also in .*pairs:2"),
        ("id\treference\thypothesis\nx\tA\tB\n\tA\tC\n", r"pairs:3: no id"),
        ("system\treference\thypothesis\na\tA\tB\n", r"pairs:2: a system but no id"),
        ("reference\thypothesis\n \tB\n", r"pairs:2: the reference is empty"),
        ('{"reference": "\\ud800", "hypothesis": ""}\n', "pairs:1: a lone surrogate"),
    ],
)
def test_wrong_items_are_refused(tmp_path: Path, text: str, message: str) -> None:
    """With file and line."""
    path = tmp_path / "pairs"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        rated_items(read_pairs(str(path)))


@pytest.mark.parametrize("text", ["", "3", "3-1", "1-1", "a-b", "-1-3", "0-99999", "1–3", "²-9"])
def test_scales_that_are_none(text: str) -> None:
    """A scale is two whole numbers, the lower first."""
    with pytest.raises(InputError, match="scale"):
        Scale.parse(text)


def test_a_save_is_a_line_and_a_correction_another(study: Make, tmp_path: Path) -> None:
    """Append only; the last line wins; the same state twice (a repeated request) is one line."""
    one = study()
    key = next(iter(one.items))
    assert one.save("Ann", key, body(fluency=1)) == {"revision": 1, "done": False}
    full = body(1, [span(2, 3)], fluency=2, semantic=3, grammar=1)
    assert one.save("Ann", key, full) == {"revision": 2, "done": True}
    assert one.save("Ann", key, full) == {"revision": 2, "done": True}
    first, last = lines(tmp_path)
    assert first["ratings"] == {"fluency": 1}
    time = last.pop("time")
    assert last == {
        "item": "r1",
        "system": "a",
        "reference": "A cat sat.",
        "hypothesis": "A 🐈 sat.",
        "annotator": "Ann",
        "ratings": {"fluency": 2, "semantic": 3, "grammar": 1},
        "errors": [span(2, 3)],
        "scale": "1-3",
    }
    assert time.endswith("+00:00")


def test_work_goes_on_where_it_stopped(study: Make) -> None:
    """After a restart everybody's states, revisions and progress are there; names that differ in case are one annotator."""
    one = study()
    key = one.start("Ann")["keys"][1]
    one.save("Ann", key, body(0, [span(None, None)], fluency=1, semantic=1, grammar=1))
    again = study()
    started = again.start("  ANN ")
    assert (started["annotator"], started["done"]) == ("Ann", [False, True, False])
    state = again.item("ann", key)["state"]
    assert state == {"ratings": {"fluency": 1, "semantic": 1, "grammar": 1}, "errors": [span(None, None)], "revision": 1}
    assert again.start("Bob")["done"] == [False] * 3 and again.about()["annotators"] == ["Ann"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ratings": {"fluency": 1}}, "give ratings"),
        (body(style=1), "unknown dimension 'style'"),
        (body(fluency=4), "got 4"),
        (body(errors=[span(0, 9)]), "covers characters 0 to 9 of a text of 8"),
        (body(errors=[span(3, 3)]), "no character is marked"),
        (body(errors=[span(0, None)]), "one end only"),
        (body(errors=[span(False, 3)]), "must be whole numbers"),
        (body(errors=[span(0, 3, "awful")]), "severity 'awful'"),
        (body(errors=[span(0, 3, "minor", "Nonsense")]), "category 'Nonsense'"),
        (body(errors=[span(0, 3), span(0, 3)]), "is given twice"),
        (body(errors=[span(0, 3)] * 501), "at most 500"),
    ],
)
def test_what_may_not_be_saved_is_not(study: Make, tmp_path: Path, given: dict[str, Any], message: str) -> None:
    """Each mistake of a request is named, and leaves no line; an emoji is one character of the text."""
    one = study()
    with pytest.raises(InputError, match=message):
        one.save("Ann", next(iter(one.items)), given)
    assert lines(tmp_path) == []


def test_every_cut_of_the_file_is_readable(study: Make, tmp_path: Path) -> None:
    """Wherever a write is cut, the lines before it are kept, and a line that lacks only its end is whole."""
    one = study()
    key = next(iter(one.items))
    for revision, value in enumerate((1, 2)):
        one.save("Ann", key, body(revision, fluency=value))
    whole = (tmp_path / "ratings.jsonl").read_bytes()
    path = tmp_path / "cut.jsonl"
    first = whole.index(b"\n") + 1
    for cut in (first, first + 1, first + 40, len(whole) - 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        ratings = RatingsFile(str(path))
        assert len(ratings.records) == (2 if cut == len(whole) - 1 else 1)
        assert bool(ratings.notes) == (cut not in (first, len(whole) - 1))
        ratings.append(json.dumps({"item": "x", "reference": "r", "hypothesis": "h", "annotator": "B", "ratings": {}}))
        ratings.close()
        assert read_records(str(path))[0][-1].annotator == "B"


@pytest.mark.parametrize(
    "line",
    [
        '{"item": "x"',
        "[]",
        '{"item": "x", "reference": "r", "hypothesis": "\\ud800", "annotator": "A", "ratings": {}}',
        '{"item": "x", "reference": "r", "hypothesis": "h", "annotator": "A", "ratings": {"fluency": "two"}}',
        '{"item": "x", "reference": "r", "hypothesis": "h", "annotator": "A", "ratings": {}, "errors": [{"start": 0, "end": 9}]}',
    ],
)
def test_a_damaged_line_inside_is_named(tmp_path: Path, line: str) -> None:
    """Only a last line can be torn: anything else is for the user to look at, and the file stays as it is."""
    path = tmp_path / "ratings.jsonl"
    path.write_text(f"{line}\n{line}\n")
    with pytest.raises(InputError, match=r"ratings.jsonl:1: not a record"):
        RatingsFile(str(path))
    assert path.read_text() == f"{line}\n{line}\n"


def test_a_full_disk_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a write fails half-way the file is as it was, and the save is not called saved."""
    ratings = RatingsFile(str(tmp_path / "ratings.jsonl"))

    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        ratings.append("x" * 50)
    monkeypatch.undo()
    assert (tmp_path / "ratings.jsonl").read_bytes() == b""
    ratings.append('{"item": 1}')
    ratings.close()
    assert (tmp_path / "ratings.jsonl").read_bytes() == b'{"item": 1}\n'


def test_one_process_at_a_time(tmp_path: Path) -> None:
    """A second one is refused, so that neither works on old states."""
    ratings = RatingsFile(str(tmp_path / "r.jsonl"))
    with pytest.raises(InputError, match="open in another"):
        RatingsFile(str(tmp_path / "r.jsonl"))
    ratings.close()
    RatingsFile(str(tmp_path / "r.jsonl")).close()
    with pytest.raises(InputError, match="cannot be written"):
        RatingsFile(str(tmp_path / "missing" / "r.jsonl"))


def test_ratings_of_other_texts_are_refused(study: Make, tmp_path: Path, pairs: str) -> None:
    """The same id with another text, or another scale, cannot be mixed; ratings of other ids stay."""
    one = study()
    one.save("Ann", next(iter(one.items)), body(fluency=1))
    other = tmp_path / "other.tsv"
    other.write_text(PAIRS.replace("🐈", "dog"), encoding="utf-8")
    with pytest.raises(InputError, match="r1 was rated with other texts"):
        study(source=str(other))
    with pytest.raises(InputError, match="on the scale 1-3, not 0-100"):
        study(Guideline(Scale(0, 100)))
    other.write_text(PAIRS.replace("r1", "r9"), encoding="utf-8")
    assert study(source=str(other)).about()["annotators"] == []


def test_the_file_is_read_as_own_ratings(study: Make, tmp_path: Path) -> None:
    """`rome evaluate` reads the means over the annotators, and the marks of each."""
    one = study()
    first = next(iter(one.items))
    one.save("Ann", first, body(0, [span(0, 1)], fluency=1, semantic=2, grammar=3))
    one.save("Bob", first, body(0, [], fluency=2, semantic=2, grammar=3))
    (segment,) = read_own(str(tmp_path / "ratings.jsonl")).segments
    assert (segment.item, segment.system) == ("r1", "a")
    assert dict(segment.ratings) == {"fluency": 1.5, "semantic": 2.0, "grammar": 3.0}
    assert {name: len(marks) for name, marks in segment.marks.items()} == {"Ann": 1, "Bob": 0}


def command(*words: str) -> int:
    """Run `rome annotate`."""
    parser = ArgumentParser()
    annotate.add_arguments(parser)
    return annotate.run(parser.parse_args(words), lambda _: None)  # type: ignore[arg-type, return-value]


def test_agreement_and_export_from_the_command_line(study: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables on standard output."""
    pytest.importorskip("nltk", reason="agreement is computed by NLTK")
    one = study()
    for name in ("Ann", "Bob"):
        for value, key in enumerate(one.items, start=1):
            one.save(
                name, key, body(0, [span(0, 2)] if value == 1 else [], fluency=value, **({"grammar": 3} if value < 3 else {}))
            )
    path = str(tmp_path / "ratings.jsonl")
    assert command("--agreement", path) == 0
    table = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["fluency", "2", "3", "3", *["1.000"] * 3] in table and ["grammar", "2", "2", "2", *["–"] * 3] in table
    assert ["Ann,", "Bob", "3", "1", "1.000"] in table


def test_ratings_of_two_scales_are_not_put_together(study: Make, tmp_path: Path) -> None:
    """Two files of different scales, and a file without any rating, are refused."""
    one = study()
    one.save("Ann", next(iter(one.items)), body(fluency=1))
    path = tmp_path / "ratings.jsonl"
    (tmp_path / "other.jsonl").write_text(path.read_text().replace('"1-3"', '"0-100"').replace('"Ann"', '"Bob"'))
    with pytest.raises(InputError, match="on the scale 1-3, .*other.jsonl:1 on 0-100"):
        read_ratings([str(path), str(tmp_path / "other.jsonl")])
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(InputError, match="nothing was rated"):
        read_ratings([str(tmp_path / "empty.jsonl")])

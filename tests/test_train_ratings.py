"""Fine-tuning of a reader on one's own ratings: lessons, costs and mixture by hand, and the command with the set `small`."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tiny_lessons import LESSONS, write_sources

from rome.cli import main
from rome.data.readers.own import read_own
from rome.data.readers.rated import ErrorMark, RatedSegment
from rome.train.common.ratings import Ratings, ratings_of
from rome.train.common.recipe import read_card
from rome.train.errors import ratings, recipe, sources

PLACES = ("museum", "garden", "station", "library", "market", "school", "harbour", "tower", "bridge", "castle")


def rated(count: int = 20) -> list[tuple[str, str, str, str, float]]:
    """Item, system, reference, hypothesis and rating of three outputs of each input."""
    rows = []
    for n in range(count):
        text = f"The {PLACES[n % 10]} in street {n} opens at nine every day."
        outputs = {"good": text.replace("opens", "is open"), "middle": text.replace("nine", "ten"), "bad": f"Some street {n}."}
        rows += [(f"i{n}", name, text, made, 3.0 - place + n / 100) for place, (name, made) in enumerate(outputs.items())]
    return rows


def write_ratings(folder: Path) -> tuple[Path, Path]:
    """A table of direct assessments, and JSON lines of marked errors."""
    table, lines = folder / "assessed.tsv", folder / "marked.jsonl"
    cells = ["\t".join(map(str, row)) for row in rated()]
    table.write_text("\n".join(["item\tsystem\treference\thypothesis\trating:adequacy", *cells]) + "\n", encoding="utf-8")
    rows = []
    for item, system, reference, hypothesis, _ in rated():
        ten = {"start": hypothesis.find("ten"), "end": hypothesis.find("ten") + 3, "severity": "critical", "category": "number"}
        errors = {"good": [], "middle": [ten], "bad": [{"severity": "major", "category": "omission"}]}[system]
        row = {"item": item, "system": system, "reference": reference, "hypothesis": hypothesis, "errors": errors}
        rows += [{**row, "annotator": name} for name in ("one", "two")]
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return table, lines


@pytest.fixture
def both(tmp_path: Path) -> Ratings:
    return ratings_of([read_own(path) for path in write_ratings(tmp_path)])


def test_costs_are_of_marks_or_in_the_order_of_ratings(both: Ratings) -> None:
    """MQM has its own scale; of other ratings the reader's costs keep their values and take the order."""
    before = np.random.default_rng(0).random(len(both)) * 10
    costs = ratings.costs_of(both, before)
    own = costs[both.file == 0]
    assert sorted(own) == pytest.approx(sorted(before[both.file == 0]))
    assert np.array_equal(np.argsort(own), np.argsort(-both.people[both.file == 0]))
    assert set(costs[both.file == 1].tolist()) == {0.0, 10.0, 5.0}


def test_members_have_the_marks_of_every_rater(both: Ratings) -> None:
    """Words of a span are labelled; an omission is somewhere in the reference, whose words then have no labels."""
    middle, omitting = both.segments[61], both.segments[62]
    members = ratings.members_of(middle, 10.0)
    assert len(members) == 2 and all(member.cost == 10.0 for member in members)
    (mark,) = members[0].text.marks
    assert [members[0].text.forms()[n] for n in mark.new] == ["ten"] and (mark.name, mark.severity) == ("number", "critical")
    assert members[0].somewhere is False
    found = ratings.members_of(omitting, 5.0)[0]
    assert found.somewhere and found.reference_sure == 0.0 and not found.text.marks
    neutral = RatedSegment("i", ("A b.",), "A c.", {"mqm": 0.0}, marks={"r": (ErrorMark(0, 1, "neutral"),)})
    assert not ratings.members_of(neutral, 0.0)[0].text.marks and not ratings.members_of(neutral, 0.0)[0].somewhere
    assert ratings.members_of(both.segments[0], 1.0)[0].sure == 0.0


def test_lessons_hold_every_output_and_no_two_files(both: Ratings) -> None:
    """Outputs of an input are compared, and outputs of a file."""
    drawn = list(ratings.Rated(both, np.arange(120.0) / 5)(random.Random(0), 1.0))
    texts = [{member.text.text for member in lesson.members} for lesson in drawn]
    assert {text for group in texts for text in group} == {segment.hypothesis for segment in both.segments}
    one_input = {segment.hypothesis for segment in both.segments[:3]}
    assert one_input in texts
    own = sources.lessons({}, [], 0)
    assert ratings.mixed(drawn, own, 0.3, random.Random(0)) == drawn
    kept = ratings.mixed(drawn, LESSONS * 9, 0.3, random.Random(0))[len(drawn) :]
    pairs = [sum(len(lesson.members) for lesson in part) for part in (drawn, kept)]
    assert pairs[1] / sum(pairs) == pytest.approx(0.3, abs=0.03)


def test_a_part_of_ratings_keeps_its_files(both: Ratings) -> None:
    """Rows of the second file alone are one file."""
    part = both.only(np.arange(100, 120))
    assert [one.name for one in part.sets] == ["marked"] and part.segments == both.segments[100:]
    assert set(part.file.tolist()) == {0} and part.dimensions == (("mqm",),)


def command(out: Path, *more: str) -> Sequence[str]:
    return ["train", "errors", "--out", str(out), "--steps", "3", "--pairs", "24", "--parts", "2", *more]


def test_the_command_fine_tunes_and_writes_a_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Direct assessments and MQM with spans together; the card says what was run; the set scores; nothing is needed but the files."""
    (tmp_path / "data").mkdir()
    write_sources(tmp_path / "data")
    monkeypatch.setattr(sources, "OWN_GROUPS", tmp_path / "data" / "groups")
    monkeypatch.setattr(recipe, "JUDGED", 1)
    monkeypatch.setenv("ROME_DATA", str(tmp_path / "absent"))
    table, lines = write_ratings(tmp_path)
    assert main([*command(tmp_path / "mine"), "--begin", "small", "--ratings", str(table), str(lines)]) == 0
    out, err = capsys.readouterr()
    assert "assessed adequacy kendall_b:" in out and "marked mqm kendall_b:" in out and "held-out outputs" in out
    assert "fewer than 500" in err and f"rome score --models {tmp_path / 'mine'}" in out
    card = read_card(tmp_path / "mine" / "errors")
    assert card["recipe"].endswith("--begin small --models small --ratings assessed.tsv marked.jsonl")
    assert card["data"][0].startswith("ratings of assessed (adequacy; licence as its source says): 60 outputs")
    assert [line.split(":")[0] for line in card["data"][2:5]] == ["groups", "ratings", "before, small"]
    agreement = card["figures"]["held_out_ratings"]["assessed adequacy"]["kendall_b"]
    assert set(agreement) == {"before", "after"} and {"held_out_groups", "held_out_groups_before"} < set(card["figures"])
    assert not (tmp_path / "mine" / "scorer-supervised").exists()
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("reference\thypothesis\nThe old dog ran home.\tThe young dog ran home.\n", encoding="utf-8")
    assert main(["score", str(pairs), "--models", str(tmp_path / "mine")]) == 0
    assert "models:mine." in "".join(capsys.readouterr())


def test_misuses_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Options that do not fit, and too few ratings."""
    table, _ = write_ratings(tmp_path)
    assert main([*command(tmp_path / "a"), "--ratings", str(table), "--share", "1"]) == 2
    assert main([*command(tmp_path / "a"), "--ratings", str(table), "--mixture", "groups=0.5"]) == 2
    assert capsys.readouterr().err.count("--share must be in [0, 1)") == 2
    few = tmp_path / "few.tsv"
    few.write_text("".join(table.read_text(encoding="utf-8").splitlines(keepends=True)[:20]), encoding="utf-8")
    assert main([*command(tmp_path / "b"), "--ratings", str(few)]) == 2
    assert "at least 50 rated outputs" in capsys.readouterr().err

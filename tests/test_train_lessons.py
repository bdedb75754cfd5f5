"""Lessons of the reader of both texts: what each source teaches, and how lessons are packed and cut into batches."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_lessons import LESSONS, TEXTS, error_of, forms, generated, write_sources
from tiny_reader import batches_of, lessons_of

from rome.data.perturbations.changes import plain
from rome.data.readers.groups import AnnotatedGroup
from rome.exceptions import InputError
from rome.features.errors.evidence import SEVERITIES, TYPES
from rome.train.errors import sources
from rome.train.errors.groups import COST, Group, Member
from rome.train.errors.packing import Lessons


@pytest.mark.parametrize("own", TEXTS, ids=lambda text: text.text[:9])
def test_marks_land_on_the_words_of_the_error(own: Any) -> None:
    """Near texts: on exactly the words of `wrong` in the hypothesis and of `right` in the reference; far ones: in the hypothesis alone."""
    others = tuple(text for text in TEXTS if text is not own)
    lesson = sources.whole(AnnotatedGroup("g", "test", own.text, (own, *others)))
    wrong = [member for member in lesson.members if member.text.marks]
    assert len(wrong) == sum(len(text.errors) for text in TEXTS) and len(lesson.members) == len(wrong) + 2
    for member in wrong:
        (mark,), (text, error) = member.text.marks, error_of(member.text.text)
        assert member.near == (text == own.text) and (mark.name, mark.severity) == (error.type, error.severity)
        assert forms(member.text, mark.new) == plain(error.wrong).forms()
        assert forms(lesson.reference, mark.old) == (plain(error.right).forms() if member.near else ())


def test_costs_and_levels_add_up() -> None:
    """The cost is the sum of the errors' costs, the level grows with it: 0 for none, 2 for one critical error; all severities occur."""
    seen = set()
    for lesson in LESSONS:
        for member in lesson.members:
            severities = [mark.severity for mark in member.text.marks]
            assert member.cost == min(25.0, sum(COST[severity] for severity in severities))
            assert member.level == sources.level_of(member.cost)
            seen.add(tuple(sorted(severities)))
    assert {(), ("minor",), ("major",), ("critical",)} < seen and max(map(len, seen)) == 3
    levels = [sources.level_of(cost) for cost in (0.0, 1.0, 5.0, 10.0, 25.0)]
    assert levels[0] == 0.0 and levels[3] == 2.0 and levels == sorted(levels)


def test_exchanged_pairs_invert_the_error() -> None:
    """A reference with an addition makes the right text one with an omission, and the other way round."""
    found = [member for lesson in LESSONS for member in lesson.members if member.reference is not None]
    for member in found:
        (mark,), reference = member.text.marks, member.reference
        assert reference is not None
        text, error = error_of(reference.text)
        assert mark.name == {"addition": "omission", "omission": "addition"}.get(error.type, error.type)
        assert forms(reference, mark.old) == plain(error.wrong).forms() and member.cost == COST[error.severity]
        assert forms(member.text, mark.new) == (plain(error.right).forms() if member.text.text == text else ())
    assert {"addition", "omission"} <= {member.text.marks[0].name for member in found}


def test_differing_texts_are_marked_where_they_differ() -> None:
    """Where most words differ, the error is somewhere."""
    near = sources.differing("The old dog ran home.", "The new dog ran home.", 10.0, 0.7)
    assert near.near and [(mark.new, mark.old) for mark in near.text.marks] == [((1,), (1,))] and not near.somewhere
    far = sources.differing("The old dog ran home.", "A cat sat here.", 10.0, 0.7)
    assert far.somewhere and not far.text.marks and far.sure == 0.0


def test_held_out_rows_never_train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither as hypotheses nor as references or sentences beside others; the held-out lessons have the held-out groups alone."""
    held = write_sources(tmp_path)
    monkeypatch.setenv("ROME_DATA", str(tmp_path))
    monkeypatch.setattr(sources, "OWN_GROUPS", tmp_path / "none")

    def names(lessons: Iterator[Group]) -> set[str]:
        texts = (text for group in lessons for m in group.members for text in (m.reference or group.reference, m.text))
        return {form for text in texts for form in text.forms() if any(map(str.isdigit, form))}

    drawn = names(sources.lessons({}, ("groups", "summaries", "paws"), 0))
    assert {name[0] for name in held} == {"d", "r", "p"} == {name[0] for name in drawn} and not drawn & held
    assert names(sources.held_out_lessons()) == {name for name in held if name.startswith("dog")}


@pytest.mark.parametrize("name", sources.SOURCES)
def test_every_source_draws_lessons(name: str) -> None:
    """From the real data: places within the texts, severities and types that the reader knows, something to compare."""
    draw = sources.SOURCES[name][0](random.Random(0), 0.1)
    try:
        first = [lesson for _, lesson in zip(range(20), draw, strict=False)]
    except InputError:
        pytest.skip("needs the public development data: set ROME_DATA to its folder")
    assert len(first) == 20 or name == sources.FURTHER  # whose file is in a checkout alone
    for group in first:
        assert group.kind == name and group.members
        for member in group.members:
            reference = member.reference or group.reference
            assert 0.0 <= member.cost <= 25.0 and 0.0 <= member.sure <= 1.0 and reference.words and member.text.words
            for mark in member.text.marks:
                assert mark.severity in SEVERITIES[1:] and mark.name in (*TYPES, "")
                assert all(n < len(member.text.words) for n in mark.new) and all(n < len(reference.words) for n in mark.old)


def test_synthesized_pairs_are_a_source(tmp_path: Path) -> None:
    """Every labelled pair once, at the cost of its label, beside the reference itself, which is acceptable; files without one are refused."""
    draw = sources.Synthesized([generated(tmp_path / "made.jsonl")])
    groups = list(sources.lessons({"synthesized": draw}, ["synthesized"], 0))
    assert all(group.members[0].text == group.reference and group.members[0].cost == 0.0 for group in groups)
    found = {(group.reference.text, m.text.text): m.cost for group in groups for m in group.members[1:]}
    assert found == {
        ("It rains.", "It snows."): 5.0,
        ("It rains.", "It rain."): 1.0,
        ("It rains.", "Rain falls."): 0.0,
        ("We go home now.", "They went."): 25.0,
    }
    with pytest.raises(InputError, match="--synthesized must have pairs with labels, got none"):
        list(sources.Synthesized([])(random.Random(0), 1.0))


# Packing and batches


@pytest.fixture(scope="module")
def lessons(tiny: Path) -> Lessons:
    return lessons_of(LESSONS, tiny)


def test_packing_round_trips(lessons: Lessons, tmp_path: Path) -> None:
    """All arrays come back from the file; the parts of texts and pairs fit together."""
    lessons.save(tmp_path / "lessons.npz")
    again = Lessons.load(tmp_path / "lessons.npz")
    for field in fields(Lessons):
        assert np.array_equal(getattr(lessons, field.name), getattr(again, field.name), equal_nan=field.name == "cost")
    assert len(lessons) == len(LESSONS) and lessons.group_start[-1] == len(lessons.cost) == len(lessons.label_start) - 1
    pairs = [(g, m) for g in LESSONS for m in g.members if m.text.text != (m.reference or g.reference).text]
    assert lessons.cost.tolist() == [member.cost for _, member in pairs]


def test_long_and_empty_texts_are_left_out(tiny: Path) -> None:
    """And equal ones, but where the reference is the only acceptable text; a group that loses all of its pairs is gone."""
    one, known = plain("It rains."), (0.0, 0.0, 1.0)
    texts = [plain("It snows."), one, plain(""), plain("It rains, " * 300)]
    members = tuple(Member(text, *known) for text in texts)
    found = lessons_of([Group("x", one, members), Group("y", one, members[1:]), Group("synthesized", one, members[1:])], tiny)
    assert found.group_start.tolist() == [0, 1, 2] and found.sources[found.source].tolist() == ["x", "synthesized"]


def test_batches_rebuild_the_words_and_their_labels(lessons: Lessons, tiny: Path) -> None:
    """Each pair once in a pass; its row is the words of both texts in order, and its labels are on the marked ones."""
    from rome.features.analyser.encoder import load_tokenizer

    source, tokenizer, seen = batches_of(lessons, tiny, pairs=40, parts=3), load_tokenizer(tiny / "encoder"), []
    pairs = [(g, m) for g in LESSONS for m in g.members if m.text.text != (m.reference or g.reference).text]
    assert len(source) > 2
    for batch in (part for step in range(len(source)) for part in source[step]):
        pieces = tokenizer.convert_ids_to_tokens(batch.ids.flatten()[batch.pooled].tolist())
        words = ["" for _ in range(int(batch.word.max()) + 1)]
        for word, piece in zip(batch.word.tolist(), pieces, strict=True):
            words[word] += piece.removeprefix("##")
        for row, n in enumerate(batch.pair.tolist()):
            group, member = pairs[n]
            reference = member.reference or group.reference
            p, q = len(reference.words), len(member.text.words)
            assert [words[w - 3] if w > 2 else w for w in batch.row[row].tolist() if w >= 0] == [
                0,
                *reference.forms(),
                1,
                *member.text.forms(),
                2,
            ]
            marked = {p + 2 + w for mark in member.text.marks for w in mark.new}
            assert {w for w in torch.nonzero(batch.severity[row]).flatten().tolist() if w > p} == marked
            if member.near:
                marked |= {1 + w for mark in member.text.marks for w in mark.old}
                assert set(torch.nonzero(batch.severity[row]).flatten().tolist()) == marked
            assert batch.reference[row].nonzero().flatten().tolist() == [*range(1, p + 1)]
            assert batch.side[row].sum() == q and batch.cost[row] == member.cost
        seen += batch.pair.tolist()
    assert sorted(seen) == list(range(len(pairs)))

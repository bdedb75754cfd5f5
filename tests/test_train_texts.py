"""What the reader's lessons are made of: texts after edits, changes of texts, groups drawn from them, and the agreement of outputs."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_encoder import write_lines

from rome.data.perturbations.changes import TOKEN, Made, NamedChange, Text, fits, made, plain
from rome.data.perturbations.damage import DAMAGES, Vocabulary
from rome.data.perturbations.lexicons import default_materials
from rome.data.perturbations.perturbation import Materials
from rome.data.perturbations.registry import PERTURBATIONS
from rome.exceptions import InputError
from rome.features.errors.evidence import TYPES
from rome.features.values import Analysis
from rome.train.errors import texts as errors_texts
from rome.train.errors.groups import COST, MOST, UNLIKE, Groups
from rome.train.errors.packing import TYPE_OF
from rome.train.errors.sources import Perturbed
from rome.train.errors.texts import EACH, Pool, changes_of, paraphrases, prepare, write_agreements

from handmade import analysis
from perturbation_sentences import SENTENCES, parsed

TEXTS = list(SENTENCES)


def text_of(text: str, *changes: NamedChange) -> Text:
    """A text of one sentence with words by the rule."""
    one = plain(text)
    return Text(one.text, one.words, one.sentences, changes)


# Words after edits


@st.composite
def edited(draw: st.DrawFn) -> tuple[Text, list[NamedChange]]:
    """A text, and changes of it that fit together, each of one edit or two."""
    words = st.sampled_from(["John's", "dog", "don't", "1,000", "9:30", "well-known", "ate", ",", ".", "“no”", "é", "of"])
    text = draw(st.lists(words, max_size=8).map(" ".join))
    new = st.one_of(st.sampled_from(["", "not", " very ", "can't", "x", "2", ", and", "’s"]), st.text("ab '.1", max_size=5))
    changes: list[NamedChange] = []
    for n in range(draw(st.integers(0, 4))):
        edits = []
        for _ in range(draw(st.integers(1, 2))):
            start = draw(st.integers(0, len(text)))
            edits.append((start, draw(st.integers(start, min(len(text), start + 6))), draw(new)))
        change = NamedChange(f"c{n}", draw(st.sampled_from(["none", "minor", "critical"])), tuple(sorted(edits)))
        if fits([*changes, change]):
            changes.append(change)
    return text_of(text), changes


@given(edited())
def test_words_after_edits(case: tuple[Text, list[NamedChange]]) -> None:
    """The new text is that of the edits; its words stand in order and apart, each a token, and nothing but blanks is left out."""
    text, changes = case
    found = made(text, changes)
    expected = text.text
    for start, end, new in sorted((edit for change in changes for edit in change.edits), reverse=True):
        expected = expected[:start] + new + expected[end:]
    assert found.text == expected
    assert all(TOKEN.fullmatch(found.text, a, b) for a, b in found.words)
    assert all(one[1] <= other[0] for one, other in pairwise(found.words))
    left = set(range(len(found.text))).difference(*(range(a, b) for a, b in found.words))
    assert not "".join(found.text[n] for n in left).strip()
    assert all(0 <= a < b <= len(found.text) for a, b in found.sentences)


@given(edited())
def test_marks_stand_on_what_an_edit_did(case: tuple[Text, list[NamedChange]]) -> None:
    """One mark for each edit of a change that is an error: the old words that it touched, the new ones that hold what it put in."""
    text, changes = case
    found, edits = made(text, changes), sorted((edit, change) for change in changes for edit in change.edits)
    wrong = [(edit, change) for edit, change in edits if change.severity != "none"]
    assert [(mark.name, mark.severity) for mark in found.marks] == [(change.name, change.severity) for _, change in wrong]
    for mark, ((start, end, new), _) in zip(found.marks, wrong, strict=True):
        assert mark.old == tuple(n for n, (a, b) in enumerate(text.words) if a < end and b > start)
        assert mark.forms == tuple(text.text[slice(*text.words[n])].lower() for n in mark.old)
        at = start + sum(len(other[2]) - other[1] + other[0] for other, _ in edits if other[1] < start)
        held = {n for k in mark.new for n in range(*found.words[k])}
        assert {n for n in range(at, at + len(new)) if not found.text[n].isspace()} <= held
        assert mark.new or not new.strip()


def test_sentences_after_edits() -> None:
    """What is put in at the end of a sentence belongs to it, and a sentence that is taken away is gone."""
    one = plain("It rains. We go.")
    text = Text(one.text, one.words, ((0, 9), (10, 16)), ())

    def cut(*edits: tuple[int, int, str]) -> list[str]:
        found = made(text, [NamedChange("c", "none", edits)])
        return [found.text[a:b] for a, b in found.sentences]

    assert cut((8, 8, " now")) == ["It rains now.", "We go."] and cut((9, 9, "!")) == ["It rains.!", "We go."]
    assert cut((0, 10, "")) == ["We go."] and cut((10, 12, "They")) == ["It rains.", "They go."]


def test_plain_texts_are_cut_by_a_rule() -> None:
    """Contractions, possessives, numbers and marks as Universal Dependencies cut them; an empty text has no sentence, others have several."""
    found = plain("They don't sell John's 1,000 cars at 9:30.")
    assert found.forms() == ("they", "do", "n't", "sell", "john", "'s", "1,000", "cars", "at", "9:30", ".")
    assert plain('"It rains." We go, e.g. home.').sentences == ((0, 12), (12, 29))
    assert found.sentences == ((0, 42),) and plain("") == Made("", (), (), ())


def test_every_mistake_that_is_learned_has_a_type() -> None:
    """All names are those of perturbations, and nearly every perturbation of a fact has a type that the reader knows."""
    assert set(TYPE_OF) <= {*PERTURBATIONS, *DAMAGES} and set(TYPE_OF.values()) <= set(TYPES)
    turned = {name for name, one in PERTURBATIONS.items() if one.severity == "critical" and one.category != "typography"}
    unnamed = {name for name in turned if name not in TYPE_OF and not name.startswith("omitted")}
    assert unnamed <= {"words_by_token", "concession_changed", "inclusion_changed", "entities_replaced_partially"}


# Texts and groups


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, monkey: pytest.MonkeyPatch) -> Path:
    """A folder of all corpora that the recipe reads, tiny, where ROME_DATA points."""
    folder = tmp_path_factory.mktemp("data")
    for year in (22, 23):
        rows = [
            {"lp": "de-en", "segment": n, "reference": TEXTS[n : n + 2], "outputs": dict(zip("abcd", TEXTS[8:], strict=True))}
            for n in range(4)
        ]
        secret = {"lp": "zh-en", "segment": 0, "reference": ["A secret text judges.", "It judges, the secret."], "outputs": {}}
        write_lines(folder / "text" / f"wmt{year}_to_en_outputs.jsonl.gz", [*rows, secret])
    rated = [
        {"a": TEXTS[n], "b": TEXTS[n + 1], "similarity": 5 - n % 5, "source": "SMTnews" if n == 5 else "images"}
        for n in range(10)
    ]
    write_lines(folder / "pairs" / "sts_2012_2016.jsonl.gz", rated)
    write_lines(
        folder / "pairs" / "msrp_train.jsonl.gz", [{"a": TEXTS[8], "b": TEXTS[n], "paraphrase": n % 2} for n in (9, 10)]
    )
    split = [{"text": TEXTS[n], "split": [TEXTS[n + 1], "It rains."]} for n in range(6)]
    write_lines(folder / "text" / "wikipedia_sentences.jsonl.gz", split)
    groups = [{"reference": TEXTS[0], "kind": "x", "acceptable": [TEXTS[0]], "critical": [TEXTS[3]]}]
    write_lines(folder / "meaning" / "handmade.jsonl.gz", groups)
    monkey.setenv("ROME_DATA", str(folder))
    return folder


def nouns(text: str) -> Analysis:
    """A text of one sentence in which every word is a noun."""
    found = analysis(text)
    return replace(found, words=tuple(replace(word, xpos="NN") for word in found.words))


class Parser:
    """Takes the metric's place: analyses that were written down by hand. asked : the texts, call by call."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def analyse(self, texts: Sequence[str]) -> dict[str, Analysis]:
        self.asked.append(list(texts))
        return {text: parsed(text) if text in SENTENCES else nouns(text) for text in texts}


def materials_of(texts: Sequence[str]) -> Materials:
    """The default materials, with words of the sentences that were parsed by hand."""
    return replace(default_materials(texts), draw=Vocabulary(list(map(parsed, TEXTS)) * 2).draw)


@pytest.fixture(scope="module")
def parser(monkey: pytest.MonkeyPatch) -> Parser:
    """The one process that prepares texts, here a thread, with a parser that loads nothing."""
    found = Parser()

    def start(models: str, seed: int, sample: Sequence[str], store: Path) -> None:
        errors_texts._worker = found, seed, materials_of(sample)

    monkey.setattr(errors_texts, "_start", start)
    monkey.setattr(errors_texts, "ProcessPoolExecutor", ThreadPoolExecutor)
    monkey.setattr(errors_texts, "BLOCK", 5)
    return found


@pytest.fixture(scope="module")
def prepared(data: Path, parser: Parser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The texts of all pairs with their changes."""
    texts = [text for pair in paraphrases(0, 9, 9) for text in (pair.one, pair.other)]
    return prepare(texts, "small", 0, tmp_path_factory.mktemp("texts") / "texts.jsonl", Path("unused"))


def test_texts_are_prepared_once(prepared: Path, parser: Parser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that holds all texts stays; one that lacks some is made anew, whole or not at all."""
    lines = prepared.read_text(encoding="utf-8").splitlines(keepends=True)
    texts = [json.loads(line)["text"] for line in lines]
    assert len(set(texts)) == len(texts) > 12
    part = tmp_path / "texts.jsonl"
    part.write_text("".join(lines[:-7]), encoding="utf-8")
    monkeypatch.setattr(errors_texts, "_row", lambda analysis, *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        prepare(texts, "small", 0, part, Path("unused"))
    assert part.read_text(encoding="utf-8") == "".join(lines[:-7]) and list(tmp_path.iterdir()) == [part]
    monkeypatch.undo()
    parser.asked.clear()
    prepare([*texts, *texts[:3]], "small", 0, part, Path("unused"))
    assert sum(parser.asked, []) == texts and part.read_text(encoding="utf-8") == "".join(lines)
    parser.asked.clear()
    prepare(texts[3:], "small", 0, part, Path("unused"))
    assert not parser.asked and part.read_text(encoding="utf-8") == "".join(lines)


def test_a_pool_reads_what_was_prepared(prepared: Path) -> None:
    """Words, sentences and changes of each text come back; what is not there, or has no word, is None."""
    pool = Pool([prepared])
    assert pool.get("not there") is None and len(pool.texts) == len(prepared.read_text(encoding="utf-8").splitlines())
    for row in map(json.loads, prepared.read_text(encoding="utf-8").splitlines()):
        found = pool.get(row["text"])
        assert found is not None and [list(span) for span in found.words] == row["words"]
        assert [list(span) for span in found.sentences] == row["sentences"]
        assert [[c.name, c.severity, [list(edit) for edit in c.edits]] for c in found.changes] == row["changes"]
        assert row["text"] not in SENTENCES or len(found.words) == len(parsed(row["text"]).words)


@pytest.mark.parametrize("text", TEXTS[:4])
def test_changes_of_a_text(text: str) -> None:
    """So many of each severity and no more, the same for the same seed; every one gives another text, whose words can be told."""
    one, materials = parsed(text), materials_of(TEXTS)
    found = list(changes_of(one, 3, materials))
    assert found == list(changes_of(one, 3, materials)) != list(changes_of(one, 4, materials))
    kinds = [change for change in found if change.name not in DAMAGES]
    assert len({change.name for change in found}) == len(found) > 8
    for severity, most in EACH.items():
        same = [c for c in kinds if c.severity == severity or (severity == "other" and c.severity in ("minor", "major"))]
        assert len(same) <= most
    whole = text_of(text)
    for change in found:
        changed = made(whole, [change])
        assert changed.text != text and changed.text.strip()
        assert (change.severity == "none") == (not changed.marks)


def test_pairs_that_say_the_same(data: Path) -> None:
    """Second references, agreed outputs, paraphrases, likely sentences and splits; nothing that judges elsewhere, no machine translation."""
    found = paraphrases(0, 2, 3)
    assert found == paraphrases(0, 2, 3) and found != paraphrases(1, 2, 3)
    counts = Counter(pair.origin for pair in found)
    assert counts == {"references": 9, "outputs": 3, "msrp": 1, "sts": 1, "splits": 2}
    by = {pair.origin: pair for pair in found}
    assert (by["sts"].one, by["msrp"].other) == (TEXTS[0], TEXTS[9])
    assert {pair.group[:3] for pair in found if "secret" in pair.one} == {"w23"}
    assert all(pair.one != pair.other and 0.0 < pair.sure <= 1.0 for pair in found)


@pytest.fixture(scope="module")
def agreement(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Outputs with an agreement each."""
    path = tmp_path_factory.mktemp("agreement") / "agreement.jsonl"
    rows = [{"reference": text, "outputs": [[other, n / 4] for n, other in enumerate(TEXTS[:4])]} for text in TEXTS[4:8]]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def groups(prepared: Path, agreement: Path) -> Groups:
    """What a step draws from."""
    return Groups(Pool([prepared]), paraphrases(0, 9, 9), agreement)


def test_groups_need_pairs(agreement: Path, tmp_path: Path) -> None:
    """Texts that were made of other pairs are told, not drawn from."""
    (tmp_path / "texts.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="got 0 .*--texts"):
        Groups(Pool([tmp_path / "texts.jsonl"]), paraphrases(0, 9, 9), agreement)


def test_groups_of_meaning(groups: Groups) -> None:
    """Acceptable near and far on level 0, critical ones on 2 with ten points, between them minor and major, and at times a stranger."""
    seen: set[tuple[float, bool]] = set()
    for number in range(150):
        group = groups.meaning(random.Random(number))
        first, second, *others = group.members
        assert (first.level, first.cost, first.near, first.sure) == (0.0, 0.0, True, 1.0)
        assert (second.level, second.near) == (0.0, False) and (second.cost == 0.0 or math.isnan(second.cost))
        assert not first.text.marks and not second.text.marks
        for member in others:
            worst = {2.0: ("critical", 10.0), 1.0: ("major", 5.0), 0.35: ("minor", 1.0)}.get(member.level)
            if worst is None:
                assert (member.level, member.cost, member.sure) == (3.0, 25.0, 0.0)
            else:
                assert {mark.severity for mark in member.text.marks} == {worst[0]} and member.cost == worst[1]
            assert member.sure == 1.0 if member.near else member.sure < 0.5
            assert not member.near or all(n < len(group.reference.words) for mark in member.text.marks for n in mark.old)
        seen |= {(member.level, member.near) for member in group.members}
    assert seen == {(level, near) for level in (0.0, 0.35, 1.0, 2.0) for near in (True, False)} | {(3.0, False)}


def test_groups_of_mistakes_outputs_and_ratings(groups: Groups) -> None:
    """Higher levels for what is worse, agrees less or is rated lower; the same for the same seed."""
    assert all(repr(draw(random.Random(1))) == repr(draw(random.Random(1))) for draw in (groups.mistakes, groups.ranked))
    levels = {"minor": 1.0, "major": 2.0, "critical": 3.0}
    for n in range(5):
        group = groups.mistakes(random.Random(n))
        assert not group.members[0].text.marks and group.members[0].level == 0.0
        assert all({levels[mark.severity] for mark in member.text.marks} == {member.level} for member in group.members[1:])
        group = groups.ranked(random.Random(n))
        agreed = [TEXTS.index(member.text.text) / 4 for member in group.members]
        assert [(m.level, m.cost) for m in group.members] == [(-10.0 * n, UNLIKE * (1.0 - n)) for n in agreed]
    rated = {(TEXTS[n], TEXTS[n + 1]): float(n % 5) for n in range(10) if n != 5}
    members = groups.rating(random.Random(1)).members
    assert all(m.reference is not None and rated[m.reference.text, m.text.text] == m.level for m in members)
    weights = [member.cost for member in sorted(members, key=lambda member: member.level)]
    assert weights == sorted(weights) and weights[0] >= 0.0 and weights[-1] <= MOST


def test_perturbed_texts_are_a_source(prepared: Path, agreement: Path) -> None:
    """Lessons of all five kinds, as many times over as is wanted."""
    draw = Perturbed(paraphrases(0, 9, 9), prepared, agreement)
    kinds = [group.kind for group in draw(random.Random(0), 0.001)]
    assert {kind: kinds.count(kind) for kind in kinds} == {"meaning": 7, "mistakes": 7, "outputs": 12, "rated": 3, "ladders": 4}


def test_ladders(groups: Groups) -> None:
    """Every rung holds the mistakes of the one below and more; what it weighs is known where the reference itself was changed."""
    seen = set()
    for number in range(60):
        group = groups.ladder(random.Random(number))
        first, *others = group.members
        own = first.text.text == group.reference.text
        seen.add(own)
        assert not first.text.marks and first.level == 0.0 and first.near == own and others
        levels = [member.level for member in group.members]
        assert levels == sorted(levels) and len({member.text.text for member in group.members}) == len(group.members)
        for member in others:
            marks = member.text.marks
            cost = sum(COST[mark.severity] for mark in marks)
            assert marks and member.level <= cost / 5.0  # a change of two edits counts once, and has two marks
            assert member.cost == min(5.0 * member.level, MOST) if own else math.isnan(member.cost)
    assert seen == {True, False}


def test_agreement_is_the_mean_likeness_to_all_others(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Oracle: vectors and chrF against every reference, which counts twice, and every other output, pair by pair."""
    from sacrebleu.metrics.chrf import CHRF

    def vectors(texts: Sequence[str]) -> np.ndarray:
        found = np.array([[text.lower().count(letter) for letter in "aeinst"] for text in texts], np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    monkeypatch.setattr("rome.train.errors.texts.source_folder", lambda: tmp_path)
    monkeypatch.setattr(errors_texts, "_SentenceVectors", lambda folder: vectors)
    rows = [json.loads(line) for line in write_agreements(tmp_path / "a.jsonl", 0, 2).open(encoding="utf-8")]
    again = write_agreements(tmp_path / "b.jsonl", 0, 2).read_bytes()
    assert again == (tmp_path / "a.jsonl").read_bytes() and len(rows) == 2
    chrf = CHRF()
    for row in rows:
        n, outputs = TEXTS.index(row["reference"]), [text for text, _ in row["outputs"]]
        assert sorted(outputs) == sorted(TEXTS[8:])
        for text, agreement in row["outputs"]:
            likes, counts = [], []
            for other in [*TEXTS[n : n + 2], *(other for other in outputs if other != text)]:
                cosine = float(np.clip(vectors([text])[0] @ vectors([other])[0], 0.0, 1.0))
                later = other in outputs and outputs.index(other) > outputs.index(text)
                near = chrf.sentence_score(*((other, [text]) if later else (text, [other]))).score / 100
                likes.append(0.5 * (cosine + near))
                counts.append(2.0 if other in TEXTS[n : n + 2] and other not in outputs else 1.0)
            assert agreement == pytest.approx(np.average(likes, weights=counts), abs=1e-4)

"""The recipe of the net: torch and NumPy agree, the same seed gives the same bytes, the targets order damage."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load

pytest.importorskip("torch", reason="training needs the extra [train]")

from rome.cli import main  # noqa: E402
from rome.combining.table import FeatureTable  # noqa: E402
from rome.data.readers.groups import is_held_out_group, read_groups  # noqa: E402
from rome.train.common.textattack import Request  # noqa: E402
from rome.train.scorer import recipe as scorer  # noqa: E402
from rome.train.scorer.chains import edit_severity, make_pairs  # noqa: E402
from rome.train.scorer.net import (  # noqa: E402
    ScorerConfig,
    held_out_mask,
    is_textattack,
    scale_figures,
)
from rome.train.scorer.pairs import (  # noqa: E402
    ACCEPTABLE_TEXTS,
    FORMER,
    GROUP_QUALITY,
    TRANSLATED,
    TrainingPair,
    group_pairs,
    rated_pairs,
    read_pairs,
    write_pairs,
)
from rome.train.synthesis.severities import Edits, Verdict  # noqa: E402

STEPS = (
    ("clean", "none", 0, 0.0),
    ("light", "qwerty", 1, 1.0),
    ("heavy", "word_deletion", 6, 20.0),
    ("severe", "unrelated", 9, 25.0),
)


def synthetic(groups: int = 200) -> tuple[list[TrainingPair], FeatureTable]:
    """Pairs without texts worth reading, and features that fall with the damage, with noise."""
    chance, pairs, rows = np.random.default_rng(5), [], []
    for group in range(groups):
        base = ("identity", "system", "reference", "paraphrase")[group % 4]
        for level, operation, strength, severity in STEPS:
            pairs.append(
                TrainingPair(f"{group}-{level}", str(group), "r", "h", "made", base, operation, level, strength, severity)
            )
            rows.append(np.clip(1 - severity / 30 - chance.random(4) * 0.05, 0, 1))
    count = len(pairs)
    return pairs, FeatureTable(np.arange(count), np.zeros(count, int), np.array(rows), np.zeros((count, 4)), signature="made:1")


def test_targets_order_the_damage() -> None:
    """Clean above light above heavy above unrelated, for every base; the binary target knows only clean and perturbed."""
    pairs, _ = synthetic(4)
    for group in range(4):
        targets = [ScorerConfig().target(pair) for pair in pairs[4 * group : 4 * group + 4]]
        assert targets == sorted(targets, reverse=True) and len(set(targets)) == 4
    assert [ScorerConfig(objective="binary").target(pair) for pair in pairs[:4]] == [1.0, 0.0, 0.0, 0.0]


def write_bases(tmp_path: Path) -> None:
    """Sentences of Wikipedia, segments of WMT with two references and an output, and paraphrases."""
    (tmp_path / "text").mkdir()
    words = ("many people", "some farmers", "two teachers", "young artists", "old sailors", "most tourists")
    texts = [f"{who} visited a market number {n} before it rained" for n in range(10) for who in words]
    rows: dict[str, list[dict[str, object]]] = {"text/wikipedia_sentences": [{"text": text} for text in texts]}
    for year in ("22", "23"):
        rows[f"text/wmt{year}_to_en_outputs"] = [
            {"lp": "de-en", "reference": [f"In 20{year} {text}", f"{text} in 20{year}"], "outputs": {"x": f"{text} {year}"}}
            for text in texts
        ]
    rows["pairs/msrp_train"] = [{"a": text, "b": f"yesterday {text}", "paraphrase": 1} for text in texts]
    for name, lines in rows.items():
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as out:
            out.writelines(json.dumps(line) + "\n" for line in lines)


def write_rated(tmp_path: Path, *sources: str) -> None:
    """Thirty rated pairs, of the sources in turn, and one of equal texts, as the data set has them."""
    (tmp_path / "pairs").mkdir(exist_ok=True)
    rows = [
        {"a": f"the dog number {n} ran home fast", "b": f"a dog number {n} went home", "similarity": n % 6} for n in range(30)
    ]
    rows.append({"a": "one and the same text here", "b": "one and the same text here", "similarity": 5})
    with gzip.open(tmp_path / "pairs" / "sts_2012_2016.jsonl.gz", "wt", encoding="utf-8") as out:
        out.writelines(json.dumps({**row, "source": sources[n % len(sources)]}) + "\n" for n, row in enumerate(rows))


def test_rated_pairs_are_ranked_by_what_people_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ratings become even targets between the scale's ends, the same for the same seed; equal texts are left out; files keep them."""
    write_rated(tmp_path, "2014-images")
    monkeypatch.setenv("ROME_DATA", str(tmp_path))
    pairs = rated_pairs(100, 0)
    assert len(pairs) == 30 and pairs == rated_pairs(100, 0) != rated_pairs(100, 1)
    config = ScorerConfig()
    for pair in pairs:
        similarity = int(pair.reference.split()[3]) % 6
        assert config.target(pair) == pair.quality == pytest.approx(0.05 + 0.16 * similarity)
    assert max(Counter(pair.group for pair in pairs).values()) == 8
    write_pairs(tmp_path / "pairs.jsonl", pairs)
    assert read_pairs(tmp_path / "pairs.jsonl") == pairs
    figures = scale_figures(np.array([pair.quality for pair in pairs]), pairs, config)
    assert figures["rated_tau"] == pytest.approx(1.0) and "mean_good_paraphrase" not in figures


def test_textattack_has_its_share_of_the_loss() -> None:
    """A share of the weights, whatever the numbers of pairs; the mean weight is 1, and severe cases count as much as ratings."""
    pairs, _ = synthetic()
    pairs.append(TrainingPair("r", "r", "a", "b", "made", "rated", quality=0.4))
    made = np.array([is_textattack(pair) for pair in pairs])
    assert made.sum() == 400
    for share in (0.05, 0.2, 0.4):
        weights = ScorerConfig(textattack=share).weights(pairs)
        assert weights[made].sum() / weights.sum() == pytest.approx(share) and weights.mean() == pytest.approx(1.0)
        assert weights[3] * 2.0 == pytest.approx(weights[-1])


MARKED = (
    "{The=>Teh|minor|spelling} shop {opens=>closes|critical|antonym} at {nine=>ten|major|time||noon|critical|time}.",
    "At {nine=>ten|major|time} the shop {opens=>closes|critical|antonym||opened|minor|tense}.",
    "You can {=>not |critical|negation}go {in=>|minor|omission} from nine{ on=>, for free|major|addition}.",
    "Nine is when the shop opens.",
)


def write_groups(tmp_path: Path, count: int) -> None:
    """Write annotated training groups of the same texts."""
    rows = [
        {"id": f"g{n}", "domain": "made", "reference": "The shop opens at nine.", "texts": MARKED[: 2 + n % 3]}
        for n in range(count)
    ]
    (tmp_path / "groups").mkdir()
    path = tmp_path / "groups" / "train_01.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_annotated_groups_grade_by_severity_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each text is worth what its errors leave, near and far; the reference itself is absent, and so are groups that taught the reader."""
    monkeypatch.setenv("ROME_DATA", str(tmp_path))
    monkeypatch.setattr("rome.train.errors.sources.OWN_GROUPS", tmp_path / "none")
    write_groups(tmp_path, 400)
    pairs = group_pairs(20, 0)
    assert pairs == group_pairs(20, 0) != group_pairs(20, 1) and len({pair.group for pair in pairs}) == 20
    assert len({pair.id for pair in pairs}) == len(pairs) and all(pair.hypothesis != pair.reference for pair in pairs)
    assert all(is_held_out_group(pair.group.removeprefix("groups-")) for pair in pairs)
    texts = {text.text: text for group in read_groups(tmp_path / "groups" / "train_01.jsonl") for text in group.texts}
    singles = {text.with_errors(error): error.severity for text in texts.values() for error in text.errors}
    for pair in pairs:
        kind, _, distance = pair.operation.rpartition("_")
        assert pair.base == "groups" and ScorerConfig().target(pair) == pair.quality and distance in ("near", "far")
        assert (kind == "acceptable") == (pair.level == "clean") == (pair.hypothesis in texts)
        if kind == "two_errors":
            assert pair.hypothesis not in singles and pair.quality < GROUP_QUALITY["minor"]
        elif kind != "acceptable":
            assert singles[pair.hypothesis] == kind and pair.quality == GROUP_QUALITY[kind]
    drawn = Counter((pair.group, pair.operation) for pair in pairs)
    assert {count for (_, operation), count in drawn.items() if operation != "acceptable_far"} == {1}
    assert max(count for (_, operation), count in drawn.items() if operation == "acceptable_far") == ACCEPTABLE_TEXTS
    write_pairs(tmp_path / "pairs.jsonl", pairs)
    assert read_pairs(tmp_path / "pairs.jsonl") == pairs


class FakePerturber:
    """Changes one word more at every step: to a synonym, or to nothing."""

    operations = ("embedding", "word_deletion")

    def __init__(self, *_: object, **__: object) -> None:
        self.closed = False

    def run(self, request: Request) -> str:
        """Change the first word that is not yet a synonym, or drop it."""
        words = request.text.split()
        for _ in range(request.edits):
            place = next(n for n, word in enumerate(words) if not word.startswith("s"))
            words[place : place + 1] = [f"s{words[place]}"] if request.operation == "embedding" else []
        return " ".join(words)

    def close(self) -> None:
        """End it."""
        self.closed = True


class FakeSeverity:
    """Every edit weighs 0.3."""

    signature = "fake"

    def of(self, edits: Edits) -> list[Verdict]:
        """Judge each edit."""
        assert all(text[edit.start : edit.end] == edit.original for text, edit in edits)
        return [(True, {"weight": 0.3})] * len(edits)


def test_a_synonym_weighs_what_the_judge_says() -> None:
    """Steps of synonyms have the weights of their edits, others those of their words; severities add up along the ladder."""
    text = "many people walked to a big old market where nobody knew their names before"
    bases = [TrainingPair(f"{n}-clean", str(n), text, text, "made", "identity") for n in range(30)]
    pairs = list(make_pairs(bases, FakePerturber(), FakeSeverity(), 0))
    before: dict[str, TrainingPair] = {}
    kinds = Counter[str]()
    for pair in (pair for pair in pairs if pair.level != "severe"):
        last = before.get(pair.group)
        if last is not None:
            step = pair.severity - last.severity
            kinds[pair.operation] += 1
            if pair.operation == "embedding":
                assert 0.1 <= step <= 0.3 * (pair.strength - last.strength) + 1e-6
            else:
                assert step == pytest.approx(edit_severity(last.hypothesis, pair.hypothesis, pair.operation)[1])
        before[pair.group] = pair
    assert min(kinds["embedding"], kinds["word_deletion"]) > 5


def test_one_command_makes_pairs_and_net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`rome train scorer --out FOLDER` alone makes the pairs, measures and fits; TextAttack starts once; --pairs repeats the net."""
    started: list[FakePerturber] = []

    def start(*_: object, **__: object) -> FakePerturber:
        started.append(FakePerturber())
        return started[-1]

    def measure(_: object, references: list[str], hypotheses: list[str]) -> FeatureTable:
        shared = [
            len(set(a.split()) & set(b.split())) / max(1, len(set(a.split())))
            for a, b in zip(references, hypotheses, strict=True)
        ]
        count = len(shared)
        rows = np.repeat(np.array(shared)[:, None], 4, axis=1)
        return FeatureTable(np.arange(count), np.zeros(count, int), rows, rows, signature="made:1")

    monkeypatch.setenv("ROME_DATA", str(tmp_path))
    monkeypatch.setattr("rome.train.errors.sources.OWN_GROUPS", tmp_path / "none")
    for name, value in (
        ("Perturber", start),
        ("trunk_vocabulary", lambda: None),
        ("load_severity", FakeSeverity),
        ("measured", measure),
    ):
        monkeypatch.setattr(scorer, name, value)
    write_rated(tmp_path, "2014-images")
    write_groups(tmp_path, 200)
    write_bases(tmp_path)
    folders = []
    for extra in ([], ["--pairs", str(tmp_path / "first.work/pairs.jsonl")], ["--objective", "binary"]):
        folders.append(tmp_path / ("first", "again", "binary")[len(folders)])
        given = ["--out", str(folders[-1]), "--work", f"{folders[-1]}.work", "--bases", "0.05", *extra]
        assert main(["train", "scorer", *given]) == 0
    weights = [(folder / "scorer.safetensors").read_bytes() for folder in folders]
    assert weights[0] == weights[1] != weights[2] and len(started) == 2 and all(one.closed for one in started)
    assert [load(weight)["direct_weight"].tolist() for weight in weights] == [[0.05, 0.0, 0.0, 0.0]] * 2 + [[0.0] * 4]
    cards = [json.loads((folder / "card.json").read_text()) for folder in folders]
    assert any(each.startswith("textattack") and each.endswith("15.0 % of the loss") for each in cards[0]["data"])
    assert cards[0]["data"] == cards[1]["data"] and cards[0]["notes"] in cards[1]["notes"]
    assert not any(each.startswith(("rated", "system", "severe", "groups")) for each in cards[2]["data"])


def test_no_rated_pair_is_a_machine_translation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What STS took from machine translation is neither drawn nor read; the other pairs stay the same ones, in order, in their groups."""
    monkeypatch.setenv("ROME_DATA", str(tmp_path))
    write_rated(tmp_path, "2014-images")
    before = {pair.id: pair for pair in rated_pairs(30, 0)}
    write_rated(tmp_path, "2014-images", *(source.partition("/")[2] for source in sorted(TRANSLATED)))
    pairs = rated_pairs(30, 0)
    assert 0 < len(pairs) < 10 and {pair.source for pair in pairs} == {"sts_2012_2016/2014-images"}
    assert pairs == [before[pair.id] for pair in pairs] and pairs[:3] == rated_pairs(3, 0)
    left_out = [
        *(replace(pairs[0], source=source) for source in TRANSLATED),
        *(replace(pairs[0], base=base) for base in FORMER),
    ]
    write_pairs(tmp_path / "pairs.jsonl", [*pairs, *left_out])
    assert read_pairs(tmp_path / "pairs.jsonl") == pairs


def test_binary_pairs_are_those_of_the_paper() -> None:
    """Clean sentences and their TextAttack perturbations, half of the weight each: no ratings, outputs or severe cases."""
    config = ScorerConfig(objective="binary")
    pairs = [*synthetic(4)[0], TrainingPair("r", "r", "a", "b", "made", "rated", quality=0.9)]
    used = [pair for pair in pairs if config.uses(pair)]
    assert {pair.base for pair in used} == {"identity", "reference", "paraphrase"} and len(used) == 9
    targets = np.array([config.target(pair) for pair in used])
    weights = config.weights(used)
    assert targets.tolist() == [1.0, 0.0, 0.0] * 3 and weights[targets == 1.0].sum() == pytest.approx(weights.sum() / 2)
    assert all(ScorerConfig().uses(pair) for pair in pairs)


def test_held_out_groups_are_whole_and_fixed() -> None:
    """Pairs of one group are held out together, and adding pairs changes nothing for the others."""
    pairs, _ = synthetic()
    mask = held_out_mask(pairs, 0.2)
    assert 0 < mask.mean() < 0.5 and all(len(set(mask[row : row + 4])) == 1 for row in range(0, len(pairs), 4))
    assert np.array_equal(held_out_mask(pairs[:40], 0.2), mask[:40])


def test_severities_follow_the_kind_of_edit() -> None:
    """A misspelling and a lost function word are minor, a lost content word and a wrong number major."""
    text = "The company sold 25 red boats in March."
    weigh = {
        "qwerty": edit_severity(text, text.replace("boats", "bozts"), "qwerty"),
        "function": edit_severity(text, text.replace("The ", ""), "word_deletion"),
        "content": edit_severity(text, text.replace("boats ", ""), "word_deletion"),
        "number": edit_severity(text, text.replace("25", "31"), "change_number"),
    }
    assert weigh == {"qwerty": (1, 1.0), "function": (1, 1.0), "content": (1, 4.0), "number": (1, 5.0)}

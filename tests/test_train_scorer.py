"""The recipe of the net: torch and NumPy agree, the same seed gives the same bytes, the targets order damage."""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from rome.combining.combiner import Combiner  # noqa: E402
from rome.combining.table import FeatureTable  # noqa: E402
from rome.data.readers.groups import is_held_out_group, read_groups  # noqa: E402
from rome.exceptions import InputError  # noqa: E402
from rome.features.values import FEATURES  # noqa: E402
from rome.train.scorer import recipe as scorer  # noqa: E402
from rome.train.scorer.chains import edit_severity  # noqa: E402
from rome.train.scorer.net import (  # noqa: E402
    MonotoneNet,
    ScorerConfig,
    fit_targets,
    held_out_mask,
    ranked_pairs,
    scale_figures,
)
from rome.train.scorer.pairs import (  # noqa: E402
    ACCEPTABLE_TEXTS,
    GROUP_QUALITY,
    TRANSLATED,
    TrainingPair,
    agreed_pairs,
    group_pairs,
    rated_pairs,
    read_pairs,
    write_pairs,
)

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


def _recipe(tmp_path: Path, name: str, *extra: str) -> Path:
    """Run the recipe on the synthetic pairs; return the output folder."""
    write_pairs(tmp_path / "pairs.jsonl", synthetic()[0])
    parser = argparse.ArgumentParser()
    scorer.add_arguments(parser)
    given = ["--out", str(tmp_path / name), "--work", str(tmp_path / "work"), "--pairs", str(tmp_path / "pairs.jsonl")]
    given += ["--set", "steps=150", *extra]
    assert scorer.run(parser.parse_args(given)) == 0
    return tmp_path / name


def test_numpy_forward_equals_torch_forward() -> None:
    """The exported net computes what the trained one does."""
    net = MonotoneNet(9, dict.fromkeys(FEATURES, 0.02), torch.Generator().manual_seed(3))
    rows = np.random.default_rng(0).random((200, 4))
    with torch.no_grad():
        expected = net.score(net(torch.from_numpy(rows))).numpy()
        perfect = net.score(net(torch.ones(1, 4, dtype=torch.float64)))
    assert np.allclose(net.to_combiner("").score(rows), expected, rtol=0, atol=1e-13)
    assert perfect.tolist() == [1.0] and expected.max() <= 1.0


def test_targets_of_zero_and_one_are_learned() -> None:
    """Perfect features with the target 1, the worst with 0: a finite loss, and scores at both ends of the scale."""
    values, targets = np.array([[1.0] * 4, [0.5] * 4, [0.0] * 4]), np.array([1.0, 0.4, 0.0])
    net = fit_targets(values, targets, np.ones(3), np.empty((0, 2), np.int64), ScorerConfig(steps=800))
    scores = net.to_combiner("").score(values)
    assert scores[0] == 1.0 and scores[1] == pytest.approx(0.4, abs=0.05) and scores[2] < 0.1


def test_same_seed_same_bytes_and_a_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One command, run twice, writes identical weights; another seed writes others; the card holds the scale's anchors."""
    monkeypatch.setattr(scorer, "measured", lambda arguments, references, hypotheses: synthetic()[1])
    first, again, other = _recipe(tmp_path, "a"), _recipe(tmp_path, "b"), _recipe(tmp_path, "c", "--seed", "1")
    weights = [(folder / "scorer.safetensors").read_bytes() for folder in (first, again, other)]
    assert weights[0] == weights[1] != weights[2]
    card = json.loads((first / "card.json").read_text())
    assert card["seed"] == 0 and {"mean_identity", "mean_unrelated", "ranking_accuracy"} <= set(card["figures"])
    assert Combiner.load(first / "scorer.safetensors").feature_signature == "made:1"


@pytest.mark.parametrize("objective", ["graded", "binary"])
def test_both_objectives_learn_to_rank(objective: str) -> None:
    """Held-out clean pairs end above their perturbed ones, with either objective, and every feature keeps a weight."""
    pairs, table = synthetic()
    combiner, figures = scorer.train(pairs, table, ScorerConfig(objective=objective, steps=150))
    assert figures["clean_above_perturbed"] > 0.9
    assert (combiner.hidden_weight > 0).all()
    assert figures["mean_identity"] > figures["mean_unrelated"] + 0.3


def test_targets_order_the_damage() -> None:
    """Clean above light above heavy above unrelated, for every base; the binary target knows only clean and perturbed."""
    pairs, _ = synthetic(4)
    for group in range(4):
        targets = [ScorerConfig().target(pair) for pair in pairs[4 * group : 4 * group + 4]]
        assert targets == sorted(targets, reverse=True) and len(set(targets)) == 4
    assert [ScorerConfig(objective="binary").target(pair) for pair in pairs[:4]] == [1.0, 0.0, 0.0, 0.0]


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


def test_outputs_are_ranked_by_their_agreement(tmp_path: Path) -> None:
    """Five outputs a segment at most, as good as they agree with the others, the same for the same seed; they hardly set the scale."""
    rows = [{"reference": f"the dog number {n}", "outputs": [[f"dog {n} {k}", k / 10] for k in range(3 + n)]} for n in range(6)]
    path = tmp_path / "agreement.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    pairs = agreed_pairs(path, 4, 0)
    assert pairs == agreed_pairs(path, 4, 0) != agreed_pairs(path, 4, 1) and len(agreed_pairs(path, 99, 0)) == 3 + 4 + 4 * 5
    assert len({pair.group for pair in pairs}) == 4 and len({pair.id for pair in pairs}) == len(pairs)
    config = ScorerConfig()
    for pair in pairs:
        assert config.target(pair) == pair.quality == int(pair.hypothesis[-1]) / 10
        assert config.weight(pair) < config.weight(replace(pair, base="rated"))
        assert pair.reference.split()[-1] == pair.hypothesis.split()[1]


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
            assert pair.hypothesis not in singles and pair.quality < min(GROUP_QUALITY["minor"], 0.76)
        elif kind != "acceptable":
            assert singles[pair.hypothesis] == kind and pair.quality == GROUP_QUALITY[kind]
    drawn = Counter((pair.group, pair.operation) for pair in pairs)
    assert {count for (_, operation), count in drawn.items() if operation != "acceptable_far"} == {1}
    assert max(count for (_, operation), count in drawn.items() if operation == "acceptable_far") == ACCEPTABLE_TEXTS
    write_pairs(tmp_path / "pairs.jsonl", pairs)
    assert read_pairs(tmp_path / "pairs.jsonl") == pairs


def test_making_pairs_needs_what_the_reader_was_trained_on(tmp_path: Path) -> None:
    """Texts and outputs of `rome train errors`: both are named before anything is made."""
    parser = argparse.ArgumentParser()
    scorer.add_arguments(parser)
    for given in ([], ["--texts", "x"], ["--agreement", "x"]):
        with pytest.raises(InputError, match="--texts and --agreement"):
            scorer.run(parser.parse_args(["--out", str(tmp_path), "--work", str(tmp_path), *given]))


def test_no_rated_pair_is_a_machine_translation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What STS took from machine translation is neither drawn nor read; the other pairs stay the same ones, in order, in their groups."""
    monkeypatch.setenv("ROME_DATA", str(tmp_path))
    write_rated(tmp_path, "2014-images")
    before = {pair.id: pair for pair in rated_pairs(30, 0)}
    write_rated(tmp_path, "2014-images", *(source.partition("/")[2] for source in sorted(TRANSLATED)))
    pairs = rated_pairs(30, 0)
    assert 0 < len(pairs) < 10 and {pair.source for pair in pairs} == {"sts_2012_2016/2014-images"}
    assert pairs == [before[pair.id] for pair in pairs] and pairs[:3] == rated_pairs(3, 0)
    write_pairs(tmp_path / "pairs.jsonl", [*pairs, *(replace(pairs[0], source=source) for source in TRANSLATED)])
    assert read_pairs(tmp_path / "pairs.jsonl") == pairs


def test_a_rated_pair_is_clean_or_perturbed_by_its_quality_alone() -> None:
    """Binary: 1 from one quality on, 0 up to another, nothing between; both are settings, and pairs without a rating count as ever."""
    config = ScorerConfig(objective="binary")
    pairs = [TrainingPair("r", "r", "a", "b", "made", "rated", "none", "clean", 0, 0.0, quality / 20) for quality in range(21)]
    assert [config.target(pair) for pair in pairs if config.weight(pair)] == [0.0] * 11 + [1.0] * 3
    assert {config.weight(pair) for pair in pairs} == {0.0, 1.0}
    other = config.with_settings(["binary_clean=0.6"])
    assert [other.weight(pair) for pair in pairs].count(0.0) == 1 and other.target(pairs[12]) == 1.0
    assert [config.weight(pair) for pair in synthetic(1)[0]] == [1.0] * 4


def test_settings_change_by_name_and_unknown_ones_are_refused() -> None:
    """``name=value`` changes a copy; a name that does not exist is an InputError."""
    config = ScorerConfig().with_settings(["hidden=8", "decay=0.3"])
    assert (config.hidden, config.decay, config.steps) == (8, 0.3, ScorerConfig().steps)
    for wrong in ("size=3", "weight_floor=1", "hidden=many", "hidden"):
        with pytest.raises(InputError):
            ScorerConfig().with_settings([wrong])


def test_held_out_groups_are_whole_and_fixed() -> None:
    """Pairs of one group are held out together, and adding pairs changes nothing for the others."""
    pairs, _ = synthetic()
    mask = held_out_mask(pairs, 0.2)
    assert 0 < mask.mean() < 0.5 and all(len(set(mask[row : row + 4])) == 1 for row in range(0, len(pairs), 4))
    assert np.array_equal(held_out_mask(pairs[:40], 0.2), mask[:40])


def test_ranked_pairs_stay_within_groups() -> None:
    """Only pairs of one group, better first, and none closer than the gap."""
    assert ranked_pairs(["a", "a", "b", "a"], np.array([0.9, 0.5, 0.1, 0.49]), 0.02).tolist() == [[0, 1], [0, 3]]


def test_pairs_round_trip_and_bad_lines_are_named(tmp_path: Path) -> None:
    """Pairs survive their file; a line that is no pair is named with its number."""
    pairs, _ = synthetic(2)
    path = tmp_path / "pairs.jsonl"
    write_pairs(path, pairs)
    assert len(pairs) == 8 and read_pairs(path) == pairs
    path.write_text(path.read_text() + '{"id": 1}\n')
    with pytest.raises(InputError, match="line 9"):
        read_pairs(path)


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


def test_figures_measure_only_what_occurs() -> None:
    """Anchors without any pair are left out instead of being invented."""
    pairs, _ = synthetic(1)
    figures = scale_figures(np.array([0.9, 0.8, 0.3, 0.1]), pairs, ScorerConfig())
    assert figures["mean_one_minor_error"] == 0.8 and "mean_empty" not in figures and figures["ranking_accuracy"] == 1.0

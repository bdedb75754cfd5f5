"""The supervised recipe of the net: one scale for all ratings, no input in two folds, the same seed gives the same bytes, bad files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from rome.cli import main  # noqa: E402
from rome.combining.combiner import Combiner  # noqa: E402
from rome.combining.fitting import RATED_SCALE, NetSettings  # noqa: E402
from rome.combining.signature import fitted_on  # noqa: E402
from rome.combining.table import FeatureTable  # noqa: E402
from rome.data.readers.rated import RatedSegment, RatedSet  # noqa: E402
from rome.exceptions import InputError  # noqa: E402
from rome.train.common.ratings import Ratings, agreement_figures, folds_of, ratings_of  # noqa: E402
from rome.train.scorer import recipe as scorer  # noqa: E402
from rome.train.scorer import supervised as scorer_supervised  # noqa: E402
from rome.train.scorer.supervised import drawn_pairs  # noqa: E402

NAMES = ("museum", "garden", "station", "library", "market")
CONFIG = NetSettings(steps=60)


def reference_of(item: int) -> str:
    """The reference of an item; items 0 and 1 share theirs."""
    number = max(item, 1)
    return f"The {NAMES[number % 5]} number {number} opens at nine every day"


def rated(name: str = "made", items: int = 24, scale: float = 1.0, first: int = 0) -> RatedSet:
    """Three outputs an item, the first words of its reference; the longer, the better, with noise. ``other`` : the same, reversed."""
    chance, segments = np.random.default_rng(7), []
    for item in range(first, first + items):
        words = reference_of(item).split()
        for system, count in (("good", 9), ("middle", 6), ("bad", 2)):
            rating = scale * (count + chance.normal(scale=0.3))
            text = " ".join(words[:count])
            segments.append(RatedSegment(f"i{item}", (" ".join(words),), text, {"quality": rating, "other": -rating}, system))
    return RatedSet(name, tuple(segments))


def measure(references: Sequence[Sequence[str]], hypotheses: Sequence[str]) -> FeatureTable:
    """Features without a model: the share of the reference's words, the same cut to thirds, and two that say nothing."""
    rows = [
        (n, place, text, h)
        for n, (row, h) in enumerate(zip(references, hypotheses, strict=True))
        for place, text in enumerate(row)
    ]
    shares = [len(set(h.split()) & set(text.split())) / len(set(text.split())) for _, _, text, h in rows]
    values = np.array(
        [
            [share, np.floor(3 * share) / 3, (len(h) * 7 % 10) / 10, share]
            for share, (_, _, _, h) in zip(shares, rows, strict=True)
        ]
    )
    return FeatureTable(
        np.array([row[0] for row in rows]), np.array([row[1] for row in rows]), values, values, signature="made:1"
    )


def measured(ratings: Ratings, models: str = "base") -> scorer_supervised.Features:
    """Return the features of the ratings and of their anchors."""
    references, hypotheses, _ = scorer_supervised.texts_of(ratings, CONFIG)
    return scorer_supervised.chosen_features(ratings, measure(references, hypotheses), CONFIG, models)


def write(path: Path, made: RatedSet, dimensions: tuple[str, ...] = ("quality", "other")) -> str:
    """A rated set as the TSV file of a user."""
    lines = ["\t".join(["item", "system", "reference", "hypothesis", *(f"rating:{name}" for name in dimensions)])]
    for one in made.segments:
        lines.append(
            "\t".join([one.item, one.system, one.references[0], one.hypothesis, *(repr(one.ratings[d]) for d in dimensions)])
        )
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.fixture(autouse=True)
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """The recipe measures without a model here."""
    monkeypatch.setattr(
        scorer_supervised, "measured", lambda arguments, references, hypotheses: measure(references, hypotheses)
    )
    monkeypatch.setattr(scorer_supervised, "PAIRS", 300)
    monkeypatch.setattr(scorer_supervised, "ANCHORS", 10)


def recipe(tmp_path: Path, name: str, *words: str) -> Path:
    """Run the recipe; return the output folder."""
    parser = argparse.ArgumentParser()
    scorer.add_arguments(parser)
    given = ["--out", str(tmp_path / name), "--work", str(tmp_path / "work"), "--set", "steps=60", *words]
    assert scorer.run(parser.parse_args(given)) == 0
    return tmp_path / name


def test_the_recipe_learns_and_says_that_it_is_supervised(tmp_path: Path) -> None:
    """From two files on different scales: a monotone net that ranks as people do out of fold, and a card that names the ratings."""
    files = [write(tmp_path / "one.tsv", rated()), write(tmp_path / "two.tsv", rated(scale=100.0, first=24))]
    folder = recipe(tmp_path, "out", "--ratings", *files, "--dimension", "quality")
    net = Combiner.load(folder / "scorer.safetensors")
    assert fitted_on(net.signature) == ("one", "two") and net.feature_signature == "made:1"
    card = json.loads((folder / "card.json").read_text())
    assert card["name"] == "scorer-supervised" and "SUPERVISED" in card["task"]
    assert card["data"] == [f"human ratings of {name} (72 outputs; quality)" for name in ("one", "two")]
    for name in ("one quality", "two quality"):
        figures = card["figures"][name]
        assert {"kendall_b", "kendall_b/item", "pearson"} <= set(figures)
        assert set(figures["pearson"]) == {
            *("supervised_out_of_fold", "supervised_on_other_files", "unsupervised"),
            *("semantic", "syntax", "grammar", "errors"),
        }
        assert figures["kendall_b"]["supervised_out_of_fold"] > 0.5
        assert figures["kendall_b"]["supervised_out_of_fold"] > figures["kendall_b"]["grammar"]
    assert card["figures"]["mean_identity"] > card["figures"]["mean_unrelated"] > card["figures"]["mean_empty"]


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    """One command, run twice, writes identical weights; another seed writes others."""
    made = write(tmp_path / "one.tsv", rated(), ("quality",))
    folders = [recipe(tmp_path, name, "--ratings", made, "--seed", seed) for name, seed in (("a", "0"), ("b", "0"), ("c", "1"))]
    weights = [(folder / "scorer.safetensors").read_bytes() for folder in folders]
    assert weights[0] == weights[1] != weights[2]


def test_scores_stay_on_the_scale_and_rise_with_every_feature() -> None:
    """In [0, 1]; a better feature never lowers the score; identical texts score at least as much as any output as acceptable."""
    found = measured(ratings_of([rated()], ["quality"]))
    net = scorer_supervised.fit_rows(found, np.arange(len(found.ratings)), CONFIG)
    rows = np.random.default_rng(1).random((300, 4))
    scores = net.score(rows)
    assert (scores >= 0).all() and (scores <= 1).all()
    for column in range(4):
        better = rows.copy()
        better[:, column] += (1 - better[:, column]) * 0.5
        assert (net.score(better) >= scores).all()
    identical = rows.copy()
    identical[:, [0, 1, 3]] = 1.0
    assert (net.score(identical) >= scores).all()


def test_the_net_beside_it_is_that_of_the_set() -> None:
    """The unsupervised figures are those of the net of the set that the supervised one is made for."""
    ratings = ratings_of([rated()], ["quality"])
    for models in ("base", "small"):
        found = measured(ratings, models)
        scores = Combiner.load(models=models).score_rows(found.values[: len(ratings)])
        expected = agreement_figures(ratings, {"unsupervised": scores})
        (dimension,) = expected
        figures = scorer_supervised.validated(found, CONFIG)[dimension]
        assert all(figures[name]["unsupervised"] == values["unsupervised"] for name, values in expected[dimension].items())


def test_no_input_stands_in_two_folds() -> None:
    """Outputs of one item, and items with the same reference, whatever the file, are in one fold; every file is in every fold."""
    ratings = ratings_of([rated(), rated("again", first=12)], ["quality"])
    folds = folds_of(ratings, 3)
    for names in ([s.item for s in ratings.segments], [s.references for s in ratings.segments]):
        for name in set(names):
            assert len({int(fold) for fold, one in zip(folds, names, strict=True) if one == name}) == 1
    assert ratings.group[0] == ratings.group[3] and ratings.item[0] != ratings.item[3]  # items 0 and 1 share a reference
    assert sorted(set(folds.tolist())) == [0, 1, 2, 3, 4]


def test_out_of_fold_scores_come_from_other_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The net that scores an output was fitted on no output of its group."""
    found = measured(ratings_of([rated()], ["quality"]))
    seen: list[set[int]] = []
    real = scorer_supervised.fit_rows

    def fit(part: Any, rows: Any, config: NetSettings) -> Combiner:
        seen.append({int(group) for group in found.ratings.group[rows]})
        return real(part, rows, config)

    monkeypatch.setattr(scorer_supervised, "fit_rows", fit)
    scores = scorer_supervised.scores_by_others(found, folds_of(found.ratings, CONFIG.seed), CONFIG)
    folds = folds_of(found.ratings, CONFIG.seed)
    for fold, groups in enumerate(seen):
        assert groups.isdisjoint(found.ratings.group[folds == fold].tolist())
    assert len(seen) == 5 and np.isfinite(scores).all()
    assert kendalltau(scores, found.ratings.people).statistic > 0.5


def test_files_of_the_same_inputs_do_not_judge_each_other() -> None:
    """Two raters of one corpus: no figure on "other files", because those hold the same inputs."""
    found = measured(ratings_of([rated("one"), rated("two")], ["quality"]))
    figures = scorer_supervised.validated(found, CONFIG)
    assert "supervised_on_other_files" not in figures["one quality"]["kendall_b"]


def test_ratings_of_all_scales_become_ranks() -> None:
    """Targets are even over the scale, ties share the middle, a positive factor changes nothing; dimensions are averaged as z-scores."""
    small, large = rated(), rated("large", scale=1000.0, first=30)
    ratings = ratings_of([small, large], ["quality"])
    one, two = ratings.target[ratings.file == 0], ratings.target[ratings.file == 1]
    assert np.allclose(one, two) and RATED_SCALE[0] < one.min() < one.max() < RATED_SCALE[1]
    assert kendalltau(one, [s.ratings["quality"] for s in small.segments]).statistic == pytest.approx(1.0)
    segments = [RatedSegment(f"{n}", ("a b",), "a", {"x": float(n % 2), "y": 5.0}) for n in range(60)]
    tied = ratings_of([RatedSet("tied", tuple(segments))])
    assert sorted(set(tied.target.round(6))) == pytest.approx([0.275, 0.725])
    with pytest.raises(InputError, match="cancel out"):  # one is minus the other, so their mean says nothing
        ratings_of([rated()])


def test_every_file_gives_as_many_pairs_and_better_ones_come_first() -> None:
    """Pairs stay within a file, some within an input; the better one has the higher target; the same seed draws the same."""
    ratings = ratings_of([rated(items=60), rated("small", first=100)], ["quality"])
    rows = np.arange(10, len(ratings))
    pairs = rows[drawn_pairs(ratings, rows, 100, 0.02, 0)]
    better, worse = pairs.T
    assert (ratings.target[better] > ratings.target[worse] + 0.02).all() and (ratings.file[better] == ratings.file[worse]).all()
    assert abs(int((ratings.file[better] == 0).sum()) - int((ratings.file[better] == 1).sum())) < 15
    assert (ratings.item[better] == ratings.item[worse]).mean() > 0.3
    assert np.array_equal(rows[drawn_pairs(ratings, rows, 100, 0.02, 0)], pairs)


def test_bad_ratings_are_named_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2 and one line: too few outputs, equal ratings, a rating that is no number with its line, ratings beside pairs."""
    good = write(tmp_path / "good.tsv", rated())
    few = write(tmp_path / "few.tsv", rated(items=2))
    same = RatedSet("same", tuple(RatedSegment(f"{n}", ("a b",), "a", {"quality": 1.0}) for n in range(60)))
    equal = write(tmp_path / "equal.tsv", same, ("quality",))
    write(tmp_path / "nan.tsv", rated())
    lines = (tmp_path / "nan.tsv").read_text().splitlines()
    lines[4] = "\t".join([*lines[4].split("\t")[:-1], "nan"])
    (tmp_path / "nan.tsv").write_text("\n".join(lines) + "\n")
    shared = RatedSet("one", tuple(RatedSegment(f"{n}", ("a b",), "a", {"quality": float(n)}) for n in range(60)))
    one = write(tmp_path / "one.tsv", shared, ("quality",))
    folders = ["--out", str(tmp_path / "o"), "--work", str(tmp_path / "w")]
    cases = [
        ([few], "few must hold at least 50 rated outputs"),
        ([equal], "all ratings of quality are equal or"),
        ([str(tmp_path / "nan.tsv")], "nan.tsv:5"),
        ([good, "--pairs", "pairs.jsonl"], "leave --pairs and --objective out"),
        ([one], "1 items cannot be split into 5 folds"),
    ]
    for words, message in cases:
        code = main(["train", "scorer", *folders, "--set", "steps=2", "--ratings", *words])
        error = capsys.readouterr().err
        assert code == 2 and message in error.splitlines()[-1], (words, error)
    assert not (tmp_path / "o").exists()

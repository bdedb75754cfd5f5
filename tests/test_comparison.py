"""Two systems: laws of the differences, slow textbook versions of the statistics, refusals, and how the text reads."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from rome.exceptions import InputError, RomeError, SignatureMismatchError
from rome.reports.resampling import bootstrap_intervals, bootstrap_means, sign_flip_p_values
from rome.reports.summaries import p_text
from rome.results import CorpusScore
from rome.results.comparison import MEASURES, compare

from scored_segments import corpus, error, scored


@pytest.fixture(scope="module")
def systems() -> tuple[CorpusScore, CorpusScore]:
    return corpus(40, 1), corpus(40, 2)


def test_bootstrap_equals_a_plain_loop(systems: tuple[CorpusScore, CorpusScore]) -> None:
    """With the same seed: rows picked one by one, means taken, percentiles read off."""
    table = systems[0].measures - systems[1].measures
    generator, means = np.random.default_rng(7), []
    for _ in range(300):
        rows = [table[row] for row in generator.integers(len(table), size=len(table))]
        means.append([sum(row[column] for row in rows) / len(rows) for column in range(7)])
    ends = [[np.percentile([m[column] for m in means], end) for end in (2.5, 97.5)] for column in range(7)]
    assert np.allclose(bootstrap_means(table, 300, 7), means, rtol=0, atol=1e-12) is True
    assert np.allclose(bootstrap_intervals(table, 300, 7), ends, rtol=0, atol=1e-12) is True


@pytest.mark.parametrize("count", [2, 5, 9, 12])
def test_few_segments_give_the_exact_p_value(count: int) -> None:
    """Every pattern of signs counted, as scipy's paired permutation test does when it can; for many a sample, whose p is never 0."""
    assert sign_flip_p_values(np.ones((50, 1)), 99, 0)[0] == 1 / 100
    assert list(sign_flip_p_values(np.zeros((50, 2)), 99, 0)) == [1.0, 1.0]
    a, b = corpus(count, 3).measures, corpus(count, 4).measures
    for column, found in enumerate(sign_flip_p_values(a - b, 10, 0)):
        expected = stats.permutation_test(
            (a[:, column], b[:, column]), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=2**13
        )
        assert found == pytest.approx(expected.pvalue, abs=1e-12)


def test_nothing_to_draw_from_gives_nan() -> None:
    """Without rows neither interval nor p-value; one row gives a p-value of 1 and no interval; shapes are kept."""
    assert np.isnan(sign_flip_p_values(np.zeros((0, 3)), 10, 0)).all()
    for rows in (3, 20):  # a number that a segment does not have spoils its own column alone
        table = np.ones((rows, 2))
        table[0, 1] = np.nan
        assert [bool(p == p) for p in sign_flip_p_values(table, 10, 0)] == [True, False]
    for rows in (0, 1):
        found = bootstrap_intervals(np.ones((rows, 2)), 10, 0)
        assert found.shape == (2, 2) and np.isnan(found).all()
    assert list(sign_flip_p_values(np.ones((1, 2)), 10, 0)) == [1.0, 1.0]
    for wrong in (0, -1, 2.5, True):
        with pytest.raises(InputError, match="resamples"):
            bootstrap_means(np.ones((2, 1)), wrong, 0)  # type: ignore[arg-type]


def test_intervals_hold_what_they_should() -> None:
    """Of 200 samples of 40 segments about 95 % of the intervals hold the true mean."""
    generator = np.random.default_rng(11)
    held = [np.prod(bootstrap_intervals(generator.normal(0.1, 1.0, (40, 1)), 300, n)[0] - 0.1) <= 0 for n in range(200)]
    assert 0.89 <= np.mean(held) <= 0.98


def test_swapping_the_systems_swaps_everything(systems: tuple[CorpusScore, CorpusScore]) -> None:
    """Differences and intervals change sign, wins and losses change places, p-values stay."""
    a, b = systems
    for there, back in zip(compare(a, b, names=("x", "y")), compare(b, a, names=("y", "x")), strict=True):
        assert (there.difference, there.low, there.high) == pytest.approx((-back.difference, -back.high, -back.low))
        assert (there.wins, there.losses, there.ties, there.p_value) == (back.losses, back.wins, back.ties, back.p_value)


def test_differences_are_those_of_the_means(systems: tuple[CorpusScore, CorpusScore]) -> None:
    """Score and components are the corpora's own; wins, losses and ties are all segments; the names stand in order."""
    a, b = systems
    comparison = compare(a, b)
    assert tuple(found.name for found in comparison) == MEASURES
    assert (comparison.score.a, comparison.score.b) == pytest.approx((a.score, b.score))
    assert [found.b for found in comparison][1:] == pytest.approx([*b.components, b.completeness, b.faithfulness])
    for found in comparison:
        assert found.difference == pytest.approx(found.b - found.a)
        assert found.low <= found.difference <= found.high
        assert found.wins + found.losses + found.ties == 40
    assert sum(comparison.contributions) == pytest.approx(comparison.score.difference, abs=1e-9)
    assert comparison["syntax"] is comparison.differences[2]
    with pytest.raises(InputError, match="the name must be one of .*, got 'bleu'"):
        comparison["bleu"]


def test_a_better_system_is_seen(systems: tuple[CorpusScore, CorpusScore]) -> None:
    """Where every segment is better, the interval leaves 0 out and the p-value is small."""
    worse = systems[0]
    better = CorpusScore(tuple(replace(s, score=s.score + 0.01 + 0.001 * (s.segment % 3)) for s in worse), worse.signature)
    found = compare(worse, better, names=("old", "new"))
    assert found.score.decided and found.score.p_value < 0.01 and found.score.wins == 40
    assert str(found).startswith("new is 0.011 ahead of old on 40 segments; the 95% interval of the difference excludes 0")
    assert found.score.difference > 0.0 and "difference of the scores, new minus old" in str(found)
    assert str(compare(better, worse, names=("new", "old"))).startswith("new is 0.011 ahead of old")


@pytest.mark.parametrize("count", [1, 7, 40, 60])
def test_the_segments_that_decide_are_the_farthest(systems: tuple[CorpusScore, CorpusScore], count: int) -> None:
    """Sorted by the size of the difference; what is left out is no farther; contributions add up."""
    a, b = systems
    pairs = compare(a, b, resamples=5).deciding(count)
    gaps = [abs(pair.difference) for pair in pairs]
    every = sorted((abs(x.score - y.score) for x, y in zip(a, b, strict=True)), reverse=True)
    assert gaps == pytest.approx(every[:count])
    assert all(sum(pair.contributions) == pytest.approx(pair.difference, abs=1e-9) for pair in pairs)


def test_one_segment_is_compared_without_an_interval() -> None:
    """Two numbers are still two numbers; nothing is claimed about others."""
    comparison = compare(corpus(1, 1), corpus(1, 2))
    assert math.isnan(comparison.score.low) and comparison.score.p_value == 1.0 and not comparison.score.decided
    assert "one segment says nothing about others" in str(comparison)
    assert json.loads(json.dumps(comparison.to_dict(), allow_nan=False))["differences"]["score"]["low"] is None


def change_reference(result: CorpusScore) -> CorpusScore:
    changed = replace(result.segments[3], reference="Something else.")
    return CorpusScore((*result.segments[:3], changed, *result.segments[4:]), result.signature)


def swap_segments(result: CorpusScore) -> CorpusScore:
    return CorpusScore((result.segments[1], result.segments[0], *result.segments[2:]), result.signature)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (change_reference, InputError, "reference 'Sentence 3 stands here.' in new and segment 3 with 'Something else.' in old"),
        (swap_segments, InputError, "row 0 is segment 0 with .* in new and segment 1 with"),
        (lambda r: CorpusScore(r.segments[:5], r.signature), InputError, "new has 40 segments, old has 5"),
        (lambda r: CorpusScore((), r.signature), InputError, "old has 0"),
        (lambda r: CorpusScore(r.segments, "features:1"), SignatureMismatchError, "features: 2 in new, 1 in old"),
        (lambda r: list(r), InputError, "system old must be a CorpusScore"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    systems: tuple[CorpusScore, CorpusScore], change: Callable[[CorpusScore], CorpusScore], kind: type[RomeError], message: str
) -> None:
    """The error names the first segment that differs, or the signature's keys."""
    with pytest.raises(kind, match=message):
        compare(systems[0], change(systems[1]), names=("new", "old"))


@pytest.mark.parametrize("names", [("a", "a"), ("a",), ("a", "b", "c")])
def test_two_names_are_needed(systems: tuple[CorpusScore, CorpusScore], names: tuple[str, ...]) -> None:
    """One name for both would leave the reader guessing."""
    with pytest.raises(InputError, match="names must be two different names"):
        compare(*systems, names=names)


def test_text_names_what_moved() -> None:
    """Each deciding segment shows both scores, the contributions in order of size, and the texts."""
    better, worse = scored(hypothesis="The cat sleeps."), scored(errors=[error(4.0)])
    pair = [CorpusScore((segment,), segment.signature) for segment in (better, worse)]
    lines = str(compare(*pair[::-1], names=("old", "new"))).splitlines()
    place = lines.index(next(line for line in lines if "  segment 0" in line))
    assert lines[place].split(": ")[-1].startswith("errors +")
    assert lines[place + 1].split() == ["reference", *better.reference.split()]
    assert lines[place + 3].split()[:2] == ["new", f"{better.score:.3f}"]
    assert lines[-1] == f"signature  {better.signature}"
    assert p_text(0.0004) == "<0.001" and p_text(0.25) == "0.250"

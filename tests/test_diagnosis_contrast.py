"""Minimal pairs under a metric: accuracy, sensitivity, tests and resamples by their definitions; DEMETR's published rows come out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from rome.data.perturbations.perturbation import Replacement
from rome.data.readers.demetr import KINDS, MinimalPair, demetr_accuracies, demetr_means, read_demetr
from rome.evaluation.diagnosis.demetr import demetr_parts, won
from rome.evaluation.diagnosis.experiments import DiagnosisSettings, on_demetr
from rome.evaluation.diagnosis.minimal_pairs import Contrast, Probe, blind_spot_parts, contrast, robustness_parts
from rome.evaluation.metrics.functions import Length, References, Scores
from rome.evaluation.metrics.registry import MetricMaker
from rome.evaluation.statistics.resampling import draw
from rome.exceptions import InputError


def made(better: Sequence[float], worse: Sequence[float], empty: Sequence[float] | None = None, name: str = "m") -> Contrast:
    sides = (np.array(side, dtype=np.float64) for side in (better, worse, [0.0] * len(better) if empty is None else empty))
    return Contrast(name, *sides)


def rows_of(table: Any, *keys: str) -> dict[Any, dict[str, Any]]:
    """The rows by one or more columns."""
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return {row[keys[0]] if len(keys) == 1 else tuple(row[key] for key in keys): row for row in rows}


def named(parts: Sequence[Any], name: str) -> Any:
    (found,) = [part for part in parts if part.name == name]
    return found


def test_accuracy_and_sensitivity_by_hand() -> None:
    """A tie is no win; z is the drop over the drop to the empty text, and undefined where the empty text scores no lower."""
    found = made([4.0] * 40, [3.0, 4.0, 5.0, *[0.0] * 37], [0.0, 0.0, 2.0, 4.0, *[0.0] * 36])
    assert found.wins[:4].tolist() == [True, False, False, True]
    assert found.sensitivity[:3].tolist() == [0.25, 0.0, -0.5]
    assert np.isnan(found.sensitivity[3])


def test_sensitivity_needs_a_metric_that_sees_the_empty_text() -> None:
    """Where the empty text often scores as high as the translation, the ratio means nothing and is left blank."""
    assert np.isnan(made([4.0] * 10, [3.0] * 10, [0.0] * 9 + [4.0]).sensitivity).all()


def test_resampled_means_are_the_textbooks() -> None:
    """The first row is the data; every other row is the mean over the items of the drawn clusters, written out; nan is left out."""
    clusters, keys, values = list("aabbcc"), list("xyxyxy"), np.array([1.0, 2.0, np.nan, 4.0, 5.0, 6.0])
    draws = draw(len(clusters), clusters, None, 5, 3)
    found = draws.means(values, keys)
    assert list(found) == ["x", "y"]
    for row, weights in enumerate(draws.weights[:, draws.clusters]):
        for key in found:
            here = [(v, w) for v, w, k in zip(values, weights, keys, strict=True) if k == key and v == v]
            total = sum(w for _, w in here)
            wanted = sum(v * w for v, w in here) / total if total else float("nan")
            assert found[key][row] == pytest.approx(wanted, nan_ok=True)


def test_table_4_counts_as_the_paper_does() -> None:
    """Unweighted means of table A3 over kinds, by the severities of the released files, give all of table 4 within 0.04."""
    published = demetr_accuracies()
    assert len(published) == 14 * 35
    for row in demetr_means():
        of_kind = {a.identifier: a.accuracy for a in published if a.metric == row.metric}
        groups = {
            s: [of_kind[k.identifier] for k in KINDS.values() if k.released == s and k.identifier != 35]
            for s in ("base", "critical", "major", "minor")
        }
        for severity, accuracies in groups.items():
            assert np.mean(accuracies) == pytest.approx(getattr(row, severity), abs=0.04)
        assert np.mean([a for accuracies in groups.values() for a in accuracies]) == pytest.approx(row.all, abs=0.04)


def items(each: int = 3) -> list[MinimalPair]:
    """A few invented pairs of every kind."""
    return [
        MinimalPair(
            kind, f"Reference {n}.", f"Reference {n}.", f"Perturbed {n}.", row.severity, str(n), "german", category=row.category
        )
        for kind, row in KINDS.items()
        for n in range(each)
    ]


def test_every_table_of_the_paper() -> None:
    """A perfect metric is right everywhere (the reference as translation reversed), its opposite nowhere; published rows follow."""
    pairs = items()
    right = [{"critical": 0.5, "major": 0.7, "minor": 0.9, "base": 0.1}[pair.severity] for pair in pairs]
    reference = np.array([pair.kind == "base_id35_reference" for pair in pairs])
    good = np.where(reference, 0.0, 1.0)
    worse = np.where(reference, 1.0, right)
    perfect, opposite = made(good, worse, -0.0 * good, "perfect"), made(-good, -worse, -2 * np.ones(len(pairs)), "opposite")
    assert won(perfect, pairs).all() and not won(opposite, pairs).any()
    parts = demetr_parts(pairs, [perfect, opposite], samples=20)
    rows = rows_of(named(parts, "demetr_table4"), "metric", "figures")
    assert len(rows) == 2 + 14
    assert [rows["perfect", "here"][c] for c in ("base", "critical", "major", "minor", "all", "all_low", "all_high")] == [
        100.0
    ] * 7
    assert rows["opposite", "here"]["all"] == 0.0
    assert rows["PRISM", "published"]["all"] == 98.92
    order = rows_of(named(parts, "demetr_severity_order"), "metric")["perfect"]
    assert (order["critical"], order["major"], order["minor"], order["ordered"]) == (
        pytest.approx(0.5),
        pytest.approx(0.3),
        pytest.approx(0.1),
        1.0,
    )


def test_published_figures_come_out_on_the_development_half() -> None:
    """BLEU and chrF++ (the paper's chrF2) computed here: the published mean of each lies within the bootstrap interval of the development half."""
    try:
        pairs = read_demetr()[::3]
    except InputError as error:
        pytest.skip(str(error))
    references = [(pair.reference,) for pair in pairs]
    texts = [pair.translation for pair in pairs], [pair.perturbed for pair in pairs]
    contrasts = [contrast(MetricMaker().make(name), references, *texts) for name in ("bleu", "chrf++")]
    rows = rows_of(named(demetr_parts(pairs, contrasts, samples=300), "demetr_table4"), "metric", "figures")
    published = {row.metric: row.all for row in demetr_means()}
    for name, theirs in (("BLEU", "BLEU"), ("chrF2++", "chrF2")):
        here = rows[name, "here"]
        assert here["all_low"] <= published[theirs] <= here["all_high"]


def probe(number: int, perturbation: str) -> Probe:
    edit = Replacement(0, 1, "A", 0, 1, "B")
    return Probe(number, ("A text.",), "A text.", "B text.", perturbation, (edit,))


def test_blind_spots_are_named_with_examples() -> None:
    """What is not noticed, and what is severe but cheap; the rest is no blind spot, and neither is what keeps the meaning."""
    kinds = ["number_changed", "tense", "misspelled_word", "deleted_character", "passive_form", "empty_text"]
    probes = [probe(number, kind) for number in range(10) for kind in kinds]
    drop = {
        "number_changed": 0.05,
        "tense": 0.4,
        "misspelled_word": 0.3,
        "deleted_character": 0.0,
        "passive_form": 0.0,
        "empty_text": 0.0,
    }
    found = made([1.0] * len(probes), [1.0 - drop[p.perturbation] for p in probes])
    parts = blind_spot_parts(probes, [found], samples=20)
    spots = rows_of(named(parts, "blind_spots"), "perturbation")
    assert list(spots) == ["number_changed", "deleted_character"]
    assert spots["number_changed"]["why"] == "costs less than the median minor mistake"
    assert spots["deleted_character"]["why"] == "not noticed in 100%"
    examples = named(parts, "blind_spot_examples").rows
    assert {row[1] for row in examples} == set(spots)
    assert examples[0][2:5] == ("A text.", "B text.", "A > B")
    summary = rows_of(named(parts, "blind_spots_summary"), "metric")["m"]
    assert (summary["noticed"], summary["blind_spots"], summary["ordered"]) == (pytest.approx(0.75), 2, 0.0)


def test_robustness_weighs_changes_of_one_text() -> None:
    """Where both changes apply, the share of texts in which the worse one scores lower; a tie is chance."""
    probes = [probe(number, kind) for number in range(4) for kind in ("adjectives_by_antonyms", "adjectives_by_synonyms")]
    worse = [0.1, 0.5, 0.1, 0.5, 0.5, 0.1, 0.3, 0.3]
    parts = robustness_parts(probes, [made([1.0] * 8, worse)], samples=10)
    (row,) = named(parts, "robustness_order").rows
    assert row[:4] == ("adjectives by antonyms > adjectives by synonyms", 4, "m", (1 + 1 + 0 + 0.5) / 4)
    costs = rows_of(named(parts, "robustness"), "case")
    assert costs["2 adjectives by antonyms"]["z"] == pytest.approx(np.mean([0.9, 0.9, 0.5, 0.7]))


def test_a_limit_leaves_so_many_items_of_each_kind() -> None:
    """`rome diagnose demetr --limit 2` scores two minimal pairs of each perturbation."""
    asked: list[int] = []

    class Counting(Length):
        def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
            asked.append(len(hypotheses))
            return super().score(references, hypotheses)

    kinds = Counter(pair.kind for pair in read_demetr())
    on_demetr([Counting()], DiagnosisSettings(samples=2, limit=2))
    assert asked == [sum(min(2, count) for count in kinds.values())] * 3

"""The recipe of the errors' head: probes, labels, families, training, all on a handful of sentences."""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rome.exceptions import InputError
from rome.features.values import Analysis
from rome.metric import RoMe

torch = pytest.importorskip("torch")

from rome.evaluation.perturbing import materials_for  # noqa: E402
from rome.features.errors.estimator import ErrorsConfig  # noqa: E402
from rome.features.errors.head import PairHead  # noqa: E402
from rome.train import errors  # noqa: E402
from rome.train.errors_families import COSTS, Families  # noqa: E402
from rome.train.errors_figures import comparison, demetr_figures  # noqa: E402
from rome.train.errors_probes import Base, make_probes, read_probes, seen_group, wmt_bases  # noqa: E402
from rome.train.errors_words import WORD_PROBES, Vocabulary  # noqa: E402
from rome.train.scorer_pairs import Pair, write_pairs  # noqa: E402

REFERENCE = "The old museum quickly opens a new hall for the young visitors."
TEXTS = [
    "The old museum soon opens a large hall for young visitors.",
    "Several young people visited the new museum and liked an old hall.",
    "A strong wind closed the small harbour, and the ships waited quietly.",
    "The new teacher slowly explained the old rule to the young class.",
]


@pytest.fixture(scope="module")
def metric() -> RoMe:
    """The embedded analyser."""
    return RoMe(errors="edit-script", threads=1, progress=False)


@pytest.fixture(scope="module")
def analyses(metric: RoMe) -> dict[str, Analysis]:
    """Analyses of the sentences."""
    return metric.analyse([REFERENCE, *TEXTS])


def bases() -> list[Base]:
    """One base a sentence, the first against the reference, the others against themselves."""
    return [Base(f"g{n}", "system" if n == 0 else "identity", REFERENCE if n == 0 else t, t) for n, t in enumerate(TEXTS)]


@pytest.fixture(scope="module")
def probes(metric: RoMe, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of probes."""
    path = tmp_path_factory.mktemp("probes") / "probes.jsonl"
    assert list(make_probes(bases(), metric.analyse, materials_for(TEXTS), path, seed=3)) == [len(TEXTS)]
    return path


def vocabulary(analyses: dict[str, Analysis]) -> Vocabulary:
    """Words of the sentences, each text counted twice so that none is too rare."""
    return Vocabulary([*analyses.values(), *analyses.values()])


@pytest.mark.parametrize("name", sorted(WORD_PROBES))
def test_word_probes_change_one_word(name: str, analyses: dict[str, Analysis]) -> None:
    """The edit names the new word at its place, only that word and an article before it change, and an empty text has none."""
    words, (_, function) = vocabulary(analyses), WORD_PROBES[name]
    seen = set()
    for seed in range(30):
        for text, analysis in analyses.items():
            found = function(analysis, random.Random(seed), words)
            if found is None:  # every word drawn stood there already
                continue
            new, [(start, end, old, new_start, new_end, put)] = found
            seen.add(put.lower())
            assert text[start:end] == old and new[new_start:new_end] == put and put.lower() != old.lower()
            assert 0 <= len(new.split()) - len(text.split()) <= 1
            differing = set(new.lower().split()) - set(text.lower().split())
            assert differing <= {put.lower(), put.lower() + ".", put.lower() + ",", "a", "an"}
    assert len(seen) > 3
    assert (
        function(Analysis("", (), (), np.zeros((0, 384), np.float32), np.zeros(0, np.float32)), random.Random(0), words) is None
    )


def test_probes_are_seeded_and_go_on_where_they_stopped(probes: Path, metric: RoMe, tmp_path: Path) -> None:
    """The same seed gives the same lines; a file that was cut after a group is completed, not begun anew."""
    lines = probes.read_text(encoding="utf-8").splitlines(keepends=True)
    other = tmp_path / "probes.jsonl"
    other.write_text("".join(line for line in lines if json.loads(line)["group"] != "g3"), encoding="utf-8")
    assert list(make_probes(bases(), metric.analyse, materials_for(TEXTS), other, seed=3)) == [1]
    assert sorted(other.read_text(encoding="utf-8").splitlines(keepends=True)) == sorted(lines)
    assert all(probe.text != probe.clean for probe in read_probes([probes]))


def test_bad_probes_are_named(tmp_path: Path) -> None:
    """The line that is no probe, and a file that is not there."""
    path = tmp_path / "p.jsonl"
    path.write_text('{"group": "a"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="line 1 is no probe"):
        read_probes([path])
    with pytest.raises(InputError, match="cannot be read"):
        read_probes([tmp_path / "none.jsonl"])


def families(metric: RoMe, probes: Path) -> Families:
    """All families of the file."""
    data = Families(metric._idf_table, metric._lexicon, ErrorsConfig())
    data.add_probes(read_probes([probes]), metric.analyse)
    return data


def test_labels_stand_on_what_was_changed(metric: RoMe, probes: Path) -> None:
    """A probe's labelled words cover the words that an edit put in; what was taken away is labelled in the reference; the clean pair has none."""
    data = families(metric, probes)
    assert {family.kind for family in data.families} == {"probes"}
    for family in data.families:
        clean = data.examples[family.members[0].example]
        assert family.members[0].severity == 0.0 and not clean.labels.any()
        for member in family.members[1:]:
            example = data.examples[member.example]
            if member.name in ("added_word", "replaced_word", "misused_word"):
                assert (example.labels[example.inputs.side == 1] > 0).sum() == 1
            if member.name.startswith("omitted") and family.group != "g0":
                assert (example.labels[example.inputs.side == 0] > 0).any()
            assert member.severity in COSTS.values()


def chains() -> list[Pair]:
    """Scorer's pairs of many groups, so that some are seen and some are not."""
    rows = []
    for n in range(12):
        for level, text in enumerate((TEXTS[0], TEXTS[0].replace("large ", ""), TEXTS[0].replace("large hall", "hall"))):
            rows.append(
                Pair(
                    f"{n}-{level}",
                    f"group-{n}",
                    REFERENCE,
                    text,
                    "made",
                    "system",
                    "x",
                    "clean" if not level else "light",
                    level,
                    2.0 * level,
                )
            )
    rows += [
        Pair(f"r{n}", "group-r", TEXTS[n], TEXTS[n + 1], "made", "rated", "none", "clean", 0, 0.0, 0.2 + 0.3 * n)
        for n in range(2)
    ]
    return rows


def interrupted(function: Callable[..., Any], calls: int) -> Callable[..., Any]:
    """The function, which is interrupted after so many calls."""
    count = itertools.count(1)

    def call(*arguments: Any) -> Any:
        if next(count) > calls:
            raise KeyboardInterrupt
        return function(*arguments)

    return call


def test_training_ranks_its_own_families_and_resumes(
    metric: RoMe, probes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Losses fall, mistakes come to cost more than the clean pair; an interrupted training resumes to the very same weights."""
    data = families(metric, probes)
    data.add_chains(chains(), metric.analyse)
    assert {family.kind for family in data.families} >= {"probes", "chain"}
    plan = errors.Plan(steps=40, batch=2, width=32, layers=1, dropout=0.0, rate=3e-3)
    net, _ = errors.fit(data, plan, 0, tmp_path, every=20)
    log = [json.loads(line) for line in (tmp_path / "progress.jsonl").read_text(encoding="utf-8").splitlines()]
    assert log[-1]["ranks"] < log[0]["ranks"]
    assert all(0.0 <= line["held_out"].get("types_right", 0.0) <= 1.0 for line in log)
    kept = torch.load(tmp_path / errors.CHECKPOINT, weights_only=True)
    assert kept["step"] == 40
    half = tmp_path / "half"
    half.mkdir()
    monkeypatch.setattr(errors, "losses_of", interrupted(errors.losses_of, 26))
    with pytest.raises(KeyboardInterrupt):
        errors.fit(data, plan, 0, half, every=20)
    monkeypatch.undo()
    again, _ = errors.fit(data, plan, 0, half, resume=True, every=20)
    for name, tensor in net.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name]), name


def test_the_recipe_end_to_end(metric: RoMe, probes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """WMT texts and the scorer's pairs in, weights that load and a card that names them out; segments of the net's pairs are left out."""
    monkeypatch.setenv("ROME_DATA", str(tmp_path))
    (tmp_path / "text").mkdir()
    kept = next(pair for pair in chains() if not seen_group(pair.group)).reference
    for year in ("22", "23"):
        rows = [
            {"lp": "xx-en", "segment": n, "reference": [t], "outputs": {"A": TEXTS[0]}} for n, t in enumerate([kept, *TEXTS])
        ]
        with gzip.open(tmp_path / "text" / f"wmt{year}_to_en_outputs.jsonl.gz", "wt", encoding="utf-8") as out:
            out.writelines(json.dumps(row) + "\n" for row in rows)
    assert kept in {base.reference for base in wmt_bases(0)}
    assert kept not in {base.reference for base in wmt_bases(0, frozenset([kept]))}
    write_pairs(tmp_path / "pairs.jsonl", chains())
    parser = argparse.ArgumentParser()
    errors.add_arguments(parser)
    given = ["--out", str(tmp_path / "out"), "--pairs", str(tmp_path / "pairs.jsonl"), "--steps", "4", "--width", "32"]
    monkeypatch.setattr(errors, "HELD", 1)
    assert errors.run(parser.parse_args([*given, "--layers", "1", "--batch", "2", "--bases", "4"])) == 0
    card = json.loads((tmp_path / "out" / "card.json").read_text(encoding="utf-8"))
    assert (
        card["steps"] == 4
        and "rome train errors" in card["recipe"]
        and set(card["figures"]) == {"held_out", "learned", "edit_script"}
    )
    head = PairHead.load(tmp_path / "out")
    assert head.layers == 1 and head.heads == 4


def test_figures_of_a_perfect_and_a_blind_score() -> None:
    """Length as a score: what is shorter wins exactly where it should; figures are in percent, ties are wrong."""
    from rome.data.readers.demetr import KINDS, MinimalPair

    kind = next(name for name in KINDS if KINDS[name].severity == "major")
    made = [
        MinimalPair(
            **{
                **dict.fromkeys(MinimalPair.__dataclass_fields__, ""),
                "kind": kind,
                "severity": "major",
                "reference": "r",
                "translation": "aaaa",
                "perturbed": "aa",
            }
        )
    ]
    found = demetr_figures(lambda r, h: np.array([float(len(t)) for t in h]), made)
    assert found["demetr_all"] == 100.0 and found["z_major"] == pytest.approx(2 / 3, abs=1e-3)
    blind = demetr_figures(lambda r, h: np.zeros(len(h)), made)
    assert blind["demetr_all"] == 0.0


def test_a_comparison_is_read_or_refused(tmp_path: Path) -> None:
    """Figures of the cross-encoder go into the card as they are."""
    assert comparison(None) == {}
    path = tmp_path / "c.json"
    path.write_text('{"demetr_all": 1.0}', encoding="utf-8")
    assert comparison(path) == {"cross_encoder": {"demetr_all": 1.0}}
    path.write_text("nonsense", encoding="utf-8")
    with pytest.raises(InputError, match="errors_cross"):
        comparison(path)

"""What holds for every synthesis pipeline: edits that do not overlap, labels that add up, the same bytes for the same seed."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from synthesis_models import FakeFiller, FakePerturber, Judge, hypothesis_of, pipeline_without_models, save_masked_and_judge

from rome.cli.synthesize import PIPELINES, add_arguments
from rome.train.synthesis.bleurt import CONTIGUOUS, DROPPED, SCATTERED, BleurtPipeline, Mask, fill_masks
from rome.train.synthesis.fillers import FillRequest, load_filler
from rome.train.synthesis.pairs import LOWEST_LABEL, Pipeline, SyntheticPair, read_synthetic, write_synthetic
from rome.train.synthesis.perturbed_pairs import TextAttackPipeline
from rome.train.synthesis.sescore import SEScorePipeline
from rome.train.synthesis.severities import load_severity

from perturbation_sentences import SENTENCES

TEXTS = [*((f"texts:{number}", text) for number, text in enumerate(SENTENCES, 1)), ("texts:short", "No.")]
SEEDS = range(4)


CHECKPOINTS: dict[str, Callable[[dict[str, str], int], Pipeline]] = {
    "sescore of checkpoints": lambda models, block: SEScorePipeline(
        [load_filler(models["masked"])], load_severity(models["judge"]), block=block
    ),
    "bleurt of a checkpoint": lambda models, block: BleurtPipeline(
        load_filler(models["masked"]), masks=5, beams=2, block=block
    ),
}
"""Their numbers depend on the batch in the last digits."""
Make = Callable[[int], Any]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A tiny masked language model and a tiny entailment classifier."""
    pytest.importorskip("torch", reason="the extra [models] is not installed")
    return save_masked_and_judge(tmp_path_factory.mktemp("models"))


@pytest.fixture(params=[*PIPELINES, *CHECKPOINTS])
def make(request: pytest.FixtureRequest, models: dict[str, str]) -> Make:
    """Makes one pipeline for a number of texts at a time."""
    name = request.param
    return lambda block: CHECKPOINTS[name](models, block) if name in CHECKPOINTS else pipeline_without_models(name, block)


def keeps_the_laws(pair: SyntheticPair, texts: dict[str, str]) -> None:
    """Replays; no edit changes what another one wrote, or is put inside it; the label is the sum of its parts, in [-25, 0].

    BLEURT drops words of a finished hypothesis, filled ones too (appendix A.1): that alone may take what another edit wrote.
    """
    assert pair.reference == texts[pair.source] and hypothesis_of(pair) == pair.hypothesis
    assert SyntheticPair.from_json(pair.to_json()) == pair
    fresh = [True] * len(pair.reference)
    for one in pair.operations:
        if one.type != DROPPED:
            assert all(fresh[one.start : one.end]), one
            assert one.start < one.end or one.start in (0, len(fresh)) or any(fresh[one.start - 1 : one.start + 1]), one
        fresh[one.start : one.end] = [False] * len(one.new)
    labels = [one.label for one in pair.operations]
    if pair.label is None:
        assert set(labels) == {None} and {one.severity for one in pair.operations} == {"none"}
    else:
        assert pair.label == max(LOWEST_LABEL, sum(label or 0.0 for label in labels)) and LOWEST_LABEL <= pair.label <= 0
        assert None not in labels and all(label <= 0 for label in labels if label is not None)


def alike(some: Iterable[SyntheticPair], others: Iterable[SyntheticPair]) -> None:
    """The same pairs, some at least, in any order; the numbers behind severities to three digits, as batches of other sizes round them otherwise."""
    columns = [sorted(pairs, key=lambda pair: (pair.source, pair.id)) for pairs in (some, others)]
    bare = [
        [replace(pair, operations=tuple(replace(one, details={}) for one in pair.operations)) for pair in pairs]
        for pairs in columns
    ]
    assert bare[0] == bare[1] and bare[0]
    for pair, other in zip(*columns, strict=True):
        for one, same in zip(pair.operations, other.operations, strict=True):
            assert dict(one.details) == pytest.approx(dict(same.details), rel=2e-3, abs=2e-3)


def test_every_pair_keeps_the_laws(make: Make) -> None:
    """Replay, overlap and sums for several seeds; ids are unique; what is too short is counted."""
    pipeline, texts = make(64), dict(TEXTS)
    for seed in SEEDS:
        pairs = list(pipeline.pairs(TEXTS, seed))
        assert {pair.source for pair in pairs} <= set(texts) - {"texts:short"} and len(pairs) >= len(SENTENCES) // 2
        assert len({pair.id for pair in pairs}) == len(pairs) and {pair.pipeline for pair in pairs} == {pipeline.signature}
        for pair in pairs:
            keeps_the_laws(pair, texts)
    assert pipeline.skipped["too short"] == len(SEEDS)


def test_the_same_seed_gives_the_same_bytes(make: Make, tmp_path: Path) -> None:
    """Also for a run that was stopped after any block and gone on with; another seed gives other bytes."""
    once, again, other = tmp_path / "once.jsonl", tmp_path / "again.jsonl", tmp_path / "other.jsonl"
    for path, seed in ((once, 3), (again, 3), (other, 4)):
        list(write_synthetic(path, make(2), TEXTS, seed))
    content = once.read_bytes()
    assert content == again.read_bytes() != other.read_bytes() and len(list(read_synthetic(once))) == content.count(b"\n")
    for stop in (1, 3):
        again.unlink()
        run = write_synthetic(again, make(2), TEXTS, 3)
        done = sum(len(next(run)) for _ in range(stop))
        run.close()
        assert not again.exists() and sum(map(len, write_synthetic(again, make(2), TEXTS, 3))) == content.count(b"\n") - done
        assert again.read_bytes() == content and sorted(tmp_path.iterdir()) == sorted((once, again, other))


def test_a_pair_depends_on_its_text_and_the_seed_alone(make: Make) -> None:
    """Not on how many texts are taken at a time, on their order, or on the others."""
    pairs = list(make(64).pairs(TEXTS, 1))
    alike(make(1).pairs(TEXTS[::-1], 1), pairs)
    alike([pair for text in TEXTS for pair in make(3).pairs([text], 1)], pairs)


@pytest.mark.parametrize("name", [name for name in PIPELINES if name != "rome"])
def test_the_embedded_models_keep_the_laws(name: str) -> None:
    """What the command makes by default, in one batch and one by one; for RoMe's own see the command's tests."""
    pytest.importorskip("torch", reason="the extra [models] is not installed")
    pytest.importorskip("faiss", reason="needs the extra train: pip install 'rome-metric[train]'")
    parser = ArgumentParser()
    add_arguments(parser)
    numbers = ["--gamma", "0.05", "--lambda", "2", "--margin", "0.9"] if name == "sescore2" else []
    options = parser.parse_args([name, "-", "--threads", "1", "--fill", "embedded", *numbers])
    options.corpus = list(SENTENCES)
    pipeline = PIPELINES[name](options)
    assert not numbers or all(
        part in pipeline.signature for part in ("|gamma:0.05|lambda:2|", "|margin:0.9|", "likelihood:masked")
    )
    texts = TEXTS[:3]
    pairs = list(pipeline.pairs(texts, 0))
    for pair in pairs:
        keeps_the_laws(pair, dict(texts))
    alike([pair for text in texts for pair in pipeline.pairs([text], 0)], pairs)


def test_a_step_that_would_touch_another_is_drawn_anew() -> None:
    """One word can be misspelled once; where nothing else is left, the step is left out."""

    class OneWord(FakePerturber):
        operations = ("qwerty",)

        def run(self, request: Any) -> str:
            return str(request.text.replace("old", "olld").replace("ollld", "old"))

    pairs = [
        pair
        for seed in range(9)
        for pair in TextAttackPipeline(OneWord(), Judge()).pairs([("a:1", "The old dog slept.")], seed)
    ]  # type: ignore[arg-type]
    assert {pair.hypothesis for pair in pairs} == {"The olld dog slept."} and len(pairs) == 9


def test_gaps_in_a_row_are_not_filled_with_one_word_again_and_again() -> None:
    """A word that stands beside its place is taken only where there is no other."""

    class Stubborn(FakeFiller):
        def __init__(self, *words: str) -> None:
            super().__init__()
            self.words = words

        def _one(self, request: FillRequest) -> list[tuple[str, float]]:
            return [(word, 0.9 / (n + 1)) for n, word in enumerate(self.words)]

    def filled(filler: Stubborn, masks: list[Mask], kind: str) -> str:
        text = "He went to the old house."
        (operation, *_) = fill_masks(text, masks, filler, 1, kind)
        return operation.new

    row = [Mask(3, 14, 3)]
    assert filled(Stubborn("on", "by"), row, CONTIGUOUS) == "on by on"
    assert filled(Stubborn("on"), row, CONTIGUOUS) == "on on on"
    assert filled(Stubborn("The", "by"), [Mask(8, 10)], SCATTERED) == "by"

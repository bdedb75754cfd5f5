"""The learned estimator: the head in NumPy against the one in torch, and the laws of its spans, with weights drawn at random."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pytest

from rome.cli.metric import add_metric_arguments, make_metric
from rome.exceptions import InputError, ModelMissingError
from rome.features.analyser.config import set_folder
from rome.features.errors.estimator import ErrorsConfig
from rome.features.errors.head import PairHead, prior, shares
from rome.features.errors.learned import LearnedErrors, errors_feature
from rome.features.errors.lexicon import Lexicon
from rome.features.idf import IdfTable
from rome.metric import RoMe

from handmade import WIDTH, analysis

torch = pytest.importorskip("torch")

from rome.train.errors_families import Families  # noqa: E402
from rome.train.errors_net import PairNet, collate  # noqa: E402

IDF = IdfTable(
    1000, {w: n for n, w in enumerate("red house big old man three five new town hill dog on a the".split(), start=5)}
)
LEXICON = Lexicon.load(set_folder() / "lexicon" / "antonyms.tsv")
CONFIG = ErrorsConfig(estimator="learned")
PAIRS = [
    ("The old dog saw a red house.", "The old dog saw a new house."),
    ("The old dog saw a red house.", "A dog did not see the red house on the hill."),
    ("Köln is old.", "Big Köln"),
    ("the man", ""),
    ("", "the man"),
    ("three three dogs", "five dogs dogs ran , ran"),
]


def net(seed: int = 0, spread: float = 0.3) -> PairNet:
    """A small head whose every weight is random, its answers too."""
    torch.manual_seed(seed)
    made = PairNet(32, 2, 0.0, vectors=WIDTH)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(spread * torch.randn_like(parameter))
    return made.eval()


def head_of(made: PairNet) -> PairHead:
    """The same in NumPy."""
    return PairHead({name: tensor.numpy() for name, tensor in made.state_dict().items()})


def estimator(seed: int = 0, spread: float = 0.3) -> LearnedErrors:
    """An estimator with a random head."""
    return LearnedErrors(IDF, LEXICON, head_of(net(seed, spread)), CONFIG)


def test_numpy_and_torch_agree_in_a_padded_batch() -> None:
    """Oracle: torch's batched forward pass gives every word the probabilities, types and costs of the NumPy head."""
    made = net()
    data = Families(IDF, LEXICON, CONFIG)
    for one, other in PAIRS:
        reference, hypothesis = analysis(one), analysis(other)
        inputs, _, surface = data.measured(reference, hypothesis)
        blank = (np.zeros(len(inputs), np.int8), np.zeros(len(inputs), np.float32), np.zeros(len(inputs), np.int8))
        assert data._add(reference, hypothesis, inputs, surface, blank) is not None
    with torch.no_grad():
        logs, _, about, costs = made(collate(data.examples, data))
    head = head_of(made)
    for row, (one, other) in enumerate(PAIRS):
        inputs, _, _ = data.measured(analysis(one), analysis(other))
        found, n = head(inputs), len(inputs)
        np.testing.assert_allclose(found.probabilities, logs[row, :n].exp().numpy(), atol=5e-3)
        np.testing.assert_allclose(found.types, about[row, :n].softmax(-1).numpy(), atol=5e-3)
        np.testing.assert_allclose(found.costs, costs[row, :n].numpy(), atol=2e-2)
        assert np.all(costs[row, n:].numpy() == 0.0)


def test_an_untrained_head_repeats_the_edit_script() -> None:
    """With nothing added to the prior, the count is the edit script's but for what the floors of the prior add."""
    made = PairNet(32, 2, 0.0, vectors=WIDTH).eval()
    learned = LearnedErrors(IDF, LEXICON, head_of(made), CONFIG)
    rules = errors_feature(ErrorsConfig(), IDF, LEXICON, Path())
    for one, other in PAIRS[:3]:
        a, b = analysis(one), analysis(other)
        assert learned.measure(a, b).evidence.count == pytest.approx(rules.measure(a, b).evidence.count, abs=0.25)


@pytest.mark.parametrize("seed", range(4))
def test_spans_and_ranges(seed: int) -> None:
    """Spans are the text at their places, weights add up to the count, values stay in range, identical texts have no errors."""
    errors = estimator(seed)
    for one, other in PAIRS:
        a, b = analysis(one), analysis(other)
        found = errors.measure(a, b)
        assert 0.0 <= found.value <= 1.0 and 0.0 <= found.raw <= 25.0
        assert found.evidence.count == pytest.approx(sum(e.weight for e in errors.found(a, b)))
        for error in found.evidence.errors:
            for span, text in ((error.reference, one), (error.hypothesis, other)):
                assert span is None or text[span.start : span.end] == span.text
            assert error.weight >= 0.0 and 0.0 <= error.confidence <= 1.0
        assert errors.measure(a, a).value == 1.0 and errors.measure(a, a).evidence.errors == ()


@pytest.mark.parametrize("seed", range(6))
def test_a_word_that_stands_unchanged_is_named_no_error(seed: int) -> None:
    """Whatever the head thinks of it: its weight counts, its severity is none, unless it moved."""
    named = 0
    for one, other in PAIRS:
        for error in estimator(seed, 2.0).measure(analysis(one), analysis(other)).evidence.errors:
            if error.severity != "none" and error.kind == "replacement":
                named += 1
                assert error.reference is not None and error.hypothesis is not None
                assert error.reference.text.lower() != error.hypothesis.text.lower()
    assert named


def test_every_compared_word_stands_in_one_span() -> None:
    """No word of the hypothesis is counted twice: the spans of words do not overlap on its side."""
    errors = estimator(spread=1.0)
    a, b = analysis("The old dog saw a red house."), analysis("A dog did not see the big red house on the hill.")
    spans = sorted((e.hypothesis.start, e.hypothesis.end) for e in errors.found(a, b) if e.hypothesis and e.type != "casing")
    assert all(one[1] <= other[0] for one, other in zip(spans, spans[1:], strict=False))


def test_marks_cost_what_characters_say_whatever_the_head_thinks() -> None:
    """A comma put in adds the same under every head."""
    clean, comma = analysis("The old dog saw a red house."), analysis("The old dog, saw a red house.")
    reference = analysis("The old dog saw the red house.")
    for seed in range(3):
        errors = estimator(seed, 0.0)
        more = errors.measure(reference, comma).evidence.count - errors.measure(reference, clean).evidence.count
        assert more == pytest.approx(CONFIG.surface.punctuation.added, abs=0.35)


def test_a_very_long_text_is_judged_in_blocks() -> None:
    """1,200 words: the blocks of attention give what one block gives."""
    import rome.features.errors.head as module

    words = " ".join(f"dog{n % 7}" if n % 5 else "house" for n in range(300))
    data, head = Families(IDF, LEXICON, CONFIG), head_of(net())
    inputs, _, _ = data.measured(analysis(words), analysis(words.replace("dog3", "man", 20)))
    whole = head(inputs)
    before, module.BLOCK = module.BLOCK, 64
    try:
        np.testing.assert_allclose(head(inputs).costs, whole.costs, rtol=1e-4, atol=1e-4)
    finally:
        module.BLOCK = before


def test_shares_and_prior() -> None:
    """A matched pair carries one error between its words, marks none; priors are log-probabilities."""
    inputs, _, _ = Families(IDF, LEXICON, CONFIG).measured(analysis("the dog ran."), analysis("the dog barked loudly."))
    assert set(shares(inputs).tolist()) <= {0.0, 0.5, 1.0}
    assert np.all(shares(inputs)[~inputs.judged] == 0.0)
    np.testing.assert_allclose(np.exp(prior(inputs)).sum(axis=1), 1.0, rtol=1e-5)


def test_missing_and_foreign_weights(tmp_path: Path) -> None:
    """A folder without weights, and weights for other inputs, are named with the remedy."""
    with pytest.raises(ModelMissingError, match="edit-script"):
        errors_feature(CONFIG, IDF, LEXICON, tmp_path)
    from safetensors.numpy import save_file

    save_file(
        {"scal.weight": np.zeros((4, 3), np.float32), "bias": np.zeros((1, 4, 6), np.float32)}, tmp_path / "errors.safetensors"
    )
    with pytest.raises(ModelMissingError, match="rome train errors"):
        errors_feature(CONFIG, IDF, LEXICON, tmp_path)


def test_the_choice_is_checked_and_signed() -> None:
    """An unknown estimator is refused, the learned one with foreign vectors too; the signature says which counts."""
    with pytest.raises(InputError, match="learned"):
        RoMe(errors="guessed")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="edit-script"):
        RoMe(models="paper", errors="learned")
    assert "errors:edit-script." in RoMe(errors="edit-script").feature_signature
    assert "errors:learned." in RoMe().feature_signature
    assert RoMe(models="paper").configs[3].estimator == "edit-script"


def test_the_command_line_chooses_too() -> None:
    """--errors edit-script makes the metric of RoMe(errors="edit-script"); without it the learned one."""
    parser = argparse.ArgumentParser()
    add_metric_arguments(parser)
    for words, errors in ((["--errors", "edit-script"], "edit-script"), ([], "learned")):
        made = make_metric(parser.parse_args(words))
        assert isinstance(made, RoMe) and made.feature_signature == RoMe(errors=errors).feature_signature  # type: ignore[arg-type]

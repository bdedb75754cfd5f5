"""TextAttack, really run in its own process; skipped where it is not installed."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from rome.exceptions import ModelMissingError
from rome.train.common.textattack import CHARACTER_OPERATIONS, Perturber, Request, Vocabulary, nearest
from rome.train.scorer.chains import make_pairs
from rome.train.scorer.pairs import TrainingPair
from rome.train.synthesis.severities import Edits, Verdict

TEXT = "In 1904 the large company did not announce 25 new products because the market fell."
WORDS = ("large", "big", "huge", "market", "shop", "fell", "dropped", "products", "goods", "new", "recent")
MISSING = find_spec("textattack") is None and not os.environ.get("ROME_TEXTATTACK_PYTHON")


@pytest.fixture(scope="module")
def perturber() -> Iterator[Perturber]:
    """One worker with a tiny vocabulary for all tests of this file."""
    if MISSING:
        pytest.skip("textattack is not installed (extra [train]), and ROME_TEXTATTACK_PYTHON names no interpreter that has it")
    with closing(Perturber(vocabulary())) as running:
        yield running


def vocabulary() -> Vocabulary:
    """Four groups of words with similar vectors."""
    vectors = np.random.default_rng(0).normal(size=(4, 8)).repeat(3, axis=0)[: len(WORDS)]
    vectors += np.random.default_rng(1).normal(size=vectors.shape) * 0.05
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return Vocabulary(WORDS, vectors, nearest(vectors, 3))


class FakeSeverity:
    """Every edit weighs 0.3."""

    signature = "fake"

    def of(self, edits: Edits) -> list[Verdict]:
        """Judge each edit."""
        return [(True, {"weight": 0.3})] * len(edits)


@pytest.mark.parametrize(
    "operation", [*CHARACTER_OPERATIONS, "word_deletion", "inner_swap", "change_number", "contract", "embedding", "textfooler"]
)
def test_every_operation_changes_the_text_and_repeats_itself(perturber: Perturber, operation: str) -> None:
    """Each operation runs offline and gives the same text for the same seed."""
    request = Request(TEXT, operation, 2, 7)
    assert perturber.run(request) == perturber.run(request) not in (None, TEXT)


def test_odd_texts_never_end_the_run(perturber: Perturber) -> None:
    """Empty texts, punctuation, emoji and other scripts either pass or are left out; the process goes on."""
    odd = ["", ".", "🙂", "東京は大きい", "a" * 300, TEXT]
    assert [perturber.run(Request(text, "character_deletion", 1)) for text in odd][-1] not in (None, TEXT)


def test_the_ladder_gets_heavier_rung_by_rung(perturber: Perturber) -> None:
    """Light, medium and heavy versions of a base pair share its group and grow in strength and severity."""
    bases = [TrainingPair(f"{n}-clean", str(n), TEXT, TEXT, "made", "identity", "none", "clean", 0, 0.0) for n in range(3)]
    pairs = list(make_pairs(bases, perturber, FakeSeverity(), 0))
    assert list(make_pairs(bases, perturber, FakeSeverity(), 0)) == pairs
    for base in bases:
        own = [pair for pair in pairs if pair.group == base.group]
        rungs = [pair for pair in own if pair.level != "severe"]
        assert [pair.level for pair in rungs] == ["clean", "light", "medium", "heavy"]
        for low, high in zip(rungs, rungs[1:], strict=False):
            assert low.strength < high.strength and low.severity < high.severity and high.reference == TEXT


def test_a_missing_textattack_is_named_with_its_command(tmp_path: Path) -> None:
    """Where the package is absent, the error says how to get it."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'textattack'\" >&2\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(ModelMissingError, match="pip install"):
        Perturber(vocabulary(), python=str(python))


def test_nearest_equals_sorting_all_cosines() -> None:
    """Oracle: the neighbours of a vector by a full sort, itself first."""
    chance = random.Random(0)
    vectors = np.array([[chance.gauss(0, 1) for _ in range(6)] for _ in range(50)])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert np.array_equal(nearest(vectors, 5, block=7), np.argsort(-(vectors @ vectors.T), axis=1)[:, :5])

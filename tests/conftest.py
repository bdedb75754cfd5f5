"""What every test may use, and the guard against testing the checkout instead of the install."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

if find_spec("features") is not None:
    pytest.exit("the checkout shadows the installed rome: run `pytest`, not `python -m pytest`", 4)

os.environ.setdefault("POT_BACKEND_DISABLE_PYTORCH", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # the tests run in as many processes as there are cores
os.environ.setdefault(
    "OMP_WAIT_POLICY", "PASSIVE"
)  # where a test takes more threads, those that wait leave the cores to others

# Hugging Face's packages read these when they are first imported: no test may write to the user's caches, or ask a hub.
_hub = tempfile.mkdtemp(prefix="rome-tests-hub-")
os.environ |= {"HF_HOME": _hub, "HF_HUB_OFFLINE": "1"}
atexit.register(shutil.rmtree, _hub, ignore_errors=True)

# A busy machine fails no test (benchmarks show speed), and a run tries the examples of the run before it; CONTRIBUTING.md says
# how to search for new ones.
settings.register_profile("search", deadline=None)
settings.register_profile("repeatable", settings.get_profile("search"), derandomize=True, max_examples=50)
settings.load_profile("repeatable")


def _evidence() -> tuple[Any, ...]:
    """What the four features could say of "Five cats sleep." and "Four cats sleep soundly."."""
    from rome.features.errors.evidence import ErrorsEvidence, ErrorSpan, TextSpan
    from rome.features.grammar import GrammarEvidence, SentenceAcceptability
    from rome.features.semantic import AlignedPair, SemanticEvidence
    from rome.features.syntax import SyntaxEvidence, Tree

    reference, hypothesis = ("Five", "cats", "sleep"), ("Four", "cats", "sleep", "soundly")
    pairs = (AlignedPair(0, 0, 0.8, 0.2), AlignedPair(1, 1, 0.95, 0.05), AlignedPair(2, 2, 0.9, 0.1))
    masses, flow = (np.full(3, 1 / 3), np.full(4, 0.25)), np.full((3, 4), 1 / 12)
    semantic = SemanticEvidence(reference, hypothesis, *masses, pairs, np.ones((3, 4)), flow)
    tree_r = Tree(("<root>", "five", "cat", "sleep"), (-1, 2, 3, 0), ("", "nummod", "nsubj", "root"), (-1, 0, 1, 2))
    labels, relations = ("<root>", "four", "cat", "sleep", "soundly"), ("", "nummod", "nsubj", "root", "advmod")
    tree_h = Tree(labels, (-1, 2, 3, 0, 3), relations, (-1, 0, 1, 2, 3))
    same = np.array([[a == b for b in tree_r.labels] for a in tree_h.labels])
    errors = (
        ErrorSpan("missing", "adverb", "minor", 1.25, 0.5, None, TextSpan("soundly", 16, 23)),
        ErrorSpan("replacement", "number", "major", 4.5, 0.9, TextSpan("Five", 0, 4), TextSpan("Four", 0, 4)),
    )
    sentences = (SentenceAcceptability("Four cats sleep soundly.", 0, 24, 0.875),)
    return (
        semantic,
        SyntaxEvidence(tree_r, tree_h, same, 2.0, 6.0),
        GrammarEvidence(sentences, 0.9375),
        ErrorsEvidence(errors, 5.75),
    )


@pytest.fixture(scope="session")
def make_segment() -> Callable[..., Any]:
    """Build a SegmentScore with hand-made evidence; the contributions are losses that add up to score minus 1."""
    from rome.features.values import Component
    from rome.results import Components, Contributions, SegmentScore

    def make(
        segment: int = 0,
        *,
        score: float = 0.5,
        reference: str = "Five cats sleep.",
        hypothesis: str = "Four cats sleep soundly.",
        flags: tuple[str, ...] = (),
    ) -> SegmentScore:
        values, units = (0.9, 2 / 3, 0.875, 0.77), ("transport cost", "tree edits", "log probability", "weighted errors")
        names = ("semantic", "syntax", "grammar", "errors")
        parts = [Component(*row) for row in zip(names, values, (0.1, 2.0, -0.1335, 5.75), units, _evidence(), strict=True)]
        shares = Contributions(*((score - 1.0) * share for share in (0.125, 0.25, 0.0, 0.625)))
        return SegmentScore(segment, reference, hypothesis, 0, score, Components(*parts), shares, flags, "rome:test")

    return make


@pytest.fixture(scope="session")
def fake_metric(make_segment: Callable[..., Any]) -> Any:
    """A metric without models, for the command line: every identical pair scores 1, every other one 0.5."""
    from pairs_metric import PairsMetric

    from rome.checks import check_pairs
    from rome.combining.table import FeatureTable
    from rome.results import CorpusScore

    class FakeMetric(PairsMetric):
        signature = "rome:test"

        def score(self, *, references: Any, hypotheses: Any) -> CorpusScore:
            rows = [(pair.segment, pair.references[0], pair.hypothesis) for pair in check_pairs(references, hypotheses)]
            segments = [make_segment(n, score=1.0 if r == h else 0.5, reference=r, hypothesis=h) for n, r, h in rows]
            return CorpusScore(tuple(segments), "rome:test")

        def features(self, *, references: Any, hypotheses: Any) -> FeatureTable:
            count = len(check_pairs(references, hypotheses))
            values = np.linspace(0.0, 1.0, 4 * count).reshape(count, 4)
            return FeatureTable(np.arange(count), np.zeros(count, np.int32), values, values)

    return FakeMetric()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a set with nothing but a tiny random trunk and a random reader."""
    from tiny_reader import write_reader, write_trunk

    folder = tmp_path_factory.mktemp("models") / "tiny"
    write_trunk(folder / "encoder", "mpnet")
    write_reader(folder)
    return folder


@pytest.fixture(scope="module")
def monkey() -> Iterator[pytest.MonkeyPatch]:
    """Changes that hold for all tests of a file."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One headless Chromium for all tests of a file."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
    if path is None:
        pytest.skip("no Chromium on this machine")
    with pytest.importorskip("playwright.sync_api").sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()

"""The cross-encoder that the errors' head is compared with, on a tiny checkpoint."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest

from rome.data.readers.demetr import KINDS, MinimalPair

torch = pytest.importorskip("torch")

from synthesis_models import save_masked_and_judge  # noqa: E402

from rome.train import errors_cross  # noqa: E402
from rome.train.scorer_pairs import Pair, write_pairs  # noqa: E402

REFERENCE = "The old dog slept in the red house."


def probe(group: str, text: str, put: str, severity: str) -> dict[str, object]:
    """A probe that puts one word in."""
    start = text.index(put)
    edits = [[start, start, "", start, start + len(put), put]]
    row = {"group": group, "base": "identity", "reference": REFERENCE, "clean": REFERENCE, "text": text}
    return {**row, "name": "added_word", "severity": severity, "edits": edits}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny checkpoint in the place of MiniLM, probes, the scorer's pairs, and one minimal pair to judge by."""
    checkpoint = Path(save_masked_and_judge(tmp_path)["masked"])
    monkeypatch.setattr(errors_cross, "source_folder", lambda: checkpoint)
    kind = next(name for name in KINDS if KINDS[name].severity == "major")
    pairs = [MinimalPair(kind, REFERENCE, REFERENCE, REFERENCE.replace("red ", ""), severity="major")]
    monkeypatch.setattr(errors_cross, "read_demetr", lambda: pairs)
    monkeypatch.setattr(errors_cross, "RATED", ())
    rows = [
        probe("a", REFERENCE.replace("dog", "big dog"), "big", "critical"),
        probe("a", REFERENCE.replace("slept", "not slept"), "not", "minor"),
    ]
    (tmp_path / "probes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    write_pairs(tmp_path / "pairs.jsonl", [Pair("p", "g", "r", "h", "made", "system", "none", "clean", 0, 0.0)])
    return tmp_path


def run(folder: Path, *more: str) -> dict[str, object]:
    """Run the recipe; its figures."""
    parser = argparse.ArgumentParser()
    errors_cross.add_arguments(parser)
    files = ["--probes", str(folder / "probes.jsonl"), "--pairs", str(folder / "pairs.jsonl")]
    assert errors_cross.run(parser.parse_args(["--out", str(folder / "cross.json"), *files, *more])) == 0
    found: dict[str, object] = json.loads((folder / "cross.json").read_text(encoding="utf-8"))
    return found


def test_training_separates_a_family(folder: Path) -> None:
    """A count that knew nothing learns that the real pair has fewer errors than its probes; figures say how it was made."""
    figures = run(folder, "--steps", "40", "--batch", "1", "--rate", "0.01")
    assert figures["steps"] == 40 and figures["parameters"] and figures["demetr_all"] in (0.0, 100.0)
    model = errors_cross.CrossEncoder(errors_cross.source_folder())
    model.load_state_dict(torch.load(folder / "cross.pt", weights_only=True))
    texts = [REFERENCE, REFERENCE.replace("dog", "big dog")]
    clean, worse = model.score([REFERENCE] * 2, texts)
    assert clean > worse
    np.testing.assert_allclose(model.score([REFERENCE], texts[1:]), [worse], rtol=1e-4)


def test_judging_again_changes_nothing(folder: Path) -> None:
    """--judge takes the kept weights: the same figures but for the speed."""
    first = run(folder, "--steps", "20", "--batch", "1")
    again = run(folder, "--judge")
    assert {**first, "pairs_a_second": 0} == {**again, "pairs_a_second": 0}

"""Files that change while a command works: what was read first is what counts, because nothing is read again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rome.cli import main
from rome.evaluation.metrics.score_files import ScoreFile
from rome.results import CorpusScore

OTHER = "reference\thypothesis\nSomething else.\tSomething else.\n"


@pytest.mark.parametrize("words", [("-f", "tsv"), ("-f", "table"), ("-f", "json", "-o", "out.json")])
def test_pairs(
    words: tuple[str, ...],
    tmp_path: Path,
    fake_metric: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The pairs are replaced as soon as the first block of them is scored."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rome.batch.blocks.MOST_PAIRS", 2)
    pairs = tmp_path / "pairs.tsv"
    content = "reference\thypothesis\n" + "".join(f"A cat {n}.\tA dog {n}.\n" for n in range(7))

    class Changing(type(fake_metric)):  # type: ignore[misc]
        def score(self, *, references: Sequence[Any], hypotheses: Sequence[str]) -> CorpusScore:
            pairs.write_text(OTHER)
            return super().score(references=references, hypotheses=hypotheses)

    found = []
    for metric in (fake_metric, Changing()):
        pairs.write_text(content)
        assert main(["score", "pairs.tsv", *words], metric=lambda _, metric=metric: metric) == 0  # type: ignore[misc]
        found.append((capsys.readouterr().out, Path("out.json").read_bytes() if "-o" in words else b""))
    assert found[0] == found[1] and pairs.read_text() == OTHER


def test_a_file_of_scores(tmp_path: Path) -> None:
    """Its signature and its scores are of one reading."""
    path = tmp_path / "scores.tsv"
    path.write_text("item\tscore\n1\t0.5\n")
    scores = ScoreFile("mine", str(path))
    path.write_text("item\tscore\n1\t0.9\n")
    assert scores.lines == ["item\tscore", "1\t0.5"]
    assert scores.signature == ScoreFile("mine", _written(tmp_path / "scores.tsv", 0.5)).signature


def _written(path: Path, score: float) -> str:
    path.write_text(f"item\tscore\n1\t{score}\n")
    return str(path)

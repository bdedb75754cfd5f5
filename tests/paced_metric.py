"""A metric without models for workers in other processes: it takes its time, and leaves a mark whenever it is made."""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from pairs_metric import PairsMetric

from rome.features.errors.evidence import ErrorsEvidence
from rome.features.values import FEATURES, Component
from rome.results import Components, Contributions, CorpusScore, SegmentScore


class PacedMetric(PairsMetric):
    """Scores that are a digest of the texts; ``seconds`` a row; a file named after the process in ``marks`` for each time it is made."""

    signature = "rome:paced"

    def __init__(self, marks: Path, seconds: float = 0.0) -> None:
        self.seconds = seconds
        (marks / f"{os.getpid()}-{uuid.uuid4().hex}").touch()

    def score(self, *, references: Sequence[Sequence[str]], hypotheses: Sequence[str]) -> CorpusScore:
        """One segment a hypothesis; a hypothesis "fail" is an error."""
        segments = []
        for n, (given, hypothesis) in enumerate(zip(references, hypotheses, strict=True)):
            time.sleep(self.seconds)
            if hypothesis == "fail":
                raise RuntimeError("a row that fails")
            digest = hashlib.blake2b("\0".join([*given, hypothesis]).encode(), digest_size=16).digest()
            values = [int.from_bytes(digest[i : i + 4], "big") / 2**32 for i in range(0, 16, 4)]
            proofs = [None, None, None, ErrorsEvidence((), 0.0)]
            rows = zip(FEATURES, values, proofs, strict=True)
            parts = [Component(name, value, 3 * value, "units", proof) for name, value, proof in rows]
            score, shares = sum(values) / 4, [(value - 1.0) / 4 for value in values]
            segments.append(
                SegmentScore(n, given[0], hypothesis, 0, score, Components(*parts), Contributions(*shares), (), self.signature)
            )
        return CorpusScore(tuple(segments), self.signature)


def processes(marks: Path) -> list[int]:
    """The processes that made the metric, once for each time, in the order of the marks."""
    return [int(file.name.partition("-")[0]) for file in sorted(marks.iterdir(), key=lambda file: file.stat().st_mtime_ns)]

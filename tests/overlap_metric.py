"""A metric without models that measures real differences: word overlap, length, a constant, and the place of the reference."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from rome.checks import CheckedPair, check_pairs
from rome.combining.combiner import Combiner
from rome.combining.table import FeatureTable
from rome.features.errors.evidence import ErrorsEvidence, ErrorSpan, TextSpan
from rome.features.flags import FLAGS, pack_flags
from rome.features.values import FEATURES, Component
from rome.results import Components, Contributions, CorpusScore, SegmentScore

SIGNATURE = "features:overlap"


def net(slope: float = 1.0) -> Combiner:
    """A net that weighs the four features alike."""
    return Combiner(np.eye(4), np.zeros(4), np.full(4, slope), np.array(-2.0))


class OverlapMetric:
    """What the integrations ask of a RoMe; it counts its calls and texts, and copies share it."""

    def __init__(self, combiner: Combiner | None = None, *, idf: str = "embedded", empty_reference: Any = "error") -> None:
        self.combiner = combiner or net()
        self.idf, self.empty_reference = idf, empty_reference
        self.calls: list[int] = []

    @property
    def signature(self) -> str:
        """As RoMe has it: those of the features, and the net."""
        return f"{SIGNATURE}|{self.combiner.signature}"

    def features(self, *, references: Any, hypotheses: Any) -> FeatureTable:
        """One row a candidate."""
        pairs = check_pairs(references, hypotheses, empty_reference=self.empty_reference)
        self.calls.append(len(pairs))
        rows = [
            (pair, index, values(text, pair.hypothesis, index)) for pair in pairs for index, text in enumerate(pair.references)
        ]
        measured = np.array([row[2] for row in rows])
        return FeatureTable(
            np.array([row[0].segment for row in rows]),
            np.array([row[1] for row in rows]),
            measured,
            -measured,
            signature=SIGNATURE,
            flags=np.array([pack_flags(flags(row[0])) for row in rows], np.uint32),
            flag_names=FLAGS,
        )

    def score(self, *, references: Any, hypotheses: Any) -> CorpusScore:
        """Every segment by the reference that it matches best."""
        return self.score_pairs(check_pairs(references, hypotheses, empty_reference=self.empty_reference))

    def score_pairs(self, pairs: Sequence[CheckedPair]) -> CorpusScore:
        """`score` of checked pairs."""
        table = self.features(references=[pair.references for pair in pairs], hypotheses=[pair.hypothesis for pair in pairs])
        best = self.combiner.combine(table, allow_mismatch=True)
        chosen = table[best.row]
        shares = self.combiner.contributions(chosen).tolist()
        segments = []
        for n, (pair, index, score) in enumerate(zip(pairs, best.reference.tolist(), best.score.tolist(), strict=True)):
            texts = (pair.references[index], pair.hypothesis, index)
            proofs = [None, None, None, evidence(*texts[:2])]
            rows = zip(FEATURES, chosen.values[n].tolist(), proofs, strict=True)
            parts = [Component(name, value, -value, "", proof) for name, value, proof in rows]
            found = (score, Components(*parts), Contributions(*shares[n]), tuple(chosen.flags_of(n)), self.signature)
            segments.append(SegmentScore(pair.segment, *texts, *found))
        return CorpusScore(tuple(segments), self.signature)

    def __deepcopy__(self, memo: object) -> OverlapMetric:
        return self


def numbers(metric: Any, references: Any, hypotheses: Any) -> dict[str, list[Any]]:
    """The oracle: everything in one call, by column."""
    result = metric.score(references=references, hypotheses=hypotheses)
    return result.columns() | {"signature": [result.signature] * len(result)}


def values(reference: str, hypothesis: str, index: int) -> list[float]:
    """The four features of one candidate, each in [0, 1]."""
    here, there = set(reference.lower().split()), set(hypothesis.lower().split())
    return [
        len(here & there) / max(1, len(here | there)),
        1 / (1 + abs(len(reference) - len(hypothesis))),
        0.5,
        1 / (1 + index),
    ]


def evidence(reference: str, hypothesis: str) -> ErrorsEvidence:
    """A minor error for each word that the other text lacks."""
    found = []
    for kind, own, other in (("missing", reference, hypothesis), ("unnecessary", hypothesis, reference)):
        for word in (word for word in re.finditer(r"\S+", own) if word.group() not in other.split()):
            places = (TextSpan(word.group(), *word.span()), None)
            found.append(ErrorSpan(kind, "noun", "minor", 1.0, 0.9, *places[:: 1 if kind == "missing" else -1]))  # type: ignore[arg-type]
    return ErrorsEvidence(tuple(found), float(len(found)))


def flags(pair: CheckedPair) -> tuple[str, ...]:
    """Those of an empty hypothesis."""
    return () if pair.hypothesis.strip() else ("empty_hypothesis",)

"""Segments as the metric makes them, without its models: chosen components and errors, scored by the embedded net."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from rome.combining.combiner import Combiner
from rome.features.errors.evidence import MAXIMUM, ErrorsEvidence, ErrorSpan, TextSpan, value_of
from rome.features.grammar import GrammarEvidence, SentenceAcceptability
from rome.features.semantic import AlignedPair, SemanticEvidence
from rome.features.syntax import SyntaxEvidence, Tree
from rome.features.values import Component
from rome.results import Components, Contributions, CorpusScore, SegmentScore

SIGNATURE = "features:2|models:hand"
UNITS = ("transport cost", "tree edits", "log probability", "severity-weighted errors")


@lru_cache
def net() -> Combiner:
    """The embedded net."""
    return Combiner.load()


def signature() -> str:
    """What the embedded net's scores are signed with here."""
    return f"{SIGNATURE}|{net().signature}"


def error(weight: float, kind: str = "replacement", reference: str | None = "cat", hypothesis: str | None = "dog") -> ErrorSpan:
    """An error of this weight; below 0.5 it has no severity."""
    severity = "none" if weight < 0.5 else "major" if weight >= 2.5 else "minor"
    spans = [None if text is None else TextSpan(text, 4, 4 + len(text)) for text in (reference, hypothesis)]
    return ErrorSpan(kind, "noun", severity, weight, min(1.0, weight / 5 + 0.1), *spans)  # type: ignore[arg-type]


def scored(
    number: int = 0,
    *,
    reference: str = "The cat sleeps on the mat.",
    hypothesis: str = "The dog sleeps on the mat.",
    values: tuple[float, float, float] = (0.8, 0.7, 0.9),
    errors: Sequence[ErrorSpan] = (),
    evidence: bool = True,
) -> SegmentScore:
    """A segment with these three components, and the errors component and the score that follow."""
    words, others = tuple(reference.split()), tuple(hypothesis.split())
    count = min(math.fsum(e.weight for e in errors), MAXIMUM)
    empty = bool(words) and not others
    last = 0.0 if empty else value_of(count)
    pairs = tuple(AlignedPair(n, n, 0.9, 0.1) for n in range(min(len(words), len(others))))
    shape = (len(words), len(others))
    masses = [np.full(n, 1 / max(1, n)) for n in shape]
    semantic = SemanticEvidence(
        words, others, *masses, pairs, np.full(shape, 0.5), np.full(shape, 1 / max(1, math.prod(shape)))
    )
    trees = [
        Tree(("<root>", *t), (-1, *([0] * len(t))), ("", *["dep"] * len(t)), (-1, *range(len(t)))) for t in (words, others)
    ]
    equal = np.array([[x == y for y in trees[0].labels] for x in trees[1].labels])
    syntax = SyntaxEvidence(*trees, equal, 1.0, float(max(1, len(words) + len(others) - 1)))
    grammar = GrammarEvidence((SentenceAcceptability(hypothesis, 0, len(hypothesis), values[2]),) if others else ())
    proofs = (semantic, syntax, grammar, ErrorsEvidence(tuple(errors), count)) if evidence else (None,) * 4
    raws = (1 - values[0], 1.0, -0.1, MAXIMUM if empty else count)
    names, numbers = ("semantic", "syntax", "grammar", "errors"), (*values, last)
    components = Components(*(Component(*row) for row in zip(names, numbers, raws, UNITS, proofs, strict=True)))
    rows = np.array([numbers])
    shares = Contributions(*map(float, net().contributions(rows)[0]))
    score, flags = float(net().score_rows(rows)[0]), ("empty_hypothesis",) if empty else ()
    return SegmentScore(number, reference, hypothesis, 0, score, components, shares, flags, signature())


def corpus(count: int, seed: int = 0, *, evidence: bool = True) -> CorpusScore:
    """So many segments with random components and errors; the references are the same for every seed."""
    generator = np.random.default_rng(seed)
    segments = []
    for number in range(count):
        values = tuple(float(v) for v in generator.uniform(0.2, 1.0, 3))
        errors = [error(float(w)) for w in generator.uniform(0.05, 5.0, generator.integers(4))]
        texts = f"Sentence {number} stands here.", f"Sentence {number} stood {'there ' * (number % 3)}."
        segments.append(
            scored(number, reference=texts[0], hypothesis=texts[1], values=values, errors=errors, evidence=evidence)
        )  # type: ignore[arg-type]
    return CorpusScore(tuple(segments), signature())

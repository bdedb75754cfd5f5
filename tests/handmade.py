"""Hand-made analyses: words with chosen heads and one-hot vectors, so that a feature can be tested without a model."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from rome.features.errors.evidence import SEVERITIES, TYPES, EqualWords, PairErrorModel, PairPrediction
from rome.features.errors.prepared import PreparedText, prepare
from rome.features.protocol import AnalysedText
from rome.features.values import Analysis, Sentence, Word

WIDTH = 64
TOKEN = re.compile(r"\w+(?:['-]\w+)*|[^\w\s]")


def vector(form: str, width: int = WIDTH) -> np.ndarray:
    """One fixed random unit vector a lower-cased form: equal forms are equal, others nearly orthogonal."""
    seed = int.from_bytes(form.lower().encode("utf-8")[:8].ljust(8, b"\0"), "little") ^ len(form)
    values = np.random.default_rng(seed).normal(size=width)
    return (values / np.linalg.norm(values)).astype(np.float32)


def analysis(
    text: str,
    *,
    upos: Sequence[str] | None = None,
    lemmas: Sequence[str] | None = None,
    heads: Sequence[int] | None = None,
    vectors: np.ndarray | None = None,
    probability: float = 0.9,
    acceptable: float = 0.9,
) -> Analysis:
    """The analysis of one sentence; by default every word hangs under the first one and is a noun (a mark is punctuation)."""
    found = list(TOKEN.finditer(text))
    words = tuple(
        Word(
            text=match.group(),
            lemma=(lemmas[n] if lemmas else match.group().lower()),
            upos=(upos[n] if upos else "NOUN" if match.group()[0].isalnum() else "PUNCT"),
            xpos="",
            feats="",
            head=(heads[n] if heads else (-1 if n == 0 else 0)),
            relation="root" if n == 0 else "dep",
            start=match.start(),
            end=match.end(),
            sentence=0,
        )
        for n, match in enumerate(found)
    )
    own = np.array([vector(w.text) for w in words], np.float32).reshape(-1, WIDTH)
    sentences = (Sentence(found[0].start(), found[-1].end(), acceptable),) if found else ()
    return Analysis(text, sentences, words, own if vectors is None else vectors, np.full(len(words), probability, np.float32))


def prepared(given: Analysis) -> PreparedText:
    """An analysis as the errors feature takes it."""
    return prepare(AnalysedText.of(given))


def saying(amount: float, **wrong: tuple[str, float, str]) -> PairErrorModel:
    """Make a reader that marks these words in both texts: severity, probability and type. _ : all other words."""

    def row(form: str) -> tuple[np.ndarray, np.ndarray]:
        severity, chance, kind = wrong.get(form.lower(), wrong.get("_", ("minor", 0.0, "style")))
        probabilities, types = np.zeros(4), np.zeros(len(TYPES))
        probabilities[0], probabilities[SEVERITIES.index(severity)], types[TYPES.index(kind)] = 1.0 - chance, chance, 1.0
        return probabilities, types

    def read(pairs: Sequence[tuple[Analysis, Analysis]], equal: Sequence[EqualWords] = ()) -> list[PairPrediction]:
        found = [[row(word.text) for side in pair for word in side.words] for pair in pairs]
        columns = [(np.array([p for p, _ in each]), np.array([t for _, t in each])) for each in found]
        return [PairPrediction(p.reshape(-1, 4), t.reshape(-1, len(TYPES)), amount) for p, t in columns]

    return read


def guessing(seed: int, mean: float = 8.0) -> PairErrorModel:
    """Make a reader that says anything, depending on the pair alone."""

    def one(pair: tuple[Analysis, Analysis]) -> PairPrediction:
        chance = np.random.default_rng([seed, *(sum(map(ord, side.text)) for side in pair)])
        count = sum(len(side.words) for side in pair)
        rows = chance.dirichlet(np.full(4, 0.4), count), chance.dirichlet(np.full(len(TYPES), 0.4), count)
        return PairPrediction(*(row.astype(np.float32) for row in rows), float(chance.exponential(mean)))

    return lambda pairs, equal=(): [one(pair) for pair in pairs]

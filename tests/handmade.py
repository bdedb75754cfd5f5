"""Hand-made analyses: words with chosen heads and one-hot vectors, so that a feature can be tested without a model."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from rome.features.errors.prepared import PreparedText, prepare
from rome.features.idf import IdfTable
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


def prepared(given: Analysis, idf: IdfTable = IdfTable(100, {})) -> PreparedText:
    """An analysis as the errors feature takes it."""
    return prepare(AnalysedText.of(given), idf)

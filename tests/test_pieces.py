"""Word pieces: nothing is cut, and every word gets the pieces that share its characters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import load_tokenizer
from rome.features.analyser.pieces import batches_of, encode, pooled, touched, windows


@pytest.fixture(scope="module")
def tokenizer():  # type: ignore[no-untyped-def]
    return load_tokenizer(set_folder("small") / "encoder")


@given(st.integers(0, 300), st.integers(2, 60), st.data())
def test_windows_cover_everything_and_overlap(count: int, size: int, data: st.DataObject) -> None:
    """Every item stands in a window, no window is too long, and neighbours share at least the overlap."""
    overlap = data.draw(st.integers(0, size - 1))
    found = windows(count, size, overlap)
    assert sorted({n for start, end in found for n in range(start, end)}) == list(range(count))
    assert all(end - start <= size for start, end in found)
    assert all(a[1] - b[0] >= overlap for a, b in zip(found, found[1:], strict=False))


@given(st.lists(st.integers(1, 40), max_size=60), st.integers(1, 100))
def test_batches_hold_every_row_once_and_fit(lengths: list[int], pieces: int) -> None:
    """Every row stands in one batch, the longest first, and no batch of several rows has more padded pieces than allowed."""
    found = batches_of(lengths, pieces)
    assert sorted(n for batch in found for n in batch) == list(range(len(lengths)))
    assert all(len(batch) == 1 or len(batch) * lengths[batch[0]] <= pieces for batch in found)
    order = [lengths[n] for batch in found for n in batch]
    assert order == sorted(order, reverse=True)


def words_of(tokenizer, text: str, words: list[str]) -> list[str]:  # type: ignore[no-untyped-def]
    """For each word the pieces that `touched` gives it, read back from one-hot piece states."""
    encoded = encode(tokenizer, [text], 512)[0]
    spans, at = [], 0
    for word in words:
        at = text.index(word, at)
        spans.append((at, at + len(word)))
        at += len(word)
    rows = pooled(np.eye(len(encoded.ids), dtype=np.float32), touched(encoded.spans, spans))
    pieces = tokenizer.convert_ids_to_tokens(list(encoded.ids))
    return ["".join(pieces[k].removeprefix("##") for k in np.flatnonzero(row)) for row in rows]


@pytest.mark.parametrize(
    ("text", "words", "pieces"),
    [
        ("She doesn't know", ["She", "does", "n't", "know"], ["she", "doesn", "doesn't", "know"]),
        ("a well-known man", ["a", "well-known", "man"], ["a", "well-known", "man"]),
        ("Zürich café", ["Zürich", "café"], ["zurich", "cafe"]),
        ("  two   blanks ", ["two", "blanks"], ["two", "blanks"]),
        ("unbelievably odd", ["unbelievably", "odd"], ["unbelievably", "odd"]),
    ],
)
def test_words_get_their_own_pieces(tokenizer, text: str, words: list[str], pieces: list[str]) -> None:  # type: ignore[no-untyped-def]
    """Contractions, hyphens, non-ASCII letters, runs of blanks, words of several pieces; a piece across a border belongs to both."""
    assert words_of(tokenizer, text, words) == pieces


@pytest.mark.parametrize("text", ["I like it 😀 much", "日本語 and English", "a\u200bb c", "\u0301 x"])
def test_odd_characters_leave_every_word_a_finite_vector(tokenizer, text: str) -> None:  # type: ignore[no-untyped-def]
    """Emoji, other scripts, characters that vanish in normalisation: every word has some piece."""
    encoded = encode(tokenizer, [text], 512)[0]
    spans = [(start, start + 1) for start in range(len(text))]
    assert (pooled(np.ones((len(encoded.ids), 3), np.float32), touched(encoded.spans, spans)) == 1.0).all()


def test_nothing_gives_nothing(tokenizer) -> None:  # type: ignore[no-untyped-def]
    """No sentences, and a sentence without pieces."""
    assert encode(tokenizer, [], 512) == []
    assert pooled(np.zeros((0, 3), np.float32), touched([], [(0, 1)])).tolist() == [[0.0, 0.0, 0.0]]

"""Neighbours and edit scripts: as a slow search finds them, never a copy, and every chain of steps well defined and well spaced."""

from __future__ import annotations

import sys
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthesis_models import BagOfWords

from rome.exceptions import InputError, ModelMissingError
from rome.train.synthesis.edits import applied, chained, differences, words_of
from rome.train.synthesis.sescore2 import SentenceIndex, SentenceVectors, key_of, ratio_margin

pytest.importorskip("faiss", reason="needs the extra train: pip install 'rome-metric[train]'")


def corpus(size: int = 60) -> list[str]:
    """Invented sentences, many of them alike."""
    chance = np.random.default_rng(7)
    subjects, verbs = ["The cat", "A dog", "Zoë", "The old man", "Every child"], ["saw", "heard", "painted", "lost"]
    objects, ends = ["a red kite", "the river", "two boats", "nothing"], ["today", "in the morning", "again", "with great care"]
    parts = [subjects, verbs, objects, ends]
    drawn = (" ".join(str(chance.choice(part)) for part in parts) + "." for _ in range(20 * size))
    return list(dict.fromkeys(drawn))[:size]


def by_brute_force(texts: list[str], query: str, encoder: BagOfWords, k: int, margin: float) -> set[str]:
    """Neighbours from the whole matrix of cosines, everything sorted, margins from the printed formula."""
    vectors, one = encoder.of(texts).astype(float), encoder.of([query]).astype(float)[0]
    cosines = vectors @ vectors.T
    found = set()
    others = [n for n in range(len(texts)) if key_of(texts[n]) != key_of(query)]
    near = sorted(others, key=lambda n: -(vectors[n] @ one))[:k]
    own = sum(vectors[n] @ one for n in near) / (2 * len(near))
    for n in near:
        rest = sorted((cosines[n, m] for m in range(len(texts)) if m != n), reverse=True)[:k]
        if (vectors[n] @ one) / (own + sum(rest) / (2 * len(rest))) >= margin:
            found.add(texts[n])
    return found


@pytest.mark.parametrize(("k", "margin"), [(1, 0.999), (4, 1.06), (4, 1.2), (1000, 1.06)])
def test_neighbours_are_those_of_a_search_by_brute_force(k: int, margin: float) -> None:
    """faiss, blocks and averages give what the formula gives, for texts of the index and others; k may exceed the corpus."""
    texts, encoder = corpus(), BagOfWords()
    index = SentenceIndex(texts, encoder, neighbours=k)
    queries = [*texts[:20], "Zoë lost two dogs again.", "Unrelated words, all of them"]
    for query, found in zip(queries, index.of(queries, margin), strict=True):
        assert {one.text for one in found} == by_brute_force(texts, query, encoder, k, margin)
        assert [one.margin for one in found] == sorted((one.margin for one in found), reverse=True)
        assert all(index.texts[one.row] == one.text and one.margin >= margin for one in found)


def test_never_the_text_itself_or_a_near_copy() -> None:
    """What differs in casing, spacing and signs alone is a copy: left out of the index, and never a neighbour."""
    texts = [*corpus(30), "THE CAT saw the river - today!", "The cat saw  the river today.", "", "?!"]
    index = SentenceIndex(texts, BagOfWords(), neighbours=8)
    assert len(index.texts) == len({key_of(text) for text in texts} - {""})
    for text in [*index.texts, "the cat saw the river today"]:
        assert all(key_of(one.text) != key_of(text) for one in index.of([text], 0.0)[0])


def test_edges_of_the_index() -> None:
    """No text: InputError with remedy. One text: no margin, no neighbour. Identical texts: one. No query, a wordless query: none."""
    for empty in ([], ["", " ", "…"]):
        with pytest.raises(InputError, match="give a corpus"):
            SentenceIndex(empty, BagOfWords())
    alone = SentenceIndex(["One text.", "One text.", "one text"], BagOfWords())
    assert alone.texts == ("One text.",)
    assert alone.of(["One text.", "Another one."]) == [[], []]
    index = SentenceIndex(corpus(), BagOfWords())
    assert index.of([]) == []
    assert index.of(["", "?!"], 0.0) == [[], []]
    assert len(index.of(["Żółw", "日本語の文"], 0.0)) == 2


def test_margin_by_hand() -> None:
    """0.9 over the mean of 0.5 and 0.7; nothing is near where averages are not positive."""
    assert ratio_margin(0.9, 0.5, 0.7) == pytest.approx(1.5)
    assert ratio_margin(0.9, -0.5, 0.2) == 0.0
    assert ratio_margin(0.9, 0.5, float("inf")) == 0.0


def test_without_faiss_the_install_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """An absent package is named with what installs it."""
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ModelMissingError, match=r'pip install "rome-metric\[train\]"'):
        SentenceIndex(corpus(), BagOfWords())


def test_embedded_vectors_are_means_of_length_one() -> None:
    """One unit row a text, zeros for none; a sentence is nearer to its variant than to another one."""
    vectors = SentenceVectors()
    rows = vectors.of(["The cat sat on the mat.", "A cat sat on a mat.", "Shares fell sharply on Friday.", ""])
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1, 1, 0], abs=1e-5)
    assert rows[0] @ rows[1] > rows[0] @ rows[2]
    assert vectors.of([]).shape[0] == 0
    assert vectors.identity.startswith("mean:embedded:")


# Edit scripts


def slow_distance(one: list[str], other: list[str]) -> int:
    """The textbook table of Levenshtein's distance."""
    table = [[i + j if 0 in (i, j) else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i, a in enumerate(one, 1):
        for j, b in enumerate(other, 1):
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a != b))
    return table[-1][-1]


SENTENCES = st.builds(
    lambda words, gaps: "".join(w + g for w, g in zip(words, gaps, strict=False)),
    st.lists(st.sampled_from(["a", "b", "c", "don't", "Żółw", "日本", "3.5", ",", ".", "(", '"', "-"]), max_size=9),
    st.lists(st.sampled_from(["", " ", "  ", "\n"]), min_size=9, max_size=9),
)


@settings(max_examples=80, deadline=None)
@given(SENTENCES, SENTENCES)
def test_the_whole_chain_gives_the_neighbour(anchor: str, neighbour: str) -> None:
    """Z = P_n(...P_1(x)) to the last character, with no more word edits than Levenshtein's."""
    found = differences(anchor, neighbour)
    assert applied(anchor, *chained(found)) == neighbour
    old, new = ([word.text for word in words_of(text)] for text in (anchor, neighbour))
    assert sum(max(len(words_of(one.original)), len(words_of(one.new))) for one in found) == slow_distance(old, new)


@settings(max_examples=80, deadline=None)
@given(SENTENCES, SENTENCES, st.randoms(use_true_random=False))
def test_any_part_of_the_chain_is_well_defined(anchor: str, neighbour: str, chance: Any) -> None:
    """Offsets fit the text before each step, nothing written is touched again, and the words are the intended ones."""
    steps = [one for one in differences(anchor, neighbour) if chance.random() < 0.6]
    end, text = 0, anchor
    for step, operation in zip(steps, chained(steps), strict=True):
        assert operation.start >= end and text[operation.start : operation.end] == operation.original
        assert anchor[step.start : step.end] == operation.original
        text, end = applied(text, operation), operation.start + len(operation.new)


@pytest.mark.parametrize(
    ("anchor", "neighbour", "expected"),
    [
        ("The cat sat.", "The black cat sat.", [("insertion", 4, 4, "", "black ")]),
        ("The black cat sat.", "The cat sat.", [("deletion", 4, 10, "black ", "")]),
        ("The cat sat here.", "The cat sat.", [("deletion", 11, 16, " here", "")]),
        ("The cat sat.", "The dog sat.", [("replacement", 4, 7, "cat", "dog")]),
        ("The cat sat", "The cat sat, calmly", [("insertion", 11, 11, "", ", calmly")]),
        ("He (a cat) sat.", "He sat.", [("deletion", 3, 11, "(a cat) ", "")]),
        ("", "A cat.", [("insertion", 0, 0, "", "A cat.")]),
        ("One", "Two words", [("replacement", 0, 3, "One", "Two words")]),
        ("The cat sat.", "The cat sat.", []),
    ],
)
def test_differences_by_hand(anchor: str, neighbour: str, expected: list[tuple[str, int, int, str, str]]) -> None:
    """What a reader would mark, with its white space."""
    found = differences(anchor, neighbour)
    assert [(o.kind, o.start, o.end, o.original, o.new) for o in found] == expected


def test_every_subset_of_steps_is_well_spaced() -> None:
    """No doubled blank, none before a full stop, none within quotes, whichever steps are carried out."""
    anchor = 'Yesterday, the "old" mill (by the river) burned down, officials said.'
    neighbour = 'The "new" red mill near the river closed, and officials said so today.'
    found = differences(anchor, neighbour)
    assert len(found) >= 4
    for size in range(len(found) + 1):
        for steps in combinations(found, size):
            text = applied(anchor, *chained(steps))
            assert "  " not in text and " ." not in text and " ," not in text and text == text.strip(), text

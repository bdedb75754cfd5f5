"""Syntax: TED-SE on hand-made trees, its laws, its bound, its edit operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rome.combining.signature import feature_signature
from rome.exceptions import InputError
from rome.features.errors.evidence import ErrorsConfig
from rome.features.grammar import GrammarConfig
from rome.features.semantic import SemanticConfig
from rome.features.syntax import Syntax, SyntaxConfig, tree_of

from handmade import WIDTH, analysis, vector


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, list[int]]:
    """A few words with random heads (trees by construction: every head stands before its word)."""
    words = draw(st.lists(st.sampled_from("cat dog sat ran mat red".split()), min_size=1, max_size=8))
    return " ".join(words), [-1] + [draw(st.integers(0, n - 1)) for n in range(1, len(words))]


@settings(max_examples=60, deadline=None)
@given(texts(), texts())
def test_range_identity_symmetry_and_operations(a: tuple[str, list[int]], b: tuple[str, list[int]]) -> None:
    """In [0, 1]; 1 on itself; symmetric; and the operations that zss names cost exactly the compiled distance."""
    one, other = analysis(a[0], heads=a[1]), analysis(b[0], heads=b[1])
    feature = Syntax()
    found = feature.measure(one, other)
    assert 0.0 <= found.value <= 1.0
    assert feature.measure(one, one).value == 1.0
    assert feature.measure(other, one).value == pytest.approx(found.value)
    assert sum(step.kind != "match" for step in found.evidence.operations) == found.raw


@settings(max_examples=60, deadline=None)
@given(texts(), texts())
def test_zss_gives_the_same(a: tuple[str, list[int]], b: tuple[str, list[int]]) -> None:
    """The reference implementation measures what the compiled distance measures."""
    pair = analysis(a[0], heads=a[1]), analysis(b[0], heads=b[1])
    assert Syntax(SyntaxConfig(distance="zss")).measure(*pair) == Syntax().measure(*pair)


def test_the_distance_is_in_the_signature() -> None:
    """Another name than the default's, and nothing is said of the default; an unknown one is refused."""
    own, zss = (
        feature_signature("s", "m", "i", (SemanticConfig(), config, GrammarConfig(), ErrorsConfig()))
        for config in (SyntaxConfig(), SyntaxConfig(distance="zss"))
    )
    assert zss == f"{own}|ted:zss"
    with pytest.raises(InputError, match="compiled"):
        SyntaxConfig(distance="other")  # type: ignore[arg-type]


def test_synonyms_are_the_same_node() -> None:
    """Two lemmas above theta need no edit; below it they do (RoMe section 3.2)."""
    reference, hypothesis = analysis("cat sleeps"), analysis("feline sleeps")
    near = np.stack([vector("cat") * 0.9 + vector("feline") * 0.3, vector("sleeps")])
    close = analysis("feline sleeps", vectors=near.astype(np.float32))
    assert Syntax().measure(reference, close).raw == 0.0
    assert Syntax().measure(reference, hypothesis).raw == 1.0
    assert Syntax(SyntaxConfig(theta=0.999)).measure(reference, close).raw == 1.0


def test_operations_name_what_changed() -> None:
    """Dropping one leaf of the reference is one insertion towards it, with that node."""
    found = Syntax().measure(analysis("cat red sat"), analysis("cat sat"))
    edits = [step for step in found.evidence.operations if step.kind != "match"]
    assert [step.kind for step in edits] == ["insert"]
    assert found.evidence.reference.labels[edits[0].reference] == "red"
    assert edits[0].hypothesis is None


def test_punctuation_is_left_out_and_its_children_move_up() -> None:
    """A word under a punctuation mark hangs under the mark's head."""
    tree = tree_of(analysis("cat , sat", heads=[-1, 0, 1]))
    assert tree.labels == ("<root>", "cat", "sat")
    assert tree.parents == (-1, 0, 1)


def test_the_bound_is_reached() -> None:
    """A chain against a star without a common lemma has value 0."""
    chain = analysis("a b c d", heads=[-1, 0, 1, 2])
    star = analysis("w x y z", heads=[-1, -1, -1, -1])
    assert Syntax().measure(chain, star).value == 0.0


@pytest.mark.parametrize(
    ("a", "b", "value"), [("", "", 1.0), ("cat", "", 0.0), ("", "cat", 0.0), ("...", "!", 1.0), ("cat", "dog", 0.0)]
)
def test_edge_rows(a: str, b: str, value: float) -> None:
    """No words on both sides are the same, on one side nothing; texts of punctuation have no tree."""
    assert Syntax().measure(analysis(a), analysis(b)).value == value


def test_zero_vectors_do_not_match_everything() -> None:
    """A word that the encoder cannot read has the zero vector: it matches its own lemma only."""
    zeros = np.zeros((1, WIDTH), np.float32)
    assert Syntax().measure(analysis("cat", vectors=zeros), analysis("dog", vectors=zeros)).raw == 1.0
    assert Syntax().measure(analysis("cat", vectors=zeros), analysis("cat", vectors=zeros)).raw == 0.0


@pytest.mark.parametrize("parents", [[-1, 2, 1], [-1, 0, 2], [-1, 0, 3], [0, 0, 0]])
def test_stored_nodes_that_are_no_tree_are_refused(parents: list[int]) -> None:
    """A cycle of two, a node under itself, an index without a node, a first node that is not the root."""
    tree: dict[str, Any] = {
        "labels": ["<root>", "a", "b"],
        "relations": ["", "x", "x"],
        "words": [-1, 0, 1],
        "parents": [-1, 0, 1],
    }
    row: dict[str, Any] = {"reference": tree, "hypothesis": tree, "equal": np.eye(3).tolist(), "distance": 0, "bound": 3}
    assert Syntax.evidence_from_dict(row).reference.parents == (-1, 0, 1)
    with pytest.raises(ValueError, match="tree|index"):
        Syntax.evidence_from_dict(row | {"hypothesis": tree | {"parents": parents}})

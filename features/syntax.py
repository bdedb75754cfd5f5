"""Syntax: is the hypothesis built like the reference? Semantically enhanced tree edit distance, TED-SE (RoMe §3.2, A.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .cosine import cosines, unit_vectors
from .equal_texts import equal_texts
from .once import once
from .tree_distance import tree_edit_distance, tree_mapping
from .values import Analysis, Component

__all__ = ["Syntax", "SyntaxConfig", "SyntaxEvidence", "Tree", "TreeEdit", "tree_of"]

ROOT = "<root>"


@dataclass(frozen=True, slots=True)
class SyntaxConfig:
    """theta : two lemmas whose vectors have a cosine above it are the same node (found on development data).

    punctuation : whether punctuation nodes stay in the trees; they are surface, and `errors` counts them.
    max_nodes : of a longer text the first ``max_nodes`` words make the tree, because the distance grows with the product of the
        sizes; rome/results/flags.py says so in the result (``tree_cut``).
    """

    theta: float = 0.65
    punctuation: bool = False
    max_nodes: int = 1000


@dataclass(frozen=True, slots=True)
class Tree:
    """An ordered dependency tree in reading order under one imaginary root.

    labels, relations : node 0 is the imaginary root, the others are lemmas and their relations to the parent.
    parents : index of each node's parent, -1 for node 0. words : index of each node in ``Analysis.words``, -1 for node 0.
    """

    labels: tuple[str, ...]
    parents: tuple[int, ...]
    relations: tuple[str, ...]
    words: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TreeEdit:
    """One step from the hypothesis' tree to the reference's: ``match``, ``change``, ``insert`` or ``delete``.

    reference, hypothesis : the nodes concerned; None on the side that has none.
    """

    kind: str
    reference: int | None
    hypothesis: int | None


@dataclass(frozen=True)
class SyntaxEvidence:
    """The two trees, which nodes count as the same, and the distance; the edit operations are found when asked for.

    equal : (n, m) bool over the nodes of hypothesis and reference. bound : the number of operations of the worst pair of this size.
    """

    reference: Tree
    hypothesis: Tree
    equal: NDArray[np.bool_]
    distance: float
    bound: float

    def __eq__(self, other: object) -> bool:
        """Equal trees under the same equality of nodes."""
        return isinstance(other, SyntaxEvidence) and (
            (self.reference, self.hypothesis, self.distance, self.bound)
            == (other.reference, other.hypothesis, other.distance, other.bound)
            and np.array_equal(self.equal, other.equal)
        )

    @cached_property
    def operations(self) -> tuple[TreeEdit, ...]:
        """The cheapest edit operations that turn the hypothesis' tree into the reference's, as ``zss`` would find them."""
        return edit_operations(self.hypothesis, self.reference, self.equal)


@once
def _tree(analysis: Analysis, config: SyntaxConfig) -> Tree:
    """`tree_of`, worked out once for a text."""
    return tree_of(analysis, config)


def tree_of(analysis: Analysis, config: SyntaxConfig = SyntaxConfig()) -> Tree:
    """The dependency tree of a text: lemmas in word order, several sentences side by side under one imaginary root (A.1)."""
    kept = [n for n, word in enumerate(analysis.words) if config.punctuation or word.upos != "PUNCT"][: config.max_nodes]
    node_of = {word: node for node, word in enumerate(kept, start=1)}
    parents = [-1]
    for n in kept:
        head = analysis.words[n].head
        while head >= 0 and head not in node_of:
            head = analysis.words[head].head
        parents.append(node_of.get(head, 0))
    return Tree(
        labels=(ROOT, *((analysis.words[n].lemma or analysis.words[n].text).lower() for n in kept)),
        parents=tuple(parents),
        relations=("", *(analysis.words[n].relation for n in kept)),
        words=(-1, *kept),
    )


def edit_operations(source: Tree, target: Tree, equal: NDArray[np.bool_]) -> tuple[TreeEdit, ...]:
    """A cheapest way from source to target, that of ``zss``: first the nodes that stand for each other, then deletions and insertions.

    equal : (nodes of source, nodes of target), whether a change is free.
    """
    mapped = tree_mapping(source.parents, target.parents, equal)
    deleted = sorted(set(range(len(source.labels))) - {old for old, _ in mapped})
    inserted = sorted(set(range(len(target.labels))) - {new for _, new in mapped})
    return (
        *(TreeEdit("match" if equal[old, new] else "change", new, old) for old, new in mapped),
        *(TreeEdit("delete", None, n) for n in deleted),
        *(TreeEdit("insert", n, None) for n in inserted),
    )


class Syntax:
    """TED-SE of two dependency trees, normalised to [0, 1]; symmetric."""

    name = "syntax"

    def __init__(self, config: SyntaxConfig = SyntaxConfig()) -> None:
        self.config = config

    def measure(self, reference: Analysis, hypothesis: Analysis) -> Component:
        """One minus the distance over its bound; raw is the number of tree edits.

        The bound is what two trees of these sizes (n and m words, the imaginary root not counted) can cost at most: n + m - 1,
        reached by a chain against a star without a common lemma, because one node can always be changed into another; n + m when
        one text is empty, whose value is therefore 0. Two texts without words are the same: 1.
        """
        config = self.config
        tree_r, tree_h = _tree(reference, config), _tree(hypothesis, config)
        n, m = len(tree_h.labels) - 1, len(tree_r.labels) - 1
        equal = np.zeros((n + 1, m + 1), dtype=bool)
        equal[0, 0] = True
        if n and m:
            rows, columns = list(tree_h.words[1:]), list(tree_r.words[1:])
            equal[1:, 1:] = cosines(unit_vectors(hypothesis)[rows], unit_vectors(reference)[columns]) > config.theta
            equal[1:, 1:] |= equal_texts(tree_h.labels[1:], tree_r.labels[1:])
        distance = tree_edit_distance(tree_h.parents, tree_r.parents, equal)
        bound = float(n + m - 1 if n and m else max(n + m, 1))
        evidence = SyntaxEvidence(tree_r, tree_h, equal, distance, bound)
        return Component(self.name, 1.0 - distance / bound if n + m else 1.0, distance, "tree edits", evidence)

"""Syntax: is the hypothesis built like the reference? Semantically enhanced tree edit distance, TED-SE (RoMe §3.2, A.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from .matching import cosines, equal_texts
from .protocol import AnalysedText, Feature, check_settings, index, number, string
from .values import Analysis, Component, equal_fields

if TYPE_CHECKING:
    from .tree_edit_distance import PostOrder

ROOT = "<root>"


@dataclass(frozen=True, slots=True)
class SyntaxConfig:
    """Set when nodes are equal and how the distance is computed. Raises InputError for a word or number that is not allowed.

    Attributes
    ----------
    theta
        Two lemmas whose vectors have a cosine above it are the same node (found on development data).
    punctuation
        Whether punctuation nodes stay in the trees; they are surface, and `errors` counts them.
    max_nodes
        Of a longer text the first ``max_nodes`` words make the tree, because the distance grows with the product of the sizes;
        the flag ``tree_cut`` says so in the result.
    distance
        ``compiled``, or ``zss`` for the reference implementation, which gives the same numbers some hundred times slower.
    """

    theta: float = 0.65
    punctuation: bool = False
    max_nodes: int = 1000
    distance: Literal["compiled", "zss"] = "compiled"

    def __post_init__(self) -> None:
        """Check the settings."""
        check_settings(self, theta=(-1, 1), max_nodes=(1, math.inf), distance=("compiled", "zss"))


@dataclass(frozen=True, slots=True)
class Tree:
    """An ordered dependency tree in reading order under one imaginary root.

    Attributes
    ----------
    labels, relations
        Node 0 is the imaginary root, the others are lemmas and their relations to the parent.
    parents
        Index of each node's parent, -1 for node 0.
    words
        Index of each node in ``Analysis.words``, -1 for node 0.
    """

    labels: tuple[str, ...]
    parents: tuple[int, ...]
    relations: tuple[str, ...]
    words: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TreeEdit:
    """One step from the hypothesis' tree to the reference's: ``match``, ``change``, ``insert`` or ``delete``.

    Attributes
    ----------
    reference, hypothesis
        The nodes concerned; None on the side that has none.
    """

    kind: str
    reference: int | None
    hypothesis: int | None


@dataclass(frozen=True)
class SyntaxEvidence:
    """The two trees, which nodes count as the same, and the distance; the edit operations are computed on demand.

    Attributes
    ----------
    equal
        (n, m) bool over the nodes of hypothesis and reference.
    bound
        The number of operations of the worst pair of this size.
    """

    reference: Tree
    hypothesis: Tree
    equal: NDArray[np.bool_]
    distance: float
    bound: float

    def __eq__(self, other: object) -> bool:
        """Compare the trees, the distance and which nodes are equal."""
        return equal_fields(self, other, ("reference", "hypothesis", "distance", "bound", "equal"))

    @cached_property
    def operations(self) -> tuple[TreeEdit, ...]:
        """Return the cheapest edit operations that turn the hypothesis' tree into the reference's, as ``zss`` would find them."""
        return edit_operations(self.hypothesis, self.reference, self.equal)


def tree_of(analysis: Analysis, config: SyntaxConfig = SyntaxConfig()) -> Tree:
    """Return the dependency tree of a text: lemmas in word order, several sentences side by side under one imaginary root (A.1)."""
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
    """Return the cheapest edits from source to target that ``zss`` finds: matches and changes, then deletions and insertions.

    Parameters
    ----------
    equal
        (nodes of source, nodes of target), whether a change is free.
    """
    from .tree_edit_distance import tree_mapping

    mapped = tree_mapping(source.parents, target.parents, equal)
    deleted = sorted(set(range(len(source.labels))) - {old for old, _ in mapped})
    inserted = sorted(set(range(len(target.labels))) - {new for _, new in mapped})
    return (
        *(TreeEdit("match" if equal[old, new] else "change", new, old) for old, new in mapped),
        *(TreeEdit("delete", None, n) for n in deleted),
        *(TreeEdit("insert", n, None) for n in inserted),
    )


@dataclass(frozen=True, slots=True, eq=False)
class PreparedTree:
    """A text's tree, the same arranged for the distance, and the vectors of its words."""

    tree: Tree
    arranged: PostOrder
    units: NDArray[np.float64]


class Syntax(Feature[PreparedTree]):
    """TED-SE of two dependency trees, normalised to [0, 1]; symmetric."""

    name, config_class = "syntax", SyntaxConfig
    about = "is it built the same way? One minus the share of tree edits between the two dependency trees."

    @staticmethod
    def evidence_from_dict(row: dict[str, Any]) -> SyntaxEvidence:
        """Return the evidence that ``to_dict()`` wrote; edits are taken from the row where it has them."""
        reference, hypothesis = _tree_from_dict(row["reference"]), _tree_from_dict(row["hypothesis"])
        n, m = len(hypothesis.labels), len(reference.labels)
        equal: NDArray[np.bool_] = np.array(row["equal"], np.bool_).reshape(n, m)
        evidence = SyntaxEvidence(reference, hypothesis, equal, number(row["distance"]), number(row["bound"]))
        if "operations" in row:
            vars(evidence)["operations"] = tuple(_edit_from_dict(edit, n, m) for edit in row["operations"])
        return evidence

    def prepare(self, text: AnalysedText) -> PreparedTree:
        """Return the tree."""
        from .tree_edit_distance import post_order

        tree = tree_of(text.analysis, self.config)
        return PreparedTree(tree, post_order(tree.parents, mirrored=True), text.units[list(tree.words[1:])])

    def compare(self, reference: PreparedTree, hypothesis: PreparedTree) -> Component:
        """Return one minus the distance over its bound; raw is the number of tree edits.

        The bound is what two trees of these sizes (n and m words, the imaginary root not counted) can cost at most: n + m - 1,
        reached by a chain against a star without a common lemma, because one node can always be changed into another; n + m when
        one text is empty, whose value is therefore 0. Two texts without words are the same: 1.
        """
        from .tree_edit_distance import tree_edit_distance, zss_distance

        tree_r, tree_h = reference.tree, hypothesis.tree
        n, m = len(tree_h.labels) - 1, len(tree_r.labels) - 1
        equal = np.zeros((n + 1, m + 1), dtype=bool)
        equal[0, 0] = True
        if n and m:
            equal[1:, 1:] = cosines(hypothesis.units, reference.units) > self.config.theta
            equal[1:, 1:] |= equal_texts(tree_h.labels[1:], tree_r.labels[1:])
        if self.config.distance == "zss":
            distance = zss_distance(tree_h.parents, tree_r.parents, equal)
        else:
            distance = tree_edit_distance(hypothesis.arranged, reference.arranged, equal)
        bound = float(n + m - 1 if n and m else max(n + m, 1))
        evidence = SyntaxEvidence(tree_r, tree_h, equal, distance, bound)
        return Component(self.name, 1.0 - distance / bound if n + m else 1.0, distance, "tree edits", evidence)


def _edit_from_dict(row: dict[str, Any], n: int, m: int) -> TreeEdit:
    places = [None if row[side] is None else index(row[side], size) for side, size in (("reference", m), ("hypothesis", n))]
    if row["kind"] not in ("match", "change", "insert", "delete"):
        raise ValueError(f"{row['kind']!r} is not a tree edit")
    return TreeEdit(row["kind"], places[0], places[1])


def _tree_from_dict(row: dict[str, Any]) -> Tree:
    """Return a tree from plain values. Raises ValueError unless its columns fit together and form one tree under the first node."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    labels, relations = tuple(map(string, row["labels"])), tuple(map(string, row["relations"]))
    parents, words = tuple(map(int, row["parents"])), tuple(map(int, row["words"]))
    if not labels or len({len(labels), len(relations), len(parents), len(words)}) > 1 or parents[0] != -1:
        raise ValueError("a tree whose columns do not fit together")
    heads, size = [index(parent, len(labels)) for parent in parents[1:]], len(labels)
    links = coo_array((np.ones(size - 1), (range(1, size), heads)), shape=(size, size))
    if connected_components(links, directed=False, return_labels=False) > 1:  # as many links as nodes but one
        raise ValueError("a tree with a cycle")
    return Tree(labels, parents, relations, words)

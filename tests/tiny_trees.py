"""A model set's parser with a small random head for tags and trees: what holds of any parse needs no trained one."""

from __future__ import annotations

from pathlib import Path

import torch

from rome.features.analyser.trees import TREES_FILE, TreeHead
from rome.features.analyser.weights import save_weights

LABELS = {
    "upos": ("NOUN", "VERB", "ADJ", "AUX", "PUNCT", "PRON"),
    "xpos": ("NN", "VB", "JJ"),
    "feats": ("_", "Number=Sing", "Tense=Past"),
    "relation": ("nsubj", "root", "obj", "det", "punct"),
}


def write_trees(folder: Path, *, width: int = 384, mixed: int = 4, layers: int = 1) -> Path:
    """A tree head's folder."""
    torch.manual_seed(0)
    head = TreeHead(width=width, mixed=mixed, labels=LABELS, layers=layers, heads=4, inner=width, arc=32, relation=16)
    for part in (head.arc, head.relation, head.place.weight):
        torch.nn.init.normal_(part, std=0.05)
    folder.mkdir(parents=True)
    save_weights(folder / TREES_FILE, dict(head.state_dict()), {"sizes": head.sizes, "labels": head.labels})
    return folder


def write_parser(folder: Path) -> Path:
    """The folder of a parser, with a tree head; tokenizer, expander and lemmatizer are those of the package."""
    write_trees(folder / "trees")
    return folder

"""What the tags-and-trees head learns from: sentences of a treebank as rows of word pieces, with the right answers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from rome.data.readers.ewt_trees import TreeSentence
from rome.features.analyser.pieces import touched
from rome.features.analyser.spelling import spellings_of
from rome.features.analyser.tree_head import TAGS, TreeHead, WordPlaces

__all__ = ["TreeExample", "examples_of", "labels_of", "loss_of", "padded", "tree_batches", "tree_figures"]

UNKNOWN = -100
"""The number of a class that training did not see; it is never learned and never right."""
FEWEST = 2
"""A string of features that stands fewer times in the treebank is no class."""
LONGEST = 160


@dataclass(frozen=True, slots=True)
class TreeExample:
    """One sentence: its row of piece ids with both marks, the places of its n words, and for each word the numbers of the right classes.

    heads : (n,) 0 for the root, else the word's number from 1.
    """

    pieces: tuple[int, ...]
    places: WordPlaces
    answers: Mapping[str, torch.Tensor]
    heads: torch.Tensor


def labels_of(sentences: Iterable[TreeSentence]) -> dict[str, tuple[str, ...]]:
    """The classes of a treebank by what they classify, the most frequent first."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in (*TAGS, "relation")}
    for sentence in sentences:
        for word in sentence.words:
            for name, counter in counts.items():
                counter[getattr(word, name)] += 1
    return {
        name: tuple(label for label, n in counter.most_common() if name != "feats" or n >= FEWEST)
        for name, counter in counts.items()
    }


def examples_of(sentences: Sequence[TreeSentence], tokenizer: Any, labels: Mapping[str, Sequence[str]]) -> list[TreeExample]:
    """An example a sentence, without those of more than LONGEST pieces and those without any; a word without pieces has its neighbour's."""
    numbers = {name: {label: n for n, label in enumerate(known)} for name, known in labels.items()}
    coded = tokenizer([sentence.text for sentence in sentences], return_offsets_mapping=True)
    found = []
    for sentence, row, offsets in zip(sentences, coded["input_ids"], coded["offset_mapping"], strict=True):
        first, last = touched(offsets[1:-1], [(word.start, word.end) for word in sentence.words])
        if len(row) > LONGEST or (first >= last).any():
            continue
        spellings = spellings_of([sentence.text[word.start : word.end] for word in sentence.words])
        places = WordPlaces((first + 1).tolist(), (last + 1).tolist(), [word.place for word in sentence.words], spellings)
        answers = {
            name: torch.tensor([known.get(getattr(word, name), UNKNOWN) for word in sentence.words])
            for name, known in numbers.items()
        }
        found.append(TreeExample(tuple(row), places, answers, torch.tensor([word.head for word in sentence.words])))
    return found


def tree_batches(examples: Sequence[TreeExample], rng: random.Random, pieces: int) -> Iterator[list[TreeExample]]:
    """Batches without end, of sentences of like length and about ``pieces`` pieces, in random order, round after round."""
    while True:
        ordered = sorted(examples, key=lambda e: len(e.pieces) + rng.random() * 4)
        groups: list[list[TreeExample]] = [[]]
        for example in ordered:
            if groups[-1] and (len(groups[-1]) + 1) * len(example.pieces) > pieces:
                groups.append([])
            groups[-1].append(example)
        rng.shuffle(groups)
        yield from groups


def padded(rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """(b, L) piece ids and a bool mask, False at padding."""
    length = max(map(len, rows))
    ids, mask = torch.zeros(len(rows), length, dtype=torch.long), torch.zeros(len(rows), length, dtype=torch.bool)
    for n, row in enumerate(rows):
        ids[n, : len(row)] = torch.tensor(row)
        mask[n, : len(row)] = True
    return ids, mask


def loss_of(head: TreeHead, layers: torch.Tensor, mask: torch.Tensor, batch: Sequence[TreeExample]) -> torch.Tensor:
    """The mean cross-entropy a word of arcs, relations and tags.

    layers : (mixed, b, L, width) states of the trunk's first layers.
    """
    rows, own = head.spelled([example.places for example in batch], [mask.shape[1]] * len(batch))
    states = head.mixture(layers) + torch.stack(rows)
    ignored = torch.zeros_like(mask, dtype=states.dtype).masked_fill(~mask, float("-inf"))
    for layer in head.layers:
        states = layer(states, src_key_padding_mask=ignored)
    averages = pad_sequence([example.places.averages(mask.shape[1]) for example in batch], batch_first=True)
    numbers = pad_sequence([example.places.numbers() for example in batch], batch_first=True)
    real = pad_sequence([torch.ones(1 + len(e.heads), dtype=torch.bool) for e in batch], batch_first=True)
    words = head.words(states, averages, numbers, pad_sequence(own, batch_first=True))
    scores = head.scores(words, ~real)
    heads = _joined(batch, "heads")
    known = real[:, 1:]
    total = cross_entropy(scores.arcs[known].float(), heads[known])
    related = head.relation_scores(scores, heads.clamp_min(0))[known].float()
    total = total + cross_entropy(related, _joined(batch, "relation")[known])
    for name in TAGS:
        total = total + cross_entropy(scores.tags[name][known].float(), _joined(batch, name)[known])
    return total


def _joined(batch: Sequence[TreeExample], name: str) -> torch.Tensor:
    """(b, n) the right classes of the words of a batch, UNKNOWN behind the last one."""
    answers = [example.heads if name == "heads" else example.answers[name] for example in batch]
    return pad_sequence(answers, batch_first=True, padding_value=UNKNOWN)


@torch.no_grad()
def tree_figures(head: TreeHead, states: Sequence[torch.Tensor], examples: Sequence[TreeExample]) -> dict[str, float]:
    """Percent of words with the right head and relation (``las``), head, and each tag, on gold words.

    states : for each example (mixed, L, width).
    """
    names = {name: {label: n for n, label in enumerate(head.labels[name])} for name in (*TAGS, "relation")}
    right: Counter[str] = Counter()
    for tree, example in zip(head.parse(states, [example.places for example in examples]), examples, strict=True):
        attached = np.array(tree.heads) == example.heads.numpy()
        related = np.array([names["relation"][r] for r in tree.relations]) == example.answers["relation"].numpy()
        right.update(words=len(attached), uas=int(attached.sum()), las=int((attached & related).sum()))
        for name in TAGS:
            found = np.array([names[name][label] for label in getattr(tree, name)])
            right[name] += int((found == example.answers[name].numpy()).sum())
    return {name: round(100 * right[name] / right["words"], 2) for name in ("las", "uas", *TAGS)}

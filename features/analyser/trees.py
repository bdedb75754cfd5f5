"""The last step of the pipeline: Stanza's graph parser scores every arc, and the compiled search picks the trees.

`Trees` feeds the embedded parser in bulk; `attach_words` takes a Stanza document, for Stanza's own package.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .memory import Memory
from .recurrent import mixed, recurrent
from .spanning_tree import best_tree
from .stanza_library import (
    DEPREL,
    HEAD,
    ROOT_ID,
    VOCAB_PREFIX_SIZE,
    CompositeVocab,
    DataLoader,
    Document,
    unpack_batch,
    unsort,
)

__all__ = ["Trees", "attach_words", "reads_tags", "scores_arcs"]

SEPARATE = 150
"""Words; longer sentences are parsed one at a time, as Stanza does."""
HEADS = 128
"""Heads whose words' relations are scored at once; few, so that the products stay in the processor's cache."""


def scores_arcs(processor: Any) -> bool:
    """Whether a loaded parser is a graph parser, whose arc scores this file can search."""
    return hasattr(processor.trainer.model, "forward_scores") and not processor.trainer.args.get("reversed", False)


@torch.no_grad()
def attach_words(processor: Any, document: Document, batch_size: int) -> None:
    """Write head and relation of every word of a tagged document; the same trees as Stanza's own decoding.

    processor : Stanza's loaded depparse processor. batch_size : words scored at once.
    """
    loader = DataLoader(
        document,
        batch_size,
        processor.config,
        processor.pretrain,
        vocab=processor.vocab,
        evaluation=True,
        sort_during_eval=True,
        min_length_to_batch_separately=SEPARATE,
    )
    model = processor.trainer.model.eval()
    sentences: list[list[tuple[int, str]]] = []
    for batch in loader:
        inputs, order, word_order, lengths, word_lengths, text = unpack_batch(batch, torch.device("cpu"))
        if _plain(model):
            states = model.embed(*inputs, word_order, lengths, word_lengths, text)
            heads = _heads(_arc_scores(model, states), lengths)
            begins = np.repeat(np.arange(len(heads)) * states.shape[1], [len(tree) for tree in heads])
            word = torch.from_numpy(begins + np.concatenate([np.arange(1, len(tree) + 1) for tree in heads]))
            best = _relations(model.deprel, states.flatten(0, 1), word, torch.from_numpy(begins + np.concatenate(heads)))
            chosen = best.split([len(tree) for tree in heads])
        else:
            arcs, scores, *_ = model.forward_scores(*inputs, word_order, lengths, word_lengths, text)
            heads = _heads(arcs, lengths)
            chosen = [
                scores[n, torch.arange(1, len(tree) + 1), torch.from_numpy(tree)].argmax(1) for n, tree in enumerate(heads)
            ]
        sentences += unsort(_named(heads, chosen, processor.vocab["deprel"]), order)
    if loader.data_orig_idx is not None:
        sentences = unsort(sentences, loader.data_orig_idx)
    document.set((HEAD, DEPREL), [word for sentence in sentences for word in sentence])


def _plain(model: Any) -> bool:
    """Whether arcs and relations have a scorer each and nothing else decides, as in the embedded parser."""
    return not any(model.args.get(name) for name in ("use_arc_embedding", "linearization", "distance"))


def _arc_scores(model: Any, states: torch.Tensor) -> torch.Tensor:
    """(sentences, words + 1, words + 1) scores of each head for each word; no word is its own head."""
    scores = model.unlabeled(states, states).squeeze(3)
    itself = torch.eye(scores.shape[1], dtype=torch.bool)
    return torch.as_tensor(scores.masked_fill_(itself, -float("inf")))


def _heads(arcs: torch.Tensor, lengths: list[int]) -> list[NDArray[np.int64]]:
    """The best tree of each sentence: the head of each word, 0 for the root."""
    best = torch.log_softmax(arcs, 2).numpy()
    return [np.asarray(best_tree(best[n, :length, :length])[1:]) for n, length in enumerate(lengths)]


def _relations(scorer: Any, states: torch.Tensor, words: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
    """(n,) the best relation of each word to its head, scored for these arcs alone: Stanza's scorer would score every pair of words.

    states : (m, width). words, heads : (n,) which of them are the words and their heads. Half of the words are heads of none, so
    the heads' side of the product is found once each, and the words of all heads that have as many are scored together.
    """
    bilinear = scorer.scorer.W_bilin
    size, _, labels = bilinear.weight.shape
    weight = bilinear.weight.transpose(0, 1).flatten(1)
    different, place, counts = torch.unique(heads, return_inverse=True, return_counts=True)
    order = torch.argsort(counts[place] * len(different) + place, stable=True)
    counts, rising = torch.sort(counts, stable=True)
    below = _extended(scorer.W1, states.index_select(0, words.index_select(0, order)))
    above = _extended(scorer.W2, states.index_select(0, different.index_select(0, rising)))
    best, at = torch.empty_like(words), 0
    for start, stop, count in _even(counts.tolist()):
        upto = at + (stop - start) * count
        right = (above[start:stop] @ weight).view(-1, size, labels)
        scores = torch.bmm(below[at:upto].view(-1, count, size), right)
        best[order[at:upto]] = (scores + bilinear.bias).argmax(2).flatten()
        at = upto
    return best


def _even(counts: list[int]) -> Iterator[tuple[int, int, int]]:
    """Half-open ranges of at most HEADS equal numbers among rising ones, with the number."""
    start = 0
    for count, same in groupby(counts):
        end = start + sum(1 for _ in same)
        for begin in range(start, end, HEADS):
            yield begin, min(begin + HEADS, end), count
        start = end


def _extended(layer: Any, states: torch.Tensor) -> torch.Tensor:
    """(n, hidden + 1) one side of a bilinear product."""
    hidden = torch.relu(layer(states))
    return torch.cat([hidden, hidden.new_ones(len(hidden), 1)], 1)


def _named(heads: list[NDArray[np.int64]], relations: Iterable[torch.Tensor], vocabulary: Any) -> list[list[tuple[int, str]]]:
    """Head and relation of each word, sentence by sentence."""
    result = []
    for tree, chosen in zip(heads, relations, strict=True):
        labels = vocabulary.unmap((chosen + VOCAB_PREFIX_SIZE).tolist())
        result.append(list(zip(tree.tolist(), labels, strict=True)))
    return result


def reads_tags(processor: Any) -> bool:
    """Whether a loaded parser is one that `Trees` can feed: tags and an encoder's layers in, arcs and relations scored for themselves."""
    if not scores_arcs(processor) or not hasattr(processor.trainer.model, "unlabeled"):
        return False
    model = processor.trainer.model
    arguments = model.args
    without = ("word_emb_dim", "use_ufeats", "char", "charlm", "pretrain")
    return bool(
        _plain(model)
        and not any(arguments.get(name) for name in without)
        and arguments["tag_emb_dim"]
        and arguments["use_upos"]
        and arguments["use_xpos"]
        and not isinstance(processor.vocab["xpos"], CompositeVocab)
        and model.bert_model is not None
        and model.bert_layer_mix is not None
    )


class Trees:
    """Finds the trees of tagged sentences. processor : Stanza's loaded graph parser; the same trees as its own decoding."""

    def __init__(self, processor: Any) -> None:
        self._model, self._vocabularies = processor.trainer.model.eval(), processor.vocab
        self._tags: Memory[tuple[str, str], torch.Tensor] = Memory(self._of_tags)

    @torch.no_grad()
    def of(self, tags: Sequence[Sequence[tuple[str, str]]], states: torch.Tensor) -> list[list[tuple[int, str]]]:
        """Head and relation of each word, sentence by sentence.

        tags : universal tag and treebank tag of each word. states : (layers, beginnings + words, width), for each sentence what
        the encoder knows of its beginning, then of its words.
        """
        model, lengths = self._model, [1 + len(sentence) for sentence in tags]
        root = model.upos_emb.weight[ROOT_ID] + model.xpos_emb.weight[ROOT_ID]
        embedded = iter(self._tags.of(tag for sentence in tags for tag in sentence))
        rows = torch.stack([next(embedded) if n else root for length in lengths for n in range(length)])
        inputs = torch.cat([rows, mixed(model.bert_layer_mix, states)], 1)
        found = recurrent(model.parserlstm, (model.parserlstm_h_init, model.parserlstm_c_init), inputs, lengths)
        heads = self._heads(found, lengths)
        starts = np.repeat(np.cumsum(lengths) - lengths, [len(tree) for tree in heads])
        above = torch.from_numpy(starts + np.concatenate(heads))
        words = np.delete(np.arange(len(found)), np.asarray(np.cumsum(lengths) - lengths, np.int64))
        chosen = _relations(model.deprel, found, torch.from_numpy(words), above)
        return _named(heads, chosen.split([len(tree) for tree in heads]), self._vocabularies["deprel"])

    def _heads(self, states: torch.Tensor, lengths: list[int]) -> list[NDArray[np.int64]]:
        """The best tree of each sentence: the head of each word, 0 for the root."""
        scorer, heads = self._model.unlabeled, []
        bilinear = scorer.scorer.W_bilin
        left, right = _extended(scorer.W1, states) @ bilinear.weight[:, :, 0], _extended(scorer.W2, states)
        for below, above in zip(left.split(lengths), right.split(lengths), strict=True):
            arcs = torch.addmm(bilinear.bias, below, above.T).fill_diagonal_(-float("inf"))
            heads.append(best_tree(torch.log_softmax(arcs, 1).numpy())[1:])
        return heads

    def _of_tags(self, tags: list[tuple[str, str]]) -> list[torch.Tensor]:
        """What the parser reads for each pair of tags."""
        upos, xpos = (
            self._vocabularies[name].map(column) for name, column in zip(("upos", "xpos"), zip(*tags, strict=True), strict=True)
        )
        return list(self._model.upos_emb(torch.tensor(upos)) + self._model.xpos_emb(torch.tensor(xpos)))

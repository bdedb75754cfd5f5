"""The last step of the pipeline: Stanza's graph parser scores every arc of a batch, and the compiled search picks the trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stanza.models.common.doc import DEPREL, HEAD, Document
from stanza.models.common.utils import unsort
from stanza.models.common.vocab import VOCAB_PREFIX_SIZE
from stanza.models.depparse.data import DataLoader
from stanza.models.depparse.trainer import unpack_batch

from .spanning_tree import best_tree

__all__ = ["attach_words", "scores_arcs"]

SEPARATE = 150
"""Words; longer sentences are parsed one at a time, as Stanza does."""


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
            chosen = _relations(model.deprel, states, heads)
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


def _relations(scorer: Any, states: torch.Tensor, heads: list[NDArray[np.int64]]) -> list[torch.Tensor]:
    """The best relation of each word to its head, scored for these arcs alone: Stanza's scorer would score every pair of words."""
    sentence = torch.tensor([n for n, tree in enumerate(heads) for _ in tree], dtype=torch.long)
    word = torch.tensor([place for tree in heads for place in range(1, len(tree) + 1)], dtype=torch.long)
    head = torch.from_numpy(np.concatenate(heads))
    below = torch.relu(scorer.W1(states[sentence, word]))
    above = torch.relu(scorer.W2(states[sentence, head]))
    bilinear = scorer.scorer.W_bilin
    ones = torch.ones(len(word), 1)
    left = torch.cat([below, ones], 1) @ bilinear.weight.flatten(1)
    scores = torch.bmm(torch.cat([above, ones], 1)[:, None, :], left.view(len(word), *bilinear.weight.shape[1:]))[:, 0]
    return list((scores + bilinear.bias).argmax(1).split([len(tree) for tree in heads]))


def _named(heads: list[NDArray[np.int64]], relations: list[torch.Tensor], vocabulary: Any) -> list[list[tuple[int, str]]]:
    """Head and relation of each word, sentence by sentence."""
    result = []
    for tree, chosen in zip(heads, relations, strict=True):
        labels = vocabulary.unmap((chosen + VOCAB_PREFIX_SIZE).tolist())
        result.append(list(zip(tree.tolist(), labels, strict=True)))
    return result

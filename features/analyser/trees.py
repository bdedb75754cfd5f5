"""The last step of the pipeline: Stanza's graph parser scores every arc of a batch, and the compiled search picks the trees."""

from __future__ import annotations

from typing import Any

import torch
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
        arcs, relations, *_ = model.forward_scores(*inputs, word_order, lengths, word_lengths, text)
        sentences += unsort(_decode(arcs, relations, lengths, processor.vocab["deprel"]), order)
    if loader.data_orig_idx is not None:
        sentences = unsort(sentences, loader.data_orig_idx)
    document.set((HEAD, DEPREL), [word for sentence in sentences for word in sentence])


def _decode(arcs: torch.Tensor, relations: torch.Tensor, lengths: list[int], vocabulary: Any) -> list[list[tuple[int, str]]]:
    """Head and relation of each word, sentence by sentence.

    arcs : (sentences, words + 1, words + 1) scores of each head; relations : the same with one score a relation behind.
    """
    best = torch.log_softmax(arcs, 2).numpy()
    result = []
    for index, length in enumerate(lengths):
        heads = best_tree(best[index, :length, :length])[1:]
        labels = relations[index, torch.arange(1, length), torch.from_numpy(heads)].argmax(1) + VOCAB_PREFIX_SIZE
        result.append(list(zip(heads.tolist(), vocabulary.unmap(labels.tolist()), strict=True)))
    return result

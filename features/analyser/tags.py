"""Part-of-speech tags and morphological features of words: Stanza's tagger, fed in bulk.

The network's parts and its vocabularies are Stanza's; what is ours is that the words come in one list, that the part of the input
which depends on a word's letters alone is remembered, and that all features are decided by one product.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence

from .memory import Memory
from .recurrent import in_time, inverse, mixed, recurrent

__all__ = ["Tag", "Tags", "reads_words"]

Tag = tuple[str, str, str]
COLUMNS = ("upos", "xpos", "feats")


def reads_words(processor: Any) -> bool:
    """Whether a loaded tagger is one that `Tags` can feed: words, letters and an encoder's layers in, one hidden layer for all tags."""
    model = processor.trainer.model
    arguments = model.args
    return bool(
        model.share_hid
        and tuple(model.tag_names) == COLUMNS
        and arguments["word_emb_dim"]
        and arguments["char"]
        and not arguments.get("charlm")
        and not arguments["pretrain"]
        and model.charmodel.attn
        and model.charmodel.num_dir == 1
        and model.bert_model is not None
        and model.bert_layer_mix is not None
    )


class Tags:
    """Tags words. processor : Stanza's loaded tagger."""

    def __init__(self, processor: Any) -> None:
        self._model, self._vocabularies = processor.trainer.model.eval(), processor.vocab
        self._words: Memory[str, tuple[int, torch.Tensor]] = Memory(self._of_letters)
        self._named: Memory[tuple[int, ...], Tag] = Memory(self._names)
        columns = [self._model.upos_clf, *(self._model.tag_clf[name] for name in COLUMNS[1:])]
        self._heads = [list(column) if isinstance(column, nn.ModuleList) else [column] for column in columns]
        parts = [head for heads in self._heads for head in heads]
        self._weight = torch.cat([head.weight.detach() for head in parts])
        self._bias = torch.cat([head.bias.detach() for head in parts])
        self._sizes = [len(head.bias) for head in parts]

    @torch.no_grad()
    def of(self, sentences: Sequence[Sequence[str]], states: torch.Tensor) -> list[list[Tag]]:
        """Universal tag, treebank tag and features of each word, sentence by sentence, "_" where there is none.

        states : (layers, beginnings + words, width), for each sentence what the encoder knows of its beginning, then of its words.
        """
        model, lengths = self._model, [len(words) for words in sentences]
        numbers, letters = zip(*self._words.of(word for words in sentences for word in words), strict=True)
        beginnings = np.cumsum([0, *lengths[:-1]]) + np.arange(len(lengths))
        words = torch.from_numpy(np.delete(np.arange(states.shape[1]), beginnings))
        known = mixed(model.bert_layer_mix, states).index_select(0, words)
        inputs = torch.cat([model.word_emb(torch.tensor(numbers)), torch.stack(letters), known], 1)
        found = recurrent(model.taggerlstm, (model.taggerlstm_h_init, model.taggerlstm_c_init), inputs, lengths)
        scores = nn.functional.linear(torch.relu(model.upos_hid(found)), self._weight, self._bias)
        best = torch.stack([part.argmax(1) for part in scores.split(self._sizes, dim=1)], dim=1)
        tags = iter(self._named.of(map(tuple, best.tolist())))
        return [[next(tags) for _ in range(length)] for length in lengths]

    def _names(self, chosen: list[tuple[int, ...]]) -> list[Tag]:
        """How each combination of classes is written."""
        names = []
        for classes in chosen:
            at, written = 0, []
            for name, heads in zip(COLUMNS, self._heads, strict=True):
                several = isinstance(self._model.tag_clf[name], nn.ModuleList) if name != "upos" else False
                part = list(classes[at : at + len(heads)])
                written.append(str(self._vocabularies[name].id2unit(part if several else part[0])))
                at += len(heads)
            names.append((written[0], written[1], written[2]))
        return names

    @torch.no_grad()
    def _of_letters(self, words: list[str]) -> list[tuple[int, torch.Tensor]]:
        """The number of each word in the vocabulary, and what its letters say: their states' sum, each weighed by itself."""
        model, characters = self._model, self._vocabularies["char"]
        reader = model.charmodel
        lengths = [len(word) for word in words]
        rows, going, _ = in_time(lengths)
        letters = torch.tensor([number for word in words for number in characters.map(word)])
        start = tuple(
            state.expand(-1, len(words), -1).contiguous() for state in (reader.charlstm_h_init, reader.charlstm_c_init)
        )
        found = reader.charlstm.lstm(PackedSequence(reader.char_emb(letters[rows]), going), start)[0].data
        weighed = (found * torch.sigmoid(reader.char_attn(found))).index_select(0, inverse(rows))
        owners = torch.repeat_interleave(torch.tensor(lengths))
        summed = weighed.new_zeros(len(words), weighed.shape[1]).index_add_(0, owners, weighed)
        numbers = [self._vocabularies["word"].unit2id(word) for word in words]
        return list(zip(numbers, model.trans_char(summed), strict=True))

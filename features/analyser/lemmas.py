"""Lemmas: Stanza's dictionary, and its network for what is not in it, asked once for each form with each tag.

The network spells a lemma letter by letter, which is slow, and says of most words that the lemma is the form itself or the form in
small letters, whatever it would spell. So that is asked first, and only the other words are spelt.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import PackedSequence

from .memory import Memory
from .recurrent import in_time
from .stanza_library import EOS, ID, SOS, TEXT, UPOS, Document

__all__ = ["Lemmas", "looks_at_words_alone"]

SPELT, SAME, LOWER = 0, 1, 2
"""What the network decides first, by Stanza's numbers."""


def looks_at_words_alone(processor: Any) -> bool:
    """Whether a loaded lemmatizer is one that `Lemmas` can feed: it decides by a word's form and tag alone, dictionary first."""
    arguments = getattr(processor.trainer, "args", {})
    return bool(
        not processor.use_identity
        and not processor.trainer.has_contextual_lemmatizers()
        and processor.config.get("ensemble_dict")
        and not processor.config.get("dict_only")
        and arguments.get("edit")
        and arguments.get("pos")
        and arguments.get("pos_dim")
        and getattr(processor.trainer.model, "contextual_embedding", None) is None
        and not arguments.get("charlm")
        and not arguments.get("caseless")
    )


class Lemmas:
    """Lemmatizes words. processor : Stanza's loaded lemmatizer."""

    def __init__(self, processor: Any) -> None:
        self._processor = processor
        self._known: Memory[tuple[str, str], str | None] = Memory(self._asked)

    def of(self, pairs: Iterable[tuple[str, str]]) -> list[str | None]:
        """The lemma of each pair of a form and its universal tag; None where the lemmatizer has none."""
        return self._known.of(pairs)

    def _asked(self, pairs: list[tuple[str, str]]) -> list[str | None]:
        """The lemmas of different pairs."""
        trainer = self._processor.trainer
        in_dictionary = trainer.skip_seq2seq(pairs)
        known = [pair for pair, found in zip(pairs, in_dictionary, strict=True) if found]
        new = [pair for pair, found in zip(pairs, in_dictionary, strict=True) if not found]
        edits = dict(zip(new, self._edits(new), strict=True))
        lemmas: dict[tuple[str, str], str | None] = {
            (form, tag): form if edit == SAME else form.lower() for (form, tag), edit in edits.items()
        }
        for (form, tag), lemma in zip(known, trainer.predict_dict(known), strict=True):
            lemmas[form, tag] = None if lemma in ("", "_") and form != "_" else lemma or "_"
        spelt = [pair for pair in new if edits[pair] == SPELT]
        if spelt:
            document = _document(spelt)
            self._processor.process(document)
            lemmas.update({pair: word.lemma for pair, word in zip(spelt, document.sentences[0].words, strict=True)})
        return [lemmas[pair] for pair in pairs]

    @torch.no_grad()
    def _edits(self, pairs: list[tuple[str, str]]) -> list[int]:
        """How the lemma of each pair comes from its form: spelt anew, the same, or in small letters."""
        if not pairs:
            return []
        model, vocabulary = self._processor.trainer.model.eval(), self._processor.vocab
        letters = [vocabulary["char"].map([SOS, *form, EOS]) for form, _ in pairs]
        tags = model.pos_embedding(torch.tensor(vocabulary["pos"].map([tag for _, tag in pairs])))
        rows, going, _ = in_time([1 + len(word) for word in letters])
        read = model.embedding(torch.tensor([number for word in letters for number in (0, *word)]))  # the tag stands first
        read[np.cumsum([0, *(1 + len(word) for word in letters[:-1])])] = tags
        _, (hidden, _) = model.encoder(PackedSequence(read.index_select(0, rows), going))
        chosen = model.edit_clf(torch.cat((hidden[-1], hidden[-2]), 1)).argmax(1).numpy()
        edits = np.empty(len(pairs), np.int64)
        edits[np.argsort([-len(word) for word in letters], kind="stable")] = chosen
        return list(edits.tolist())


def _document(pairs: list[tuple[str, str]]) -> Document:
    """The pairs as the tagged words of one sentence."""
    return Document([[{ID: (n,), TEXT: form, UPOS: tag} for n, (form, tag) in enumerate(pairs, 1)]])

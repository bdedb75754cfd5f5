"""Models of other people: word vectors and acceptability from any checkpoint that transformers loads, local or from a hub."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rome.exceptions import ModelMissingError

from .config import set_folder
from .encoder import load_encoder, parts_of
from .pieces import Encoded, batches_of, encode, merge_windows

BATCH_PIECES = 2048


def _load(kind: str, name: str, download: bool) -> tuple[Any, Any]:
    """A model of one of transformers' classes and its fast tokenizer, from local files unless download.

    ModelMissingError names the command that gets it. The library is loaded here, because the embedded models do without it.
    """
    import transformers

    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, local_files_only=not download, use_fast=True)
        model = getattr(transformers, kind).from_pretrained(name, local_files_only=not download)
    except (OSError, ValueError) as error:
        raise ModelMissingError(
            f"the model {name} is not on this machine: run `hf download {name}`, or give ModelConfig a local folder, or set download=True"
        ) from error
    return model.eval().requires_grad_(False), tokenizer


def _window(model: Any, tokenizer: Any) -> int:
    """How many positions fit the model."""
    return int(min(tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", 512), 10**6))


def _pad(rows: Sequence[tuple[int, ...]], fill: int) -> tuple[torch.Tensor, torch.Tensor]:
    """(b, L) ids and mask."""
    ids = torch.full((len(rows), max(map(len, rows))), fill)
    mask = torch.zeros_like(ids)
    for n, row in enumerate(rows):
        ids[n, : len(row)] = torch.tensor(row)
        mask[n, : len(row)] = 1
    return ids, mask


class TransformerEncoder:
    """Piece states of one hidden layer of an encoder.

    Parameters
    ----------
    name
        A local folder or a hub name.
    layer
        Index into the hidden states, 0 = embeddings, -1 = last.
    """

    def __init__(self, name: str, layer: int = -1, *, download: bool = False) -> None:
        self.model, self.tokenizer = _load("AutoModel", name, download)
        self.layer = layer
        self.window = _window(self.model, self.tokenizer)

    @torch.no_grad()
    def states(self, sentences: Sequence[Encoded]) -> list[NDArray[np.float32]]:
        """For each sentence (n, d) states of its pieces, windows merged."""
        rows = [row for sentence in sentences for row in sentence.rows]
        found: list[NDArray[np.float32]] = [np.zeros((0, 0), np.float32)] * len(rows)
        for batch in batches_of([len(row) for row in rows], BATCH_PIECES):
            ids, mask = _pad([rows[n] for n in batch], self.tokenizer.pad_token_id or 0)
            states = (
                self.model(input_ids=ids, attention_mask=mask, output_hidden_states=True)
                .hidden_states[self.layer]
                .float()
                .numpy()
            )
            for position, n in enumerate(batch):
                found[n] = states[position, : len(rows[n])]
        merged, at = [], 0
        for sentence in sentences:
            merged.append(merge_windows(sentence, found[at : at + len(sentence.rows)]))
            at += len(sentence.rows)
        return merged

    def encode(self, sentences: Sequence[str]) -> list[Encoded]:
        """The sentences as rows of pieces."""
        return encode(self.tokenizer, sentences, self.window)


class Classifier:
    """The probability that a sentence is acceptable, from a sequence classifier fine-tuned on CoLA (RoMe §3.3)."""

    def __init__(self, name: str, acceptable_label: int = 1, *, download: bool = False) -> None:
        self.model, self.tokenizer = _load("AutoModelForSequenceClassification", name, download)
        self.label = acceptable_label
        self.window = _window(self.model, self.tokenizer)

    @torch.no_grad()
    def probabilities(self, sentences: Sequence[str]) -> list[float]:
        """One probability in [0, 1] a sentence; of a sentence longer than the window, the geometric mean over its windows."""
        encoded = encode(self.tokenizer, sentences, self.window)
        rows = [row for sentence in encoded for row in sentence.rows]
        logs = np.zeros(len(rows))
        for batch in batches_of([len(row) for row in rows], BATCH_PIECES):
            ids, mask = _pad([rows[n] for n in batch], self.tokenizer.pad_token_id or 0)
            logits = self.model(input_ids=ids, attention_mask=mask).logits.float()
            logs[batch] = torch.log_softmax(logits, dim=-1)[:, self.label].numpy()
        ends = np.cumsum([len(sentence.rows) for sentence in encoded])
        return [float(np.exp(part.mean())) for part in np.split(logs, ends[:-1])] if len(encoded) else []


class PieceStates:
    """States of one hidden layer of an encoder, special tokens left out, windows over long texts merged.

    Raises ModelMissingError when the encoder is not on this machine.

    Parameters
    ----------
    encoder
        "" for the embedded one, else a local folder or hub name.
    layer
        Index into the hidden states; -1 is the last, and the embedded encoder's are counted from 1.
    """

    def __init__(self, encoder: str = "", layer: int = -1) -> None:
        self.layer = layer
        self.encoder = TransformerEncoder(encoder, layer) if encoder else load_encoder(set_folder("small") / "encoder")

    def of(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """For each text (pieces, d) float32; (0, d) or (0, 0) for a text without pieces."""
        if isinstance(self.encoder, TransformerEncoder):
            return self.encoder.states(self.encoder.encode(texts))
        return [states.merged(self.layer) for part in parts_of(texts) for states in self.encoder.read(part)]

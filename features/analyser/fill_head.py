"""The masked-language head: which words fit a place in a text, and how likely is the word that stands there?

A few transformer layers on the states that one of the trunk's layers gives of a text **with [MASK] in it**, a dense layer with
normalisation, and an output tied to the trunk's word embeddings, which are not stored again (as in BERT, Devlin et al. 2019,
section 3.1). A place costs a pass of the trunk's first layers, because every masked text is another text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import nn

from rome.exceptions import InputError

from .config import set_folder
from .encoder import load_tokenizer, load_trunk
from .pieces import batches_of, padded
from .weights import load_weights

FILL_FILE = "fill.safetensors"
HIDDEN, HEADS, INNER = 384, 12, 1536
WINDOW = 128
"""Pieces of context around a place, special tokens included: the head was trained on sentences."""
BATCH_PIECES = 1024
WHOLE_WORD = re.compile(r"[a-z]{2,}|[ai]|[0-9]+")
SENTENCE_START = re.compile(r"(?:^|[.!?…][\"'”’)\]]*\s+|\n\s*)[\"'“‘(\[]*$")


class Placed(Protocol):
    """Characters ``text[start:end]`` of a text; an empty span is the place of an insertion."""

    @property
    def text(self) -> str:
        """Return the whole text."""

    @property
    def start(self) -> int:
        """Return the first character of the place."""

    @property
    def end(self) -> int:
        """Return one after its last character."""


@dataclass(frozen=True, slots=True)
class Place:
    """Characters ``text[start:end]`` of a text; an empty span is the place of an insertion."""

    text: str
    start: int
    end: int


class FillHead(nn.Module):
    """Transformer layers (post-norm, GELU), at least one, a dense layer, normalisation; times the trunk's word embeddings.

    Parameters
    ----------
    input_layer
        Which of the trunk's layers gives the states.
    """

    def __init__(
        self,
        layers: int = 2,
        input_layer: int = 2,
        *,
        hidden: int = HIDDEN,
        heads: int = HEADS,
        inner: int = INNER,
        vocabulary: int = 30522,
    ) -> None:
        super().__init__()
        self.input_layer = input_layer
        sizes = {"hidden": hidden, "heads": heads, "inner": inner, "vocabulary": vocabulary}
        self.sizes = {"layers": layers, "input_layer": input_layer, **sizes}
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(hidden, heads, inner, 0.0, "gelu", layer_norm_eps=1e-12, batch_first=True)
            for _ in range(layers)
        )
        self.dense = nn.Linear(hidden, hidden)
        self.norm = nn.LayerNorm(hidden, eps=1e-12)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, states: torch.Tensor, mask: torch.Tensor, places: torch.Tensor, embeddings: torch.Tensor) -> torch.Tensor:
        """Return (p, V) logits over the vocabulary at p places.

        Parameters
        ----------
        states
            (b, L, d) the trunk's states after layer ``input_layer``.
        mask
            (b, L) bool, True for real pieces.
        places
            (b, L) bool, p of them True, read row by row.
        embeddings
            (V, d) the trunk's word embeddings.
        """
        ignored = torch.zeros_like(mask, dtype=states.dtype).masked_fill(~mask, float("-inf"))
        for layer in self.layers[:-1]:
            states = layer(states, src_key_padding_mask=ignored)
        return self.norm(self.dense(self.last(states, ignored, places))) @ embeddings.T + self.bias

    def last(self, states: torch.Tensor, ignored: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Return (p, d) the last layer's states of the places; the other pieces are only attended to.

        Parameters
        ----------
        ignored
            -inf at padding, else 0.
        """
        layer: Any = self.layers[-1]
        counts = places.sum(1).tolist()
        asked = nn.utils.rnn.pad_sequence(list(torch.split(states[places], counts)), batch_first=True)
        real = torch.arange(asked.shape[1])[None] < places.sum(1, keepdim=True)
        seen = layer.self_attn(asked, states, states, key_padding_mask=ignored, need_weights=False)[0]
        inner = layer.norm1(asked + seen)[real]
        out: torch.Tensor = layer.norm2(inner + layer.linear2(nn.functional.gelu(layer.linear1(inner))))
        return out


def first_layers(trunk: Any, count: int) -> Any:
    """Cut the trunk after its first ``count`` layers, in place, so that its last states are those of that layer."""
    trunk.encoder.layer = trunk.encoder.layer[:count]
    trunk.config.num_hidden_layers = len(trunk.encoder.layer)
    return trunk


class Filling:
    """The first layers of a trunk, its tokenizer and a fill head, working on places in texts.

    Parameters
    ----------
    casing
        Lower-case word -> how it is written inside sentences ("Paris", "NATO", "I"); words that are not in it are lower case.
    sometimes
        Lower-case words that are written with a capital now and then: as names, where a name stood.
    """

    def __init__(
        self,
        trunk: Any,
        tokenizer: Any,
        head: FillHead,
        casing: Mapping[str, str],
        sometimes: frozenset[str] = frozenset(),
    ) -> None:
        self.trunk, self.tokenizer, self.head = trunk.eval(), tokenizer, head.eval()
        self.casing, self.sometimes = casing, sometimes
        pieces = tokenizer.convert_ids_to_tokens(range(head.sizes["vocabulary"]))
        self._words = {n: piece for n, piece in enumerate(pieces) if WHOLE_WORD.fullmatch(piece)}
        self._allowed = torch.tensor(sorted(self._words))

    def fill(self, requests: Sequence[Placed], top_k: int = 4) -> list[list[tuple[str, float]]]:
        """Return for each place the ``top_k`` words that fit best, with their probabilities in [0, 1], best first.

        One word takes the place of all its characters. Only whole words of letters or of digits are given, in the casing that the
        place asks for; the probabilities are those of the whole vocabulary, so that they sum to at most 1. The word that stood
        there may be among them. An empty list for no requests.

        Raises InputError for a place outside its text.
        """
        rows = [self._row(request, 1) for request in requests]
        found: list[list[tuple[str, float]]] = []
        for request, logits in zip(requests, self._logits(rows), strict=True):
            probabilities = torch.softmax(logits[0], dim=0)[self._allowed]
            best = torch.sort(probabilities, descending=True, stable=True)
            chosen = zip(self._allowed[best.indices[:top_k]].tolist(), best.values[:top_k].tolist(), strict=True)
            found.append([(self._written(self._words[n], request), _rounded(value)) for n, value in chosen])
        return found

    def likelihood(self, requests: Sequence[Placed]) -> list[float]:
        """Return for each place the probability in (0, 1] of its characters.

        A word of several pieces is masked as a whole, in one pass, and the probabilities of its pieces are multiplied. Casing does
        not count (the encoder is uncased). 1.0 for a place without pieces, such as an empty one; of a phrase of more than half the
        window the pieces that fit count. Raises InputError for a place outside its text.
        """
        pieces = [self._ids(request.text[request.start : request.end])[: WINDOW // 2] for request in requests]
        rows = [self._row(request, len(own)) for request, own in zip(requests, pieces, strict=True)]
        found = []
        for own, logits in zip(pieces, self._logits(rows), strict=True):
            chance = torch.log_softmax(logits, dim=1)[torch.arange(len(own)), torch.tensor(own, dtype=torch.long)]
            found.append(_rounded(float(torch.exp(chance.sum()))) if own else 1.0)
        return found

    def _ids(self, text: str) -> list[int]:
        """Return the piece ids of a part of a text; one that spells the mask itself is an unknown piece."""
        ids: list[int] = self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return [self.tokenizer.unk_token_id if n == self.tokenizer.mask_token_id else n for n in ids]

    def _row(self, request: Placed, masks: int) -> list[int]:
        """Return the pieces around a place with ``masks`` masks in it; a long context is cut evenly on both sides."""
        if not 0 <= request.start <= request.end <= len(request.text):
            raise InputError(
                f"characters {request.start} to {request.end} lie outside {request.text[:40]!r}: give a place in the text"
            )
        space = WINDOW - 2 - masks
        before, after = self._ids(request.text[: request.start]), self._ids(request.text[request.end :])
        left = min(len(before), max(space // 2, space - len(after)))
        middle = [self.tokenizer.mask_token_id] * masks
        kept = [*before[len(before) - left :], *middle, *after[: space - left]]
        return [self.tokenizer.cls_token_id, *kept, self.tokenizer.sep_token_id]

    @torch.no_grad()
    def _logits(self, rows: Sequence[Sequence[int]]) -> list[torch.Tensor]:
        """Return for each row the (masks, V) logits at its masks, computed in batches of similar length."""
        found = [torch.zeros(0, self.head.sizes["vocabulary"])] * len(rows)
        embeddings = self.trunk.embeddings.word_embeddings.weight
        for chosen in batches_of([len(row) for row in rows], BATCH_PIECES):
            ids, mask = padded([torch.tensor(rows[n]) for n in chosen])
            places = mask & (ids == self.tokenizer.mask_token_id)
            states = self.trunk(ids, attention_mask=mask.long()).last_hidden_state
            logits = self.head(states, mask, places, embeddings)
            for n, part in zip(chosen, torch.split(logits, places.sum(1).tolist()), strict=True):
                found[n] = part
        return found

    def _written(self, word: str, request: Placed) -> str:
        """Return a lower-case word in the casing that its place asks for."""
        letters = [c for c in request.text if c.isalpha()]
        if len(letters) > 1 and all(c.isupper() for c in letters):
            return word.upper()
        usual = self.casing.get(word, word)
        old = request.text[request.start : request.end]
        name = old[:1].isupper() and word in self.sometimes
        start = SENTENCE_START.search(request.text[: request.start])
        first_is_capital = next((c.isupper() for c in request.text[request.start :] if c.isalpha()), True)
        return usual[:1].upper() + usual[1:] if name or (start and first_is_capital) else usual


def _rounded(probability: float) -> float:
    """Four significant digits: batches of other sizes differ in the sixth, so they seldom differ in what is kept."""
    return float(f"{probability:.4g}")


def load_fill_head(folder: Path | None = None, encoder: Path | None = None) -> Filling:
    """Load the embedded masked-language head, or one of a folder written by `rome train fill`; evaluation mode, no gradients.

    Raises ModelMissingError when either is not there.

    Parameters
    ----------
    encoder
        The folder of the trunk that it was trained on.
    """
    tensors, about = load_weights(Path(folder or set_folder("small") / "fill") / FILL_FILE)
    head = FillHead(**about["sizes"])
    head.load_state_dict(tensors)
    encoder = encoder or set_folder("small") / "encoder"
    trunk, tokenizer = first_layers(load_trunk(encoder), head.input_layer), load_tokenizer(encoder)
    return Filling(trunk, tokenizer, head.requires_grad_(False), about["casing"], frozenset(about["sometimes"].split()))

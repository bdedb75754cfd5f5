"""Two learned metrics at their real sizes with random weights: BERTScore's default model, and COMET-22.

Written from what the two papers and their packages do with a batch of texts. Both read the pieces of the embedded tokenizer (30,522 word
pieces), because their own need files that are not here: its number of pieces per word is close to theirs, and the size of the vocabulary
costs nothing but memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

SEED = 0


@dataclass(frozen=True)
class Size:
    """Hold the size of a transformer."""

    layers: int
    width: int = 1024
    heads: int = 16
    inner: int = 4096


LARGE_17 = Size(17)
"""roberta-large up to the layer that bert-score takes of it by default."""
LARGE_24 = Size(24)
"""XLM-R large, of which COMET-22 reads every layer."""


def word_pieces(folder: Path) -> Any:
    """Return the embedded encoder's tokenizer as a fast tokenizer of transformers."""
    from transformers import PreTrainedTokenizerFast

    names = {name: f"[{name[:3].upper()}]" for name in ("pad_token", "cls_token", "sep_token", "unk_token")}
    return PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), **names)


def random_roberta(size: Size, tokenizer: Any) -> Any:
    """Return a RoBERTa of this size with random weights (XLM-R has the same architecture), in evaluation mode."""
    from transformers import RobertaConfig, RobertaModel

    torch.manual_seed(SEED)
    config = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        intermediate_size=size.inner,
        max_position_embeddings=514,
        type_vocab_size=1,
        pad_token_id=tokenizer.pad_token_id,
    )
    return RobertaModel(config, add_pooling_layer=False).eval().requires_grad_(False)


class BertScore:
    """Compute BERTScore as its package does: each distinct text once, longest first, in batches of 64; F1 from greedy matches."""

    def __init__(self, tokenizer: Any, size: Size = LARGE_17, batch: int = 64) -> None:
        self.tokenizer, self.batch = tokenizer, batch
        self.model = random_roberta(size, tokenizer)

    @torch.no_grad()
    def score(self, references: Sequence[str], hypotheses: Sequence[str]) -> list[float]:
        """Return one F1 per pair."""
        texts = sorted(set(references) | set(hypotheses), key=lambda text: len(text.split(" ")), reverse=True)
        states: dict[str, torch.Tensor] = {}
        for part in _parts(texts, self.batch):
            pieces = self.tokenizer(part, padding=True, truncation=True, max_length=510, return_tensors="pt")
            mask = pieces["attention_mask"]
            output = self.model(pieces["input_ids"], attention_mask=mask).last_hidden_state
            for text, row, length in zip(part, output, mask.sum(1).tolist(), strict=True):
                states[text] = row[:length]
        scores: list[float] = []
        for reference, hypothesis in zip(_parts(references, self.batch), _parts(hypotheses, self.batch), strict=True):
            scores += _greedy([states[text] for text in reference], [states[text] for text in hypothesis]).tolist()
        return scores


def _greedy(references: list[torch.Tensor], hypotheses: list[torch.Tensor]) -> torch.Tensor:
    """Return F1 of a batch of pairs: the harmonic mean of the mean best cosine of the pieces of each side."""
    sides, masks = [], []
    for rows in (references, hypotheses):
        sides.append(nn.functional.normalize(nn.utils.rnn.pad_sequence(rows, batch_first=True), dim=-1))
        lengths = torch.tensor([len(row) for row in rows])
        masks.append(torch.arange(sides[-1].shape[1])[None, :] < lengths[:, None])
    cosines = torch.bmm(sides[1], sides[0].transpose(1, 2))
    cosines = cosines.masked_fill(~(masks[1][:, :, None] & masks[0][:, None, :]), -2.0)
    precision = cosines.amax(2).masked_fill(~masks[1], 0.0).sum(1) / masks[1].sum(1)
    recall = cosines.amax(1).masked_fill(~masks[0], 0.0).sum(1) / masks[0].sum(1)
    return 2 * precision * recall / (precision + recall)


class Comet:
    """Compute COMET-22's estimator: source, hypothesis and reference through one encoder, a mix of all layers, means, and three dense layers.

    Texts are in batches of 16, the default of its command line, sorted by length.
    """

    def __init__(self, tokenizer: Any, size: Size = LARGE_24, batch: int = 16) -> None:
        self.tokenizer, self.batch = tokenizer, batch
        self.model = random_roberta(size, tokenizer)
        self.mix = torch.softmax(torch.randn(size.layers + 1), 0)
        widths = (6 * size.width, 3 * size.width, size.width, 1)
        dense = [nn.Linear(*ends) for ends in zip(widths, widths[1:], strict=False)]
        self.estimator = nn.Sequential(dense[0], nn.Tanh(), dense[1], nn.Tanh(), dense[2]).eval()

    @torch.no_grad()
    def score(self, sources: Sequence[str], references: Sequence[str], hypotheses: Sequence[str]) -> list[float]:
        """Return one score per segment."""
        rows = sorted(range(len(hypotheses)), key=lambda n: len(hypotheses[n]), reverse=True)
        scores = [0.0] * len(rows)
        for part in _parts(rows, self.batch):
            s, r, h = (self._encode([texts[n] for n in part]) for texts in (sources, references, hypotheses))
            features = torch.cat([h, r, h * r, (h - r).abs(), h * s, (h - s).abs()], dim=1)
            for n, score in zip(part, self.estimator(features)[:, 0].tolist(), strict=True):
                scores[n] = score
        return scores

    def _encode(self, texts: list[str]) -> torch.Tensor:
        """Return (n, width) the mean over the pieces of the mix of all layers."""
        pieces = self.tokenizer(texts, padding=True, truncation=True, max_length=510, return_tensors="pt")
        mask = pieces["attention_mask"]
        layers = self.model(pieces["input_ids"], attention_mask=mask, output_hidden_states=True).hidden_states
        mixed = sum((weight * layer for weight, layer in zip(self.mix, layers, strict=True)), torch.zeros(()))
        return (mixed * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)


def _parts(items: Sequence[Any], size: int) -> Iterator[list[Any]]:
    yield from (list(items[start : start + size]) for start in range(0, len(items), size))

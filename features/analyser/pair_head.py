"""The pair head: does one text entail another, contradict it, or neither, judged on the stored states of both?

Soft alignment, comparison, aggregation, as in decomposable attention (Parikh et al. 2016, section 3), on the trunk's last states
instead of word vectors, with a small transformer layer over what the comparison found. The trunk runs once a text, not once a pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from .config import set_folder
from .encoder import EmbeddedEncoder, load_encoder
from .pieces import batches_of
from .weights import load_weights

__all__ = ["LABELS", "PairHead", "PairJudge", "load_pair_head", "pad"]

LABELS = ("entailment", "neutral", "contradiction")
PAIR_FILE = "entailment.safetensors"
HIDDEN, WIDTH, HEADS = 384, 192, 4
BATCH_PIECES = 4096


class PairHead(nn.Module):
    """From the states of a premise and of a hypothesis to three logits, in the order of LABELS.

    temperature : the logits are divided by it, so that probabilities are calibrated.
    """

    temperature: torch.Tensor

    def __init__(
        self, *, hidden: int = HIDDEN, width: int = WIDTH, heads: int = HEADS, layers: int = 1, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.sizes = {"hidden": hidden, "width": width, "heads": heads, "layers": layers}
        self.project = nn.Linear(hidden, width)
        self.query, self.key = nn.Linear(hidden, width, bias=False), nn.Linear(hidden, width, bias=False)
        self.sharpness = nn.Parameter(torch.tensor([8.0]))
        self.compare = nn.Linear(4 * width, width)
        self.side = nn.Parameter(torch.zeros(2, width))
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, 2 * width, dropout, "gelu", batch_first=True) for _ in range(layers)
        )
        self.hidden = nn.Linear(4 * width + 4, width)
        self.out = nn.Linear(width, len(LABELS))
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("temperature", torch.ones(1))

    def forward(
        self, first: torch.Tensor, first_mask: torch.Tensor, second: torch.Tensor, second_mask: torch.Tensor
    ) -> torch.Tensor:
        """(b, 3) logits: does the first text entail the second?

        first : (b, L, d), second : (b, M, d) float32 states of the pieces, the encoder's common part taken off; the masks bool,
        True for real pieces, at least one a text. What stands under False changes nothing.
        """
        first, second = first.masked_fill(~first_mask[:, :, None], 0.0), second.masked_fill(~second_mask[:, :, None], 0.0)
        cosines = nn.functional.normalize(first, dim=2) @ nn.functional.normalize(second, dim=2).transpose(1, 2)
        scores = self.query(first) @ self.key(second).transpose(1, 2) / self.sizes["width"] ** 0.5 + self.sharpness * cosines
        one, two = self.project(self.dropout(first)), self.project(self.dropout(second))
        to_second = torch.softmax(scores.masked_fill(~second_mask[:, None], float("-inf")), dim=2) @ two
        to_first = torch.softmax(scores.masked_fill(~first_mask[:, :, None], float("-inf")), dim=1).transpose(1, 2) @ one
        compared = torch.cat([self._compared(one, to_second, 0), self._compared(two, to_first, 1)], dim=1)
        mask = torch.cat([first_mask, second_mask], dim=1)
        ignored = torch.zeros_like(mask, dtype=compared.dtype).masked_fill(~mask, float("-inf"))
        for layer in self.layers:
            compared = layer(compared, src_key_padding_mask=ignored)
        length = first.shape[1]
        pooled = [*_pooled(compared[:, :length], first_mask), *_pooled(compared[:, length:], second_mask)]
        found = torch.cat([*pooled, *_closest(cosines, first_mask, second_mask)], dim=1)
        logits: torch.Tensor = self.out(self.dropout(nn.functional.gelu(self.hidden(found)))) / self.temperature
        return logits

    def _compared(self, own: torch.Tensor, other: torch.Tensor, side: int) -> torch.Tensor:
        found: torch.Tensor = self.norm(
            nn.functional.gelu(self.compare(torch.cat([own, other, own - other, own * other], dim=2))) + self.side[side]
        )
        return found


def _pooled(values: torch.Tensor, mask: torch.Tensor) -> list[torch.Tensor]:
    """Mean and maximum over the real pieces, (b, width) each."""
    mean = values.masked_fill(~mask[:, :, None], 0.0).sum(1) / mask.sum(1, keepdim=True)
    return [mean, values.masked_fill(~mask[:, :, None], float("-inf")).amax(1)]


def _closest(cosines: torch.Tensor, first_mask: torch.Tensor, second_mask: torch.Tensor) -> list[torch.Tensor]:
    """Mean and minimum, over the pieces of each text, of the cosine of its closest piece in the other: four (b, 1) columns."""
    columns = []
    for values, own, other in ((cosines, first_mask, second_mask), (cosines.transpose(1, 2), second_mask, first_mask)):
        best = values.masked_fill(~other[:, None], -1.0).amax(2)
        columns.append(best.masked_fill(~own, 0.0).sum(1, keepdim=True) / own.sum(1, keepdim=True))
        columns.append(best.masked_fill(~own, 1.0).amin(1)[:, None])
    return columns


def pad(states: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """(b, L, d) states of texts, zeros where a text has ended, and the (b, L) mask of what is real."""
    padded = nn.utils.rnn.pad_sequence(list(states), batch_first=True)
    lengths = torch.tensor([len(state) for state in states])
    return padded, torch.arange(padded.shape[1])[None] < lengths[:, None]


class PairJudge:
    """A set's encoder and a pair head, working on pairs of texts."""

    def __init__(self, encoder: EmbeddedEncoder, head: PairHead) -> None:
        self.encoder, self.head = encoder, head.eval()

    @torch.no_grad()
    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """(n, 3) probabilities, columns in the order of LABELS, each row summing to 1: does the first text entail the second?

        A second text without any piece says nothing: it is entailed. A first one without any entails nothing else: neutral.
        """
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        found = self.encoder.vectors_of(texts)
        states = {text: torch.from_numpy(state) for text, state in zip(texts, found, strict=True)}
        out = np.zeros((len(pairs), len(LABELS)))
        out[:, 0] = [float(not len(states[second])) for _, second in pairs]
        out[:, 1] = 1.0 - out[:, 0]
        judged = [n for n, (a, b) in enumerate(pairs) if len(states[a]) and len(states[b])]
        for places in batches_of([len(states[pairs[n][0]]) + len(states[pairs[n][1]]) for n in judged], BATCH_PIECES):
            chosen = [judged[place] for place in places]
            first, second = (pad([states[pairs[n][side]] for n in chosen]) for side in (0, 1))
            out[chosen] = torch.softmax(self.head(*first, *second).double(), dim=1).numpy()
        return out


def load_pair_head(folder: Path | None = None, encoder: Path | None = None) -> PairJudge:
    """Load the embedded entailment head, or one of a folder written by `rome train entailment`; evaluation mode, no gradients.

    encoder : the folder of the encoder that it was trained on. Raises ModelMissingError when either is not there.
    """
    tensors, about = load_weights(Path(folder or set_folder() / "entailment") / PAIR_FILE)
    sizes: dict[str, Any] = dict(about["sizes"])  # type: ignore[call-overload]
    head = PairHead(**sizes)
    head.load_state_dict(tensors)
    return PairJudge(load_encoder(encoder or set_folder() / "encoder"), head.requires_grad_(False))

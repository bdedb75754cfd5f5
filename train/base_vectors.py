"""The word vectors of `base`: the linear map of two of the trunk's layers that comes nearest to what the whole published network says.

What the network says of a piece are its unit vectors at two of its levels, the part that all pieces share taken off, side by side, so
that their inner products are the means of both levels' cosines. Ridge regression of them on the trunk's states, then the principal
directions of what it predicts.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch.nn import functional

from rome.data.readers.wmt import read_wmt
from rome.data.sources import data_file, read_jsonl
from rome.features.analyser.encoder import EmbeddedEncoder, SentenceStates, parts_of
from rome.features.analyser.trunk import Trunk

__all__ = ["VectorMap", "map_texts", "vector_map"]

WIKIPEDIA, WMT = 3000, 5000
"""Texts of each source."""
SAMPLE = 400
"""Texts that the shared part of the published network's states is taken from."""
RIDGE = 1e-3
"""Added to the mean square of every state."""


@dataclass(frozen=True, slots=True)
class VectorMap:
    """projections : (width, d) by the trunk's layer. bias : (d,). A vector is the sum of all. explained : how much of the squares it meets."""

    projections: Mapping[int, torch.Tensor]
    bias: torch.Tensor
    explained: float


def map_texts(rng: random.Random) -> list[str]:
    """Sentences of Wikipedia and, of WMT22 (without what judges elsewhere), a reference or an output of each of some segments."""
    texts = [row["text"] for row in read_jsonl(data_file("text/wikipedia_sentences.jsonl.gz"))][:WIKIPEDIA]
    segments = [s for s in read_wmt(data_file("text/wmt22_to_en_outputs.jsonl.gz")) if not s.judged_elsewhere]
    for segment in rng.sample(segments, min(WMT, len(segments))):
        texts.append(rng.choice([*segment.references, *(text for _, text in segment.outputs)]))
    return [text for text in dict.fromkeys(texts) if 3 < len(text.split()) < 60]


@torch.no_grad()
def vector_map(
    encoder: EmbeddedEncoder, source: Trunk, texts: Sequence[str], *, layers: Sequence[int], levels: Sequence[int], width: int
) -> VectorMap:
    """Find the map. encoder : whose trunk's ``layers`` are read. source : the published network, whose ``levels`` teach it."""
    published = EmbeddedEncoder(source, encoder.tokenizer, torch.zeros(source.config.hidden_size))
    sample = [_rows(each, levels) for part in parts_of(texts[:SAMPLE]) for each in published.read(part)]
    shared = torch.cat(sample).mean(0)
    size, wanted = len(layers) * encoder.trunk.config.hidden_size, len(levels) * source.config.hidden_size
    square, product = torch.zeros(size, size, dtype=torch.float64), torch.zeros(size, wanted, dtype=torch.float64)
    read, told, count, total = torch.zeros(size), torch.zeros(wanted), 0, 0.0
    for part in parts_of(texts):
        states = torch.cat([_rows(each, layers) for each in encoder.read(part)])
        whole = torch.cat([_rows(each, levels) for each in published.read(part)]) - shared
        by_level = [functional.normalize(rows, dim=1) for rows in whole.chunk(len(levels), dim=1)]
        units = torch.cat(by_level, dim=1) / len(levels) ** 0.5
        square, product = square + (states.T @ states).double(), product + (states.T @ units).double()
        read, told, count = read + states.sum(0), told + units.sum(0), count + len(states)
        total += float((units**2).sum())
    read, told = read.double() / count, told.double() / count
    square, product = square / count - torch.outer(read, read), product / count - torch.outer(read, told)
    found = torch.linalg.solve(square + RIDGE * torch.eye(size, dtype=torch.float64), product)
    main = torch.linalg.eigh(found.T @ square @ found).eigenvectors[:, -width:]
    mapped = (found @ main).float()
    explained = float((found * product).sum()) / (total / count - float(told @ told))
    projections = dict(zip(layers, mapped.split(size // len(layers)), strict=True))
    return VectorMap(projections, -(read.float() @ mapped), explained)


def _rows(states: SentenceStates, layers: Sequence[int]) -> torch.Tensor:
    """(pieces, layers x width) the states of a text's pieces after some layers, side by side."""
    return torch.cat([torch.from_numpy(states.merged(layer)) for layer in layers], dim=1)

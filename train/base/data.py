"""What the set `base` is taught with: judged and corrupted sentences side by side, and texts that say the same; and its word vectors."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

from rome.data.perturbations.treebank_words import render
from rome.data.perturbations.ungrammatical import corrupt_randomly
from rome.data.readers.texts import read_wmt
from rome.data.sources import data_file, read_jsonl
from rome.features.analyser.encoder import EmbeddedEncoder, SentenceStates, parts_of
from rome.train.common.batches import cut_batches
from rome.train.errors.texts import wmt_segments
from rome.train.grammar.data import LIMIT, Batch, Example, Material, collate, encode, tokens_of


@dataclass(frozen=True, slots=True)
class PairedBatch:
    """Examples, and which of them are a sentence and its corruption: (row of the clean one, row of the other)."""

    batch: Batch
    pairs: Sequence[tuple[int, int]]


def grammar_batches(
    material: Material, rng: random.Random, *, judged: float, pieces: int, pool: int = 1500
) -> Iterator[PairedBatch]:
    """Batches without end: ``judged`` of the examples are sentences of CoLA, the others a clean sentence and a corruption of it."""
    waiting: list[Example] = []
    while True:
        units: list[tuple[Example, ...]] = list(_pairs(material, rng, int(pool * (1 - judged) / 2)))
        while len(waiting) < pool * judged:
            waiting += rng.sample(list(material.judged), len(material.judged))
        count = int(pool * judged)
        units += [(example,) for example in waiting[:count]]
        waiting = waiting[count:]
        yield from _grouped(units, rng, pieces)


def _pairs(material: Material, rng: random.Random, count: int) -> Iterator[tuple[Example, ...]]:
    """Clean sentences of the pool, each with a corruption whose sentence counts as wrong where the operation says so."""
    for source in rng.choices(material.pool, k=count):
        tokens = tokens_of(source, material.lexicon)
        if len(tokens) > 3 and tokens[-1].text == "." and rng.random() < 0.15:
            tokens.pop()
        made = corrupt_randomly(tokens, rng, material.lexicon, count=1 + (rng.random() < 0.15))
        yield tuple(encode([render(tokens)] + ([made] if made else []), material.tokenizer, limit=LIMIT))


def _grouped(units: list[tuple[Example, ...]], rng: random.Random, pieces: int) -> Iterator[PairedBatch]:
    """Units of like length together, in random order."""
    units.sort(key=lambda unit: len(unit[0].pieces) + 3 * rng.random())
    groups = cut_batches(units, pieces, lambda unit: max(len(example.pieces) for example in unit), len)
    rng.shuffle(groups)
    for group in groups:
        rows: list[Example] = []
        pairs = []
        for unit in group:
            if len(unit) == 2 and unit[1].sentence == 0:
                pairs.append((len(rows), len(rows) + 1))
            rows += unit
        yield PairedBatch(collate(rows), pairs)


def related_texts() -> list[tuple[str, ...]]:
    """For each WMT segment its references and all outputs, of which training draws some; judged segments are left out."""
    return [(*segment.references, *(text for _, text in segment.outputs)) for _, segment in wmt_segments()]


WIKIPEDIA, WMT = 3000, 5000
"""Texts of each source."""
SAMPLE = 400
"""Texts that the shared part of the published network's states is taken from."""
RIDGE = 1e-3
"""Added to the mean square of every state."""


@dataclass(frozen=True, slots=True)
class VectorMap:
    """

    Attributes
    ----------
    projections
        (width, d) by the trunk's layer.
    bias
        (d,). A vector is the sum of all.
    explained
        How much of the squares it meets.
    """

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
    encoder: EmbeddedEncoder, source: Any, texts: Sequence[str], *, layers: Sequence[int], levels: Sequence[int], width: int
) -> VectorMap:
    """Find the map.

    Parameters
    ----------
    encoder
        Whose trunk's ``layers`` are read.
    source
        The published network, whose ``levels`` teach it.
    """
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

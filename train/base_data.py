"""What the set `base` is taught with: judged and corrupted sentences side by side, and texts that say the same in other words."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rome.data.corruptions.corruptor import corrupt_randomly
from rome.data.corruptions.tokens import render
from rome.data.readers.wmt import read_wmt
from rome.data.sources import data_file
from rome.train.grammar_data import LIMIT, Batch, Example, Material, collate, encode, tokens_of

__all__ = ["PairedBatch", "grammar_batches", "related_texts"]


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
    groups: list[list[tuple[Example, ...]]] = [[]]
    filled = 0
    for unit in units:
        longest = max(len(example.pieces) for example in unit)
        if groups[-1] and (filled + len(unit)) * longest > pieces:
            groups.append([])
            filled = 0
        groups[-1].append(unit)
        filled += len(unit)
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
    groups = []
    for year in (22, 23):
        for segment in read_wmt(data_file(f"text/wmt{year}_to_en_outputs.jsonl.gz")):
            if not segment.judged_elsewhere:
                groups.append((*segment.references, *(text for _, text in segment.outputs)))
    return groups

"""How much the outputs of one segment agree with each other and with the references: what stands in for people's ranking of them.

The mean of two likenesses: the cosine of sentence vectors (all-MiniLM-L6-v2) and chrF (Popovic 2015); the idea is that of
consensus decoding (Kumar and Byrne 2004), where the output that is likest to all others is taken.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .encoder import source_folder
from .errors_texts import wmt_segments

__all__ = ["write_agreements"]

LENGTHS = (4, 60)
MOST = 10
"""Outputs of a segment that are compared."""
TOGETHER = 32
REFERENCE = 2.0
"""What a reference counts beside one output."""


def write_agreements(path: Path, seed: int, segments: int) -> Path:
    """Write one JSON line a segment: a reference and its outputs, each with its agreement in [0, 1]."""
    rows = [row for row in _segments(seed)][:segments]
    model = _SentenceVectors(source_folder())
    with path.open("w", encoding="utf-8") as out:
        for start in range(0, len(rows), TOGETHER):
            part = rows[start : start + TOGETHER]
            vectors = iter(model([text for references, outputs in part for text in (*references, *outputs)]))
            for references, outputs in part:
                own = np.stack([next(vectors) for _ in (*references, *outputs)])
                found = _agreement(references, outputs, own).round(4).tolist()
                row = {"reference": references[0], "outputs": list(zip(outputs, found, strict=True))}
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path


def _segments(seed: int) -> Iterator[tuple[list[str], list[str]]]:
    """References and different outputs of segments in an order drawn by the seed."""
    found = []
    for group, segment in wmt_segments():
        low, high = LENGTHS
        references = [text.strip() for text in segment.references if low <= len(text.split()) <= high]
        outputs = list(dict.fromkeys(text.strip() for _, text in segment.outputs if low <= len(text.split()) <= high))
        if references and len(outputs) >= 4:
            random.Random(f"{seed}|{group}").shuffle(outputs)
            found.append((references, outputs[:MOST]))
    random.Random(f"{seed}|agreement").shuffle(found)
    yield from found


def _agreement(references: Sequence[str], outputs: Sequence[str], vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """(n,) the mean likeness of each output to the other outputs and the references."""
    from sacrebleu.metrics.chrf import CHRF

    chrf = CHRF()
    texts, first = [*references, *outputs], len(references)
    likeness = np.clip(vectors @ vectors.T, 0.0, 1.0).astype(np.float64)
    for i in range(len(texts)):
        for j in range(max(i + 1, first), len(texts)):
            near = chrf.sentence_score(texts[j], [texts[i]]).score / 100.0
            likeness[i, j] = likeness[j, i] = 0.5 * (likeness[i, j] + near)
    weights = np.array([REFERENCE] * first + [1.0] * len(outputs))
    weights = np.tile(weights, (len(outputs), 1))
    weights[np.arange(len(outputs)), first + np.arange(len(outputs))] = 0.0
    return (likeness[first:] * weights).sum(1) / weights.sum(1)


class _SentenceVectors:
    """all-MiniLM-L6-v2 as its card describes: the mean of the pieces' states, brought to length 1."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self.model: Any = AutoModel.from_pretrained(folder, local_files_only=True).eval()

    @torch.no_grad()
    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, 384) unit vectors."""
        order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
        found = np.zeros((len(texts), self.model.config.hidden_size), np.float32)
        for start in range(0, len(order), TOGETHER):
            chosen = order[start : start + TOGETHER]
            inputs = self.tokenizer([texts[n] for n in chosen], padding=True, return_tensors="pt")
            with torch.autocast("cpu", torch.bfloat16):
                states = self.model(**inputs).last_hidden_state.float()
            mask = inputs["attention_mask"][..., None]
            mean = (states * mask).sum(1) / mask.sum(1)
            found[chosen] = torch.nn.functional.normalize(mean, dim=1).numpy()
        return found

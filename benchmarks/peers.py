"""Metrics to stand beside: sentence chrF2 and BLEU (sacrebleu), minus the length, and BERTScore on the embedded encoder's pieces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sacrebleu
import torch

from rome.features.analyser.config import embedded_folder
from rome.features.analyser.encoder import load_tokenizer, load_trunk
from rome.features.analyser.memo import MemoisedTrunk
from rome.features.analyser.pieces import encode

References = Sequence[Sequence[str]]


def chrf(references: References, hypotheses: Sequence[str]) -> np.ndarray:
    """Sentence chrF2, the best reference."""
    return np.array(
        [max(sacrebleu.sentence_chrf(h, [r]).score for r in rs) for rs, h in zip(references, hypotheses, strict=True)]
    )


def bleu(references: References, hypotheses: Sequence[str]) -> np.ndarray:
    """Sentence BLEU (exponential smoothing), the best reference."""
    return np.array(
        [max(sacrebleu.sentence_bleu(h, [r]).score for r in rs) for rs, h in zip(references, hypotheses, strict=True)]
    )


def length(references: References, hypotheses: Sequence[str]) -> np.ndarray:
    """Minus the number of characters of the hypothesis: what a metric gets for guessing that long segments are hard."""
    return -np.array([len(h) for h in hypotheses], dtype=float)


def bertscore(references: References, hypotheses: Sequence[str]) -> np.ndarray:
    """Greedy F1 over the states of the embedded trunk's last layer (layer 4 of all-MiniLM-L6-v2), the best reference."""
    folder = embedded_folder() / "encoder"
    trunk, tokenizer = MemoisedTrunk(load_trunk(folder)), load_tokenizer(folder)
    texts = sorted({t for rs in references for t in rs} | set(hypotheses), key=len)
    vectors = {}
    for start in range(0, len(texts), 64):
        batch = texts[start : start + 64]
        rows = trunk.states([item.rows[0] for item in encode(tokenizer, batch, 512)])
        vectors |= {text: torch.nn.functional.normalize(row, dim=1) for text, row in zip(batch, rows, strict=True)}

    def f1(reference: str, hypothesis: str) -> float:
        table = vectors[reference] @ vectors[hypothesis].T
        recall, precision = table.max(1).values.mean(), table.max(0).values.mean()
        return float(2 * recall * precision / (recall + precision))

    return np.array([max(f1(r, h) for r in rs) for rs, h in zip(references, hypotheses, strict=True)])


PEERS = {"chrF2": chrf, "BLEU": bleu, "length": length, "BERTScore-MiniLM": bertscore}

"""Loss, calibration and figures of a grammar model, on judged sentences and on held-out minimal pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.metrics import matthews_corrcoef, roc_auc_score
from torch.nn.functional import binary_cross_entropy_with_logits

from rome.features.analyser.acceptability import Acceptability
from rome.train.grammar.data import Batch, Example, Material, collate

BATCH = 48
PIECE_WEIGHT = 3.0


def known_loss(sentence: torch.Tensor, pieces: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Return the cross-entropy of the logits of both heads with the known labels of a batch, which are not negative."""
    total = sentence.new_zeros(())
    for logits, labels, weight in ((sentence, batch.sentence, 1.0), (pieces, batch.labels, PIECE_WEIGHT)):
        known = labels >= 0
        if known.any():
            total = total + weight * binary_cross_entropy_with_logits(logits[known], labels[known])
    return total


@torch.no_grad()
def trunk_states(trunk: Any, batch: Batch, layer: int) -> torch.Tensor:
    """Return (b, L, 384) states of the frozen trunk after its first ``layer`` layers (0: the embeddings)."""
    return trunk(batch.pieces, batch.mask.long(), output_hidden_states=True).hidden_states[layer]


@torch.no_grad()
def predict(model: Acceptability, trunk: Any, examples: Sequence[Example]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return logits: (n,) of the sentences, and for each sentence those of its pieces; the model ends in evaluation mode."""
    model.eval()
    sentences, pieces = np.zeros(len(examples)), [np.zeros(0)] * len(examples)
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].pieces))
    for start in range(0, len(order), BATCH):
        chosen = order[start : start + BATCH]
        batch = collate([examples[i] for i in chosen])
        logits, rows = model(trunk_states(trunk, batch, model.input_layer), batch.mask)
        sentences[chosen] = logits.numpy()
        for row, i in enumerate(chosen):
            pieces[i] = rows[row, : len(examples[i].pieces)].numpy()
    return sentences, pieces


def figures_of(model: Acceptability, trunk: Any, material: Material) -> dict[str, object]:
    """Return the figures on each of CoLA's development sets and on minimal pairs."""
    judged = {
        name: sentence_figures(predict(model, trunk, examples)[0], examples) for name, examples in material.judging.items()
    }
    return {**judged, **_pair_figures(model, trunk, material.pairs)}


def sentence_figures(logits: np.ndarray, examples: Sequence[Example]) -> dict[str, float]:
    """Return Matthews correlation and accuracy at one half, area under the curve, and expected calibration error (10 bins)."""
    true = np.array([example.sentence for example in examples])
    chance = 1 / (1 + np.exp(-logits))
    bins = np.minimum((chance * 10).astype(int), 9)
    error = sum(abs(chance[bins == b].mean() - true[bins == b].mean()) * (bins == b).mean() for b in set(bins.tolist()))
    return {
        "mcc": round(float(matthews_corrcoef(true, logits > 0)), 4),
        "accuracy": round(float(((logits > 0) == (true == 1)).mean()), 4),
        "auc": round(float(roc_auc_score(true, logits)), 4),
        "calibration_error": round(float(error), 4),
    }


def _pair_figures(
    model: Acceptability, trunk: Any, pairs: Sequence[tuple[str, Example, Example]]
) -> dict[str, float | dict[str, float]]:
    """Return how often the clean sentence of a minimal pair (operation, clean, corrupted) scores higher, and the AUC of pieces."""
    clean, _ = predict(model, trunk, [pair[1] for pair in pairs])
    corrupted, pieces = predict(model, trunk, [pair[2] for pair in pairs])
    won = clean > corrupted
    names = np.array([pair[0] for pair in pairs])
    labels = np.concatenate([pair[2].labels for pair in pairs])
    return {
        "pair_accuracy": round(float(won.mean()), 4),
        "pair_accuracy_by_operation": {name: round(float(won[names == name].mean()), 3) for name in sorted({*names.tolist()})},
        "piece_auc": round(float(roc_auc_score(labels[labels >= 0], np.concatenate(pieces)[labels >= 0])), 4),
    }


def calibrate(model: Acceptability, trunk: Any, material: Material) -> None:
    """Set both temperatures on sentences that training never saw."""
    logits, _ = predict(model, trunk, material.calibration)
    model.sentence_temperature.fill_(temperature(logits, [example.sentence for example in material.calibration]))
    examples = [example for _, *both in material.held_pairs[::2] for example in both]
    _, pieces = predict(model, trunk, examples)
    labels = np.concatenate([example.labels for example in examples])
    model.piece_temperature.fill_(temperature(np.concatenate(pieces)[labels >= 0], labels[labels >= 0]))


def threshold(logits: ArrayLike, true: ArrayLike) -> float:
    """Return the logit in [-1, 1] with the best Matthews correlation, averaged over three neighbours."""
    z, y = np.asarray(logits), np.asarray(true)
    grid = np.linspace(-1.05, 1.05, 43)
    correlations = np.array([matthews_corrcoef(y, z > place) for place in grid])
    return float(grid[1 + int(np.argmax(np.convolve(correlations, np.ones(3) / 3, "valid")))])


def temperature(logits: ArrayLike, true: ArrayLike) -> float:
    """Return the divisor of the logits that makes their probabilities fit best (Guo et al. 2017), from a grid in [0.25, 8]."""
    z = torch.tensor(np.asarray(logits), dtype=torch.float64)
    y = torch.tensor(np.asarray(true), dtype=torch.float64)
    grid = np.geomspace(0.25, 8.0, 101)
    return float(min(grid, key=lambda t: float(binary_cross_entropy_with_logits(z / t, y))))

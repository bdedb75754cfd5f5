"""How good is a grammar model? Figures on judged sentences and on held-out minimal pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import nn

from rome.features.analyser.acceptability import Acceptability
from rome.train.grammar.data import Batch, Example, collate

BATCH = 48


def trunk_states(trunk: Any, batch: Batch, layer: int) -> torch.Tensor:
    """(b, L, 384) states of the frozen trunk after its first ``layer`` layers (0: the embeddings)."""
    return several_states(trunk, batch, (layer,))[0]


def several_states(trunk: Any, batch: Batch, layers: Sequence[int]) -> list[torch.Tensor]:
    """(b, L, 384) states of the frozen trunk after each of these numbers of layers, in one pass."""
    with torch.no_grad():
        states = trunk(batch.pieces, batch.mask.long(), output_hidden_states=True).hidden_states
    return [states[layer] for layer in layers]


def predict(model: Acceptability, trunk: Any, examples: Sequence[Example]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Logits: (n,) of the sentences, and for each sentence those of its pieces. Restores the model's mode."""
    mode = model.training
    model.eval()
    sentences, pieces = np.zeros(len(examples)), [np.zeros(0)] * len(examples)
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].pieces))
    with torch.no_grad():
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            batch = collate([examples[i] for i in chosen])
            logits, rows = model(trunk_states(trunk, batch, model.input_layer), batch.mask)
            sentences[chosen] = logits.numpy()
            for row, i in enumerate(chosen):
                pieces[i] = rows[row, : len(examples[i].pieces)].numpy()
    model.train(mode)
    return sentences, pieces


def matthews(predicted: ArrayLike, true: ArrayLike) -> float:
    """Matthews correlation of two boolean columns, in [-1, 1]; 0 when either is constant."""
    p, t = np.asarray(predicted, dtype=float), np.asarray(true, dtype=float)
    if p.std() == 0 or t.std() == 0:
        return 0.0
    return float(np.corrcoef(p, t)[0, 1])


def area_under_curve(scores: ArrayLike, true: ArrayLike) -> float:
    """Probability that a positive scores above a negative; ties count a half. 0.5 when either class is empty."""
    from scipy.stats import mannwhitneyu

    values, positive = np.asarray(scores), np.asarray(true, dtype=bool)
    if positive.all() or not positive.any():
        return 0.5
    wins = mannwhitneyu(values[positive], values[~positive]).statistic
    return float(wins / (positive.sum() * (~positive).sum()))


def sentence_figures(logits: np.ndarray, examples: Sequence[Example]) -> dict[str, float]:
    """Matthews correlation and accuracy at one half, area under the curve, and expected calibration error (10 bins)."""
    true = np.array([example.sentence for example in examples])
    chance = 1 / (1 + np.exp(-logits))
    bins = np.minimum((chance * 10).astype(int), 9)
    error = sum(abs(chance[bins == b].mean() - true[bins == b].mean()) * (bins == b).mean() for b in set(bins.tolist()))
    return {
        "mcc": round(matthews(logits > 0, true), 4),
        "accuracy": round(float(((logits > 0) == (true == 1)).mean()), 4),
        "auc": round(area_under_curve(logits, true), 4),
        "calibration_error": round(float(error), 4),
    }


def pair_figures(
    model: Acceptability, trunk: Any, pairs: Sequence[tuple[str, Example, Example]]
) -> dict[str, float | dict[str, float]]:
    """For minimal pairs (operation, clean, corrupted): how often the clean one scores higher, and the pieces' AUC."""
    clean, _ = predict(model, trunk, [pair[1] for pair in pairs])
    corrupted, pieces = predict(model, trunk, [pair[2] for pair in pairs])
    won = clean > corrupted
    names = np.array([pair[0] for pair in pairs])
    labels = [np.array(pair[2].labels) for pair in pairs]
    scores = np.concatenate([row[label >= 0] for row, label in zip(pieces, labels, strict=True)])
    true = np.concatenate([label[label >= 0] for label in labels])
    return {
        "pair_accuracy": round(float(won.mean()), 4),
        "pair_accuracy_by_operation": {name: round(float(won[names == name].mean()), 3) for name in sorted({*names.tolist()})},
        "piece_auc": round(area_under_curve(scores, true), 4),
    }


def threshold(logits: ArrayLike, true: ArrayLike) -> float:
    """The logit in [-1, 1] above which a sentence is best called acceptable, by Matthews correlation averaged over three neighbours."""
    z, y = np.asarray(logits), np.asarray(true)
    grid = np.linspace(-1.05, 1.05, 43)
    found = np.array([matthews(z > place, y) for place in grid])
    return float(grid[1 + int(np.argmax(np.convolve(found, np.ones(3) / 3, "valid")))])


def temperature(logits: ArrayLike, true: ArrayLike) -> float:
    """The divisor of the logits that makes their probabilities fit best (Guo et al. 2017), from a grid in [0.25, 8]."""
    z = torch.tensor(np.asarray(logits), dtype=torch.float64)
    y = torch.tensor(np.asarray(true), dtype=torch.float64)
    grid = np.geomspace(0.25, 8.0, 101)
    losses = [float(nn.functional.binary_cross_entropy_with_logits(z / t, y)) for t in grid]
    return float(grid[int(np.argmin(losses))])

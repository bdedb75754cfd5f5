"""Stanza's recurrent networks over sentences that stand one below the other, without padding them in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import PackedSequence

__all__ = ["in_time", "inverse", "mixed", "recurrent"]


def in_time(lengths: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor, list[int]]:
    """Where the rows of sequences that stand one below the other belong in a PackedSequence.

    Returns the rows' numbers in its order, (n,); how many sequences go on at each step; and the lengths, longest first.
    """
    sizes = np.asarray(lengths)
    order = np.argsort(-sizes, kind="stable")
    starts = (np.cumsum(sizes) - sizes)[order]
    steps = np.arange(sizes.max())
    going = steps[:, None] < sizes[order][None, :]
    rows = (starts[None, :] + steps[:, None])[going]
    return torch.from_numpy(rows), torch.from_numpy(going.sum(1)), sizes[order].tolist()


def recurrent(
    network: Any, initial: tuple[torch.Tensor, torch.Tensor], inputs: torch.Tensor, lengths: Sequence[int]
) -> torch.Tensor:
    """(n, outputs) of Stanza's HighwayLSTM for (n, inputs) rows of sequences of these lengths, one below the other.

    initial : the states before the first step, (directions * layers, 1, hidden) each.
    """
    rows, going, sizes = in_time(lengths)
    start = tuple(state.expand(-1, len(sizes), -1).contiguous() for state in initial)
    found, _ = network(PackedSequence(inputs.index_select(0, rows), going), sizes, hx=start)
    return torch.as_tensor(found.data.index_select(0, inverse(rows)))


def inverse(rows: torch.Tensor) -> torch.Tensor:
    """(n,) where each of the numbers 0 to n - 1 stands among ``rows``, which holds each of them once."""
    places = torch.empty_like(rows)
    places[rows] = torch.arange(len(rows))
    return places


def mixed(mix: Any, states: torch.Tensor) -> torch.Tensor:
    """(n, width) from (layers, n, width): the mean of the last layers that ``mix`` has a weight for, plus their weighted sum."""
    weights = mix.weight[0] + 1 / mix.in_features
    return torch.tensordot(weights, states[-mix.in_features :], dims=1)

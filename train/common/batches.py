"""Rows of word pieces in batches: rows of like length together, and padded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import torch
from torch.nn.utils.rnn import pad_sequence

Item = TypeVar("Item")


def cut_batches(
    items: Iterable[Item], pieces: int, length: Callable[[Item], int], rows: Callable[[Item], int] = lambda _: 1
) -> list[list[Item]]:
    """Items, sorted by length, in batches of about ``pieces`` pieces, what fills rows up included.

    Parameters
    ----------
    length, rows
        The pieces of an item's longest row, and how many rows it has.
    """
    batches: list[list[Item]] = []
    filled = 0
    for item in items:
        if not batches or (filled + rows(item)) * length(item) > pieces:
            batches.append([])
            filled = 0
        batches[-1].append(item)
        filled += rows(item)
    return batches


def padded(rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """(b, L) piece ids and a bool mask, False at padding."""
    ids = pad_sequence([torch.tensor(row) for row in rows], batch_first=True)
    lengths = torch.tensor([len(row) for row in rows])
    return ids, torch.arange(ids.shape[1]) < lengths[:, None]

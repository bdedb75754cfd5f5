"""Development figures of the reader for its card: the groups of data/meaning, which trained nothing."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from rome.data.readers.meaning import MEANING_SETS, MeaningGroup, read_meaning
from rome.exceptions import InputError

from .errors_net import PairNet
from .errors_sides import Sides
from .errors_texts import plain

__all__ = ["counts", "meaning_figures"]

BATCH = 32


@torch.no_grad()
def counts(net: PairNet, sides: Sides, pairs: list[tuple[str, str]]) -> NDArray[np.float64]:
    """(n,) what the errors of each pair of reference and hypothesis weigh together, with words and sentences by simple rules."""
    net.eval()
    found = np.zeros(len(pairs))
    order = sorted(range(len(pairs)), key=lambda n: len(pairs[n][0]) + len(pairs[n][1]))
    for start in range(0, len(order), BATCH):
        chosen = order[start : start + BATCH]
        read = sides.of([plain(text) for n in chosen for text in pairs[n]])
        found[chosen] = net(list(zip(read[::2], read[1::2], strict=True))).amount.expm1().double().numpy()
    return found


def meaning_figures(net: PairNet, sides: Sides, limit: int | None = None) -> dict[str, float]:
    """Of each set that is there the share of comparisons in order, and of groups that are in order as a whole.

    limit : at most so many groups of each kind.
    """
    figures: dict[str, float] = {}
    for name in MEANING_SETS:
        try:
            groups = read_meaning(name, limit)
        except InputError:
            continue
        results = [_in_order(net, sides, group) for group in groups]
        figures[f"{name}_in_order"] = round(float(np.mean(np.concatenate([one.ravel() for one in results]))), 4)
        figures[f"{name}_whole_groups"] = round(float(np.mean([one.all() for one in results])), 4)
    return figures


def _in_order(net: PairNet, sides: Sides, group: MeaningGroup) -> NDArray[np.bool_]:
    """(acceptable, critical) whether the first has the lower count, the lowest over the references."""
    texts = [one.text for one in (*group.acceptable, *group.critical)]
    found = np.min([counts(net, sides, [(reference, text) for text in texts]) for reference in group.references], axis=0)
    acceptable, critical = np.split(found, [len(group.acceptable)])
    return np.asarray(acceptable[:, None] < critical[None, :])

"""What teaches the reader: the classes and types of words whose errors are known, what a pair's errors weigh, and the order of a group."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, smooth_l1_loss, softplus
from torch.nn.utils.rnn import pad_sequence

from rome.data.perturbations.changes import Made
from rome.features.errors.evidence import SEVERITIES, TYPES
from rome.train.errors.groups import Group, Member
from rome.train.errors.net import PairNet, Read, Sides, by_length
from rome.train.errors.teacher import Teacher

NAMES = json.loads((Path(__file__).parent / "types.json").read_text(encoding="utf-8"))
TYPE_OF: dict[str, str] = {name: kind for kind, names in NAMES.items() for name in names}
"""The types of errors by the names of the perturbations that make them."""


@dataclass(frozen=True, slots=True)
class Labels:
    """(b, N) of every place of some rows: classes and types of words (-1 unknown), and how sure the classes are."""

    classes: Tensor
    types: Tensor
    sure: Tensor


def labels_of(pairs: Sequence[tuple[Made, Member]], length: int) -> Labels:
    """What the words of some pairs should be called."""
    shape = len(pairs), length
    classes, types, sure = np.zeros(shape, np.int64), np.full(shape, -1, np.int64), np.zeros(shape, np.float32)
    for n, (reference, member) in enumerate(pairs):
        p, q = len(reference.words), len(member.text.words)
        sure[n, 1 : 1 + p] = sure[n, 2 + p : 2 + p + q] = member.sure
        forms = reference.forms()
        for mark in member.text.marks:
            old = mark.old if member.near else [forms.index(form) for form in mark.forms if forms.count(form) == 1]
            if not member.near and len(old) < len(mark.forms):
                sure[n, 1 : 1 + p] *= 0.2  # nobody knows which of the reference's words these are
            places = [1 + k for k in old] + [2 + p + k for k in mark.new]
            classes[n, places], sure[n, places] = SEVERITIES.index(mark.severity), 1.0 if member.near else 0.7
            types[n, places] = _type(mark.name)
    return Labels(*map(torch.from_numpy, (classes, types, sure)))


def _type(name: str) -> int:
    found = TYPE_OF.get(name, "omission" if name.startswith("omitted") else None)
    return -1 if found is None else TYPES.index(found)


@dataclass(frozen=True, slots=True)
class Weights:
    """What each loss counts, and of the ranking: the gap wanted between two amounts a unit of level, and how soon it is enough.

    The last two count what differs from what a teacher says.
    """

    words: float = 1.0
    types: float = 0.1
    ranks: float = 1.5
    amounts: float = 0.5
    error: float = 4.0
    margin: float = 0.4
    temperature: float = 0.3
    taught_words: float = 2.0
    taught_amounts: float = 2.0


def losses(
    net: PairNet, sides: Sides, groups: Sequence[Group], weights: Weights, teacher: Teacher | None = None
) -> tuple[Tensor, dict[str, list[float]]]:
    """The loss of some groups, and what to log: losses, and for each kind of comparison whether it came out right."""
    pairs = [(member.reference or group.reference, member) for group in groups for member in group.members]
    texts = [(reference, member.text) for reference, member in pairs]
    inputs, lessons = sides.pairs(texts), None if teacher is None else teacher.read(texts)
    amounts: list[Tensor] = [torch.zeros(())] * len(pairs)
    words: list[Tensor] = []
    types: list[Tensor] = []
    taught: list[Tensor] = []
    for chosen in by_length(inputs):
        found = net([inputs[n] for n in chosen])
        _words_losses(found, labels_of([pairs[n] for n in chosen], found.logits.shape[1]), weights, words, types)
        if lessons is not None:
            taught.append(_taught(found, [lessons.severities[n] for n in chosen], weights))
        for n, amount in zip(chosen, found.amount, strict=True):
            amounts[n] = amount
    counted = torch.stack(amounts)
    severity = torch.tensor([member.severity for _, member in pairs])
    known = ~severity.isnan()
    regression = smooth_l1_loss(counted[known], severity[known].log1p(), beta=0.5) if known.any() else counted.sum() * 0.0
    log: dict[str, list[float]] = defaultdict(list)
    ranks = _ranks(counted, groups, weights, log)
    parts = {"words": torch.cat(words).sum() / 300, "types": torch.cat(types).mean(), "ranks": ranks, "amounts": regression}
    if lessons is not None:
        each, counting = torch.stack(taught).sum(0)
        parts |= {"taught_words": each / counting, "taught_amounts": smooth_l1_loss(counted, lessons.amounts, beta=0.3)}
    for name, part in parts.items():
        log[name].append(float(part.detach()))
    total: Tensor = torch.stack([getattr(weights, name) * part for name, part in parts.items()]).sum()
    return total, log


def _taught(found: Read, severities: Sequence[Tensor], weights: Weights) -> Tensor:
    """(2,) the sum of the cross-entropies at all places of some pairs, those counting more that the teacher finds wrong, and how much they count."""
    wanted = pad_sequence(list(severities), batch_first=True)
    counting = found.real * (1.0 + weights.error * (1.0 - wanted[..., 0]))
    each = -(wanted * found.logits.log_softmax(-1)).sum(-1)
    return torch.stack([(each * counting).sum(), counting.sum()])


def _words_losses(found: Read, labels: Labels, weights: Weights, words: list[Tensor], types: list[Tensor]) -> None:
    """Append the losses of the words of some rows."""
    each = cross_entropy(found.logits.flatten(0, 1), labels.classes.flatten(), reduction="none")
    wrong = (labels.classes > 0).flatten()
    words.append(each * labels.sure.flatten() * (1.0 + weights.error * wrong))
    typed = labels.types.flatten()
    if bool((typed >= 0).any()):
        types.append(cross_entropy(found.types.flatten(0, 1), typed, ignore_index=-1)[None])
    else:
        types.append(found.types.sum()[None] * 0.0)


def _ranks(counted: Tensor, groups: Sequence[Group], weights: Weights, log: dict[str, list[float]]) -> Tensor:
    """The logistic loss of every comparison within a group, each group counting alike."""
    parts, at = [], 0
    for group in groups:
        own = counted[at : at + len(group.members)]
        at += len(group.members)
        level = torch.tensor([member.level for member in group.members])
        more, apart = own[None, :] - own[:, None], level[None, :] - level[:, None]
        near = torch.tensor([member.near for member in group.members])
        chosen = (apart > 0.4) | ((apart > 0.1) & (near[:, None] == near[None, :]) & (group.kind == "meaning"))
        if chosen.any():
            wanted = weights.margin * apart.clamp(max=2.0)
            parts.append(softplus(-(more - wanted) / weights.temperature)[chosen].mean())
            _count(group, (more > 0).tolist(), chosen.tolist(), log)
    return torch.stack(parts).mean() if parts else counted.sum() * 0.0


def _count(group: Group, right: list[list[bool]], chosen: list[list[bool]], log: dict[str, list[float]]) -> None:
    """Log which comparisons came out right."""
    for i, one in enumerate(group.members):
        for j, other in enumerate(group.members):
            if chosen[i][j]:
                name = group.kind
                if group.kind == "meaning" and (one.level, other.level) == (0.0, 2.0):
                    name = f"{'near' if one.near else 'far'} > {'near' if other.near else 'far'}"
                log[name].append(float(right[i][j]))

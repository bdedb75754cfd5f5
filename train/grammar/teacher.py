"""A smaller grammar model learns from a finished one: from its probabilities, beside the labels (Hinton et al. 2015).

The teacher's probability says more of a sentence than its label: how hard it is, and which pieces are in doubt. The student starts
from some of the teacher's layers, the last among them, with the inner units that matter most.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from rome.features.analyser.acceptability import Acceptability
from rome.train.common.layers import narrowed
from rome.train.grammar.data import Batch
from rome.train.grammar.figures import several_states

PIECE_WEIGHT = 3.0
LABEL_WEIGHT = 0.5
"""What the labels count beside the teacher's probabilities."""


def known_loss(sentence: torch.Tensor, pieces: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Cross-entropy of both heads' logits against the labels that a batch has; those below zero are unknown."""
    total = sentence.new_zeros(())
    for logits, labels, weight in ((sentence, batch.sentence, 1.0), (pieces, batch.labels, PIECE_WEIGHT)):
        known = labels >= 0
        if known.any():
            total = total + weight * binary_cross_entropy_with_logits(logits[known], labels[known])
    return total


def taught_loss(student: Acceptability, teacher: Acceptability, trunk: Any, batch: Batch) -> torch.Tensor:
    """The loss of a student on a batch, from the teacher's calibrated probabilities and the labels."""
    low, states = several_states(trunk, batch, (teacher.input_layer, student.input_layer))
    wanted, wanted_pieces = teacher.probabilities(low, batch.mask)
    sentence, pieces = student(states, batch.mask)
    taught = binary_cross_entropy_with_logits(sentence, wanted)
    taught = taught + PIECE_WEIGHT * binary_cross_entropy_with_logits(pieces[batch.mask], wanted_pieces[batch.mask])
    return taught + LABEL_WEIGHT * known_loss(sentence, pieces, batch)


def start_from_teacher(student: Acceptability, teacher: Acceptability) -> None:
    """Copy the teacher's heads and layers into the student: evenly spaced layers up to the last one.

    Of a layer's inner units those with the heaviest weights are taken. Raises ValueError when the student has more layers, wider
    ones, or another number of heads.
    """
    mine, other = student.sizes, teacher.sizes
    if mine["layers"] > other["layers"] or mine["inner"] > other["inner"]:
        raise ValueError(f"a student of {mine} cannot start from a teacher of {other}: make it no larger")
    if (mine["hidden"], mine["heads"]) != (other["hidden"], other["heads"]):
        raise ValueError(f"a student of {mine} cannot start from a teacher of {other}: width and heads must be equal")
    heads = {name: tensor for name, tensor in teacher.state_dict().items() if not name.startswith("layers.")}
    student.load_state_dict({**student.state_dict(), **{n: t for n, t in heads.items() if not n.endswith("_temperature")}})
    for place, layer in enumerate(student.layers, 1):
        layer.load_state_dict(narrowed(teacher.layers[place * other["layers"] // mine["layers"] - 1], mine["inner"]))

"""Products of layers in whole numbers of eight bits, on processors; torch's oneDNN multiplies and adds them exactly.

A row of states is rounded to 256 steps of its own, so a row's numbers do not depend on the rows beside it, and, as sums of whole numbers
have no order, not on the processor. A few columns of what a layer norm gives are far larger than all others and would make every step coarse:
they stay in floating point (Dettmers et al. 2022, LLM.int8(), section 3), and the norm's own bias tells which they are.
"""

from __future__ import annotations

import torch
from torch.nn.functional import linear

LARGEST_COLUMNS = 16
"""Of a row, in floating point."""
LEVELS = (63, 62)
"""Largest whole number of a row of weights, the better one for each row: the second gives back weights that a file keeps in six bits. With
larger ones processors without VNNI, which add two products in sixteen bits, would cut sums off."""
LOWEST_GELU = 0.16997
"""Minus the least value of GELU, to which steps of its values reach down."""
LEAST = 1e-9


def large_columns(norm: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """(LARGEST_COLUMNS,) the columns in which the output of a layer norm, given by gain and bias, gets largest: where its bias is."""
    return norm[1].abs().topk(min(LARGEST_COLUMNS, len(norm[1]))).indices


def there() -> bool:
    """Whether this torch has oneDNN's products of whole numbers, as its builds for x86 have."""
    return "onednn" in torch.backends.quantized.supported_engines and hasattr(torch.ops.onednn, "qlinear_pointwise")


class EightBits:
    """A linear map whose (out, in) weights and whose inputs are rounded to whole numbers, with float32 in and out.

    Parameters
    ----------
    columns
        Of the inputs that stay in floating point; None for none.
    lowest
        Minus the least number that the inputs can have; steps then reach from there to a row's largest. None for inputs that are as often
        below zero as above.
    """

    def __init__(
        self, weight: torch.Tensor, bias: torch.Tensor, columns: torch.Tensor | None = None, lowest: float | None = None
    ) -> None:
        self.columns, self.lowest = columns, lowest
        values, scale = _rounded(weight)
        if columns is not None:
            self.kept = weight[:, columns].contiguous()
            values = values.index_fill(1, columns, 0)
        self.scale, self.no_offsets = scale, torch.zeros(len(scale), dtype=torch.int64)
        self.bias = bias.float() if lowest is None else bias - lowest * scale * values.sum(1)
        self.packed = torch.ops.onednn.qlinear_prepack(values, None)

    def __call__(self, states: torch.Tensor) -> torch.Tensor:
        """(n, out) of (n, in) states."""
        exact = None
        if self.columns is not None:
            exact = linear(states[:, self.columns], self.kept, self.bias)
            states = states.index_fill(1, self.columns, 0.0)
        if self.lowest is None:
            step, zero = states.abs().amax(1, keepdim=True).clamp_min_(LEAST).div_(127), 128
            steps = (states / step).add_(zero)
        else:
            step, zero = (states.amax(1, keepdim=True) + self.lowest).clamp_min_(LEAST).div_(255), 0
            steps = (states + self.lowest).div_(step)
        whole = torch.ops.onednn.qlinear_pointwise(
            _bytes(steps.round_()), 1.0, zero, self.packed, self.scale, self.no_offsets,
            None, 1.0, 0, torch.float32, "none", [], "",
        )  # fmt: skip
        return torch.addcmul(self.bias, whole, step, out=whole) if exact is None else exact.addcmul_(whole, step)


def _bytes(steps: torch.Tensor) -> torch.Tensor:
    """uint8 of whole numbers from 0 to 255, which are written over. torch makes int8 of floats six times as fast as it makes uint8."""
    return steps.sub_(128).to(torch.int8).view(torch.uint8).bitwise_xor_(128)


def _rounded(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(out, in) int8 and (out,) float32: weight ~ values * scale[:, None].

    Unlike `weights.quantise` with seven bits it also tries twice the steps of a file's six, which gives those back without any error.
    """
    largest = weight.abs().amax(1, keepdim=True).clamp_min(LEAST)
    tried = [(torch.round(weight * (level / largest)), largest / level) for level in LEVELS]
    errors = torch.stack([((values * scale - weight) ** 2).sum(1) for values, scale in tried])
    second = (errors[1] < errors[0])[:, None]
    values, scale = (torch.where(second, b, a) for a, b in zip(*tried, strict=True))
    return values.to(torch.int8), scale[:, 0].float()

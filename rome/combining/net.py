"""The net of RoMe section 3.4 in NumPy, monotone by construction; `rome.combining.fitting` fits it.

score = (1 - sum(direct_weight)) S(x) / S(1, ..., 1) + direct_weight . x with S(x) = sigmoid(output_weight . tanh(hidden_weight x +
hidden_bias) + output_bias), all weights non-negative and every activation rising: a better feature never lowers the score, perfect
features score exactly 1, and nothing scores above them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rome.exceptions import InputError

TENSORS = {"hidden_weight": 2, "hidden_bias": 1, "output_weight": 1, "output_bias": 0, "direct_weight": 1}
CHUNK = 8192
DIGITS = 13
"""Decimals of features that count: sums of another order leave 1e-16 of a perfect one."""
Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MonotoneNet:
    """Map (n, d) features in [0, 1] to (n,) scores in [0, 1].

    Raises InputError when a tensor has another shape or is not finite, or when a weight is negative.

    Attributes
    ----------
    hidden_weight, hidden_bias, output_weight, output_bias
        (h, d) >= 0, (h,), (h,) >= 0, ().
    direct_weight
        (d,) >= 0 with a sum of at most 1, the share of each feature in the score beside the hidden units; none by default.
    """

    hidden_weight: Vector
    hidden_bias: Vector
    output_weight: Vector
    output_bias: Vector
    direct_weight: Vector = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        """Convert the tensors to float64 and check the conditions of monotonicity."""
        if not len(self.direct_weight):
            object.__setattr__(self, "direct_weight", np.zeros(np.shape(self.hidden_weight)[-1:]))
        for name, axes in TENSORS.items():
            tensor = np.ascontiguousarray(getattr(self, name), dtype=np.float64).reshape(np.shape(getattr(self, name)))
            object.__setattr__(self, name, tensor)
            if tensor.ndim != axes or not np.isfinite(tensor).all():
                raise InputError(
                    f"the net's {name} has shape {tensor.shape} or is not finite: train it again with `rome train scorer`"
                )
        hidden, width = self.hidden_weight.shape
        if (len(self.hidden_bias), len(self.output_weight), len(self.direct_weight)) != (hidden, hidden, width):
            raise InputError("the net's tensors do not fit together: train it again with `rome train scorer`")
        if min(map(np.min, (self.hidden_weight, self.output_weight, self.direct_weight))) < 0 or self.direct_weight.sum() > 1:
            raise InputError("the net is not monotone, because a weight is negative or its direct weights are above 1 in all: train it again")

    def score_rows(self, values: Vector) -> Vector:
        """Map (n, d) features to (n,) scores in [0, 1], 1 for a row of ones, without checking the values.

        Products are summed row by row, not by a matrix product, which may round a row differently among other rows.
        """
        values = np.asarray(values, dtype=np.float64).round(DIGITS)
        scores = np.empty(len(values), dtype=np.float64)
        perfect = self._log_sigmoid(np.ones((1, values.shape[1])))
        for start in range(0, len(values), CHUNK):
            logarithms = self._log_sigmoid(values[start : start + CHUNK])
            scores[start : start + CHUNK] = np.exp(np.minimum(logarithms - perfect, 0.0))
        return scores + ((values - scores[:, None]) * self.direct_weight).sum(axis=1)

    def _log_sigmoid(self, rows: Vector) -> Vector:
        """Return the logarithm of S, (n, d) to (n,), so that no quotient is 0 / 0."""
        hidden = np.tanh((rows[:, None, :] * self.hidden_weight).sum(axis=2) + self.hidden_bias)
        logit = (hidden * self.output_weight).sum(axis=1) + self.output_bias
        return -np.logaddexp(0.0, -logit)

"""Exact optimal transport: POT's network simplex (Bonneel et al. 2011) without the rest of POT, which takes longer to load than to use."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .lean_imports import deferred, part_of

__all__ = ["transport_plan"]

NO_BACKEND = "POT_BACKEND_DISABLE_PYTORCH"
"""POT would load torch only to offer a backend that is not used here."""
UNUSED = ("scipy.linalg", "scipy.special", "numpy.f2py", "numpy.ma", "numpy.polynomial", "numpy.testing")
"""What POT and the sparse matrices that it knows import for other callers."""


def _solver() -> Callable[..., Any]:
    """POT's ``emd``, from ``ot.lp`` alone where POT is not loaded yet; a later ``import ot`` finds the rest as ever."""
    with _without_torch(), deferred(*UNUSED, functions={"scipy.spatial.distance": ("cdist",)}):
        found: Callable[..., Any] = part_of("ot", "lp").emd
    return found


@contextmanager
def _without_torch() -> Iterator[None]:
    """POT's own switch set, unless the user has set it."""
    own = NO_BACKEND not in os.environ and "torch" not in sys.modules
    if own:
        os.environ[NO_BACKEND] = "1"
    try:
        yield
    finally:
        if own:
            del os.environ[NO_BACKEND]


_emd = _solver()
_LEFT_OUT = {name: False for name in ("check_marginals", "center_dual") if name in signature(_emd).parameters}
"""Work of POT's for other callers: both masses sum to 1 here, and nobody reads the dual variables."""


def transport_plan(source: NDArray[np.float64], target: NDArray[np.float64], cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """(p, q) masses moved at the least total cost from (p,) source to (q,) target, each summing to 1; cost : (p, q)."""
    plan: NDArray[np.float64] = _emd(source, target, cost, numItermax=1_000_000, **_LEFT_OUT)
    return plan

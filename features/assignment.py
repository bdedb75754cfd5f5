"""Optimal one-to-one assignment: SciPy's, without the rest of its optimisation package, which takes half a second to load."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from .lean_imports import part_of

__all__ = ["linear_sum_assignment"]


def _solver() -> Callable[..., Any]:
    """``scipy.optimize.linear_sum_assignment``, from its own compiled module where this version of SciPy has it there."""
    try:
        return cast(Callable[..., Any], part_of("scipy.optimize", "_lsap").linear_sum_assignment)
    except (ImportError, AttributeError):
        from scipy import optimize

        return cast(Callable[..., Any], optimize.linear_sum_assignment)


linear_sum_assignment = _solver()

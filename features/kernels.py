"""Loops that are interpreted for a few texts and compiled by numba for many, because loading numba takes as long as hundreds of small loops."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

__all__ = ["Kernels"]

Function = TypeVar("Function", bound=Callable[..., Any])


class Kernels:
    """The loops of one module, in the order in which they call each other: `add` each, and tell `prepare` how much is to come.

    namespace : the module's ``globals()``, in which compiled functions take the place of plain ones. worth : the work, in the
    caller's unit, from which on compiling pays. Both forms give the same numbers; without numba the plain ones stay.
    """

    def __init__(self, namespace: dict[str, Any], worth: float) -> None:
        self._namespace, self._left = namespace, worth
        self._functions: list[Callable[..., Any]] = []
        self._lock, self._compiled = Lock(), False

    def add(self, function: Function) -> Function:
        """Take a function of the module in; those that it calls come before it."""
        self._functions.append(function)
        return function

    def prepare(self, work: float) -> bool:
        """Count work that is about to be done, and compile once the sum is worth it; returns whether the loops are compiled now."""
        self._left -= work
        if self._left <= 0 and self._functions:
            with self._lock:
                self._compile()
        return self._compiled

    def _compile(self) -> None:
        functions, self._functions = self._functions, []
        try:
            from numba import njit
        except ImportError:  # the base install combines cached features and needs no compiler
            return
        for function in functions:
            try:
                compiled = njit(cache=True)(function)
            except RuntimeError:  # no folder to keep the machine code in
                compiled = njit(function)
            self._namespace[function.__name__] = compiled
        self._compiled = True

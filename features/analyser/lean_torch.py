"""`import torch` for a process that is RoMe's own, a third shorter: without what describes operations to compilers."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version

from ..lean_imports import deferred

__all__ = ["import_torch"]

TRIED = ("2.13.",)
"""Versions of torch that give the same numbers this way; any other one is left to whoever imports it whole."""
LEFT_OUT = ("torch._meta_registrations", "torch.export")
"""How operations act on tensors without numbers, and what writes programs down; the first is there for what it registers."""


def import_torch() -> None:
    """Import torch, if it is installed and nobody has done so, without the modules that running a model does not need.

    Only for the process of a command: what others do with torch in this process, such as compiling, may need what is left out.
    """
    try:
        known = version("torch").startswith(TRIED)
    except PackageNotFoundError:
        return  # whoever needs it says so
    if "torch" in sys.modules or not known:
        return
    with deferred(*LEFT_OUT):
        import torch  # noqa: F401

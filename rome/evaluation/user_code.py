"""The user's own functions, named ``module:function``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from rome.exceptions import InputError

__all__ = ["imported"]


def imported(specification: str) -> Callable[..., Any]:
    """The function of a module that Python finds; the working directory is searched too, last.

    Raises InputError when there is no such module or attribute, or when it is no function.
    """
    module, _, attribute = specification.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f"{specification} cannot be imported ({error}): name a module that Python finds and a function in it"
        ) from error
    if not callable(found):
        raise InputError(f"{specification} is no function: name one")
    function: Callable[..., Any] = found
    return function

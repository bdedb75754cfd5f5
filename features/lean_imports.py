"""Imports that load less: libraries bring packages along for work that RoMe never asks of them, seconds of them at every start."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any

__all__ = ["deferred", "part_of"]


class _Deferred(ModuleType):
    """Stands for a package until something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what the import system asks of every module
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


@contextmanager
def deferred(*packages: str, hidden: tuple[str, ...] = ()) -> Iterator[None]:
    """Within the block ``import package`` gives a stand-in that loads the package when something of it is used, if that ever happens.

    hidden : packages that an import does not find, for code that tries them and goes on without. What is loaded already stays as it
    is, and after the block every package can be imported as ever.
    """
    put: dict[str, Any] = {**{name: _Deferred(name) for name in packages}, **dict.fromkeys(hidden)}
    put = {name: stand_in for name, stand_in in put.items() if name not in sys.modules}
    sys.modules.update(put)
    try:
        yield
    finally:
        for name, stand_in in put.items():
            if name in sys.modules and sys.modules[name] is stand_in:
                del sys.modules[name]


def part_of(package: str, part: str) -> ModuleType:
    """The module ``package.part`` without what the package's own file would load besides.

    A package that is loaded already stays as it is; else it can be imported afterwards as ever, and finds the part. Raises ImportError
    when there is no such module.
    """
    above = package.rpartition(".")[0]
    spec = None
    if package not in sys.modules:
        spec = PathFinder.find_spec(package, import_module(above).__path__ if above else None)
    if spec is None:
        return import_module(f"{package}.{part}")
    sys.modules[package] = module_from_spec(spec)  # the folder alone
    try:
        return import_module(f"{package}.{part}")
    finally:
        del sys.modules[package]

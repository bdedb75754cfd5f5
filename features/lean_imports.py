"""Imports that load less: libraries bring packages along for work that RoMe never asks of them, seconds of them at every start."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from types import MappingProxyType, ModuleType
from typing import Any

__all__ = ["deferred", "folder_alone", "part_of"]


class _Deferred(ModuleType):
    """Stands for a package until something of it is asked for, other than these functions, each of which loads it when it is called."""

    def __init__(self, name: str, functions: tuple[str, ...] = ()) -> None:
        super().__init__(name)
        vars(self).update({function: partial(_called, name, function) for function in functions})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what the import system asks of every module
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def _called(package: str, function: str, *given: Any, **named: Any) -> Any:
    return getattr(import_module(package), function)(*given, **named)


@contextmanager
def deferred(
    *packages: str, hidden: tuple[str, ...] = (), functions: Mapping[str, tuple[str, ...]] = MappingProxyType({})
) -> Iterator[None]:
    """Within the block ``import package`` gives a stand-in that loads the package when something of it is used, if that ever happens.

    hidden : packages that an import does not find, for code that tries them and goes on without. functions : by package, those that
    code takes from it by name; they too load the package, when they are called. What is loaded already stays as it is, and after the
    block every package can be imported as ever.
    """
    put: dict[str, Any] = {name: _Deferred(name) for name in packages}
    put |= {name: _Deferred(name, names) for name, names in functions.items()} | dict.fromkeys(hidden)
    put = {name: stand_in for name, stand_in in put.items() if name not in sys.modules}
    sys.modules.update(put)
    shown = [(sys.modules[above], part, put[name]) for name, above, part in _parts(put)]
    for package, part, stand_in in shown:
        setattr(package, part, stand_in)
    try:
        yield
    finally:
        for name, stand_in in put.items():
            if name in sys.modules and sys.modules[name] is stand_in:
                del sys.modules[name]
        for package, part, stand_in in shown:
            if vars(package).get(part) is stand_in:
                delattr(package, part)


def _parts(put: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Stand-ins for parts of a loaded package that does not show them yet: names of the part, of the package, and of the part in it."""
    for name, stand_in in put.items():
        above, _, part = name.rpartition(".")
        if stand_in is not None and above in sys.modules and part not in vars(sys.modules[above]):
            yield name, above, part


@contextmanager
def folder_alone(package: str) -> Iterator[bool]:
    """Within the block the package is its folder, whose modules can be imported, without what its own file would load besides.

    Gives whether that is so: a package that is loaded already stays as it is, and one that is not there is not made up. After the block
    it can be imported as ever, and finds the modules that were loaded.
    """
    above, spec = package.rpartition(".")[0], None
    if package not in sys.modules:
        spec = PathFinder.find_spec(package, import_module(above).__path__ if above else None)
    if spec is None:
        yield False
        return
    sys.modules[package] = module_from_spec(spec)
    try:
        yield True
    finally:
        del sys.modules[package]


def part_of(package: str, part: str) -> ModuleType:
    """The module ``package.part``, from the package's folder alone. Raises ImportError when there is no such module."""
    with folder_alone(package):
        return import_module(f"{package}.{part}")

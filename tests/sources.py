"""The modules of the package and their imports, wherever the install keeps the rooms."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(str(find_spec("rome").origin)).parent  # type: ignore[union-attr]
ROOMS = {room: Path(str(find_spec(f"rome.{room}").origin)).parent for room in ("features", "data", "train")}  # type: ignore[union-attr]


def sources() -> list[tuple[str, Path]]:
    """Every module of the package by its dotted name."""
    modules = []
    for prefix, folder in (("rome", ROOT), *((f"rome.{room}", folder) for room, folder in ROOMS.items())):
        for path in sorted(folder.rglob("*.py")):
            inner = path.relative_to(folder)
            if prefix != "rome" or inner.parts[0] not in ROOMS:
                parts = [prefix, *inner.parent.parts, *([] if path.stem == "__init__" else [path.stem])]
                modules.append((".".join(parts), path))
    return modules


def imports(name: str, path: Path) -> Iterator[str]:
    """Dotted names of every module that a source file imports, in functions and by relative names, too."""
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] if node.level else ""
            yield ".".join(part for part in (base, node.module) if part)

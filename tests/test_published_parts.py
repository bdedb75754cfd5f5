"""Other packages are used through what they publish.

All rooms: nothing is written to `sys.modules`, no module is patched, no private name is imported. The analyser besides: no private member,
and no reach into Stanza's nets.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from sources import sources

FOLDER = Path(str(files("rome.features"))) / "analyser"
NAMED = {"getattr", "setattr", "hasattr", "delattr"}
INNER = {"trainer", "_modules", "_parameters", "_buffers"}
"""Where Stanza's processors and torch's modules keep what they do not publish."""


def private(name: str) -> bool:
    """Whether a name is marked as its owner's own."""
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def own_names(tree: ast.Module) -> set[str]:
    """Private names that the module's own classes define: methods, fields, and what is put on ``self``."""
    found: set[str] = set()
    for scope in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        for node in ast.walk(scope):
            if isinstance(node, ast.FunctionDef):
                found.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
                found.add(node.attr)
    return found


def imported_names(tree: ast.Module) -> set[str]:
    """Names that stand for modules, classes and functions of other modules."""
    aliases = (alias for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names)
    return {(alias.asname or alias.name).partition(".")[0] for alias in aliases}


def trespasses(source: str) -> Iterator[str]:
    """What a module does that it should not, a line each."""
    tree = ast.parse(source)
    own, imported = own_names(tree), imported_names(tree)
    for node in ast.walk(tree):
        said = f"line {getattr(node, 'lineno', 0)}: {ast.unparse(node)}"
        if isinstance(node, ast.ImportFrom) and any(
            map(private, [*(node.module or "").split("."), *(a.name for a in node.names)])
        ):
            yield said
        elif isinstance(node, ast.Import) and any(map(private, ".".join(a.name for a in node.names).split("."))):
            yield said
        elif isinstance(node, ast.Attribute):
            ours = ast.unparse(node.value) in ("self", "cls") and node.attr in own
            if (
                (private(node.attr) and not ours)
                or node.attr in INNER
                or (node.attr == "modules" and said.endswith("sys.modules"))
            ):
                yield said
            elif not isinstance(node.ctx, ast.Load) and root(node) in imported:
                yield said
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMED:
            name = node.args[1].value if isinstance(node.args[1], ast.Constant) else ""
            if (
                private(str(name))
                or name in INNER
                or (node.func.id in ("setattr", "delattr") and root(node.args[0]) in imported)
            ):
                yield said


def surgery(source: str) -> Iterator[str]:
    """What no module of ours does to the import system and to modules of others, a line each."""
    tree = ast.parse(source)
    modules = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    for node in ast.walk(tree):
        said = f"line {getattr(node, 'lineno', 0)}: {ast.unparse(node)}"
        if isinstance(node, ast.Import | ast.ImportFrom):
            own = isinstance(node, ast.ImportFrom) and (node.level > 0 or str(node.module).partition(".")[0] == "rome")
            module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
            names = [*module.split("."), *(part for alias in node.names for part in alias.name.split("."))]
            if not own and module != "__future__" and any(map(private, names)):
                yield said
        elif isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
            held = node.value
            if ast.unparse(held) == "sys.modules" or (isinstance(held, ast.Name) and held.id in modules - {"sys"}):
                yield said
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            first = ast.unparse(node.args[0]).partition(".")[0] if node.args else ""
            if called.startswith("sys.modules.") and called != "sys.modules.get":
                yield said
            elif called in ("setattr", "delattr") and first in modules:
                yield said


def root(node: ast.expr) -> str:
    """The name that a chain of attributes begins with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_the_analyser_touches_nothing_private(path: Path) -> None:
    """Each of its modules."""
    assert list(trespasses(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(("name", "path"), sources(), ids=lambda value: value if isinstance(value, str) else "")
def test_no_room_operates_on_modules(name: str, path: Path) -> None:
    """Every module of the four rooms."""
    assert list(surgery(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "line",
    [
        "import sys\nsys.modules['a'] = 1",
        "import sys\ndel sys.modules['a']",
        "import sys\nsys.modules.update(a=1)",
        "import stanza\nstanza.Pipeline = None",
        "import stanza as s\nsetattr(s, 'Pipeline', None)",
        "from stanza import _secret",
        "from scipy.optimize._lsap import linear_sum_assignment",
        "import torch._meta_registrations",
    ],
)
def test_each_operation_is_seen(line: str) -> None:
    """Every kind of it, once."""
    assert list(surgery(line))


@pytest.mark.parametrize(
    "line",
    [
        "x._hidden",
        "x._hidden = 1",
        "self._hidden.inner",
        "from stanza import _secret",
        "from stanza._secret import a",
        "import torch._meta_registrations",
        "import sys\nsys.modules['a'] = 1",
        "from stanza.models.common import utils\nutils.get_optimizer = None",
        "import stanza\nsetattr(stanza, 'Pipeline', None)",
        "getattr(x, '_hidden')",
        "pipeline.processors['pos'].trainer.model",
        "import stanza\ndel stanza.Pipeline",
    ],
)
def test_each_trespass_is_seen(line: str) -> None:
    """Every kind of what must not be, once."""
    assert list(trespasses(line))


@pytest.mark.parametrize(
    "line",
    [
        "class A:\n    def __init__(self):\n        self._x = 1\n    def f(self):\n        return self._x",
        "a.__class__",
        "b.c = 1",
    ],
)
def test_what_is_ones_own_is_free(line: str) -> None:
    """Private members of a module's own classes, what Python itself defines, and attributes of one's own values."""
    assert not list(trespasses(line))

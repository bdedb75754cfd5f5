"""The notebooks: every cell runs, and what is kept with them shows itself: an output a cell that shows something, no error, no mark of a machine."""

from __future__ import annotations

import getpass
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def module() -> ModuleType:
    """docs/notebooks.py, which is no part of a package."""
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "docs" / "notebooks.py")
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path, tmp_path: Path) -> None:
    """From a fresh kernel, top to bottom, without an error; each cell shows the kinds of things that are kept with it."""
    found = module().executed(path, str(tmp_path))
    kept = nbformat.read(path, as_version=4)
    assert [kinds(cell) for cell in code_of(found)] == [kinds(cell) for cell in code_of(kept)]


def code_of(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def kinds(cell: nbformat.NotebookNode) -> list[str]:
    """What a cell shows: streams, and the types of displays."""
    return [output.get("name") or " ".join(sorted(output.get("data", {}))) for output in cell.outputs]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_kept(path: Path) -> None:
    """Every cell was run, in order; most show something; nothing on standard error, no error, no path or name of a machine or a user."""
    cells = code_of(nbformat.read(path, as_version=4))
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert len(outputs) >= len(cells) - 1
    assert all(output.output_type != "error" and output.get("name") != "stderr" for output in outputs)
    assert any("text/html" in output.get("data", {}) for output in outputs)
    shown = "\n".join(str(output.get("text") or "\n".join(output["data"].values())) for output in outputs)
    assert not re.search(r"(?<![\w<])/(home|tmp|work|root|usr|Users)/|[A-Z]:\\", shown)
    assert getpass.getuser() in ("root", "user") or getpass.getuser() not in shown
    assert all("execution" not in cell.metadata for cell in cells)

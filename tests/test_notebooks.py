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


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[str]]]:
    """What the cells of each notebook show; all run in one kernel, which forgets every name after each, so that torch is imported once."""
    notebooks = [nbformat.read(path, as_version=4) for path in NOTEBOOKS]
    joined = nbformat.v4.new_notebook()
    for notebook in notebooks:
        joined.cells += [*code_of(notebook), nbformat.v4.new_code_cell("%reset -f")]
    found = iter(code_of(module().executed(joined, str(tmp_path_factory.mktemp("notebooks")))))
    shown = {}
    for path, notebook in zip(NOTEBOOKS, notebooks, strict=True):
        shown[path.stem] = [kinds(next(found)) for _ in code_of(notebook)]
        assert kinds(next(found)) == []
    return shown


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path, shown: dict[str, list[list[str]]]) -> None:
    """With no name of another notebook, top to bottom, without an error; each cell shows the kinds of things that are kept with it."""
    assert shown[path.stem] == [kinds(cell) for cell in code_of(nbformat.read(path, as_version=4))]


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

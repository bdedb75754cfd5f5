"""Test that the notebooks run, and that their stored outputs are complete and name no machine."""

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
    """Import docs/notebooks.py, which is not in a package."""
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "docs" / "notebooks.py")
    assert spec is not None and spec.loader is not None
    notebooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(notebooks)
    return notebooks


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[str]]]:
    """Run all notebooks with the set `small` in one kernel, which forgets all names after each, and return the kinds of outputs of their cells."""
    notebooks = [nbformat.read(path, as_version=4) for path in NOTEBOOKS]
    smaller = [
        'import warnings; warnings.simplefilter("ignore")  # tqdm wants ipywidgets',
        'from rome.features.analyser import config; config.DEFAULT_SET = "small"',
    ]
    joined = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("\n".join(smaller))])
    for notebook in notebooks:
        for cell in code_of(notebook):
            cell.source = re.sub(r"samples=\d+", "samples=20", cell.source).replace("], references,", "], references[:2],")
        joined.cells += [*code_of(notebook), nbformat.v4.new_code_cell("%reset -f")]
    _, *executed = code_of(module().executed(joined, str(tmp_path_factory.mktemp("notebooks"))))
    cells = iter(executed)
    shown = {}
    for path, notebook in zip(NOTEBOOKS, notebooks, strict=True):
        shown[path.stem] = [kinds(next(cells)) for _ in code_of(notebook)]
        assert kinds(next(cells)) == []
    return shown


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path, shown: dict[str, list[list[str]]]) -> None:
    """Compare the kinds of outputs of each cell with the stored ones."""
    assert shown[path.stem] == [kinds(cell) for cell in code_of(nbformat.read(path, as_version=4))]


def code_of(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def kinds(cell: nbformat.NotebookNode) -> list[str]:
    """Return the streams and the types of displays of a cell."""
    return [output.get("name") or " ".join(sorted(output.get("data", {}))) for output in cell.outputs]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_kept(path: Path) -> None:
    """Require cells that ran in order, most with outputs, without errors, paths or user names."""
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

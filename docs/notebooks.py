"""Run the notebooks, which are stored with their outputs.

python docs/notebooks.py                # run all; exit code 1 if one fails
python docs/notebooks.py --write        # and store the new outputs
python docs/notebooks.py --write NAME   # of one notebook
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"


def executed(notebook: nbformat.NotebookNode, folder: str) -> nbformat.NotebookNode:
    """Run a notebook in a new kernel, without recording times or the machine; join streams that were printed in pieces."""
    resources = {"metadata": {"path": folder}}
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources=resources, record_timing=False, coalesce_streams=True
    ).execute()
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


def main(words: list[str]) -> int:
    """Run the given notebooks, or all."""
    names = [word for word in words if word != "--write"]
    failed = 0
    for path in sorted(FOLDER.glob("*.ipynb")):
        if names and path.stem not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                notebook = executed(nbformat.read(path, as_version=4), folder)
            except CellExecutionError as error:
                failed += 1
                print(f"{path.name}: {error}", file=sys.stderr)
                continue
        if "--write" in words:
            path.write_text(nbformat.writes(notebook, indent=1) + "\n", encoding="utf-8")
        print(f"{path.name}: {sum(cell.cell_type == 'code' for cell in notebook.cells)} cells")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The package: what is installed is what stands in the checkout, and the metadata keep their promises."""

from __future__ import annotations

import json
import re
from importlib.metadata import distribution, requires, version
from pathlib import Path

import pytest

import rome
from rome.features.analyser.config import set_folder

TOP = Path(__file__).resolve().parents[1]
ROOMS = {"rome": TOP / "rome", **{f"rome/{room}": TOP / room for room in ("features", "data", "train")}}


def checkout() -> set[str]:
    """Every file of the four rooms by its path in an install."""
    rows = [(inside, room, path) for inside, room in ROOMS.items() for path in room.rglob("*") if path.is_file()]
    return {f"{inside}/{path.relative_to(room).as_posix()}" for inside, room, path in rows if "__pycache__" not in path.parts}


def test_everything_is_installed() -> None:
    """No module and no model file is forgotten, and no deleted one comes back from an old build folder."""
    listed = {str(path) for path in distribution("rome-metric").files or () if str(path).startswith("rome/")}
    installed = {name for name in listed if "__pycache__" not in name}
    if not installed:
        pytest.skip("an editable install lists no modules")
    assert installed == checkout() - {"rome/data/groups/further.jsonl.xz"}  # which only trains


def test_every_room_is_a_package() -> None:
    """A folder with modules but without __init__.py would be missing from the wheel."""
    folders = {path.parent for room in ROOMS.values() for path in room.rglob("*.py") if "models" not in path.parts}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_version_stands_once() -> None:
    """The version of the metadata is the one that `rome` gives, and no source file repeats it."""
    assert rome.__version__ == version("rome-metric")
    repeated = [path for room in ROOMS.values() for path in room.rglob("*.py") if f'"{rome.__version__}"' in path.read_text()]
    assert repeated == []


def test_base_install_needs_no_model_library() -> None:
    """torch, transformers and stanza come with an extra only; no requirement has an upper bound."""
    needed = requires("rome-metric") or []
    base = {re.split(r"[ ;<>=!\[]", line)[0].lower() for line in needed if "extra ==" not in line}
    assert "numpy" in base and not base & {"torch", "transformers", "stanza", "tokenizers"}
    assert [line for line in needed if "<" in line or "~=" in line or "== " in line.partition(";")[0]] == []


def test_models_have_cards() -> None:
    """Each folder of a model says where it comes from; `.ci/wheel_content.py` checks the size of the wheel."""
    for folder in (path for path in set_folder().parent.glob("*/*") if path.is_dir()):
        card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
        assert {"name", "data", "licence", "recipe", "size_bytes", "figures"} <= card.keys()

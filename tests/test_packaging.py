"""The package: what is installed is what stands in the checkout, and the metadata keep their promises."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import zipfile
import zlib
from configparser import ConfigParser
from importlib.metadata import distribution, requires, version
from pathlib import Path

import pytest

import rome
from rome.features.analyser.config import SETS, set_folder
from rome.features.model_files import record_files

TOP = Path(__file__).resolve().parents[1]
ROOMS = {"rome": TOP / "rome", **{f"rome/{room}": TOP / room for room in ("features", "data", "train")}}
MEGABYTES = 100
WHEEL = TOP / ".ci" / "wheel_content.py"


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
    assert installed == checkout()


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
    assert base == {
        "packaging",
        "numpy",
        "scipy",
        "pot",
        "pyarrow",
        "rapidfuzz",
        "safetensors",
        "threadpoolctl",
        "tqdm",
        "filelock",
        "jinja2",
        "rich",
        "shtab",
    }
    assert [line for line in needed if "<" in line or "~=" in line or "== " in line.partition(";")[0]] == []


def test_constraints_pin_what_extras_name() -> None:
    """Every package that setup.cfg names has an exact version in constraints.txt."""
    config = ConfigParser()
    config.read(TOP / "setup.cfg")
    groups = [config["options"]["install_requires"], *config["options.extras_require"].values()]
    lines = [line for group in groups for line in group.split("\n") if line]
    names = {re.split(r"[<>=\[]", line)[0].lower() for line in lines} - {"rome-metric"}
    pins = [line for line in (TOP / "constraints.txt").read_text().splitlines() if line and not line.startswith("#")]
    assert names <= {line.partition("==")[0].lower() for line in pins}
    assert "torch==2.13.0" in pins


def test_models_are_small_and_have_cards() -> None:
    """The model sets take at most 100 MB together as a wheel packs them, and each folder says where it comes from."""
    root = set_folder().parent
    assert sum(len(zlib.compress(path.read_bytes())) for path in root.rglob("*") if path.is_file()) <= MEGABYTES * 1e6
    for folder in (path for path in root.glob("*/*") if path.is_dir()):
        card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
        assert {"name", "data", "licence", "recipe", "size_bytes", "figures"} <= card.keys()


@pytest.mark.skipif(not WHEEL.is_file(), reason="the checks of the wheel are not in this checkout")
def test_the_wheel_holds_both_sets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What .ci/wheel_content.py asks for: every set with its records and all files on record, at most 100 MB."""
    check = runpy.run_path(str(WHEEL))
    assert (check["SETS"], check["MEGABYTES"]) == (SETS, MEGABYTES)
    models = tmp_path / "data" / "models"
    for name in SETS:
        (models / name / "idf").mkdir(parents=True)
        (models / name / "idf" / "a").write_bytes(b"a")
        record_files(models / name)
        (models / name / "selfcheck.json").write_text("{}")

    def packed() -> str:
        with zipfile.ZipFile(tmp_path / "one.whl", "w") as wheel:
            for path in sorted(path for path in models.rglob("*") if path.is_file()):
                wheel.write(path, f"rome/data/models/{path.relative_to(models).as_posix()}")
        return str(tmp_path / "one.whl")

    assert check["main"](packed(), str(tmp_path)) == 0
    (models / "small" / "idf" / "a").unlink()
    (models / "small" / "selfcheck.json").unlink()
    shutil.rmtree(models / "base")
    capsys.readouterr()
    assert check["main"](packed(), str(tmp_path)) == 1
    missing = [line.rpartition("models/")[2] for line in capsys.readouterr().out.splitlines()[:-1]]
    assert missing == ["base/selfcheck.json", "base/set.json", "small/idf/a", "small/selfcheck.json"]

"""Compare a wheel with its tree: every module and data file of the rooms but LEFT_OUT, nothing else, both model sets whole, at most 100 MB."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

from rome.features.analyser.config import SETS

ROOMS = {"rome": "rome", "features": "rome/features", "data": "rome/data", "train": "rome/train"}
MEGABYTES = 100
LEFT_OUT = {"rome/data/groups/further.jsonl.xz"}
"""Files that only train, which stay in the repository and the source archive."""


def expected(tree: Path) -> set[str]:
    """Return the paths inside the wheel of every file of the four rooms."""
    names = set()
    for room, inside in ROOMS.items():
        for path in (tree / room).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                names.add(f"{inside}/{path.relative_to(tree / room).as_posix()}")
    return names - LEFT_OUT


def of_sets(wheel: zipfile.ZipFile) -> set[str]:
    """Return the paths inside the wheel of every model set: its records, and each recorded file."""
    names, found = set(), wheel.namelist()
    for name in SETS:
        folder = f"rome/data/models/{name}"
        names |= {f"{folder}/set.json", f"{folder}/selfcheck.json"}
        if f"{folder}/set.json" in found:
            names |= {f"{folder}/{file}" for file in json.loads(wheel.read(f"{folder}/set.json"))["files"]}
    return names


def main(wheel: str, tree: str) -> int:
    """Print missing and superfluous files; return 1 if there are any."""
    with zipfile.ZipFile(wheel) as file:
        found = {name for name in file.namelist() if ".dist-info/" not in name and not name.endswith("/")}
        wanted = expected(Path(tree)) | of_sets(file)
    size = Path(wheel).stat().st_size / 1e6
    for name in sorted(wanted - found):
        print(f"missing from the wheel: {name}")
    for name in sorted(found - wanted):
        print(f"not in the tree: {name}")
    print(f"{Path(wheel).name}: {len(found)} files, {size:.1f} MB of at most {MEGABYTES}")
    return int(found != wanted or size > MEGABYTES)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Compare a wheel with the tree it was built from: every module and data file of the rooms, nothing else, at most 90 MB."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

ROOMS = {"rome": "rome", "features": "rome/features", "data": "rome/data", "train": "rome/train"}
MEGABYTES = 90


def expected(tree: Path) -> set[str]:
    """Paths inside the wheel of every file of the four rooms."""
    names = set()
    for room, inside in ROOMS.items():
        for path in (tree / room).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                names.add(f"{inside}/{path.relative_to(tree / room).as_posix()}")
    return names


def main(wheel: str, tree: str) -> int:
    """Print what is missing or too much; 1 when there is something."""
    with zipfile.ZipFile(wheel) as file:
        found = {name for name in file.namelist() if ".dist-info/" not in name and not name.endswith("/")}
    size = Path(wheel).stat().st_size / 1e6
    wanted = expected(Path(tree))
    for name in sorted(wanted - found):
        print(f"missing from the wheel: {name}")
    for name in sorted(found - wanted):
        print(f"not in the tree: {name}")
    print(f"{Path(wheel).name}: {len(found)} files, {size:.1f} MB")
    return int(found != wanted or size > MEGABYTES)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

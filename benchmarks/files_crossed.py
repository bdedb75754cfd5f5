"""Count the files of the package that one default score runs, models loaded and process start excluded.

python benchmarks/files_crossed.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import rome
from rome.metric import RoMe

PACKAGE = Path(rome.__file__).parents[1]
PAIR = {"references": ["The cat sat on the mat."], "hypotheses": ["A cat lay on the mat."]}


def main() -> None:
    """Print the files, relative to the package, and their number."""
    metric, crossed = RoMe(models="base", progress=False), set[str]()
    metric.score(references=["A first pair loads the models."], hypotheses=["The first pair loads all models."])

    def note(frame: FrameType, event: str, argument: object) -> None:
        crossed.add(frame.f_code.co_filename)

    sys.setprofile(note)
    metric.score(**PAIR)
    sys.setprofile(None)
    own = sorted(Path(name).relative_to(PACKAGE).as_posix() for name in crossed if Path(name).is_relative_to(PACKAGE))
    print("\n".join([*own, f"{len(own)} files"]))


if __name__ == "__main__":
    main()

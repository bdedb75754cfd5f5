"""Progress bars: on a terminal by default, in a notebook when asked for, nowhere else."""

from __future__ import annotations

import sys
from typing import Any


def progress_bar(progress: bool | None, total: int, *, done: int = 0, unit: str = "segment", desc: str = "rome") -> Any:
    """A bar on standard error, in a notebook a widget where ipywidgets is installed; silent unless that is a terminal or progress is True."""
    shown = sys.stderr.isatty() if progress is None else progress
    if shown:
        from tqdm.auto import tqdm  # warns in a notebook without widgets, so it is loaded for a bar that is seen
    else:
        from tqdm import tqdm
    return tqdm(total=total, initial=done, unit=unit, desc=desc, disable=not shown, file=sys.stderr, leave=False)

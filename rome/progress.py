"""Progress bars: on a terminal by default, in a notebook when asked for, nowhere else."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any


@contextmanager
def without_widget_advice() -> Iterator[None]:
    """In a notebook without ipywidgets, the first import of ``tqdm.auto`` (ours or Stanza's) says nothing: bars are text there."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "IProgress not found")
        yield


def progress_bar(progress: bool | None, total: int, *, done: int = 0, unit: str = "segment", desc: str = "rome") -> Any:
    """A bar on standard error, in a notebook a widget where ipywidgets is installed; silent unless that is a terminal or progress is True."""
    shown = sys.stderr is not None and sys.stderr.isatty() if progress is None else progress
    if not shown:  # nor a lock of tqdm, a semaphore that a worker leaves behind when it is ended
        return nullcontext(SimpleNamespace(n=0, update=lambda count=1: None))
    with without_widget_advice():
        from tqdm.auto import tqdm
    return tqdm(total=total, initial=done, unit=unit, desc=desc, file=sys.stderr, leave=False)

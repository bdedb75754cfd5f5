"""Show progress bars: on a terminal by default, in a notebook on request, nowhere else."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any


@contextmanager
def without_widget_advice() -> Iterator[None]:
    """Silence the warning of ``tqdm.auto`` in a notebook without ipywidgets, at its first import by us or by Stanza."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "IProgress not found")
        yield


def progress_bar(progress: bool | None, total: int, *, done: int = 0, unit: str = "segment", desc: str = "rome") -> Any:
    """Return a bar on standard error (a widget in a notebook with ipywidgets), silent unless that is a terminal or progress is True."""
    shown = sys.stderr is not None and sys.stderr.isatty() if progress is None else progress
    if not shown:  # without tqdm, whose lock is a semaphore that a killed worker would leave behind
        return nullcontext(SimpleNamespace(n=0, update=lambda count=1: None))
    with without_widget_advice():
        from tqdm.auto import tqdm
    return tqdm(total=total, initial=done, unit=unit, desc=desc, file=sys.stderr, leave=False)

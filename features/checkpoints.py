"""Checkpoints of transformers, from a local folder or a hub: what lies beside the weights is never run."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any


def pretrained(kind: Any, name: str | Path, *, download: bool = False, **options: Any) -> Any:
    """What one of transformers' Auto classes makes of a local folder or a hub's name; from local files unless download.

    Nothing can ask whether code of the checkpoint may be run: meanwhile standard input is empty.
    """
    kept, sys.stdin = sys.stdin, io.StringIO()
    try:
        return kind.from_pretrained(name, local_files_only=not download, trust_remote_code=False, **options)
    finally:
        sys.stdin = kept


def first_line(error: BaseException) -> str:
    """What an error says, in one line."""
    return (str(error).strip().splitlines() or ["no message"])[0].rstrip(".")

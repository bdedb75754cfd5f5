"""Checkpoints of transformers, from a local folder or a hub: what lies beside the weights is never run."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def pretrained(kind: Any, name: str | Path, *, download: bool = False, **options: Any) -> Any:
    """Load a local folder or a hub's name with one of transformers' Auto classes; from local files unless download.

    Code of the checkpoint is never run.
    """
    return kind.from_pretrained(name, local_files_only=not download, trust_remote_code=False, **options)


def first_line(error: BaseException) -> str:
    """What an error says, in one line."""
    return (str(error).strip().splitlines() or ["no message"])[0].rstrip(".")

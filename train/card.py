"""Model cards: one card.json beside each model, saying what it was made of, how, and how good it is."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

import torch

__all__ = ["folder_size", "machine", "read_card", "write_card"]

CARD_FILE = "card.json"
FIELDS = ("name", "task", "data", "licence", "recipe", "seed", "steps", "seconds", "machine", "size_bytes", "figures", "notes")


def machine() -> str:
    """This machine in words: processor, number of CPUs, torch's version and threads."""
    return f"{_processor()}, {os.cpu_count()} CPUs, torch {torch.__version__} with {torch.get_num_threads()} thread(s)"


def folder_size(folder: Path) -> int:
    """Bytes of all files below a folder, the card itself left out."""
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file() and path.name != CARD_FILE)


def write_card(folder: Path, **fields: Any) -> Path:
    """Write card.json into a folder and return its path.

    Every field of FIELDS is present, in that order; ``machine`` and ``size_bytes`` are filled in when they are not given,
    anything else missing is null. Raises TypeError for a field that cards do not have.
    """
    unknown = sorted(set(fields) - set(FIELDS))
    if unknown:
        raise TypeError(f"a card has no field {', '.join(unknown)}: the fields are {', '.join(FIELDS)}")
    fields.setdefault("machine", machine())
    fields.setdefault("size_bytes", folder_size(folder))
    path = Path(folder) / CARD_FILE
    card = {name: fields.get(name) for name in FIELDS}
    path.write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def read_card(folder: Path) -> dict[str, Any]:
    """Read the card of a model's folder as a dictionary."""
    card: dict[str, Any] = json.loads((Path(folder) / CARD_FILE).read_text(encoding="utf-8"))
    return card


def _processor() -> str:
    """The processor's name from /proc/cpuinfo, else what the platform module knows."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()

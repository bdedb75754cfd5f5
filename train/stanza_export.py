"""From training checkpoints to shipped model files: no optimizer, no paths, half precision; still plain Stanza files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

__all__ = ["export_model"]

DROPPED = ("optimizer_state_dict", "scheduler_state_dict", "dev_score_history", "global_step", "last_best_step")


def export_model(source: Path, target: Path) -> int:
    """Write a smaller copy of a Stanza model file and return its size in bytes.

    Float weights become float16 (Stanza copies them into float32 parameters when it loads), training state is dropped, and
    every path in the stored options keeps only its last part, so that nothing of the training machine is in the file. The
    result loads with ``weights_only``.
    """
    checkpoint = torch.load(source, map_location="cpu", weights_only=True)
    small = {key: value for key, value in checkpoint.items() if key not in DROPPED}
    small["model"] = {name: _half(tensor) for name, tensor in checkpoint["model"].items()}
    small["config"] = {name: _without_path(value) for name, value in checkpoint["config"].items()}
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    torch.save(small, target)
    return Path(target).stat().st_size


def _half(tensor: Any) -> Any:
    """A float tensor in half precision, anything else as it is."""
    return tensor.half() if isinstance(tensor, torch.Tensor) and tensor.is_floating_point() else tensor


def _without_path(value: Any) -> Any:
    """The last part of a text that looks like a path, anything else as it is."""
    return Path(value).name if isinstance(value, str) and "/" in value else value

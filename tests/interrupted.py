"""A training that is interrupted at its first checkpoint."""

from __future__ import annotations

import pytest

from rome.train.common.training import Checkpoint


def interrupt(patch: pytest.MonkeyPatch) -> None:
    """Let every training end after the first checkpoint that it writes."""
    save = Checkpoint.save

    def once(checkpoint: Checkpoint, step: int, seconds: float) -> None:
        save(checkpoint, step, seconds)
        raise KeyboardInterrupt

    patch.setattr(Checkpoint, "save", once)

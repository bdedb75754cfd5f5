"""Where the heads trained here lie: in the package, or in the folder that a recipe wrote."""

from __future__ import annotations

from pathlib import Path

from rome.exceptions import ModelMissingError
from rome.features.analyser.config import set_folder

__all__ = ["own_head"]


def own_head(spec: str, name: str) -> Path | None:
    """The folder of a head that `rome train NAME` wrote: the embedded one, or the one that spec names; None where spec is another model.

    Raises ModelMissingError where the embedded one is not part of this install.
    """
    folder = set_folder() / name if spec == "embedded" else Path(spec)
    if (folder / f"{name}.safetensors").is_file():
        return folder
    if spec == "embedded":
        raise ModelMissingError(
            f"this version has no embedded model for that yet: give --{name} FOLDER, a checkpoint that transformers loads or what "
            f"`rome train {name} --out FOLDER` wrote"
        )
    return None

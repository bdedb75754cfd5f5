"""A model set: a folder with one trunk, the small heads on its states, word weights, a net, and the settings found for them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from rome.exceptions import ModelMissingError

from ..model_files import MANIFEST, read_manifest, remedy
from ..values import FEATURES
from .config import DEFAULT_SET, SETS, set_folder

__all__ = ["ANALYSING", "PARTS", "ModelSet", "layers_below"]

ANALYSING = ("encoder", "grammar", "tokenizer", "mwt", "lemmatizer", "trees")
"""The parts that make an analysis."""
PARTS = (*ANALYSING, "idf", "lexicon")
"""The parts that every set has, a folder each. The net (``scorer``) is asked for where it is needed: it is fitted to the others."""
Config = TypeVar("Config")


@dataclass(frozen=True, slots=True)
class ModelSet:
    """One set, complete as far as names go; each file's hash is compared when the file is read. Make one with `ModelSet.load`.

    name : as signatures show it. folder : holds a folder for each of PARTS, and set.json. settings : by feature, what differs from the
    defaults of its configuration. files : SHA-256 of every model file by its path in the folder.
    """

    name: str
    folder: Path
    settings: Mapping[str, Mapping[str, Any]]
    files: Mapping[str, str]

    @classmethod
    def load(cls, models: str | os.PathLike[str] = DEFAULT_SET) -> ModelSet:
        """The set of this name (see SETS), or in this folder.

        Raises ModelMissingError, saying what to do, when the folder or its set.json is not there, set.json is damaged or of another
        format, a part is not there or a file on record is missing (all are named).
        """
        folder = set_folder(models)
        if not folder.is_dir():
            raise ModelMissingError(f"the model set {models} is not there (no folder {folder}): {_get(models)}")
        manifest = read_manifest(folder)
        found = cls(manifest.name, folder, manifest.settings, manifest.files)
        lacking = [part for part in PARTS if not found.has(part)]
        if lacking:
            raise ModelMissingError(f"the model set {folder} has no {', no '.join(lacking)}: {remedy(folder)}")
        missing = [name for name in manifest.files if not (folder / name).is_file()]
        if missing:
            raise ModelMissingError(f"the model set {folder} is incomplete, {', '.join(missing)} missing: {remedy(folder)}")
        unknown = manifest.settings.keys() - set(FEATURES)
        if unknown:
            raise ModelMissingError(f"{folder / MANIFEST} has settings of {', '.join(unknown)}, no feature: {remedy(folder)}")
        return found

    def has(self, part: str) -> bool:
        """Whether the set has files of this part."""
        return any(name.startswith(f"{part}/") for name in self.files)

    def settled(self, feature: str, config: Config) -> Config:
        """A feature's configuration with the set's settings. Raises ModelMissingError for a setting that this version does not know."""
        try:
            return settled(config, self.settings.get(feature, {}))
        except TypeError as error:
            raise ModelMissingError(
                f"{self.folder / MANIFEST} has a setting of {feature} that this version of rome-metric does not know ({error}): use the "
                "version that the set was made for"
            ) from error


def layers_below(folder: Path) -> int:
    """After how many layers of the trunk the reader of both texts of a set begins; 0 for a folder without one."""
    if not (Path(folder) / MANIFEST).is_file():
        return 0
    manifest = read_manifest(folder)
    there = any(name.startswith("errors/") for name in manifest.files)
    return int(manifest.settings.get("errors", {}).get("below", 0)) if there else 0


def settled(config: Config, settings: Mapping[str, Any]) -> Config:
    """A dataclass with these fields changed; a mapping changes the fields of a nested one. Raises TypeError for what fits no field."""
    changes: dict[str, Any] = {}
    known = {f.name for f in fields(config)}  # type: ignore[arg-type]
    for name, value in settings.items():
        if name not in known:
            raise TypeError(f"no field {name}")
        old = getattr(config, name)
        if is_dataclass(old) != isinstance(value, Mapping):
            raise TypeError(f"{name} is {value!r}")
        changes[name] = settled(old, value) if is_dataclass(old) else _like(old, value, name)
    return replace(config, **changes)  # type: ignore[type-var]


def _like(old: Any, value: Any, name: str) -> Any:
    """The value, once sure that it is of the old one's kind; a whole number is a number."""
    if isinstance(old, float) and type(value) is int:
        return float(value)
    if type(value) is not type(old):
        raise TypeError(f"{name} is {value!r}")
    return value


def _get(models: str | os.PathLike[str]) -> str:
    """What to do about a set whose folder is not there."""
    return "reinstall rome-metric" if models in SETS else f"give the folder of a set, or one of {', '.join(SETS)}"

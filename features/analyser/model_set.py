"""A model set: a folder with one trunk, the small heads on its states, word weights, a net, and the settings found for them.

Digests of the files identify the models of an analysis; no model is loaded for them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar

from rome.exceptions import InputError, ModelMissingError

from ..model_files import MANIFEST, files_below, read_manifest, remedy
from ..packages import needed
from ..values import FEATURES
from .config import DEFAULT_SET, EMBEDDED, SETS, SHARED, ModelConfig, part_folder, set_folder

ANALYSING = ("encoder", "grammar", "tokenizer", "mwt", "lemmatizer", "trees")
"""The parts that make an analysis."""
PARTS = (*ANALYSING, "idf")
"""The parts of every set, one folder each. The net (``scorer``) is fitted to them and required only where it is used."""
Config = TypeVar("Config")
FORMAT = "analysis-4"
RUN = "run-4"
"""Version of the way in which models are run, raised when their last digits change. Like `arithmetic`, part of the key of stored analyses only."""


@dataclass(frozen=True, slots=True)
class ModelSet:
    """One set, complete as far as names go; each file's hash is compared when the file is read. Make one with `ModelSet.load`.

    Attributes
    ----------
    name
        As signatures show it.
    folder
        Holds set.json and a folder for each of PARTS; those in SHARED may be missing.
    settings
        By feature, what differs from the defaults of its configuration.
    files
        SHA-256 of every model file by its path in the folder.
    """

    name: str
    folder: Path
    settings: Mapping[str, Mapping[str, Any]]
    files: Mapping[str, str]

    @classmethod
    def load(cls, models: str | os.PathLike[str] = DEFAULT_SET) -> ModelSet:
        """Return the set of this name (see SETS), or in this folder.

        Raises ModelMissingError, saying what to do, when the folder or its set.json is not there, set.json is damaged or of another
        format, a part is not there or a file on record is missing (all are named).
        """
        folder = set_folder(models)
        if not folder.is_dir():
            what = "reinstall rome-metric" if models in SETS else f"give the folder of a set, or one of {', '.join(SETS)}"
            raise ModelMissingError(f"the model set {models} is not there (no folder {folder}): {what}")
        manifest = read_manifest(folder)
        found = cls(manifest.name, folder, manifest.settings, manifest.files)
        lacking = [part for part in PARTS if part not in SHARED and not found.has(part)]
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
        """Return whether the set has files of this part."""
        return any(name.startswith(f"{part}/") for name in self.files)

    def with_settings(self, feature: str, config: Config) -> Config:
        """Return a feature's configuration with the set's settings. Raises ModelMissingError for a setting that this version does not know."""
        try:
            return with_settings(config, self.settings.get(feature, {}))
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


def with_settings(config: Config, settings: Mapping[str, Any]) -> Config:
    """Return a dataclass with these fields changed. Raises TypeError for what fits no field.

    A mapping changes the fields of a nested dataclass, as ``NAME.FIELD`` does one of them.
    """
    changes: dict[str, Any] = {}
    known = {f.name for f in fields(config)}  # type: ignore[arg-type]
    for place, given in settings.items():
        name, _, inner = str(place).partition(".")
        value = {inner: given} if inner else given
        if name not in known:
            raise TypeError(f"no field {name} among {', '.join(sorted(known))}")
        old = changes.get(name, getattr(config, name))
        if is_dataclass(old) != isinstance(value, Mapping):
            raise TypeError(f"{name} is {value!r}")
        changes[name] = with_settings(old, value) if is_dataclass(old) else _like(old, value, name)
    return replace(config, **changes)  # type: ignore[type-var]


def _like(old: Any, value: Any, name: str) -> Any:
    """Return the value if it has the old one's type; an int, or a float of NumPy, is a float. Raises TypeError otherwise."""
    if isinstance(old, float) and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if type(value) is not type(old):
        raise TypeError(f"{name} is {value!r}")
    return value


def file_digest(folder: Path) -> str:
    """Return a short digest of every file of a folder, names and bytes; changes when any model file does (model cards do not count).

    Files are read once a process, again when the size or time of one changes.
    """
    paths = [path for path in files_below(folder) if path.name != "card.json"]
    return _digest(Path(folder), tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in paths))


@lru_cache(maxsize=64)
def _digest(folder: Path, files: tuple[tuple[Path, int, int], ...]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for path, *_ in files:
        digest.update(path.relative_to(folder).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _external(name: str) -> str:
    """Return the digest of a local folder, or the name of anything else."""
    return f"{name}:{file_digest(Path(name))}" if Path(name).is_dir() else name


def encoder_identity(name: str = "") -> str:
    """Return the identity of an encoder: the embedded one ("") or a local folder by its files, anything else by its name."""
    return _external(name) if name else f"embedded:{file_digest(set_folder('small') / 'encoder')}"


def models_identity(config: ModelConfig) -> str:
    """Everything about the models that changes an analysis, in one line, the same on every machine and wherever the set lies.

    Raises ModelMissingError as `ModelSet.load`.
    """
    own = ModelSet.load(config.set)
    parts = [FORMAT, *(file_digest(part_folder(own.folder, name)) for name in ANALYSING)]
    if below := layers_below(own.folder):
        parts.append(f"states={below}")
    if config.parser != EMBEDDED:
        parts.append(f"stanza={_external(config.parser)}")
    if config.encoder != EMBEDDED:
        parts.append(f"encoder={_external(config.encoder)}@{config.layer}")
    if config.acceptability != EMBEDDED:
        parts.append(f"acceptability={_external(config.acceptability)}#{config.acceptable_label}")
    return ",".join(parts)


def found_device(name: str) -> str:
    """Return the device itself: ``auto`` is a CUDA card where torch finds one, else Apple's (mps), else the CPU.

    Raises InputError for one that is not there, saying what is, and ModelMissingError where torch is not installed.
    """
    if name == "cpu":
        return name
    with needed(f"device {name}", '"rome-metric[models]"'):
        import torch
    there = [*(["cuda"] if torch.cuda.is_available() else []), *(["mps"] if torch.backends.mps.is_available() else []), "cpu"]
    if name != "auto" and name not in there:
        raise InputError(
            f"device {name} is not there: torch {torch.__version__} finds {' and '.join(there)} on this machine; choose one of them or "
            f"auto, or install a torch that is built for {name}"
        )
    return there[0] if name == "auto" else name


@cache
def multiplies_bf16() -> bool:
    """Return whether the processor multiplies bfloat16 itself (AVX512-BF16 or AMX), by Linux's flags; False elsewhere."""
    info = Path("/proc/cpuinfo")
    return info.is_file() and not {"avx512_bf16", "amx_bf16"}.isdisjoint(info.read_text().split())


def found_precision(name: str, device: str = "cpu") -> str:
    """Return the precision itself: ``auto`` is bf16 where the device, a `found_device`, multiplies such numbers itself, else float32.

    Raises InputError for bf16 on Apple's cards, where it was never tried.
    """
    if name == "bf16" and device == "mps":
        raise InputError("precision bf16 is for processors and CUDA cards: choose float32 or auto on mps")
    if name != "auto":
        return name
    if device != "cuda":
        return "bf16" if device == "cpu" and multiplies_bf16() else "float32"
    import torch

    return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"


def arithmetic(device: str = "cpu", precision: str = "float32") -> str:
    """Return the precision and the card: part of the key of stored analyses, as it is of signatures."""
    return precision if device == "cpu" else f"{precision} on {device}"

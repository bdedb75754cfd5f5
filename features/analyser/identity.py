"""Which models made an analysis: digests of their files, found without loading them."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from .config import EMBEDDED, ModelConfig, set_folder
from .model_set import ANALYSING, ModelSet, layers_below

__all__ = ["RUN", "arithmetic", "encoder_identity", "file_digest", "models_identity"]

FORMAT = "analysis-3"
RUN = "run-2"
"""How the models are run: raised when the same models come to give other last digits. Like `arithmetic`, part of the key of stored analyses alone."""


def file_digest(folder: Path) -> str:
    """A short digest of every file of a folder, names and bytes; changes when any model file does (model cards do not count).

    Files are read once a process, again when the size or time of one changes.
    """
    paths = sorted(p for p in Path(folder).rglob("*") if p.is_file() and p.name != "card.json")
    return _digest(Path(folder), tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in paths))


@lru_cache(maxsize=64)
def _digest(folder: Path, files: tuple[tuple[Path, int, int], ...]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for path, *_ in files:
        digest.update(path.relative_to(folder).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _external(name: str) -> str:
    """A local folder by its files, anything else by its name."""
    return f"{name}:{file_digest(Path(name))}" if Path(name).is_dir() else name


def encoder_identity(name: str = "") -> str:
    """An encoder alone: the embedded one ("") by its files, a local folder by its files, anything else by its name."""
    return _external(name) if name else f"embedded:{file_digest(set_folder('small') / 'encoder')}"


def models_identity(config: ModelConfig) -> str:
    """Everything about the models that changes an analysis, in one line, the same on every machine and wherever the set lies.

    Raises ModelMissingError as `ModelSet.load`.
    """
    own = ModelSet.load(config.set)
    parts = [FORMAT, *(file_digest(own.folder / name) for name in ANALYSING if own.has(name))]
    if below := layers_below(own.folder):
        parts.append(f"states={below}")
    if config.parser != EMBEDDED:
        parts.append(f"stanza={_external(config.parser)}")
    if config.encoder != EMBEDDED:
        parts.append(f"encoder={_external(config.encoder)}@{config.layer}")
    if config.acceptability != EMBEDDED:
        parts.append(f"acceptability={_external(config.acceptability)}#{config.acceptable_label}")
    return ",".join(parts)


def arithmetic() -> str:
    """How the encoder computes on this machine: ``bfloat16`` where the processor multiplies such matrices itself (AMX), else ``float32``.

    Part of the key of stored analyses, not of signatures: the two differ in the fourth digit.
    """
    info = Path("/proc/cpuinfo")
    return "bfloat16" if info.is_file() and "amx_bf16" in info.read_text() else "float32"

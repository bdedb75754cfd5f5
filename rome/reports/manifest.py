"""What made a report: versions, machine, commit, command, seed, data and metrics."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rome.exceptions import InputError
from rome.results.serialisation import plain

PACKAGES = (
    *("numpy", "scipy", "POT", "pyarrow", "safetensors", "rapidfuzz"),
    *("torch", "transformers", "stanza", "numba"),
    *("sacrebleu", "nltk", "rouge-score", "lemminflect", "bert-score", "unbabel-comet", "matplotlib", "statsmodels"),
)
"""Packages whose version may change a number, or a picture."""

_GIT_SECONDS = 5


def machine_manifest(
    *,
    command: Sequence[str] | None = None,
    seed: int | None = None,
    data: Mapping[str, str] | None = None,
    metrics: Mapping[str, str] | None = None,
    seconds: float | None = None,
    options: Mapping[str, object] | None = None,
    time: datetime | None = None,
) -> dict[str, Any]:
    """Everything that someone needs in order to make a report again, as plain values.

    Parameters
    ----------
    command
        The words of the command line (this process's own by default).
    data
        Name -> digest.
    metrics
        Name -> signature.
    seconds
        How long the run took.
    options
        Further choices; a path becomes its text.
    time
        When it ran (now by default). Nothing is imported in order to learn its version, and a machine that does not tell gives None.
    """
    words = sys.argv if command is None else command
    return {
        "rome": _version("rome-metric"),
        "commit": git_commit(),
        "time": (time or datetime.now(timezone.utc)).isoformat(timespec="seconds"),
        "command": shlex.join([Path(word).name if place == 0 else word for place, word in enumerate(words)]),
        "seed": seed,
        "seconds": None if seconds is None else round(seconds, 1),
        "data": dict(data or {}),
        "metrics": dict(metrics or {}),
        "options": {name: _option(value) for name, value in (options or {}).items()},
        "machine": {
            "platform": platform.platform(),
            "processor": _processor(),
            "cores": _cores(),
            "python": f"{platform.python_implementation()} {platform.python_version()}",
        },
        "packages": {name: number for name in PACKAGES if (number := _version(name)) is not None},
    }


def file_digest(path: str | os.PathLike[str]) -> str:
    """``sha256:`` and the 64 hexadecimal digits of a file's content. Raises InputError when it cannot be read."""
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): check the name and its permissions") from error
    return f"sha256:{digest.hexdigest()}"


def git_commit() -> str | None:
    """The commit of the checkout that this package runs from, with ``+changes`` when files differ; None outside of one."""
    spec = find_spec("rome")
    root = Path(str(spec.origin)).resolve().parents[1] if spec and spec.origin else None
    if root is None or not (root / ".git").exists():
        return None
    commit = _git(root, "rev-parse", "HEAD")
    return f"{commit}+changes" if commit and _git(root, "status", "--porcelain", "--untracked-files=no") else commit


def _git(root: Path, *words: str) -> str | None:
    """What git answers on one line; None when it is absent, refuses or takes too long."""
    command = ["git", "--no-optional-locks", "-C", str(root), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_GIT_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str | None:
    """The processor's name as Linux tells it, else what the platform knows."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return (names[0] if names else platform.processor()) or None


def _cores() -> int | None:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _option(value: object) -> Any:
    """An option as a plain value."""
    return os.fspath(value) if isinstance(value, os.PathLike) else plain(value)

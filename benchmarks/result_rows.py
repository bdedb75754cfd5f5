"""Tables of results as files: lines of notes, a header, and one row per line; and the state of the machine."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path

KINDS = {"avx2": "AVX2", "avx512f": "AVX512", "avx512_vnni": "VNNI", "avx512_bf16": "AVX512-BF16", "amx_bf16": "AMX-BF16"}
"""Instructions by which speed differs most: Linux name -> common name."""


def arithmetic_kinds(info: Path = Path("/proc/cpuinfo")) -> str:
    """Return the KINDS that the processor has; the kind of processor if the system does not list them."""
    flags = set(info.read_text().split()) if info.is_file() else set()
    return " and ".join(name for flag, name in KINDS.items() if flag in flags) or platform.machine()


def git_commit() -> str:
    """Return the commit of this checkout, with ``+changes`` if files differ; nothing outside of a repository."""
    commit, changes = (_git(*words) for words in (("rev-parse", "HEAD"), ("status", "--porcelain", "--untracked-files=no")))
    return f"{commit}+changes" if commit and changes else commit


def _git(*words: str) -> str:
    """Return what git prints; nothing if it is absent or refuses."""
    command = ["git", "--no-optional-locks", "-C", str(Path(__file__).parent), *words]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=5, check=False).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def conditions(threads: int | None = None) -> str:
    """Return threads, cores and kinds of arithmetic of the machine, its load average of the last minute, and the commit."""
    commit = git_commit()
    made = f", commit {commit[:10]}{'+changes' if commit.endswith('+changes') else ''}" if commit else ""
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    threads_part = "" if threads is None else f"{threads} thread{'s' if threads != 1 else ''}, "
    return f"{threads_part}{os.cpu_count()} cores with {arithmetic_kinds()}, load average at the start {load}{made}"


def write_rows(path: Path | None, notes: Sequence[str], columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print the table, and write it if a path is given; a float gets four digits, None an empty cell."""
    lines = [f"# {note}" for note in notes] + ["\t".join(columns)]
    lines += ["\t".join(_cell(value) for value in row) for row in rows]
    print("\n".join(lines), flush=True)
    keep_lines(path, lines)


def keep_lines(path: Path | None, lines: Sequence[str]) -> None:
    """Write lines to a file, if one is named, and make its folder."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_rows(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Return the notes and the rows of a table; nothing without a file."""
    if not path.is_file():
        return [], []
    lines = path.read_text(encoding="utf-8").splitlines()
    notes = [line[1:].strip() for line in lines if line.startswith("#")]
    cells = [line.split("\t") for line in lines if not line.startswith("#")]
    return notes, [dict(zip(cells[0], row, strict=True)) for row in cells[1:]] if cells else []


def _cell(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"

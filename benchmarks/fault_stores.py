"""Faults of the store of analyses: processes killed, disks full, files damaged. `faults.py` defines trials."""

from __future__ import annotations

import io
import os
import random
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr
from functools import cache
from pathlib import Path

import numpy as np
from fault_tools import Child, cut_by_pages

from rome.exceptions import StoreError
from rome.features.values import Analysis, Sentence, Word
from rome.storage.analysis_store import AnalysisStore

ROWS = 48
Trial = Callable[[random.Random, Path], dict[str, int]]


@cache
def analysis(number: int) -> Analysis:
    """Return the analysis of text `number`: some fit into a page of the file, some need several."""
    chance, count = np.random.default_rng(number), 1 + number % 9
    words = tuple(Word(f"w{number}", "w", "NOUN", "NN", "_", -1, "root", 0, 1, 0) for _ in range(count))
    vectors = chance.normal(size=(count, 384)).astype(np.float16).astype(np.float32)
    return Analysis(f"text {number}", (Sentence(0, 1, 0.5),), words, vectors, chance.random(count).astype(np.float32))


def put(store: AnalysisStore, numbers: Iterable[int]) -> None:
    """Keep these rows."""
    store.put_many([analysis(number) for number in numbers], identity="m")


def found(path: Path) -> dict[int, Analysis]:
    """Return every row of the store."""
    with AnalysisStore(path) as store:
        known = store.get_many([analysis(number).text for number in range(ROWS)], identity="m")
    return {int(text.split()[1]): value for text, value in known.items()}


def judged(path: Path, finished: set[int]) -> dict[str, int]:
    """Open the store after the fault, count, write the missing rows again (at most twice), and check that all are there."""
    right = {number: analysis(number) for number in range(ROWS)}
    with redirect_stderr(io.StringIO()) as said:
        try:
            rows = now = found(path)
        except StoreError as error:  # a header that no longer says whose file it is
            said.write(f"rome: {error}\n")
            path.unlink()
            rows = now = {}
        for _ in range(2):  # what is written into a file whose damage nothing has shown yet may be lost with it
            with AnalysisStore(path) as store:
                put(store, set(right) - set(now))
            now = found(path)
    lines = said.getvalue().splitlines()
    return {
        "times": 1,
        "finished": len(finished),
        "missing": len(finished - set(rows)),
        "wrong": sum(value != right[number] for number, value in rows.items()),
        "said": int(bool(lines)),
        "aside": len(
            [name for name in os.listdir(path.parent) if name.startswith(f"{path.name}.damaged-") and name[-1].isdigit()]
        ),
        "healed": int(now == right and all(str(path) in line for line in lines)),
    }


def writer(path: Path, seed: float, batches: int = 10_000) -> Callable[[Callable[[int], None]], None]:
    """Write random batches in a child, and sometimes open the store again."""

    def work(tell: Callable[[int], None]) -> None:
        chance = random.Random(seed)
        for _ in range(batches):
            with AnalysisStore(path) as store:
                for _ in range(chance.randint(1, 4)):
                    some = chance.sample(range(ROWS), chance.randint(1, 6))
                    put(store, some)
                    for number in some:
                        tell(number)

    return work


def killed(chance: random.Random, folder: Path) -> dict[str, int]:
    """Kill one writer while it makes the file or, more often, while it writes."""
    child = Child(writer(folder / "s.sqlite", chance.random()))
    return judged(folder / "s.sqlite", child.end(chance.uniform(0, 0.12), writing=chance.random() < 0.8)[1])


def two_writers(chance: random.Random, folder: Path) -> dict[str, int]:
    """Let two writers make and fill one file, and sometimes kill one."""
    children = [Child(writer(folder / "s.sqlite", chance.random(), 6)) for _ in range(2)]
    delays = [chance.choice([None, chance.uniform(0, 0.1)]), None]
    ends = [child.end(delay) for child, delay in zip(children, delays, strict=True)]
    if ends[1][0]:
        raise RuntimeError("a writer failed beside another")
    return judged(folder / "s.sqlite", ends[0][1] | ends[1][1])


def full_by_limit(chance: random.Random, folder: Path) -> dict[str, int]:
    """Limit the size of files for a while."""
    path, limit = folder / "s.sqlite", chance.randrange(0, 400_000)

    def work(tell: Callable[[int], None]) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        refused(writer(path, chance.random(), 12), tell)

    return judged(path, Child(work).end(None)[1])


def refused(work: Callable[[Callable[[int], None]], None], tell: Callable[[int], None]) -> None:
    """Work until it is refused with a remedy; any other end is a failure."""
    try:
        work(tell)
    except StoreError as error:
        if "free some space" not in str(error) and "cannot be written" not in str(error):
            raise


def full_disk(chance: random.Random, folder: Path) -> dict[str, int]:
    """Fill up a tmpfs of a random size, then make room. Needs the right to mount."""
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={chance.randrange(400, 900)}k", "tmpfs", str(disk)]
    if os.geteuid() or not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        return {}
    try:
        (disk / "in the way").write_bytes(bytes(chance.randrange(100, 390) << 10))
        code, finished = Child(lambda tell: refused(writer(disk / "s.sqlite", chance.random(), 12), tell)).end(None)
        if code:
            raise RuntimeError("a full disk was not refused with a remedy")
        (disk / "in the way").unlink()
        subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], check=True)
        return judged(disk / "s.sqlite", finished)
    finally:
        subprocess.run(["umount", str(disk)], check=False)


@cache
def template() -> bytes:
    """Return the content of a whole store."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.sqlite"

        def work(_: Callable[[int], None]) -> None:
            with AnalysisStore(path) as store:
                for first in range(0, ROWS, 4):
                    put(store, range(first, first + 4))

        Child(work).end(None)
        return path.read_bytes()


def damaged(change: Callable[[bytes, random.Random], bytes]) -> Trial:
    """Return a trial that changes the file."""

    def trial(chance: random.Random, folder: Path) -> dict[str, int]:
        (folder / "s.sqlite").write_bytes(change(template(), chance))
        return judged(folder / "s.sqlite", set(range(ROWS)))

    return trial


def two_replacing(chance: random.Random, folder: Path) -> dict[str, int]:
    """Let two processes replace a damaged file at once and write on."""
    path = folder / "s.sqlite"
    path.write_bytes(cut_by_pages(template(), chance))
    children = [Child(writer(path, chance.random(), 4)) for _ in range(2)]
    ends = [child.end(None) for child in children]
    if any(code for code, _ in ends):
        raise RuntimeError("a writer failed on a damaged file")
    return judged(path, ends[0][1] | ends[1][1])

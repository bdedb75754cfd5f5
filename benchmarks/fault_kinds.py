"""The faults that `faults.py` does and the quick tests do a few times: each takes a source of chance and an empty folder.

A trial returns counts (see `faults.py`): times, finished, missing, wrong, said, aside, healed; no times where it is not possible.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import random
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import closing, redirect_stderr, suppress
from functools import cache
from pathlib import Path

import numpy as np

from rome.exceptions import InputError, RomeError, StoreError
from rome.features.values import Analysis, Sentence, Word
from rome.files import open_output
from rome.store import AnalysisStore
from rome.table import FeatureTable

__all__ = ["DAMAGE", "FAULTS"]

ROWS = 48
PAGE = 4096
Trial = Callable[[random.Random, Path], dict[str, int]]


@cache
def analysis(number: int) -> Analysis:
    """The one right analysis of text `number`: some fit into a page of the file, some need several."""
    chance, count = np.random.default_rng(number), 1 + number % 9
    words = tuple(Word(f"w{number}", "w", "NOUN", "NN", "_", -1, "root", 0, 1, 0) for _ in range(count))
    vectors = chance.normal(size=(count, 384)).astype(np.float16).astype(np.float32)
    return Analysis(f"text {number}", (Sentence(0, 1, 0.5),), words, vectors, chance.random(count).astype(np.float32))


def put(store: AnalysisStore, numbers: Iterable[int]) -> None:
    """Keep these rows."""
    store.put_many([analysis(number) for number in numbers], identity="m")


def found(path: Path) -> dict[int, Analysis]:
    """Every row that the store gives."""
    with AnalysisStore(path) as store:
        known = store.get_many([analysis(number).text for number in range(ROWS)], identity="m")
    return {int(text.split()[1]): value for text, value in known.items()}


def judged(path: Path, finished: set[int]) -> dict[str, int]:
    """Open the store after the fault, count, write what is missing again, twice at most, and look whether everything is there then."""
    right = {number: analysis(number) for number in range(ROWS)}
    with redirect_stderr(io.StringIO()) as said:
        rows = now = found(path)
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
        "healed": int(now == right and all(line.startswith("rome: the store ") for line in lines)),
    }


class Child:
    """A process of its own that says which rows are finished: a number goes through a pipe once the call that kept it returned."""

    def __init__(self, work: Callable[[Callable[[int], None]], None]) -> None:
        self.pipe, end = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            code = 1
            try:
                os.close(self.pipe)
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                work(lambda number: void(os.write(end, struct.pack("<i", number))))
                code = 0
            finally:
                os._exit(code)
        os.close(end)

    def end(self, delay: float | None) -> tuple[int, set[int]]:
        """Kill it after so many seconds, or wait; how it ended (0, 1, or minus the signal), and what was finished."""
        if delay is not None:
            time.sleep(delay)
            with suppress(ProcessLookupError):
                os.kill(self.process, signal.SIGKILL)
        with open(self.pipe, "rb") as stream:
            content = stream.read()
        status = os.waitpid(self.process, 0)[1]
        return os.waitstatus_to_exitcode(status), set(struct.unpack(f"<{len(content) // 4}i", content[: len(content) // 4 * 4]))


def void(_: object) -> None:
    """Nothing."""


def writer(path: Path, seed: float, batches: int = 10_000) -> Callable[[Callable[[int], None]], None]:
    """Work for a child: random batches, the store opened again now and then."""

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
    """One writer, killed while it makes the file or writes."""
    child = Child(writer(folder / "s.sqlite", chance.random()))
    return judged(folder / "s.sqlite", child.end(chance.uniform(0, 0.12))[1])


def two_writers(chance: random.Random, folder: Path) -> dict[str, int]:
    """Two writers make and fill one file with the same and other rows; sometimes one is killed."""
    children = [Child(writer(folder / "s.sqlite", chance.random(), 6)) for _ in range(2)]
    delays = [chance.choice([None, chance.uniform(0, 0.1)]), None]
    ends = [child.end(delay) for child, delay in zip(children, delays, strict=True)]
    if ends[1][0]:
        raise RuntimeError("a writer failed beside another")
    return judged(folder / "s.sqlite", ends[0][1] | ends[1][1])


def full_by_limit(chance: random.Random, folder: Path) -> dict[str, int]:
    """No file may grow beyond a random size, then it may."""
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
    """A tmpfs of a random size fills up; then a file that is in the way goes. Needs the right to mount."""
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
def template(log: bool) -> dict[str, bytes]:
    """The files of a whole store, by the ends of their names: with rows in the log, as a kill leaves it, or all in the file."""
    folder = Path(os.environ.get("TMPDIR", "/tmp")) / f"rome-faults-{os.getpid()}"
    folder.mkdir()
    path = folder / "s.sqlite"

    def work(_: Callable[[int], None]) -> None:
        for half in range(2):
            store = AnalysisStore(path)
            for first in range(half * ROWS // 2, (half + 1) * ROWS // 2, 4):
                put(store, range(first, first + 4))
            if not (log and half):
                store.close()

    Child(work).end(None)
    files = {end: Path(f"{path}{end}").read_bytes() for end in ("", "-wal") if Path(f"{path}{end}").exists()}
    shutil.rmtree(folder)
    return files


def changed(content: bytes, chance: random.Random) -> bytes:
    """A few bits flipped, half of the time where the structure of the file stands."""
    damaged = bytearray(content)
    for _ in range(chance.choice([1, 1, 1, 4, 16])):
        place = chance.randrange(len(content))
        if chance.random() < 0.5:
            place = min(len(content) - 1, place // PAGE * PAGE + chance.randrange(100))
        damaged[place] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def header_changed(content: bytes, chance: random.Random) -> bytes:
    """One byte of the first hundred, which say what the file is."""
    place = chance.randrange(100)
    return content[:place] + bytes([chance.randrange(256)]) + content[place + 1 :]


def cut(content: bytes, chance: random.Random) -> bytes:
    """A shorter file."""
    return content[: chance.randrange(len(content))]


def cut_by_pages(content: bytes, chance: random.Random) -> bytes:
    """Shorter by one page at least, which is noticed as soon as the file is opened."""
    return content[: chance.randrange(1, len(content) - PAGE)]


def pages_changed(content: bytes, chance: random.Random) -> bytes:
    """A page of zeros or of another place, as after a torn write."""
    one, other = (chance.randrange(len(content) // PAGE) * PAGE for _ in range(2))
    page = bytes(PAGE) if chance.random() < 0.5 else content[other : other + PAGE]
    return content[:one] + page + content[one + PAGE :]


def damaged(end: str, change: Callable[[bytes, random.Random], bytes]) -> Trial:
    """A trial that changes the file (end "") or its log (end "-wal")."""

    def trial(chance: random.Random, folder: Path) -> dict[str, int]:
        for name, content in template(bool(end) or chance.random() < 0.3).items():
            (folder / f"s.sqlite{name}").write_bytes(change(content, chance) if name == end else content)
        return judged(folder / "s.sqlite", set(range(ROWS)))

    return trial


def killed_repairing(chance: random.Random, folder: Path) -> dict[str, int]:
    """A damaged file is opened by a process that is killed meanwhile: what it would have saved is saved by the next."""
    path, calm = folder / "s.sqlite", folder / "calm" / "s.sqlite"
    content = pages_changed(template(False)[""], chance)
    calm.parent.mkdir()
    for target in (path, calm):
        target.write_bytes(content)
    with redirect_stderr(io.StringIO()):
        saved = set(found(calm))
    Child(lambda tell: void(found(path))).end(chance.uniform(0, 0.06))
    return judged(path, saved)


def two_repairing(chance: random.Random, folder: Path) -> dict[str, int]:
    """Two processes find a damaged file at once, replace it, and write on: what they finished is there."""
    path = folder / "s.sqlite"
    path.write_bytes(cut_by_pages(template(False)[""], chance))
    children = [Child(writer(path, chance.random(), 4)) for _ in range(2)]
    ends = [child.end(None) for child in children]
    if any(code for code, _ in ends):
        raise RuntimeError("a writer failed on a damaged file")
    return judged(path, ends[0][1] | ends[1][1])


def killed_upgrading(chance: random.Random, folder: Path) -> dict[str, int]:
    """A store of format 1 is brought to this one by a process that is killed meanwhile."""
    path = folder / "s.sqlite"
    path.write_bytes(template(False)[""])
    with closing(sqlite3.connect(path)) as connection:
        for key, row in connection.execute("SELECT key, value FROM analyses").fetchall():
            value = hashlib.blake2b(row[8:], digest_size=8).digest() + row[8:]
            connection.execute("UPDATE analyses SET value = ? WHERE key = ?", (value, key))
        connection.execute("PRAGMA user_version=1")
        connection.commit()
    Child(lambda tell: void(found(path))).end(chance.uniform(0, 0.03))
    return judged(path, set(range(ROWS)))


def lines(number: int) -> str:
    """The text of an output."""
    return f"line {number}\n" * (2000 + number)


def text_in(path: Path) -> str:
    """What an output holds."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as stream:
        return stream.read()


def output(limited: bool) -> Trial:
    """An output is written again and again by a process that is killed, or that may not write so much: it is whole, and the last or the next."""

    def trial(chance: random.Random, folder: Path) -> dict[str, int]:
        path, limit = folder / chance.choice(["out.tsv", "out.tsv.gz"]), chance.randrange(1, 16_000)

        def work(tell: Callable[[int], None]) -> None:
            for number in range(1, 10_000):
                if limited and number == 3:
                    resource.setrlimit(
                        resource.RLIMIT_FSIZE, (limit if path.suffix == ".tsv" else limit // 300, resource.RLIM_INFINITY)
                    )
                try:
                    with open_output(str(path)) as stream:
                        stream.write(lines(number))
                except InputError:
                    return
                tell(number)

        code, finished = Child(work).end(None if limited else chance.uniform(0.0, 0.1))
        last = max(finished, default=0)
        text = text_in(path) if path.exists() else ""
        allowed = {lines(last) if last else "", *(() if limited else (lines(last + 1),))}
        rest = [name for name in os.listdir(folder) if name.endswith(".part")] if limited else []
        return {"times": 1, "finished": len(finished), "wrong": int(text not in allowed), "healed": int(not rest and code < 1)}

    return trial


@cache
def table() -> FeatureTable:
    """A table of features."""
    chance, count = np.random.default_rng(0), 300
    numbers = chance.random((count, 4)), chance.normal(size=(count, 4))
    return FeatureTable(
        np.arange(count), np.zeros(count, int), *numbers, ("a", "b", "", "d"), "x:1", np.ones(count, np.uint32), ("e",)
    )


def table_damaged(change: Callable[[bytes, random.Random], bytes]) -> Trial:
    """A changed table is refused by name, or still the same."""

    def trial(chance: random.Random, folder: Path) -> dict[str, int]:
        path = folder / "f.parquet"
        table().save(path)
        path.write_bytes(change(path.read_bytes(), chance))
        try:
            read, said = FeatureTable.load(path), 0
        except RomeError as error:
            read, said = None, int(str(path) in str(error))
        right = said if read is None else int(read == table())
        return {"times": 1, "finished": 1, "missing": int(read is None), "wrong": 1 - right, "said": said, "healed": 1}

    return trial


def of_bits(content: bytes, chance: random.Random) -> bytes:
    """One to four bits flipped anywhere, half of the time in the last quarter, which says where everything stands."""
    whole = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        whole[chance.randrange(chance.choice([0, len(content) * 3 // 4]), len(content))] ^= 1 << chance.randrange(8)
    return bytes(whole)


FAULTS: dict[str, Trial] = {
    "store: writer killed": killed,
    "store: two writers, one killed now and then": two_writers,
    "store: files may not grow": full_by_limit,
    "store: disk full": full_disk,
    "store: bits flipped": damaged("", changed),
    "store: header changed": damaged("", header_changed),
    "store: pages zeroed or exchanged": damaged("", pages_changed),
    "store: cut short": damaged("", cut),
    "store: log, bits flipped": damaged("-wal", changed),
    "store: log, cut short": damaged("-wal", cut),
    "store: killed while repairing": killed_repairing,
    "store: two repair at once": two_repairing,
    "store: killed while changing format": killed_upgrading,
    "output: writer killed": output(False),
    "output: files may not grow": output(True),
    "table: bits flipped": table_damaged(of_bits),
    "table: cut short": table_damaged(cut),
}
DAMAGE = {name for name in FAULTS if any(word in name for word in ("flipped", "changed", "zeroed", "cut short"))}
"""Faults that destroy rows themselves: some are missing afterwards, and made again."""

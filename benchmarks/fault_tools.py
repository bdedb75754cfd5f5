"""Tools of the fault tests: a process that can be ended at any moment, and ways to damage the content of a file."""

from __future__ import annotations

import os
import random
import select
import signal
import struct
import time
from collections.abc import Callable
from contextlib import suppress

PAGE = 4096


class Child:
    """Run work in a process that reports each finished row through a pipe."""

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

    def end(self, delay: float | None, how: int = signal.SIGKILL, writing: bool = False) -> tuple[int, set[int]]:
        """Send a signal after a delay, or wait; return the exit code (0, 1, or minus the signal) and the finished rows.

        Parameters
        ----------
        writing
            Whether the delay begins with the first finished row.
        """
        if writing:
            select.select([self.pipe], [], [])
        if delay is not None:
            time.sleep(delay)
            with suppress(ProcessLookupError):
                os.kill(self.process, how)
        with open(self.pipe, "rb") as stream:
            content = stream.read()
        status = os.waitpid(self.process, 0)[1]
        return os.waitstatus_to_exitcode(status), set(struct.unpack(f"<{len(content) // 4}i", content[: len(content) // 4 * 4]))


def void(_: object) -> None:
    """Return None for any value."""


def bits(content: bytes, chance: random.Random) -> bytes:
    """Flip a few bits, half of the time in the header of a page."""
    damaged = bytearray(content)
    for _ in range(chance.choice([1, 1, 1, 4, 16])):
        place = chance.randrange(len(content))
        if chance.random() < 0.5:
            place = min(len(content) - 1, place // PAGE * PAGE + chance.randrange(100))
        damaged[place] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def header(content: bytes, chance: random.Random) -> bytes:
    """Change one of the first hundred bytes, the header of the file."""
    place = chance.randrange(100)
    return content[:place] + bytes([chance.randrange(256)]) + content[place + 1 :]


def cut(content: bytes, chance: random.Random) -> bytes:
    """Cut the file at a random byte."""
    return content[: chance.randrange(len(content))]


def cut_by_pages(content: bytes, chance: random.Random) -> bytes:
    """Cut off one page at least, which is noticed as soon as the file is opened."""
    return content[: chance.randrange(1, len(content) - PAGE)]


def pages(content: bytes, chance: random.Random) -> bytes:
    """Replace a page by zeros or by another page, as after an interrupted write."""
    one, other = (chance.randrange(len(content) // PAGE) * PAGE for _ in range(2))
    page = bytes(PAGE) if chance.random() < 0.5 else content[other : other + PAGE]
    return content[:one] + page + content[one + PAGE :]


def any_bits(content: bytes, chance: random.Random) -> bytes:
    """Flip one to four bits, half of the time in the last quarter, which holds the index of a table."""
    whole = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        whole[chance.randrange(chance.choice([0, len(content) * 3 // 4]), len(content))] ^= 1 << chance.randrange(8)
    return bytes(whole)

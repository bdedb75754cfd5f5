"""A process that does something of which it says what is finished, and that can be ended at any moment."""

from __future__ import annotations

import os
import select
import signal
import struct
import time
from collections.abc import Callable
from contextlib import suppress


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

    def end(self, delay: float | None, how: int = signal.SIGKILL, writing: bool = False) -> tuple[int, set[int]]:
        """Send it a signal after so many seconds, or wait; how it ended (0, 1, or minus the signal), and what was finished.

        writing : the seconds begin when the first row is finished, however long a busy machine takes for that.
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
    """Nothing."""

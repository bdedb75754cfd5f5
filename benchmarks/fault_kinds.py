"""The faults that `faults.py` does and the quick tests do a few times: each takes a source of chance and an empty folder.

A trial returns counts (see `faults.py`): times, finished, missing, wrong, said, aside, healed; no times where it is not possible.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from fault_damage import any_bits, bits, cut, header, pages
from fault_files import interrupted, output, table_damaged
from fault_stores import (
    damaged,
    full_by_limit,
    full_disk,
    killed,
    two_replacing,
    two_writers,
)

Trial = Callable[[random.Random, Path], dict[str, int]]

FAULTS: dict[str, Trial] = {
    "store: writer killed": killed,
    "store: two writers, one killed now and then": two_writers,
    "store: files may not grow": full_by_limit,
    "store: disk full": full_disk,
    "store: bits flipped": damaged(bits),
    "store: header changed": damaged(header),
    "store: pages zeroed or exchanged": damaged(pages),
    "store: cut short": damaged(cut),
    "store: two find it damaged at once": two_replacing,
    "output: writer killed": output(False),
    "output: files may not grow": output(True),
    "table: bits flipped": table_damaged(any_bits),
    "table: cut short": table_damaged(cut),
    "run: ended again and again": interrupted,
}
DAMAGE = {name for name in FAULTS if any(word in name for word in ("flipped", "changed", "zeroed", "cut short", "damaged"))}
"""Faults that destroy rows themselves: some are missing afterwards, and made again."""
DONE = {
    "store: writer killed": "SIGKILL at a random moment while a process makes or fills a store",
    "store: two writers, one killed now and then": "two processes make and fill one store, sometimes one gets SIGKILL",
    "store: files may not grow": "a limit on file size of a random number of bytes, then none",
    "store: disk full": "a file system of 400 to 900 kB fills up, then has room",
    "store: bits flipped": "one to sixteen bits of the file, half of them where its structure stands",
    "store: header changed": "one of the first hundred bytes",
    "store: pages zeroed or exchanged": "a page of zeros, or of another place of the file",
    "store: cut short": "the file ends at a random byte",
    "store: two find it damaged at once": "two processes find the same damaged store, set it aside and write on",
    "output: writer killed": "SIGKILL while one file is written again and again, compressed or not",
    "output: files may not grow": "a limit on file size in the middle of writing",
    "table: bits flipped": "one to four bits of a Parquet table, half of them in its last quarter",
    "table: cut short": "the table ends at a random byte",
    "run: ended again and again": "SIGKILL, SIGINT or SIGTERM at random moments of `rome score`, up to four times, then the same command",
}
"""What each fault is, for people."""

"""Do hundreds of real faults and count what each one cost: processes killed, disks full, files damaged.

    python benchmarks/faults.py --times 200 --output benchmarks/results

A process gets SIGKILL at a random moment; a limit on file size or a tmpfs of a few pages makes the disk full; bytes and pages of a copied
file are changed or cut off. Then the file is opened as a user would open it. About five minutes on one core.

- ``finished``: rows (or files, or blocks of a run) that were reported as kept.
- ``missing``: those that were not found again (of a run: computed again): none, unless the fault itself destroyed them.
- ``wrong``: rows that differ from what was written.
- ``said``: faults after which a line on stderr said so. A damaged log looks like one that a crash cut off, so there is no line on it.
- ``aside``: files kept under another name.
- ``healed``: faults after which every row was there again, once the missing ones had been written (at most twice), and no temporary file was
  left.

A fault that must cost nothing and cost something, a wrong row, or a file that did not heal ends the command with 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from fault_files import interrupted, output, table_damaged
from fault_stores import damaged, full_by_limit, full_disk, killed, two_replacing, two_writers
from fault_tools import any_bits, bits, cut, header, pages

Trial = Callable[[random.Random, Path], dict[str, int]]
"""A fault, done once in an empty folder; returns counts by COLUMNS, without times if it is not possible on this machine."""
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
COLUMNS = ("times", "finished", "missing", "wrong", "said", "aside", "healed")
Counts = dict[str, Counter[str]]


def trials(times: int, only: str, seed: int) -> Counts:
    """Do every fault several times, each time in an empty folder; return the sums of the counts, and the seconds."""
    found: Counts = {}
    for name, trial in FAULTS.items():
        if only not in name:
            continue
        chance, total, begun = random.Random(f"{seed} {name}"), Counter[str](), time.perf_counter()
        for _ in range(times):
            with tempfile.TemporaryDirectory() as folder:
                total.update(trial(chance, Path(folder)))
        total["seconds"] = round(time.perf_counter() - begun)
        found[name] = total
        print("\t".join(row(name, total)), file=sys.stderr, flush=True)
    return found


def row(name: str, total: Counter[str]) -> list[str]:
    """Return the line of one fault."""
    return [name, *(str(total[key]) for key in (*COLUMNS, "seconds"))]


def forbidden(found: Counts) -> int:
    """Return how many faults cost more than they may."""
    return sum(
        total["wrong"] + (total["times"] - total["healed"]) + (0 if name in DAMAGE else total["missing"])
        for name, total in found.items()
    )


def table(counts: Counts) -> str:
    """Return a tab-separated table."""
    lines = ["\t".join(("fault", *COLUMNS, "seconds"))]
    lines += ["\t".join(row(name, total)) for name, total in counts.items() if total["times"]]
    lines += [f"# {name}: not possible on this machine" for name, total in counts.items() if not total["times"]]
    return "\n".join([*lines, f"# {forbidden(counts)} of them cost more than they may", ""])


def main() -> int:
    """Do every fault, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=200, help="how often each fault is done")
    parser.add_argument("--only", default="", help="faults with this in their name")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    found = trials(options.times, options.only, options.seed)
    print(table(found), end="")
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "faults.tsv").write_text(table(found), encoding="utf-8")
    return 1 if forbidden(found) else 0


if __name__ == "__main__":
    sys.exit(main())

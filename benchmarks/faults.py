"""What survives when things go wrong: processes killed, disks full, files damaged. Hundreds of real faults, and what each one cost.

    python benchmarks/faults.py --times 200 --output benchmarks/results/faults.tsv

Every fault is real: a process of its own gets SIGKILL at a random moment; a limit on file size or a tmpfs of a few pages makes the disk
full; bytes and pages of a copied file are changed or cut off. Afterwards the file is opened as any user would open it.

finished: rows (or files) that a process had been told were kept. missing: those that were not found again: none, unless the fault itself
destroyed them. wrong: rows found that are not what was written. said: faults after which a line on stderr said so. aside: files kept under
another name. healed: faults after which every row was there again, once what was missing had been written, twice at most: rows written
into a file whose damage nothing has shown yet may be lost with it. A damaged log looks like one that a crash cut off, so nothing is said
of it. A fault that must cost nothing and cost something, a wrong row, or a file that did not heal ends the command with 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from fault_kinds import DAMAGE, FAULTS

COLUMNS = ("times", "finished", "missing", "wrong", "said", "aside", "healed")


def report(times: int, only: str, seed: int) -> tuple[list[str], int]:
    """The table's rows, and how many faults cost what they may not."""
    rows, bad = ["\t".join(("fault", *COLUMNS, "seconds"))], 0
    for name, trial in FAULTS.items():
        if only not in name:
            continue
        chance, total, begun = random.Random(f"{seed} {name}"), Counter[str](), time.perf_counter()
        for _ in range(times):
            with tempfile.TemporaryDirectory() as folder:
                total.update(trial(chance, Path(folder)))
        if not total["times"]:
            rows.append(f"# {name}: not possible on this machine")
            continue
        rows.append("\t".join([name, *(str(total[key]) for key in COLUMNS), f"{time.perf_counter() - begun:.0f}"]))
        print(rows[-1], file=sys.stderr, flush=True)
        bad += total["wrong"] + (total["times"] - total["healed"]) + (0 if name in DAMAGE else total["missing"])
    return rows, bad


def main() -> int:
    """Do every fault, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=200, help="how often each fault is done")
    parser.add_argument("--only", default="", help="faults with this in their name")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    rows, bad = report(options.times, options.only, options.seed)
    text = "\n".join([*rows, f"# {bad} of them cost what they may not"]) + "\n"
    print(text, end="")
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

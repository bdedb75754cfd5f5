"""What survives when things go wrong: processes killed, disks full, files damaged. Hundreds of real faults, and what each one cost.

    python benchmarks/faults.py --times 200 --output benchmarks/results

Every fault is real: a process of its own gets SIGKILL at a random moment; a limit on file size or a tmpfs of a few pages makes the disk
full; bytes and pages of a copied file are changed or cut off. Afterwards the file is opened as any user would open it. The folder gets
faults.tsv and, for people, faults.md; about five minutes on one core.

finished: rows (or files, or blocks of a run) that a process had been told were kept. missing: those that were not found again (of a run:
that were computed again): none, unless the fault itself destroyed them. wrong: rows found that are not what was written. said: faults after
which a line on stderr said so. aside: files kept under another name. healed: faults after which every row was there again, once what was
missing had been written, twice at most: rows written into a file whose damage nothing has shown yet may be lost with it; and after which no
temporary file was left. A damaged log looks like one that a crash cut off, so nothing is said of it. A fault that must cost nothing and cost
something, a wrong row, or a file that did not heal ends the command with 1.
"""

from __future__ import annotations

import argparse
import platform
import random
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from fault_kinds import DAMAGE, DONE, FAULTS

COLUMNS = ("times", "finished", "missing", "wrong", "said", "aside", "healed")
Counts = dict[str, Counter[str]]


def trials(times: int, only: str, seed: int) -> Counts:
    """Do every fault so many times, each time in a folder of its own; the sums of what the trials counted, and the seconds."""
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
    """One fault's line of the table."""
    return [name, *(str(total[key]) for key in (*COLUMNS, "seconds"))]


def forbidden(found: Counts) -> int:
    """How many faults cost what they may not."""
    return sum(
        total["wrong"] + (total["times"] - total["healed"]) + (0 if name in DAMAGE else total["missing"])
        for name, total in found.items()
    )


def table(found: Counts) -> str:
    """Tab-separated, for programs."""
    done = ["\t".join(row(name, total)) for name, total in found.items() if total["times"]]
    not_done = [f"# {name}: not possible on this machine" for name, total in found.items() if not total["times"]]
    return (
        "\n".join(
            [
                "\t".join(("fault", *COLUMNS, "seconds")),
                *done,
                *not_done,
                f"# {forbidden(found)} of them cost what they may not",
            ]
        )
        + "\n"
    )


def page(found: Counts) -> str:
    """Markdown, for people: what was done how many times, and what was lost."""
    total = sum(found.values(), Counter[str]())
    lost = sum(counts["missing"] for name, counts in found.items() if name not in DAMAGE)
    lines = [
        "# Faults, and what each one cost",
        "",
        f"{total['times']:,} faults of {sum(counts['times'] > 0 for counts in found.values())} kinds were done for real. "
        f"Of {total['finished']:,} rows, files and blocks that were finished before, **{lost} were lost** and **{total['wrong']} "
        f"came back wrong**; {total['times'] - total['healed']} faults left something that the next use did not mend.",
        "",
        "A fault that destroys rows itself (marked *) cannot but cost those rows: they are noticed, never returned, and computed again.",
        "",
        "| fault | what was done | times | finished before | not found again | wrong | a line said so | mended |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, counts in found.items():
        cells = (f"{counts[key]:,}" for key in ("times", "finished", "missing", "wrong", "said", "healed"))
        lines.append(f"| {name}{'*' if name in DAMAGE else ''} | {DONE[name]} | {' | '.join(cells)} |")
    versions = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {platform.system()}"
    return "\n".join(
        [*lines, "", f"Made by `python benchmarks/faults.py`, whose head says what each column counts; {versions}.", ""]
    )


def main() -> int:
    """Do every fault, print the table, write both files."""
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
        (options.output / "faults.md").write_text(page(found), encoding="utf-8")
    return 1 if forbidden(found) else 0


if __name__ == "__main__":
    sys.exit(main())

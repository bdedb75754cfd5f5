"""The two figures most wanted, from stored features: how long do a leaderboard with intervals and one metric's blind spots take?

    python benchmarks/minute.py --store runs/judging --output benchmarks/results/minute.tsv

Each command runs as a process of its own, as a user would run it; the store must hold the scores already (run each command once before).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

COMMANDS = {
    "leaderboard of 13 metrics with intervals, one set": ["evaluate", "wmt15"],
    "the same on a set with several outputs an input": ["evaluate", "webnlg17"],
    "blind spots of one metric on DEMETR": ["diagnose", "demetr", "--metric", "rome"],
}


def main() -> int:
    """Print and write one row a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", required=True, help="folder with analyses and scores")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    lines = [f"# {os.cpu_count()} cores", "what\tcommand\tseconds"]
    for what, command in COMMANDS.items():
        words = [sys.executable, "-I", "-c", "import sys; from rome.cli import main; sys.exit(main(sys.argv[1:]))", *command]
        begin = time.perf_counter()
        subprocess.run([*words, "--store", options.store], check=True, capture_output=True)
        lines.append(f"{what}\trome {' '.join(command)}\t{time.perf_counter() - begin:.1f}")
        print(lines[-1], flush=True)
    if options.output:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

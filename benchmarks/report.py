"""The reports: on speed, its growth and memory, and on faults, laws and hostile input. Runs every benchmark of one and writes its page.

    python benchmarks/report.py                                   (speed: about half an hour on two cores)
    python benchmarks/report.py --report faults                   (about half an hour on two cores)
    python benchmarks/report.py --only peers stages               (only these anew; the page shows what is there of the others)
    python benchmarks/report.py --only                            (the page alone)

Each benchmark is a process of its own, one after the other, and writes its tables; the page is speed_report.md, or fault_report.md, beside
them. `fuzz` needs the extra of that name.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from report_page import write_fault_page, write_page

HERE = Path(__file__).parent
RESULTS = HERE / "results"
BENCHMARKS = ("stages", "peers", "scaling", "start", "speed", "memory")
FAULTS = ("faults", "laws", "hostile", "fuzz")
REPORTS = {"speed": (BENCHMARKS, write_page), "faults": (FAULTS, write_fault_page)}
FOLDERS = ("scaling", "faults")
"""Benchmarks that write several files."""
TINY = {
    "stages": ("--pairs", "3", "--before", "1"),
    "peers": (
        *("--tiny", "--pairs", "4", "--bertscore-pairs", "4", "--comet-pairs", "2"),
        *("--rounds", "1", "--threads", "1"),
    ),
    "scaling": ("--tiny", "--threads", "1"),
    "start": ("--times", "1", "--rows", "1000", "--models", "small"),
    "speed": ("--pairs", "4", "--threads", "1"),
    "memory": ("--pairs", "50", "--rows", "100", "--models", "small", "--cold", "4", "--stored"),
    "faults": ("--times", "1", "--only", "output"),
    "laws": ("--pairs", "4"),
    "hostile": ("--models", "small", "--only", "25 words"),
    "fuzz": ("--seconds", "2", "--only", "request"),
}
"""Arguments of the smallest sizes, to try everything; peers and scaling take a stand-in for RoMe."""


def command(name: str, folder: Path, tiny: bool) -> list[str]:
    """The words that run one benchmark."""
    target = folder if name in FOLDERS else folder / f"{name}.tsv"
    return [sys.executable, str(HERE / f"{name}.py"), *(TINY[name] if tiny else ()), "--output", str(target)]


def run(names: Sequence[str], folder: Path, tiny: bool = False) -> list[str]:
    """Run the benchmarks one after the other; the names of those that failed."""
    failed = []
    for name in names:
        begin = time.perf_counter()
        code = subprocess.run(command(name, folder, tiny), check=False).returncode
        print(f"{name}: {'done' if code == 0 else f'failed with {code}'} after {time.perf_counter() - begin:.0f} s", flush=True)
        failed += [name] if code else []
    return failed


def main(given: Sequence[str] | None = None) -> int:
    """Run what was asked for, then write the page; 1 when a benchmark failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", choices=REPORTS, default="speed")
    parser.add_argument("--only", nargs="*", choices=(*BENCHMARKS, *FAULTS), metavar="BENCHMARK")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="FOLDER")
    parser.add_argument("--tiny", action="store_true", help="the smallest sizes, to try everything; give another folder")
    options = parser.parse_args(given)
    if options.tiny and options.output.resolve() == RESULTS.resolve():
        parser.error("--tiny would replace the results: give another folder with --output")
    options.output.mkdir(parents=True, exist_ok=True)
    benchmarks, write = REPORTS[options.report]
    failed = run(benchmarks if options.only is None else options.only, options.output, options.tiny)
    print(f"the page: {write(options.output)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())

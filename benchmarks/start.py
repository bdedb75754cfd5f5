"""Measure importing, combining stored features on one core, and `rome score` of one pair.

    python benchmarks/start.py --output benchmarks/results/start.tsv

Every figure is the median of separate processes, after one that warms the disk, with the lowest and the highest.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from result_rows import conditions, write_rows

from rome.combining.combiner import Combiner
from rome.combining.table import FeatureTable

COLUMNS = ("what", "unit", "value", "lowest", "highest", "aim")
AIMS = {"base": 4, "small": 3}
"""Largest seconds of one pair, by model set."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
IMPORT = """
import sys, time
begin = time.perf_counter()
import rome
seconds = time.perf_counter() - begin
heavy = sorted({"torch", "transformers", "stanza", "scipy", "matplotlib"} & set(sys.modules))
if heavy:
    sys.exit(f"import rome loads {', '.join(heavy)}")
print(seconds)
"""
COMBINE = """
import sys, time
import rome
net, table = rome.Combiner.load(), rome.FeatureTable.load(sys.argv[1])
begin = time.perf_counter()
net.combine(table)
print(len(table) / (time.perf_counter() - begin))
"""
COMMAND = "import sys; from rome.cli import main; sys.exit(main())"
"""The installed command `rome`."""


def reported(code: str, *words: str) -> float:
    """Return the number that a separate process prints, with one thread. Raises SystemExit with its last line if it fails."""
    return float(_run(code, *words).stdout.split()[-1])


def taken(*words: str) -> float:
    """Return the seconds of a ``rome`` command as a separate process."""
    begin = time.perf_counter()
    _run(COMMAND, *words, environment={})
    return time.perf_counter() - begin


def _run(code: str, *words: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    given = {**os.environ, **(ONE_THREAD if environment is None else environment)}
    with tempfile.TemporaryDirectory() as here:
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, env=given, cwd=here)
    if done.returncode:
        raise SystemExit(f"{words[0] if words else 'import rome'}: {(done.stderr.splitlines() or ['failed'])[-1]}")
    return done


def row(what: str, unit: str, aim: float, times: int, work: Callable[[], float], scale: float = 1.0) -> list[object]:
    """Return median, lowest and highest of several calls, after a first call unless there is only one."""
    if times > 1:
        work()
    found = [scale * work() for _ in range(times)]
    return [what, unit, median(found), min(found), max(found), aim]


def main(given: Sequence[str] | None = None) -> int:
    """Print and write one row per figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--rows", type=int, default=2_000_000, help="combined")
    parser.add_argument("--models", nargs="+", choices=AIMS, default=list(AIMS), help="of the one pair")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(given)
    notes = [f"medians of {options.times} processes; {conditions()}", f"{options.rows} rows of a table combined, one thread"]
    with tempfile.TemporaryDirectory() as folder:
        table, pair = Path(folder) / "table.parquet", Path(folder) / "pair.tsv"
        values, numbers = np.random.default_rng(0).random((options.rows, 4)), np.arange(options.rows)
        signature = Combiner.load().feature_signature
        FeatureTable(numbers, np.zeros(len(numbers), np.int32), values, values, signature=signature).save(table)
        pair.write_text("reference\thypothesis\nThe cat sat on the mat.\tA cat sat on a mat.\n", encoding="utf-8")
        rows = [
            row("import rome, nothing heavy loaded", "ms", 100, options.times, partial(reported, IMPORT), 1000),
            row("combining stored features", "segments a second", 1_000_000, options.times, partial(reported, COMBINE, str(table))),
            *(
                row(
                    f"rome score of one pair with {models}, the whole process",
                    "seconds",
                    aim,
                    options.times,
                    partial(taken, "score", str(pair), "--models", models),
                )
                for models, aim in AIMS.items()
                if models in options.models
            ),
        ]
    write_rows(options.output, notes, COLUMNS, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Run `rome evaluate` on every development set with all peers, and keep the main figures in one table.

    python benchmarks/human.py --store runs/judging --output benchmarks/results/human.tsv

tau: Kendall's tau-b pooled; per_item: its mean within inputs; pearson: the mean over language pairs where there are several. Intervals: 95 %.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from result_rows import read_rows, write_rows

from rome.cli import main as rome

SETS = ("bagel", "webnlg17", "wmt15", "wmt23", "bagel-mr", "sfhotel", "sfrest")
FIGURES = ("kendall_b", "kendall_b/item", "pairwise_accuracy_calibrated/item", "pearson", "pearson/language_pair", "spearman")
COLUMNS = ("set", "rating", "metric", "tau", "tau_low", "tau_high", "per_item", "acc_eq_star", "pearson", "spearman")


def row_of(cell: dict[str, str]) -> list[str]:
    """Return one row of the table from one of the leaderboards."""
    names = ("kendall_b", "kendall_b_low", "kendall_b_high", "kendall_b/item", "pairwise_accuracy_calibrated/item")
    pearson = cell.get("pearson/language_pair") or cell["pearson"]
    values = [*(cell.get(name, "") for name in names), pearson, cell["spearman"]]
    return [*(cell[name] for name in ("set", "dimension", "metric")), *(value and f"{float(value):.3f}" for value in values)]


def main() -> int:
    """Run the command, print and keep the main figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", help="analyses are kept in this folder between runs")
    parser.add_argument("--output", type=Path, help="write the table here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.tsv"
        store = ["--store", options.store] if options.store else []
        code = rome(["evaluate", *SETS, "--figure", *FIGURES, "-f", "tsv", "-o", str(found), *store])
        cells = read_rows(found)[1]
    if code == 0:
        write_rows(options.output, [], COLUMNS, list(map(row_of, cells)))
    return code


if __name__ == "__main__":
    sys.exit(main())

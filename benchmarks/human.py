"""Does RoMe agree with people? `rome evaluate` on every development set beside all peers; the main figures in one table.

    python benchmarks/human.py --store runs/judging --output benchmarks/results/human.tsv [--report FOLDER]

tau: Kendall's tau-b pooled; per_item: its mean within inputs; pearson: the mean over language pairs where there are several. Intervals: 95 %.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from rome.cli import main as rome

SETS = ("bagel", "webnlg17", "wmt15", "wmt23", "bagel-mr", "sfhotel", "sfrest")
FIGURES = ("kendall_b", "kendall_b/item", "pairwise_accuracy_calibrated/item", "pearson", "pearson/language_pair", "spearman")
COLUMNS = ("set", "rating", "metric", "tau", "tau_low", "tau_high", "per_item", "acc_eq_star", "pearson", "spearman")


def rows(tables: Path) -> list[list[str]]:
    """One row a set, rating and metric, read from the report's leaderboards."""
    found = []
    for name in SETS:
        for path in sorted(tables.glob(f"{name}_*_leaderboard.tsv")):
            rating = path.name.removeprefix(f"{name}_").removesuffix("_leaderboard.tsv")
            header, *lines = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
            for line in lines:
                cell = dict(zip(header, line, strict=True))
                pearson = cell.get("pearson/language_pair") or cell["pearson"]
                names = ("kendall_b", "kendall_b_low", "kendall_b_high", "kendall_b/item", "pairwise_accuracy_calibrated/item")
                values = [*(cell.get(name, "") for name in names), pearson, cell["spearman"]]
                found.append([name, rating, cell["metric"], *(f"{float(value):.3f}" if value else "" for value in values)])
    return found


def main() -> int:
    """Run the command, print its tables, keep the main figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", help="analyses and scores are kept in this folder between runs")
    parser.add_argument("--report", help="keep the whole report here")
    parser.add_argument("--output", type=Path, help="write the table here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = options.report or f"{folder}/report"
        store = ["--store", options.store] if options.store else []
        code = rome(["evaluate", *SETS, "--figure", *FIGURES, "--report", report, *store])
        if code == 0 and options.output:
            lines = ["\t".join(row) for row in (COLUMNS, *rows(Path(report) / "tables"))]
            options.output.parent.mkdir(parents=True, exist_ok=True)
            options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())

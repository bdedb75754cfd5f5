"""What is RoMe blind to? `rome diagnose demetr` on the development half, beside live peers and the published rows.

    python benchmarks/demetr.py --store runs/judging --output benchmarks/results [--report FOLDER]

Keeps the tables of the report that answer the question: table 4, accuracy by kind, severity order, published figures computed again.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from rome.cli import main as rome

METRICS = ("rome", "rome.semantic", "rome.syntax", "rome.grammar", "rome.errors", "bertscore")
PEERS = ("bleu", "chrf", "chrf++", "ter", "meteor", "rouge-2", "rouge-l", "cer", "length", "random")
KEPT = ("demetr_table4", "demetr_by_table1", "demetr_accuracy", "demetr_severity_order", "demetr_published")


def main() -> int:
    """Run the command, print its tables, keep the main ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", help="analyses and scores are kept in this folder between runs")
    parser.add_argument("--report", help="keep the whole report here")
    parser.add_argument("--output", type=Path, help="copy the tables into this folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = options.report or f"{folder}/report"
        store = ["--store", options.store] if options.store else []
        code = rome(["diagnose", "demetr", "--metric", *METRICS, *PEERS, "--report", report, *store])
        if code == 0 and options.output:
            options.output.mkdir(parents=True, exist_ok=True)
            for name in KEPT:
                shutil.copy(Path(report) / "tables" / f"{name}.tsv", options.output / f"{name}.tsv")
    return code


if __name__ == "__main__":
    sys.exit(main())

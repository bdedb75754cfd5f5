"""Run `rome diagnose demetr` on the development half (50 pairs of each kind in the kept tables), beside live peers and the published rows.

    python benchmarks/demetr.py --store runs/judging --limit 50 --output benchmarks/results

Keeps the tables that answer the question: table 4, accuracy by kind, severity order.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from result_rows import write_rows

from rome.cli import main as rome

METRICS = ("rome", "rome.semantic", "rome.syntax", "rome.grammar", "rome.errors", "bertscore")
PEERS = ("bleu", "chrf", "chrf++", "ter", "meteor", "rouge-2", "rouge-l", "cer", "length", "random")
KEPT = ("demetr_table4", "demetr_accuracy", "demetr_severity_order")


def main() -> int:
    """Run the command and keep its main tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", help="analyses are kept in this folder between runs")
    parser.add_argument("--output", type=Path, help="copy the tables into this folder")
    parser.add_argument("--limit", type=int, help="at most so many pairs of each kind")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "found.json"
        store = ["--store", options.store] if options.store else []
        limit = ["--limit", str(options.limit)] if options.limit else []
        words = ["--metric", *METRICS, *PEERS, "--all-tables", "-f", "json", "-o", str(found), *store, *limit]
        code = rome(["diagnose", "demetr", *words])
        tables = json.loads(found.read_text(encoding="utf-8"))["tables"] if code == 0 else {}
    for name in KEPT if options.output else ():
        if name in tables:
            columns, *_ = rows = tables[name]["rows"]
            cells = [["" if cell is None else str(cell) for cell in row.values()] for row in rows]
            write_rows(options.output / f"{name}.tsv", [], list(columns), cells)
    return code


if __name__ == "__main__":
    sys.exit(main())

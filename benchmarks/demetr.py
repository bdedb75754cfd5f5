"""Does RoMe see perturbations? Accuracy on the development half of DEMETR, beside chrF2: the unperturbed translation must score higher.

    python benchmarks/demetr.py --store runs/analyses.sqlite --output benchmarks/results/demetr.tsv

Ties are wrong. Severities follow the paper's table 1: the baselines (empty, shuffled, and the reference itself, which must win) stay out of the means.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from peers import chrf

from rome.data.readers.demetr import read_demetr
from rome.features.values import FEATURES
from rome.metric import RoMe


def main() -> int:
    """Print and write accuracy by kind, and the mean over all items of critical, major, minor and baseline kinds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", help="analyses are kept here between runs")
    parser.add_argument("--items", type=int, default=10**6, help="items of each kind")
    parser.add_argument("--output", type=Path, help="write the table here")
    options = parser.parse_args()
    kinds = defaultdict(list)
    for pair in read_demetr():
        if len(kinds[pair.kind]) < options.items:
            kinds[pair.kind].append(pair)
    pairs = [pair for items in kinds.values() for pair in items]
    references = [pair.reference for pair in pairs]
    rome = RoMe(store=options.store)
    wins: dict[str, np.ndarray] = {}
    good, bad = (
        rome.score(references=references, hypotheses=[getattr(p, side) for p in pairs]) for side in ("translation", "perturbed")
    )
    wins["RoMe"] = np.array([a.score > b.score for a, b in zip(good, bad, strict=True)])
    for feature in FEATURES:
        both = [[getattr(s.components, feature).value for s in result] for result in (good, bad)]
        wins[feature] = np.array(both[0]) > np.array(both[1])
    nested = [[r] for r in references]
    names = np.array([p.kind for p in pairs])
    severities = np.array([p.severity for p in pairs])
    wins["chrF2"] = chrf(nested, [p.translation for p in pairs]) > chrf(nested, [p.perturbed for p in pairs])
    identity = np.array([n.endswith("reference") for n in names])
    wins = {metric: np.where(identity, ~won, won) for metric, won in wins.items()}
    lines = ["\t".join(["kind", "items", *wins])]
    for kind in kinds:
        lines.append(
            "\t".join([kind, str((names == kind).sum()), *(f"{100 * w[names == kind].mean():.2f}" for w in wins.values())])
        )
    for group in ("critical", "major", "minor", ""):
        rows = severities == group if group else severities != "base"
        lines.append("\t".join([group or "all", str(rows.sum()), *(f"{100 * w[rows].mean():.2f}" for w in wins.values())]))
    print("\n".join(lines))
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text("\n".join([f"# {rome.signature}", *lines]) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Does RoMe agree with people? Kendall's tau-b pooled and per item, and Pearson's r, beside peers on the same items.

    python benchmarks/human.py --store runs/analyses.sqlite --output benchmarks/results/human.tsv

Per item is the mean of tau-b within each segment over its systems; r is the mean over language pairs.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from collections.abc import Hashable, Sequence
from pathlib import Path

import numpy as np
from peers import PEERS
from scipy.stats import kendalltau, pearsonr

from rome.data.readers.rated import RatedSegment
from rome.data.readers.registry import read_rated
from rome.features.values import FEATURES
from rome.metric import RoMe

SETS = {"bagel_references": "bagel", "webnlg17_third": "webnlg17", "wmt15_da_to-en": "wmt15", "wmt23_mqm_zh-en_spans": "wmt23"}
"""How the table names a set, by its file -> its short name."""


def grouped(keys: Sequence[Hashable]) -> list[list[int]]:
    """Indices by key."""
    groups = defaultdict(list)
    for n, key in enumerate(keys):
        groups[key].append(n)
    return list(groups.values())


def agreement(metric: np.ndarray, people: np.ndarray, items: Sequence[RatedSegment]) -> tuple[float, float, float]:
    """Pooled tau-b, mean tau-b within segments (nan without several systems), mean Pearson over language pairs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        within = [kendalltau(metric[g], people[g])[0] for g in grouped([i.group for i in items]) if len(g) > 1]
        pearson = [pearsonr(metric[g], people[g])[0] for g in grouped([i.language_pair for i in items])]
    per_item = float(np.nanmean(within)) if len(within) > 10 else float("nan")
    return float(kendalltau(metric, people)[0]), per_item, float(np.mean(pearson))


def scores_of(name: str, rome: RoMe) -> tuple[tuple[RatedSegment, ...], dict[str, np.ndarray]]:
    """The items of a set, and every metric's scores on them."""
    items = read_rated(SETS[name]).segments
    references, hypotheses = [i.references for i in items], [i.hypothesis for i in items]
    result = rome.score(references=references, hypotheses=hypotheses)
    found = {"RoMe": np.array([s.score for s in result])}
    for feature in FEATURES:
        found[feature] = np.array([getattr(s.components, feature).value for s in result])
    return items, found | {peer: function(references, hypotheses) for peer, function in PEERS.items()}


def main() -> int:
    """Print and write one row a set, rating and metric."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", help="analyses are kept here between runs")
    parser.add_argument("--output", type=Path, help="write the table here")
    options = parser.parse_args()
    rome = RoMe(store=options.store)
    lines = ["set\trating\tmetric\ttau\tper_item\tpearson"]
    for name in SETS:
        items, found = scores_of(name, rome)
        for rating in items[0].ratings:
            people = np.array([i.ratings[rating] for i in items])
            for metric, values in found.items():
                lines.append("\t".join([name, rating, metric, *(f"{v:.3f}" for v in agreement(values, people, items))]))
                print(lines[-1], flush=True)
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text("\n".join([f"# {rome.signature}", *lines]) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

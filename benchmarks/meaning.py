"""Meaning before surface: does an acceptable rewrite score above a critical near-copy, under every model set, component and cheap peer?

    python benchmarks/meaning.py --models base small --store runs/meaning --output benchmarks/results/meaning.tsv [--limit 20]

One row a set of groups, model set, metric and kind of falsehood (empty: all kinds): shares of the comparisons in order in percent, with
95 % bootstrap intervals over groups, and mean scores. `rome diagnose meaning` defines them and prints the worst comparisons.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from result_rows import conditions, write_rows

from rome.data.readers.meaning import MEANING_SETS, MeaningGroup, read_meaning
from rome.evaluation.diagnosis.meaning import Meaning, meaning
from rome.evaluation.metrics.cached_scores import ScoreStore
from rome.evaluation.metrics.registry import COMPONENTS, MetricMaker
from rome.metric import RoMe

OWN = ("rome", *COMPONENTS)
PEERS = ("chrf", "chrf++", "bleu", "ter", "meteor", "rouge-l", "bertscore", "length", "random")
KEYS = ("set", "models", "metric", "kind")
SHARES = (
    *("all", "all_low", "all_high", "near>near", "far>far", "far>near", "far>near_low", "far>near_high", "near>far"),
    *("whole", "whole_low", "whole_high"),
)
SCORES = (
    *("acceptable", "acceptable_near", "acceptable_far"),
    *("critical", "critical_near", "critical_far"),
)


def rows_of(name: str, models: str, found: Meaning) -> Iterator[list[object]]:
    """A row a metric, then one a metric and kind where there are kinds."""
    tables = found.to_dict()
    for suffix in ("", "_by_kind"):
        shares, scores = tables.get(f"meaning{suffix}", []), tables.get(f"meaning_scores{suffix}", [])
        for row, means in zip(shares, scores, strict=True):
            values = [row.get(column) for column in SHARES] + [means.get(column) for column in SCORES]
            yield [name, models, row["metric"], row.get("kind", ""), *values]


def asked(models: str, options: argparse.Namespace, names: Sequence[str], sets: dict[str, list[MeaningGroup]]) -> list[Any]:
    """The rows of some metrics, RoMe's own with a model set or peers without one ("")."""
    metric = RoMe(
        **({"models": models} if models else {}),
        store=options.store and options.store / "analyses.sqlite",
        threads=options.threads,
    )
    store = ScoreStore(options.store / "scores.sqlite") if options.store else None
    made, missing = MetricMaker(metric, store).available(names)
    for name, reason in missing.items():
        print(f"left out {name}: {reason}", file=sys.stderr)
    found = {name: meaning(made, groups, samples=options.samples) for name, groups in sets.items()}
    return [row for name, one in found.items() for row in rows_of(name, models, one)]


def main(given: Sequence[str] | None = None) -> int:
    """Print and write one row a set, model set, metric and kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="*", default=["base", "small"], help="names or folders of model sets")
    parser.add_argument("--files", nargs="+", default=list(MEANING_SETS), help="sets of groups, by name or file")
    parser.add_argument("--peers", nargs="*", default=list(PEERS), help="other metrics, as `rome diagnose --metric` names them")
    parser.add_argument("--store", type=Path, help="analyses and scores are kept in this folder between runs")
    parser.add_argument("--samples", type=int, default=1000, help="bootstrap resamples")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=int, help="groups of each kind, to try the script")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(given)
    told = conditions(options.threads)
    if options.store:
        options.store.mkdir(parents=True, exist_ok=True)
    sets = {name: read_meaning(name, options.limit) for name in options.files}
    rows = [row for models in options.models for row in asked(models, options, OWN, sets)]
    rows += asked("", options, options.peers, sets) if options.peers else []
    sizes = ", ".join(f"{name}: {len(groups)} groups" for name, groups in sets.items())
    write_rows(options.output, [f"{told}; {sizes}"], (*KEYS, *SHARES, *SCORES), sorted(rows, key=lambda row: row[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What does each source of pairs add to the reader of both texts? Its second stage of training, with one group a step of each, and with none.

    python benchmarks/synthesis.py --work runs/synthesis
    python benchmarks/sources.py --start runs/errors.work/checkpoint.pt --texts runs/errors.work/texts.jsonl \\
        --agreement runs/errors.work/agreement.jsonl --pairs runs/synthesis/*-0 --work runs/sources --output benchmarks/results/sources.tsv

--start is a checkpoint of the first stage of `rome train errors`; every row goes on from it for --steps steps with the same seed. signals:
first so many steps of BLEURT's signals of all pairs. Figures of the reader alone on development data, which trained nothing; `agreement`
of what it counts, negated, the lowest over the references. Few steps, one seed: differences below some hundredths are noise.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from people import JUDGED, Judged
from result_rows import conditions, write_rows

from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import load_trunk
from rome.train.errors.groups import Groups
from rome.train.errors.net import PairNet, Sides, counts, meaning_figures
from rome.train.errors.recipe import ErrorsOptions, fit
from rome.train.errors.signals import learn_signals
from rome.train.errors.texts import Pool, paraphrases
from rome.train.synthesis.pairs import SyntheticPair, read_synthetic

SIGNALS = "signals, then all"


def follows(judged: Judged, net: PairNet, sides: Sides, limit: int | None) -> float:
    """How well the negated count follows people's ratings."""
    segments = judged.segments(limit)
    found = counts(net, sides, [(reference, s.hypothesis) for s in segments for reference in s.references])
    first = np.cumsum([0, *(len(s.references) for s in segments[:-1])])
    return judged.follows(segments, -np.log1p(np.minimum.reduceat(found, first)))


def arms(folder: Path) -> dict[str, list[SyntheticPair]]:
    """The pairs of each row: none, those of every pipeline that the folder has, all of them, and all again for the signals."""
    files = sorted(path for path in folder.glob("*.jsonl") if "." not in path.stem)
    found = {path.stem: list(read_synthetic(path)) for path in files}
    every = [pair for pairs in found.values() for pair in pairs]
    return {"none": [], **found, "all": every, SIGNALS: every}


def main(given: Sequence[str] | None = None) -> int:
    """Print and write one row a source."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="small", help="the set whose trunk reads")
    parser.add_argument("--start", type=Path, required=True, help="a checkpoint of the first stage")
    parser.add_argument("--texts", type=Path, nargs="+", required=True, help="the texts with their changes of that run")
    parser.add_argument("--agreement", type=Path, required=True, help="the outputs with their agreement of that run")
    parser.add_argument("--pairs", type=Path, required=True, help="a folder with one file of generated pairs a pipeline")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--below", type=int, default=1)
    parser.add_argument("--rank", type=int, default=64)
    parser.add_argument("--rate", type=float, default=8e-4)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=int, help="groups and rated segments of each set, to try the script")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(given)
    told = f"{conditions(options.threads)}; {options.models}, {options.steps} steps, seed {options.seed}"
    torch.set_num_threads(options.threads)
    sizes = {"steps": 0, "later": options.steps, "rate": options.rate, "below": options.below, "rank": options.rank}
    plan = ErrorsOptions(seed=options.seed, **sizes)
    folder = set_folder(options.models) / "encoder"
    sides, pool = Sides(folder, plan.below), Pool(options.texts)
    pairs = paraphrases(options.seed, plan.wikipedia, plan.systems)[: plan.pairs]
    rows: list[list[object]] = []
    columns: list[str] = []
    for name, generated in arms(options.pairs).items():
        work = options.work / name.replace(" ", "_")
        work.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(options.seed)
        net = PairNet(load_trunk(folder), plan.below, plan.rank, plan.above)
        net.load_state_dict(torch.load(options.start, weights_only=True)["model"])
        if name == SIGNALS:
            learn_signals(net, sides, generated, plan.later, plan.rate, options.seed)
        fit(net, sides, Groups(pool, pairs, options.agreement, options.seed, generated), replace(plan, work=work))
        figures = {
            **meaning_figures(net, sides, options.limit),
            **{one.title: follows(one, net, sides, options.limit) for one in JUDGED},
        }
        columns = ["source", "pairs", *figures]
        rows.append([name, len(generated), *figures.values()])
        write_rows(options.output, [told], columns, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())

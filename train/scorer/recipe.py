"""The recipe `rome train scorer`: pairs (TextAttack) or human ratings, features (RoMe itself), net, weights and model card."""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path

import numpy as np

from rome.train.common.recipe import add_models_argument, add_out, card_text, command_line, write_card
from rome.train.common.textattack import Perturber, trunk_vocabulary
from rome.train.scorer.chains import make_pairs
from rome.train.scorer.net import OBJECTIVES, SEVERE_TARGET, ScorerConfig, held_out_mask, is_textattack, train, with_settings
from rome.train.scorer.pairs import TrainingPair, base_pairs, group_pairs, rated_pairs, read_pairs, write_pairs
from rome.train.scorer.supervised import Fitted, fit_ratings, measured
from rome.train.synthesis.severities import load_severity

BASES = {"identity": 360, "system": 300, "reference": 120, "paraphrase": 120, "rated": 600}
"""Clean pairs of each base; each gives three perturbed ones and more, except those with people's ratings of their similarity."""
GROUPS = 500
"""Largest number of annotated groups (see `group_pairs`), whatever ``--bases`` is: about as many as fitted the shipped nets."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome train scorer`."""
    add_out(parser, "scorer", "folder for scorer.safetensors and card.json")
    parser.add_argument("--work", type=Path, default=Path("runs/scorer"), help="folder for pairs and analyses")
    add_models_argument(parser)
    parser.add_argument("--seed", type=int, default=0, help="seed of all random draws (default: 0)")
    parser.add_argument("--pairs", type=Path, help="pairs made before (JSON lines); without it TextAttack makes them")
    parser.add_argument("--objective", choices=OBJECTIVES, help="graded (the default), or binary: RoMe's original objective")
    settings = "change a setting of ScorerConfig; may be repeated"
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help=settings)
    parser.add_argument("--bases", type=float, default=1.0, help="multiplies the number of base pairs (1.0 is 1,500)")
    parser.add_argument("--textattack-python", help="interpreter that has textattack (default: this one)")
    rated = "fit the supervised net on human ratings instead: files or names of rated sets, as `rome evaluate` reads them"
    parser.add_argument("--ratings", nargs="+", metavar="FILE", help=rated)
    parser.add_argument("--dimension", nargs="+", metavar="NAME", help="with --ratings: human dimensions (default: their mean)")


def run(arguments: argparse.Namespace) -> int:
    """Carry the recipe out: write scorer.safetensors and card.json. Raises InputError for settings or files that do not fit."""
    started = time.perf_counter()
    config, combiner, figures, card = fit_ratings(arguments) if arguments.ratings else fit_pairs(arguments)
    arguments.out.mkdir(parents=True, exist_ok=True)
    combiner.save(arguments.out / "scorer.safetensors")
    made = {"seed": config.seed, "steps": config.steps, "seconds": round(time.perf_counter() - started, 1)}
    write_card(arguments.out, **card, **made, recipe=command_line(arguments), figures=figures)
    sys.stderr.write("".join(f"{name}: {value}\n" for name, value in figures.items()))
    return 0


def fit_pairs(arguments: argparse.Namespace) -> Fitted:
    """Make or read the pairs, measure those that the objective uses, and fit the net."""
    config = with_settings(ScorerConfig(seed=arguments.seed, objective=arguments.objective or "graded"), arguments.set)
    file = arguments.pairs or make(arguments)
    pairs = [pair for pair in read_pairs(file) if config.uses(pair)]
    table = measured(arguments, [pair.reference for pair in pairs], [pair.hypothesis for pair in pairs])
    combiner, figures = train(pairs, table, config)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    before = "pairs made before, their making is not in the seconds; " if arguments.pairs else ""
    card = card_text("scorer", before=before, digest=digest, features=combiner.feature_signature or "unknown features")
    return Fitted(config, combiner, figures, card | {"data": described(card["data"], pairs, config)})


def described(sources: Sequence[str], pairs: Sequence[TrainingPair], config: ScorerConfig) -> list[str]:
    """Return the sources, each ``name: text``, of the pairs that fit the net, with their numbers and shares of the weights."""
    kept = [pairs[row] for row in np.flatnonzero(~held_out_mask(pairs, config.held_out)).tolist()]
    counts, shares = Counter[str](), Counter[str]()
    for pair, weight in zip(kept, config.weights(kept).tolist(), strict=True):
        name = "textattack" if is_textattack(pair) else "severe" if pair.operation in SEVERE_TARGET else pair.base
        counts[name] += 1
        shares[name] += weight / len(kept)
    named = {text.partition(":")[0]: text for text in sources}
    return [f"{named[name]}; {counts[name]} pairs, {100 * shares[name]:.1f} % of the loss" for name in named if counts[name]]


def make(arguments: argparse.Namespace) -> Path:
    """Make the pairs with TextAttack, in a process of its own, and return their file in the work folder."""
    seed, file = arguments.seed, arguments.work / "pairs.jsonl"
    counts = {base: max(2, int(count * arguments.bases)) for base, count in BASES.items()}
    arguments.work.mkdir(parents=True, exist_ok=True)
    with closing(Perturber(trunk_vocabulary(), python=arguments.textattack_python)) as perturber:
        others = chain(rated_pairs(counts.pop("rated"), seed), group_pairs(GROUPS, seed))
        bases = base_pairs(counts, seed)
        write_pairs(file, chain(make_pairs(bases, perturber, load_severity(), seed), others))
    return file

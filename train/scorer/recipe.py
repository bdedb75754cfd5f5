"""The recipe `rome train scorer`: pairs (TextAttack) or human ratings, features (RoMe itself), net (torch), weights and model card."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path

import numpy as np

from rome.combining.combiner import Combiner
from rome.combining.table import FeatureTable
from rome.exceptions import InputError
from rome.train.common.recipe import add_models_argument, card_text
from rome.train.common.textattack import Perturber, trunk_vocabulary
from rome.train.scorer.chains import make_pairs
from rome.train.scorer.measuring import Fitted, measured, save
from rome.train.scorer.net import OBJECTIVES, ScorerConfig, fit, held_out_mask, scale_figures
from rome.train.scorer.pairs import (
    TrainingPair,
    agreed_pairs,
    base_pairs,
    group_pairs,
    meaning_pairs,
    rated_pairs,
    read_pairs,
    write_pairs,
)
from rome.train.scorer.supervised import fit_ratings

BASES = {"identity": 360, "system": 300, "reference": 120, "paraphrase": 120}
"""Clean pairs of each base; each gives three perturbed ones and more."""
MEANING = 300
"""Groups of acceptable and false hypotheses (see `meaning_pairs`)."""
GROUPS = 1000
"""Largest number of annotated groups (see `group_pairs`), whatever ``--bases`` is."""
OUTPUTS = 300
"""Segments with real outputs, ranked by their agreement."""
RATED = 600
"""Pairs with people's ratings of their similarity, which are not perturbed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome train scorer`."""
    parser.add_argument("--out", type=Path, required=True, help="folder for scorer.safetensors and card.json")
    parser.add_argument("--work", type=Path, default=Path("runs/scorer"), help="folder for pairs and analyses")
    add_models_argument(parser)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pairs", type=Path, help="pairs made before (JSON lines); without it TextAttack makes them")
    parser.add_argument("--objective", choices=OBJECTIVES, help="graded (the default), or binary: RoMe's original objective")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="change a setting of ScorerConfig")
    parser.add_argument("--bases", type=float, default=1.0, help="multiplies the number of base pairs (1.0 is 900)")
    texts = "texts with their changes, as `rome train errors` makes them (needed to make pairs)"
    parser.add_argument("--texts", type=Path, nargs="+", help=texts)
    agreement = "outputs with their agreement, as `rome train errors` makes them (needed to make pairs)"
    parser.add_argument("--agreement", type=Path, help=agreement)
    parser.add_argument("--textattack-python", help="interpreter that has textattack and rome (default: this one)")
    rated = "fit the supervised net on human ratings instead: files or names of rated sets, as `rome evaluate` reads them"
    parser.add_argument("--ratings", nargs="+", metavar="FILE", help=rated)
    parser.add_argument("--dimension", nargs="+", metavar="NAME", help="with --ratings: human dimensions (default: their mean)")


def run(arguments: argparse.Namespace) -> int:
    """Carry the recipe out. Raises InputError for settings or files that do not fit."""
    started = time.perf_counter()
    fitted = fit_ratings(arguments) if arguments.ratings else fit_pairs(arguments)
    save(arguments, fitted, started)
    return 0


def fit_pairs(arguments: argparse.Namespace) -> Fitted:
    """Make or read the pairs, measure them and fit the net."""
    config = ScorerConfig(seed=arguments.seed, objective=arguments.objective or "graded").with_settings(arguments.set)
    arguments.work.mkdir(parents=True, exist_ok=True)
    pairs = read_pairs(arguments.pairs) if arguments.pairs else make(arguments)
    table = measured(arguments, [pair.reference for pair in pairs], [pair.hypothesis for pair in pairs])
    combiner, figures = train(pairs, table, config)
    before = "pairs made before, their making is not in the seconds; " if arguments.pairs else ""
    card = card_text("scorer", before=before, features=combiner.feature_signature or "unknown features")
    options = [f"--objective {config.objective}", *([] if arguments.bases == 1.0 else [f"--bases {arguments.bases}"])]
    return Fitted(config, combiner, figures, options, card)


def make(arguments: argparse.Namespace) -> list[TrainingPair]:
    """Make the pairs with TextAttack, in a process of its own, and keep them in the work folder."""
    if not arguments.texts or not arguments.agreement:
        raise InputError(
            "making pairs needs --texts and --agreement: name the texts.jsonl and the agreement.jsonl in the work folder of "
            "`rome train errors`"
        )
    seed = arguments.seed

    def scaled(count: int) -> int:
        return max(2, int(count * arguments.bases))

    meaning, groups = meaning_pairs(arguments.texts, scaled(MEANING), seed), group_pairs(GROUPS, seed)
    bases = base_pairs({base: scaled(count) for base, count in BASES.items()}, seed)
    rated, agreed = rated_pairs(scaled(RATED), seed), agreed_pairs(arguments.agreement, scaled(OUTPUTS), seed)
    with closing(Perturber(trunk_vocabulary(), python=arguments.textattack_python)) as perturber:
        perturbed = make_pairs(bases, perturber, seed)
        write_pairs(arguments.work / "pairs.jsonl", chain(perturbed, rated, meaning, groups, agreed))
    return read_pairs(arguments.work / "pairs.jsonl")


def train(pairs: Sequence[TrainingPair], table: FeatureTable, config: ScorerConfig) -> tuple[Combiner, dict[str, float]]:
    """Fit the net on the pairs that are not held out and measure it on the others."""
    out = held_out_mask(pairs, config.held_out)
    if out.all() or not out.any():
        raise InputError(f"{len(pairs)} pairs are too few to hold some out: make more pairs")
    kept, held = ([pairs[row] for row in np.flatnonzero(part).tolist()] for part in (~out, out))
    combiner = fit(table.values[~out], kept, config, table.signature)
    return combiner, scale_figures(combiner.score(table.values[out]), held, config)

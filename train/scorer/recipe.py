"""The recipe `rome train scorer`: pairs (TextAttack) or human ratings, features (RoMe itself), net (torch), weights and model card."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from rome.combining.combiner import Combiner
from rome.combining.table import FeatureTable
from rome.exceptions import InputError
from rome.train.common.recipe import add_models_argument, models_option
from rome.train.scorer.pairs import TrainingPair, agreed_pairs, base_pairs, rated_pairs, read_pairs, write_pairs
from rome.train.scorer.settings import OBJECTIVES, ScorerConfig

BASES = {"identity": 360, "system": 300, "reference": 120, "paraphrase": 120}
"""How many clean pairs of each base the recipe draws; each brings three perturbed ones and more."""
MEANING = 300
"""How many groups of acceptable and false hypotheses come beside them (see `meaning_pairs`)."""
GROUPS = 1000
"""How many annotated groups come beside them at most (see `group_pairs`), whatever ``--bases`` says."""
OUTPUTS = 300
"""How many segments with real outputs come beside them, ranked by their agreement with the others."""
RATED = 600
"""How many pairs with people's ratings of their similarity come beside them; these are not perturbed."""
MODEL_FILE = "scorer.safetensors"
Measure = Callable[[list[Any], list[str]], FeatureTable]
DATA = [
    "Wikipedia sentences (WikiSplit)",
    "WMT22 and WMT23 references and system outputs",
    "MSRP train",
    "STS 2012-2016 without machine translations",
    "WMT22 and WMT23 system outputs, ranked by their agreement with each other",
    "annotated groups that did not teach the reader: acceptable texts, and texts with one or two annotated errors",
    "TextAttack perturbations, and perturbations and harmless changes of our own, of them",
]
LICENCE = (
    "Apache-2.0 (weights); data: CC BY-SA 4.0 (Wikipedia), research use (WMT, MSRP, STS), CC0 (annotated groups; some of their references from "
    "WMT, Wikipedia and UD English EWT, CC BY-SA 4.0)"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the recipe's options to a parser."""
    parser.add_argument("--out", type=Path, required=True, help="folder for scorer.safetensors and card.json")
    parser.add_argument("--work", type=Path, default=Path("runs/scorer"), help="folder for pairs and features made on the way")
    add_models_argument(parser)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pairs", type=Path, help="pairs made before (JSON lines); without it TextAttack makes them")
    parser.add_argument("--features", type=Path, help="feature table of exactly those pairs, made before (Parquet)")
    parser.add_argument("--objective", choices=OBJECTIVES, help="graded (the default), or binary: RoMe's original objective")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="change a setting of ScorerConfig")
    parser.add_argument("--bases", type=float, default=1.0, help="multiplies the number of base pairs (1.0 is 900)")
    texts = "texts with their changes, as `rome train errors` makes them (needed to make pairs)"
    parser.add_argument("--texts", type=Path, nargs="+", help=texts)
    agreement = "outputs with their agreement, as `rome train errors` makes them (likewise)"
    parser.add_argument("--agreement", type=Path, help=agreement)
    parser.add_argument("--textattack-python", help="interpreter that has textattack and rome, when it is another one")
    parser.add_argument("--store", type=Path, help="file that keeps the analyses (default: analyses.sqlite in the work folder)")
    rated = "fit the supervised net on human ratings instead: files or names of rated sets, as `rome evaluate` reads them"
    parser.add_argument("--ratings", nargs="+", metavar="FILE", help=rated)
    parser.add_argument("--dimension", nargs="+", metavar="NAME", help="with --ratings: human dimensions (default: their mean)")


def run(arguments: argparse.Namespace) -> int:
    """Carry the recipe out; 0 when done. Raises InputError for settings or files that do not fit."""
    if arguments.ratings:
        from rome.train.scorer.supervised import run_supervised

        return run_supervised(arguments, measured_table, save)
    started = time.perf_counter()
    if arguments.dimension:
        raise InputError("--dimension names a human dimension: it needs --ratings")
    if arguments.features and not arguments.pairs:
        raise InputError("--features needs --pairs: name the pairs that the features were measured on")
    config = ScorerConfig(seed=arguments.seed, objective=arguments.objective or "graded").with_settings(arguments.set)
    arguments.work.mkdir(parents=True, exist_ok=True)
    pairs = read_pairs(arguments.pairs) if arguments.pairs else make(arguments)
    if arguments.features:
        table = FeatureTable.load(arguments.features)
    else:
        table = measured_table(arguments, [pair.reference for pair in pairs], [pair.hypothesis for pair in pairs])
    combiner, figures = train(pairs, table, config)
    before = "pairs made before, their making is not in the seconds; " if arguments.pairs else ""
    save(
        arguments,
        config,
        combiner,
        figures,
        started,
        [f"--objective {config.objective}", *([] if arguments.bases == 1.0 else [f"--bases {arguments.bases}"])],
        name="scorer",
        task="combine four features into one score: two layers, monotone by construction",
        data=DATA,
        licence=LICENCE,
        notes=f"{before}figures: on held-out pairs; {combiner.feature_signature or 'unknown features'}",
    )
    return 0


def make(arguments: argparse.Namespace) -> list[TrainingPair]:
    """Make the pairs with TextAttack, in a process of its own, and keep them in the work folder."""
    from rome.train.common.textattack import Perturber, trunk_vocabulary
    from rome.train.scorer.chains import make_pairs
    from rome.train.scorer.pairs import group_pairs, meaning_pairs

    if not arguments.texts or not arguments.agreement:
        raise InputError(
            "making pairs needs --texts and --agreement: name the texts.jsonl and the agreement.jsonl that `rome train errors` left in its "
            "work folder"
        )
    meaning = meaning_pairs(arguments.texts, max(2, int(MEANING * arguments.bases)), arguments.seed)
    groups = group_pairs(GROUPS, arguments.seed)
    bases = base_pairs({base: max(2, int(count * arguments.bases)) for base, count in BASES.items()}, arguments.seed)
    with Perturber(trunk_vocabulary(), python=arguments.textattack_python) as perturber:
        rated = rated_pairs(max(2, int(RATED * arguments.bases)), arguments.seed)
        agreed = agreed_pairs(arguments.agreement, max(2, int(OUTPUTS * arguments.bases)), arguments.seed)
        perturbed = make_pairs(bases, perturber, arguments.seed)
        write_pairs(arguments.work / "pairs.jsonl", chain(perturbed, rated, meaning, groups, agreed))
    return read_pairs(arguments.work / "pairs.jsonl")


def rome_features(models: str, store: Path) -> Measure:
    """The measurement of a RoMe with a model set: (references, hypotheses) to a FeatureTable.

    Its analyses are kept in the store, so that measuring again after a change of a feature skips the models.
    """
    from rome.metric import RoMe

    metric = RoMe(models=models, store=store)
    return lambda references, hypotheses: metric.features(references=references, hypotheses=hypotheses)


def measured_table(arguments: argparse.Namespace, references: Sequence[Any], hypotheses: Sequence[str]) -> FeatureTable:
    """The features of hypotheses and their references, as the options say."""
    arguments.work.mkdir(parents=True, exist_ok=True)
    measure = rome_features(arguments.models, arguments.store or arguments.work / "analyses.sqlite")
    return measure_texts(references, hypotheses, measure, arguments.work)


def measure_texts(
    references: Sequence[Any], hypotheses: Sequence[str], measure: Measure, work: Path, chunk: int = 1000
) -> FeatureTable:
    """Measure hypotheses against their references, segment i for hypothesis i, and keep the table as features.parquet in a folder.

    The texts are given in chunks, and progress goes to standard error, because the analysis takes minutes.
    """
    tables = []
    for start in range(0, len(hypotheses), chunk):
        table = measure(list(references[start : start + chunk]), list(hypotheses[start : start + chunk]))
        tables.append(replace(table, segment=table.segment + start))
        sys.stderr.write(f"features of {min(start + chunk, len(hypotheses))} of {len(hypotheses)} pairs\n")
    whole = FeatureTable.concat(tables)
    whole.save(work / "features.parquet")
    return whole


def train(pairs: Sequence[TrainingPair], table: FeatureTable, config: ScorerConfig) -> tuple[Combiner, dict[str, float]]:
    """Fit the net on the pairs that are not held out and measure it on those that are; seconds from a ready table.

    Raises InputError when the table does not have one row for each pair, in their order.
    """
    import numpy as np

    from rome.train.scorer.net import fit, held_out_mask, scale_figures

    if len(table) != len(pairs) or not np.array_equal(table.segment, np.arange(len(pairs))):
        raise InputError(
            f"the feature table has {len(table)} rows for {len(pairs)} pairs: measure exactly these pairs, in order"
        )
    out = held_out_mask(pairs, config.held_out)
    if out.all() or not out.any():
        raise InputError(f"{len(pairs)} pairs are too few to hold some out: make more pairs")
    learned = [pair for pair, kept in zip(pairs, ~out, strict=True) if kept]
    kept_out = [pair for pair, kept in zip(pairs, out, strict=True) if kept]
    combiner = fit(table.values[~out], learned, config, table.signature)
    return combiner, scale_figures(combiner.score(table.values[out]), kept_out, config)


def save(
    arguments: argparse.Namespace,
    config: ScorerConfig,
    combiner: Combiner,
    figures: Mapping[str, Any],
    started: float,
    options: Sequence[str],
    **card: Any,
) -> None:
    """Write scorer.safetensors and card.json into the output folder, and the figures to standard error.

    Parameters
    ----------
    started
        Where the clock stood.
    options
        What else the card's recipe says beside the options that both objectives have.
    """
    from rome.train.common.recipe import write_card

    arguments.out.mkdir(parents=True, exist_ok=True)
    combiner.save(arguments.out / MODEL_FILE)
    told = [*options, *models_option(arguments.models), *(f"--set {setting}" for setting in arguments.set)]
    card["recipe"] = " ".join([f"rome train scorer --out {arguments.out.name} --seed {config.seed}", *told])
    seconds = round(time.perf_counter() - started, 1)
    write_card(arguments.out, seed=config.seed, steps=config.steps, seconds=seconds, figures=figures, **card)
    sys.stderr.write("".join(f"{name}: {value}\n" for name, value in figures.items()))

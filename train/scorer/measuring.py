"""Features of training texts, and the files of a finished net."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from rome.combining.combiner import Combiner
from rome.combining.table import FeatureTable
from rome.metric import RoMe
from rome.train.common.recipe import models_option, write_card
from rome.train.scorer.net import ScorerConfig

MODEL_FILE = "scorer.safetensors"


def measured(arguments: argparse.Namespace, references: Sequence[Any], hypotheses: Sequence[str]) -> FeatureTable:
    """Return the features of hypotheses and their references, segment i for hypothesis i; keep them in the work folder.

    Analyses are kept in the store, so that measuring again after a change of a feature skips the models.
    """
    arguments.work.mkdir(parents=True, exist_ok=True)
    metric = RoMe(models=arguments.models, store=arguments.store or arguments.work / "analyses.sqlite")
    table = metric.features(references=references, hypotheses=hypotheses)
    table.save(arguments.work / "features.parquet")
    return table


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
        Time of the start by time.perf_counter.
    options
        Options of the card's recipe beside those of both objectives.
    """
    arguments.out.mkdir(parents=True, exist_ok=True)
    combiner.save(arguments.out / MODEL_FILE)
    options = [*options, *models_option(arguments.models), *(f"--set {setting}" for setting in arguments.set)]
    card["recipe"] = " ".join([f"rome train scorer --out {arguments.out.name} --seed {config.seed}", *options])
    seconds = round(time.perf_counter() - started, 1)
    write_card(arguments.out, seed=config.seed, steps=config.steps, seconds=seconds, figures=figures, **card)
    sys.stderr.write("".join(f"{name}: {value}\n" for name, value in figures.items()))

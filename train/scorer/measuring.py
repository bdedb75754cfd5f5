"""Features of training texts, and the files of a finished net."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rome.combining.combiner import Combiner
from rome.combining.table import FeatureTable
from rome.metric import RoMe
from rome.train.common.recipe import write_card
from rome.train.scorer.net import ScorerConfig

MODEL_FILE = "scorer.safetensors"


def measured(arguments: argparse.Namespace, references: Sequence[Any], hypotheses: Sequence[str]) -> FeatureTable:
    """Return the features of hypotheses and their references, segment i for hypothesis i.

    Analyses are kept in the work folder, so that measuring again after a change of a feature skips the models.
    """
    arguments.work.mkdir(parents=True, exist_ok=True)
    metric = RoMe(models=arguments.models, store=arguments.work / "analyses.sqlite")
    return metric.features(references=references, hypotheses=hypotheses)


class Fitted(NamedTuple):
    """A finished net with its figures, its own options in the recipe of the card, and the texts of the card."""

    config: ScorerConfig
    combiner: Combiner
    figures: Mapping[str, Any]
    options: Sequence[str]
    card: Mapping[str, Any]


def save(arguments: argparse.Namespace, fitted: Fitted, started: float) -> None:
    """Write scorer.safetensors and card.json into the output folder, and the figures to standard error.

    Parameters
    ----------
    started
        Time of the start by time.perf_counter.
    """
    config, figures = fitted.config, fitted.figures
    arguments.out.mkdir(parents=True, exist_ok=True)
    fitted.combiner.save(arguments.out / MODEL_FILE)
    options = [*fitted.options, f"--models {Path(arguments.models).name}", *(f"--set {setting}" for setting in arguments.set)]
    recipe = " ".join([f"rome train scorer --out {arguments.out.name} --seed {config.seed}", *options])
    made = {"recipe": recipe, "seed": config.seed, "steps": config.steps, "seconds": round(time.perf_counter() - started, 1)}
    write_card(arguments.out, **fitted.card, **made, figures=figures)
    sys.stderr.write("".join(f"{name}: {value}\n" for name, value in figures.items()))

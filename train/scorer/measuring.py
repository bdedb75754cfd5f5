"""Features of training texts, and what a finished net has besides its weights."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rome.combining.combiner import Combiner
from rome.combining.fitting import NetSettings
from rome.combining.table import FeatureTable
from rome.metric import RoMe


def measured(arguments: argparse.Namespace, references: Sequence[Any], hypotheses: Sequence[str]) -> FeatureTable:
    """Return the features of hypotheses and their references, segment i for hypothesis i.

    Analyses are kept in the work folder, so that measuring again after a change of a feature skips the models.
    """
    arguments.work.mkdir(parents=True, exist_ok=True)
    metric = RoMe(models=arguments.models, store=arguments.work / "analyses.sqlite")
    return metric.features(references=references, hypotheses=hypotheses)


class Fitted(NamedTuple):
    """A finished net with its figures and the texts of its card."""

    config: NetSettings
    combiner: Combiner
    figures: Mapping[str, Any]
    card: Mapping[str, Any]

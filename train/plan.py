"""What the recipes that train a head share: their options, the two folders, and how a run's sizes stand in its card."""

from __future__ import annotations

import argparse
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from rome.features.analyser.config import DEFAULT_SET, SETS

__all__ = ["add_models_argument", "add_plan_arguments", "changed_options", "folders", "models_option", "plan_of"]


class PlanLike(Protocol):
    """A dataclass of numbers with defaults: the sizes of one training run."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


Plan = TypeVar("Plan", bound=PlanLike)


def add_plan_arguments(parser: argparse.ArgumentParser, plan: PlanLike, *, but: tuple[str, ...] = ()) -> None:
    """--out, --work, --seed, --threads, and an option for every field of the plan, with its default. but : fields left to the recipe."""
    parser.add_argument("--out", type=Path, required=True, help="folder for the weights and the model card")
    parser.add_argument("--work", type=Path, default=None, help="folder for all that is made on the way (default: OUT.work)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1, help="CPU threads; the same number gives the same model")
    for field in fields(plan):
        if field.name not in but:
            value = getattr(plan, field.name)
            parser.add_argument("--" + field.name.replace("_", "-"), type=type(value), default=value)


def add_models_argument(parser: argparse.ArgumentParser) -> None:
    """--models, of recipes that need a model set: its trunk, its word weights, or all of it."""
    text = f"the model set to train for: {', '.join(SETS)} or a folder (default: {DEFAULT_SET})"
    parser.add_argument("--models", default=DEFAULT_SET, metavar="SET", help=text)


def models_option(models: str) -> list[str]:
    """What a card's recipe says of the model set: the option by the set's name."""
    return [f"--models {Path(models).name}"]


def plan_of(arguments: argparse.Namespace, kind: type[Plan]) -> Plan:
    """The plan that parsed options describe."""
    return kind(**{field.name: getattr(arguments, field.name) for field in fields(kind)})


def folders(arguments: argparse.Namespace) -> tuple[Path, Path]:
    """The folders of the result and of what is made on the way, both made."""
    out = Path(arguments.out)
    work = Path(arguments.work or out.with_name(out.name + ".work"))
    for folder in (out, work):
        folder.mkdir(parents=True, exist_ok=True)
    return out, work


def changed_options(plan: PlanLike) -> list[str]:
    """The options that make this plan from the default one."""
    values = ((field, getattr(plan, field.name)) for field in fields(plan))
    return [f"--{field.name.replace('_', '-')} {value}" for field, value in values if value != field.default]

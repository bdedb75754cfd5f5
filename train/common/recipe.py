"""What the recipes share: their options, the two folders, and the model card, which says what a model was made of, how, and how good it is."""

from __future__ import annotations

import argparse
import json
import os
import platform
from dataclasses import Field, fields
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Protocol, TypeVar

import torch

from rome.features.analyser.config import DEFAULT_SET, SETS

__all__ = [
    "add_models_argument",
    "add_plan_arguments",
    "changed_options",
    "folder_size",
    "folders",
    "machine",
    "models_option",
    "plan_of",
    "read_card",
    "write_card",
]


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


CARD_FILE = "card.json"
RECIPES = {"encoder": "encoder", "idf": "idf", "trees": "parser.trees"}
"""Modules of the recipes that are not called ``NAME.recipe``."""
FIELDS = ("name", "task", "data", "licence", "recipe", "seed", "steps", "seconds", "machine", "size_bytes", "figures", "notes")


def load_recipe(name: str) -> ModuleType:
    """The module of a recipe of `rome train`: its options, and what carries it out."""
    return import_module(f"rome.train.{RECIPES.get(name, f'{name}.recipe')}")


def machine() -> str:
    """This machine in words: processor, number of CPUs, torch's version and threads."""
    return f"{_processor()}, {os.cpu_count()} CPUs, torch {torch.__version__} with {torch.get_num_threads()} thread(s)"


def folder_size(folder: Path) -> int:
    """Bytes of all files below a folder, the card itself left out."""
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file() and path.name != CARD_FILE)


def write_card(folder: Path, **fields: Any) -> Path:
    """Write card.json into a folder and return its path.

    Every field of FIELDS is present, in that order; ``machine`` and ``size_bytes`` are filled in when they are not given,
    anything else missing is null. Raises TypeError for a field that cards do not have.
    """
    unknown = sorted(set(fields) - set(FIELDS))
    if unknown:
        raise TypeError(f"a card has no field {', '.join(unknown)}: the fields are {', '.join(FIELDS)}")
    fields.setdefault("machine", machine())
    fields.setdefault("size_bytes", folder_size(folder))
    path = Path(folder) / CARD_FILE
    card = {name: fields.get(name) for name in FIELDS}
    path.write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def read_card(folder: Path) -> dict[str, Any]:
    """Read the card of a model's folder as a dictionary."""
    card: dict[str, Any] = json.loads((Path(folder) / CARD_FILE).read_text(encoding="utf-8"))
    return card


def _processor() -> str:
    """The processor's name from /proc/cpuinfo, else what the platform module knows."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()

"""Options, folders and model cards of the recipes; a card describes the data, the making and the figures of a model."""

from __future__ import annotations

import argparse
import inspect
import json
import os
import platform
import re
import shlex
from dataclasses import dataclass, fields
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import torch

from rome.exceptions import ModelMissingError
from rome.features.analyser.config import DEFAULT_SET, SETS


@dataclass(frozen=True)
class TrainingOptions:
    """Options of every recipe with a training loop; subclasses add fields, steps and rate of their own.

    Attributes
    ----------
    out, work
        Folders for the result and for intermediate files.
    threads
        Of the processor.
    models
        The model set to train for, if a recipe needs one.
    every
        Steps between checkpoints.
    resume
        True to continue from the checkpoint in the work folder.
    steps
        Steps of the optimizer.
    rate
        The highest learning rate.
    command
        The command line of the run, for its card.
    """

    out: Path = Path()
    work: Path = Path()
    seed: int = 0
    threads: int = 1
    models: str = ""
    every: int = 100
    resume: bool = False
    steps: int = 0
    rate: float = 0.0
    command: str = ""


Options = TypeVar("Options", bound=TrainingOptions)
SHARED = ("out", "work", "seed", "threads", "models", "every", "resume", "command")
"""Options of a run that are not numbers of a recipe."""
LOCAL = ("out", "work", "threads", "resume", "parser")
"""Arguments that a card does not name; it always names the next two."""
ALWAYS = ("seed", "models")


def add_out(parser: argparse.ArgumentParser, name: str, text: str = "folder for the weights and the model card") -> None:
    """Add --out, and let the arguments of a recipe know its name and its defaults, see `command_line`."""
    parser.prog = f"rome train {name}"
    parser.set_defaults(parser=parser)
    parser.add_argument("--out", type=Path, required=True, help=text)


def command_line(arguments: argparse.Namespace) -> str:
    """Return the command line of a run for its card: every option that was changed; files by their names."""
    words = [arguments.parser.prog, "--out FOLDER"]
    for name, value in vars(arguments).items():
        default = arguments.parser.get_default(name)
        if name not in LOCAL and value is not None and (value != default or name in ALWAYS):
            given = value if isinstance(value, list) else [] if value is True else [value]
            for each in given if given and isinstance(given[0], list) else [given]:
                texts = (re.sub(r"[^,:=]*/", "", str(one)) for one in each)
                words.append(" ".join([f"--{name.replace('_', '-')}", *map(shlex.quote, texts)]))
    return " ".join(words)


def add_training_arguments(
    parser: argparse.ArgumentParser, name: str, kind: type[TrainingOptions], *, models: bool = False, resumed: bool = False
) -> None:
    """Add --out, --work, --seed, --threads, an option for every number of a recipe, and --models and --resume where wanted.

    The help of an option is its entry below ``Attributes`` in the docstring of the class.
    """
    add_out(parser, name)
    parser.add_argument("--work", type=Path, default=None, help="folder for intermediate files (default: OUT.work)")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random draws (default: 0)")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads; the same number gives the same model")
    texts = _help_texts(kind)
    for option, value in vars(kind()).items():
        if option not in SHARED:
            text = f"{texts.get(option, '')} (default: {'none' if value == '' else value})".replace("%", "%%").strip()
            parser.add_argument("--" + option.replace("_", "-"), type=type(value), help=text)
    if models:
        add_models_argument(parser)
    if resumed:
        parser.add_argument("--resume", action="store_true", help="continue from the checkpoint in the work folder")


def _help_texts(kind: type[TrainingOptions]) -> dict[str, str]:
    """Return the texts of the attributes in the docstrings of a class and its bases, by name."""
    texts: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        attributes = inspect.cleandoc(one.__doc__ or "").partition("Attributes\n----------\n")[2]
        for entry in re.split(r"\n(?=\S)", attributes):
            names, _, text = entry.partition("\n")
            texts |= dict.fromkeys(names.split(", "), " ".join(text.split()).removesuffix("."))
    return texts


def add_models_argument(parser: argparse.ArgumentParser) -> None:
    """Add --models, for recipes that need a model set: its trunk, its word weights, or all of it."""
    text = f"the model set to train for: {', '.join(SETS)} or a folder (default: {DEFAULT_SET})"
    parser.add_argument("--models", default=DEFAULT_SET, metavar="SET", help=text)


def read_options(arguments: argparse.Namespace, kind: type[Options]) -> Options:
    """Return the options of a run; make its two folders, and set the threads of torch."""
    torch.set_num_threads(arguments.threads)
    given = {field.name: getattr(arguments, field.name, None) for field in fields(kind)}
    given = {name: value for name, value in given.items() if value is not None}
    work = arguments.work or arguments.out.with_name(arguments.out.name + ".work")
    options = kind(**{**given, "work": work, "command": command_line(arguments)})
    for folder in (options.out, options.work):
        folder.mkdir(parents=True, exist_ok=True)
    return options


def provenance(options: TrainingOptions, steps: int, seconds: int) -> dict[str, Any]:
    """Return for a card how a model was made: the command line, seed, steps and seconds."""
    return {"recipe": options.command, "seed": options.seed, "steps": steps, "seconds": seconds}


def card_text(model: str, **values: object) -> dict[str, Any]:
    """Return the texts of a model in cards.json: name, task, data, licence and notes, with the given values filled in."""
    text = json.loads((Path(__file__).parent / "cards.json").read_text(encoding="utf-8"))[model]
    filled = {field: value.format(**values) for field, value in text.items() if field != "data"}
    return {**filled, "data": [each.format(**values) for each in text["data"]]}


CARD_FILE = "card.json"
RECIPES = {"encoder": "encoder", "idf": "idf", "fill": "fill", "trees": "parser.trees"}
"""Modules of the recipes that are not called ``NAME.recipe``."""
FIELDS = ("name", "task", "data", "licence", "recipe", "seed", "steps", "seconds", "machine", "size_bytes", "figures", "notes")


def check_packages(*modules: str) -> None:
    """Raise ModelMissingError, with the install line, for modules that are missing, before any work begins."""
    if missing := [name for name in modules if find_spec(name) is None]:
        raise ModelMissingError(f"this training needs {', '.join(missing)}: run `pip install 'rome-metric[train]'`")


def load_recipe(name: str) -> ModuleType:
    """Return the module of a recipe of `rome train`."""
    return import_module(f"rome.train.{RECIPES.get(name, f'{name}.recipe')}")


def machine() -> str:
    """Return this machine in words: processor, number of CPUs, torch's version and threads."""
    info = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*: (.*)", info.read_text() if info.is_file() else "", re.MULTILINE)
    processor = found[1] if found else platform.processor() or platform.machine()
    return f"{processor}, {os.cpu_count()} CPUs, torch {torch.__version__} with {torch.get_num_threads()} thread(s)"


def folder_size(folder: Path) -> int:
    """Return the bytes of all files below a folder, without the card."""
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file() and path.name != CARD_FILE)


def write_card(folder: Path, **fields: Any) -> Path:
    """Write card.json into a folder and return its path.

    It has every field of FIELDS, in that order: ``machine`` and ``size_bytes`` are computed, any other missing one is null.
    """
    fields = {"machine": machine(), "size_bytes": folder_size(folder), **fields}
    path = Path(folder) / CARD_FILE
    card = {name: fields.get(name) for name in FIELDS}
    path.write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def write_training_card(
    name: str, options: TrainingOptions, steps: int, seconds: int, figures: object, *, recipe: str = "", **values: object
) -> None:
    """Write the card of a recipe with one model.

    Parameters
    ----------
    recipe
        Command lines (default: those of this run).
    values
        Values for its texts in cards.json.
    """
    made = provenance(options, steps, seconds) | ({"recipe": recipe} if recipe else {})
    write_card(options.out, **card_text(name, **values), **made, figures=figures)


def read_card(folder: Path) -> dict[str, Any]:
    """Read the card of a model's folder."""
    card: dict[str, Any] = json.loads((Path(folder) / CARD_FILE).read_text(encoding="utf-8"))
    return card

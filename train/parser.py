"""`rome train parser`: train tokenizer, multi-word expander and lemmatizer on UD English EWT, and export them.

Each stage runs Stanza's own training code (train/stanza_stages.py). A stage that has finished in the work folder is not run again.
Only the treebank's training part trains; its development part chooses the best checkpoint and gives the figures of the model cards,
from raw text, with the tags of a model set (train/base.py and train/trees.py make those).
"""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path
from typing import Any

from stanza.utils.datasets import conllu_to_text

from rome.data.sources import data_file
from rome.exceptions import InputError
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import load_encoder
from rome.features.analyser.parser import embedded_parser
from rome.train.card import write_card
from rome.train.plan import add_models_argument
from rome.train.stanza_export import export_model
from rome.train.stanza_scores import raw_text_scores
from rome.train.stanza_stages import STAGES, Sizes, Stages

__all__ = ["QUICK", "add_arguments", "run"]

QUICK = Sizes(tokenizer_steps=1000, mwt_epochs=2, lemmatizer_epochs=1)
TASKS = {
    "tokenizer": "splits raw text into sentences and tokens",
    "mwt": "expands multi-word tokens (don't = do + n't)",
    "lemmatizer": "gives each word its dictionary form",
}
FIGURES = {"tokenizer": ("Tokens", "Sentences"), "mwt": ("Words",), "lemmatizer": ("Lemmas",)}
NOTES = {"tokenizer": "Steps are batches.", "mwt": "Steps are epochs.", "lemmatizer": "Steps are epochs."}
JUDGED = "F1 in percent on EWT dev from raw text, all three models together, tags from a model set (CoNLL 2018 evaluation)."
DATA = "UD English EWT train (CC BY-SA 4.0)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `rome train parser`."""
    parser.add_argument("--out", type=Path, required=True, help="folder that gets one folder a model")
    parser.add_argument("--data", type=Path, help="folder of train.conllu and dev.conllu (default: ud_english_ewt)")
    add_models_argument(parser)
    parser.add_argument("--work", type=Path, help="folder for checkpoints (default: runs/parser beside the output)")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES), help="stages to train (default: all)")
    parser.add_argument("--quick", action="store_true", help="the quickest honest models")
    parser.add_argument("--limit", type=int, help="train on the first LIMIT sentences only")
    parser.add_argument("--seed", type=int, default=0)
    for field in fields(Sizes):
        parser.add_argument("--" + field.name.replace("_", "-"), type=int, metavar="N")


def run(arguments: argparse.Namespace) -> int:
    """Train the chosen stages, export all three models, evaluate them on raw text and write their cards; 0 when done."""
    train, dev = treebank(arguments)
    work = arguments.work or arguments.out.parent / "runs" / "parser"
    stages = Stages(train, dev, work, seed=arguments.seed)
    for stage in arguments.stages:
        stages.run(stage, _size(arguments, stage))
    export(stages, arguments.out, set_folder(arguments.models))
    return 0


def treebank(arguments: argparse.Namespace) -> tuple[Path, Path]:
    """The two files of the treebank, the first cut to --limit sentences. Raises InputError when they are absent."""
    folder = arguments.data or data_file("ud_english_ewt/train.conllu").parent
    train, dev = folder / "train.conllu", folder / "dev.conllu"
    for path in (train, dev):
        if not path.is_file():
            raise InputError(f"{path} is missing: give the folder that holds train.conllu and dev.conllu as --data")
    if arguments.limit:
        work = arguments.work or arguments.out.parent / "runs" / "parser"
        work.mkdir(parents=True, exist_ok=True)
        sentences = train.read_text(encoding="utf-8").strip().split("\n\n")[: arguments.limit]
        train = work / f"train_{arguments.limit}.conllu"
        train.write_text("\n\n".join(sentences) + "\n\n", encoding="utf-8")
    return train, dev


def export(stages: Stages, out: Path, models: Path) -> dict[str, float]:
    """Write the three models with their cards and return the figures from the development part's raw text."""
    for stage in STAGES:
        export_model(stages.model(stage), Path(out) / stage / f"{stage}.pt")
    figures = evaluate(stages, out, models)
    for stage in STAGES:
        done = stages.done(stage)
        write_card(
            Path(out) / stage,
            name=f"rome-en-{stage}",
            task=TASKS[stage],
            data=[DATA],
            licence="CC BY-SA 4.0",
            recipe=_command(stages, stage, done),
            seed=stages.seed,
            steps=done.get("size", 0),
            seconds=done.get("seconds", 0),
            figures={name: figures[name] for name in FIGURES[stage]},
            notes=f"{JUDGED} {NOTES[stage]}",
        )
    return figures


def _command(stages: Stages, stage: str, done: dict[str, Any]) -> str:
    """The command that trains one model."""
    return f"rome train parser --out FOLDER --stages {stage} {_flag(stage)} {done.get('size')} --seed {stages.seed}"


def evaluate(stages: Stages, out: Path, models: Path) -> dict[str, float]:
    """Score exported models on the raw text of the development part. models : the set whose trunk and trees give the tags."""
    text = stages.work / "dev_raw.txt"
    conllu_to_text.main([str(stages.dev), str(text)])
    parser = embedded_parser(out, load_encoder(models / "encoder"), models / "trees")
    return raw_text_scores(parser, text.read_text(encoding="utf-8"), stages.dev)


def _flag(stage: str) -> str:
    """The option that sets a stage's length."""
    return "--" + next(field.name for field in fields(Sizes) if field.name.startswith(stage)).replace("_", "-")


def _size(arguments: argparse.Namespace, stage: str) -> int:
    """A stage's length: what the command line says, else the quick or the full one."""
    given = getattr(arguments, _flag(stage)[2:].replace("-", "_"))
    return int(given if given is not None else (QUICK if arguments.quick else Sizes()).of(stage))

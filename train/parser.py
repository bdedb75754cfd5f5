"""`rome train parser`: train tokenizer, multi-word expander, lemmatizer, tagger and parser on UD English EWT, and export them.

Each stage runs Stanza's own training code (train/stanza_stages.py). A stage that has finished in the work folder is not run
again, so an interrupted training continues where it stopped. Only the treebank's training part trains; its development part
chooses the best checkpoint and gives the figures of the model cards, from raw text.
"""

from __future__ import annotations

import argparse
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from stanza.utils.datasets import conllu_to_text

from rome.data.sources import data_file
from rome.exceptions import InputError
from rome.features.analyser.encoder import load_tokenizer, load_trunk
from rome.features.analyser.memo import MemoisedTrunk
from rome.features.analyser.parser import Parser
from rome.train.card import write_card
from rome.train.stanza_export import export_model
from rome.train.stanza_scores import raw_text_scores
from rome.train.stanza_stages import SHIPPED, STAGES, Sizes, Stages

__all__ = ["QUICK", "add_arguments", "run"]

QUICK = Sizes(
    tokenizer_steps=1000, mwt_epochs=2, lemmatizer_epochs=1, draft_steps=200, tagger_steps=400, gold_steps=400, parser_steps=100
)
TASKS = {
    "tokenizer": "splits raw text into sentences and tokens",
    "mwt": "expands multi-word tokens (don't = do + n't)",
    "lemmatizer": "gives each word its dictionary form",
    "tagger": "parts of speech (UPOS, XPOS) and morphological features, from the encoder's trunk",
    "parser": "dependency trees (Universal Dependencies), from the encoder's trunk",
}
FIGURES = {
    "tokenizer": ("Tokens", "Sentences"),
    "mwt": ("Words",),
    "lemmatizer": ("Lemmas",),
    "tagger": ("UPOS", "XPOS", "UFeats"),
    "parser": ("UAS", "LAS"),
}
NOTES = {
    "tokenizer": "Steps are batches.",
    "mwt": "Steps are epochs.",
    "lemmatizer": "Steps are epochs.",
    "tagger": "Steps are batches. Reads the frozen trunk of the encoder.",
    "parser": "Steps are batches, those on gold tags included. Reads the frozen trunk of the encoder, UPOS and XPOS.",
}
JUDGED = "F1 in percent on EWT dev from raw text, all five models together (CoNLL 2018 evaluation)."
DATA = "UD English EWT train (CC BY-SA 4.0)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `rome train parser`."""
    parser.add_argument("--out", type=Path, required=True, help="folder that gets one folder a model")
    parser.add_argument("--data", type=Path, help="folder of train.conllu and dev.conllu (default: ud_english_ewt)")
    parser.add_argument("--encoder", type=Path, help="folder of the encoder (default: the embedded one)")
    parser.add_argument("--work", type=Path, help="folder for checkpoints (default: runs/parser beside the output)")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES), help="stages to train (default: all)")
    parser.add_argument("--quick", action="store_true", help="the quickest honest models, half an hour on one core")
    parser.add_argument("--limit", type=int, help="train on the first LIMIT sentences only")
    parser.add_argument("--seed", type=int, default=0)
    for field in fields(Sizes):
        parser.add_argument("--" + field.name.replace("_", "-"), type=int, metavar="N")


def run(arguments: argparse.Namespace) -> int:
    """Train the chosen stages, export all five models, evaluate them on raw text and write their cards; 0 when done."""
    train, dev = treebank(arguments)
    work = arguments.work or arguments.out.parent / "runs" / "parser"
    encoder = arguments.encoder or Path(str(files("rome.data"))) / "models" / "en" / "encoder"
    stages = Stages(train, dev, work, encoder, seed=arguments.seed)
    for stage in arguments.stages:
        stages.run(stage, _size(arguments, stage))
    export(stages, arguments.out)
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


def export(stages: Stages, out: Path) -> dict[str, float]:
    """Write the five models with their cards and return the figures from the development part's raw text."""
    for stage in SHIPPED:
        export_model(stages.model(stage), Path(out) / stage / f"{stage}.pt")
    figures = evaluate(stages, out)
    for stage in SHIPPED:
        done = stages.done(stage)
        parts = [done, stages.done("gold")] if stage == "parser" else [done]
        write_card(
            Path(out) / stage,
            name=f"rome-en-{stage}",
            task=TASKS[stage],
            data=[DATA],
            licence="CC BY-SA 4.0",
            recipe=_command(stages, stage),
            seed=stages.seed,
            steps=sum(part.get("size", 0) for part in parts),
            seconds=sum(part.get("seconds", 0) for part in parts),
            figures={name: figures[name] for name in FIGURES[stage]},
            notes=f"{JUDGED} {NOTES[stage]}{_runs(parts)}",
        )
    return figures


def _command(stages: Stages, stage: str) -> str:
    """The command that trains one shipped model, the stages before it included."""
    needed = ("draft", "gold", "parser") if stage == "parser" else (stage,)
    lengths = " ".join(f"{_flag(name)} {stages.done(name).get('size')}" for name in needed)
    return f"rome train parser --out FOLDER --stages {' '.join(needed)} {lengths} --seed {stages.seed}"


def _runs(parts: list[dict[str, Any]]) -> str:
    """A sentence for a model whose training was interrupted and went on."""
    runs = max(part.get("runs", 1) for part in parts)
    return f" Trained in {runs} runs, each from the checkpoint of the one before." if runs > 1 else ""


def evaluate(stages: Stages, out: Path) -> dict[str, float]:
    """Score exported models on the raw text of the development part."""
    text = stages.work / "dev_raw.txt"
    conllu_to_text.main([str(stages.dev), str(text)])
    trunk = MemoisedTrunk(load_trunk(stages.encoder))
    parser = Parser(out, trunk, load_tokenizer(stages.encoder))
    return raw_text_scores(parser, text.read_text(encoding="utf-8"), stages.dev)


def _flag(stage: str) -> str:
    """The option that sets a stage's length."""
    return "--" + next(field.name for field in fields(Sizes) if field.name.startswith(stage)).replace("_", "-")


def _size(arguments: argparse.Namespace, stage: str) -> int:
    """A stage's length: what the command line says, else the quick or the full one."""
    given = getattr(arguments, _flag(stage)[2:].replace("-", "_"))
    return int(given if given is not None else (QUICK if arguments.quick else Sizes()).of(stage))

"""Train tokenizer, multi-word expander and lemmatizer on UD English EWT, and export them.

Each stage runs Stanza's own training code.
Only the training part of the treebank trains; its development part chooses the best checkpoint and gives the figures of the model cards,
from raw text, with the tags of a model set (train/base and train/parser/trees.py make those).
"""

from __future__ import annotations

import argparse
import io
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from stanza.models import lemmatizer, mwt_expander, tokenizer
from stanza.utils.datasets import conllu_to_text, prepare_tokenizer_data
from udtools import udeval

from rome.data.sources import data_file
from rome.exceptions import InputError
from rome.features.analyser.config import part_folder, set_folder
from rome.features.analyser.encoder import load_encoder
from rome.features.analyser.parser import ParsedSentence, ParsedWord, Parser, embedded_parser
from rome.features.analyser.weights import save_checkpoint
from rome.train.common.recipe import add_models_argument, add_out, card_text, command_line, write_card


class Stage(NamedTuple):
    """One of Stanza's models.

    Attributes
    ----------
    main, settings
        Entry point of Stanza, and its command line.
    length, size
        Option of the length of training, and its default: an epoch is one pass over the treebank, a step one batch.
    figures
        Figures of METRICS for its card.
    """

    main: Callable[[list[str]], Any]
    settings: str
    length: str
    size: int
    figures: tuple[str, ...]


STAGES = {
    "tokenizer": Stage(
        tokenizer.main, "--hidden_dim 64 --max_seqlen 300 --batch_size 32 --eval_steps 500", "--tokenizer-steps", 3000,
        ("Tokens", "Sentences"),
    ),
    "mwt": Stage(mwt_expander.main, "--batch_size 50", "--mwt-epochs", 4, ("Words",)),
    "lemmatizer": Stage(
        lemmatizer.main, "--hidden_dim 128 --batch_size 100 --decay_epoch 3 --lr_decay 0.7", "--lemmatizer-epochs", 3,
        ("Lemmas",),
    ),
}  # fmt: skip


class Stages:
    """Trains the stages into a work folder.

    Parameters
    ----------
    train, dev
        CoNLL-U files; dev only chooses the best checkpoint.
    """

    def __init__(self, train: Path, dev: Path, work: Path, *, seed: int = 0) -> None:
        self.train, self.dev, self.work, self.seed = train, dev, Path(work), seed
        self.work.mkdir(parents=True, exist_ok=True)

    def model(self, stage: str) -> Path:
        """Return the model file of a stage."""
        return self.work / stage / f"{stage}.pt"

    def run(self, stage: str, size: int) -> int:
        """Train one stage for ``size`` steps or epochs, and return the seconds."""
        (self.work / stage).mkdir(exist_ok=True)
        started = time.monotonic()
        STAGES[stage].main(self._options(stage, size))
        return round(time.monotonic() - started)

    def _options(self, stage: str, size: int) -> list[str]:
        """Return the command line of Stanza for a stage."""
        folder = ["--save_dir", str(self.work / stage), "--save_name", f"{stage}.pt"]
        common = ["--cpu", "--shorthand", "en_ewt", "--seed", str(self.seed), *folder, *STAGES[stage].settings.split()]
        if stage == "tokenizer":
            return [*common, "--lang", "en", *self._tokenizer_files(), "--steps", str(size)]
        files = ["--train_file", str(self.train), "--eval_file", str(self.dev), "--num_epoch", str(size)]
        files += ["--output_file", str(self.work / stage / "dev.conllu")]
        return [*common, *files, *(["--lang", "en", "--gold_file", str(self.dev)] if stage == "mwt" else [])]

    def _tokenizer_files(self) -> list[str]:
        """Rebuild the raw text of both treebank files as Stanza does, with the label of each character."""
        out = []
        for part, source in (("", self.train), ("dev_", self.dev)):
            text, labels, words = (self.work / f"{part or 'train_'}{name}" for name in ("text.txt", "labels.txt", "mwt.json"))
            conllu_to_text.main([str(source), str(text)])
            prepare_tokenizer_data.main([str(text), str(source), "-o", str(labels), "-m", str(words)])
            out += [f"--{part}txt_file", str(text), f"--{part}label_file", str(labels)]
        output = ["--conll_file", str(self.work / "dev_tokens.conllu")]
        return [*out, *output, "--mwt_json_file", str(words), "--dev_conll_gold", str(self.dev)]


DROPPED = ("optimizer_state_dict", "scheduler_state_dict", "dev_score_history", "global_step", "last_best_step")


def export_model(source: Path, target: Path) -> int:
    """Write a Stanza model file as safetensors, smaller, and return its size in bytes.

    Float weights become float16 (Stanza copies them into float32 parameters), training state is dropped, and every path in the
    stored options keeps only its last part, so that nothing of the training machine is in the file.
    """
    checkpoint = torch.load(source, map_location="cpu", weights_only=True)
    small = {key: value for key, value in checkpoint.items() if key not in DROPPED}
    small["model"] = {
        name: tensor.half() if isinstance(tensor, torch.Tensor) and tensor.is_floating_point() else tensor
        for name, tensor in checkpoint["model"].items()
    }
    small["config"] = {
        name: Path(value).name if isinstance(value, str) and "/" in value else value
        for name, value in checkpoint["config"].items()
    }
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    save_checkpoint(target, small)
    return Path(target).stat().st_size


TREEBANK = "UD English EWT train (CC BY-SA 4.0)"
METRICS = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS")
BLOCK = 64
"""Paragraphs parsed together, so that the states of few are in memory; no paragraph influences another."""


def raw_text_scores(parser: Parser, text: str, gold: Path) -> dict[str, float]:
    """Return F1 in percent of each of METRICS for a parser on the raw text of a treebank file."""
    paragraphs = text.split("\n\n")
    blocks = (paragraphs[start : start + BLOCK] for start in range(0, len(paragraphs), BLOCK))
    system = "".join(to_conllu(sentences) for block in blocks for sentences in parser.parse(block))
    scores = udeval.evaluate(udeval.load_conllu_file(str(gold)), udeval.load_conllu(io.StringIO(system), "", {}))
    return {name: round(100 * scores[name].f1, 2) for name in METRICS}


def to_conllu(sentences: Iterable[ParsedSentence]) -> str:
    """Return sentences as CoNLL-U text, with multi-word tokens."""
    return "".join("\n".join(_lines(sentence)) + "\n\n" for sentence in sentences)


def _lines(sentence: ParsedSentence) -> list[str]:
    """Return the lines of one sentence."""
    lines = []
    for token in sentence.tokens:
        if token.last - token.first > 1:
            lines.append(f"{token.first + 1}-{token.last}\t{token.text}" + "\t_" * 8)
        lines += [_line(number + 1, sentence.words[number]) for number in range(token.first, token.last)]
    return lines


def _line(number: int, word: ParsedWord) -> str:
    """Return one word as a line of ten columns."""
    columns = [word.text, word.lemma, word.upos, word.xpos, word.feats, str(word.head), word.relation, "", ""]
    return "\t".join([str(number), *(" ".join(column.split()) or "_" for column in columns)])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome train parser`."""
    add_out(parser, "parser", "folder that gets one folder a model")
    parser.add_argument("--data", type=Path, help="folder of train.conllu and dev.conllu (default: ud_english_ewt)")
    add_models_argument(parser)
    parser.add_argument("--work", type=Path, help="folder for checkpoints (default: runs/parser beside the output)")
    names = list(STAGES)
    parser.add_argument("--stages", nargs="+", choices=names, default=names, help="stages to train (default: all)")
    parser.add_argument("--seed", type=int, default=0)
    for stage in STAGES.values():
        parser.add_argument(stage.length, type=int, default=stage.size, metavar="N")


def run(arguments: argparse.Namespace) -> int:
    """Train the chosen stages, export them with the others of the set, judge all three on raw text, and write cards."""
    work = arguments.work or arguments.out.parent / "runs" / "parser"
    stages, models = Stages(*treebank(arguments.data), work, seed=arguments.seed), set_folder(arguments.models)
    borrowed = [name for name in STAGES if name not in arguments.stages]
    sizes = {name: getattr(arguments, STAGES[name].length[2:].replace("-", "_")) for name in arguments.stages}
    seconds = {name: stages.run(name, size) for name, size in sizes.items()}
    for name in borrowed:
        shutil.copytree(part_folder(models, name), arguments.out / name, dirs_exist_ok=True)
    data = f"train.conllu of {arguments.data.name}" if arguments.data else TREEBANK
    export(stages, sizes, seconds, arguments.out, models, command_line(arguments), data)
    return 0


def treebank(folder: Path | None) -> tuple[Path, Path]:
    """Return the two files of the treebank, by default those of the data folder. Raises InputError if they are missing."""
    folder = folder or data_file("ud_english_ewt/train.conllu").parent
    train, dev = folder / "train.conllu", folder / "dev.conllu"
    for path in (train, dev):
        if not path.is_file():
            raise InputError(f"{path} is missing: give the folder that holds train.conllu and dev.conllu as --data")
    return train, dev


def export(
    stages: Stages, sizes: Mapping[str, int], seconds: Mapping[str, int], out: Path, models: Path, command: str, data: str
) -> None:
    """Write the trained models with their cards; the figures are those of all three on the raw development text.

    Parameters
    ----------
    sizes, seconds
        Length of the training of each stage.
    models
        Set whose trunk and trees give the tags.
    command, data
        The command line of the run and what it trained on, for the cards.
    """
    for name in sizes:
        export_model(stages.model(name), out / name / f"{name}.safetensors")
    text = stages.work / "dev_raw.txt"
    conllu_to_text.main([str(stages.dev), str(text)])
    parser = embedded_parser(out, load_encoder(models / "encoder"), models / "trees")
    figures = raw_text_scores(parser, text.read_text(encoding="utf-8"), stages.dev)
    for name, size in sizes.items():
        own = {metric: figures[metric] for metric in STAGES[name].figures}
        made = {"recipe": command, "seed": stages.seed, "steps": size, "seconds": seconds[name], "figures": own}
        write_card(out / name, **card_text(name, data=data), **made)

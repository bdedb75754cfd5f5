"""The stages of the parser's training that are Stanza's, each run by Stanza's own entry point on UD English EWT."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stanza.models import lemmatizer, mwt_expander, tokenizer
from stanza.utils.datasets import conllu_to_text, prepare_tokenizer_data

__all__ = ["STAGES", "Sizes", "Stages"]

STAGES = ("tokenizer", "mwt", "lemmatizer")

TOKENIZER = "--hidden_dim 64 --max_seqlen 300 --batch_size 32 --eval_steps 500"
MWT = "--batch_size 50"
LEMMATIZER = "--hidden_dim 128 --batch_size 100 --decay_epoch 3 --lr_decay 0.7"
MAIN: dict[str, Callable[[list[str]], Any]] = {
    "tokenizer": tokenizer.main, "mwt": mwt_expander.main, "lemmatizer": lemmatizer.main
}  # fmt: skip
"""Stanza's entry points."""


@dataclass(frozen=True)
class Sizes:
    """How long each stage trains; an epoch is one pass over the treebank, a step one batch."""

    tokenizer_steps: int = 3000
    mwt_epochs: int = 4
    lemmatizer_epochs: int = 3

    def of(self, stage: str) -> int:
        """The length of a stage by its name."""
        return int(next(value for name, value in vars(self).items() if name.startswith(stage)))


class Stages:
    """Trains the stages into a work folder, each once: a finished stage is skipped.

    train, dev : CoNLL-U files; dev only chooses the best checkpoint.
    """

    def __init__(self, train: Path, dev: Path, work: Path, *, seed: int = 0) -> None:
        self.train, self.dev, self.work, self.seed = train, dev, Path(work), seed
        self.work.mkdir(parents=True, exist_ok=True)

    def model(self, stage: str) -> Path:
        """Where a stage's model file lies."""
        return self.work / stage / f"{stage}.pt"

    def done(self, stage: str) -> dict[str, Any]:
        """What is known of a finished stage: size, seconds and options; empty when it has not finished."""
        path = self.work / stage / "done.json"
        return dict(json.loads(path.read_text())) if path.is_file() else {}

    def run(self, stage: str, size: int) -> None:
        """Train one stage for `size` steps or epochs, unless that has been done with the same options."""
        options, before = self._options(stage, size), self.done(stage)
        if self.model(stage).is_file() and before.get("options") == options:
            return
        (self.work / stage).mkdir(exist_ok=True)
        started = time.monotonic()
        MAIN[stage](options)
        record = {"size": size, "seconds": round(time.monotonic() - started), "options": options}
        (self.work / stage / "done.json").write_text(json.dumps(record, indent=1))

    def _options(self, stage: str, size: int) -> list[str]:
        """Stanza's command line for a stage."""
        folder = ["--save_dir", str(self.work / stage), "--save_name", f"{stage}.pt"]
        common = ["--cpu", "--shorthand", "en_ewt", "--seed", str(self.seed), *folder]
        files = ["--train_file", str(self.train), "--eval_file", str(self.dev)]
        if stage == "tokenizer":
            return [*common, "--lang", "en", *self._tokenizer_files(), *TOKENIZER.split(), "--steps", str(size)]
        if stage == "mwt":
            gold = ["--gold_file", str(self.dev), "--output_file", str(self.work / "mwt" / "dev.conllu")]
            return [*common, "--lang", "en", *files, *gold, *MWT.split(), "--num_epoch", str(size)]
        output = ["--output_file", str(self.work / "lemmatizer" / "dev.conllu")]
        return [*common, *files, *output, *LEMMATIZER.split(), "--num_epoch", str(size)]

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

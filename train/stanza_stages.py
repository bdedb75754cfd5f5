"""The five stages of the parser's training, each run by Stanza's own entry point on UD English EWT.

Tagger and parser read the frozen trunk. Its states for a sentence never change, so the one function through which Stanza loads
a transformer is replaced, for the time of a stage, by one that hands out the remembering trunk.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from stanza.models import lemmatizer, mwt_expander, parser, tagger, tokenizer
from stanza.models.common import bert_embedding
from stanza.utils.datasets import conllu_to_text, prepare_tokenizer_data

from rome.features.analyser.encoder import load_tokenizer, load_trunk
from rome.features.analyser.memo import MemoisedTrunk

__all__ = ["STAGES", "TRUNK_NAME", "Sizes", "Stages"]

TRUNK_NAME = "rome-trunk"
STAGES = ("tokenizer", "mwt", "lemmatizer", "tagger", "parser")

TOKENIZER = "--hidden_dim 64 --max_seqlen 300 --batch_size 32 --eval_steps 500"
MWT = "--batch_size 50"
LEMMATIZER = "--hidden_dim 128 --batch_size 100 --decay_epoch 3 --lr_decay 0.7"
TAGGER = (
    "--no_pretrain --bert_hidden_layers 4 --share_hid --hidden_dim 160 --num_layers 1 --deep_biaff_hidden_dim 200"
    " --word_emb_dim 48 --word_cutoff 3 --char_emb_dim 32 --char_hidden_dim 64 --transformed_dim 64 --dropout 0.4"
    " --batch_size 64 --lr 2e-3 --fix_eval_interval --second_lr 5e-4"
)
PARSER = (
    "--no_pretrain --no_char --no_ufeats --bert_hidden_layers 4 --hidden_dim 200 --num_layers 2 --deep_biaff_hidden_dim 80"
    " --no_linearization --no_distance"
    " --word_emb_dim 0 --word_cutoff 20 --tag_emb_dim 50 --dropout 0.4 --optim adam --lr 2e-3 --beta2 0.95"
    " --second_lr 4e-4 --second_warmup_steps 0 --batch_size 1500"
)


@dataclass(frozen=True)
class Sizes:
    """How long each stage trains; an epoch is one pass over the treebank, a step one batch."""

    tokenizer_steps: int = 3000
    mwt_epochs: int = 4
    lemmatizer_epochs: int = 1
    tagger_steps: int = 1100
    parser_steps: int = 1400

    def of(self, stage: str) -> int:
        """The length of a stage by its name."""
        return int(next(value for name, value in vars(self).items() if name.startswith(stage)))


class Stages:
    """Trains the stages into a work folder, each once: a finished stage is skipped, the parser resumes its checkpoint.

    train, dev : CoNLL-U files; dev only chooses the best checkpoint. encoder : folder of the trunk.
    """

    def __init__(self, train: Path, dev: Path, work: Path, encoder: Path, *, seed: int = 0) -> None:
        self.train, self.dev, self.work, self.encoder, self.seed = train, dev, Path(work), encoder, seed
        self.work.mkdir(parents=True, exist_ok=True)
        self._memo: MemoisedTrunk | None = None

    def model(self, stage: str) -> Path:
        """Where a stage's model file lies."""
        return self.work / stage / f"{stage}.pt"

    def done(self, stage: str) -> dict[str, Any]:
        """What is known of a finished stage: size, seconds and options; empty when it has not finished."""
        path = self.work / stage / "done.json"
        return dict(json.loads(path.read_text())) if path.is_file() else {}

    def run(self, stage: str, size: int) -> None:
        """Train one stage for `size` steps or epochs, unless that has been done with the same options.

        A tokenizer that was trained for fewer steps goes on from its best checkpoint.
        """
        options, before = self._options(stage, size), self.done(stage)
        if self.model(stage).is_file() and before.get("options") == options:
            return
        earlier = int(before.get("size", 0)) if stage == "tokenizer" and self.model(stage).is_file() else 0
        resumed = earlier if earlier < size else 0
        (self.work / stage).mkdir(exist_ok=True)
        started = time.monotonic()
        self._main(stage)([*self._options(stage, size - resumed), *(["--load_name", f"{stage}.pt"] if resumed else [])])
        record = {"size": size, "seconds": round(time.monotonic() - started), "runs": 1, "options": options}
        if resumed:
            record |= {"seconds": record["seconds"] + before["seconds"], "runs": before["runs"] + 1}
        (self.work / stage / "done.json").write_text(json.dumps(record, indent=1))

    def _main(self, stage: str) -> Callable[[list[str]], Any]:
        """Stanza's entry point for a stage, with the remembering trunk in place where the stage reads one."""
        if stage in ("tagger", "parser"):
            return self._with_trunk(tagger.main if stage == "tagger" else parser.main)
        return {"tokenizer": tokenizer.main, "mwt": mwt_expander.main, "lemmatizer": lemmatizer.main}[stage]

    def _with_trunk(self, main: Callable[[list[str]], Any]) -> Callable[[list[str]], Any]:
        def call(options: list[str]) -> Any:
            self._memo = self._memo or MemoisedTrunk(load_trunk(self.encoder), capacity=2_000_000, dtype=torch.float16)
            with injected_transformer(self._memo, load_tokenizer(self.encoder)):
                return main(options)

        return call

    def _options(self, stage: str, size: int) -> list[str]:
        """Stanza's command line for a stage.

        The tagger is judged once, at its end, so that "no better for so many steps" becomes a plan: the second optimizer, with
        a lower rate, takes over after 65% of the steps.
        """
        folder = ["--save_dir", str(self.work / stage), "--save_name", f"{stage}.pt"]
        common = ["--cpu", "--shorthand", "en_ewt", "--seed", str(self.seed), *folder]
        files = ["--train_file", str(self.train), "--eval_file", str(self.dev)]
        language = ["--lang", "en"]
        trunk = ["--bert_model", TRUNK_NAME]
        every = str(max(1, min(200, size // 4)))
        if stage == "tokenizer":
            return [*common, *language, *self._tokenizer_files(), *TOKENIZER.split(), "--steps", str(size)]
        if stage == "mwt":
            gold = ["--gold_file", str(self.dev), "--output_file", str(self.work / "mwt" / "dev.conllu")]
            return [*common, *language, *files, *gold, *MWT.split(), "--num_epoch", str(size)]
        if stage == "lemmatizer":
            output = ["--output_file", str(self.work / "lemmatizer" / "dev.conllu")]
            return [*common, *files, *output, *LEMMATIZER.split(), "--num_epoch", str(size)]
        if stage == "tagger":
            second = ["--max_steps_before_stop", str(max(1, int(size * 0.65))), "--eval_interval", str(size)]
            return [*common, *language, *files, *trunk, *TAGGER.split(), *second, "--max_steps", str(size)]
        second = ["--second_optim_start_step", str(int(size * 0.7)), "--max_steps_before_stop", str(max(1, size // 2))]
        length = ["--eval_interval", every, "--max_steps", str(size)]
        return [*common, *language, *files, *trunk, *PARSER.split(), *second, *length]

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


@contextmanager
def injected_transformer(trunk: MemoisedTrunk, pieces: Any) -> Iterator[None]:
    """Let Stanza's training code load this trunk and tokenizer as its transformer; its own loader is put back at the end."""
    original = bert_embedding.load_bert
    bert_embedding.load_bert = lambda *_, **__: (trunk, pieces)
    try:
        yield
    finally:
        bert_embedding.load_bert = original

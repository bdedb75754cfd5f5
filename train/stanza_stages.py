"""The stages of the parser's training, each run by Stanza's own entry point on UD English EWT.

Five models are shipped. Two more stages serve the parser: it first learns from the annotators' tags (`gold`), then mostly from
the tags of an early, still faulty tagger (`draft`), because tags with mistakes are what it meets in use.
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

from rome.exceptions import InputError
from rome.features.analyser.encoder import load_tokenizer, load_trunk
from rome.features.analyser.memo import MemoisedTrunk
from rome.features.analyser.stanza_pipeline import TRUNK_NAME
from rome.train.stanza_tags import retag

__all__ = ["SHIPPED", "STAGES", "Sizes", "Stages"]

SHIPPED = ("tokenizer", "mwt", "lemmatizer", "tagger", "parser")
STAGES = ("tokenizer", "mwt", "lemmatizer", "draft", "tagger", "gold", "parser")

TOKENIZER = "--hidden_dim 64 --max_seqlen 300 --batch_size 32 --eval_steps 500"
MWT = "--batch_size 50"
LEMMATIZER = "--hidden_dim 128 --batch_size 100 --decay_epoch 3 --lr_decay 0.7"
TAGGER = (
    "--no_pretrain --bert_hidden_layers 4 --share_hid --hidden_dim 160 --num_layers 1 --deep_biaff_hidden_dim 200"
    " --word_emb_dim 48 --word_cutoff 3 --char_emb_dim 32 --char_hidden_dim 64 --transformed_dim 64 --dropout 0.4"
    " --batch_size 64 --lr 2e-3 --fix_eval_interval --second_lr 5e-4"
)
PARSER = (
    "--no_pretrain --no_char --no_ufeats --bert_hidden_layers 4 --hidden_dim 160 --num_layers 1 --deep_biaff_hidden_dim 80"
    " --no_linearization --no_distance"
    " --word_emb_dim 0 --word_cutoff 20 --tag_emb_dim 50 --dropout 0.4 --optim adam --lr 2e-3 --beta2 0.95"
    " --second_lr 4e-4 --second_warmup_steps 0 --batch_size 1500"
)
ROBUST = "--silver_weight 4 --lr 6e-4 --second_lr 1.5e-4"


@dataclass(frozen=True)
class Sizes:
    """How long each stage trains; an epoch is one pass over the treebank, a step one batch."""

    tokenizer_steps: int = 3000
    mwt_epochs: int = 4
    lemmatizer_epochs: int = 1
    draft_steps: int = 400
    tagger_steps: int = 2600
    gold_steps: int = 1400
    parser_steps: int = 1200

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
        """Train one stage for `size` steps or epochs, unless that has been done with the same options."""
        options, before = self._options(stage, size), self.done(stage)
        if self.model(stage).is_file() and before.get("options") == options:
            return
        (self.work / stage).mkdir(exist_ok=True)
        started = time.monotonic()
        self._main(stage)(options)
        record = {"size": size, "seconds": round(time.monotonic() - started), "runs": 1, "options": options}
        (self.work / stage / "done.json").write_text(json.dumps(record, indent=1))

    def _main(self, stage: str) -> Callable[[list[str]], Any]:
        """Stanza's entry point for a stage, with the remembering trunk in place where the stage reads one."""
        if stage in ("draft", "tagger", "gold", "parser"):
            return self._with_trunk(tagger.main if stage in ("draft", "tagger") else parser.main)
        return {"tokenizer": tokenizer.main, "mwt": mwt_expander.main, "lemmatizer": lemmatizer.main}[stage]

    def _with_trunk(self, main: Callable[[list[str]], Any]) -> Callable[[list[str]], Any]:
        def call(options: list[str]) -> Any:
            with injected_transformer(self._trunk(), load_tokenizer(self.encoder)):
                return main(options)

        return call

    def _trunk(self) -> MemoisedTrunk:
        """The trunk with a memory for the whole treebank, shared by the stages."""
        if self._memo is None:
            self._memo = MemoisedTrunk(load_trunk(self.encoder), capacity=2_000_000, dtype=torch.float16)
        return self._memo

    def _retagged(self) -> list[Path]:
        """The two treebank files with the draft tagger's tags, written once."""
        if not self.model("draft").is_file():
            raise InputError(f"{self.model('draft')} is missing: train the stages draft and gold before the stage parser")
        targets = [self.work / "draft" / name for name in ("train.conllu", "dev.conllu")]
        for source, target in zip((self.train, self.dev), targets, strict=True):
            if not target.is_file():
                retag(source, target, self.model("draft"), self._trunk(), load_tokenizer(self.encoder))
        return targets

    def _options(self, stage: str, size: int) -> list[str]:
        """Stanza's command line for a stage.

        The tagger is judged once, at its end, so that "no better for so many steps" becomes a plan: the second optimizer, with
        a lower rate, takes over after 65% of the steps. The draft tagger keeps its rate.
        """
        folder = ["--save_dir", str(self.work / stage), "--save_name", f"{stage}.pt"]
        common = ["--cpu", "--shorthand", "en_ewt", "--seed", str(self.seed), *folder]
        files = ["--train_file", str(self.train), "--eval_file", str(self.dev)]
        language = ["--lang", "en"]
        trunk = ["--bert_model", TRUNK_NAME]
        if stage == "tokenizer":
            return [*common, *language, *self._tokenizer_files(), *TOKENIZER.split(), "--steps", str(size)]
        if stage == "mwt":
            gold = ["--gold_file", str(self.dev), "--output_file", str(self.work / "mwt" / "dev.conllu")]
            return [*common, *language, *files, *gold, *MWT.split(), "--num_epoch", str(size)]
        if stage == "lemmatizer":
            output = ["--output_file", str(self.work / "lemmatizer" / "dev.conllu")]
            return [*common, *files, *output, *LEMMATIZER.split(), "--num_epoch", str(size)]
        shared = [*common, *language, *trunk, "--train_file", str(self.train), "--max_steps", str(size)]
        gold = ["--eval_file", str(self.dev)]
        if stage in ("draft", "tagger"):
            patience = int(size * 0.65) if stage == "tagger" else size + 1
            plan = ["--eval_interval", str(size), "--max_steps_before_stop", str(max(1, patience))]
            return [*shared, *gold, *TAGGER.split(), *plan]
        every = ["--eval_interval", str(max(1, min(200, size // 2)))]
        if stage == "gold":
            second = ["--second_optim_start_step", str(int(size * 0.7)), "--max_steps_before_stop", str(max(1, size // 2))]
            return [*shared, *gold, *PARSER.split(), *every, *second]
        silver, dev = map(str, self._retagged())
        start = ["--continue_from", str(self.model("gold")), "--silver_file", silver, "--eval_file", dev]
        second = ["--second_optim_start_step", str(int(size * 0.7)), "--max_steps_before_stop", str(size)]
        return [*shared, *start, *PARSER.split(), *ROBUST.split(), *every, *second]

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

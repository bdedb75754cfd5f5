"""A reader of both texts of one tiny layer, with random weights and adapters, and analyses with random states for it."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch

from rome.features.analyser.encoder import TRUNK_FILE, load_trunk
from rome.features.analyser.trunk import Trunk, TrunkConfig
from rome.features.analyser.weights import save_weights
from rome.features.values import Analysis
from rome.train.errors.net import PairNet
from rome.train.errors.recipe import export

from handmade import analysis

WIDTH, BELOW = 24, 1
TRUNKS = {"bert": {}, "mpnet": {"relative_attention_num_buckets": 8, "type_vocab_size": 0, "first_position": 2}}
"""What tells the two kinds of trunks apart."""


def write_trunk(folder: Path, kind: str) -> Path:
    """The encoder's folder of a set: a trunk of two layers, all of its numbers random."""
    torch.manual_seed(0)
    trunk = Trunk(TrunkConfig(30, WIDTH, 2, 4, 48, **TRUNKS[kind]))
    for parameter in trunk.parameters():
        torch.nn.init.normal_(parameter, mean=float(parameter.ndim == 1), std=0.3)
    folder.mkdir(parents=True)
    save_weights(folder / TRUNK_FILE, dict(trunk.state_dict()), {"config": asdict(trunk.config)})
    return folder


def write_reader(folder: Path, *, below: int = BELOW, above: int = 2, spread: float = 0.3) -> PairNet:
    """Write the reader of the set in a folder, away from its beginning by so much at random; the net that it was made of."""
    torch.manual_seed(1)
    net = PairNet(load_trunk(folder / "encoder"), below, rank=3, above=above, dtype=torch.float32).eval()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(spread * torch.randn_like(parameter))
    (folder / "errors").mkdir()
    export(net, folder / "errors")
    return net


def with_states(text: str, seed: int = 0) -> Analysis:
    """A hand-made analysis with random states."""
    made = analysis(text)
    states = np.random.default_rng([seed, len(text)]).normal(size=(len(made.words), WIDTH))
    return replace(made, states=states.astype(np.float16))

"""Train a full cross-encoder on the same families as the errors' head, to compare the two; it is not shipped.

All six layers of all-MiniLM-L6-v2 read reference and hypothesis together; the first piece's state gives the count, every piece's a class.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, smooth_l1_loss, softplus

from rome.data.readers.demetr import read_demetr
from rome.data.readers.registry import read_rated

from .card import machine
from .encoder import source_folder
from .errors_families import CLASS, COSTS
from .errors_figures import RATED, demetr_figures, once, rated_figures
from .errors_probes import Probe, read_probes, seen_group
from .grammar import Log
from .scorer_pairs import read_pairs

__all__ = ["CrossEncoder", "add_arguments", "run"]

LONGEST = 192
"""Pieces of both texts together; what is longer is cut."""
JUDGED = 32
MARGIN, TEMPERATURE = 0.15, 0.5


@dataclass(frozen=True, slots=True)
class Item:
    """One pair of texts, how severe its mistake is, and the characters of the hypothesis that an edit put in, with their class."""

    reference: str
    hypothesis: str
    severity: float
    spans: tuple[tuple[int, int], ...] = ()
    label: int = 0


class CrossEncoder(nn.Module):
    """A BERT with a count on its first state and three classes on every state."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModel, AutoTokenizer

        super().__init__()
        self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self.body = AutoModel.from_pretrained(folder, local_files_only=True)
        width = self.body.config.hidden_size
        self.count, self.classes = nn.Linear(width, 1), nn.Linear(width, 3)

    def forward(self, references: Sequence[str], hypotheses: Sequence[str]) -> tuple[Tensor, Tensor, Any]:
        """(b,) counts, (b, n, 3) logits, and the encoded texts."""
        encoded = self.tokenizer(
            list(references),
            list(hypotheses),
            padding=True,
            truncation=True,
            max_length=LONGEST,
            return_tensors="pt",
            return_offsets_mapping=True,
        )
        inputs = {name: encoded[name] for name in ("input_ids", "attention_mask", "token_type_ids")}
        states = self.body(**inputs).last_hidden_state
        return softplus(self.count(states[:, 0])[:, 0]), self.classes(states), encoded

    @torch.no_grad()
    def score(self, references: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        """(n,) minus the counts, pairs of like length judged together."""
        self.eval()
        order = sorted(range(len(hypotheses)), key=lambda n: len(references[n]) + len(hypotheses[n]))
        found = np.zeros(len(order))
        for start in range(0, len(order), JUDGED):
            chosen = order[start : start + JUDGED]
            counts, _, _ = self([references[n] for n in chosen], [hypotheses[n] for n in chosen])
            found[chosen] = -counts.numpy()
        return found


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome train errors_cross`."""
    parser.add_argument(
        "--out", type=Path, required=True, help="file for the figures (JSON); the weights stay beside it, for nobody"
    )
    parser.add_argument("--probes", type=Path, nargs="+", required=True, help="probes made by `rome train errors` (JSON lines)")
    parser.add_argument("--pairs", type=Path, required=True, help="the scorer's pairs: what the net learns from is left out")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--batch", type=int, default=3, help="families a step")
    parser.add_argument("--rate", type=float, default=4e-5)
    parser.add_argument("--minutes", type=float, default=None, help="stop after so many minutes, if the steps take longer")
    parser.add_argument("--judge", action="store_true", help="judge the weights of an earlier run again")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)


def run(arguments: argparse.Namespace) -> int:
    """Train, judge, write the figures."""
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    model, log = CrossEncoder(source_folder()), arguments.out.with_suffix(".jsonl")
    if arguments.judge:
        model.load_state_dict(torch.load(arguments.out.with_suffix(".pt"), weights_only=True))
    else:
        kept = {pair.reference for pair in read_pairs(arguments.pairs) if not seen_group(pair.group)}
        _fit(model, _families([probe for probe in read_probes(arguments.probes) if probe.reference not in kept]), arguments)
        torch.save(model.state_dict(), arguments.out.with_suffix(".pt"))
    trained = json.loads(log.read_text(encoding="utf-8").splitlines()[-1])
    pairs = read_demetr()
    started = time.perf_counter()
    model.score([pair.reference for pair in pairs[:500]], [pair.perturbed for pair in pairs[:500]])
    speed, score = 500 / (time.perf_counter() - started), once(model.score)
    figures: dict[str, Any] = demetr_figures(score, pairs)
    figures |= {name: rated_figures(score, read_rated(name)) for name in RATED}
    about = {
        "steps": trained["step"],
        "seconds": trained["seconds"],
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "pairs_a_second": round(speed, 1),
        "machine": machine(),
    }
    arguments.out.write_text(json.dumps({**about, **figures}, indent=1) + "\n", encoding="utf-8")
    return 0


def _families(probes: Sequence[Probe]) -> list[list[Item]]:
    """The real pair first, then its probes."""
    grouped: dict[tuple[str, str], list[Probe]] = defaultdict(list)
    for probe in probes:
        grouped[probe.reference, probe.clean].append(probe)
    return [[Item(reference, clean, 0.0), *(_item(probe) for probe in row)] for (reference, clean), row in grouped.items()]


def _item(probe: Probe) -> Item:
    spans = tuple((edit[3], edit[4]) for edit in probe.edits if edit[5].strip())
    return Item(probe.reference, probe.text, COSTS[probe.severity], spans, CLASS.get(probe.severity, 2))


def _fit(model: CrossEncoder, families: list[list[Item]], arguments: argparse.Namespace) -> None:
    """Train for so many steps or minutes, whichever ends first; the log's last line says how far it came."""
    optimizer = torch.optim.AdamW(model.parameters(), arguments.rate, weight_decay=0.01)
    log = Log(arguments.out.with_suffix(".jsonl"), time.time())
    chance, seen = random.Random(arguments.seed), []
    limit = None if arguments.minutes is None else 60 * arguments.minutes
    for step in range(1, arguments.steps + 1):
        spent = log.seconds() / limit if limit else 0.0
        share = max(step / arguments.steps, spent)
        if share >= 1.0 and step < arguments.steps:
            break
        optimizer.param_groups[0]["lr"] = arguments.rate * min(1.0, step / 100) * max(0.02, 1.0 - share)
        model.train()
        loss = _loss(model, chance.sample(families, arguments.batch))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        seen.append(float(loss.detach()))
        if step % 20 == 0 or step == arguments.steps:
            log.write(step=step, of=arguments.steps, loss=round(float(np.mean(seen[-100:])), 4))


def _loss(model: CrossEncoder, families: Sequence[Sequence[Item]]) -> Tensor:
    """The same three losses as the head's: classes of the edited pieces, order of each family, amount of each mistake."""
    items = [item for family in families for item in family]
    counts, logits, encoded = model([item.reference for item in items], [item.hypothesis for item in items])
    labels = torch.zeros(logits.shape[:2], dtype=torch.long)
    for row, item in enumerate(items):
        for start, end in item.spans:
            inside = (encoded["offset_mapping"][row, :, 0] < end) & (encoded["offset_mapping"][row, :, 1] > start)
            labels[row][inside & (encoded["token_type_ids"][row] == 1)] = item.label
    labels[encoded["attention_mask"] == 0] = -1
    loss = cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-1, weight=torch.tensor([0.2, 1.0, 1.0]))
    at = 0
    for family in families:
        found = counts[at : at + len(family)]
        severity = torch.tensor([item.severity for item in family])
        at += len(family)
        more, apart = found[None, 1:] - found[:1, None], severity[None, 1:] - severity[:1, None]
        rank = (softplus(-(more - MARGIN * apart) / TEMPERATURE) * (apart > 0)).mean()
        loss = loss + (3.0 * rank + 0.15 * smooth_l1_loss(more, apart)) / len(families)
    return loss

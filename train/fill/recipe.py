"""Train the fill head: a masked-language head on the frozen trunk, which fills places in texts and judges what stands there.

Its layers start from those of all-MiniLM-L6-v2 in their place, its bias from the pieces' frequencies. Sentences of Wikipedia,
WMT references and EWT, a fifth of the pieces hidden as whole words, some of them adjacent (a small model learns more from a
text so than with 15 %, Wettig et al. 2023); the figures are taken with 15 %. EWT's development part only judges.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from transformers import AutoModel, BertModel

from rome.features.analyser.acceptability import HIDDEN
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import load_tokenizer, load_trunk
from rome.features.analyser.fill_head import FILL_FILE, WHOLE_WORD, FillHead, first_layers
from rome.features.analyser.weights import load_weights, save_weights
from rome.train.common.recipe import (
    add_models_argument,
    add_plan_arguments,
    changed_options,
    folders,
    models_option,
    plan_of,
    write_card,
)
from rome.train.encoder import source_folder
from rome.train.fill.data import Masked, casing_of, collate, hide, judging_texts, one_word, stream, tokenised, training_texts
from rome.train.grammar.recipe import Log

__all__ = ["add_arguments", "fit", "run"]

KEPT_EVERY = 200
JUDGED = 2000
JUDGED_SHARE = 0.15
FASTER = 4.0
"""How much faster the parts learn that start from nothing."""
REGRESSED, RIDGE, SHARPNESS = 60, 0.05, 0.25
"""The dense layer's start: batches that are regressed on, how much the regression is held back, how sure the first answers are."""
CHECKPOINT = "checkpoint.pt"


@dataclass(frozen=True, slots=True)
class FillPlan:
    """The sizes of one training run; steps are batches of about ``pieces`` word pieces."""

    steps: int = 1800
    rate: float = 5e-4
    pieces: int = 512
    share: float = 0.2
    layers: int = 2
    input_layer: int = 2


BITS = 4
"""A number of a matrix, in the file."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the recipe knows of each piece: does it continue a word, is it a whole word of letters or digits; and the mask's id."""

    continuing: tuple[bool, ...]
    whole: tuple[bool, ...]
    mask_id: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome train fill`."""
    add_plan_arguments(parser, FillPlan())
    add_models_argument(parser)
    parser.add_argument("--encoder", type=Path, default=None, help="folder of the encoder (default: the set's own)")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in the work folder")


def run(arguments: argparse.Namespace) -> int:
    """Carry out `rome train fill`: read the texts, train, judge, write weights and card. Raises InputError when data is missing."""
    torch.set_num_threads(arguments.threads)
    encoder = arguments.encoder or set_folder(arguments.models) / "encoder"
    plan = plan_of(arguments, FillPlan)
    trunk, tokenizer = first_layers(load_trunk(encoder), plan.input_layer), load_tokenizer(encoder)
    out, work = folders(arguments)
    pieces = tokenizer.convert_ids_to_tokens(range(trunk.config.vocab_size))
    vocabulary = Vocabulary(
        tuple(piece.startswith("##") for piece in pieces),
        tuple(WHOLE_WORD.fullmatch(piece) is not None for piece in pieces),
        tokenizer.mask_token_id,
    )
    texts = training_texts()
    head, seconds = fit(trunk, tokenised(texts, tokenizer), vocabulary, plan, arguments.seed, work, arguments.resume)
    words = frozenset(piece for piece, whole in zip(pieces, vocabulary.whole, strict=True) if whole)
    export(head, casing_of(texts, words), out)
    tensors, _ = load_weights(out / FILL_FILE)
    head.load_state_dict(tensors)
    figures = judge(head, trunk, tokenised(judging_texts(), tokenizer)[:JUDGED], vocabulary)
    _card(out, plan, arguments, seconds, len(texts), figures)
    return 0


def fit(
    trunk: BertModel,
    rows: Sequence[tuple[int, ...]],
    vocabulary: Vocabulary,
    plan: FillPlan,
    seed: int,
    work: Path,
    resume: bool = False,
) -> tuple[FillHead, int]:
    """Train on rows of pieces; returns the head in full precision and the seconds spent, those before an interruption included.

    Every KEPT_EVERY steps a checkpoint is kept in ``work``; from it, resume gives the very head that an uninterrupted run gives.
    """
    torch.manual_seed(seed)
    head = _start(plan, trunk, rows)
    resumed = resume and (work / CHECKPOINT).is_file()
    if not resumed:
        _regress(head, trunk, stream(rows, vocabulary.continuing, vocabulary.mask_id, plan.pieces, plan.share, -seed - 1))
    optimizer = _optimizer(head)
    done, before = 0, 0.0
    if resumed:
        kept: dict[str, Any] = torch.load(work / CHECKPOINT, weights_only=True)
        head.load_state_dict(kept["head"])
        optimizer.load_state_dict(kept["optimizer"])
        done, before = kept["step"], kept["seconds"]
    log = Log(work / "progress.jsonl", time.time() - before)
    batches = stream(rows, vocabulary.continuing, vocabulary.mask_id, plan.pieces, plan.share, seed, done)
    head.train()
    losses: list[float] = []
    for step in range(done + 1, plan.steps + 1):
        for group, faster in zip(optimizer.param_groups, (1.0, FASTER), strict=True):
            group["lr"] = plan.rate * faster * _pace(step, plan.steps)
        losses.append(_step(head, trunk, next(batches), optimizer))
        if step % 50 == 0 or step == plan.steps:
            log.write(step=step, of=plan.steps, loss=round(sum(losses) / len(losses), 4))
            losses = []
        if step % KEPT_EVERY == 0:
            state = {"head": head.state_dict(), "optimizer": optimizer.state_dict(), "step": step, "seconds": log.seconds()}
            torch.save(state, work / CHECKPOINT)
    return head.eval(), log.seconds()


def _start(plan: FillPlan, trunk: BertModel, rows: Sequence[tuple[int, ...]]) -> FillHead:
    """A head whose layers are those of all-MiniLM-L6-v2 after the trunk's (a toy trunk: random ones), its bias the pieces' frequencies."""
    hidden, vocabulary = trunk.config.hidden_size, trunk.config.vocab_size
    head = FillHead(plan.layers, plan.input_layer, hidden=hidden, inner=trunk.config.intermediate_size, vocabulary=vocabulary)
    counts = torch.bincount(torch.tensor([piece for row in rows for piece in row[1:-1]]), minlength=vocabulary).float() + 0.1
    with torch.no_grad():
        head.bias.copy_(torch.log(counts / counts.sum()))
    if hidden == HIDDEN:
        source = AutoModel.from_pretrained(source_folder(), local_files_only=True)
        layer: Any  # torch types the members of a ModuleList as bare modules
        for layer, old in zip(head.layers, source.encoder.layer[trunk.config.num_hidden_layers :], strict=False):
            _copy_layer(layer, old)
    return head


@torch.no_grad()
def _regress(head: FillHead, trunk: BertModel, batches: Iterator[Masked]) -> None:
    """Start the dense layer from the ridge regression of the hidden pieces' embeddings on the states in their places.

    From random numbers, or from the identity, the first hundreds of steps would learn no more than this.
    """
    seen, wanted = [], []
    embeddings = trunk.embeddings.word_embeddings.weight
    for batch in islice(batches, REGRESSED):
        states = trunk(batch.pieces, attention_mask=batch.mask.long()).last_hidden_state
        ignored = torch.zeros_like(batch.mask, dtype=states.dtype).masked_fill(~batch.mask, float("-inf"))
        for layer in head.layers[:-1]:
            states = layer(states, src_key_padding_mask=ignored)
        seen.append(head.last(states, ignored, batch.places))
        wanted.append(embeddings[batch.targets] - embeddings.mean(0))
    x, y = torch.cat(seen).double(), torch.cat(wanted).double()
    centre = x - x.mean(0)
    gram = centre.T @ centre + RIDGE * len(x) * centre.var() * torch.eye(x.shape[1], dtype=x.dtype)
    weight = torch.linalg.solve(gram, centre.T @ (y - y.mean(0))).T
    scale = (centre @ weight.T).std()
    head.dense.weight.copy_(weight / scale)
    head.dense.bias.copy_(-(x.mean(0) @ weight.T) / scale)
    head.norm.weight.fill_(SHARPNESS)


@torch.no_grad()
def _copy_layer(layer: Any, old: Any) -> None:
    own = old.attention.self
    layer.self_attn.in_proj_weight.copy_(torch.cat([own.query.weight, own.key.weight, own.value.weight]))
    layer.self_attn.in_proj_bias.copy_(torch.cat([own.query.bias, own.key.bias, own.value.bias]))
    layer.self_attn.out_proj.load_state_dict(old.attention.output.dense.state_dict())
    layer.norm1.load_state_dict(old.attention.output.LayerNorm.state_dict())
    layer.linear1.load_state_dict(old.intermediate.dense.state_dict())
    layer.linear2.load_state_dict(old.output.dense.state_dict())
    layer.norm2.load_state_dict(old.output.LayerNorm.state_dict())


def _optimizer(head: FillHead) -> torch.optim.AdamW:
    """Two groups: the layers, and what is new."""
    new = [*head.dense.parameters(), *head.norm.parameters(), head.bias]
    groups = [{"params": list(head.layers.parameters())}, {"params": new}]
    return torch.optim.AdamW(groups, weight_decay=0.01, betas=(0.9, 0.98), eps=1e-6)


def _pace(step: int, steps: int) -> float:
    """Linear warm-up over 6 % of the steps, then linear decay to 2 %."""
    return min(1.0, step / (0.06 * steps + 1)) * max(0.02, 1 - step / (steps + 1))


def _logits(head: FillHead, trunk: BertModel, batch: Masked) -> torch.Tensor:
    with torch.no_grad():
        states = trunk(batch.pieces, attention_mask=batch.mask.long()).last_hidden_state
    return head(states, batch.mask, batch.places, trunk.embeddings.word_embeddings.weight)


def _step(head: FillHead, trunk: BertModel, batch: Masked, optimizer: torch.optim.Optimizer) -> float:
    loss = cross_entropy(_logits(head, trunk, batch), batch.targets)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(head.parameters(), 1.0)
    optimizer.step()
    return float(loss.item())


def export(head: FillHead, casing: tuple[Mapping[str, str], Sequence[str]], out: Path) -> None:
    """Write fill.safetensors: the rounded weights, and how words are written."""
    about = {
        "sizes": head.sizes,
        "source": "all-MiniLM-L6-v2",
        "licence": "Apache-2.0",
        "casing": dict(casing[0]),
        "sometimes": " ".join(casing[1]),
    }
    tensors = dict(head.state_dict())
    save_weights(out / FILL_FILE, tensors, about, bits=dict.fromkeys(tensors, BITS))


def judge(
    head: FillHead, trunk: BertModel, rows: Sequence[tuple[int, ...]], vocabulary: Vocabulary
) -> dict[str, dict[str, float]]:
    """Figures at hidden places: ``masked``, JUDGED_SHARE of all pieces hidden; ``one_word``, one whole word of a sentence."""
    rng = random.Random("judge")
    masked = [(row, hide(row, vocabulary.continuing, JUDGED_SHARE, rng)) for row in rows]
    single = [(row, one_word(row, vocabulary.continuing, vocabulary.whole, rng)) for row in rows]
    single = [(row, hidden) for row, hidden in single if hidden]
    return {
        "masked": _figures(head, trunk, masked, vocabulary.mask_id),
        "one_word": _figures(head, trunk, single, vocabulary.mask_id),
    }


@torch.no_grad()
def _figures(
    head: FillHead, trunk: BertModel, items: Sequence[tuple[tuple[int, ...], list[int]]], mask_id: int
) -> dict[str, float]:
    """Accuracy of the best and of the four best pieces, and perplexity a piece, over the whole vocabulary."""
    loss, first, four, count = 0.0, 0, 0, 0
    ordered = sorted(items, key=lambda item: len(item[0]))
    for start in range(0, len(ordered), 32):
        rows, hidden = zip(*ordered[start : start + 32], strict=True)
        batch = collate(rows, hidden, mask_id)
        logits = _logits(head, trunk, batch)
        loss += float(cross_entropy(logits, batch.targets, reduction="sum"))
        right = logits.topk(4, dim=1).indices == batch.targets[:, None]
        first, four, count = first + int(right[:, 0].sum()), four + int(right.sum()), count + len(batch.targets)
    count = max(count, 1)
    return {
        "places": count,
        "top_1": round(first / count, 4),
        "top_4": round(four / count, 4),
        "perplexity": round(math.exp(min(loss / count, 50.0)), 2),
    }


def _card(
    out: Path, plan: FillPlan, arguments: argparse.Namespace, seconds: int, texts: int, figures: Mapping[str, object]
) -> None:
    changed = [*models_option(arguments.models), *changed_options(plan)]
    write_card(
        out,
        name="fill",
        task="words that fit a place in a text, and the probability of the word that stands there",
        data=["WikiSplit", "WMT22 and WMT23 references into English", "UD English EWT train", f"{texts} distinct texts in all"],
        licence="Apache-2.0 (start: all-MiniLM-L6-v2); data: EWT and WikiSplit CC BY-SA 4.0, WMT research use",
        recipe=" ".join(["rome train fill --out FOLDER", f"--seed {arguments.seed}", *changed]),
        seed=arguments.seed,
        steps=plan.steps,
        seconds=seconds,
        figures=figures,
        notes="figures of the exported, rounded head on EWT's development sentences, which were not trained on: masked, 15 % of "
        "the pieces hidden; one_word, one word a sentence. The output is tied to the trunk's word embeddings, which are not stored again.",
    )

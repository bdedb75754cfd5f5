"""Train the fill head: a masked-language head on the frozen trunk, which fills places in texts and judges what stands there.

Its layers start from those of all-MiniLM-L6-v2 in their place, its bias from the pieces' frequencies. Sentences of Wikipedia,
WMT references and EWT, a fifth of the pieces hidden as whole words, some of them adjacent (a small model learns more from a
text so than with 15 %, Wettig et al. 2023); the figures are taken with 15 %. EWT's development part only judges.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch
from torch.nn.functional import cross_entropy
from transformers import BertModel

from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import load_tokenizer, load_trunk
from rome.features.analyser.fill_head import FILL_FILE, WHOLE_WORD, FillHead, first_layers
from rome.features.analyser.weights import load_weights, save_weights
from rome.train.common.layers import start_from_encoder
from rome.train.common.recipe import TrainingOptions, add_training_arguments, read_options, write_training_card
from rome.train.common.training import PROGRESS, Checkpoint, Log, train
from rome.train.fill.data import Masked, casing_of, collate, hide, judging_texts, one_word, stream, tokenised, training_texts

JUDGED = 2000
JUDGED_SHARE = 0.15
FASTER = 4.0
"""How much faster the parts learn that start from nothing."""
REGRESSED, RIDGE, SHARPNESS = 60, 0.05, 0.25
"""The dense layer's start: batches that are regressed on, how much the regression is held back, how sure the first answers are."""


@dataclass(frozen=True)
class FillOptions(TrainingOptions):
    """The sizes of one training run; steps are batches of about ``pieces`` word pieces."""

    every: int = 200
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
    add_training_arguments(parser, FillOptions, models=True, resumed=True)
    parser.add_argument("--encoder", type=Path, default=None, help="folder of the encoder (default: the set's own)")


def run(arguments: argparse.Namespace) -> int:
    """Carry out `rome train fill`: read the texts, train, judge, write weights and card. Raises InputError when data is missing."""
    options = read_options(arguments, FillOptions)
    encoder = arguments.encoder or set_folder(options.models) / "encoder"
    trunk, tokenizer = first_layers(load_trunk(encoder), options.input_layer), load_tokenizer(encoder)
    pieces = tokenizer.convert_ids_to_tokens(range(trunk.config.vocab_size))
    vocabulary = Vocabulary(
        tuple(piece.startswith("##") for piece in pieces),
        tuple(WHOLE_WORD.fullmatch(piece) is not None for piece in pieces),
        tokenizer.mask_token_id,
    )
    texts = training_texts()
    head, seconds = fit(trunk, tokenised(texts, tokenizer), vocabulary, options)
    words = frozenset(piece for piece, whole in zip(pieces, vocabulary.whole, strict=True) if whole)
    export(head, casing_of(texts, words), options.out)
    head.load_state_dict(load_weights(options.out / FILL_FILE)[0])
    figures = judge(head, trunk, tokenised(judging_texts(), tokenizer)[:JUDGED], vocabulary)
    write_training_card("fill", options, options.steps, seconds, figures, texts=len(texts))
    return 0


def fit(
    trunk: BertModel, rows: Sequence[tuple[int, ...]], vocabulary: Vocabulary, options: FillOptions
) -> tuple[FillHead, int]:
    """Train on rows of pieces; returns the head in full precision and the seconds spent, those before an interruption included."""

    def batches(seed: int, start: int = 0) -> Iterator[Masked]:
        return stream(rows, vocabulary.continuing, vocabulary.mask_id, options.pieces, options.share, seed, start)

    torch.manual_seed(options.seed)
    head = _start(options, trunk, rows)
    _regress(head, trunk, batches(-options.seed - 1))
    new = [*head.dense.parameters(), *head.norm.parameters(), head.bias]
    groups = [{"params": list(head.layers.parameters())}, {"params": new, "lr": FASTER * options.rate}]
    optimizer = torch.optim.AdamW(groups, options.rate, weight_decay=0.01, betas=(0.9, 0.98), eps=1e-6)
    checkpoint = Checkpoint(options, head, optimizer)
    log = Log(options.work / PROGRESS, checkpoint.seconds, append=options.resume)
    given = batches(options.seed, checkpoint.step)

    def loss(_: int) -> torch.Tensor:
        batch = next(given)
        return cross_entropy(_logits(head, trunk, batch), batch.targets)

    train(
        head, optimizer, {"loss": loss}, options.steps, log, first=checkpoint.step, schedule=_pace, logged=50,
        every=options.every, keep=checkpoint.save,
    )  # fmt: skip
    return head, log.seconds()


def _pace(step: int, steps: int) -> float:
    """Linear warm-up over 6 % of the steps, then linear decay to 2 %."""
    return min(1.0, step / (0.06 * steps + 1)) * max(0.02, 1 - step / (steps + 1))


def _start(options: FillOptions, trunk: BertModel, rows: Sequence[tuple[int, ...]]) -> FillHead:
    """A head whose layers are those of all-MiniLM-L6-v2 after the trunk's (a toy trunk: random ones), its bias the pieces' frequencies."""
    hidden, vocabulary = trunk.config.hidden_size, trunk.config.vocab_size
    sizes = {"hidden": hidden, "inner": trunk.config.intermediate_size, "vocabulary": vocabulary}
    head = FillHead(options.layers, options.input_layer, **sizes)
    counts = torch.bincount(torch.tensor([piece for row in rows for piece in row[1:-1]]), minlength=vocabulary).float() + 0.1
    with torch.no_grad():
        head.bias.copy_(torch.log(counts / counts.sum()))
    start_from_encoder(head.layers, trunk.config.num_hidden_layers)
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


def _logits(head: FillHead, trunk: BertModel, batch: Masked) -> torch.Tensor:
    with torch.no_grad():
        states = trunk(batch.pieces, attention_mask=batch.mask.long()).last_hidden_state
    return head(states, batch.mask, batch.places, trunk.embeddings.word_embeddings.weight)


def export(head: FillHead, casing: tuple[Mapping[str, str], Sequence[str]], out: Path) -> None:
    """Write fill.safetensors: the rounded weights, and how words are written."""
    about = {"sizes": head.sizes, "source": "all-MiniLM-L6-v2", "licence": "Apache-2.0"}
    about.update(casing=dict(casing[0]), sometimes=" ".join(casing[1]))
    tensors = dict(head.state_dict())
    save_weights(out / FILL_FILE, tensors, about, bits=dict.fromkeys(tensors, BITS))


def judge(
    head: FillHead, trunk: BertModel, rows: Sequence[tuple[int, ...]], vocabulary: Vocabulary
) -> dict[str, dict[str, float]]:
    """Figures at hidden places: ``masked``, JUDGED_SHARE of all pieces hidden; ``one_word``, one whole word of a sentence."""
    rng = random.Random("judge")
    masked = [(row, hide(row, vocabulary.continuing, JUDGED_SHARE, rng)) for row in rows]
    single = [(row, one_word(row, vocabulary.continuing, vocabulary.whole, rng)) for row in rows]
    items = {"masked": masked, "one_word": [(row, hidden) for row, hidden in single if hidden]}
    return {name: _figures(head, trunk, chosen, vocabulary.mask_id) for name, chosen in items.items()}


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

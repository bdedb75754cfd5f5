"""Train the fill head: a masked-language head on the frozen trunk, which fills places in texts and judges the words in them.

Its layers start from those of all-MiniLM-L6-v2 in their place, its bias from the frequencies of the pieces. A fifth of the pieces of
the sentences of Wikipedia, WMT references and EWT are hidden as whole words, some of them adjacent (a small model learns more from a
text so than with 15 %, Wettig et al. 2023); the figures are taken with 15 %. The development part of EWT only judges.
"""

from __future__ import annotations

import argparse
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch.nn.functional import cross_entropy
from transformers import AutoModel

from rome.data.readers.texts import read_trees, read_wikipedia, read_wmt
from rome.data.sources import data_file
from rome.features.analyser.acceptability import HIDDEN
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import load_tokenizer, load_trunk
from rome.features.analyser.fill_head import FILL_FILE, MASK_ID, FillModel
from rome.features.analyser.transformer import pretrained
from rome.features.analyser.weights import load_weights, save_weights
from rome.train.common.recipe import TrainingOptions, add_training_arguments, read_options, write_training_card
from rome.train.common.training import PROGRESS, Log, adamw, padded, shuffled_batches, train
from rome.train.encoder import source_folder

JUDGED = 2000
JUDGED_SHARE = 0.15
FASTER = 4.0
"""Factor of the learning rate of new weights."""
REGRESSED, RIDGE, SHARPNESS = 60, 0.05, 0.25
"""Start of the dense layer: batches of the regression, its ridge, and the sharpness of the first answers."""


@dataclass(frozen=True)
class FillOptions(TrainingOptions):
    """Sizes of one training run; steps are batches of about ``pieces`` word pieces."""

    steps: int = 1800
    rate: float = 5e-4
    pieces: int = 512
    share: float = 0.2
    layers: int = 2
    input_layer: int = 2


BITS = 4
"""Per number of a matrix, in the file."""
WHOLE_WORD = re.compile(r"[a-z]{2,}|[ai]|[0-9]+")


class Vocabulary(NamedTuple):
    """Per piece, if it continues a word and if it is a whole word of letters or digits."""

    continuing: tuple[bool, ...]
    whole: tuple[bool, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome train fill`."""
    add_training_arguments(parser, "fill", FillOptions, models=True)


def run(arguments: argparse.Namespace) -> int:
    """Carry out `rome train fill`: read the texts, train, judge, write weights and card. Raises InputError if data is missing."""
    options = read_options(arguments, FillOptions)
    encoder = set_folder(options.models) / "encoder"
    tokenizer, model = load_tokenizer(encoder), new_model(load_trunk(encoder), options)
    pieces = tokenizer.convert_ids_to_tokens(range(model.config.vocab_size))
    whole = tuple(WHOLE_WORD.fullmatch(piece) is not None for piece in pieces)
    vocabulary = Vocabulary(tuple(piece.startswith("##") for piece in pieces), whole)
    texts = training_texts()
    seconds = fit(model, tokenised(texts, tokenizer), vocabulary, options)
    export(model, options, casing_of(texts, frozenset(piece for piece in pieces if WHOLE_WORD.fullmatch(piece))))
    model.fill_in(load_weights(options.out / FILL_FILE)[0])
    judging = dict.fromkeys(s.text for s in read_trees(data_file("ud_english_ewt/dev.conllu")))  # they train nothing
    figures = judge(model, tokenised(list(judging), tokenizer)[:JUDGED], vocabulary)
    write_training_card("fill", options, options.steps, seconds, figures, texts=len(texts))
    return 0


def new_model(trunk: Any, options: FillOptions) -> FillModel:
    """Return the trunk with a head whose layers are those of all-MiniLM-L6-v2 in their place (random ones for a toy trunk)."""
    torch.manual_seed(options.seed)
    model = FillModel(trunk, options.layers, options.input_layer)
    if trunk.config.hidden_size == HIDDEN:
        source = pretrained(AutoModel, source_folder())
        for layer, old in zip(model.own_layers, source.encoder.layer[options.input_layer :], strict=False):
            layer.load_state_dict(old.state_dict())
    return model


def fit(model: FillModel, rows: Sequence[tuple[int, ...]], vocabulary: Vocabulary, options: FillOptions) -> int:
    """Train the head on rows of pieces, in full precision, and return the seconds."""
    given, regressed = (stream(rows, vocabulary, options, seed) for seed in (options.seed, -options.seed - 1))
    start(model, rows, regressed)
    layers, new = list(model.own_layers.parameters()), list(model.cls.parameters())
    new = [one for one in new if one.requires_grad]  # without the tied embeddings
    optimizer = adamw([{"params": layers}, {"params": new, "lr": FASTER * options.rate}], options.rate)
    log = Log(options.work / PROGRESS)
    train(model, optimizer, {"loss": lambda _: _loss(model, next(given))}, options.steps, log, logged=50)
    return log.seconds()


def _loss(model: FillModel, batch: Masked) -> torch.Tensor:
    return cross_entropy(model(batch.pieces, batch.mask).logits, batch.targets)


@torch.no_grad()
def start(model: FillModel, rows: Sequence[tuple[int, ...]], batches: Iterator[Masked]) -> None:
    """Set the bias to the frequencies of the pieces, and the dense layer to a ridge regression.

    It predicts the embeddings of hidden pieces from the states in their places. From a random start, hundreds of steps would learn no
    more than this.
    """
    head, embeddings = model.cls.predictions, model.bert.embeddings.word_embeddings.weight
    pieces = torch.tensor([piece for row in rows for piece in row[1:-1]])
    counts = torch.bincount(pieces, minlength=len(embeddings)).float() + 0.1
    head.bias.copy_(torch.log(counts / counts.sum()))
    chosen = list(islice(batches, REGRESSED))
    x = torch.cat([model.states(batch.pieces, batch.mask) for batch in chosen]).double()
    y = torch.cat([embeddings[batch.targets] - embeddings.mean(0) for batch in chosen]).double()
    centre = x - x.mean(0)
    gram = centre.T @ centre + RIDGE * len(x) * centre.var() * torch.eye(x.shape[1], dtype=x.dtype)
    weight = torch.linalg.solve(gram, centre.T @ (y - y.mean(0))).T
    scale = (centre @ weight.T).std()
    head.transform.dense.weight.copy_(weight / scale)
    head.transform.dense.bias.copy_(-(x.mean(0) @ weight.T) / scale)
    head.transform.LayerNorm.weight.fill_(SHARPNESS)


def export(model: FillModel, options: FillOptions, casing: tuple[Mapping[str, str], Sequence[str]]) -> None:
    """Write fill.safetensors: the rounded weights and the usual casing of words."""
    sizes = {"layers": options.layers, "input_layer": options.input_layer}
    cases = {"casing": dict(casing[0]), "sometimes": " ".join(casing[1])}
    about = {"sizes": sizes, "source": "all-MiniLM-L6-v2", "licence": "Apache-2.0", **cases}
    tensors = model.stored()
    save_weights(options.out / FILL_FILE, tensors, about, bits=dict.fromkeys(tensors, BITS))


def judge(model: FillModel, rows: Sequence[tuple[int, ...]], vocabulary: Vocabulary) -> dict[str, dict[str, float]]:
    """Return figures at hidden places: ``masked``, JUDGED_SHARE of all pieces; ``one_word``, one whole word per sentence."""
    rng = random.Random("judge")
    masked = [(row, hide(row, vocabulary.continuing, JUDGED_SHARE, rng)) for row in rows]
    single = [(row, one_word(row, vocabulary, rng)) for row in rows]
    return {"masked": _figures(model, masked), "one_word": _figures(model, [item for item in single if item[1]])}


@torch.no_grad()
def _figures(model: FillModel, items: Sequence[tuple[tuple[int, ...], list[int]]]) -> dict[str, float]:
    """Return the accuracy of the best and of the four best pieces, and the perplexity, over the whole vocabulary."""
    loss, first, four, count = 0.0, 0, 0, 0
    ordered = sorted(items, key=lambda item: len(item[0]))
    for begin in range(0, len(ordered), 32):
        rows, hidden = zip(*ordered[begin : begin + 32], strict=True)
        batch = collate(rows, hidden)
        logits = model(batch.pieces, batch.mask).logits
        loss += float(cross_entropy(logits, batch.targets, reduction="sum"))
        right = logits.topk(4, dim=1).indices == batch.targets[:, None]
        first, four, count = first + int(right[:, 0].sum()), four + int(right.sum()), count + len(batch.targets)
    count = max(count, 1)
    perplexity = round(math.exp(min(loss / count, 50.0)), 2)
    return {"places": count, "top_1": round(first / count, 4), "top_4": round(four / count, 4), "perplexity": perplexity}


# Examples

SHORTEST, LONGEST = 5, 96
"""Pieces of a sentence with special tokens; longer ones are cut."""
FURTHER = 0.3
"""Probability that the next word is hidden too, so that several adjacent words are learned."""
USUAL, ENOUGH, SOMETIMES = 0.5, 3, 0.05


class Masked(NamedTuple):
    """A padded batch: (b, L) piece ids with [MASK] at the hidden places, mask of real pieces; (p,) hidden pieces."""

    pieces: torch.Tensor
    mask: torch.Tensor
    targets: torch.Tensor


def training_texts() -> list[str]:
    """Return every distinct sentence of Wikipedia, reference of WMT22 and WMT23 into English, and training sentence of EWT.

    Raises InputError if they are missing.
    """
    texts = [s.text for s in read_trees(data_file("ud_english_ewt/train.conllu"))]
    texts += read_wikipedia(data_file("text/wikipedia_sentences.jsonl.gz"))
    for year in (22, 23):
        texts += [text for s in read_wmt(data_file(f"text/wmt{year}_to_en_outputs.jsonl.gz")) for text in s.references]
    return list(dict.fromkeys(text for text in texts if text))


def tokenised(texts: Sequence[str], tokenizer: Any) -> list[tuple[int, ...]]:
    """Return the pieces of each text with special tokens, at most LONGEST; texts of fewer than SHORTEST or with a mask are left out."""
    rows = tokenizer(list(texts), truncation=True, max_length=LONGEST, verbose=False)["input_ids"]
    return [tuple(row) for row in rows if len(row) >= SHORTEST and MASK_ID not in row]


def words_of(row: Sequence[int], continuing: Sequence[bool]) -> list[tuple[int, int]]:
    """Return half-open ranges of pieces, one per word or mark, without the special tokens at both ends."""
    starts = [n for n in range(1, len(row) - 1) if n == 1 or not continuing[row[n]]]
    return list(zip(starts, [*starts[1:], len(row) - 1], strict=True))


def hide(row: Sequence[int], continuing: Sequence[bool], share: float, rng: random.Random) -> list[int]:
    """Draw pieces to hide: whole words, sometimes several in a row, about ``share`` of all pieces and at least one word."""
    words = words_of(row, continuing)
    wanted, hidden = share * (len(row) - 2), set[int]()
    while not hidden or len(hidden) + rng.random() < wanted:
        place = rng.randrange(len(words))
        hidden.update(range(*words[place]))
        while place + 1 < len(words) and rng.random() < FURTHER:
            place += 1
            hidden.update(range(*words[place]))
    return sorted(hidden)


def one_word(row: Sequence[int], vocabulary: Vocabulary, rng: random.Random) -> list[int]:
    """Draw one word of letters of a single piece; none if there is none."""
    words = [first for first, end in words_of(row, vocabulary.continuing) if end == first + 1 and vocabulary.whole[row[first]]]
    return [rng.choice(words)] if words else []


def collate(rows: Sequence[Sequence[int]], hidden: Sequence[Sequence[int]]) -> Masked:
    """Pad rows to the longest of them and put [MASK] at the hidden places."""
    pieces, mask = padded(rows)
    places = torch.zeros_like(mask)
    for row, chosen in zip(places, hidden, strict=True):
        row[list(chosen)] = True
    targets = pieces[places]
    return Masked(pieces.masked_fill(places, MASK_ID), mask.long(), targets)


def stream(rows: Sequence[tuple[int, ...]], vocabulary: Vocabulary, options: FillOptions, seed: int) -> Iterator[Masked]:
    """Yield batches without end of about ``options.pieces`` pieces, of rows of similar length."""
    rng = random.Random(f"{seed}")
    while True:
        for group in shuffled_batches(rows, rng, options.pieces, len):
            hidden = [hide(row, vocabulary.continuing, options.share, rng) for row in group]
            yield collate(group, hidden)


def casing_of(texts: Iterable[str], words: frozenset[str]) -> tuple[dict[str, str], list[str]]:
    """Return how words are written inside sentences: usual forms that are not lower case, and words that sometimes have a capital.

    Parameters
    ----------
    words
        The lower-case words of interest. They are counted after a lower-case word or comma, so not at sentence starts or in headlines.
    """
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        for found in re.finditer(r"(?<=[a-z,] )[A-Za-z]+(?![\w'’-])", text):
            if found.group().lower() in words:
                forms[found.group().lower()][found.group()] += 1
    usual, sometimes = {}, []
    for word, counts in sorted(forms.items()):
        form, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
        total = counts.total()
        if form != word and count >= ENOUGH and count > USUAL * total:
            usual[word] = form
        elif total >= ENOUGH and total - counts[word] > SOMETIMES * total:
            sometimes.append(word)
    return usual, sometimes

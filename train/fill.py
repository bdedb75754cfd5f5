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
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.nn.functional import cross_entropy
from transformers import BertModel

from rome.data.readers.texts import read_trees, read_wikipedia, read_wmt
from rome.data.sources import data_file
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import load_tokenizer, load_trunk
from rome.features.analyser.fill_head import FILL_FILE, WHOLE_WORD, FillHead, first_layers
from rome.features.analyser.weights import load_weights, save_weights
from rome.train.common.recipe import TrainingOptions, add_training_arguments, read_options, write_training_card
from rome.train.common.training import PROGRESS, Log, adamw, padded, shuffled_batches, start_from_encoder, train

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


class Vocabulary(NamedTuple):
    """Per piece, if it continues a word and if it is a whole word of letters or digits; and the id of the mask."""

    continuing: tuple[bool, ...]
    whole: tuple[bool, ...]
    mask_id: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome train fill`."""
    add_training_arguments(parser, FillOptions, models=True)


def run(arguments: argparse.Namespace) -> int:
    """Carry out `rome train fill`: read the texts, train, judge, write weights and card. Raises InputError if data is missing."""
    options = read_options(arguments, FillOptions)
    encoder = set_folder(options.models) / "encoder"
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
    """Train on rows of pieces; return the head in full precision and the seconds."""

    torch.manual_seed(options.seed)
    head = _start(options, trunk, rows)
    _regress(head, trunk, stream(rows, vocabulary, options, -options.seed - 1))
    new = [*head.dense.parameters(), *head.norm.parameters(), head.bias]
    groups = [{"params": list(head.layers.parameters())}, {"params": new, "lr": FASTER * options.rate}]
    optimizer = adamw(groups, options.rate)
    log, given = Log(options.work / PROGRESS), stream(rows, vocabulary, options, options.seed)

    def loss(_: int) -> torch.Tensor:
        batch = next(given)
        return cross_entropy(_logits(head, trunk, batch), batch.targets)

    train(head, optimizer, {"loss": loss}, options.steps, log, logged=50)
    return head, log.seconds()


def _start(options: FillOptions, trunk: BertModel, rows: Sequence[tuple[int, ...]]) -> FillHead:
    """Return a head with the layers of all-MiniLM-L6-v2 after the trunk (random ones for a toy trunk) and the frequencies as bias."""
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
    """Set the dense layer to the ridge regression of the embeddings of hidden pieces on the states in their places.

    From a random start, hundreds of steps would learn no more than this.
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
    """Write fill.safetensors: the rounded weights and the usual casing of words."""
    about = {"sizes": head.sizes, "source": "all-MiniLM-L6-v2", "licence": "Apache-2.0"}
    about.update(casing=dict(casing[0]), sometimes=" ".join(casing[1]))
    tensors = dict(head.state_dict())
    save_weights(out / FILL_FILE, tensors, about, bits=dict.fromkeys(tensors, BITS))


def judge(
    head: FillHead, trunk: BertModel, rows: Sequence[tuple[int, ...]], vocabulary: Vocabulary
) -> dict[str, dict[str, float]]:
    """Return figures at hidden places: ``masked``, JUDGED_SHARE of all pieces; ``one_word``, one whole word per sentence."""
    rng = random.Random("judge")
    masked = [(row, hide(row, vocabulary.continuing, JUDGED_SHARE, rng)) for row in rows]
    single = [(row, one_word(row, vocabulary.continuing, vocabulary.whole, rng)) for row in rows]
    items = {"masked": masked, "one_word": [(row, hidden) for row, hidden in single if hidden]}
    return {name: _figures(head, trunk, chosen, vocabulary.mask_id) for name, chosen in items.items()}


@torch.no_grad()
def _figures(
    head: FillHead, trunk: BertModel, items: Sequence[tuple[tuple[int, ...], list[int]]], mask_id: int
) -> dict[str, float]:
    """Return the accuracy of the best and of the four best pieces, and the perplexity, over the whole vocabulary."""
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


# Examples

SHORTEST, LONGEST = 5, 96
"""Pieces of a sentence with special tokens; longer ones are cut."""
FURTHER = 0.3
"""Probability that the next word is hidden too, so that several adjacent words are learned."""
USUAL, ENOUGH, SOMETIMES = 0.5, 3, 0.05


class Masked(NamedTuple):
    """A padded batch: (b, L) piece ids with [MASK] at the hidden places, bool mask of real pieces, bool places; (p,) hidden pieces."""

    pieces: torch.Tensor
    mask: torch.Tensor
    places: torch.Tensor
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


def judging_texts() -> list[str]:
    """Return the sentences of the development part of EWT, which trains nothing."""
    return list(dict.fromkeys(s.text for s in read_trees(data_file("ud_english_ewt/dev.conllu"))))


def tokenised(texts: Sequence[str], tokenizer: Any) -> list[tuple[int, ...]]:
    """Return the pieces of each text with special tokens, at most LONGEST; texts of fewer than SHORTEST are left out."""
    rows = tokenizer(list(texts), truncation=True, max_length=LONGEST, verbose=False)["input_ids"]
    return [tuple(row) for row in rows if len(row) >= SHORTEST]


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


def one_word(row: Sequence[int], continuing: Sequence[bool], letters: Sequence[bool], rng: random.Random) -> list[int]:
    """Draw one word of letters of a single piece; none if there is none."""
    words = [start for start, end in words_of(row, continuing) if end == start + 1 and letters[row[start]]]
    return [rng.choice(words)] if words else []


def collate(rows: Sequence[Sequence[int]], hidden: Sequence[Sequence[int]], mask_id: int) -> Masked:
    """Pad rows to the longest of them and put [MASK] at the hidden places."""
    pieces, mask = padded(rows)
    places = torch.zeros_like(mask)
    for row, chosen in zip(places, hidden, strict=True):
        row[list(chosen)] = True
    targets = pieces[places]
    return Masked(pieces.masked_fill(places, mask_id), mask, places, targets)


def stream(rows: Sequence[tuple[int, ...]], vocabulary: Vocabulary, options: FillOptions, seed: int) -> Iterator[Masked]:
    """Yield batches without end of about ``options.pieces`` pieces, of rows of similar length."""
    rng = random.Random(f"{seed}")
    while True:
        for group in shuffled_batches(rows, rng, options.pieces, len):
            hidden = [hide(row, vocabulary.continuing, options.share, rng) for row in group]
            yield collate(group, hidden, vocabulary.mask_id)


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

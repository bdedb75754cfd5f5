"""Tags and trees: parts of speech, morphological features and a dependency tree of a sentence, from the trunk's states.

A learned mixture of the trunk's layers (Peters et al. 2018), what each word's spelling adds to it (the trunk is uncased), transformer
layers of the head's own where the set has them, one vector a word, and on it linear classifiers for the tags and two biaffine scorers
for arcs and relations (Dozat and Manning 2017). A spelling is read as numbers: its letters alone and in twos, threes and fours, capitals kept.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from stanza.models.common.chuliu_edmonds import chuliu_edmonds, chuliu_edmonds_one_root
from torch import nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from .encoder import EmbeddedEncoder, SentenceStates
from .pieces import Encoded, batches_of, padded, touched
from .weights import load_weights

SPELLINGS = 4096
"""Numbers that the parts of spellings fall on."""
LONGEST_PART = 4
LONGEST_WORD = 40
"""Letters; of a longer word only the first ones are read."""
TREES_FILE = "trees.safetensors"
TAGS = ("upos", "xpos", "feats")
MOST_IN_TOKEN = 3
"""Words of one token that the head tells apart; further ones count as the last of them."""
SPELLED = 64
"""Numbers that a spelling is described by."""
PIECES = 256
"""Word pieces that are parsed at once; few, so that the scores of relations stay in the processor's cache."""


def spellings_of(words: Sequence[str]) -> list[tuple[int, ...]]:
    """Return for each word of a sentence the numbers, from 0 to SPELLINGS - 1, of the parts of its spelling; at least one each.

    Parts are the word between marks of its ends, every n of its neighbouring characters, n from 1 to LONGEST_PART (the hashed n-grams
    of Bojanowski et al. 2017), and how it is capitalised. The part up to the first letter of the sentence is distinguished from the rest:
    there a capital says little.
    """
    found, begun = [], False
    for word in words:
        found.append(_parts(word[:LONGEST_WORD], f"{capitals(word)} {begun}"))
        begun = begun or any(letter.isalpha() for letter in word)
    return found


@lru_cache(10_000)
def _parts(word: str, capitalised: str) -> tuple[int, ...]:
    marked = f"^{word}$"
    grams = [marked[n : n + size] for size in range(1, LONGEST_PART + 1) for n in range(len(marked) - size + 1)]
    parts = (part.encode("utf-8", "surrogatepass") for part in (capitalised, marked, *grams))
    return tuple(zlib.crc32(part) % SPELLINGS for part in parts)  # the same on every machine


def capitals(word: str) -> str:
    """Return how a word is capitalised: ``digits``, ``none`` (no letters), ``lower``, ``one`` letter, ``upper``, ``title`` or ``mixed``."""
    letters = [letter for letter in word if letter.isalpha()]
    if any(map(str.isdigit, word)):
        return "digits"
    if not letters:
        return "none"
    large = [letter.isupper() for letter in letters]
    if not any(large):
        return "lower"
    if all(large):
        return "one" if len(large) == 1 else "upper"
    return "title" if large[0] and not any(large[1:]) else "mixed"


class WordRows(NamedTuple):
    """Hold the places of the words of a sentence among the rows of its states (row 0 is the beginning mark).

    Attributes
    ----------
    first, last
        (n,) half-open ranges of rows, at least one row each.
    place
        (n,) each word's number within its token, from 0.
    spellings
        For each word the parts of how it is written, see `spellings_of`.
    """

    first: Sequence[int]
    last: Sequence[int]
    place: Sequence[int]
    spellings: Sequence[Sequence[int]]

    def numbers(self) -> torch.Tensor:
        """Return (n + 1,) each word's number within its token, as far as the head tells them apart; 0 for the root."""
        return torch.tensor([0, *self.place]).clamp_max(MOST_IN_TOKEN - 1)

    def owners(self, length: int) -> torch.Tensor:
        """Return (length,) the word, counted from 1, that each row belongs to, the last one where words share it; 0 for none."""
        found = torch.zeros(length, dtype=torch.long)
        for word, (first, last) in enumerate(zip(self.first, self.last, strict=True), 1):
            found[first:last] = word
        return found

    def averages(self, length: int) -> torch.Tensor:
        """Return (n + 1, length) how much of each row goes into the root, which is row 0, and into each word: the mean of its rows."""
        found = torch.zeros(1 + len(self.first), length)
        found[0, 0] = 1.0
        for word, (first, last) in enumerate(zip(self.first, self.last, strict=True), 1):
            found[word, first:last] = 1.0 / (last - first)
        return found


class ParsedTree(NamedTuple):
    """Hold the prediction for one sentence: for each word its tags, its head (1-based, 0 for the root) and its relation."""

    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    feats: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]

    def of_word(self, word: int) -> tuple[str, str, str, int, str]:
        """Return tags, head and relation of one word."""
        return self.upos[word], self.xpos[word], self.feats[word], self.heads[word], self.relations[word]


@dataclass(frozen=True, slots=True)
class TreeScores:
    """Scores of the n words of each of b sentences.

    Attributes
    ----------
    tags
        (b, n, labels) each.
    arcs
        (b, n, n + 1) to the root and to each word.
    below, above
        What relations are scored from.
    """

    tags: Mapping[str, torch.Tensor]
    arcs: torch.Tensor
    below: torch.Tensor
    above: torch.Tensor


class TreeHead(nn.Module):
    """The head.

    Parameters
    ----------
    width
        Of the trunk's states.
    mixed
        How many of the trunk's layers, counted from the first, are mixed.
    labels
        The names of the classes by ``upos``, ``xpos``, ``feats`` and ``relation``.
    layers
        Transformer layers of its own (post-norm, GELU; heads and inner are their sizes).
    arc, relation
        Widths of the two biaffine scorers.
    dropout
        In training, of the words' numbers; ``part_dropout`` leaves out parts of their spellings.
    """

    def __init__(
        self,
        *,
        width: int,
        mixed: int,
        labels: Mapping[str, Sequence[str]],
        layers: int = 0,
        heads: int = 12,
        inner: int = 1536,
        arc: int = 320,
        relation: int = 128,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.sizes = {
            "width": width, "mixed": mixed, "layers": layers, "heads": heads, "inner": inner, "arc": arc, "relation": relation
        }  # fmt: skip
        self.labels = {name: tuple(names) for name, names in labels.items()}
        self.mix = nn.Parameter(torch.zeros(mixed))
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, inner, dropout, "gelu", layer_norm_eps=1e-12, batch_first=True)
            for _ in range(layers)
        )
        self.place = nn.Embedding(MOST_IN_TOKEN, width)
        nn.init.zeros_(self.place.weight)
        self.spelling = nn.EmbeddingBag(SPELLINGS, SPELLED, mode="sum")
        self.spelled_parts = nn.ModuleList(nn.Linear(SPELLED, width, bias=False) for _ in ("rows", "words"))
        for linear in self.spelled_parts:
            nn.init.zeros_(linear.weight)
        self.tags = nn.ModuleDict({name: nn.Linear(width, len(self.labels[name])) for name in TAGS})
        self.arc_below, self.arc_above = nn.Linear(width, arc), nn.Linear(width, arc)
        self.relation_below, self.relation_above = nn.Linear(width, relation), nn.Linear(width, relation)
        self.arc = nn.Parameter(torch.zeros(arc + 1, arc))
        self.relation = nn.Parameter(torch.zeros(len(self.labels["relation"]), (relation + 1) ** 2))
        self.dropout, self.part_dropout = nn.Dropout(dropout), nn.Dropout(0.0)

    def mixture(self, layers: torch.Tensor) -> torch.Tensor:
        """Return (..., width) from (mixed, ..., width) states of the trunk's first layers."""
        mixed: torch.Tensor = self.norm(torch.tensordot(torch.softmax(self.mix, 0), layers, dims=1))
        return mixed

    def spelled(self, places: Sequence[WordRows], length: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return what spellings add to b sentences: (b, length, width) to their rows, and (b, n + 1, width) to the root, which is 0, and words."""
        spellings = [spelling for each in places for spelling in each.spellings]
        device = self.mix.device
        counts = torch.tensor([len(spelling) for spelling in spellings], device=device)
        weights = self.part_dropout((1.0 / counts).repeat_interleave(counts, output_size=sum(map(len, spellings))))
        parts = torch.tensor([part for spelling in spellings for part in spelling], device=device)
        means = self.dropout(self.spelling(parts, counts.cumsum(0) - counts, per_sample_weights=weights))
        words = [len(each.place) for each in places]
        rows, own = ([functional.pad(part, (0, 0, 1, 0)) for part in linear(means).split(words)] for linear in self.spelled_parts)
        owned = [part[each.owners(length).to(device)] for part, each in zip(rows, places, strict=True)]
        return torch.stack(owned), pad_sequence(own, batch_first=True)

    def read(self, states: torch.Tensor, mask: torch.Tensor, places: Sequence[WordRows]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return (b, n + 1, width) one vector for the root and each word, and (b, n + 1) which of them are real.

        Parameters
        ----------
        states
            (b, L, width), see `mixture`.
        mask
            (b, L) bool, True for real rows.
        """
        rows, spelled = self.spelled(places, mask.shape[1])
        states = states + rows
        ignored = torch.zeros_like(mask, dtype=states.dtype).masked_fill(~mask, float("-inf"))
        for layer in self.layers:
            states = layer(states, src_key_padding_mask=ignored)
        numbers, real = padded([each.numbers().to(states.device) for each in places])
        averages = pad_sequence([each.averages(mask.shape[1]) for each in places], batch_first=True)
        return averages.to(states.device) @ states + self.place(numbers) + spelled, real

    def scores(self, words: torch.Tensor, missing: torch.Tensor | None = None) -> TreeScores:
        """Return scores from (b, n + 1, width) words, the root first.

        Parameters
        ----------
        missing
            (b, n + 1) bool, where there is no word; no arc leads there.
        """
        words = self.dropout(words)
        below, above = (self.dropout(torch.relu(layer(words))) for layer in (self.arc_below, self.arc_above))
        arcs = (_extended(below) @ self.arc @ above.transpose(1, 2))[:, 1:]
        if missing is not None:
            arcs = arcs.masked_fill(missing[:, None], float("-inf"))
        one, other = (self.dropout(torch.relu(layer(words))) for layer in (self.relation_below, self.relation_above))
        tags = {name: layer(words[:, 1:]) for name, layer in self.tags.items()}
        return TreeScores(tags, arcs, _extended(one[:, 1:]), _extended(other))

    def relation_scores(self, scores: TreeScores, heads: torch.Tensor) -> torch.Tensor:
        """Return (b, n, labels) of each word's arc to its head.

        Parameters
        ----------
        heads
            (b, n) with 0 for the root.
        """
        labels, size = self.relation.shape[0], self.sizes["relation"] + 1
        weight = self.relation.view(labels, size, size).permute(1, 0, 2).reshape(size, labels * size)
        above = scores.above.gather(1, heads[:, :, None].expand(-1, -1, size))
        asked = (scores.below @ weight).view(*scores.below.shape[:2], labels, size)
        return (asked @ above[..., None])[..., 0]

    @torch.no_grad()
    def parse(self, sentences: Sequence[torch.Tensor], places: Sequence[WordRows]) -> list[ParsedTree]:
        """Return the likeliest tags, the best tree and the likeliest relation of each of its arcs per sentence.

        Parameters
        ----------
        sentences
            (mixed, rows, width) states of the trunk's layers, marks at both ends included. A sentence has at least one word.
        """
        trees = dict[int, ParsedTree]()
        for chosen in batches_of([each.shape[1] for each in sentences], PIECES):
            mixed, mask = padded([self.mixture(sentences[n]) for n in chosen])
            trees |= zip(chosen, self._trees(mixed, mask, [places[n] for n in chosen]), strict=True)
        return [trees[n] for n in range(len(sentences))]

    def _trees(self, mixed: torch.Tensor, mask: torch.Tensor, places: Sequence[WordRows]) -> Iterator[ParsedTree]:
        """Yield the trees of one batch."""
        words, real = self.read(mixed, mask, places)
        scores, counts = self.scores(words, ~real), [len(each.place) for each in places]
        heads = [_heads(arcs[:n, : n + 1]) for arcs, n in zip(scores.arcs, counts, strict=True)]
        chosen = pad_sequence([torch.from_numpy(own) for own in heads], batch_first=True).to(words.device)
        classes = {name: scores.tags[name].argmax(2).tolist() for name in TAGS}
        classes["relation"] = self.relation_scores(scores, chosen).argmax(2).tolist()
        for k, (own, n) in enumerate(zip(heads, counts, strict=True)):
            upos, xpos, feats, relations = (tuple(self.labels[name][c] for c in rows[k][:n]) for name, rows in classes.items())
            yield ParsedTree(upos, xpos, feats, tuple(own.tolist()), relations)


def _heads(arcs: torch.Tensor) -> NDArray[np.int64]:
    """Return (n,) the head of each word in the best tree, 0 for the root, from (n, n + 1) scores of arcs."""
    scores = torch.log_softmax(arcs, 1).cpu().numpy()
    return best_tree(np.concatenate([np.zeros((1, scores.shape[1]), scores.dtype), scores]))[1:]


def best_tree(scores: NDArray[np.floating]) -> NDArray[np.int64]:
    """Return (n,) heads of the highest-scoring tree with exactly one node under node 0, from (n, n) scores of each node's heads.

    A root's gain is what its arc to node 0 scores above its best other head; no tree with that root is better than all other nodes' best
    heads. So the root that gains most is tried alone; where best heads make no tree, Stanza searches below it (Chu and Liu 1965, Edmonds
    1967), and from all roots where another may be better (Stanojevic and Cohen 2021).
    """
    alone = scores.astype(np.float64)
    np.fill_diagonal(alone, -np.inf)
    nodes = np.arange(len(alone))
    heads = alone[:, 1:].argmax(axis=1) + 1
    most = alone[nodes, heads]
    gains = alone[1:, 0] - most[1:]
    first = 1 + gains.argmax()
    heads[[0, first]] = 0
    reached = heads
    for _ in range(len(heads).bit_length()):  # each round doubles the steps taken
        reached = reached[reached]
    if not reached.any():
        return heads
    below = np.where(nodes == first, alone[:, 0], -np.inf)
    heads = chuliu_edmonds(np.column_stack([below, alone[:, 1:]]))
    gain = (alone[nodes, heads] - most)[1:].sum()
    if (np.delete(gains, first - 1) > gain).any():
        heads = chuliu_edmonds_one_root(scores)
    heads[0] = 0
    return heads


def _extended(states: torch.Tensor) -> torch.Tensor:
    """Return (..., width + 1) with a column of ones."""
    return torch.cat([states, states.new_ones(*states.shape[:-1], 1)], -1)


def load_tree_head(folder: Path) -> TreeHead:
    """Load a head that `rome train` wrote; evaluation mode, no gradients. Raises ModelMissingError when the folder does not hold it."""
    tensors, about = load_weights(Path(folder) / TREES_FILE)
    head = TreeHead(**about["sizes"], labels=about["labels"])
    head.load_state_dict(tensors, assign=True)
    return head.eval().requires_grad_(False)


class Reading(NamedTuple):
    """Hold one sentence: the trunk's states of its text, its tags and its tree."""

    states: SentenceStates
    tree: ParsedTree


class TreeReader:
    """Parse the sentences of a text in one pass of the trunk.

    Parameters
    ----------
    encoder, head
        Of one model set.
    """

    def __init__(self, encoder: EmbeddedEncoder, head: TreeHead) -> None:
        self.encoder, self.head = encoder, head

    def read(self, documents: Sequence[Any]) -> list[Reading]:
        """Return a reading of every sentence of Stanza's documents, in order; the words of each must be known."""
        sentences = [sentence for document in documents for sentence in document.sentences]
        states = self.encoder.read([sentence.text for sentence in sentences])
        layers = [each.whole(self.head.sizes["mixed"]) for each in states]
        places = [_places(sentence, each.pieces) for sentence, each in zip(sentences, states, strict=True)]
        return [Reading(*found) for found in zip(states, self.head.parse(layers, places), strict=True)]


def word_places(token: str, words: Sequence[str], start: int) -> list[tuple[int, int]]:
    """Return the characters of each word of a token that begins at ``start``: side by side if they add up to the token, else the whole token."""
    if len(words) == 1 or "".join(words).lower() != token.lower() or sum(map(len, words)) != len(token):
        return [(start, start + len(token))] * len(words)
    spans = []
    for word in words:
        spans.append((start, start + len(word)))
        start += len(word)
    return spans


def _places(sentence: Any, pieces: Encoded) -> WordRows:
    """Return the rows of the states of each word: those of the pieces that share a character with it, the beginning mark for none."""
    begin: int = sentence.tokens[0].start_char
    spans: list[tuple[int, int]] = []
    place: list[int] = []
    for token in sentence.tokens:
        start, end = token.start_char - begin, token.end_char - begin
        spans += word_places(sentence.text[start:end], [word.text for word in token.words], start)
        place += range(len(token.words))
    first, last = touched(pieces.spans, spans) + (1 if pieces.spans else [[0], [1]])
    spellings = spellings_of([sentence.text[start:end] for start, end in spans])
    return WordRows(first.tolist(), last.tolist(), place, spellings)

"""Word pieces: the encoder's tokenizer, a sentence as rows that fit the encoder's window, and back from piece states to one vector a word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch.nn.utils.rnn import pad_sequence

from rome.exceptions import ModelMissingError

Span = tuple[int, int]
MARKS = (("[UNK]",), ("<s>", "[CLS]"), ("</s>", "[SEP]"), ("<mask>", "[MASK]"))
"""Names of the special pieces (unknown, start, end, mask) in vocabularies of MPNet and of BERT."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """The pieces of one sentence, without special tokens.

    Attributes
    ----------
    ids
        Piece ids.
    spans
        For each piece the characters of the sentence that it covers.
    rows
        The windows over the pieces, each with the special tokens around it; one row when the sentence fits.
    places
        For each row the half-open range of pieces that it holds.
    before
        How many special tokens stand in front of the pieces of a row.
    """

    ids: tuple[int, ...]
    spans: tuple[Span, ...]
    rows: tuple[tuple[int, ...], ...]
    places: tuple[Span, ...]
    before: int


def windows(count: int, size: int, overlap: int) -> tuple[Span, ...]:
    """Return half-open ranges of at most ``size`` that cover ``count`` items, neighbours sharing at least ``overlap`` of them.

    One range when everything fits (also for count = 0). Raises ValueError unless 0 <= overlap < size.
    """
    if not 0 <= overlap < size:
        raise ValueError(f"windows of {size} cannot overlap by {overlap}")
    if count <= size:
        return ((0, count),)
    starts = list(range(0, count - size, size - overlap)) + [count - size]
    return tuple((start, start + size) for start in starts)


def encode(tokenizer: Any, sentences: Sequence[str], window: int, overlap: int = 64) -> list[Encoded]:
    """Tokenise sentences with a fast tokenizer and lay windows of at most ``window`` positions over the long ones.

    Nothing is cut: every piece of a sentence is in at least one row. The special tokens are those of the tokenizer.
    """
    if not sentences:
        return []
    tokens = tokenizer(
        list(sentences), add_special_tokens=False, return_offsets_mapping=True, return_attention_mask=False, verbose=False
    )
    bare, framed = tokenizer("a", add_special_tokens=False)["input_ids"], tokenizer("a")["input_ids"]
    own = next((n for n in range(len(framed)) if framed[n : n + len(bare)] == bare), 0)  # where the one piece is
    before, after = framed[:own], framed[own + len(bare) :]
    size = window - len(before) - len(after)
    encoded = []
    for ids, spans in zip(tokens["input_ids"], tokens["offset_mapping"], strict=True):
        places = windows(len(ids), size, min(overlap, size // 2))
        rows = tuple((*before, *ids[start:end], *after) for start, end in places)
        encoded.append(Encoded(tuple(ids), tuple((int(a), int(b)) for a, b in spans), rows, places, len(before)))
    return encoded


def batches_of(lengths: Sequence[int], pieces: int) -> list[list[int]]:
    """Return indices of rows in batches of similar length, longest first, each of at most ``pieces`` padded pieces or of one row."""
    batches: list[list[int]] = []
    for n in sorted(range(len(lengths)), key=lambda n: -lengths[n]):
        if not batches or (len(batches[-1]) + 1) * lengths[batches[-1][0]] > pieces:
            batches.append([])
        batches[-1].append(n)
    return batches


def padded(rows: Sequence[torch.Tensor], value: float = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (b, L, ...) the rows of a batch, filled up with ``value`` to one length, and (b, L) the places that are real."""
    filled = pad_sequence(list(rows), batch_first=True, padding_value=value)
    lengths = torch.tensor([len(row) for row in rows], device=filled.device)
    return filled, torch.arange(filled.shape[1], device=filled.device)[None] < lengths[:, None]


def merge_windows(encoded: Encoded, rows: Sequence[NDArray[np.floating]]) -> NDArray[np.float32]:
    """Return (n, ...) one value per piece from one array per row (special tokens included); where windows overlap, their mean."""
    if len(rows) == 1:
        return np.asarray(rows[0][encoded.before : encoded.before + len(encoded.ids)], dtype=np.float32)
    total = np.zeros((len(encoded.ids), *rows[0].shape[1:]), dtype=np.float32)
    seen = np.zeros((len(encoded.ids),) + (1,) * (rows[0].ndim - 1), dtype=np.float32)
    for (start, end), values in zip(encoded.places, rows, strict=True):
        total[start:end] += values[encoded.before : encoded.before + end - start]
        seen[start:end] += 1.0
    return np.asarray(total / seen, dtype=np.float32)


def touched(spans: Sequence[Span], words: Sequence[Span]) -> NDArray[np.int64]:
    """Return (2, words) the half-open range of pieces that share a character with each word.

    A word that no piece touches (its characters vanish in the tokenizer's normalisation) gets its nearest piece to the left, the
    first piece if there is none, and an empty range in a sentence without pieces.
    """
    if not len(spans):
        return np.zeros((2, len(words)), np.int64)
    starts, ends = np.array(spans).T
    left, right = np.array(words).reshape(-1, 2).T
    first, last = np.searchsorted(ends, left, side="right"), np.searchsorted(starts, right, side="left")
    nothing = first >= last
    if nothing.any():
        first = np.where(nothing, np.maximum(np.minimum(first, len(spans)) - 1, 0), first)
        last = np.where(nothing, first + 1, last)
    return np.stack([first, last])


def pooled(pieces: NDArray[np.floating], ranges: NDArray[np.int64], reduce: str = "mean") -> NDArray[np.float32]:
    """Return (words, ...) the mean (or ``min``) over a range of pieces for each word; zeros for an empty range.

    Parameters
    ----------
    ranges
        As `touched` gives them.
    """
    first, last = ranges
    out = np.zeros((len(first), *pieces.shape[1:]), dtype=np.float32)
    counts = last - first
    alone = counts == 1
    out[alone] = pieces[first[alone]]
    for index in np.flatnonzero(counts > 1).tolist():
        part = pieces[first[index] : last[index]]
        out[index] = part.min(axis=0) if reduce == "min" else np.add.reduce(part, axis=0) / len(part)
    return out


class WordPieces:
    """The tokenizer of a tokenizer.json, called as transformers' tokenizers are: text in, ids of word pieces out; cut only when asked to.

    One text at a time in several threads is safe unless a call asks for truncation. Raises ModelMissingError when the file is not
    there or lacks a mark.
    """

    def __init__(self, path: Path) -> None:
        if not Path(path).is_file():
            raise ModelMissingError(f"the word pieces {path} are missing: reinstall rome-metric")
        self._tokenizer = Tokenizer.from_str(Path(path).read_text(encoding="utf-8"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.unk_token_id, self.cls_token_id, self.sep_token_id, self.mask_token_id = (self._id(*written) for written in MARKS)

    def _id(self, *written: str) -> int:
        """Return the number of the first of these pieces that the vocabulary has. Raises ModelMissingError when it has none."""
        for number in map(self._tokenizer.token_to_id, written):
            if number is not None:
                return int(number)
        raise ModelMissingError(f"the word pieces have no {written[-1]}: reinstall rome-metric")

    def __call__(
        self,
        texts: str | Sequence[str],
        *,
        add_special_tokens: bool = True,
        truncation: bool = False,
        max_length: int | None = None,
        return_offsets_mapping: bool = False,
        return_attention_mask: bool = False,
        verbose: bool = False,
    ) -> dict[str, Any]:
        """Return ``input_ids`` of one text or of each of several, and ``offset_mapping`` when asked for.

        Parameters
        ----------
        max_length
            With truncation the most pieces of a row, special ones included. The last two, which other tokenizers need, change nothing.
        """
        several = not isinstance(texts, str)
        cut = truncation and max_length is not None
        if cut:
            self._tokenizer.enable_truncation(max_length)
        found = self._tokenizer.encode_batch(list(texts) if several else [texts], add_special_tokens=add_special_tokens)
        if cut:
            self._tokenizer.no_truncation()
        columns: dict[str, Any] = {"input_ids": [encoding.ids for encoding in found]}
        if return_offsets_mapping:
            columns["offset_mapping"] = [encoding.offsets for encoding in found]
        return columns if several else {name: column[0] for name, column in columns.items()}

    def number(self, piece: str) -> int | None:
        """Return the id of a piece, None for one that the vocabulary does not have."""
        found: int | None = self._tokenizer.token_to_id(piece)
        return found

    def convert_ids_to_tokens(self, ids: Iterable[int]) -> list[str]:
        """Return the pieces as they are written."""
        return [str(self._tokenizer.id_to_token(n)) for n in ids]

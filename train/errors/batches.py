"""Batches of packed lessons: the pieces of each different text once, and the pairs as rows of words, with their labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rome.features.analyser.pair_reader import company
from rome.features.errors.evidence import MARKS
from rome.train.errors.packing import Lessons

Array = NDArray[Any]
START, BETWEEN, END = range(len(MARKS))


@dataclass(frozen=True, slots=True)
class Batch:
    """B pairs of up to N places, marks included, of texts in S sentences of up to L pieces and W words in all.

    Attributes
    ----------
    ids, lengths
        (S, L) piece ids with both marks, and (S,) how many of them are real.
    pooled, word
        (Q,) places in the flattened (S * L) states, and the word that each of them is part of.
    row, side, company
        (B, N) what is at each place: a mark (0, 1, 2) or 3 + the number of a word; 0 or 1 for the text; see `company`. Padding is -1 in row.
    severity, type, sure, reference
        (B, N) labels of the words, -1 for an unknown type, how sure they are, and which places are words of the reference.
    cost, level, near, somewhere, kept
        (B,) of each pair, see `Lessons`, and whether the words of the hypothesis may hold the error that is somewhere.
    group, source, pair
        (B,) the group of each pair within its step, the source of each, and its number in the lessons.
    """

    ids: Tensor
    lengths: Tensor
    pooled: Tensor
    word: Tensor
    row: Tensor
    side: Tensor
    company: Tensor
    severity: Tensor
    type: Tensor
    sure: Tensor
    reference: Tensor
    cost: Tensor
    level: Tensor
    near: Tensor
    somewhere: Tensor
    kept: Tensor
    group: Tensor
    source: Tensor
    pair: Tensor

    def to(self, device: str) -> Batch:
        """Return the batch on a device."""
        return replace(self, **{f.name: getattr(self, f.name).to(device, non_blocking=True) for f in fields(self)})


class Batches(torch.utils.data.Dataset[Batch]):
    """Makes the batches of a run; the n-th one is always the same.

    Parameters
    ----------
    marks
        Ids of the pieces before and after a text.
    numbers
        (vocabulary,) another tokenizer's ids for the packed ones; None for the same.
    pairs
        Of a batch, about.
    parts
        Batches of a step, whose pairs are of like length and which hold about as many words.
    rows
        Numbers of the lessons to take; None for all.
    """

    def __init__(
        self,
        lessons: Lessons,
        marks: tuple[int, int],
        numbers: Array | None = None,
        pairs: int = 768,
        parts: int = 6,
        seed: int = 0,
        rows: Array | None = None,
    ) -> None:
        self.lessons, self.marks, self.numbers, self.parts = lessons, marks, numbers, parts
        sizes = np.diff(lessons.group_start)
        order = np.random.default_rng(seed).permutation(len(lessons) if rows is None else rows)
        ends = np.cumsum(sizes[order]) // pairs
        self.steps: list[Array] = np.split(order, np.flatnonzero(np.diff(ends)) + 1)

    def __len__(self) -> int:
        """Return the number of steps of one pass over the lessons."""
        return len(self.steps)

    def __getitem__(self, step: int) -> list[Batch]:
        """Return the parts of a step."""
        own, starts = self.steps[step % len(self.steps)], self.lessons.group_start
        pairs = np.concatenate([np.arange(starts[g], starts[g + 1]) for g in own])
        groups = np.repeat(np.arange(len(own)), starts[own + 1] - starts[own])
        words = np.diff(self.lessons.word_start)
        lengths = words[self.lessons.reference[pairs]] + words[self.lessons.hypothesis[pairs]]
        order = np.argsort(lengths, kind="stable")
        sources, filled = self.lessons.source[own], np.cumsum(lengths[order])
        ends = np.searchsorted(filled, filled[-1] * np.arange(1, self.parts) / self.parts)
        parts = [part for part in np.split(order, ends) if len(part)]
        return [self._batch(pairs[part], groups[part], sources[groups[part]]) for part in parts]

    def _batch(self, pairs: Array, groups: Array, sources: Array) -> Batch:
        lessons = self.lessons
        texts, numbers = np.unique(np.stack([lessons.reference[pairs], lessons.hypothesis[pairs]]), return_inverse=True)
        numbers = numbers.reshape(2, -1)
        ids, lengths, pooled, word, first_word = self._texts(texts)
        forms = [lessons.form[lessons.word_start[t] : lessons.word_start[t + 1]] for t in texts]
        counts = np.array([len(form) for form in forms])
        p, q = counts[numbers[0]], counts[numbers[1]]
        shape = len(pairs), _rounded_up(int((p + q).max()) + len(MARKS))
        row, side, known = (np.full(shape, value, np.int64) for value in (-1, 0, 0))
        severity, kind, sure = np.zeros(shape, np.int64), np.full(shape, -1, np.int64), np.zeros(shape, np.float32)
        reference = np.zeros(shape, bool)
        for n, (one, other) in enumerate(numbers.T.tolist()):
            a, b = int(p[n]), int(q[n])
            row[n, 0], row[n, a + 1], row[n, a + b + 2] = START, BETWEEN, END
            row[n, 1 : a + 1] = 3 + first_word[one] + np.arange(a)
            row[n, a + 2 : a + b + 2] = 3 + first_word[other] + np.arange(b)
            side[n, a + 2 : a + b + 2] = 1
            left, right = forms[one].tolist(), forms[other].tolist()
            known[n, 1 : a + 1], known[n, a + 2 : a + b + 2] = company(left, right), company(right, left)
            sure[n, 1 : a + 1] = lessons.reference_sure[pairs[n]]
            sure[n, a + 2 : a + b + 2] = lessons.sure[pairs[n]]
            reference[n, 1 : a + 1] = True
            labels = slice(lessons.label_start[pairs[n]], lessons.label_start[pairs[n] + 1])
            place = lessons.place[labels].astype(np.int64)
            place += np.where(place < a, 1, 2)
            severity[n, place], kind[n, place] = lessons.severity[labels], lessons.type[labels]
            sure[n, place] = np.maximum(sure[n, place], 0.3)
        columns = (ids, lengths, pooled, word, row, side, known, severity, kind, sure, reference)
        own = (lessons.cost, lessons.level, lessons.near, lessons.somewhere)
        kept = lessons.sure[pairs] == 0
        return Batch(*map(torch.from_numpy, (*columns, *(column[pairs] for column in own), kept, groups, sources, pairs)))

    def _texts(self, texts: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Return ids and lengths of all sentences, the places and numbers of words, and the first word of each text."""
        lessons, rows = self.lessons, []
        for t in texts.tolist():
            at = int(lessons.piece_start[t])
            for size in lessons.sentences[lessons.sentence_start[t] : lessons.sentence_start[t + 1]].tolist():
                rows.append(lessons.pieces[at : at + size])
                at += size
        longest = _rounded_up(max((len(row) for row in rows), default=0) + 2)
        ids = np.full((len(rows), longest), self.marks[1], np.int64)
        for n, row in enumerate(rows):
            ids[n, 0] = self.marks[0]
            ids[n, 1 : 1 + len(row)] = row if self.numbers is None else self.numbers[row]
        sentence, places, words, first_word = 0, [], [], []
        count = 0
        for t in texts.tolist():
            sizes = lessons.sentences[lessons.sentence_start[t] : lessons.sentence_start[t + 1]]
            own = [np.arange(size) + (sentence + k) * longest + 1 for k, size in enumerate(sizes.tolist())]
            where = np.concatenate(own) if own else np.zeros(0, np.int64)
            part = slice(lessons.word_start[t], lessons.word_start[t + 1])
            first, last = lessons.first[part].astype(np.int64), lessons.last[part].astype(np.int64)
            span = last - first
            each = np.repeat(np.arange(len(first)), span)
            offset = np.arange(len(each)) - np.repeat(np.cumsum(span) - span, span)
            places.append(where[first[each] + offset])
            words.append(count + each)
            first_word.append(count)
            count += len(first)
            sentence += len(sizes)
        lengths = np.array([len(row) + 2 for row in rows])
        return ids, lengths, np.concatenate(places), np.concatenate(words), np.array(first_word)


def _rounded_up(length: int) -> int:
    """Return the next multiple of 8, for which graphics cards have faster attention."""
    return -(-length // 8) * 8


def batches(source: Batches, first: int, steps: int, workers: int) -> Iterator[Sequence[Batch]]:
    """Yield the parts of each step, made in processes of their own where there are workers."""
    chosen = [n % len(source) for n in range(first, steps)]
    subset = torch.utils.data.Subset(source, chosen)
    options: dict[str, Any] = {"prefetch_factor": 6} if workers else {}
    own = torch.Generator()  # else a resumed training would draw other dropout
    yield from torch.utils.data.DataLoader(subset, batch_size=None, num_workers=workers, generator=own, **options)

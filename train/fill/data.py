"""The masked-language head's training examples: sentences with some whole words hidden, and how words are usually written."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from rome.data.readers.texts import read_trees, read_wikipedia, read_wmt
from rome.data.sources import data_file
from rome.train.common.batches import cut_batches, padded

SHORTEST, LONGEST = 5, 96
"""Pieces of a sentence, special tokens included; longer ones are cut."""
FURTHER = 0.3
"""How often the next word is hidden too, so that places of several adjacent words are known."""
USUAL, ENOUGH, SOMETIMES = 0.5, 3, 0.05


@dataclass(frozen=True, slots=True)
class Masked:
    """A padded batch: (b, L) piece ids with [MASK] at the hidden places, bool mask of real pieces, bool places; (p,) what is hidden."""

    pieces: torch.Tensor
    mask: torch.Tensor
    places: torch.Tensor
    targets: torch.Tensor


def training_texts() -> list[str]:
    """Every distinct sentence of Wikipedia, reference of WMT22 and WMT23 into English, and sentence of EWT's training part.

    Raises InputError, with the remedy, when they are not below the data folder.
    """
    texts = [s.text for s in read_trees(data_file("ud_english_ewt/train.conllu"))]
    texts += read_wikipedia(data_file("text/wikipedia_sentences.jsonl.gz"))
    for year in (22, 23):
        texts += [text for s in read_wmt(data_file(f"text/wmt{year}_to_en_outputs.jsonl.gz")) for text in s.references]
    return list(dict.fromkeys(text for text in texts if text))


def judging_texts() -> list[str]:
    """The sentences of EWT's development part, which no training reads."""
    return list(dict.fromkeys(s.text for s in read_trees(data_file("ud_english_ewt/dev.conllu"))))


def tokenised(texts: Sequence[str], tokenizer: Any) -> list[tuple[int, ...]]:
    """Pieces of each text with its special tokens, at most LONGEST; texts of fewer than SHORTEST are left out."""
    rows = tokenizer(list(texts), truncation=True, max_length=LONGEST, verbose=False)["input_ids"]
    return [tuple(row) for row in rows if len(row) >= SHORTEST]


def words_of(row: Sequence[int], continuing: Sequence[bool]) -> list[tuple[int, int]]:
    """Half-open ranges of pieces, one a word or mark, the special tokens at both ends left out."""
    starts = [n for n in range(1, len(row) - 1) if n == 1 or not continuing[row[n]]]
    return list(zip(starts, [*starts[1:], len(row) - 1], strict=True))


def hide(row: Sequence[int], continuing: Sequence[bool], share: float, rng: random.Random) -> list[int]:
    """Which pieces are hidden: whole words, now and then several in a row, about ``share`` of all pieces and at least one word."""
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
    """One word of letters of a single piece, as a filler meets it; nothing where there is none."""
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


def stream(
    rows: Sequence[tuple[int, ...]],
    continuing: Sequence[bool],
    mask_id: int,
    pieces: int,
    share: float,
    seed: int,
    start: int = 0,
) -> Iterator[Masked]:
    """Batches without end of about ``pieces`` pieces, of rows of like length; batch n is the same whether batches before it were made.

    Parameters
    ----------
    start
        The number of the first batch.
    """
    number, epoch = 0, 0
    while True:
        order = random.Random(f"{seed} epoch {epoch}")
        groups = cut_batches(sorted(rows, key=lambda row: len(row) + order.random()), pieces, len)
        order.shuffle(groups)
        for group in groups:
            if number >= start:
                rng = random.Random(f"{seed} batch {number}")
                yield collate(group, [hide(row, continuing, share, rng) for row in group], mask_id)
            number += 1
        epoch += 1


def casing_of(texts: Iterable[str], words: frozenset[str]) -> tuple[dict[str, str], list[str]]:
    """How words are written inside sentences: lower-case word -> usual form where that is not lower case; and words that are
    sometimes written with a capital.

    Parameters
    ----------
    words
        The lower-case words of interest. Counted where a lower-case word or comma stands before, so not at sentence starts, and not in
        headlines.
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

"""Pairs of about 25 words for the benchmarks of speed.

Pairs are WMT22 references with real systems' outputs. Where that file is not there they come from the sentences of our own in
speed_texts.txt, with a number in each; every benchmark says which it took.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count as numbers
from itertools import islice
from pathlib import Path

from rome.data.readers.texts import read_wmt
from rome.data.sources import data_file
from rome.exceptions import RomeError

Pair = tuple[str, str]
WORDS = (20, 30)
MOST_OUTPUTS = 14
OWN = Path(__file__).with_name("speed_texts.txt")


def pairs(count: int) -> list[Pair]:
    """Return distinct pairs: each reference of 20 to 30 words with its first output, then each with its second, and so on.

    WMT22 has 2,468 such references; up to there no text is in two pairs. Raises ValueError when there are not so many pairs.
    """
    found = list(islice(all_pairs(), count))
    if len(found) < count:
        raise ValueError(f"there are {len(found)} pairs, not {count}")
    return found


def source() -> str:
    """Return a short description of the pairs."""
    return "WMT22 references of 20 to 30 words with real systems' outputs" if _wmt() else "our own sentences, varied"


def mean_words(given: Sequence[Pair]) -> float:
    """Return the mean number of words per text, separated by blanks."""
    return sum(len(text.split()) for pair in given for text in pair) / max(1, 2 * len(given))


def all_pairs() -> Iterator[Pair]:
    """Yield every pair in the order of `pairs`."""
    segments = _wmt()
    if not segments:
        yield from (_own(number) for number in numbers())
    for place in range(MOST_OUTPUTS):
        for reference, outputs in segments.items():
            if place < len(outputs):
                yield reference, outputs[place]


@cache
def _wmt() -> dict[str, tuple[str, ...]]:
    """Return the distinct outputs of each reference; nothing without the data."""
    try:
        path = data_file("text/wmt22_to_en_outputs.jsonl.gz")
        segments = list(read_wmt(path))
    except (RomeError, OSError):
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for segment in segments:
        if WORDS[0] <= len(segment.references[0].split()) <= WORDS[1] and segment.references[0] not in found:
            texts = dict.fromkeys(text for _, text in segment.outputs if text != segment.references[0])
            found[segment.references[0]] = tuple(texts)
    return found


@cache
def _sentences() -> tuple[list[str], ...]:
    return tuple(line.split() for line in OWN.read_text(encoding="utf-8").splitlines())


def _own(number: int) -> Pair:
    """Return a sentence of our own with a number in it, and the same without a word."""
    known = _sentences()
    words = [*known[number % len(known)][:-1], f"{number}", known[number % len(known)][-1]]
    gone = 1 + number % (len(words) - 3)  # never the number, which keeps the texts apart
    return " ".join(words), " ".join(words[:gone] + words[gone + 1 :])

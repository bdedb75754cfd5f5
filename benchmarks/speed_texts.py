"""The texts that the benchmarks of speed share: real pairs of about 25 words, texts of any length, and many systems' outputs.

Pairs are WMT22 references with real systems' outputs. Where that file is not there they come from the sentences of our own in
speed_texts.txt, with a number in each; every benchmark says which it took.
"""

from __future__ import annotations

import random
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
    """So many distinct pairs: each reference of 20 to 30 words with its first output, then each with its second, and so on.

    WMT22 has 2,468 such references; up to there no text stands in two pairs. Raises ValueError when there are not so many pairs.
    """
    found = list(islice(all_pairs(), count))
    if len(found) < count:
        raise ValueError(f"there are {len(found)} pairs, not {count}")
    return found


def source() -> str:
    """What the pairs are, in a few words."""
    return "WMT22 references of 20 to 30 words with real systems' outputs" if _wmt() else "our own sentences, varied"


def mean_words(given: Sequence[Pair]) -> float:
    """Words a text, separated by blanks."""
    return sum(len(text.split()) for pair in given for text in pair) / max(1, 2 * len(given))


def all_pairs() -> Iterator[Pair]:
    """Every pair in the order of `pairs`."""
    segments = _wmt()
    if not segments:
        yield from (_own(number) for number in numbers())
    for place in range(MOST_OUTPUTS):
        for reference, outputs in segments.items():
            if place < len(outputs):
                yield reference, outputs[place]


@cache
def _wmt() -> dict[str, tuple[str, ...]]:
    """The distinct outputs of each reference; nothing without the data."""
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
    """A sentence of our own with a number in it, and the same with a word gone."""
    known = _sentences()
    words = [*known[number % len(known)][:-1], f"{number}", known[number % len(known)][-1]]
    gone = 1 + number % (len(words) - 3)  # never the number, which keeps the texts apart
    return " ".join(words), " ".join(words[:gone] + words[gone + 1 :])


def pairs_of_length(rows: Iterator[Pair], words: int, count: int, *, one_sentence: bool) -> list[Pair]:
    """So many pairs of texts of ``words`` words each (the hypothesis may be a little shorter), made of the next pairs, one after the other.

    one_sentence : the parts are joined with "and" into one long sentence; else they stay sentences of about 25 words.
    """
    found: list[Pair] = []
    while len(found) < count:
        texts: tuple[list[str], list[str]] = ([], [])
        while len(texts[0]) < words:
            pair = next(rows, None)
            if pair is None:
                raise ValueError(f"there are no {count} pairs of {words} words")
            for text, part in zip(texts, pair, strict=True):
                text += ["and"] if text and one_sentence else []
                text += part.rstrip(" .!?\"'”’").split() if one_sentence else part.split()
        found.append((" ".join(texts[0][:words]), " ".join(texts[1][:words])))
    return found


def systems(segments: int, count: int) -> tuple[list[str], list[list[str]]]:
    """References, and for each of ``count`` systems a hypothesis a reference, no two of them alike.

    The first systems' are real outputs; when a reference has no more, an output comes again with words exchanged.
    """
    wmt = _wmt()
    rows = [(r, outputs) for r, outputs in wmt.items() if len(outputs) >= 9][:segments] if wmt else []
    rows = rows or [(r, (h,)) for r, h in (_own(number) for number in range(segments))]
    taken: list[set[str]] = [{reference} for reference, _ in rows]
    result = []
    for system in range(count):
        outputs = []
        for n, (_, real) in enumerate(rows):
            text, chance = real[system % len(real)], random.Random(f"{system}|{n}")
            while text in taken[n]:
                text = _exchanged(text, chance)
            taken[n].add(text)
            outputs.append(text)
        result.append(outputs)
    return [reference for reference, _ in rows], result


def _exchanged(text: str, chance: random.Random) -> str:
    """The text with two neighbouring words in each other's place, and one of them repeated when that changes nothing."""
    words = text.split()
    place = chance.randrange(max(1, len(words) - 1))
    words[place : place + 2] = words[place : place + 2][::-1] if chance.random() < 0.9 else words[place : place + 1] * 2
    return " ".join(words)

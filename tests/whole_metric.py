"""The metric with its embedded models, loaded once for all tests, and texts to score: of WMT where the data is there, else invented."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from itertools import islice

from rome.data.readers.texts import read_wmt
from rome.data.sources import data_file
from rome.exceptions import InputError
from rome.metric import RoMe

MOST_SYSTEMS, LEAST_WORDS, MOST_WORDS = 4, 6, 40
ANSWERS = {
    "The storm reached the coast at noon, and two roads were closed.": (
        "At noon the storm reached the coast and two roads were closed.",
        "The storm reach the coast at noon, and two roads was closed.",
        "Two roads were closed.",
        "The storm reached the coast at midnight, and twelve roads were opened.",
    ),
    "A young engineer designed the old bridge over the river.": (
        "The old bridge over the river was designed by a young engineer.",
        "A young engineer did not design the old bridge over the river.",
        "A yuong engineer desinged the bridge old over river.",
        "My neighbour bakes bread every Sunday.",
    ),
    "The committee received several letters about the new library.": (
        "Several letters about the new library reached the committee.",
        "The committee received a letter about the old library.",
        "committee received received letters letters new library",
        "The committee has received several letters about the new library.",
    ),
    "Maria Lindgren won the first prize for her short story.": (
        "Maria Lindgren was awarded the first prize for her short story.",
        "Paula Hartmann won the first prize for her short story.",
        "Maria Lindgren won the first price for his short story",
        "For her short story, Maria Lindgren won first prize.",
    ),
    "The farmer sold his old red tractor to a neighbour last spring.": (
        "Last spring the farmer sold a neighbour his old red tractor.",
        "The farmer sold his tractor.",
        "The farmer bought an old red tractor from a neighbour last spring.",
        "The farmer sold his old red tractor to a neighbour last spring, which made everybody in the village laugh.",
    ),
    "Prices in the village shop are remarkably low this year.": (
        "This year, prices in the village shop are remarkably low.",
        "Prices in the village shop are remarkably high this year.",
        "Prices in village shop is remarkably low this year .",
        "The village shop is remarkably cheap this year.",
    ),
    "The doctor said that the medicine is not safe for children.": (
        "According to the doctor, the medicine is not safe for children.",
        "The doctor said that the medicine is safe for children.",
        "The doctor said the children is not safe for medicine.",
        "The medicine, said the doctor, is unsafe for children.",
    ),
    "The glacier has lost a third of its ice since the survey began.": (
        "Since the survey began, the glacier has lost a third of its ice.",
        "The glacier has lost half of its ice since the survey began.",
        "Please send me the recipe for your lemon cake.",
        "Since the beginning of the survey a third of the glacier's ice is gone.",
    ),
}
"""Invented references, each with answers that are right, wrong and worse."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A reference and distinct hypotheses, none of them the reference itself."""

    reference: str
    hypotheses: tuple[str, ...]


@cache
def whole_metric() -> RoMe:
    """One thread, no store."""
    return RoMe(progress=False, threads=1)


@cache
def answered(count: int = 8) -> tuple[Answered, ...]:
    """So many references of WMT 2022 with systems' translations, the same ones every time; without the data those of ANSWERS."""
    try:
        segments = list(islice(read_wmt(data_file("text/wmt22_to_en_outputs.jsonl.gz")), 3000))
    except InputError:
        return tuple(Answered(reference, hypotheses) for reference, hypotheses in ANSWERS.items())[:count]
    random.Random(count).shuffle(segments)
    found = (
        Answered(one.references[0], tuple(dict.fromkeys(text for _, text in one.outputs if text != one.references[0])))
        for one in segments
        if LEAST_WORDS <= len(one.references[0].split()) <= MOST_WORDS
    )
    return tuple(Answered(one.reference, one.hypotheses[:MOST_SYSTEMS]) for one in islice(found, count))


def pairs(count: int = 8) -> tuple[list[str], list[str]]:
    """Every reference with every one of its hypotheses: references, hypotheses."""
    rows = [(one.reference, hypothesis) for one in answered(count) for hypothesis in one.hypotheses]
    return [reference for reference, _ in rows], [hypothesis for _, hypothesis in rows]

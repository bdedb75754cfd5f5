"""Real outputs of one WMT segment ranked without people: by how far the other systems and the references agree with each.

One reference is one way to say it; what eleven systems and a reference have in common is likelier right, as in minimum Bayes risk
decoding (Kumar and Byrne 2004). So the head learns of real mistakes, of which no perturbation knows, what a single reference does not tell.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rome.data.readers.wmt import TranslatedSegment, read_wmt
from rome.data.sources import data_file

from .errors_probes import WORDS, wmt_group

__all__ = ["Ranked", "agreement_of", "ranked_outputs"]

FEWEST = 5
"""Different outputs of a segment; with fewer there is no consensus."""
LONGEST = WORDS[1] + 6


@dataclass(frozen=True, slots=True)
class Ranked:
    """A segment: its reference, and outputs with the share in [0, 1], higher is better, to which the others agree with each."""

    group: str
    reference: str
    outputs: tuple[tuple[str, float], ...]


@dataclass(frozen=True, eq=False)
class _Judged:
    """A segment's different texts, the systems that wrote each, and how far the others agree with each."""

    group: str
    pair: str
    reference: str
    texts: list[str]
    systems: list[list[str]]
    agreement: NDArray[np.float64]


def ranked_outputs(known: Mapping[str, Sequence[str]], each: int) -> list[Ranked]:
    """The outputs of every segment whose reference is known: the known ones and ``each`` more, with their qualities.

    known : reference -> outputs that are analysed already. Segments with fewer than five different outputs, or with a reference of fewer
    than 7 or more than 42 words, are left out. A quality is the output's `agreement_of` and the advantage of its systems, which is the mean
    over their segments (of one language pair and year) of how much more the others agree with them than with the average system there.
    Raises InputError when the development data is absent.
    """
    judged = [_judged(*row) for row in _segments(known)]
    gains: dict[tuple[str, str], list[float]] = defaultdict(list)
    for segment in judged:
        weights = [len(names) for names in segment.systems]
        for names, gain in zip(
            segment.systems, segment.agreement - np.average(segment.agreement, weights=weights), strict=True
        ):
            for name in names:
                gains[segment.pair, name].append(float(gain))
    advantage = {system: float(np.mean(values)) for system, values in gains.items()}
    ranked = []
    for segment in judged:
        usual = [np.mean([advantage[segment.pair, name] for name in names]) for names in segment.systems]
        quality = dict(zip(segment.texts, (segment.agreement + np.array(usual)).tolist(), strict=True))
        chosen = _chosen(segment, known[segment.reference], each)
        ranked.append(Ranked(segment.group, segment.reference, tuple((text, quality[text]) for text in chosen)))
    return ranked


def agreement_of(texts: Sequence[str], references: Sequence[str]) -> NDArray[np.float64]:
    """(n,) chrF2 in [0, 1] of each text, half its mean against the other texts, half that against the references."""
    from sacrebleu.metrics import CHRF

    chrf = CHRF()
    others = [*texts, *references]
    found = [
        chrf.sentence_score(text, [other]).score for n, text in enumerate(texts) for m, other in enumerate(others) if n != m
    ]
    table = np.array(found).reshape(len(texts), len(others) - 1) / 100.0
    return 0.5 * table[:, : len(texts) - 1].mean(axis=1) + 0.5 * table[:, len(texts) - 1 :].mean(axis=1)


def _segments(known: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str, TranslatedSegment]]:
    """Group, year and language pair, and segment, of those that can be ranked."""
    for year in ("22", "23"):
        for number, segment in enumerate(read_wmt(data_file(f"text/wmt{year}_to_en_outputs.jsonl.gz"))):
            reference = segment.references[0].strip()
            different = {text.strip() for _, text in segment.outputs}
            if reference in known and len(different) >= FEWEST and WORDS[0] <= len(reference.split()) <= WORDS[1]:
                yield wmt_group(year, number), f"{year} {segment.language_pair}", segment


def _judged(group: str, pair: str, segment: TranslatedSegment) -> _Judged:
    systems: dict[str, list[str]] = {}
    for name, text in segment.outputs:
        systems.setdefault(text.strip(), []).append(name)
    references = [text.strip() for text in segment.references if text.strip()]
    texts = list(systems)
    return _Judged(group, pair, references[0], texts, list(systems.values()), agreement_of(texts, references))


def _chosen(segment: _Judged, known: Sequence[str], each: int) -> list[str]:
    """The known outputs, and some of the others drawn by the segment's name."""
    others = [text for text in segment.texts if text not in known and 5 <= len(text.split()) <= LONGEST]
    drawn = random.Random(segment.group).sample(others, min(each, len(others)))
    return [*(text for text in known if text in segment.texts), *drawn]

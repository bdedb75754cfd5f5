"""Texts and their perturbed copies, made on demand, with the edits or the reason why there are none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rome.data.perturbations.lexicons import both_ways, can_inflect, default_materials, read_table
from rome.data.perturbations.perturbation import Materials, Perturbation, Perturbed, Replacement
from rome.data.perturbations.registry import NOT_AUTOMATED, PERTURBATIONS, named
from rome.features.values import Analysis

BLOCK = 32
NEIGHBOURS = 12
LEAST_COSINE = 0.46
"""Below it, the nearest words by static vectors are more often related than similar."""

Analyse = Callable[[Sequence[str]], Mapping[str, Analysis]]


@dataclass(frozen=True, slots=True)
class PerturbedText:
    """One text under one perturbation.

    Attributes
    ----------
    number
        Number of the text, from 0.
    identifier
        The number in DEMETR's table 1, or None.
    perturbed
        The new text; None where the perturbation does not apply.
    reason
        Why the perturbation does not apply; None otherwise.
    """

    number: int
    perturbation: str
    category: str
    type: str
    severity: str
    identifier: int | None
    seed: int
    text: str
    perturbed: str | None
    edits: tuple[Replacement, ...]
    reason: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, the edits as dictionaries of characters and strings."""
        return asdict(self) | {"edits": [asdict(edit) for edit in self.edits]}


def perturb_texts(
    texts: Sequence[str | Analysis],
    names: Sequence[str] | None = None,
    *,
    analyse: Analyse | None = None,
    seed: int = 0,
    materials: Materials | None = None,
) -> Iterator[PerturbedText]:
    """Yield every text under every named perturbation (None: all), text by text; those that do not apply have a reason.

    Texts are analysed in blocks of 32 just before they are perturbed, so the first results come at once and memory stays bounded.

    Raises InputError for an unknown name, before anything is analysed, and TypeError for a text without ``analyse``.

    Parameters
    ----------
    analyse
        A function that analyses texts, such as ``RoMe().analyse``; not needed where all texts are Analysis values.
    materials
        Lexicons, names, other texts; by default those of `materials_for` over these texts.
    """
    chosen = list(PERTURBATIONS.values()) if names is None else [named(name) for name in dict.fromkeys(names)]

    def results() -> Iterator[PerturbedText]:
        """Yield the results block by block."""
        known = materials or materials_for([text if isinstance(text, str) else text.text for text in texts])
        for start in range(0, len(texts), BLOCK):
            block = texts[start : start + BLOCK]
            plain = [text for text in block if isinstance(text, str)]
            if plain and analyse is None:
                raise TypeError("texts need `analyse`, such as RoMe().analyse")
            found = analyse(plain) if plain and analyse is not None else {}
            for number, text in enumerate(block, start):
                analysis = found[text] if isinstance(text, str) else text
                yield from (_one(number, analysis, perturbation, seed, known) for perturbation in chosen)

    return results()


def _one(number: int, analysis: Analysis, perturbation: Perturbation, seed: int, materials: Materials) -> PerturbedText:
    """Return one text under one perturbation."""
    result = perturbation(analysis, seed, materials)
    new, edits, reason = (result.text, result.edits, None) if isinstance(result, Perturbed) else (None, (), result.reason)
    row = (perturbation.name, perturbation.category, perturbation.type, perturbation.severity, perturbation.identifier, seed)
    return PerturbedText(number, *row, analysis.text, new, edits, reason)


def materials_for(
    texts: Sequence[str],
    *,
    antonyms: str | None = None,
    hypernyms: str | None = None,
    synonyms: str | None = None,
    similar: Mapping[str, Sequence[str]] | None = None,
) -> Materials:
    """Return the embedded lexicons, or the files that replace them: lines of a lemma, a tab and its antonyms, hypernyms or synonyms.

    Raises InputError that names the file and line at fault.

    Parameters
    ----------
    texts
        Where unrelated texts and, if they hold enough, other names are drawn from.
    similar
        By default word vectors of the embedded encoder, loaded at the first word that is looked up.
    """
    return default_materials(
        texts,
        antonyms=None if antonyms is None else both_ways(read_table(antonyms)),
        hypernyms=None if hypernyms is None else read_table(hypernyms),
        synonyms=None if synonyms is None else read_table(synonyms),
        similar=SimilarWords() if similar is None else similar,
    )


def inflection_note() -> str | None:
    """Return a note with a remedy for users without the inflection library; None where it is installed."""
    if can_inflect():
        return None
    return (
        "lemminflect is not installed, so tense, aspect, passive forms and others seldom apply: "
        'run `pip install "rome-metric[evaluate]"`'
    )


def perturbation_table() -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the header and a row for each perturbation, then the kinds of DEMETR's table 1 that no perturbation makes."""
    rows: list[tuple[str, ...]] = [
        (str(p.identifier or "-"), p.name, p.category, p.type, p.severity, " ".join((p.function.__doc__ or "").split()))
        for p in PERTURBATIONS.values()
    ]
    rows += [(str(number), "-", "-", "-", "-", f"left out: {why}") for number, why in NOT_AUTOMATED.items()]
    header = ("identifier", "name", "category", "type", "severity", "description")
    return header, rows


class SimilarWords(Mapping[str, Sequence[str]]):
    """The nearest words by static word vectors of the embedded encoder (its first whole-word pieces), nearest first.

    The encoder is loaded at the first look-up. Raises ModelMissingError then, when the extra ``models`` is not installed.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}

    @cached_property
    def _table(self) -> tuple[tuple[str, ...], NDArray[np.float32]]:
        """Return the words, and (n, d) unit vectors without their mean."""
        from rome.features.analyser.encoder import static_vectors

        return static_vectors()

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self._table[0])}

    def __getitem__(self, word: str) -> Sequence[str]:
        if word not in self._known:
            (words, vectors), own = self._table, self._rows[word]
            cosines = vectors @ vectors[own]
            cosines[own] = -2.0
            nearest = np.argsort(-cosines, kind="stable")[:NEIGHBOURS]
            self._known[word] = tuple(words[n] for n in nearest if cosines[n] >= LEAST_COSINE)
        return self._known[word]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table[0])

    def __len__(self) -> int:
        return len(self._table[0])

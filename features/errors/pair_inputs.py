"""What the learned estimator reads of a pair: every word of both texts with its counterpart, its class and what the edit script says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..idf import IdfTable
from ..once import once
from ..values import Analysis
from .alignment import moved_pairs, words_of
from .compared import Compared
from .edits import Edit
from .lexicon import NEGATIONS, Lexicon, number_value
from .severity import Judgement, salience
from .values import MAJOR

__all__ = ["SCALARS", "PairInputs", "pair_inputs"]

UPOS = tuple("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split())
FEATURES = (
    *("Tense=Past", "Tense=Pres", "VerbForm=Fin", "VerbForm=Ger", "VerbForm=Inf", "VerbForm=Part", "Voice=Pass", "Number=Plur"),
    *("Number=Sing", "Degree=Cmp", "Degree=Sup", "Gender=Fem", "Gender=Masc", "Case=Nom", "Case=Acc", "Person=3", "Poss=Yes"),
)
KINDS = ("missing", "unnecessary", "replacement", "order")
COMPARED = (
    *("matched", "cosine", "spelling", "same_form", "same_case", "same_lemma", "same_class", "same_features", "same_relation"),
    *("same_head", "moved", "shift", "antonym", "other_salience", "other_probability", "other_negation"),
)
"""Numbers that compare a word with its counterpart; 0 where it has none."""
OWN = (
    "hypothesis",
    "compared",
    "salience",
    "probability",
    "known",
    "number",
    "negation",
    "share_matched",
    "length",
    "length_ratio",
)
SCALARS = (
    *OWN,
    *COMPARED,
    *("edit_weight", "edit_probability", *KINDS, "repeated"),
    *UPOS,
    *FEATURES,
    *(f"other {name}" for name in FEATURES),
)
"""The numbers of a word besides its vectors, in the order of the last axis of PairInputs.scalars."""
COLUMN = {name: place for place, name in enumerate(SCALARS)}
GIVEN = frozenset((*UPOS, *FEATURES))
EDITED = [COLUMN[name] for name in ("edit_weight", "edit_probability", "repeated")]
OTHERS: tuple[tuple[int | slice, int | slice], ...] = (
    *((COLUMN[name], COLUMN[f"other_{name}"]) for name in ("salience", "probability", "negation")),
    (slice(COLUMN[FEATURES[0]], COLUMN[FEATURES[-1]] + 1), slice(COLUMN[f"other {FEATURES[0]}"], None)),
)
"""Columns of a word, and those in which its counterpart finds them."""
LEAST_PROBABILITY = 1e-4


@dataclass(frozen=True, eq=False)
class PairInputs:
    """N = p + q words, the reference's p first.

    vectors : (N, d) float32 in context. counterpart : (N,) int64, the word of the other side that stands for it, or -1.
    scalars : (N, len(SCALARS)) float32. forms : (N,) int64, equal where the lower-cased forms are. side : (N,) int64, 0 reference,
    1 hypothesis. position : (N,) int64, place in its own text. weights : (N,) float32, the edit script's severity of the word, >= 0;
    an edit's weight is shared out among the words that it touches. judged : (N,) bool, False for what is compared on characters.
    """

    vectors: NDArray[np.float32]
    counterpart: NDArray[np.int64]
    scalars: NDArray[np.float32]
    forms: NDArray[np.int64]
    side: NDArray[np.int64]
    position: NDArray[np.int64]
    weights: NDArray[np.float32]
    judged: NDArray[np.bool_]

    def __len__(self) -> int:
        """N, the words of both sides."""
        return len(self.side)


def pair_inputs(compared: Compared, idf: IdfTable, lexicon: Lexicon) -> PairInputs:
    """Inputs of one pair; both texts may be empty."""
    reference, hypothesis, matches = compared.reference, compared.hypothesis, compared.matches
    p, q = len(reference.words), len(hypothesis.words)
    olds, news = [match.reference for match in matches], [match.hypothesis for match in matches]
    counterpart = np.full(p + q, -1, dtype=np.int64)
    if matches:
        old, new = np.array(olds), np.array(news)
        counterpart[old], counterpart[p + new] = p + new, old
    judged = np.concatenate([_judged(reference), _judged(hypothesis)])
    scalars = np.concatenate([_own(reference, idf), _own(hypothesis, idf)])
    scalars[p:, COLUMN["hypothesis"]] = 1.0
    _lengths(scalars, p, counterpart, judged)
    if matches:
        _compared(scalars, compared, olds, news, counterpart, lexicon)
    weights = _edits(scalars, compared.edits, p)
    known: dict[str, int] = {}
    forms = (*columns_of(reference).forms, *columns_of(hypothesis).forms)
    vectors = [side.vectors for side in (reference, hypothesis) if side.words]
    return PairInputs(
        np.concatenate(vectors, dtype=np.float32) if vectors else np.zeros((0, 0), np.float32),
        counterpart,
        scalars,
        np.array([known.setdefault(form, len(known)) for form in forms], dtype=np.int64),
        np.repeat(np.array([0, 1]), [p, q]),
        np.concatenate([np.arange(p), np.arange(q)]),
        weights,
        judged,
    )


@dataclass(frozen=True, slots=True)
class _Columns:
    """The words of a text, a column for each thing that is compared; forms and lemmas are lower-cased."""

    texts: tuple[str, ...]
    forms: tuple[str, ...]
    lemmas: tuple[str, ...]
    tags: tuple[str, ...]
    features: tuple[str, ...]
    relations: tuple[str, ...]
    heads: tuple[int, ...]


@once
def columns_of(analysis: Analysis) -> _Columns:
    """The columns of a text, made once."""
    rows = [(w.text, w.text.lower(), w.lemma.lower(), w.upos, w.feats, w.relation, w.head) for w in analysis.words]
    return _Columns(*zip(*rows, strict=True)) if rows else _Columns((), (), (), (), (), (), ())


@once
def _judged(analysis: Analysis) -> NDArray[np.bool_]:
    """(n,) which words of a text are compared; not to be written to."""
    found = np.zeros(len(analysis.words), dtype=bool)
    found[list(words_of(analysis))] = True
    found.flags.writeable = False
    return found


@once
def _own(analysis: Analysis, idf: IdfTable) -> NDArray[np.float32]:
    """(n, len(SCALARS)) what the words of a text are by themselves; everything else is 0."""
    scalars = np.zeros((len(analysis.words), len(SCALARS)), dtype=np.float32)
    places = [(n, column) for n, word in enumerate(analysis.words) for column in _given(word.upos, word.feats)]
    if places:
        scalars[tuple(np.array(places).T)] = 1.0
    scalars[:, COLUMN["known"]] = [form in idf.counts for form in columns_of(analysis).forms]
    scalars[:, COLUMN["number"]] = [number_value(word.text) is not None for word in analysis.words]
    scalars[:, COLUMN["negation"]] = [form in NEGATIONS for form in columns_of(analysis).forms]
    scalars[:, COLUMN["salience"]], scalars[:, COLUMN["probability"]] = salience(analysis, idf), _logs(analysis)
    scalars.flags.writeable = False
    return scalars


@lru_cache(maxsize=4096)
def _given(tag: str, features: str) -> tuple[int, ...]:
    """The columns of a word's class and its features."""
    return tuple(COLUMN[name] for name in (tag, *features.split("|")) if name in GIVEN)


def _lengths(scalars: NDArray[np.float32], p: int, counterpart: NDArray[np.int64], judged: NDArray[np.bool_]) -> None:
    """Lengths, which count the words that are compared."""
    there = counterpart >= 0
    scalars[:, COLUMN["compared"]] = judged
    sizes = [int(judged[:p].sum()), int(judged[p:].sum())]
    for rows, size in zip((slice(0, p), slice(p, None)), sizes, strict=True):
        scalars[rows, COLUMN["share_matched"]] = there[rows].sum() / max(1, size)
    scalars[:, COLUMN["length"]] = math.log1p(sizes[0]) / 4
    scalars[:, COLUMN["length_ratio"]] = math.log((sizes[1] + 1) / (sizes[0] + 1))


def _logs(analysis: Analysis) -> NDArray[np.float32]:
    """(n,) log-probabilities of the words in their places, brought to [-1, 0]."""
    logs = np.log(np.maximum(analysis.word_probabilities, LEAST_PROBABILITY)) / -math.log(LEAST_PROBABILITY)
    return logs.astype(np.float32)


def _compared(
    scalars: NDArray[np.float32],
    compared: Compared,
    olds: Sequence[int],
    news: Sequence[int],
    counterpart: NDArray[np.int64],
    lexicon: Lexicon,
) -> None:
    """What compares a word with its counterpart, on both sides."""
    matches = compared.matches
    one, other = columns_of(compared.reference), columns_of(compared.hypothesis)
    p, q = len(one.forms), len(other.forms)
    partner, moved = counterpart.tolist(), moved_pairs(matches)
    pairs = list(zip(olds, news, strict=True))
    lemmas = [one.lemmas[i] == other.lemmas[j] for i, j in pairs]
    heads = [(one.heads[i], other.heads[j]) for i, j in pairs]
    rows = (
        [1.0] * len(pairs),
        [match.cosine for match in matches],
        [match.spelling_similarity for match in matches],
        [one.forms[i] == other.forms[j] for i, j in pairs],
        [one.texts[i] == other.texts[j] for i, j in pairs],
        lemmas,
        [one.tags[i] == other.tags[j] for i, j in pairs],
        [one.features[i] == other.features[j] for i, j in pairs],
        [one.relations[i] == other.relations[j] for i, j in pairs],
        [(a < 0 and b < 0) or (a >= 0 and b >= 0 and partner[a] == p + b) for a, b in heads],
        [k in moved for k in range(len(pairs))],
        [i / p - j / q for i, j in pairs],
        [not same and lexicon.antonyms(one.lemmas[i], other.lemmas[j]) for same, (i, j) in zip(lemmas, pairs, strict=True)],
    )
    block = slice(COLUMN["matched"], COLUMN["antonym"] + 1)
    new = [p + j for j in news]
    scalars[olds, block] = scalars[new, block] = np.array(rows, dtype=np.float32).T
    scalars[new, COLUMN["shift"]] *= -1.0
    for own, found in OTHERS:
        scalars[olds, found], scalars[new, found] = scalars[new, own], scalars[olds, own]


def _edits(scalars: NDArray[np.float32], edits: Sequence[tuple[Edit, Judgement]], p: int) -> NDArray[np.float32]:
    """What the edit script says of the words that an edit touches; returns its weight on each word."""
    weights = [0.0] * len(scalars)
    said: dict[int, list[float]] = {}
    kinds = []
    for edit, judgement in edits:
        touched, column = [*edit.reference, *(p + j for j in edit.hypothesis)], COLUMN[edit.kind]
        weight = judgement.weight
        for n in touched:
            weights[n] += weight / len(touched)
            before = said[n][0] if n in said else 0.0
            said[n] = [before + weight / MAJOR, judgement.mistake_probability, edit.repeated]
            kinds.append((n, column))
    if kinds:
        scalars[np.array(list(said))[:, None], EDITED] = np.array(list(said.values()), dtype=np.float32)
        scalars[tuple(np.array(kinds).T)] = 1.0
    return np.array(weights, dtype=np.float32)

"""What the learned estimator reads of a pair: every word of both texts with its counterpart, its class and what the edit script says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..idf import IdfTable
from ..once import once
from ..values import Analysis, Word
from .alignment import WordMatch, moved_pairs, words_of
from .compared import Compared
from .edits import Edit
from .lexicon import Lexicon, is_negation, number_value
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
    counterpart = np.full(p + q, -1, dtype=np.int64)
    for match in matches:
        counterpart[match.reference], counterpart[p + match.hypothesis] = p + match.hypothesis, match.reference
    words = [*reference.words, *hypothesis.words]
    judged = np.zeros(p + q, dtype=bool)
    judged[[*words_of(reference), *(p + j for j in words_of(hypothesis))]] = True
    scalars = np.zeros((p + q, len(SCALARS)), dtype=np.float32)
    scalars[:p], scalars[p:] = _own(reference, idf), _own(hypothesis, idf)
    scalars[p:, COLUMN["hypothesis"]] = 1.0
    _lengths(scalars, p, counterpart, judged)
    _compared(scalars, words, matches, counterpart, lexicon, p)
    weights = _edits(scalars, compared.edits, p)
    known: dict[str, int] = {}
    vectors = [side.vectors for side in (reference, hypothesis) if side.words]
    return PairInputs(
        np.concatenate(vectors).astype(np.float32) if vectors else np.zeros((0, 0), np.float32),
        counterpart,
        scalars,
        np.array([known.setdefault(word.text.lower(), len(known)) for word in words], dtype=np.int64),
        np.repeat(np.array([0, 1]), [p, q]),
        np.concatenate([np.arange(p), np.arange(q)]),
        weights,
        judged,
    )


@once
def _own(analysis: Analysis, idf: IdfTable) -> NDArray[np.float32]:
    """(n, len(SCALARS)) what the words of a text are by themselves; everything else is 0."""
    scalars = np.zeros((len(analysis.words), len(SCALARS)), dtype=np.float32)
    places = [
        (n, COLUMN[name])
        for n, word in enumerate(analysis.words)
        for name in (word.upos, *word.feats.split("|"))
        if name in GIVEN
    ]
    if places:
        scalars[tuple(np.array(places).T)] = 1.0
    scalars[:, COLUMN["known"]] = [word.text.lower() in idf.counts for word in analysis.words]
    scalars[:, COLUMN["number"]] = [number_value(word.text) is not None for word in analysis.words]
    scalars[:, COLUMN["negation"]] = [is_negation(word.text) for word in analysis.words]
    scalars[:, COLUMN["salience"]], scalars[:, COLUMN["probability"]] = salience(analysis, idf), _logs(analysis)
    scalars.flags.writeable = False
    return scalars


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
    words: Sequence[Word],
    matches: Sequence[WordMatch],
    counterpart: NDArray[np.int64],
    lexicon: Lexicon,
    p: int,
) -> None:
    """What compares a word with its counterpart, on both sides."""
    q = len(words) - p
    heads = [w.head if w.head < 0 or n < p else w.head + p for n, w in enumerate(words)]
    moved = moved_pairs(matches)
    rows = []
    for k, match in enumerate(matches):
        i, j = match.reference, p + match.hypothesis
        old, new = words[i], words[j]
        one, two = heads[i], heads[j]
        rows.append(
            (
                1.0,
                match.cosine,
                match.spelling_similarity,
                old.text.lower() == new.text.lower(),
                old.text == new.text,
                old.lemma.lower() == new.lemma.lower(),
                old.upos == new.upos,
                old.feats == new.feats,
                old.relation == new.relation,
                (one < 0 and two < 0) or (one >= 0 and two >= 0 and counterpart[one] == two),
                k in moved,
                i / max(1, p) - (j - p) / max(1, q),
                lexicon.antonyms(old.lemma, new.lemma),
            )
        )
    if not rows:
        return
    block = slice(COLUMN["matched"], COLUMN["antonym"] + 1)
    olds = [match.reference for match in matches]
    news = [p + match.hypothesis for match in matches]
    scalars[olds, block] = scalars[news, block] = np.array(rows, dtype=np.float32)
    scalars[news, COLUMN["shift"]] *= -1.0
    there = counterpart >= 0
    for own, other in OTHERS:
        scalars[there, other] = scalars[counterpart[there], own]


def _edits(scalars: NDArray[np.float32], edits: Sequence[tuple[Edit, Judgement]], p: int) -> NDArray[np.float32]:
    """What the edit script says of the words that an edit touches; returns its weight on each word."""
    weights = [0.0] * len(scalars)
    said: dict[int, list[float]] = {}
    kinds = []
    for edit, judgement in edits:
        touched = [*edit.reference, *(p + j for j in edit.hypothesis)]
        weight = judgement.weight
        for n in touched:
            weights[n] += weight / len(touched)
            before = said.get(n, (0.0,))
            said[n] = [before[0] + weight / MAJOR, judgement.mistake_probability, float(edit.repeated)]
            kinds.append((n, COLUMN[edit.kind]))
    if kinds:
        scalars[np.array(list(said))[:, None], EDITED] = np.array(list(said.values()), dtype=np.float32)
        scalars[tuple(np.array(kinds).T)] = 1.0
    return np.array(weights, dtype=np.float32)

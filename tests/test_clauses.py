"""Clauses: the tense and aspect of verbs, conjunctions, and what the errors feature makes of those that differ."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from errors_laws import check_laws

from rome.features.analyser.config import set_folder
from rome.features.errors.clauses import VerbForm, conjunctions, lost_conjunctions, other_times, verb_forms
from rome.features.errors.estimator import ErrorsConfig
from rome.features.errors.evidence import MAXIMUM, TYPES, PairErrorModel, PairPrediction
from rome.features.errors.learned import LearnedErrors
from rome.features.errors.lexicon import AntonymLexicon
from rome.features.idf import IdfTable
from rome.features.values import Analysis, Word
from rome.metric import RoMe

from handmade import analysis

CLAUSES = {
    "found": ("past", False, False),
    "finds": ("present", False, False),
    "did find": ("past", False, False),
    "will find": ("future", False, False),
    "would find": ("modal", False, False),
    "has found": ("present", True, False),
    "had been finding": ("past", True, True),
    "is finding": ("present", False, True),
    "was found": ("past", False, False),
    "was being found": ("past", False, True),
    "will have been finding": ("future", True, True),
    "finding": None,
    "to find": None,
}
TAGS = {
    "found": ("VBN", "find"), "finds": ("VBZ", "find"), "find": ("VB", "find"), "finding": ("VBG", "find"), "did": ("VBD", "do"),
    "will": ("MD", "will"), "would": ("MD", "would"), "has": ("VBZ", "have"), "had": ("VBD", "have"), "have": ("VB", "have"),
    "been": ("VBN", "be"), "is": ("VBZ", "be"), "was": ("VBD", "be"), "being": ("VBG", "be"), "to": ("TO", "to"),
}  # fmt: skip


def clause(verbs: str) -> Analysis:
    """*Ann VERBS keys.*, as the parser has it."""
    chain = verbs.split()
    text = f"Ann {verbs} keys ."
    main = len(chain)
    given = analysis(text)

    def told(n: int, word: Word) -> Word:
        if not 0 < n <= main:
            return replace(word, head=main, relation=("nsubj", "obj", "punct")[max(0, n - main)])
        tag, lemma = TAGS[word.text]
        tag = "VBD" if chain == ["found"] else tag
        relation = "root" if n == main else "mark" if tag == "TO" else "aux"
        head, upos = (-1 if n == main else main), "VERB" if n == main else "PART" if tag == "TO" else "AUX"
        return replace(word, xpos=tag, lemma=lemma, relation=relation, head=head, upos=upos)

    return replace(given, words=tuple(told(n, word) for n, word in enumerate(given.words)))


@pytest.mark.parametrize(("verbs", "time"), CLAUSES.items())
def test_tense_and_aspect(verbs: str, time: tuple[str, bool, bool] | None) -> None:
    """A verb with its auxiliaries is one form; what is not finite is none."""
    found = verb_forms(clause(verbs).words)
    size = len(verbs.split())
    expected = {} if time is None else {size: VerbForm(*time, tuple(range(1, size + 1)))}
    assert found == expected and verb_forms(()) == {}


@pytest.mark.parametrize(("one", "other"), [*product(CLAUSES, repeat=2)])
def test_verbs_of_other_times(one: str, other: str) -> None:
    """Found where both verbs are finite and differ, in either order; where the verbs themselves have no match, by an auxiliary's."""
    a, b = clause(one).words, clause(other).words
    verbs = len(one.split()), len(other.split())
    forms = verb_forms(a), verb_forms(b)
    expected = int(None not in (CLAUSES[one], CLAUSES[other]) and CLAUSES[one] != CLAUSES[other])
    assert len(other_times(*forms, dict([verbs]))) == len(other_times(*forms[::-1], dict([verbs[::-1]]))) == expected
    assert len(other_times(*forms, {1: 1})) == expected and other_times(*forms, {}) == []


def test_a_copula_belongs_to_what_it_stands_with() -> None:
    """*The house was red* has its time at *red*, which is no verb."""
    given = analysis(
        "The house was red", upos=("DET", "NOUN", "AUX", "ADJ"), lemmas=("the", "house", "be", "red"), heads=(1, 3, 3, -1)
    )
    relations = ("det", "nsubj", "cop", "root")
    words = [replace(w, relation=r, xpos="VBD" if r == "cop" else "") for w, r in zip(given.words, relations, strict=True)]
    assert verb_forms(words) == {3: VerbForm("past", False, False, (2,))}


def joined_by(middle: str) -> Analysis:
    """*Ann sang MIDDLE Bob danced*: the second clause under the first, its conjunction under the second verb."""
    size = len(middle.split())
    given = analysis(" ".join(f"Ann sang {middle} Bob danced".split()))
    upos = ("PROPN", "VERB", *["CCONJ"] * size, "PROPN", "VERB")
    heads, last = (1, -1, *[3 + size] * size, 3 + size, 1), 3 + size
    relations = ("nsubj", "root", *["cc"] * size, "nsubj", "conj")
    rows = zip(given.words, upos, heads, relations, strict=True)
    words = tuple(replace(w, upos=u, head=h, relation=r, xpos="") for w, u, h, r in rows)
    assert words[last].text == "danced"
    return replace(given, words=words)


def lost(reference: Analysis, hypothesis: Analysis) -> list[str]:
    """The lost conjunctions, where equal words stand for each other."""
    places = {word.text: n for n, word in enumerate(hypothesis.words)}
    aligned = {n: places[word.text] for n, word in enumerate(reference.words) if word.text in places}
    joining = conjunctions(reference.words), conjunctions(hypothesis.words)
    return [reference.words[n].text for n in lost_conjunctions(reference.words, hypothesis.words, joining, aligned)]


def test_lost_conjunctions() -> None:
    """Lost where both sides are still in one sentence; not where another one joins them, and not where English leaves it out."""
    bare = joined_by("")
    assert lost(joined_by("while"), bare) == ["while"]
    assert lost(joined_by("while"), joined_by("and")) == lost(bare, joined_by("while")) == lost(joined_by("that"), bare) == []
    apart = replace(bare, words=tuple(replace(w, sentence=int(n > 1)) for n, w in enumerate(bare.words)))
    assert lost(joined_by("while"), apart) == []
    assert lost(joined_by("while"), analysis("Ann sang")) == lost(joined_by("while"), joined_by("while")) == []


def reader(amount: float) -> PairErrorModel:
    """One that finds every word a little doubtful, and pairs of this amount."""

    def read(pairs: list[tuple[Analysis, Analysis]]) -> list[PairPrediction]:
        sizes = [sum(len(side.words) for side in pair) for pair in pairs]
        rows = [(np.tile([0.9, 0.1, 0.0, 0.0], (n, 1)), np.tile(np.eye(len(TYPES))[0], (n, 1))) for n in sizes]
        return [PairPrediction(*both, amount) for both in rows]

    return read  # type: ignore[return-value]


@pytest.mark.parametrize("amount", [0.0, 0.1, 3.0, 24.9, MAXIMUM])
@pytest.mark.parametrize(
    ("one", "other", "name"), [(clause("found"), clause("finds"), "tense"), (joined_by("while"), joined_by(""), "conjunction")]
)
def test_they_weigh_beside_what_the_reader_finds(amount: float, one: Analysis, other: Analysis, name: str) -> None:
    """The count rises by the setting's weight, up to the most that counts; the error is named, and a text against itself has none."""
    lexicon, idf = AntonymLexicon.load(set_folder() / "lexicon" / "antonyms.tsv"), IdfTable(100, {})
    counts = []
    for weight in (0.0, 0.5, 1.0):
        config = ErrorsConfig(estimator="learned", forgiveness=0.0, smallest_weight=0.15, tense=weight, conjunction=weight)
        errors = LearnedErrors(idf, lexicon, reader(amount), config)
        found = errors.measure(one, other)
        check_laws(found, one, other)
        counts.append(found.evidence.count)
        assert not weight or name in [error.type for error in found.evidence.errors]
        assert errors.measure(one, one).value == 1.0
    heard = amount if amount >= 0.15 else 0.0
    assert counts[0] == pytest.approx(heard)
    assert counts[1:] == pytest.approx([min(MAXIMUM, amount + weight) for weight in (0.5, 1.0)])


@pytest.mark.parametrize("models", ["base", "small"])
def test_real_models_find_them(models: str) -> None:
    """Sentences of ours: another tense and another aspect are named so, a lost conjunction is missing; a passive is not another time."""
    reference = "The committee visited the island while the storm was passing."
    rows = {
        "The committee visits the island while the storm was passing.": {("visits", "tense")},
        "The committee will visit the island while the storm was passing.": {
            ("will", "tense"),
            ("visit", "tense"),
            ("will visit", "tense"),
        },
        "The committee visited the island, the storm was passing.": {("while", "conjunction")},
        "The island was visited by the committee while the storm was passing.": set(),
    }
    metric = RoMe(models=models, threads=2)
    for segment, wanted in zip(
        metric.score(references=[reference] * len(rows), hypotheses=list(rows)), rows.values(), strict=True
    ):
        errors = segment.evidence.errors.errors
        named = {((e.hypothesis or e.reference).text, e.type) for e in errors if e.type in ("tense", "conjunction")}
        assert named & wanted if wanted else not named, (named, wanted)

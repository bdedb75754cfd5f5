"""Laws of the whole metric, with the real models: what everybody expects of a score before they look at how it is made."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rome.combining.combiner import Combiner
from rome.data.perturbations.perturbation import Perturbed
from rome.data.perturbations.registry import PERTURBATIONS
from rome.evaluation.perturbing import materials_for
from rome.features.errors.errors import Errors
from rome.features.errors.evidence import SEVERITIES
from rome.features.grammar import Grammar
from rome.features.idf import IdfTable
from rome.features.semantic import Semantic
from rome.features.syntax import Syntax
from rome.features.values import Analysis, Sentence
from rome.metric import RoMe
from rome.results import CorpusScore

from handmade import analysis, saying
from whole_metric import answered, pairs, whole_metric

STEPS = 5
WORSE = sorted(name for name, one in PERTURBATIONS.items() if one.severity in ("minor", "major", "critical"))


@pytest.fixture(scope="module")
def scored() -> CorpusScore:
    references, hypotheses = pairs()
    return whole_metric().score(references=references, hypotheses=hypotheses)


def test_nothing_scores_above_the_reference_itself(scored: CorpusScore) -> None:
    """Among all hypotheses of a reference the reference's own words score highest, which is 1."""
    assert max(segment.score for segment in scored if segment.hypothesis != segment.reference) < 1.0


EDGES = (
    *("", " ", "a", "?", "...", "\U0001f600", "日本語のテキスト。", "HELLO WORLD"),
    *("hello   world !", "A\u00a0B\u200b x", "x" * 300),
    *("a apple", "I have an university an hour a hour", "Is playing they. The children is.", "the the cat", "word " * 60),
    *(
        "? a ? b ? a ! b",
        "_x_ ~y~ ^ * |",
        "- a\n- b\n- c",
        'He said: "I go. you stay!" Then (maybe) left...',
        "12 34 56 $ 5%-6%",
    ),
    *("It rained all day. ⅰ stayed at home.", "Part one. ⓐ is first."),
    *("Buffalo buffalo Buffalo buffalo buffalo buffalo Buffalo buffalo", "Don't you can't won't?", "\u202elive a\x00b"),
)


@pytest.mark.parametrize("options", [{}, {"models": "small"}, {"emd": "standard"}])
def test_an_identical_text_scores_exactly_one(options: dict[str, Any]) -> None:
    """Good English or bad, odd or empty: score and components are 1 to the last bit, and nothing is lost."""
    texts = [*EDGES, *(text for one in answered()[: 2 if options else None] for text in (one.reference, *one.hypotheses))]
    metric = RoMe(progress=False, threads=1, empty_reference="score", **options)
    if "models" not in options:
        metric._analyses = whole_metric()._analyses  # the models are the same, and read a text once
    for segment in metric.score(references=texts, hypotheses=texts):
        assert (segment.score, *(part.value for part in segment.components)) == (1.0,) * 5, segment.hypothesis
        assert not any(segment.contributions) and not any(loss.loss for loss in segment.losses)


FORMS = 'a an A cat cat Cat ⅰ ⓐ İ ñ ß naïve 日本 12 1.5 ? ! , . ... " - ( )'.split()
FLOATS = st.floats(0.0, 1.0, width=32)


@st.composite
def analyses(draw: st.DrawFn) -> Analysis:
    """Any words in any number of sentences, with what models might say of them that learned nothing."""
    known = analysis(" ".join(draw(st.lists(st.sampled_from(FORMS), max_size=10))))
    n = len(known.words)
    sentence = np.cumsum([0, *draw(st.lists(st.booleans(), min_size=n, max_size=n))][:n]).tolist()
    words = tuple(replace(word, sentence=number) for word, number in zip(known.words, sentence, strict=True))
    ends = [[word for word in words if word.sentence == number] for number in dict.fromkeys(sentence)]
    return replace(
        known,
        words=words,
        sentences=tuple(Sentence(some[0].start, some[-1].end, draw(FLOATS)) for some in ends),
        vectors=draw(arrays(np.float32, (n, 4), elements=st.floats(-1.0, 1.0, width=32))),
        word_probabilities=draw(arrays(np.float32, n, elements=FLOATS)),
    )


MEASURES = (
    Semantic(IdfTable.from_texts([["a", "cat"], ["dog"]], "test")),
    Syntax(),
    Grammar(),
    Errors(saying(25.0, _=("critical", 0.75, "noun"))),
)


@given(analyses(), analyses(), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_any_text_against_itself_is_perfect_whatever_models_say(one: Analysis, other: Analysis, seed: int) -> None:
    """By construction: every component is 1, so any net gives 1; no component of another pair lies outside [0, 1], so none is above."""
    chance = np.random.default_rng(seed)
    net = Combiner(chance.random((3, 4)) * 9, chance.normal(size=3), chance.random(3) * 9, np.asarray(chance.normal() * 99))
    for pair, perfect in (((one, one), True), ((one, other), False)):
        values = [feature.measure(*pair).value for feature in MEASURES]
        assert all(value == 1.0 if perfect else 0.0 <= value <= 1.0 for value in (*values, *net.score([values]).tolist()))


def test_contributions_and_losses_are_what_was_lost(scored: CorpusScore) -> None:
    """None is positive; each adds up to score minus 1; errors cost in the order of their weights, so none more than one of a worse severity."""
    for segment in scored:
        assert max(segment.contributions) <= 0.0
        assert sum(segment.contributions) == pytest.approx(segment.score - 1.0, abs=1e-9)
        assert sum(loss.loss for loss in segment.losses) == pytest.approx(segment.score - 1.0, abs=1e-9)
        listed = [loss.error for loss in segment.losses if loss.error]
        weights, severities = [error.weight for error in listed], [SEVERITIES.index(error.severity) for error in listed]
        assert severities == sorted(severities, reverse=True)
        assert weights == sorted(weights, reverse=True) and len(weights) == len(segment.evidence.errors.errors)


def chain(text: str, seed: int) -> Iterator[str]:
    """The text, then the same with one perturbation more each time, in an order of chance, until none applies."""
    names, materials = WORSE[:], materials_for([one.reference for one in answered()])
    random.Random(seed).shuffle(names)
    yield text
    for name in names:
        found = PERTURBATIONS[name](whole_metric().analyse([text])[text], seed, materials)
        if isinstance(found, Perturbed) and found.text.strip() and found.text != text:
            text = found.text
            yield text


def test_more_perturbations_mean_a_lower_score() -> None:
    """On average over texts every further perturbation costs something, from none to five; and no text gains by five of them."""
    chains = [list(islice(chain(one.reference, n), STEPS + 1)) for n, one in enumerate(answered())]
    whole = [texts for texts in chains if len(texts) == STEPS + 1]
    assert len(whole) >= len(chains) - 1
    found = whole_metric().score(
        references=[texts[0] for texts in whole for _ in texts], hypotheses=[text for texts in whole for text in texts]
    )
    scores = np.array([segment.score for segment in found]).reshape(len(whole), STEPS + 1)
    assert (np.diff(scores.mean(axis=0)) < 0).all()
    assert (scores[:, -1] < scores[:, 0]).all()


def test_syntax_has_no_direction(scored: CorpusScore) -> None:
    """With reference and hypothesis exchanged it is what it was; the others ask what the hypothesis makes of its reference."""
    some = scored[:12]
    back = whole_metric().score(
        references=[segment.hypothesis for segment in some], hypotheses=[segment.reference for segment in some]
    )
    there, again = ([segment.components.syntax.value for segment in result] for result in (some, back))
    assert there == pytest.approx(again, abs=1e-9)


@given(st.lists(st.lists(st.sampled_from("aaabbc"), max_size=8), min_size=2, max_size=2))
@settings(max_examples=100, deadline=None)
def test_symmetric_features_are_symmetric_on_any_words(words: list[list[str]]) -> None:
    """Syntax, and semantics by the paper's balanced transport, of words in any order and number, also where alignments cost the same."""
    one, other = (analysis(" ".join(each)) for each in words)
    for feature in (Semantic(IdfTable.from_texts([[*"abc"], [*"defgh"]], "test")), Syntax()):
        assert feature.measure(one, other).value == pytest.approx(feature.measure(other, one).value, abs=1e-12)


def test_a_further_reference_never_lowers_a_score() -> None:
    """One, two, three references, good and bad ones: the score rises or stays, it is that of the best one, and their order is no matter."""
    rows = [(one.hypotheses[0], [one.reference, *one.hypotheses[1:3]]) for one in answered()[:4]]
    hypotheses = [hypothesis for hypothesis, _ in rows]
    given_some = [[references[:count] for _, references in rows] for count in (1, 2, 3)]
    found = [whole_metric().score(references=references, hypotheses=hypotheses) for references in given_some]
    scores = np.array([[segment.score for segment in result] for result in found])
    assert (np.diff(scores, axis=0) >= 0).all()
    alone = [whole_metric().score(references=[refs[n] for _, refs in rows], hypotheses=hypotheses) for n in range(3)]
    each = np.array([[segment.score for segment in result] for result in alone])
    assert np.array_equal(scores[2], each.max(axis=0))
    turned = whole_metric().score(references=[refs[::-1] for _, refs in rows], hypotheses=hypotheses)
    assert [segment.score for segment in turned] == list(scores[2])
    assert [segment.reference for segment in turned] == [segment.reference for segment in found[2]]

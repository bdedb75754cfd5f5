"""Laws of the whole metric, with the real models: what everybody expects of a score before they look at how it is made."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rome.data.perturbations.registry import PERTURBATIONS
from rome.data.perturbations.values import Perturbed
from rome.evaluation.perturbing import materials_for
from rome.features.idf import IdfTable
from rome.features.semantic import Semantic
from rome.features.syntax import Syntax
from rome.results import CorpusScore

from handmade import analysis
from whole_metric import answered, pairs, whole_metric

STEPS = 5
WORSE = sorted(name for name, one in PERTURBATIONS.items() if one.severity in ("minor", "major", "critical"))
SYMMETRIC = ("semantic", "syntax")
"""Features of two texts without a direction; `grammar` looks at the hypothesis alone, `errors` asks what the hypothesis did wrong."""


@pytest.fixture(scope="module")
def scored() -> CorpusScore:
    references, hypotheses = pairs()
    return whole_metric().score(references=references, hypotheses=hypotheses)


def test_nothing_scores_above_the_reference_itself(scored: CorpusScore) -> None:
    """Among all hypotheses of a reference the reference's own words score highest; its semantics, syntax and errors are perfect."""
    texts = [one.reference for one in answered()]
    same = whole_metric().score(references=texts, hypotheses=texts)
    best = {segment.reference: segment for segment in same}
    for segment in scored:
        assert segment.score < best[segment.reference].score
    for segment in same:
        perfect = segment.components.semantic, segment.components.syntax, segment.components.errors
        assert [part.value for part in perfect] == pytest.approx([1.0] * 3, abs=1e-6)


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


def test_symmetric_features_are_symmetric(scored: CorpusScore) -> None:
    """With reference and hypothesis exchanged, semantics and syntax are what they were."""
    back = whole_metric().score(
        references=[segment.hypothesis for segment in scored], hypotheses=[segment.reference for segment in scored]
    )
    for name in SYMMETRIC:
        there, again = ([getattr(segment.components, name).value for segment in result] for result in (scored, back))
        assert there == pytest.approx(again, abs=1e-9)


@given(st.lists(st.lists(st.sampled_from("aaabbc"), max_size=8), min_size=2, max_size=2))
@settings(max_examples=100, deadline=None)
def test_symmetric_features_are_symmetric_on_any_words(words: list[list[str]]) -> None:
    """The same on hand-made words in any order and number, also where several alignments cost exactly the same."""
    one, other = (analysis(" ".join(each)) for each in words)
    for feature in (Semantic(IdfTable.from_texts([[*"abc"], [*"defgh"]], "test")), Syntax()):
        assert feature.measure(one, other).value == pytest.approx(feature.measure(other, one).value, abs=1e-12)


def test_a_further_reference_never_lowers_a_score() -> None:
    """One, two, three references, good and bad ones: the score rises or stays, it is that of the best one, and their order is no matter."""
    rows = [(one.hypotheses[0], [one.reference, *one.hypotheses[1:3]]) for one in answered()]
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

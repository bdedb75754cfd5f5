"""SEScore2: pairs that can be replayed, labels that add up, severities on the right side of their thresholds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from statistics import mean

import pytest
from synthesis_models import IDF, BagOfWords, FakeLikelihood

from rome.train.synthesis.edits import applied, chained, differences, words_of
from rome.train.synthesis.pairs import SyntheticPair
from rome.train.synthesis.sescore2 import SentenceIndex, SEScore2Pipeline, SEScore2Settings, draw_steps
from rome.train.synthesis.severities import LikelihoodSeverity

pytest.importorskip("faiss", reason="needs the extra train: pip install 'rome-metric[train]'")


def corpus() -> list[str]:
    """Invented sentences, many of them alike."""
    chance = random.Random(7)
    subjects, verbs = ["The cat", "A dog", "Zoë", "The old man", "The man"], ["saw", "heard", "painted", "lost"]
    objects, ends = ["a red kite", "the river", "two boats", "nothing"], ["today", "in the morning", "again", "with great care"]
    drawn = (" ".join(map(chance.choice, (subjects, verbs, objects, ends))) + "." for _ in range(900))
    return list(dict.fromkeys(drawn))[:70]


RULE = ("gamma", "weight")


def pipeline(likelihood: FakeLikelihood | None = None, block: int = 64, **settings: object) -> SEScore2Pipeline:
    """With the paper's severities; the settings are its own or the rule's."""
    index = SentenceIndex(corpus(), BagOfWords(), neighbours=12)
    rule = LikelihoodSeverity(
        likelihood or FakeLikelihood(),
        IDF,
        **{"gamma": 0.1} | {k: settings.pop(k) for k in RULE if k in settings},  # type: ignore[arg-type]
    )
    return SEScore2Pipeline(index, rule, SEScore2Settings(**settings), block=block)  # type: ignore[arg-type]


def sources(texts: Sequence[str]) -> list[tuple[str, str]]:
    return [(f"invented.txt:{n}", text) for n, text in enumerate(texts, 1)]


@pytest.fixture(scope="module")
def pairs() -> list[SyntheticPair]:
    return [pair for seed in range(6) for pair in pipeline().pairs(sources(corpus()), seed)]


def test_all_kinds_and_counts_occur(pairs: list[SyntheticPair]) -> None:
    """Insertions, deletions, replacements and drops, from one to five operations."""
    operations = [operation for pair in pairs for operation in pair.operations]
    assert {o.kind for o in operations} == {"insertion", "deletion", "replacement"}
    assert {o.details["retrieved"] for o in operations} == {0.0, 1.0}
    assert {o.type for o in operations} >= {"omission", "addition", "mistranslation"}
    assert {len(pair.operations) for pair in pairs} >= {1, 2, 3, 4}
    assert {o.severity for o in operations if o.kind == "deletion"} == {"minor", "major"}


@pytest.mark.parametrize("drops", [0.0, 0.5, 1.0])
def test_drawn_steps_keep_their_limits(drops: float) -> None:
    """At most ``most`` steps, none longer than ``longest``, at least half of the words left, drops only if they are wanted."""
    settings = SEScore2Settings(drops=drops, longest=3, longest_drop=2)
    anchor = "The old man lost two boats and a kite again, alas."
    neighbour = "The old cat lost a red kite, it seems, in the night."
    for seed in range(200):
        steps = draw_steps(anchor, neighbour, settings, random.Random(seed))
        text = applied(anchor, *chained(steps))
        sizes = [max(len(words_of(step.original)), len(words_of(step.new))) for step in steps]
        assert len(steps) <= 5 and max(sizes, default=0) <= 3
        assert 2 * len(words_of(text)) >= len(words_of(anchor)) and "  " not in text
        towards = [(one.start, one.end, one.new) for one in differences(anchor, neighbour)]
        dropped = [not step.details["retrieved"] for step in steps]
        assert all(drop or (one.start, one.end, one.new) in towards for one, drop in zip(steps, dropped, strict=True))
        assert all(size <= 2 and not one.new for one, size, drop in zip(steps, sizes, dropped, strict=True) if drop)
        assert drops > 0 or not any(dropped)


def test_severities_lie_on_the_right_side_of_their_thresholds(pairs: list[SyntheticPair]) -> None:
    """Likely (at least gamma) is minor, unlikely is major; words that weigh less than lambda are minor, others major."""
    for operation in (o for pair in pairs for o in pair.operations):
        if operation.kind == "deletion":
            words = words_of(operation.original)
            weight = max(IDF.idf(word.text) if not word.is_sign else IDF.floor for word in words)
            assert operation.details["tfidf"] == round(weight, 6)
            assert (operation.severity == "minor") == (weight < 1.0)
        else:
            words = words_of(operation.new)
            likelihood = mean(0.5 if len(word.text) < 4 else 0.01 for word in words)
            assert operation.details["likelihood"] == pytest.approx(likelihood, rel=1e-5)
            assert (operation.severity == "minor") == (likelihood >= 0.1)


def test_thresholds_themselves() -> None:
    """A likelihood of exactly gamma is minor, a weight of exactly lambda is major (§4.2: >= gamma or < lambda)."""
    weight = IDF.idf("cat")
    for gamma, bound, likely, taken in ((0.5, weight, "minor", "major"), (0.51, weight + 1e-6, "major", "minor")):
        found = [o for p in pipeline(gamma=gamma, weight=bound).pairs(sources(corpus()), 0) for o in p.operations]
        assert {o.severity for o in found if o.details.get("likelihood") == 0.5} == {likely}
        heaviest = round(weight, 6)
        assert {o.severity for o in found if o.details.get("tfidf") == heaviest} <= {taken}


def test_each_step_is_judged_in_a_text_where_nothing_else_was_done() -> None:
    """The likelihood is asked about the new words in the anchor with that step alone."""
    texts = sources(corpus())
    likelihood = FakeLikelihood()
    made = list(pipeline(likelihood).pairs(texts, 1))
    brought = [(pair, o) for pair in made for o in pair.operations if o.kind != "deletion"]
    assert len(brought) == len(likelihood.asked)
    for (pair, operation), request in zip(brought, likelihood.asked, strict=True):
        assert request.original == operation.new.strip()
        assert len(differences(pair.reference, request.text)) == 1


def test_texts_that_give_nothing_are_counted() -> None:
    """Too short, without neighbour, nothing to change: skipped by reason; no texts, no pairs (a run that is complete goes on with none)."""
    made = pipeline()
    texts = sources(["Yes.", "", "Entirely unlike whatever else stands here, Żółw 日本", corpus()[0]])
    assert len(list(made.pairs(texts, 0))) == 1
    assert dict(made.skipped) == {"too short": 2, "no neighbour": 1}
    blocked = pipeline(longest=1, drops=0.0)
    assert len(list(blocked.pairs(sources(corpus()), 0))) + sum(blocked.skipped.values()) == len(corpus())
    assert list(pipeline().pairs([], 0)) == []
    rule = LikelihoodSeverity(FakeLikelihood(), IDF)
    alone = SEScore2Pipeline(SentenceIndex(["One text alone."], BagOfWords()), rule)
    assert list(alone.pairs(sources(["One text alone.", "Another text."]), 0)) == []
    assert alone.skipped["no neighbour"] == 2

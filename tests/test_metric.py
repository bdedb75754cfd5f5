"""The metric from end to end, with the embedded models on real English."""

from __future__ import annotations

import doctest
import pydoc
from pathlib import Path

import numpy as np
import pytest

import rome
from rome.exceptions import InputError
from rome.features.semantic import Semantic
from rome.features.values import FEATURES
from rome.metric import RoMe

REFERENCE = "Shakespeare wrote the play Macbeth in 1606."
PAIRS = {
    "identity": REFERENCE,
    "paraphrase": "The play Macbeth was written by Shakespeare in 1606.",
    "number": "Shakespeare wrote the play Macbeth in 1906.",
    "negation": "Shakespeare did not write the play Macbeth in 1606.",
    "repetition": "Shakespeare Shakespeare Shakespeare wrote wrote Macbeth Macbeth Macbeth.",
    "unrelated": "My neighbour's dog barks at every passing car.",
    "empty": "",
}


@pytest.fixture(scope="module")
def metric() -> RoMe:
    return RoMe(progress=False)


@pytest.fixture(scope="module")
def scores(metric: RoMe) -> dict[str, float]:
    result = metric.score(references=[REFERENCE] * len(PAIRS), hypotheses=list(PAIRS.values()))
    return dict(zip(PAIRS, (segment.score for segment in result), strict=True))


def test_the_scale_is_ordered(scores: dict[str, float]) -> None:
    """Identity above everything; a paraphrase above 0.6; a wrong number below identity; repetition, unrelated and empty well below."""
    assert max(scores, key=lambda name: scores[name]) == "identity"
    assert scores["paraphrase"] > 0.6
    assert scores["identity"] > scores["number"] > scores["unrelated"]
    assert max(scores["repetition"], scores["unrelated"], scores["empty"]) < 0.35


def test_every_number_comes_back_with_its_evidence(metric: RoMe) -> None:
    """Components in range, contributions that add up, an alignment, two trees, sentences, and error spans at their places."""
    segment = metric.score(references=[REFERENCE], hypotheses=[PAIRS["number"]])[0]
    assert [component.name for component in segment.components] == list(FEATURES)
    assert all(0.0 <= component.value <= 1.0 for component in segment.components)
    assert sum(segment.contributions) == pytest.approx(segment.score - 1.0, abs=1e-9)
    numbers = [error for error in segment.evidence.errors.errors if error.type == "number"]
    assert [(e.severity, e.reference.text, e.hypothesis.text) for e in numbers] == [("critical", "1606", "1906")]
    assert any(p.similarity > 0.5 for p in segment.evidence.semantic.pairs)
    assert "write" in segment.evidence.syntax.reference.labels
    assert segment.evidence.grammar.sentences[0].text == PAIRS["number"]


def test_features_combine_to_the_same_scores(metric: RoMe, scores: dict[str, float]) -> None:
    """The cached path gives what scoring gives, and carries the signature that the net was trained for."""
    table = metric.features(references=[REFERENCE] * len(PAIRS), hypotheses=list(PAIRS.values()))
    assert table.signature == metric.feature_signature == metric.combiner.feature_signature
    assert metric.combiner.score(table) == pytest.approx(list(scores.values()), abs=1e-9)


def test_a_second_run_skips_the_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a store the same texts are scored again without loading a model, and equally."""
    store = tmp_path / "analyses.sqlite"
    first = RoMe(store=store, progress=False).score(references=[REFERENCE], hypotheses=[PAIRS["number"]])
    again = RoMe(store=store, progress=False)
    monkeypatch.setattr(
        "rome.features.analyser.analyser.Analyser.__init__", lambda *_, **__: pytest.fail("the models were loaded")
    )
    assert again.score(references=[REFERENCE], hypotheses=[PAIRS["number"]]) == first


def test_what_was_analysed_before_an_interruption_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of the second segment's measuring: the analyses of all texts of the block are in the store."""
    store = tmp_path / "analyses.sqlite"
    calls: list[int] = []
    measure = Semantic.compare

    def interrupt(self: Semantic, *texts: object) -> object:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return measure(self, *texts)  # type: ignore[arg-type]

    monkeypatch.setattr(Semantic, "compare", interrupt)
    with pytest.raises(KeyboardInterrupt):
        RoMe(store=store, progress=False).score(references=[REFERENCE] * 2, hypotheses=[PAIRS["number"], PAIRS["negation"]])
    monkeypatch.undo()
    monkeypatch.setattr(
        "rome.features.analyser.analyser.Analyser.__init__", lambda *_, **__: pytest.fail("the models were loaded")
    )
    assert len(RoMe(store=store, progress=False).score(references=[REFERENCE], hypotheses=[PAIRS["negation"]])) == 1


@pytest.mark.parametrize(
    ("hypothesis", "flag"),
    [
        ("", "empty_hypothesis"),
        ("  \n", "empty_hypothesis"),
        ("...", "punctuation_only"),
        ("Ωραία μέρα σήμερα", "non_latin"),
        (REFERENCE, "identical"),
    ],
)
def test_edge_rows_are_scored_and_flagged(metric: RoMe, hypothesis: str, flag: str) -> None:
    """Empty, blank, only punctuation, another script, identical: a score in range and a flag, no error."""
    segment = metric.score(references=[REFERENCE], hypotheses=[hypothesis])[0]
    assert 0.0 <= segment.score <= 1.0
    assert flag in segment.flags


def test_one_word_and_several_sentences(metric: RoMe) -> None:
    """One word against itself is perfect in meaning, build and errors; several sentences hang under one root."""
    word = metric.score(references=["Yes"], hypotheses=["Yes"])[0]
    assert [word.components.semantic.value, word.components.syntax.value, word.components.errors.value] == pytest.approx(
        [1, 1, 1]
    )
    several = metric.score(references=["It rains. We stay. They go."], hypotheses=["It rains. They go. We stay."])[0]
    assert sum(parent == 0 for parent in several.evidence.syntax.reference.parents) == 3
    assert len(several.evidence.grammar.sentences) == 3


def test_a_thousand_words_are_read_to_the_end() -> None:
    """Nothing is cut silently: a change in the last words of a long text changes the score, and the text is flagged as long."""
    metric = RoMe(models="small", progress=False)
    text = "The old bridge was closed for repairs last week because the river had risen. " * 75
    same, changed, short = metric.score(
        references=[text + "Nobody was hurt.", text + "Nobody was hurt.", REFERENCE],
        hypotheses=[text + "Nobody was hurt.", text + "Twelve people died.", REFERENCE],
    )
    assert {"long", "tree_cut"} <= set(same.flags) and "tree_cut" not in short.flags
    assert len(same.evidence.semantic.reference_words) > 1000
    assert same.components.semantic.value == pytest.approx(1.0, abs=1e-6)
    assert changed.score < same.score


def test_an_empty_reference_is_an_error_unless_asked_for(metric: RoMe) -> None:
    """By default it is refused with the segment's number; empty_reference="score" scores it."""
    with pytest.raises(InputError, match=r"references\[1\]"):
        metric.score(references=[REFERENCE, ""], hypotheses=[REFERENCE, "x"])
    lenient = RoMe(empty_reference="score", progress=False)
    segment = lenient.score(references=[""], hypotheses=["Some words."])[0]
    assert "empty_reference" in segment.flags
    assert segment.components.semantic.value == 0.0


def test_the_ablations_differ_and_say_so(metric: RoMe) -> None:
    """emd="standard" and "aligned" give other semantic values under another signature; an unknown name is refused."""
    values, signatures = set(), set()
    for emd in ("soft", "aligned", "standard"):
        variant = RoMe(emd=emd, progress=False)  # type: ignore[arg-type]
        variant._analyses = metric._analyses
        values.add(variant.score(references=[REFERENCE], hypotheses=[PAIRS["paraphrase"]])[0].components.semantic.value)
        signatures.add(variant.signature)
    assert len(values) == len(signatures) == 3
    with pytest.raises(InputError, match="standard"):
        RoMe(emd="hard")  # type: ignore[arg-type]


def test_the_papers_cost_is_one_argument_away(metric: RoMe) -> None:
    """rho=0 credits nothing outside the alignment, so no value is higher, under another signature; what is no share is refused."""
    paper = RoMe(rho=0.0, progress=False)
    paper._analyses = metric._analyses
    texts = {"references": [REFERENCE], "hypotheses": [PAIRS["paraphrase"]]}
    assert paper.score(**texts)[0].components.semantic.value < metric.score(**texts)[0].components.semantic.value
    assert paper.signature != metric.signature
    with pytest.raises(InputError, match=r"rho must be in \[0, 1\].*got 2"):
        RoMe(rho=2)


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2"])
def test_threads_that_are_no_number_are_refused(threads: object) -> None:
    """A number of threads below 1, or no whole number, is named before any model is loaded."""
    with pytest.raises(InputError, match="threads must be"):
        RoMe(threads=threads)  # type: ignore[arg-type]


def test_help_shows_an_example_and_nothing_internal(metric: RoMe, monkeypatch: pytest.MonkeyPatch) -> None:
    """`help(RoMe)` begins with lines that run and print what they say, and names what a user calls."""
    monkeypatch.setattr(rome, "RoMe", lambda: metric)
    (example,) = doctest.DocTestFinder(recurse=False).find(RoMe, "RoMe", globs={})
    assert len(example.examples) == 5 and doctest.DocTestRunner().run(example).failed == 0
    text = pydoc.plain(pydoc.render_doc(RoMe))
    assert text.index(">>> from rome import RoMe") < 1200
    public = "analyse analyse_pairs combiner configs feature_signature features load measure_pairs model_set score score_pairs signature"
    assert {name for name in vars(RoMe) if not name.startswith("_")} == {*public.split(), "what_if"}
    assert "score(self, *, references: 'Iterable[str | Iterable[str]]', hypotheses: 'Iterable[str]')" in text


def test_idf_from_the_references(metric: RoMe) -> None:
    """idf="references" weighs by the call's own references: a word in all of them counts less."""
    variant = RoMe(idf="references", progress=False)
    variant._analyses = metric._analyses
    references = ["The hotel Alba is cheap.", "The hotel Berta is cheap.", "The hotel Carla is cheap."]
    found = variant.score(references=references, hypotheses=references)[0].evidence.semantic
    weights = dict(zip(found.reference_words, found.reference_weights, strict=True))
    assert weights["Alba"] > weights["hotel"]
    assert "idf:references" in variant.signature


def test_romes_own_examples(metric: RoMe) -> None:
    """RoMe tables 2 and 3: paraphrase and passive above the repeated words; those stay below 0.4, the erroneous cases below 0.3."""
    pairs = [
        ("Munich is located at the southern part of Germany.", "Munich is situated in the south of Germany."),
        ("Tesla motors is founded by Elon Musk.", "Elon Musk has founded Tesla Motors."),
        ("Elon musk has founded tesla motors.", "Elon elon elon elon elon founded tesla tesla tesla."),
        (
            "James Craig Watson, who died from peritonitis, discovered 101 Helena.",
            "The Polish Academy of Science is regionserved.",
        ),
        (
            "1001 gaussia was formerly known as 1923 oaa907 xc.",
            "The former name for the former name for 11 gunger is 1923. One of the former name is 1923.",
        ),
    ]
    found = np.array([s.score for s in metric.score(references=[r for r, _ in pairs], hypotheses=[h for _, h in pairs])])
    assert found[:2].min() > 0.6 > found[2]
    assert found[2] < 0.4 and (found[3:] < 0.3).all()

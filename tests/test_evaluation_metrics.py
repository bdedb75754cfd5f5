"""Metrics as functions: every adapter keeps the same laws, computes what its library does, and says what is missing."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rome.evaluation.metrics.functions import BestReferenceMetric
from rome.evaluation.metrics.peers import BertScore
from rome.evaluation.metrics.registry import DEFAULT_METRICS, MetricMaker, scores_on
from rome.exceptions import InputError, ModelMissingError
from rome.metric import RoMe

from rated_sets import REFERENCES, rated_set

SPECIFICATIONS = (*DEFAULT_METRICS, "rouge-2", "cer", "chrf++")
EDGES = ("", ".", "Yes", "Ünïcödé 中文 🙂", "word " * 150, "One. Two. Three.", "the museum opens at nine on weekdays.")


@pytest.fixture(scope="module")
def maker() -> MetricMaker:
    return MetricMaker(RoMe(models="small", progress=False))


@pytest.mark.parametrize("specification", SPECIFICATIONS)
class TestLaws:
    """What holds for every metric of the default leaderboard and more."""

    def test_identity_is_best_and_edges_are_finite(self, maker: MetricMaker, specification: str) -> None:
        """Edge rows give finite numbers, and none of them beats the reference itself; baselines do not look at it."""
        metric = maker.make(specification)
        scores = metric.score([[REFERENCES[0]]] * (len(EDGES) + 1), [REFERENCES[0], *EDGES])
        assert scores.shape == (len(EDGES) + 1,)
        assert scores.dtype == np.float64
        assert np.isfinite(scores).all()
        if specification not in ("length", "random", "rome.grammar"):
            assert scores[0] >= scores.max() - 1e-9

    def test_neighbours_do_not_matter(self, maker: MetricMaker, specification: str) -> None:
        """A segment has the same score alone, among others, and twice."""
        metric = maker.make(specification)
        references, hypotheses = [[text] for text in REFERENCES], [text.upper() for text in REFERENCES]
        together = metric.score(references, hypotheses)
        alone = [metric.score([reference], [text])[0] for reference, text in zip(references, hypotheses, strict=True)]
        assert together.tolist() == pytest.approx(alone, abs=1e-6)

    def test_another_reference_never_hurts(self, maker: MetricMaker, specification: str) -> None:
        """The best reference counts, so one more cannot lower a score (a component goes with RoMe's choice, chance with the texts)."""
        if specification.startswith("rome.") or specification == "random":
            pytest.skip("follows another choice than its own best reference")
        metric = maker.make(specification)
        few = metric.score([[REFERENCES[0]]], [REFERENCES[1]])
        more = metric.score([[REFERENCES[0], REFERENCES[1]]], [REFERENCES[1]])
        assert more[0] >= few[0]

    def test_signature_tells_it_apart(self, maker: MetricMaker, specification: str) -> None:
        """Every metric has a signature of its own."""
        others = {maker.make(other).signature for other in SPECIFICATIONS if other != specification}
        assert maker.make(specification).signature not in others


def test_lexical_metrics_are_their_libraries(maker: MetricMaker) -> None:
    """BLEU, chrF and TER are sacrebleu's sentence scores, TER negated."""
    import sacrebleu

    pair = [[REFERENCES[0]]], ["The museum opens at ten on Sundays."]
    wanted = {
        "bleu": sacrebleu.sentence_bleu(pair[1][0], pair[0][0]).score,
        "chrf": sacrebleu.sentence_chrf(pair[1][0], pair[0][0]).score,
        "ter": -sacrebleu.sentence_ter(pair[1][0], pair[0][0]).score,
        "cer": -7 / len(REFERENCES[0]),
    }
    assert {name: maker.make(name).score(*pair)[0] for name in wanted} == pytest.approx(wanted)


def test_meteor_and_rouge_by_hand(maker: MetricMaker) -> None:
    """One of four words wrong: ROUGE-L has F1 3/4; METEOR's F-mean 3/4 loses half the cube of one chunk in three matches."""
    pair = [["a b c d"]], ["a b c x"]
    assert maker.make("rouge-l").score(*pair)[0] == pytest.approx(0.75)
    assert maker.make("meteor").score(*pair)[0] == pytest.approx(0.75 * (1 - 0.5 * (1 / 3) ** 3))


def test_bertscore_is_greedy_f1() -> None:
    """The textbook loop over the same states gives the same number; texts without pieces are equal to each other only."""
    score = BertScore()
    reference, hypothesis = "A dog barks.", "Two dogs bark loudly."
    states = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in score._states.of([reference, hypothesis])]
    recall = np.mean([max(float(a @ b) for b in states[1]) for a in states[0]])
    precision = np.mean([max(float(a @ b) for a in states[0]) for b in states[1]])
    assert score([(reference, hypothesis)])[0] == pytest.approx(2 * recall * precision / (recall + precision), abs=1e-6)
    assert score([("", ""), ("", "a"), ("a", "")]) == [1.0, 0.0, 0.0]


def test_bertscore_on_another_encoder(tmp_path: Path, maker: MetricMaker) -> None:
    """Any local checkpoint serves; the layer is part of the signature; a missing one is named."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    (tmp_path / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefgh"]), encoding="utf-8"
    )
    BertTokenizerFast(vocab_file=str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    config = BertConfig(vocab_size=13, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16)
    BertModel(config).save_pretrained(tmp_path)
    first, last = (maker.make(f"bertscore:{tmp_path}{layer}") for layer in (":1", ""))
    assert first.score([["a b c"]], ["a b c"])[0] == pytest.approx(1.0, abs=1e-5)
    assert first.signature != last.signature
    assert first.score([["a b c"]], ["c d"])[0] != last.score([["a b c"]], ["c d"])[0]
    with pytest.raises(ModelMissingError, match="not on this machine"):
        maker.make(f"bertscore:{tmp_path / 'nothing'}").score([["a"]], ["b"])


def test_components_are_those_of_the_score(maker: MetricMaker) -> None:
    """Score and components equal what RoMe itself reports, for the reference that RoMe chose."""
    references, hypotheses = (
        [[REFERENCES[1], REFERENCES[0]], [REFERENCES[2]]],
        ["The museum opens at ten.", "Nobody lives there."],
    )
    result = maker.rome.score(references=references, hypotheses=hypotheses)
    assert maker.make("rome").score(references, hypotheses).tolist() == pytest.approx([s.score for s in result], abs=1e-9)
    for name in ("semantic", "syntax", "grammar", "errors"):
        wanted = [getattr(segment.components, name).value for segment in result]
        assert maker.make(f"rome.{name}").score(references, hypotheses).tolist() == pytest.approx(wanted, abs=1e-9)
    assert maker.make("rome").marks([[REFERENCES[0]]], [REFERENCES[0]]) == [()]
    (marks,) = maker.make("rome").marks([[REFERENCES[0]]], ["The museum opens at ten on weekdays."])
    assert "ten" in ["The museum opens at ten on weekdays."[m.start : m.end] for m in marks]


def test_each_pair_is_computed_once() -> None:
    """Equal pairs are one, in one call and in the next."""
    seen: list[tuple[str, str]] = []

    def length(pairs: Any) -> list[float]:
        seen.extend(pairs)
        return [float(len(hypothesis)) for _, hypothesis in pairs]

    metric = BestReferenceMetric("x", "x:1", length)
    assert metric.score([["r", "s"], ["r"]], ["abc", "abc"]).tolist() == [3.0, 3.0]
    assert metric.score([["r"]], ["abc"]).tolist() == [3.0]
    assert seen == [("r", "abc"), ("s", "abc")]


@pytest.mark.parametrize(("given", "message"), [([1.0], "one score per pair"), ([1.0, float("nan")], "finite number")])
def test_a_function_that_misbehaves_is_named(given: list[float], message: str) -> None:
    """Too few numbers, or one that is not finite: the message names metric and pair."""
    with pytest.raises(InputError, match=message):
        BestReferenceMetric("mine", "v:1", lambda pairs: given).score([["r"], ["r"]], ["a", "b"])


@pytest.mark.parametrize(
    ("references", "message"),
    [([["a"]], "give one list per hypothesis"), (["ab", "cd"], "bare text"), ([["a"], []], r"references\[1\] is empty")],
)
def test_wrong_shapes_are_refused(maker: MetricMaker, references: Any, message: str) -> None:
    """Unequal lengths, a bare string and a segment without reference are named."""
    with pytest.raises(InputError, match=message):
        maker.make("chrf").score(references, ["a", "b"])


@pytest.mark.parametrize(
    "specification", ["nonsense", "rome.other", "bertscore:3", "json:nothing", "json:__doc__", "no_such_module:f"]
)
def test_unknown_metrics_are_refused(maker: MetricMaker, specification: str) -> None:
    """Whatever cannot be a metric is refused when it is named, not when it is used."""
    with pytest.raises(InputError):
        maker.make(specification)


def test_the_users_own_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, maker: MetricMaker) -> None:
    """A function in the working directory is a metric; what it returns is checked; its source is in the signature."""
    (tmp_path / "my_rome_metric.py").write_text(
        "def longer(references, hypotheses):\n    return [len(h) - len(r[0]) for r, h in zip(references, hypotheses)]\n"
        "def short(references, hypotheses):\n    return [1.0]\n"
        "def words(references, hypotheses):\n    return ['a' for _ in hypotheses]\n"
        "def nothing(references, hypotheses):\n    return [float('nan') for _ in hypotheses]\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    metric = maker.make("my_rome_metric:longer")
    assert metric.score([["ab"], ["ab"]], ["abc", ""]).tolist() == [1.0, -2.0]
    assert "source:" in metric.signature and "unknown" not in metric.signature
    for name, message in (("short", "shape"), ("words", "one number"), ("nothing", "segment 0")):
        with pytest.raises(InputError, match=message):
            maker.make(f"my_rome_metric:{name}").score([["ab"], ["ab"]], ["abc", ""])


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_of_scores_counts_as_a_metric(tmp_path: Path, maker: MetricMaker) -> None:
    """By order, or by item and system: the same scores."""
    rated = rated_set()
    wanted = [float(n) for n in range(len(rated.segments))]
    plain = write(tmp_path / "plain.txt", "".join(f"{n}\n" for n in wanted))
    keyed = "item\tsystem\thypothesis\tscore\n" + "".join(
        f"{s.item}\t{s.system}\t{s.hypothesis}\t{n}\n" for s, n in reversed(list(zip(rated.segments, wanted, strict=True)))
    )
    for path in (plain, write(tmp_path / "keyed.tsv", keyed)):
        assert scores_on(maker.make(f"theirs={path}"), rated).tolist() == wanted


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1\n2\n", "2 scores and small has 12"),
        ("1\n" * 11 + "x\n", ":12: the score must be a finite number, got 'x'"),
        ("", "is empty"),
        ("item\tvalue\ni0\t1\n", ":1: the header"),
        ("item\tsystem\tscore\ni0\tgood\t1\n", "no score for middle i0"),
        ("item\tsystem\tscore\ni0\tgood\t1\ni0\tgood\t2\n", ":3: .* has another score in .*:2"),
        ("item\tsystem\thypothesis\tscore\ni0\tgood\tanother text\t1\n", ":2: the hypothesis is not that"),
    ],
)
def test_a_file_of_scores_that_does_not_line_up_is_refused(
    tmp_path: Path, maker: MetricMaker, content: str, message: str
) -> None:
    """Another number of lines, unknown or repeated keys, another text beside the key: each refused, with its line where it has one."""
    path = write(tmp_path / "scores.txt", content)
    with pytest.raises(InputError, match=message):
        scores_on(maker.make(f"theirs={path}"), rated_set())


@pytest.mark.parametrize("name", ["bleurt", "comet", "prism"])
def test_what_is_not_installed_is_said(tmp_path: Path, maker: MetricMaker, name: str) -> None:
    """Without a checkpoint, or without the package, the reason names what to do; a default list goes on without it."""
    with pytest.raises(ModelMissingError, match="checkpoint"):
        maker.make(f"{name}:{tmp_path / 'none'}")
    if name not in sys.modules:
        with pytest.raises(ModelMissingError, match="needs the package"):
            maker.make(f"{name}:{tmp_path}")
        made, missing = maker.available(["length", f"{name}:{tmp_path}"])
        assert [metric.name for metric in made] == ["length"]
        assert "needs the package" in missing[f"{name}:{tmp_path}"]


def test_learned_metrics_are_called_as_their_packages_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, maker: MetricMaker
) -> None:
    """BLEURT, PRISM and COMET get checkpoint, references, candidates (and sources) under the names that their packages have."""

    class BleurtScorer:
        def __init__(self, checkpoint: str) -> None:
            assert Path(checkpoint).exists()

        def score(self, *, references: list[str], candidates: list[str]) -> list[float]:
            return [float(r == c) for r, c in zip(references, candidates, strict=True)]

    class Prism:
        def __init__(self, model_dir: str, lang: str) -> None:
            assert lang == "en" and Path(model_dir).exists()

        def score(self, *, cand: list[str], ref: list[str], segment_scores: bool) -> list[float]:
            assert segment_scores
            return [float(c == r) for c, r in zip(cand, ref, strict=True)]

    class Model:
        def predict(self, rows: list[dict[str, str]], **_: Any) -> SimpleNamespace:
            assert all(row["src"].startswith("Quelle") for row in rows)
            return SimpleNamespace(scores=[float(row["mt"] == row["ref"]) for row in rows])

    modules = {"bleurt": {}, "bleurt.score": {"BleurtScorer": BleurtScorer}, "prism": {"Prism": Prism}}
    modules["comet"] = {"load_from_checkpoint": lambda path: Model()}
    for name, content in modules.items():
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    checkpoint = write(tmp_path / "model.ckpt", "weights")
    rated = rated_set()
    wanted = [float(segment.system == "good") for segment in rated.segments]
    for name in ("bleurt", "prism", "comet"):
        assert scores_on(maker.make(f"{name}:{checkpoint}"), rated).tolist() == wanted

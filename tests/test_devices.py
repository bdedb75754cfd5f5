"""Devices and precision: absent devices are named, bf16 is marked and near, and no score depends on a batch."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("stanza")

from tiny_reader import BELOW, with_states, write_reader, write_trunk  # noqa: E402

from rome.combining.combiner import Combiner  # noqa: E402
from rome.combining.signature import without_arithmetic  # noqa: E402
from rome.exceptions import InputError  # noqa: E402
from rome.features.analyser import model_set  # noqa: E402
from rome.features.analyser.acceptability import load_acceptability, probabilities_of  # noqa: E402
from rome.features.analyser.config import set_folder  # noqa: E402
from rome.features.analyser.encoder import load_encoder  # noqa: E402
from rome.features.analyser.model_set import arithmetic, found_device, found_precision  # noqa: E402
from rome.features.analyser.pair_reader import PairReader  # noqa: E402
from rome.features.analyser.trees import WordRows, load_tree_head  # noqa: E402
from rome.metric import RoMe  # noqa: E402
from rome.self_check import BF16_TOLERANCE, record, selfcheck  # noqa: E402

SMALL = set_folder("small")
PAIRS = {
    "references": ["The museum opens at nine.", "Prices are low. They fell in March, and nobody knew why.", "It rains."],
    "hypotheses": ["The museum opens at ten.", "In March the prices fell.", "It did not rain at all on that day."],
}


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The devices that torch says are there; none but the CPU at first."""
    there: set[str] = set()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: "cuda" in there)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: "mps" in there)
    return there


def test_a_card_that_is_not_there_is_refused_at_once(cards: set[str]) -> None:
    """When the metric is made, with what there is; a name that is no device too, and a batch of nothing."""
    with pytest.raises(InputError, match=r"device cuda is not there: torch .* finds cpu on this machine; choose"):
        RoMe(device="cuda")
    cards.add("cuda")
    with pytest.raises(InputError, match="device mps is not there: torch .* finds cuda and cpu"):
        RoMe(device="mps")
    with pytest.raises(InputError, match="device must be cpu or auto or cuda or mps, got 'gpu'"):
        RoMe(device="gpu")  # type: ignore[arg-type]
    for size in (0, True, 1.5):
        with pytest.raises(InputError, match="batch_size must be a positive integer"):
            RoMe(batch_size=size)  # type: ignore[arg-type]


def test_auto_takes_the_best_that_is_there(cards: set[str]) -> None:
    """A CUDA card before Apple's before the CPU; by default the CPU whatever is there."""
    assert found_device("auto") == "cpu"
    cards.add("mps")
    assert found_device("auto") == "mps"
    cards.add("cuda")
    assert (found_device("auto"), found_device("mps"), RoMe().device) == ("cuda", "mps", "cpu")


def test_the_signature_names_a_card_and_the_net_takes_its_features(cards: set[str]) -> None:
    """Stored analyses are kept apart, and a net combines features of either device."""
    cards.add("cuda")
    card, own = RoMe(models="small", device="cuda"), RoMe(models="small", device="cpu")
    assert card.feature_signature == f"{own.feature_signature}|device:cuda"
    assert without_arithmetic(card.signature) == own.signature
    assert (arithmetic("cuda"), arithmetic()) == ("float32 on cuda", "float32")
    Combiner.load(models="small").check_signature(card.feature_signature)


def test_no_score_depends_on_the_batch() -> None:
    """One piece, a few, and everything at once: scores are nearly the same."""
    few, usual, many = (
        [segment.score for segment in RoMe(models="small", progress=False, threads=1, batch_size=size).score(**PAIRS)]
        for size in (1, 512, 100_000)
    )
    np.testing.assert_allclose([few, many], [usual, usual], atol=1e-5)


# torch's device "meta" has shapes without numbers: an operation that mixes it with the CPU raises, as a card would.


def test_trunk_and_heads_compute_where_they_are_put() -> None:
    """States, vectors and judgements lie on the device until they are copied out."""
    base = set_folder("base")  # transformers' BertModel looks at the numbers of a mask
    encoder = load_encoder(base / "encoder", device="meta")
    read = encoder.read(["A cat sat on a mat.", "It rained. " * 300])
    assert {row.device.type for each in read for row in each.rows} == {"meta"}
    assert {row.device.type for row in encoder._row_vectors(read)} == {"meta"}
    judge = load_acceptability(base / "grammar").to("meta")
    rows = [row for each in read for row in each.after(judge.input_layer)]
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor"):
        probabilities_of(judge, rows)


def test_trees_are_found_where_the_head_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of the head computes on the device; the search for the best tree gets its scores."""
    head = load_tree_head(SMALL / "trees").to("meta")
    seen: list[str] = []

    def heads(arcs: Any) -> Any:
        seen.append(arcs.device.type)
        return np.zeros(len(arcs), np.int64)

    monkeypatch.setattr("rome.features.analyser.trees._heads", heads)
    states = torch.zeros(head.sizes["mixed"], 5, head.sizes["width"], device="meta")
    places = WordRows([1, 2, 3], [2, 3, 4], [0, 0, 0], [(1, 2), (3,), (4, 5, 6)])
    with pytest.raises((NotImplementedError, RuntimeError), match="meta"):  # where tags come back as a list
        head.parse([states, states], [places, places])
    assert seen == ["meta", "meta"]


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_the_reader_computes_where_it_is_put(kind: str, tmp_path: Path) -> None:
    """Its weights, marks and distances, and the states that it is given, until the first number is copied out."""
    write_trunk(tmp_path / "encoder", kind)
    write_reader(tmp_path)
    reader = PairReader(tmp_path, BELOW, device="meta")
    with pytest.raises((NotImplementedError, RuntimeError), match="(?i)meta tensor"):
        reader([(with_states("the old dog"), with_states("a new cat ran", 1))])
    layers, tensors = reader._parts
    assert {tensor.device.type for tensor in (*tensors.values(), *layers.parameters())} == {"meta"}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA card")
def test_a_card_gives_the_numbers_of_the_cpu() -> None:
    """Within rounding."""
    found = [RoMe(models="small", progress=False, device=device).score(**PAIRS) for device in ("cpu", "cuda")]
    values = [[(s.score, *(part.value for part in s.components)) for s in result] for result in found]
    np.testing.assert_allclose(*values, atol=2e-3)


# Precision


def small(**options: Any) -> RoMe:
    return RoMe(models="small", progress=False, **{"threads": 1, **options})


def numbers(metric: RoMe) -> np.ndarray:
    """(segments, 5) scores and components."""
    return np.array([(s.score, *(part.value for part in s.components)) for s in metric.score(**PAIRS)])


def having(monkeypatch: pytest.MonkeyPatch, answer: bool) -> None:
    """Let the processor have instructions for bfloat16, or not."""
    monkeypatch.setattr(model_set, "multiplies_bf16", lambda: answer)


def test_auto_is_settled_when_the_metric_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """bf16 where the processor, or the card, multiplies such numbers itself; the questions for by name is never changed."""
    for there, expected in ((True, "bf16"), (False, "float32")):
        having(monkeypatch, there)
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation, answer=there: answer)
        assert found_precision("auto") == found_precision("auto", "cuda") == RoMe(precision="auto").precision == expected
        assert (found_precision("float32"), found_precision("bf16"), RoMe().precision) == ("float32", "bf16", "float32")
        assert found_precision("auto", "mps") == "float32"
    with pytest.raises(InputError, match="precision bf16 is for processors and CUDA cards"):
        found_precision("bf16", "mps")
    with pytest.raises(InputError, match="precision must be float32 or bf16 or auto, got 'half'"):
        RoMe(precision="half")  # type: ignore[arg-type]


def test_a_processor_is_asked_by_the_flags_that_linux_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """AVX512-BF16 or AMX; neither where there is no such file."""
    for text, expected in (
        ("flags : avx512f avx512_bf16", True),
        ("flags : amx_bf16 sse", True),
        ("flags : avx512f avx2", False),
        (None, False),
    ):
        model_set.multiplies_bf16.cache_clear()
        monkeypatch.setattr(Path, "is_file", lambda self, text=text: text is not None)
        monkeypatch.setattr(Path, "read_text", lambda self, text=text: text)
        assert model_set.multiplies_bf16() is expected
    model_set.multiplies_bf16.cache_clear()


def test_the_signature_names_it_and_float32_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where the processor has AMX; the net takes features of either, a pickle carries what "auto" was settled to."""
    having(monkeypatch, True)
    plain, lowered = small(), small(precision="auto")
    assert lowered.feature_signature == f"{plain.feature_signature}|precision:bf16"
    assert without_arithmetic(lowered.signature) == plain.signature and "precision" not in plain.signature
    assert (arithmetic(), arithmetic("cpu", "bf16"), arithmetic("cuda", "bf16")) == ("float32", "bf16", "bf16 on cuda")
    Combiner.load(models="small").check_signature(lowered.feature_signature)
    packed = pickle.dumps(lowered)
    having(monkeypatch, False)
    assert pickle.loads(packed).signature == lowered.signature


def test_float32_is_float32_whatever_the_process_has_set() -> None:
    """Recipes for training let torch multiply float32 in bfloat16; scores stay the same, and so does the setting."""
    before, expected = torch.get_float32_matmul_precision(), numbers(small())
    torch.set_float32_matmul_precision("medium")
    try:
        np.testing.assert_allclose(numbers(small()), expected, atol=1e-6)
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA card")
def test_a_card_in_bf16_is_near() -> None:
    """The known answers hold on a card too, within the tolerance of bf16."""
    assert selfcheck(small(precision="bf16", device="cuda"), models="small")
    assert selfcheck(RoMe(precision="bf16", device="cuda", progress=False))


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_the_reader_is_near(kind: str, tmp_path: Path) -> None:
    """Its readings are those in float32 but for rounding, and float32 where they come out."""
    write_trunk(tmp_path / "encoder", kind)
    write_reader(tmp_path)
    pair = with_states("the old dog"), with_states("a new cat ran", 1)
    (one,), (other,) = (PairReader(tmp_path, BELOW, precision=each)([pair]) for each in ("float32", "bf16"))
    assert other.probabilities.dtype == np.float32
    np.testing.assert_allclose(other.probabilities, one.probabilities, atol=0.1)
    assert not np.array_equal(other.probabilities, one.probabilities)


def test_scores_are_near_and_kept_apart(tmp_path: Path) -> None:
    """A store never gives the analyses of the other precision."""
    store = tmp_path / "analyses.sqlite"
    whole = numbers(small(store=store))
    lowered = numbers(small(store=store, precision="bf16"))
    assert not np.array_equal(lowered, whole)
    np.testing.assert_allclose(lowered, whole, atol=0.05)
    assert np.array_equal(numbers(small(store=store)), whole)


class Answers:
    """A metric that knows its numbers."""

    def __init__(self, score: float, signature: str) -> None:
        self.value, self.signature = score, signature

    def score(self, *, references: Any, hypotheses: Any) -> Any:
        segment = type("Segment", (), {"score": self.value, "components": ()})()
        return type("Result", (list,), {"signature": self.signature})([segment] * len(hypotheses))


@pytest.mark.parametrize("named", ["precision:bf16"])
def test_each_precision_has_a_tolerance_of_its_own(named: str, tmp_path: Path) -> None:
    """Numbers that pass in bf16 are wrong in float32; and only float32 is recorded."""
    (tmp_path / "set.json").write_text(json.dumps({"format": 1, "name": "own", "settings": {}, "files": {}}))
    record(tmp_path, [(["A cat."], "A dog.")], Answers(0.5, "f:1|n:2"))  # type: ignore[arg-type]
    near = 0.5 + BF16_TOLERANCE / 2
    assert selfcheck(Answers(near, f"f:1|{named}|n:2"), models=tmp_path)  # type: ignore[arg-type]
    assert not selfcheck(Answers(near, "f:1|n:2"), models=tmp_path)  # type: ignore[arg-type]
    assert not selfcheck(Answers(near + BF16_TOLERANCE, f"f:1|{named}|n:2"), models=tmp_path)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="known answers are those in float32 on a processor"):
        record(tmp_path, [(["A cat."], "A dog.")], Answers(0.5, f"f:1|{named}|n:2"))  # type: ignore[arg-type]


def test_the_known_answers_hold() -> None:
    """Within that tolerance, whatever this processor has."""
    assert selfcheck(small(precision="bf16"), models="small")

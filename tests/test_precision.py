"""float32 is the reference and stays it; bf16 and int8 are asked for, named, kept apart, near, and the same whatever stands beside a text."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("stanza")

from tiny_reader import BELOW, with_states, write_reader, write_trunk  # noqa: E402

from rome.cli import main  # noqa: E402
from rome.combining.combiner import Combiner  # noqa: E402
from rome.combining.signature import without_arithmetic  # noqa: E402
from rome.exceptions import InputError  # noqa: E402
from rome.features.analyser import eight_bits, model_set, trunk  # noqa: E402
from rome.features.analyser.config import set_folder  # noqa: E402
from rome.features.analyser.eight_bits import EightBits, large_columns  # noqa: E402
from rome.features.analyser.encoder import load_encoder, load_trunk  # noqa: E402
from rome.features.analyser.model_set import arithmetic, found_precision  # noqa: E402
from rome.features.analyser.pair_reader import PairReader  # noqa: E402
from rome.features.analyser.trunk import at_least, bert_layers, in_precision, layer_states, torch_threads  # noqa: E402
from rome.metric import RoMe  # noqa: E402
from rome.self_check import TOLERANCES, record, selfcheck  # noqa: E402

INT8 = pytest.param("int8", marks=pytest.mark.skipif(not eight_bits.there(), reason="this torch has no oneDNN"))
LOWER = pytest.mark.parametrize("precision", ["bf16", INT8])
PAIRS = {
    "references": ["The museum opens at nine.", "Prices are low. They fell in March, and nobody knew why.", "It rains."],
    "hypotheses": ["The museum opens at ten.", "In March the prices fell.", "It did not rain at all on that day."],
}


def small(**options: Any) -> RoMe:
    return RoMe(models="small", progress=False, **{"threads": 1, **options})


def numbers(metric: RoMe) -> np.ndarray:
    """(segments, 5) scores and components."""
    return np.array([(s.score, *(part.value for part in s.components)) for s in metric.score(**PAIRS)])


def having(monkeypatch: pytest.MonkeyPatch, answer: bool) -> None:
    """Let the processor have instructions for bfloat16, or not."""
    for module in (model_set, trunk):
        monkeypatch.setattr(module, "multiplies_bf16", lambda: answer)


def test_auto_is_settled_when_the_metric_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """bf16 where the processor, or the card, multiplies such numbers itself; what is asked for by name is never changed."""
    for there, expected in ((True, "bf16"), (False, "float32")):
        having(monkeypatch, there)
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation, answer=there: answer)
        assert found_precision("auto") == found_precision("auto", "cuda") == RoMe(precision="auto").precision == expected
        assert (found_precision("float32"), found_precision("bf16"), RoMe().precision) == ("float32", "bf16", "float32")
        assert found_precision("auto", "mps") == "float32"
    with pytest.raises(InputError, match="precision bf16 is for processors and CUDA cards"):
        found_precision("bf16", "mps")
    for device in ("mps", "cuda"):
        with pytest.raises(InputError, match=f"precision int8 is for x86 processors, not for device {device}: choose float32"):
            found_precision("int8", device)
    monkeypatch.setattr(eight_bits, "there", lambda: False)
    with pytest.raises(InputError, match="precision int8 is for x86 processors, not for the torch of this processor"):
        RoMe(precision="int8")
    with pytest.raises(InputError, match="precision must be float32 or bf16 or int8 or auto, got 'half'"):
        RoMe(precision="half")  # type: ignore[arg-type]


def test_the_command_line_takes_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Another word ends with exit code 2 and the words that there are."""
    assert main(["score", "--examples", "--precision", "half"]) == 2
    assert "float32" in capsys.readouterr().err


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


@pytest.fixture
def medium() -> Iterator[None]:
    """A process that lets torch multiply float32 in bfloat16, as recipes for training do."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    yield
    torch.set_float32_matmul_precision(before)


def products() -> Any:
    """What layers of the small set make of random states."""
    layers = bert_layers(load_trunk(set_folder("small") / "encoder"))
    states = torch.randn(64, 384, generator=torch.Generator().manual_seed(0))
    with torch_threads(1):
        *_, last = layer_states(layers[:2], states, [64])
    return last


def test_float32_is_float32_whatever_the_process_has_set(request: pytest.FixtureRequest) -> None:
    """The same bits, and the setting is what it was, also where blocks of two threads overlap."""
    expected = products()
    request.getfixturevalue("medium")
    assert torch.equal(products(), expected) and torch.get_float32_matmul_precision() == "medium"
    outer, inner = torch_threads(1), torch_threads(1)
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    if hasattr(torch.backends.mkldnn, "matmul"):
        assert torch.backends.mkldnn.matmul.fp32_precision == "ieee"
    inner.__exit__(None, None, None)
    assert torch.get_float32_matmul_precision() == "medium"


def test_only_products_are_rounded() -> None:
    """Weights of the four products in bfloat16; norms, and what goes from layer to layer, in float32; float32 stays the same object."""
    layers = bert_layers(load_trunk(set_folder("small") / "encoder"))
    assert in_precision(layers, "float32") == layers
    for one in in_precision(layers, "bf16"):
        assert {t.dtype for pair in (one.inputs, one.output, one.inner, one.outer) for t in pair} == {torch.bfloat16}
        assert {t.dtype for pair in (one.first_norm, one.second_norm) for t in pair} == {torch.float32}
    (first, *_) = layer_states(in_precision(layers, "bf16"), at_least(torch.randn(9, 384)), [16])
    assert first.dtype == torch.float32


@pytest.mark.parametrize("itself", [True, False], ids=["instructions", "emulated"])
@LOWER
def test_states_depend_on_nothing_beside_them(precision: str, itself: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounded too: any batch, one thread or two give the same bits, on a processor with instructions for bf16 or without; near those in float32."""
    having(monkeypatch, itself and model_set.multiplies_bf16())
    rows = [list(range(1000, 1000 + length)) for length in (3, 3, 9, 17, 40, 120)]
    encoder, found = load_encoder(set_folder("small") / "encoder", precision=precision), []
    for threads, encoder.batch_size in ((1, 10_000), (2, 10_000), (1, 1), (2, 50)):
        with torch_threads(threads):
            found.append(encoder.states_of_rows(rows))
    assert all(torch.equal(one, other) for others in found[1:] for one, other in zip(found[0], others, strict=True))
    whole = load_encoder(set_folder("small") / "encoder").states_of_rows(rows)
    assert all(torch.cosine_similarity(one, other, -1).mean() > 0.995 for one, other in zip(found[0], whole, strict=True))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA card")
def test_a_card_in_bf16_is_near() -> None:
    """The known answers hold on a card too, within the tolerance of bf16."""
    assert selfcheck(small(precision="bf16", device="cuda"), models="small")
    assert selfcheck(RoMe(precision="bf16", device="cuda", progress=False))


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
@LOWER
def test_the_reader_is_near(precision: str, kind: str, tmp_path: Path) -> None:
    """Its readings are those in float32 but for rounding, and float32 where they come out."""
    write_trunk(tmp_path / "encoder", kind)
    write_reader(tmp_path)
    pair = with_states("the old dog"), with_states("a new cat ran", 1)
    (one,), (other,) = (PairReader(tmp_path, BELOW, precision=each)([pair]) for each in ("float32", precision))
    assert other.probabilities.dtype == np.float32
    np.testing.assert_allclose(other.probabilities, one.probabilities, atol=0.1)
    assert not np.array_equal(other.probabilities, one.probabilities)


@LOWER
def test_scores_are_near_kept_apart_and_the_same_in_every_batch(precision: str, tmp_path: Path) -> None:
    """A store never gives the analyses of the other precision."""
    store = tmp_path / "analyses.sqlite"
    whole = numbers(small(store=store))
    lowered = numbers(small(store=store, precision=precision))
    assert not np.array_equal(lowered, whole)
    np.testing.assert_allclose(lowered, whole, atol={"bf16": 0.05, "int8": 0.15}[precision])
    assert np.array_equal(numbers(small(precision=precision, batch_size=50, threads=2)), lowered)
    assert np.array_equal(numbers(small(store=store)), whole)


class Answers:
    """A metric that knows its numbers."""

    def __init__(self, score: float, signature: str) -> None:
        self.value, self.signature = score, signature

    def score(self, *, references: Any, hypotheses: Any) -> Any:
        segment = type("Segment", (), {"score": self.value, "components": ()})()
        return type("Result", (list,), {"signature": self.signature})([segment] * len(hypotheses))


@pytest.mark.parametrize("named", list(TOLERANCES))
def test_each_precision_has_a_tolerance_of_its_own(named: str, tmp_path: Path) -> None:
    """Numbers that pass in bf16 or int8 are wrong in float32; and only float32 is recorded."""
    (tmp_path / "set.json").write_text(json.dumps({"format": 1, "name": "own", "settings": {}, "files": {}}))
    record(tmp_path, [(["A cat."], "A dog.")], Answers(0.5, "f:1|n:2"))  # type: ignore[arg-type]
    near = 0.5 + TOLERANCES[named] / 2
    assert selfcheck(Answers(near, f"f:1|{named}|n:2"), models=tmp_path)  # type: ignore[arg-type]
    assert not selfcheck(Answers(near, "f:1|n:2"), models=tmp_path)  # type: ignore[arg-type]
    assert not selfcheck(Answers(near + TOLERANCES[named], f"f:1|{named}|n:2"), models=tmp_path)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="known answers are those in float32 on a processor"):
        record(tmp_path, [(["A cat."], "A dog.")], Answers(0.5, f"f:1|{named}|n:2"))  # type: ignore[arg-type]


@LOWER
def test_the_known_answers_hold(precision: str) -> None:
    """Within that tolerance, whatever this processor has."""
    assert selfcheck(small(precision=precision), models="small")


def by_hand(states: np.ndarray, weight: np.ndarray, bias: np.ndarray, columns: list[int], lowest: float) -> np.ndarray:
    """A product in eight bits as a textbook has it, row by row and number by number, in Python's own whole numbers."""
    rounded = []
    for row in weight.astype(np.float64):
        steps = [max(map(abs, row)) / level for level in eight_bits.LEVELS]
        each = [(step, [round(w / step) for w in row]) for step in steps]
        step, whole = min(each, key=lambda one: sum((w - n * one[0]) ** 2 for w, n in zip(row, one[1], strict=True)))
        rounded.append((step, [0 if k in columns else n for k, n in enumerate(whole)]))
    found = []
    for row in states.astype(np.float64):
        rest = [0.0 if k in columns else float(x) for k, x in enumerate(row)]
        step = (max(rest) + lowest) / 255 if lowest else max(map(abs, rest)) / 127
        whole = [round((x + lowest) / step) for x in rest]
        exact = [sum(row[k] * weight[n, k] for k in columns) + bias[n] for n in range(len(weight))]
        found.append(
            [
                out + step * scale * sum(map(int.__mul__, whole, numbers)) - lowest * scale * sum(numbers)
                for out, (scale, numbers) in zip(exact, rounded, strict=True)
            ]
        )
    return np.array(found)


@pytest.mark.skipif(not eight_bits.there(), reason="this torch has no oneDNN")
class TestEightBits:
    """Products in whole numbers."""

    @pytest.mark.parametrize("case", ["columns", "all", "gelu"])
    def test_is_what_a_textbook_computes(self, case: str) -> None:
        """Large columns in floating point, all of them rounded, or what GELU gives."""
        generator = torch.Generator().manual_seed(0)
        states, weight, bias = (torch.randn(*shape, generator=generator) for shape in ((5, 64), (32, 64), (32,)))
        columns, lowest = None, None
        if case == "columns":
            columns = torch.tensor([3, 40])
            states[:, columns] *= 100
        if case == "gelu":
            states, lowest = torch.nn.functional.gelu(3 * states), eight_bits.LOWEST_GELU
        found = EightBits(weight, bias, columns, lowest)(states).numpy()
        kept = [] if columns is None else columns.tolist()
        expected = by_hand(states.numpy(), weight.numpy(), bias.numpy(), kept, lowest or 0.0)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=0.05)
        exact = (states @ weight.T + bias).numpy()
        assert np.abs(found - exact).mean() < 0.02 * np.abs(exact).mean()

    @pytest.mark.parametrize("lowest", [None, eight_bits.LOWEST_GELU])
    @pytest.mark.parametrize("columns", [None, torch.tensor([3])])
    def test_what_is_given_stays(self, columns: torch.Tensor | None, lowest: float | None) -> None:
        """The states, the bias, and so a second product of the same."""
        generator = torch.Generator().manual_seed(3)
        states, weight, bias = (torch.rand(*shape, generator=generator) for shape in ((16, 32), (48, 32), (48,)))
        before, product = states.clone(), EightBits(weight, bias, columns, lowest)
        first = product(states)
        assert torch.equal(states, before) and torch.equal(product(states), first)

    def test_every_step_has_its_byte(self) -> None:
        """As torch itself turns whole numbers into uint8."""
        steps = torch.arange(256.0)
        assert torch.equal(eight_bits._bytes(steps.clone()), steps.to(torch.uint8))

    def test_a_row_does_not_depend_on_the_others(self) -> None:
        """A row beside one a thousand times as large gives the bits that it gives elsewhere; zeros give the bias."""
        generator = torch.Generator().manual_seed(1)
        weight, bias, row = (torch.randn(*shape, generator=generator) for shape in ((48, 32), (48,), (1, 32)))
        product = EightBits(weight, bias, torch.tensor([7]))
        alone = product(row.repeat(16, 1))
        beside = product(torch.cat([row, 1000 * torch.randn(15, 32, generator=generator)]))
        assert torch.equal(alone[0], beside[0]) and torch.equal(alone[0], alone[15])
        assert torch.equal(product(torch.zeros(16, 32)), bias.expand(16, -1))

    @pytest.mark.parametrize("top", [31, 63], ids=["six bits", "seven bits"])
    def test_weights_of_a_file_are_kept_as_they_are(self, top: int) -> None:
        """Rows that have their largest number, as files have them: no error but that of the states, and none where these are whole."""
        generator = torch.Generator().manual_seed(2)
        weight = torch.randint(-top, top + 1, (40, 64), generator=generator).float()
        weight[:, 0] = top
        states = torch.randint(-127, 128, (16, 64), generator=generator).float()
        states[:, 1] = 127
        found = EightBits(0.01 * weight, torch.zeros(40))(states)
        assert torch.allclose(found, 0.01 * (states @ weight.T), rtol=1e-5, atol=1e-3)

    def test_large_columns_are_found_by_the_norm(self) -> None:
        """Of real layers those that are largest on real text are among them."""
        encoder = load_encoder(set_folder("base") / "encoder")
        norm = encoder.trunk.encoder.layer[2].output["LayerNorm"]
        (states,) = encoder.read(["The museum opens at nine."])
        found = states.after(3)[0].abs().amax(0)
        chosen = large_columns((norm.weight, norm.bias))
        assert found.argmax() in chosen and found.index_fill(0, chosen, 0.0).max() < found.max() / 2

    def test_layers_are_not_held_twice(self) -> None:
        """The numbers in floating point are gone once they are rounded."""
        encoder = load_encoder(set_folder("small") / "encoder", precision="int8")
        assert not [name for name, _ in encoder.trunk.named_parameters() if ".dense." in name or "self" in name]

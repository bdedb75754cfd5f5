"""Where the models compute and how much at once: devices that are not there are named, nothing is left on the CPU, no score depends on a batch."""

from __future__ import annotations

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
from rome.features.analyser.acceptability import load_acceptability, probabilities_of  # noqa: E402
from rome.features.analyser.config import set_folder  # noqa: E402
from rome.features.analyser.encoder import load_encoder  # noqa: E402
from rome.features.analyser.model_set import arithmetic, found_device  # noqa: E402
from rome.features.analyser.pair_reader import PairReader  # noqa: E402
from rome.features.analyser.trees import WordRows, load_tree_head  # noqa: E402
from rome.metric import RoMe  # noqa: E402

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


def test_the_command_says_it_in_one_line(cards: set[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, the device by name, and no traceback."""
    assert main(["score", "--examples", "--models", "small", "--device", "cuda"]) == 2
    err = capsys.readouterr().err
    assert "device cuda is not there" in err and err.count("\n") == 1


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

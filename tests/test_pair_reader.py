"""The reader of both texts at run time: the numbers of the net in training, the same bits in every company, and what it starts from."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_reader import BELOW, TRUNKS, batch_of, with_own_states, with_states, write_reader, write_trunk

from rome.data.perturbations.changes import plain
from rome.exceptions import ModelMissingError
from rome.features.analyser import pair_reader
from rome.features.analyser.config import ModelConfig, set_folder
from rome.features.analyser.encoder import load_trunk, stored_tensors
from rome.features.analyser.model_set import models_identity
from rome.features.analyser.pair_reader import PairReader, company, joint_layers
from rome.features.analyser.weights import load_weights, save_weights
from rome.features.errors.evidence import READER_FILE, SEVERITIES, TYPES, PairPrediction
from rome.features.values import Analysis
from rome.metric import RoMe
from rome.train.errors.net import PairNet, load_reader

from model_sets import linked_set, manifest

PAIRS = [
    ("The old dog saw a red house.", "A dog did not see the red house on the hill."),
    ("the man", ""),
    ("", "the man"),
    ("", " "),
    ("dog", "cat"),
    ("one two three", "one two four"),
    ("three three dogs " * 5, "five dogs dogs ran , ran " * 7),
]


@pytest.fixture(scope="module", params=[(kind, *sizes) for kind in sorted(TRUNKS) for sizes in ((1, 0), (0, 1))], ids=str)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[PairReader, PairNet]:
    """A reader of a trunk's last layer, or of both and a further one, and the net in training with the numbers that its file holds."""
    kind, below, further = request.param
    folder = tmp_path_factory.mktemp(kind)
    write_trunk(folder / "encoder", kind)
    net = write_reader(folder, below=below, further=further)
    assert len(net.layers) == 2 - below + further
    return PairReader(folder, below, threads=1), net  # tiny products of two threads have other last digits


def analysed(pairs: list[tuple[str, str]]) -> list[tuple[Analysis, Analysis]]:
    return [(with_states(one), with_states(other, 1)) for one, other in pairs]


def same(one: PairPrediction, other: PairPrediction) -> bool:
    """Return whether two readings are equal."""
    arrays = all(np.allclose(getattr(one, name), getattr(other, name), atol=1e-5) for name in ("probabilities", "types"))
    return arrays and one.amount == pytest.approx(other.amount, rel=1e-5, abs=1e-6)


def test_the_reader_says_what_the_trained_net_says(made: tuple[PairReader, PairNet]) -> None:
    """Oracle: the net in training, with gradients and padding, gives every word and every pair the same numbers.

    The run-time reader subtracts the prior from the logits of the words, and limits the amount.
    """
    reader, net = made
    texts = [
        ("The old dog saw a red house.", "A dog did not see the red house on the hill."),
        ("dog", "cat"),
        ("three three dogs " * 5, "five dogs dogs ran , ran " * 7),
        ("It rains unhappily. We go home.", "It rained, and we went. Home!"),
    ]
    batch = batch_of(texts, reader.folder)
    read, prior = net(batch), load_weights(reader.folder / "errors" / READER_FILE)[0]["prior"]
    read.amount.sum().backward()
    assert net.marks.grad is not None and float(net.marks.grad.abs().sum()) > 0.0
    for row, n in enumerate(batch.pair.tolist()):
        one, other = (with_own_states(plain(text), reader.folder, reader.below) for text in texts[n])
        (found,), p, q = reader([(one, other)]), len(one.words), len(other.words)
        places = [*range(1, p + 1), *range(p + 2, p + q + 2)]
        calibrated = (read.logits[row, places] - prior).softmax(-1).detach().numpy()
        np.testing.assert_allclose(found.probabilities, calibrated, atol=1e-5)
        np.testing.assert_allclose(found.types, read.types[row, places].softmax(-1).detach().numpy(), atol=1e-5)
        assert found.amount == pytest.approx(-25.0 * math.expm1(-float(read.amount[row].detach().expm1()) / 25.0), rel=1e-4)
        assert found.probabilities.shape == (p + q, len(SEVERITIES)) and found.types.shape == (p + q, len(TYPES))


def test_a_pair_is_read_alike_in_every_company(made: tuple[PairReader, PairNet]) -> None:
    """Alone, backwards, doubled, and in batches of other sizes: not one bit differs."""
    reader, pairs = made[0], analysed(PAIRS)
    together = reader(pairs)
    assert all(same(*both) for both in zip(reader(pairs[::-1])[::-1], together, strict=True))
    assert all(same(*both) for both in zip(reader([*pairs, *pairs]), together * 2, strict=True))
    for batch_size in (1, 40, 10_000):
        other = PairReader(reader.folder, reader.below, threads=1, batch_size=batch_size)
        assert all(same(*both) for both in zip(other(pairs), together, strict=True))
    assert reader([]) == []


def test_the_order_of_texts_and_common_words_are_seen(made: tuple[PairReader, PairNet]) -> None:
    """What the reader says depends on which text is the reference, on the states, and on which words both texts have."""
    (one, other), reader = analysed(PAIRS[:1])[0], made[0]
    renamed = replace(other, text="x", words=tuple(replace(word, text="x") for word in other.words))
    assert len({r.amount for r in reader([(one, other), (other, one), (one, renamed), (with_states(one.text, 2), other)])}) == 4


@pytest.mark.parametrize("text", ["", "the old dog"])
def test_equal_texts_have_no_error(made: tuple[PairReader, PairNet], text: str) -> None:
    """Amount 0 and surely none, whatever the weights."""
    found = made[0]([(with_states(text), with_states(text, 1))])[0]
    count = 2 * len(text.split())
    assert found.amount == 0.0 and found.types.shape == (count, len(TYPES))
    assert found.probabilities.tolist() == [[1.0, 0.0, 0.0, 0.0]] * count


@pytest.mark.parametrize("open_side", [0, 1])
def test_a_text_without_its_closing_mark_is_read_with_the_others(made: tuple[PairReader, PairNet], open_side: int) -> None:
    """The mark is borrowed: the reading is that of the pair that has it, but for the row of the mark; not for an empty text."""
    one, other = analysed([("the old dog saw .", "a dog did not see .")])[0]
    borrowed = (other if open_side == 0 else one).states[-1:]
    whole, bare = [one, other], [one, other]
    own = whole[open_side]
    whole[open_side] = replace(own, states=np.concatenate([own.states[:-1], borrowed]))
    bare[open_side] = replace(own, text=own.text[:-2], words=own.words[:-1], states=own.states[:-1])
    first, second = made[0]([(whole[0], whole[1]), (bare[0], bare[1])])
    kept = np.delete(first.probabilities, (len(one.words) if open_side == 0 else len(first.probabilities)) - 1, axis=0)
    np.testing.assert_allclose(kept, second.probabilities, atol=1e-5)
    assert first.amount == pytest.approx(second.amount, rel=1e-5)
    nothing = with_states("")
    assert len(made[0]([(nothing, other) if open_side == 0 else (one, nothing)])[0].probabilities) == len(
        (one, other)[1 - open_side].words
    )


def test_a_very_long_pair_is_read_in_parts(made: tuple[PairReader, PairNet], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each word has one row, in order, and the amounts of the parts add up: those that the parts have as pairs of their own."""
    reader = made[0]
    one, other = with_states(" ".join(f"w{n}" for n in range(17))), with_states(" ".join(f"w{n}" for n in range(0, 18, 2)), 1)

    def part(a: Analysis, start: int, stop: int) -> Analysis:
        return replace(a, text=f"{start} {stop} {len(a.words)}", words=a.words[start:stop], states=a.states[start:stop])

    cuts = [(17 * n // 3, 17 * (n + 1) // 3, 9 * n // 3, 9 * (n + 1) // 3) for n in range(3)]
    parts = reader([(part(one, a, b), part(other, c, d)) for a, b, c, d in cuts])
    monkeypatch.setattr(pair_reader, "LONGEST", 10)
    (whole,) = reader([(one, other)])
    assert whole.amount == pytest.approx(sum(found.amount for found in parts))
    sides = [[found.probabilities[: b - a] for found, (a, b, _, _) in zip(parts, cuts, strict=True)]]
    sides += [[found.probabilities[b - a :] for found, (a, b, _, _) in zip(parts, cuts, strict=True)]]
    np.testing.assert_array_equal(whole.probabilities, np.concatenate([row for side in sides for row in side]))
    assert whole.types.shape == (26, len(TYPES))


@pytest.mark.parametrize(
    ("words", "others", "expected"),
    [
        ("a b c", "a b c", [4, 4, 4]),
        ("a b c", "x y", [0, 0, 0]),
        ("a b c", "c b a", [1, 1, 1]),
        ("a b c", "a b d", [4, 2, 0]),
        ("b c", "a b c", [3, 4]),
        ("a b", "a x b", [2, 3]),
        ("b", "a b c b", [3]),
        ("a b", "", [0, 0]),
        ("", "a", []),
    ],
)
def test_company(words: str, others: str, expected: list[int]) -> None:
    """A word's neighbours decide, the edges of a text among them; with several places the one with more in common."""
    assert company(words.split(), others.split()) == expected


def test_without_adapters_the_layers_are_the_trunks(tmp_path: Path) -> None:
    """A reader whose adapters add nothing leaves every number of the trunk's layers."""
    write_trunk(tmp_path / "encoder", "mpnet")
    write_reader(tmp_path, below=0, spread=0.0)
    before = {
        name: tensor for name, tensor in stored_tensors(load_trunk(tmp_path / "encoder")).items() if "embeddings" not in name
    }
    layers = joint_layers(tmp_path / "encoder", load_weights(tmp_path / "errors" / READER_FILE)[0])
    torch.testing.assert_close(stored_tensors(layers), before, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("about", [{"severities": ["none", "bad"]}, {"types": ["number"]}, {"types": None}])
def test_a_file_that_tells_other_errors_is_refused(tmp_path: Path, about: dict[str, object]) -> None:
    """And one that is not there; both at the first pair, with what to do."""
    write_trunk(tmp_path / "encoder", "bert")
    reader, pairs = PairReader(tmp_path, BELOW), analysed(PAIRS[:1])
    with pytest.raises(ModelMissingError, match=r"reader\.safetensors is missing"):
        reader(pairs)
    write_reader(tmp_path)
    tensors, known = load_weights(tmp_path / "errors" / READER_FILE)
    save_weights(tmp_path / "errors" / READER_FILE, tensors, {**known, **about})
    with pytest.raises(ModelMissingError, match="train it again, `rome train errors`"):
        reader(pairs)


# What it starts from

TEXT = "The old man didn't sell 3 houses in Oslo. He has left, unhappily."


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """`small` without a reader, and with a random one."""
    folder, but = tmp_path_factory.mktemp("sets"), ("errors", "fill", "scorer-supervised")
    settings = {name: own for name, own in manifest(set_folder("small"))["settings"].items() if name != "errors"}
    plain = linked_set(folder / "plain", but=but, settings=settings)
    other = linked_set(folder / "other", but=but, settings={**settings, "errors": {"below": BELOW}})
    write_reader(other, spread=0.05)
    return plain, other


def test_an_analysis_has_what_the_sets_reader_starts_from(sets: tuple[Path, Path], tmp_path: Path) -> None:
    """(n, width) states where there is a reader, those that it was trained on; none elsewhere. Nothing else differs, but the identity."""
    bare, other = (RoMe(models=folder, threads=1, progress=False, store=tmp_path / folder.name) for folder in sets)
    texts = [TEXT, "", "The old man sold five houses."]
    without, found = (metric.analyse(texts) for metric in (bare, other))
    for text in texts:
        assert without[text].states.shape == (0, 0)
        assert replace(found[text], states=without[text].states) == without[text]
        assert found[text].states.dtype == np.float16 and len(found[text].states) == len(found[text].words)
    one = found[TEXT]
    net, batch = load_reader(sets[1]), batch_of([(TEXT, texts[2])], sets[1])
    rows, p = net.rows(batch)[0][0, 1:], len(plain(TEXT).words)
    words = rows[:p] - net.sides[0] - net.shared[batch.company[0, 1 : p + 1]]
    assert tuple((w.start, w.end) for w in one.words) == plain(TEXT).words
    np.testing.assert_allclose(one.states, words.detach().numpy(), atol=2e-3, rtol=2e-3)
    assert models_identity(ModelConfig(set=str(sets[0]))) != models_identity(ModelConfig(set=str(sets[1])))
    again = RoMe(models=sets[1], threads=1, progress=False, store=tmp_path / sets[1].name)
    assert again.analyse(texts) == found
    (segment,) = other.score(references=[TEXT], hypotheses=[texts[2]]).segments
    (repeated,) = again.score(references=[TEXT], hypotheses=[texts[2]]).segments
    assert segment == repeated and "errors:" in other.feature_signature
    assert other.score(references=[TEXT], hypotheses=[TEXT]).segments[0].components.errors.value == 1.0


def test_states_count_when_analyses_are_compared() -> None:
    """Two analyses that differ in one number of their states are not equal."""
    one = with_states("the dog")
    changed = one.states.copy()
    changed[0, 0] += 1
    assert one == replace(one, states=one.states.copy()) and one != replace(one, states=changed)


def test_equal_quantities_are_read_as_the_same_words(made: tuple[PairReader, PairNet]) -> None:
    """The reader gets the reference's words in their place; on both sides they are no errors, and other words keep their rows."""
    reader, (one, other) = (
        made[0],
        (with_states("it ran for 90 minutes on Monday"), with_states("it went for one and a half hours here", 1)),
    )
    equal = [(range(3, 5), range(3, 8))]
    kept = [0, 1, 2, 8]
    read = replace(
        other,
        text="read",
        words=(*other.words[:3], *one.words[3:5], other.words[8]),
        states=np.concatenate([other.states[:3], one.states[3:5], other.states[8:]]),
    )
    told, plain = reader([(one, other)], [equal])[0], reader([(one, read)])[0]
    p, sure = len(one.words), [1.0, 0.0, 0.0, 0.0]
    assert told.amount == pytest.approx(plain.amount, rel=1e-5) and len(told.probabilities) == p + len(other.words)
    np.testing.assert_allclose(
        told.probabilities[[p + n for n in kept]], plain.probabilities[[p, p + 1, p + 2, p + 5]], atol=1e-5
    )
    np.testing.assert_allclose(told.types[[0, 1, 2, 5, 6]], plain.types[[0, 1, 2, 5, 6]], atol=1e-5)
    for n in (3, 4, *(p + n for n in range(3, 8))):
        assert told.probabilities[n].tolist() == sure
    both = reader([(one, other), (one, other)], [(), equal])
    assert same(both[0], reader([(one, other)])[0]) and same(both[1], told)


def test_texts_that_differ_in_equal_quantities_alone_are_not_read(made: tuple[PairReader, PairNet]) -> None:
    """They have no error, whatever the weights."""
    one, other = with_states("the nine dogs ran"), with_states("the 9 dogs ran", 1)
    (found,) = made[0]([(one, other)], [[(range(1, 2), range(1, 2))]])
    assert found.amount == 0.0 and found.probabilities.tolist() == [[1.0, 0.0, 0.0, 0.0]] * 8

"""The benchmarks that choose models: layers of a transformer, and the parts of model sets, by hand-made values and by a few real ones."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rome.data.readers.rated import RatedSegment
from rome.data.sources import data_file
from rome.exceptions import InputError
from rome.features.idf import IdfTable
from rome.features.matching import cosines, unit_vectors
from rome.features.semantic import Semantic, SemanticConfig
from rome.features.values import Analysis

from handmade import analysis

TOP = Path(__file__).parents[1]
NAMES = ("people", "layers", "sets", "result_rows")
TEXTS = ("The cat sat.", "A dog sat on the mat.", "Cats run.")


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The scripts as modules, by name."""
    for package in ("torch", "transformers", "udtools"):
        pytest.importorskip(package, reason="needs the extra train")
    monkeypatch.syspath_prepend(str(TOP / "benchmarks"))
    return SimpleNamespace(**{name: importlib.import_module(name) for name in NAMES})


@pytest.fixture
def development_data() -> None:
    """Skips, with the reason, where the development sets are not."""
    for name in ("human/wmt15_da_to-en.jsonl.gz", "cola/in_domain_dev.tsv", "ud_english_ewt/dev.conllu"):
        try:
            data_file(name)
        except InputError as error:
            pytest.skip(str(error))


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    """A BERT of three tiny random layers with letters for pieces and a window of 12."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(0)
    letters = "abcdefghijklmnopqrstuvwxyz.,'"
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    config = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32}
    BertModel(BertConfig(vocab_size=len(vocabulary), max_position_embeddings=12, **config)).save_pretrained(tmp_path)
    (tmp_path / "vocab.txt").write_text("\n".join(vocabulary))
    BertTokenizerFast(vocab_file=str(tmp_path / "vocab.txt"), model_max_length=12).save_pretrained(tmp_path)
    return str(tmp_path)


def segment(item: str, reference: str, hypothesis: str, rating: float, pair: str = "de-en") -> RatedSegment:
    return RatedSegment(item, (reference,), hypothesis, {"z": rating, "mqm": rating, "semantics": rating}, language_pair=pair)


def test_figures_of_agreement(scripts: Any) -> None:
    """The first is the mean of Pearson's r over language pairs, the second the mean tau-b over items, the third tau-b over all."""
    rows = [("1", 1.0, "de-en"), ("1", 2.0, "de-en"), ("2", 3.0, "de-en"), ("1", 1.0, "fi-en"), ("1", 2.0, "fi-en")]
    segments = [segment(item, "a", "b", rating, pair) for item, rating, pair in rows]
    scores = [1.0, 2.0, 3.0, 2.0, 1.0]
    by_pair, by_item, pooled = (judged.follows(segments, scores) for judged in scripts.people.JUDGED)
    assert by_pair == pytest.approx(0.0) and by_item == pytest.approx(0.0) and 0 < pooled < 1


def test_states_are_those_of_every_layer(scripts: Any, checkpoint: str, tmp_path: Path) -> None:
    """One pass gives each word the mean over its pieces that the encoder gives layer by layer, also beyond its window; then they are read."""
    from rome.features.analyser.pieces import pooled, touched
    from rome.features.analyser.transformer import TransformerEncoder

    analyses = {text: analysis(text) for text in (*TEXTS, "Everything is written here, and nothing fits the window.", "")}
    states = scripts.layers.states_of(checkpoint, analyses, tmp_path)
    sentences = list(scripts.layers.sentences_of(analyses))
    assert states.shape == (sum(len(a.words) for a in analyses.values()), 4, 16)
    for layer in range(4):
        encoder = TransformerEncoder(checkpoint, layer)
        encoded = encoder.encode([text for text, _ in sentences])
        rows = zip(encoder.states(encoded), encoded, sentences, strict=True)
        expected = np.concatenate([pooled(row, touched(pieces.spans, spans)) for row, pieces, (_, spans) in rows])
        assert states[:, layer] == pytest.approx(expected, abs=2e-3)
    (kept,) = tmp_path.glob("states-*.npy")
    changed = kept.stat().st_mtime_ns
    assert (
        np.array_equal(scripts.layers.states_of(checkpoint, analyses, tmp_path), states) and kept.stat().st_mtime_ns == changed
    )


def test_a_mixture_has_the_mean_of_the_cosines(scripts: Any) -> None:
    """Layers side by side: every cosine is the mean of the layers' own, with the mean off and without."""
    analyses = {text: analysis(text) for text in TEXTS}
    count = sum(len(a.words) for a in analyses.values())
    states = np.random.default_rng(2).normal(size=(count, 3, 8)).astype(np.float16)
    common = states.mean(axis=0, dtype=np.float64).astype(np.float32)
    for off in (True, False):
        trials = [scripts.layers.Trial(layers, off) for layers in ((1,), (2,), (1, 2))]
        of = [scripts.layers.analysis_by(trial, states, common, analyses) for trial in trials]
        one, other, both = (cosines(*(unit_vectors(each(text).vectors) for text in TEXTS[:2])) for each in of)
        assert both == pytest.approx((one + other) / 2, abs=1e-6)
    plain = states[: len(analyses[TEXTS[0]].words), 1]
    assert cosines(*[unit_vectors(plain)] * 2) == pytest.approx(cosines(*[unit_vectors(of[0](TEXTS[0]).vectors)] * 2), abs=1e-6)


def test_the_nearest_reference_counts(scripts: Any) -> None:
    """One column a measure; of several references that with the highest value."""
    measures = [Semantic(IdfTable(1, {}), SemanticConfig(rho=rho)) for rho in (0.0, 0.95)]
    both = RatedSegment("1", (TEXTS[2], TEXTS[0]), TEXTS[0], {"z": 1.0})
    found = scripts.layers.values([both, segment("2", TEXTS[1], TEXTS[0], 1.0)], analysis, measures)
    assert found[0] == pytest.approx(1.0) and found.shape == (2, 2)
    assert found[1] == pytest.approx([measure.measure(analysis(TEXTS[1]), analysis(TEXTS[0])).value for measure in measures])


def test_trials_are_each_layer_and_each_mixture(scripts: Any) -> None:
    """All layers by default; a layer that is not there is refused."""
    trials = scripts.layers.trials([], ["1+2"], 2)
    assert [(trial.layers, trial.mean_off) for trial in trials] == [
        (n, off) for n in ((1,), (2,), (1, 2)) for off in (True, False)
    ]
    with pytest.raises(ValueError, match="0 .* to 2"):
        scripts.layers.trials([3], [], 2)


class StubMetric:
    """Analyses by hand: a text that starts with "Bad" is not acceptable."""

    def analyse(self, texts: Sequence[str]) -> dict[str, Analysis]:
        return {text: analysis(text, acceptable=0.2 if text.startswith("Bad") else 0.8) for text in texts}


def test_acceptability_of_judged_sentences(scripts: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Matthews correlation at one half of the sentences' acceptability."""
    (tmp_path / "cola").mkdir()
    right = "x\t1\t\tA cat.\nx\t0\t*\tBad a cat.\n"
    (tmp_path / "cola" / "in_domain_dev.tsv").write_text(right)
    (tmp_path / "cola" / "out_of_domain_dev.tsv").write_text(right + "x\t0\t*\tA dog.\nx\t1\t\tBad dog.\n")
    monkeypatch.setenv("ROME_DATA", str(tmp_path))
    found = scripts.sets.cola(StubMetric(), None)
    assert found == {"CoLA MCC: in_domain_dev": pytest.approx(1.0), "CoLA MCC: out_of_domain_dev": pytest.approx(0.0)}


def test_minimal_pairs_are_read_as_texts(scripts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples made of letters are texts again, whatever their letters; equal acceptability is no right answer."""
    from rome.data.perturbations.treebank_words import render, tokenise
    from rome.train.grammar.data import encode

    texts = ("A cat.", "Bad, a “cát”.", "A dog.")
    good, bad, other = encode([render(tokenise(text)) for text in texts], scripts.sets.Letters())
    found = [("x", good, bad), ("x", good, other), ("x", bad, other), ("x", other, bad)]
    monkeypatch.setattr("rome.train.grammar.data.load_material", lambda tokenizer: SimpleNamespace(pairs=found))
    assert scripts.sets.pairs(StubMetric(), None) == {"minimal pairs: right": 0.5, "minimal pairs: alike": 0.25}


def test_size_counts_every_number(scripts: Any, tmp_path: Path) -> None:
    """Tensors of numbers, however deep their files lie; bytes and other files count as bytes alone."""
    import torch
    from safetensors.torch import save_file

    (tmp_path / "part").mkdir()
    tensors = {"a": torch.zeros(3, 4), "b": torch.zeros(()), "c": torch.zeros(9, dtype=torch.uint8)}
    save_file(tensors, tmp_path / "part" / "a.safetensors")
    (tmp_path / "card.json").write_text("{}")
    found = scripts.sets.size(SimpleNamespace(model_set=SimpleNamespace(folder=tmp_path)), None)
    bytes_ = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert found == {"parameters, millions": pytest.approx(13e-6), "folder, MB": pytest.approx(bytes_ / 1e6)}


def _rows(script: Callable[[Sequence[str]], int], path: Path, *given: str) -> list[list[str]]:
    assert script([*given, "--output", str(path)]) == 0
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


def test_a_few_segments_by_every_layer(scripts: Any, checkpoint: str, development_data: None, tmp_path: Path) -> None:
    """The table of layers has a row for each trial and setting, its figures in three columns."""
    options = ("--store", str(tmp_path / "store"), "--limit", "4", "--layers", "3", "--mixtures", "1+3", "--delta", "0.4")
    header, *rows = _rows(scripts.layers.main, tmp_path / "layers.tsv", checkpoint, *options)
    assert tuple(header) == scripts.layers.COLUMNS
    assert [row[:4] for row in rows] == [
        [layers, off, "0.4", rho] for layers in ("3", "1+3") for off in ("yes", "no") for rho in ("0", "0.95")
    ]


def test_a_few_figures_of_a_set(scripts: Any, development_data: None, tmp_path: Path) -> None:
    """The table of sets has a row for each figure of the parts that were asked for, a column for each set."""
    options = ("--models", "small", "--limit", "6", "--threads", "1", "--only", "semantic", "whole", "trees", "cola", "size")
    header, *rows = _rows(scripts.sets.main, tmp_path / "sets.tsv", *options)
    figures = dict(rows)
    assert header == ["figure", "small"] and len(rows) == 3 + 4 + 3 + 2 + 2
    assert float(figures["EWT dev, raw text: UPOS"]) > 50 and 10 < float(figures["parameters, millions"]) < 100

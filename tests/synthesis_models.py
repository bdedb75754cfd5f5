"""Stand-ins for the models of synthesis, every pipeline on them, and tiny checkpoints with random weights."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from hashlib import blake2b, sha256
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rome.evaluation.perturbing import Materials
from rome.features.idf import IdfTable
from rome.train.common.textattack import Request
from rome.train.synthesis.bleurt import BleurtPipeline
from rome.train.synthesis.edits import Operation, words_of
from rome.train.synthesis.fillers import FillRequest
from rome.train.synthesis.pairs import Pipeline, SyntheticPair
from rome.train.synthesis.perturbed_pairs import PerturbationPipeline, TextAttackPipeline
from rome.train.synthesis.sescore import SEScorePipeline
from rome.train.synthesis.sescore2 import SentenceIndex, SEScore2Pipeline, SEScore2Settings
from rome.train.synthesis.severities import EntailmentSeverity, LikelihoodSeverity

from perturbation_sentences import SENTENCES, parsed


def replayed(text: str, operations: Iterable[Operation]) -> str:
    """The text after some operations, each of which must fit the text before it."""
    for one in operations:
        assert text[one.start : one.end] == one.original, one
        text = text[: one.start] + one.new + text[one.end :]
    return text


def hypothesis_of(pair: SyntheticPair) -> str:
    """The hypothesis of a pair made again."""
    return replayed(pair.reference, pair.operations)


WORDS = ("red", "seven", "quickly", "river", "says", "under", "music", "cold")
TOKENS = "[PAD] [UNK] [CLS] [SEP] [MASK] the cat sat on mat . a dog ##s two slept".split()


class FakeFiller:
    """Four words a place, which and how likely decided by a hash of the place; ``calls`` counts the places asked for."""

    def __init__(self, spans: bool = False, silent: bool = False) -> None:
        self.spans, self.silent, self.calls = spans, silent, 0
        self.signature = f"fake:spans={spans}"

    def fill(self, requests: Sequence[FillRequest]) -> list[list[tuple[str, float]]]:
        """The candidates, best first, what stands there left out; none when silent."""
        self.calls += len(requests)
        return [[] if self.silent else self._one(request) for request in requests]

    def _one(self, request: FillRequest) -> list[tuple[str, float]]:
        digest = sha256(f"{request.text}|{request.start}|{request.end}".encode()).digest()
        words = [word for word in WORDS[digest[0] % 4 :] if word != request.original][:4]
        total = 3 + sum(digest[1 : 1 + len(words)])
        weights = sorted((number / total + 0.001 for number in digest[1 : 1 + len(words)]), reverse=True)
        return [(f"{word} {word}" if self.spans else word, weight) for word, weight in zip(words, weights, strict=True)]


class Judge(EntailmentSeverity):
    """Entailed is what is no shorter."""

    signature, gamma = "judge", 0.9

    def __init__(self) -> None:
        """Load nothing."""

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Much or little."""
        return [0.95 if len(second) >= len(first) else 0.2 for first, second in pairs]


class BagOfWords:
    """A random vector a word, summed: no model."""

    identity = "bag"

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, 16) unit rows."""
        rows = np.array([sum((self.word(word.text) for word in words_of(text)), np.full(16, 0.5)) for text in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    def word(self, word: str) -> NDArray[np.float64]:
        """The vector of one word."""
        return np.random.default_rng(list(blake2b(word.encode(), digest_size=4).digest())).normal(size=16)


class FakeLikelihood:
    """Short words are likely; remembers what it was asked."""

    signature = "fake"

    def __init__(self) -> None:
        self.asked: list[FillRequest] = []

    def of(self, requests: Sequence[FillRequest]) -> list[list[float]]:
        """Each word alone."""
        self.asked += requests
        return [[0.5 if len(word.text) < 4 else 0.01 for word in words_of(request.original)] for request in requests]


class FakePerturber:
    """One word of a text is deleted, replaced, misspelled or swapped with the next, drawn by the request's seed; nothing is contracted."""

    version, operations = "0", ("word_deletion", "embedding", "qwerty", "inner_swap", "contract")

    def run(self, request: Request) -> str | None:
        """Return the perturbed text."""
        words = request.text.split(" ")
        n = random.Random(request.seed).randrange(len(words) - 1)
        change = {
            "word_deletion": [],
            "embedding": [WORDS[request.seed % len(WORDS)]],
            "qwerty": [words[n] + "q"],
            "inner_swap": [words[n + 1]],
        }.get(request.operation, [words[n]])
        words[n : n + 2] = [*change, words[n] if request.operation == "inner_swap" else words[n + 1]]
        return " ".join(words)


IDF = IdfTable(100, {"the": 90, "a": 80, "in": 60, "cat": 3, "saw": 5}, "hand-made")


def pipeline_without_models(name: str, block: int = 64) -> Pipeline:
    """Return a pipeline of `rome synthesize` on the stand-ins; every text has neighbours."""
    if name == "sescore":
        return SEScorePipeline([FakeFiller(), FakeFiller(spans=True)], Judge(), block=block)
    if name == "sescore2":
        pytest.importorskip("faiss", reason="needs the extra train: pip install 'rome-metric[train]'")
        index = SentenceIndex(list(SENTENCES), BagOfWords(), neighbours=3)
        return SEScore2Pipeline(index, LikelihoodSeverity(FakeLikelihood(), IDF), SEScore2Settings(margin=0.0), block=block)
    if name == "bleurt":
        return BleurtPipeline(FakeFiller(), drop=0.5, block=block)
    if name == "rome":
        return TextAttackPipeline(FakePerturber(), Judge(), block=block)  # type: ignore[arg-type]
    materials = Materials()
    return PerturbationPipeline(lambda texts: {t: parsed(t) for t in texts}, "hand", each=60, materials=materials, block=block)


PIECES = "[PAD] [UNK] [CLS] [SEP] [MASK] the president of dog slept house . , old red it two a".split()


def save_masked_and_judge(folder: Path) -> dict[str, str]:
    """Write a tiny masked language model and a tiny entailment classifier; where they are, by ``masked`` and ``judge``."""
    import torch
    from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification, BertTokenizerFast

    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    small = {**sizes, "vocab_size": len(PIECES), "max_position_embeddings": 64}
    judge = BertConfig(**small, num_labels=3, id2label={0: "entailment", 1: "neutral", 2: "contradiction"})
    (folder / "vocab.txt").write_text("\n".join(PIECES), encoding="utf-8")
    tokenizer = BertTokenizerFast(vocab_file=str(folder / "vocab.txt"), model_max_length=64)
    models = {"masked": BertForMaskedLM(BertConfig(**small)), "judge": BertForSequenceClassification(judge)}
    for name, model in models.items():
        model.save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)
    return {name: str(folder / name) for name in models}


def save_translator(folder: Path, seed: int = 0) -> str:
    """Write a sequence-to-sequence checkpoint with a vocabulary of 16 pieces; its folder."""
    import torch
    from transformers import BartConfig, BartForConditionalGeneration, BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(TOKENS), encoding="utf-8")
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt"), model_max_length=24).save_pretrained(folder)
    torch.manual_seed(seed)
    sizes = {"encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
    tokens = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "decoder_start_token_id": 2, "forced_eos_token_id": None}
    config = BartConfig(
        vocab_size=len(TOKENS),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        max_position_embeddings=24,
        init_std=0.5,
        **sizes,
        **tokens,
    )
    BartForConditionalGeneration(config).save_pretrained(folder)
    return str(folder)

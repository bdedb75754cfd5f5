"""Stand-ins for the models of synthesis: a filler without a model, and a tiny translation checkpoint with random weights."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from rome.train.synthesis.fillers import FillRequest

WORDS = ("red", "seven", "quickly", "river", "says", "under", "music", "cold")
TOKENS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "the",
    "cat",
    "sat",
    "on",
    "mat",
    ".",
    "a",
    "dog",
    "##s",
    "two",
    "slept",
]


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


def save_translator(folder: Path, seed: int = 0) -> Path:
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
    return folder

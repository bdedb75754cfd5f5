"""The word pieces without transformers: the pieces that transformers gives."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from rome.exceptions import ModelMissingError
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import PIECES_FILE, load_tokenizer
from rome.features.analyser.pieces import WordPieces

ENCODER = set_folder("small") / "encoder"
TEXTS = ["The cat sat.", "", "   ", "don't [MASK] [CLS] stop", "naïve ﬁne é", "日本語 text", "a\u0301 \u200f \x00", "x" * 300]


@pytest.fixture(scope="module")
def pieces() -> WordPieces:
    return load_tokenizer(ENCODER)


def test_pieces_are_those_of_transformers(pieces: WordPieces) -> None:
    """Ids, masks and offsets, padded and cut, equal those of transformers' fast tokenizer."""
    from transformers import BertTokenizerFast

    other = BertTokenizerFast(tokenizer_file=str(ENCODER / PIECES_FILE), model_max_length=512)
    for options in ({}, {"add_special_tokens": False}, {"truncation": True, "max_length": 6}):
        expected, found = other(TEXTS, **options), pieces(TEXTS, **options)
        assert found["input_ids"] == expected["input_ids"]
    assert (
        pieces(TEXTS, return_offsets_mapping=True)["offset_mapping"] == other(TEXTS, return_offsets_mapping=True).offset_mapping
    )
    assert pieces(TEXTS[0])["input_ids"] == other(TEXTS[0]).input_ids
    assert pieces.convert_ids_to_tokens([101, 2000, 103]) == other.convert_ids_to_tokens([101, 2000, 103])
    for name in ("unk", "cls", "sep", "mask"):
        assert getattr(pieces, f"{name}_token_id") == getattr(other, f"{name}_token_id")


def test_threads_share_the_pieces(pieces: WordPieces) -> None:
    """Several threads at once find what one finds."""
    from concurrent.futures import ThreadPoolExecutor

    rng = random.Random(1)
    texts = [" ".join(rng.choices(["walk", "unbelievable", "Rome", "12:30"], k=rng.randint(0, 30))) for _ in range(200)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda text: pieces(text)["input_ids"], texts)) == pieces(texts)["input_ids"]


def test_missing_pieces_name_the_remedy(tmp_path: Path) -> None:
    """A folder without the file says what to do; one with a copy gives the same tokenizer."""
    with pytest.raises(ModelMissingError, match="reinstall rome-metric"):
        load_tokenizer(tmp_path)
    shutil.copyfile(ENCODER / "tokenizer.json", tmp_path / "tokenizer.json")
    assert load_tokenizer(tmp_path)("a cat")["input_ids"] == load_tokenizer(ENCODER)("a cat")["input_ids"]

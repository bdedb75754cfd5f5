"""The encoder's word pieces from the ``tokenizers`` library alone, called as transformers' fast tokenizers are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from rome.exceptions import ModelMissingError

__all__ = ["Pieces", "WordPieces"]

MARKS = {
    "UNK": ("[UNK]",),
    "CLS": ("<s>", "[CLS]"),
    "SEP": ("</s>", "[SEP]"),
    "PAD": ("<pad>", "[PAD]"),
    "MASK": ("<mask>", "[MASK]"),
}
"""How the special pieces are written in vocabularies of MPNet and of BERT."""


class Pieces(dict[str, Any]):
    """What a call found, by the names that transformers uses: input_ids, attention_mask, offset_mapping."""

    @property
    def input_ids(self) -> Any:
        """The pieces' ids."""
        return self["input_ids"]


class WordPieces:
    """The tokenizer of a tokenizer.json: text in, ids of word pieces out; never cut and never padded unless asked to.

    One text at a time in several threads is safe unless a call asks for truncation. Raises ModelMissingError when the file is not
    there or lacks a mark.
    """

    def __init__(self, path: Path) -> None:
        if not Path(path).is_file():
            raise ModelMissingError(f"the word pieces {path} are missing: reinstall rome-metric")
        self._tokenizer = Tokenizer.from_str(Path(path).read_text(encoding="utf-8"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        ids = {name: self._id(*written) for name, written in MARKS.items()}
        self.unk_token_id, self.cls_token_id, self.sep_token_id = ids["UNK"], ids["CLS"], ids["SEP"]
        self.pad_token_id, self.mask_token_id = ids["PAD"], ids["MASK"]

    def _id(self, *written: str) -> int:
        """The number of the first of these pieces that the vocabulary has. Raises ModelMissingError when it has none."""
        for number in map(self._tokenizer.token_to_id, written):
            if number is not None:
                return int(number)
        raise ModelMissingError(f"the word pieces have no {written[-1]}: reinstall rome-metric")

    def __call__(
        self,
        texts: str | Sequence[str],
        *,
        add_special_tokens: bool = True,
        padding: bool | str = False,
        truncation: bool = False,
        max_length: int | None = None,
        return_offsets_mapping: bool = False,
        return_attention_mask: bool = True,
        verbose: bool = True,
    ) -> Pieces:
        """Ids of one text or of each of several.

        padding : to the longest of these texts. max_length : with truncation the most pieces of a row, special ones included. verbose
        changes nothing.
        """
        several = not isinstance(texts, str)
        cut = truncation and max_length is not None
        if cut:
            self._tokenizer.enable_truncation(max_length)
        found = self._tokenizer.encode_batch(list(texts) if several else [texts], add_special_tokens=add_special_tokens)
        if cut:
            self._tokenizer.no_truncation()
        if padding and found:
            longest = max(len(encoding.ids) for encoding in found)
            for encoding in found:
                encoding.pad(longest, pad_id=self.pad_token_id)
        columns: dict[str, Any] = {"input_ids": [encoding.ids for encoding in found]}
        if return_attention_mask:
            columns["attention_mask"] = [encoding.attention_mask for encoding in found]
        if return_offsets_mapping:
            columns["offset_mapping"] = [encoding.offsets for encoding in found]
        return Pieces(columns if several else {name: column[0] for name, column in columns.items()})

    def convert_ids_to_tokens(self, ids: Iterable[int]) -> list[str]:
        """How the pieces are written."""
        return [str(self._tokenizer.id_to_token(n)) for n in ids]

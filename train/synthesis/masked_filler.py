"""Fillings by a masked language model of any checkpoint (SEScore §3.2: RoBERTa, XLM-R): one whole word for each gap."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from rome.features.analyser.pieces import batches_of
from rome.train.synthesis.checkpoints import context, frame, window_of
from rome.train.synthesis.fillers import TOP_K, FillRequest, other_words, rounded

__all__ = ["MaskedLMFiller", "whole_words"]

BATCH_PIECES = 1024
WORD = re.compile(r"(?!_)(?:[^\W\d_]{2,}(?:['’-][^\W\d_]+)*|[aAiI]|\d+|[.,;:!?])")
MARKERS = ("Ġ", "▁")


def whole_words(tokenizer: Any) -> dict[int, str]:
    """The pieces of a vocabulary that are whole words or punctuation marks: id -> how it is written.

    WordPiece marks what goes on with ``##``; byte-pair and SentencePiece vocabularies mark what begins a word.
    """
    pieces = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    marker = next((m for m in MARKERS if any(piece is not None and piece.startswith(m) for piece in pieces)), "")
    special = set(tokenizer.all_special_ids)
    found = {}
    for number, piece in enumerate(pieces):
        if piece is None or number in special:
            continue
        begins = piece.startswith(marker)
        word = tokenizer.convert_tokens_to_string([piece]).strip() if marker and begins else piece
        if WORD.fullmatch(word) and (begins or not word[0].isalnum()):
            found[number] = word
    return found


class MaskedLMFiller:
    """The most probable whole words in the place of a mask, and the probability of what stands there.

    A vocabulary without capitals is taken to be uncased: then a word that replaces a capitalised one is capitalised.
    """

    spans = False

    def __init__(self, model: Any, tokenizer: Any, top_k: int = TOP_K, *, name: str = "") -> None:
        self.model, self.tokenizer, self.top_k = model, tokenizer, top_k
        self.signature = f"masked:{name or model.config.model_type}#top{top_k}"
        self.window = window_of(model, tokenizer)
        self._before, self._after = frame(tokenizer)
        self._words = whole_words(tokenizer)
        self._allowed = torch.tensor(sorted(self._words), dtype=torch.long, device=model.device)
        self._uncased = all(word == word.lower() for word in self._words.values())

    def fill(self, requests: Sequence[FillRequest]) -> list[list[tuple[str, float]]]:
        """For each place the ``top_k`` words with their probabilities, best first; one word takes the place of all its characters.

        Probabilities are those of the whole vocabulary. What stands there now is left out; an empty list for no requests.
        """
        rows = [self._row(request, 1) for request in requests]
        found: list[list[tuple[str, float]]] = [[] for _ in requests]
        for n, logits in self._logits(rows):
            probabilities = torch.softmax(logits[0], dim=0)[self._allowed]
            few = min(2 * self.top_k + 2, len(probabilities))  # two pieces may be one word in two casings
            best = torch.topk(probabilities, few)
            ids, values = self._allowed[best.indices].tolist(), best.values.tolist()
            words: dict[str, float] = {}
            for number, value in zip(ids, values, strict=True):
                words.setdefault(self._written(self._words[number], requests[n]), rounded(value))
            found[n] = other_words(list(words.items()), requests[n], self.top_k)
        return found

    def of(self, requests: Sequence[FillRequest]) -> list[float]:
        """The probability of what stands in each place: all its pieces masked at once, their probabilities multiplied; 1 for none.

        A phrase of more pieces than half the window is judged by the pieces that fit.
        """
        own = [self._pieces(request)[: self.window // 2] for request in requests]
        rows = [self._row(request, len(ids)) for request, ids in zip(requests, own, strict=True)]
        found = [1.0] * len(requests)
        for n, logits in self._logits(rows):
            if own[n]:
                logs = torch.log_softmax(logits, dim=1)[torch.arange(len(own[n])), torch.tensor(own[n])]
                found[n] = rounded(float(torch.exp(logs.sum())))
        return found

    def _pieces(self, request: FillRequest) -> list[int]:
        """The ids of what stands there, with the blank before it where there is one."""
        blank = " " if request.text[: request.start][-1:].isspace() else ""
        ids: list[int] = self.tokenizer(blank + request.original, add_special_tokens=False, verbose=False)["input_ids"]
        return ids if request.original.strip() else []

    def _row(self, request: FillRequest, masks: int) -> list[int]:
        """The ids of the text with masks in the place, cut to the window around it."""
        space = self.window - len(self._before) - len(self._after) - masks
        before, after = context(self.tokenizer, request.text, request.start, request.end, space)
        return [*self._before, *before, *[self.tokenizer.mask_token_id] * masks, *after, *self._after]

    @torch.no_grad()
    def _logits(self, rows: Sequence[Sequence[int]]) -> Iterable[tuple[int, torch.Tensor]]:
        """Yield each row's number and the (masks, V) float32 logits at its masks; rows of similar length together."""
        pad = self.tokenizer.pad_token_id or 0
        for chosen in batches_of([len(row) for row in rows], BATCH_PIECES):
            lengths = torch.tensor([len(rows[n]) for n in chosen])
            ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(rows[n]) for n in chosen], batch_first=True, padding_value=pad)
            known = torch.arange(ids.shape[1])[None] < lengths[:, None]
            places = known & (ids == self.tokenizer.mask_token_id)
            parts = torch.split(self._at(places, ids, known), places.sum(1).tolist())
            yield from ((n, part) for n, part in zip(chosen, parts, strict=True))

    def _at(self, places: torch.Tensor, ids: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
        """(p, V) float32 logits at p places of a batch; the vocabulary is compared there only, which is most of the work."""
        device = self.model.device
        there = places.to(device)
        output = self.model.get_output_embeddings()
        hook = output.register_forward_pre_hook(lambda _, inputs: (inputs[0][there],)) if output is not None else None
        try:
            logits = self.model(input_ids=ids.to(device), attention_mask=known.long().to(device)).logits
        finally:
            if hook is not None:
                hook.remove()
        return (logits if logits.ndim == 2 else logits[there]).float()

    def _written(self, word: str, request: FillRequest) -> str:
        """A word of an uncased vocabulary in the casing of what it replaces, or of the start of the text."""
        first = request.original or ("A" if not request.text[: request.start].strip() else "")
        return word[:1].upper() + word[1:] if self._uncased and first[:1].isupper() else word

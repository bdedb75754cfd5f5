"""Fillings by a sequence-to-sequence model trained on text infilling (SEScore §3.2: mBART): a phrase for each gap.

BART and mBART see the text with one mask and write the whole text again; they are made to begin with what stands before the gap, and
the filling ends where what stands after it begins. T5 writes the filling alone, between two sentinels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import GenerationConfig

from rome.exceptions import InputError
from rome.train.synthesis.checkpoints import context, frame, window_of
from rome.train.synthesis.fillers import TOP_K, FillRequest, other_words, rounded

__all__ = ["Seq2SeqFiller"]

BATCH = 16
SPARE_BEAMS = 2
ANCHOR = 2
"""So many pieces of what follows must come after a filling, so that its end is seen."""
SENTINEL, NEXT_SENTINEL = "<extra_id_0>", "<extra_id_1>"
MARKERS = ("Ġ", "▁")


@dataclass(frozen=True, slots=True)
class _Gap:
    """What the model reads, what it is made to begin with, the ids that end a filling, and whether a blank stands before it."""

    read: list[int]
    written: list[int]
    end: list[int]
    blank: bool


class Seq2SeqFiller:
    """The most probable phrases in the place of a gap, by beam search, and the probability of what stands there.

    longest : pieces of a filling, at most. Raises InputError for a vocabulary without mask and without sentinels.
    """

    spans = True

    def __init__(self, model: Any, tokenizer: Any, top_k: int = TOP_K, *, longest: int = 8, name: str = "") -> None:
        self.model, self.tokenizer, self.top_k, self.longest = model, tokenizer, top_k, longest
        self.sentinels = SENTINEL in tokenizer.get_vocab()
        self.signature = f"seq2seq:{name or model.config.model_type}#top{top_k}#longest{longest}"
        if not self.sentinels and tokenizer.mask_token_id is None:
            raise InputError(
                f"{name} knows neither a mask nor {SENTINEL}: give a model trained on text infilling, such as BART or T5"
            )
        self.window = window_of(model, tokenizer)
        self._before, self._after = frame(tokenizer)
        vocabulary = tokenizer.get_vocab()
        self._marker = next((m for m in MARKERS if any(piece.startswith(m) for piece in vocabulary)), "")
        config = model.config
        self._start = self._after[-1] if config.model_type == "mbart" else config.decoder_start_token_id
        self._mask = vocabulary[SENTINEL] if self.sentinels else tokenizer.mask_token_id
        model.generation_config = self._search()  # a checkpoint's own settings, such as a least length, are not for fillings

    def _search(self) -> GenerationConfig:
        """Beam search for the most probable fillings, nothing random."""
        beams = self.top_k + SPARE_BEAMS
        return GenerationConfig(
            num_beams=beams,
            num_return_sequences=beams,
            do_sample=False,
            max_new_tokens=self.longest + ANCHOR,
            pad_token_id=self.tokenizer.pad_token_id,
            eos_token_id=self.tokenizer.eos_token_id,
            decoder_start_token_id=self._start,
            output_scores=True,
            return_dict_in_generate=True,
        )

    def fill(self, requests: Sequence[FillRequest]) -> list[list[tuple[str, float]]]:
        """For each place the ``top_k`` phrases with the geometric mean of their pieces' probabilities, best first.

        What stands there now is left out, and so is what does not end within ``longest`` pieces. An empty list for no requests.
        """
        gaps = [self._gap(request) for request in requests]
        found: list[list[tuple[str, float]]] = [[] for _ in requests]
        groups = defaultdict(list)
        for n, gap in enumerate(gaps):
            groups[len(gap.written)].append(n)
        for _, members in sorted(groups.items()):
            members.sort(key=lambda n: len(gaps[n].read))
            for start in range(0, len(members), BATCH):
                chosen = members[start : start + BATCH]
                for n, beams in zip(chosen, self._beams([gaps[n] for n in chosen]), strict=True):
                    found[n] = other_words(self._phrases(beams, gaps[n]), requests[n], self.top_k)
        return found

    @torch.no_grad()
    def of(self, requests: Sequence[FillRequest]) -> list[float]:
        """The probability of what stands in each place: its pieces one after the other, multiplied; 1 for an empty place."""
        found = [1.0] * len(requests)
        for n, request in enumerate(requests):
            own = self._own_pieces(request)
            if own:
                gap = self._gap(request)
                tensors = [torch.tensor([ids], device=self.model.device) for ids in (gap.read, [*gap.written, *own[:-1]])]
                logits = self.model(input_ids=tensors[0], decoder_input_ids=tensors[1]).logits[0].float()
                logs = torch.log_softmax(logits[-len(own) :], dim=1)[torch.arange(len(own)), torch.tensor(own)]
                found[n] = rounded(float(torch.exp(logs.sum())))
        return found

    def _own_pieces(self, request: FillRequest) -> list[int]:
        """The ids of what stands in the place, as many as may be generated."""
        blank = " " if request.text[: request.start][-1:].isspace() else ""
        ids: list[int] = self.tokenizer(blank + request.original, add_special_tokens=False, verbose=False)["input_ids"]
        return ids[: self.window // 2] if request.original.strip() else []

    def _gap(self, request: FillRequest) -> _Gap:
        """The text with one gap, cut to the window around it."""
        space = self.window - len(self._before) - len(self._after) - 1 - self.longest - ANCHOR
        left, right = context(self.tokenizer, request.text, request.start, request.end, space)
        read = [*self._before, *left, self._mask, *right, *self._after]
        blank = bool(left) and request.text[request.start - 1].isspace()
        if self.sentinels:
            return _Gap(read, [self._start, self._mask], [self.tokenizer.get_vocab().get(NEXT_SENTINEL, -1)], blank)
        return _Gap(read, [self._start, *self._before, *left], right[:ANCHOR] or [self.tokenizer.eos_token_id], blank)

    @torch.no_grad()
    def _beams(self, gaps: Sequence[_Gap]) -> list[list[tuple[list[int], float]]]:
        """For each gap the generated ids after what the model was made to begin with, and their mean log-probability."""
        beams = self.top_k + SPARE_BEAMS
        rows = [torch.tensor(gap.read) for gap in gaps]
        ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=self.tokenizer.pad_token_id)
        known = torch.arange(ids.shape[1])[None] < torch.tensor([len(row) for row in rows])[:, None]
        device = self.model.device
        written = torch.tensor([gap.written for gap in gaps], device=device)
        made = self.model.generate(input_ids=ids.to(device), attention_mask=known.long().to(device), decoder_input_ids=written)
        sequences, scores = made.sequences[:, written.shape[1] :].tolist(), made.sequences_scores.tolist()
        both = list(zip(sequences, scores, strict=True))
        return [both[start : start + beams] for start in range(0, len(both), beams)]

    def _phrases(self, beams: Sequence[tuple[list[int], float]], gap: _Gap) -> list[tuple[str, float]]:
        """Distinct fillings that are whole words and end where the text goes on, best first."""
        phrases: dict[str, float] = {}
        for ids, score in beams:
            own = self._until_end(ids, gap)
            if not own or (gap.blank and self._goes_on(own[0])):
                continue
            text = " ".join(self.tokenizer.decode(own, skip_special_tokens=True).split())
            if text:
                phrases.setdefault(text, rounded(float(torch.exp(torch.tensor(score)))))
        return sorted(phrases.items(), key=lambda item: -item[1])

    def _goes_on(self, piece: int) -> bool:
        """Whether a piece goes on with the word before it."""
        written = self.tokenizer.convert_ids_to_tokens(piece)
        return bool(self._marker) and not written.startswith(self._marker) and written[0].isalnum()

    def _until_end(self, ids: list[int], gap: _Gap) -> list[int]:
        """The ids before the first place where the text goes on as it did; nothing when it never does."""
        ended = (gap.end, [self.tokenizer.eos_token_id]) if self.sentinels else (gap.end,)
        places = [n for end in ended for n in range(len(ids)) if ids[n : n + len(end)] == end]
        return ids[: min(places)] if places else []

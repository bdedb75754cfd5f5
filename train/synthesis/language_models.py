"""Language models that fill gaps, from a local folder or from what is already on this machine of a hub; nothing is downloaded."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForMaskedLM, AutoModelForSeq2SeqLM, AutoTokenizer, GenerationConfig

from rome.exceptions import InputError, ModelMissingError
from rome.features.analyser.model_set import file_digest
from rome.features.analyser.pieces import batches_of
from rome.train.synthesis.fillers import TOP_K, FillRequest, other_words, rounded

__all__ = [
    "MaskedLMFiller",
    "Seq2SeqFiller",
    "checkpoint_name",
    "config_and_tokenizer",
    "context",
    "frame",
    "load_language_model",
    "window_of",
]

OTHER_KINDS = ("Classification", "QuestionAnswering", "CausalLM", "MultipleChoice", "NextSentence")


def load_language_model(spec: str, device: str = "cpu") -> tuple[Any, Any, str]:
    """A masked or a sequence-to-sequence language model in evaluation mode, its fast tokenizer, and its name with a digest.

    Raises ModelMissingError, with the command that gets it, for a name that is not on this machine; InputError, naming the
    checkpoint and its kind, for one that has no head that fills gaps.
    """
    config, tokenizer = config_and_tokenizer(spec, "a checkpoint's folder")
    _check_kind(spec, config)
    kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForMaskedLM
    try:
        model, report = kind.from_pretrained(spec, local_files_only=True, output_loading_info=True)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"{spec} cannot fill gaps: {_first_line(error)}; give a masked or a sequence-to-sequence model"
        ) from error
    if report["missing_keys"]:
        first = sorted(report["missing_keys"])[0]
        raise InputError(
            f"{spec} cannot fill gaps: it has no weights for {first}; give a masked or a sequence-to-sequence model"
        )
    return model.eval().requires_grad_(False).to(device), tokenizer, checkpoint_name(spec)


def config_and_tokenizer(spec: str, wanted: str) -> tuple[Any, Any]:
    """The configuration and the fast tokenizer of a checkpoint on this machine.

    Raises ModelMissingError, with the command that gets it, for a name that is not on this machine; InputError for a folder that holds no
    checkpoint.

    Parameters
    ----------
    wanted
        What the user should give instead.
    """
    folder = Path(spec)
    if folder.exists() and not (folder / "config.json").is_file():
        raise InputError(f"{spec} holds no model that transformers loads: it has no config.json; give {wanted}")
    try:
        config = AutoConfig.from_pretrained(spec, local_files_only=True)
        return config, AutoTokenizer.from_pretrained(spec, local_files_only=True, use_fast=True)
    except (OSError, ValueError, KeyError) as error:
        if folder.exists():
            raise InputError(f"{spec} holds no model that transformers loads: {_first_line(error)}; give {wanted}") from error
        raise ModelMissingError(
            f"the model {spec} is not on this machine: run `hf download {spec}`, or give a local folder"
        ) from error


def checkpoint_name(spec: str) -> str:
    """A local folder by its name and a digest of its files, a hub name as it is."""
    folder = Path(spec)
    return f"{folder.name}@{file_digest(folder)}" if folder.is_dir() else spec


def _check_kind(spec: str, config: Any) -> None:
    """Raise InputError for a checkpoint whose own description says that it was made for something else."""
    for architecture in getattr(config, "architectures", None) or ():
        if any(kind in architecture for kind in OTHER_KINDS):
            raise InputError(
                f"{spec} is a {architecture}, which fills no gaps: give a masked or a sequence-to-sequence language model"
            )


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or ["no message"])[0].rstrip(".")


def window_of(model: Any, tokenizer: Any) -> int:
    """How many positions a text may take; RoBERTa's family counts from the padding index on."""
    positions = getattr(model.config, "max_position_embeddings", None) or 512
    if "roberta" in model.config.model_type:
        positions -= int(model.config.pad_token_id or 0) + 1
    return int(min(tokenizer.model_max_length, positions))


def frame(tokenizer: Any) -> tuple[list[int], list[int]]:
    """The ids that the tokenizer puts before and after the pieces of a text, found on a text of one letter."""
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    framed = tokenizer("a")["input_ids"]
    start = next((n for n in range(len(framed)) if framed[n : n + len(bare)] == bare), 0)
    return framed[:start], framed[start + len(bare) :]


def context(tokenizer: Any, text: str, start: int, end: int, space: int) -> tuple[list[int], list[int]]:
    """Ids of what stands before and after ``text[start:end]``, at most ``space`` in all, the far ends cut where it is more.

    A blank before the place goes to what follows it, as byte-pair vocabularies want it.
    """
    right = text[end:]
    blank = " " if text[:start] != text[:start].rstrip() and right[:1].isalnum() else ""
    before, after = (
        tokenizer(part, add_special_tokens=False, verbose=False)["input_ids"] for part in (text[:start].rstrip(), blank + right)
    )
    left = min(len(before), max(space // 2, space - len(after)))
    return _unmasked(tokenizer, before[len(before) - left :]), _unmasked(tokenizer, after[: max(space - left, 0)])


def _unmasked(tokenizer: Any, ids: list[int]) -> list[int]:
    """The ids with nothing that would be read as another gap, should the text itself hold the name of a mask."""
    return [tokenizer.unk_token_id if number == tokenizer.mask_token_id else number for number in ids]


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


BATCH = 16
SPARE_BEAMS = 2
ANCHOR = 2
"""So many pieces of what follows must come after a filling, so that its end is seen."""
SENTINEL, NEXT_SENTINEL = "<extra_id_0>", "<extra_id_1>"


@dataclass(frozen=True, slots=True)
class _Gap:
    """What the model reads, what it is made to begin with, the ids that end a filling, and whether a blank stands before it."""

    read: list[int]
    written: list[int]
    end: list[int]
    blank: bool


class Seq2SeqFiller:
    """The most probable phrases in the place of a gap, by beam search, and the probability of what stands there.

    Raises InputError for a vocabulary without mask and without sentinels.

    Parameters
    ----------
    longest
        Pieces of a filling, at most.
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

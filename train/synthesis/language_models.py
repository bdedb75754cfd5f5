"""Language models that fill gaps, from a local folder or from what is already on this machine of a hub; nothing is downloaded."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForMaskedLM, AutoModelForSeq2SeqLM, AutoTokenizer, GenerationConfig

from rome.exceptions import InputError, ModelMissingError
from rome.features.analyser.model_set import file_digest
from rome.features.analyser.pieces import batches_of
from rome.features.analyser.transformer import first_line, pretrained
from rome.train.synthesis.fillers import TOP_K, FillRequest, other_words, rounded


@dataclass(frozen=True)
class Use:
    """What a checkpoint is loaded for.

    Attributes
    ----------
    fails
        What one of the wrong kind does not do, ``fills no gaps``.
    wanted
        What the user should give instead.
    fits
        Whether a configuration is of the right kind, with its architecture's name.
    model
        The class of transformers that loads it.
    """

    fails: str
    wanted: str
    fits: Callable[[Any, str], bool]
    model: Callable[[Any], Any]


def load_checkpoint(spec: str, use: Use, device: str = "cpu") -> tuple[Any, Any, str]:
    """A model in evaluation mode, its fast tokenizer, and its name: of a local folder with a digest of its files, of a hub as it is.

    Raises ModelMissingError, with the command that gets it, for a name that is not on this machine; InputError, naming the
    checkpoint and its kind, for a folder that holds none or one of the wrong kind.
    """
    folder, config = Path(spec), _part(AutoConfig, spec, use.wanted)
    kind = next(iter(getattr(config, "architectures", None) or ()), "")
    wrong = f"{spec} is a {kind or config.model_type}, which {use.fails}"
    if not use.fits(config, kind):
        raise InputError(f"{wrong}: give {use.wanted}")
    tokenizer = _part(AutoTokenizer, spec, use.wanted)
    try:
        model, report = pretrained(use.model(config), spec, output_loading_info=True)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{wrong} ({first_line(error)}): give {use.wanted}") from error
    if report["missing_keys"]:
        raise InputError(f"{wrong}: it has no weights for {sorted(report['missing_keys'])[0]}; give {use.wanted}")
    name = f"{folder.name}@{file_digest(folder)}" if folder.is_dir() else spec
    return model.eval().requires_grad_(False).to(device), tokenizer, name


def _part(kind: Any, spec: str, wanted: str) -> Any:
    """The configuration or the tokenizer of a checkpoint."""
    folder, unknown = Path(spec), f"{spec} holds no model that transformers loads"
    if folder.exists() and not (folder / "config.json").is_file():
        raise InputError(f"{unknown}: it has no config.json; give {wanted}")
    try:
        return pretrained(kind, spec)
    except (OSError, ValueError, KeyError, TypeError, ImportError) as error:
        if folder.exists() or isinstance(error, ImportError):
            raise InputError(f"{unknown}: {first_line(error)}; give {wanted}") from error
        raise ModelMissingError(
            f"the model {spec} is not on this machine: run `hf download {spec}`, or give a local folder"
        ) from error


OTHER_KINDS = ("Classification", "QuestionAnswering", "CausalLM", "MultipleChoice", "NextSentence")
FILLING = Use(
    "fills no gaps",
    "a masked or a sequence-to-sequence language model",
    lambda _, kind: not any(other in kind for other in OTHER_KINDS),
    lambda config: AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForMaskedLM,
)


def load_language_model(spec: str, device: str, top_k: int) -> MaskedLMFiller | Seq2SeqFiller:
    """The filler of a masked or a sequence-to-sequence language model. Raises what load_checkpoint raises."""
    model, tokenizer, name = load_checkpoint(spec, FILLING, device)
    kind = Seq2SeqFiller if model.config.is_encoder_decoder else MaskedLMFiller
    return kind(model, tokenizer, top_k, name=name)


def window_of(model: Any, tokenizer: Any) -> int:
    """How many positions a text may take; RoBERTa's family counts from the padding index on."""
    positions = getattr(model.config, "max_position_embeddings", None) or 512
    if "roberta" in model.config.model_type:
        positions -= int(model.config.pad_token_id or 0) + 1
    return int(min(tokenizer.model_max_length, positions))


BATCH_PIECES = 1024
WORD = re.compile(r"(?!_)(?:[^\W\d_]{2,}(?:['’-][^\W\d_]+)*|[aAiI]|\d+|[.,;:!?])")
MARKERS = ("Ġ", "▁")
"""With these byte-pair and SentencePiece vocabularies mark what begins a word; WordPiece marks what goes on with ``##``."""


class LanguageModel:
    """What both kinds share: the ids of a text around a place, cut to the model's window."""

    def __init__(self, model: Any, tokenizer: Any, top_k: int) -> None:
        self.model, self.tokenizer, self.top_k = model, tokenizer, top_k
        self.window = window_of(model, tokenizer)
        bare, framed = tokenizer("a", add_special_tokens=False)["input_ids"], tokenizer("a")["input_ids"]
        start = next((n for n in range(len(framed)) if framed[n : n + len(bare)] == bare), 0)
        self.before, self.after = framed[:start], framed[start + len(bare) :]
        self.vocabulary = [piece or "" for piece in tokenizer.convert_ids_to_tokens(range(len(tokenizer)))]
        self.marker = next((m for m in MARKERS if any(piece.startswith(m) for piece in self.vocabulary)), "")

    def ids(self, text: str) -> list[int]:
        """The ids of a part of a text."""
        found: list[int] = self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return found

    def place_ids(self, request: FillRequest) -> list[int]:
        """The ids of what stands in a place, with the blank before it where there is one, at most half a window of them."""
        blank = " " if request.text[: request.start][-1:].isspace() else ""
        return self.ids(blank + request.original)[: self.window // 2] if request.original.strip() else []

    def context(self, request: FillRequest, space: int) -> tuple[list[int], list[int]]:
        """Ids of what stands before and after a place, so that ``space`` more fit into the window, the far ends cut where it is more.

        A blank before the place goes to what follows it, as byte-pair vocabularies want it. What would be read as another gap, should the
        text itself hold the name of a mask, is unknown.
        """
        space = self.window - len(self.before) - len(self.after) - space
        left, right = request.text[: request.start], request.text[request.end :]
        blank = " " if left != left.rstrip() and right[:1].isalnum() else ""
        tokenizer = self.tokenizer
        before, after = (
            [tokenizer.unk_token_id if number == tokenizer.mask_token_id else number for number in self.ids(part)]
            for part in (left.rstrip(), blank + right)
        )
        kept = min(len(before), max(space // 2, space - len(after)))
        return before[len(before) - kept :], after[: max(space - kept, 0)]

    def padded(self, rows: Iterable[Sequence[int]]) -> Any:
        """Rows of ids as one batch on the model's device."""
        return self.tokenizer.pad([{"input_ids": row} for row in rows], return_tensors="pt").to(self.model.device)


class MaskedLMFiller(LanguageModel):
    """The most probable whole words in the place of a mask, and the probability of what stands there.

    A vocabulary without capitals is taken to be uncased: then a word that replaces a capitalised one is capitalised.
    """

    spans = False

    def __init__(self, model: Any, tokenizer: Any, top_k: int = TOP_K, *, name: str = "") -> None:
        super().__init__(model, tokenizer, top_k)
        self.signature = f"masked:{name or model.config.model_type}#top{top_k}"
        self.words = self._whole_words()
        self.allowed = torch.tensor(sorted(self.words), dtype=torch.long, device=model.device)
        self.uncased = all(word == word.lower() for word in self.words.values())

    def _whole_words(self) -> dict[int, str]:
        """The pieces of the vocabulary that are whole words or punctuation marks: id -> how it is written."""
        special, found = set(self.tokenizer.all_special_ids), {}
        for number, piece in enumerate(self.vocabulary):
            begins = piece.startswith(self.marker)
            word = self.tokenizer.convert_tokens_to_string([piece]).strip() if self.marker and begins else piece
            if number not in special and WORD.fullmatch(word) and (begins or not word[0].isalnum()):
                found[number] = word
        return found

    def fill(self, requests: Sequence[FillRequest]) -> list[list[tuple[str, float]]]:
        """For each place the ``top_k`` words with their probabilities, best first; one word takes the place of all its characters.

        Probabilities are those of the whole vocabulary. What stands there now is left out; an empty list for no requests.
        """
        found: list[list[tuple[str, float]]] = [[] for _ in requests]
        for n, logits in self._logits([self._row(request, 1) for request in requests]):
            probabilities = torch.softmax(logits[0], dim=0)[self.allowed]
            best = torch.topk(
                probabilities, min(2 * self.top_k + 2, len(probabilities))
            )  # two pieces may be one word in two casings
            words: dict[str, float] = {}
            for number, value in zip(self.allowed[best.indices].tolist(), best.values.tolist(), strict=True):
                words.setdefault(self._written(self.words[number], requests[n]), rounded(value))
            found[n] = other_words(list(words.items()), requests[n], self.top_k)
        return found

    def of(self, requests: Sequence[FillRequest]) -> list[float]:
        """The probability of what stands in each place: all its pieces masked at once, their probabilities multiplied; 1 for none.

        A phrase of more pieces than half the window is judged by the pieces that fit.
        """
        own = [self.place_ids(request) for request in requests]
        rows = [self._row(request, len(ids)) for request, ids in zip(requests, own, strict=True)]
        found = [1.0] * len(requests)
        for n, logits in self._logits(rows):
            if own[n]:
                found[n] = _probability(logits, own[n])
        return found

    def _row(self, request: FillRequest, masks: int) -> list[int]:
        """The ids of the text with masks in the place, cut to the window around it."""
        before, after = self.context(request, masks)
        return [*self.before, *before, *[self.tokenizer.mask_token_id] * masks, *after, *self.after]

    @torch.no_grad()
    def _logits(self, rows: Sequence[Sequence[int]]) -> Iterable[tuple[int, torch.Tensor]]:
        """Yield each row's number and the (masks, V) float32 logits at its masks; rows of similar length together.

        The vocabulary is compared at the masks only, which is most of the work.
        """
        output = self.model.get_output_embeddings()
        for chosen in batches_of([len(row) for row in rows], BATCH_PIECES):
            batch = self.padded(rows[n] for n in chosen)
            there = batch["input_ids"] == self.tokenizer.mask_token_id
            with (
                nullcontext()
                if output is None
                else output.register_forward_pre_hook(lambda _, inputs, at=there: (inputs[0][at],))
            ):
                logits = self.model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
            parts = torch.split((logits if logits.ndim == 2 else logits[there]).float(), there.sum(1).tolist())
            yield from zip(chosen, parts, strict=True)

    def _written(self, word: str, request: FillRequest) -> str:
        """A word of an uncased vocabulary in the casing of what it replaces, or of the start of the text."""
        first = request.original or ("A" if not request.text[: request.start].strip() else "")
        return word[:1].upper() + word[1:] if self.uncased and first[:1].isupper() else word


def _probability(logits: torch.Tensor, ids: Sequence[int]) -> float:
    """Of some ids by the logits (n, V) at their places, multiplied."""
    logs = torch.log_softmax(logits, dim=1)[torch.arange(len(ids)), torch.tensor(ids)]
    return rounded(float(torch.exp(logs.sum())))


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


class Seq2SeqFiller(LanguageModel):
    """The most probable phrases in the place of a gap, by beam search, and the probability of what stands there.

    Raises InputError for a vocabulary without mask and without sentinels.

    Parameters
    ----------
    longest
        Pieces of a filling, at most.
    """

    spans = True

    def __init__(self, model: Any, tokenizer: Any, top_k: int = TOP_K, *, longest: int = 8, name: str = "") -> None:
        super().__init__(model, tokenizer, top_k)
        self.longest, self.beams = longest, top_k + SPARE_BEAMS
        self.signature = f"seq2seq:{name or model.config.model_type}#top{top_k}#longest{longest}"
        self.sentinels = [n for s in (SENTINEL, NEXT_SENTINEL) if (n := tokenizer.get_vocab().get(s)) is not None]
        if not self.sentinels and tokenizer.mask_token_id is None:
            raise InputError(
                f"{name} knows neither a mask nor {SENTINEL}: give a model trained on text infilling, such as BART or T5"
            )
        config = model.config
        self.start = self.after[-1] if config.model_type == "mbart" else config.decoder_start_token_id
        model.generation_config = GenerationConfig(  # a checkpoint's own settings, such as a least length, are not for fillings
            num_beams=self.beams,
            num_return_sequences=self.beams,
            do_sample=False,
            max_new_tokens=longest + ANCHOR,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            decoder_start_token_id=self.start,
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
        for n in sorted(range(len(gaps)), key=lambda n: len(gaps[n].read)):
            groups[len(gaps[n].written)].append(n)
        for _, members in sorted(groups.items()):
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
            if own := self.place_ids(request):
                gap = self._gap(request)
                read, written = (torch.tensor([ids], device=self.model.device) for ids in (gap.read, gap.written + own[:-1]))
                logits = self.model(input_ids=read, decoder_input_ids=written).logits[0].float()
                found[n] = _probability(logits[-len(own) :], own)
        return found

    def _gap(self, request: FillRequest) -> _Gap:
        """The text with one gap, cut to the window around it."""
        left, right = self.context(request, 1 + self.longest + ANCHOR)
        mask = self.sentinels[0] if self.sentinels else self.tokenizer.mask_token_id
        read = [*self.before, *left, mask, *right, *self.after]
        blank = bool(left) and request.text[request.start - 1].isspace()
        if self.sentinels:
            return _Gap(read, [self.start, mask], self.sentinels[1:] or [-1], blank)
        return _Gap(read, [self.start, *self.before, *left], right[:ANCHOR] or [self.tokenizer.eos_token_id], blank)

    @torch.no_grad()
    def _beams(self, gaps: Sequence[_Gap]) -> list[list[tuple[list[int], float]]]:
        """For each gap the generated ids after what the model was made to begin with, and their mean log-probability."""
        batch = self.padded(gap.read for gap in gaps)
        written = torch.tensor([gap.written for gap in gaps], device=self.model.device)
        made = self.model.generate(
            input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], decoder_input_ids=written
        )
        sequences, scores = made.sequences[:, written.shape[1] :].tolist(), made.sequences_scores.tolist()
        both = list(zip(sequences, scores, strict=True))
        return [both[start : start + self.beams] for start in range(0, len(both), self.beams)]

    def _phrases(self, beams: Sequence[tuple[list[int], float]], gap: _Gap) -> list[tuple[str, float]]:
        """Distinct fillings that are whole words and end where the text goes on, best first."""
        phrases: dict[str, float] = {}
        for ids, score in beams:
            own = self._until_end(ids, gap)
            if own and not (gap.blank and self._goes_on(own[0])):
                text = " ".join(self.tokenizer.decode(own, skip_special_tokens=True).split())
                if text:
                    phrases.setdefault(text, rounded(float(torch.exp(torch.tensor(score)))))
        return sorted(phrases.items(), key=lambda item: -item[1])

    def _goes_on(self, piece: int) -> bool:
        """Whether a piece goes on with the word before it."""
        written = self.vocabulary[piece]
        return bool(self.marker) and not written.startswith(self.marker) and written[0].isalnum()

    def _until_end(self, ids: list[int], gap: _Gap) -> list[int]:
        """The ids before the first place where the text goes on as it did; nothing when it never does."""
        ended = (gap.end, [self.tokenizer.eos_token_id]) if self.sentinels else (gap.end,)
        places = [n for end in ended for n in range(len(ids)) if ids[n : n + len(end)] == end]
        return ids[: min(places)] if places else []

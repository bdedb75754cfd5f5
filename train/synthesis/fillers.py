"""Language models of the pipelines: fillers of gaps and translators, from local folders or a local hub cache; nothing is downloaded."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch
from transformers import AutoConfig, AutoModelForMaskedLM, AutoModelForSeq2SeqLM, AutoTokenizer, GenerationConfig

from rome.exceptions import InputError, ModelMissingError
from rome.features.analyser.config import set_folder
from rome.features.analyser.fill_head import FILL_FILE, Filling, Place, load_fill_head
from rome.features.analyser.model_set import file_digest
from rome.features.analyser.transformer import first_line, pretrained
from rome.train.synthesis.pairs import batches

TOP_K = 4
"""Candidates per place (SEScore §3.2: top-k sampling with k = 4)."""


class FillRequest(Place):
    """A place to fill with one word or span: the characters ``text[start:end]``; an empty span is the place of an insertion."""

    @property
    def original(self) -> str:
        """Return the characters in the place."""
        return self.text[self.start : self.end]


class Filler(Protocol):
    """A language model that proposes words for a place, and estimates how probable the present ones are.

    Attributes
    ----------
    signature
        Model and settings in one line.
    spans
        True for a filler of phrases, False for one of single words.
    """

    signature: str
    spans: bool

    def fill(self, requests: Sequence[FillRequest]) -> list[list[tuple[str, float]]]:
        """Return per place the top-k candidates with probabilities in [0, 1], best first, without the present words; maybe none."""

    def of(self, requests: Sequence[FillRequest]) -> list[float]:
        """Return per place the probability in [0, 1] of its characters, given the rest of the text; 1 for an empty place."""


def load_filler(spec: str, device: str = "cpu", top_k: int = TOP_K) -> Filler:
    """Load the filler ``spec``: ``embedded``, the folder of a head or a checkpoint, or the hub name of a model on this machine.

    A masked language model fills with one word, a sequence-to-sequence model (text infilling: BART, mBART) with a phrase.

    Raises
    ------
    InputError
        For a checkpoint that fills no gaps.
    ModelMissingError
        For a model that is not on this machine, with the command that gets it.
    """
    folder = set_folder("small") / "fill" if spec == "embedded" else Path(spec)
    if (folder / FILL_FILE).is_file():
        return EmbeddedFiller(load_fill_head(folder), top_k, file_digest(folder))
    if spec == "embedded":
        raise ModelMissingError(
            "this version has no embedded filler: give --fill FOLDER, a checkpoint or a head of `rome train fill`"
        )
    model, tokenizer, name = load_checkpoint(spec, FILLING, _filling_class, device)
    kind = Seq2SeqFiller if model.config.is_encoder_decoder else MaskedLMFiller
    return kind(model, tokenizer, top_k, name=name)


class EmbeddedFiller:
    """The masked head on the embedded trunk: one whole word of letters or of digits."""

    spans = False

    def __init__(self, head: Filling, top_k: int = TOP_K, digest: str = "") -> None:
        self.head, self.top_k = head, top_k
        self.signature = f"embedded{digest and '@' + digest}#top{top_k}"

    def fill(self, requests: Sequence[FillRequest]) -> list[list[tuple[str, float]]]:
        """Return the most probable words."""
        filled = self.head.fill(requests, self.top_k + 1)
        return [_other_words(candidates, request, self.top_k) for candidates, request in zip(filled, requests, strict=True)]

    def of(self, requests: Sequence[FillRequest]) -> list[float]:
        """Return the probability of a place that is masked as a whole, the product over its pieces."""
        return [float(value) for value in self.head.likelihood(requests)]


FILLING = "a masked or a sequence-to-sequence language model"
TRANSLATION = "a sequence-to-sequence translation model"


def _filling_class(config: Any) -> Any:
    """Return the class that loads a filler."""
    return AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForMaskedLM


def load_checkpoint(spec: str, wanted: str, class_of: Callable[[Any], Any], device: str = "cpu") -> tuple[Any, Any, str]:
    """Return a model in evaluation mode, its fast tokenizer, and its name, with a digest of the files of a local folder.

    Parameters
    ----------
    wanted
        Kind of checkpoint, for messages.
    class_of
        Returns the class that loads a model with such a configuration.

    Raises
    ------
    InputError
        For a folder without a checkpoint or with one of the wrong kind; names the checkpoint and its kind.
    ModelMissingError
        For a name that is not on this machine, with the command that gets it.
    """
    folder, config = Path(spec), _part(AutoConfig, spec, wanted)
    kind = next(iter(getattr(config, "architectures", None) or ()), config.model_type)
    try:
        model, report = pretrained(class_of(config), spec, output_loading_info=True)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{spec} is a {kind} ({first_line(error)}): give {wanted}") from error
    if report["missing_keys"]:
        raise InputError(f"{spec} is a {kind} with no weights for {sorted(report['missing_keys'])[0]}: give {wanted}")
    tokenizer = _part(AutoTokenizer, spec, wanted)
    name = f"{folder.name}@{file_digest(folder)}" if folder.is_dir() else spec
    return model.eval().requires_grad_(False).to(device), tokenizer, name


def _part(kind: Any, spec: str, wanted: str) -> Any:
    """Return the configuration or the tokenizer of a checkpoint."""
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


def window_of(model: Any, tokenizer: Any) -> int:
    """Return how many positions a text may take; RoBERTa's family counts from the padding index on."""
    positions = getattr(model.config, "max_position_embeddings", None) or 512
    if "roberta" in model.config.model_type:
        positions -= int(model.config.pad_token_id or 0) + 1
    return int(min(tokenizer.model_max_length, positions))


WHOLE_WORD = re.compile(r"(?!_)(?:[^\W\d_]{2,}(?:['’-][^\W\d_]+)*|[aAiI]|\d+|[.,;:!?])")
MARKERS = ("Ġ", "▁")
"""Start of a word in byte-pair and SentencePiece vocabularies; WordPiece marks continuations with ``##``."""
BATCH = 16


class LanguageModel:
    """Shared part of both kinds of fillers: the ids of a text around a place, cut to the window of the model."""

    def __init__(self, model: Any, tokenizer: Any, top_k: int) -> None:
        self.model, self.tokenizer, self.top_k = model, tokenizer, top_k
        self.window = window_of(model, tokenizer)
        bare, framed = self.ids("a"), tokenizer("a")["input_ids"]
        start = next((n for n in range(len(framed)) if framed[n : n + len(bare)] == bare), 0)
        self.before, self.after = framed[:start], framed[start + len(bare) :]
        self.vocabulary = [piece or "" for piece in tokenizer.convert_ids_to_tokens(range(len(tokenizer)))]
        self.marker = next((m for m in MARKERS if any(piece.startswith(m) for piece in self.vocabulary)), "")

    def ids(self, text: str) -> list[int]:
        """Return the ids of a part of a text."""
        ids: list[int] = self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return ids

    def place_ids(self, request: FillRequest) -> list[int]:
        """Return the ids in a place, with the blank before it if there is one, at most half a window of them."""
        blank = " " if request.text[: request.start][-1:].isspace() else ""
        return self.ids(blank + request.original)[: self.window // 2] if request.original.strip() else []

    def context(self, request: FillRequest, space: int) -> tuple[list[int], list[int]]:
        """Return the ids before and after a place, cut at the far ends so that ``space`` more ids fit into the window.

        A blank before the place belongs to the following text, as byte-pair vocabularies need it. A mask in the text itself is unknown.
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
        """Return rows of ids as one batch on the device of the model."""
        return self.tokenizer.pad([{"input_ids": row} for row in rows], return_tensors="pt").to(self.model.device)


class MaskedLMFiller(LanguageModel):
    """Fills a mask with the most probable whole words, and gives the probability of the words in a place.

    For an uncased vocabulary, a word that replaces a capitalised one is capitalised.
    """

    spans = False

    def __init__(self, model: Any, tokenizer: Any, top_k: int = TOP_K, *, name: str = "") -> None:
        super().__init__(model, tokenizer, top_k)
        self.signature = f"masked:{name or model.config.model_type}#top{top_k}"
        self.words = dict(self._whole_words())
        self.allowed = torch.tensor(sorted(self.words), dtype=torch.long, device=model.device)
        self.is_uncased = all(word == word.lower() for word in self.words.values())

    def _whole_words(self) -> Iterator[tuple[int, str]]:
        """Yield the pieces of the vocabulary that are whole words or punctuation marks: id, written form."""
        special = set(self.tokenizer.all_special_ids)
        for number, piece in enumerate(self.vocabulary):
            begins = piece.startswith(self.marker)
            word = self.tokenizer.convert_tokens_to_string([piece]).strip() if self.marker and begins else piece
            if number not in special and WHOLE_WORD.fullmatch(word) and (begins or not word[0].isalnum()):
                yield number, word

    def fill(self, requests: Sequence[FillRequest]) -> list[list[tuple[str, float]]]:
        """Return per place the ``top_k`` words and their probabilities among the whole vocabulary, best first."""
        filled = []
        for request, logits in zip(requests, self._logits(requests, [1] * len(requests)), strict=True):
            probabilities = torch.softmax(logits[0], dim=0)[self.allowed]
            best = torch.topk(probabilities, min(2 * self.top_k + 2, len(probabilities)))  # one word may occur in two casings
            words: dict[str, float] = {}
            for number, value in zip(self.allowed[best.indices].tolist(), best.values.tolist(), strict=True):
                words.setdefault(self._written(self.words[number], request), _rounded(value))
            filled.append(_other_words(list(words.items()), request, self.top_k))
        return filled

    def of(self, requests: Sequence[FillRequest]) -> list[float]:
        """Return the probability of each place: all pieces masked at once, probabilities multiplied; 1 for an empty place.

        A phrase of more pieces than half the window is judged by the pieces that fit.
        """
        own = [self.place_ids(request) for request in requests]
        logits = self._logits(requests, list(map(len, own)))
        return [_probability(found, ids) for found, ids in zip(logits, own, strict=True)]

    @torch.no_grad()
    def _logits(self, requests: Sequence[FillRequest], masks: Sequence[int]) -> Iterator[torch.Tensor]:
        """Yield per request the (masks, V) float32 logits at its masks."""
        for block in batches(zip(requests, masks, strict=True), BATCH):
            batch = self.padded(self._row(request, count) for request, count in block)
            logits = self.model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
            for row, ids in zip(logits, batch["input_ids"], strict=True):
                yield row[ids == self.tokenizer.mask_token_id].float()

    def _row(self, request: FillRequest, masks: int) -> list[int]:
        before, after = self.context(request, masks)
        return [*self.before, *before, *[self.tokenizer.mask_token_id] * masks, *after, *self.after]

    def _written(self, word: str, request: FillRequest) -> str:
        """Return a word of an uncased vocabulary in the casing of its place or of the start of the text."""
        first = request.original or ("A" if not request.text[: request.start].strip() else "")
        return word[:1].upper() + word[1:] if self.is_uncased and first[:1].isupper() else word


SPARE_BEAMS = 2
ANCHOR = 2
"""Pieces of the following text that must follow a filling, so that its end is known."""


class _Gap(NamedTuple):
    """Input of the encoder, start of the decoder, ids that end a filling, and whether a blank is before the gap."""

    read: list[int]
    written: list[int]
    end: list[int]
    blank: bool


class Seq2SeqFiller(LanguageModel):
    """Fills a gap with the most probable phrases by beam search, and gives the probability of the words in a place.

    Raises InputError for a vocabulary without mask.

    Parameters
    ----------
    longest
        Largest number of pieces of a filling.
    """

    spans = True

    def __init__(self, model: Any, tokenizer: Any, top_k: int = TOP_K, *, longest: int = 8, name: str = "") -> None:
        super().__init__(model, tokenizer, top_k)
        self.longest, self.beams = longest, top_k + SPARE_BEAMS
        self.signature = f"seq2seq:{name or model.config.model_type}#top{top_k}#longest{longest}"
        if tokenizer.mask_token_id is None:
            raise InputError(f"{name} has no mask: give a model trained on text infilling, such as BART")
        config = model.config
        self.start = self.after[-1] if config.model_type == "mbart" else config.decoder_start_token_id
        model.generation_config = GenerationConfig(  # not the settings of the checkpoint, such as a least length
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
        """Return per place the ``top_k`` phrases with the geometric mean of the probabilities of their pieces, best first.

        Fillings that do not end within ``longest`` pieces are left out.
        """
        gaps = map(self._gap, requests)
        return [_other_words(self._phrases(gap), request, self.top_k) for gap, request in zip(gaps, requests, strict=True)]

    @torch.no_grad()
    def of(self, requests: Sequence[FillRequest]) -> list[float]:
        """Return the probability of each place: its pieces one after the other, multiplied; 1 for an empty place."""
        return [self._likelihood(self._gap(request), self.place_ids(request)) for request in requests]

    def _likelihood(self, gap: _Gap, own: list[int]) -> float:
        if not own:
            return 1.0
        read, written = (torch.tensor([ids], device=self.model.device) for ids in (gap.read, gap.written + own[:-1]))
        logits = self.model(input_ids=read, decoder_input_ids=written).logits[0].float()
        return _probability(logits[-len(own) :], own)

    def _gap(self, request: FillRequest) -> _Gap:
        """Return the text with one gap, cut to the window around it."""
        left, right = self.context(request, 1 + self.longest + ANCHOR)
        read = [*self.before, *left, self.tokenizer.mask_token_id, *right, *self.after]
        blank = bool(left) and request.text[request.start - 1].isspace()
        return _Gap(read, [self.start, *self.before, *left], right[:ANCHOR] or [self.tokenizer.eos_token_id], blank)

    @torch.no_grad()
    def _phrases(self, gap: _Gap) -> list[tuple[str, float]]:
        """Return distinct fillings that are whole words and end before the following text, best first."""
        read, written = (torch.tensor([ids], device=self.model.device) for ids in (gap.read, gap.written))
        made = self.model.generate(input_ids=read, attention_mask=torch.ones_like(read), decoder_input_ids=written)
        phrases: dict[str, float] = {}
        sequences = made.sequences[:, written.shape[1] :].tolist()
        for ids, score in zip(sequences, made.sequences_scores.exp().tolist(), strict=True):
            own = ids[: next((n for n in range(len(ids)) if ids[n : n + len(gap.end)] == gap.end), 0)]
            if own and not (gap.blank and self._continues(own[0])):
                text = " ".join(self.tokenizer.decode(own, skip_special_tokens=True).split())
                if text:
                    phrases.setdefault(text, _rounded(score))
        return sorted(phrases.items(), key=lambda item: -item[1])

    def _continues(self, piece: int) -> bool:
        """Tell whether a piece continues the word before it."""
        written = self.vocabulary[piece]
        return bool(self.marker) and not written.startswith(self.marker) and written[0].isalnum()


def _other_words(candidates: Sequence[tuple[str, float]], request: FillRequest, top_k: int) -> list[tuple[str, float]]:
    """Return the first ``top_k`` candidates that differ from the present words by more than casing."""
    return [(word, p) for word, p in candidates if word.casefold() != request.original.casefold()][:top_k]


def _probability(logits: torch.Tensor, ids: Sequence[int]) -> float:
    """Return the probability of some ids by the logits (n, V) at their places, multiplied; 1 for none."""
    logs = torch.log_softmax(logits, dim=1)[torch.arange(len(ids)), torch.tensor(ids, dtype=torch.long)]
    return _rounded(float(torch.exp(logs.sum())))


def _rounded(probability: float) -> float:
    """Round to four significant digits: batches of other sizes differ in the sixth."""
    return float(f"{probability:.4g}")


class RoundTrip:
    """English to another language and back, by two sequence-to-sequence checkpoints on this machine (BLEURT §4.1, appendix A.1).

    Raises the errors of load_checkpoint.

    Parameters
    ----------
    language
        Short name, such as fr.
    beams
        Width of the search for the most likely translation.
    """

    def __init__(self, language: str, there: str, back: str, *, beams: int = 4) -> None:
        self.language, self.beams = language, beams
        self.models = [load_checkpoint(spec, TRANSLATION, lambda _: AutoModelForSeq2SeqLM) for spec in (there, back)]
        names = "|".join(name for _, _, name in self.models)
        self.signature = f"{language}:{names}|beams:{beams}"

    def back(self, text: str) -> str | None:
        """Return a text translated there and back; None for a text beyond the window of a model."""
        found: str | None = text
        for model, tokenizer, _ in self.models:
            if found:
                found = self._translated(found, model, tokenizer)
        return found

    @torch.no_grad()
    def _translated(self, text: str, model: Any, tokenizer: Any) -> str | None:
        ids = tokenizer(text, return_tensors="pt", verbose=False).input_ids.to(model.device)
        window = window_of(model, tokenizer)
        if ids.shape[1] > window:
            return None
        limits = {"num_beams": self.beams, "do_sample": False, "max_length": None, "max_new_tokens": window - 1}
        produced = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), **limits)
        return str(tokenizer.decode(produced[0], skip_special_tokens=True)).strip()

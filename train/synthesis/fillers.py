"""Language models of the pipelines: fillers of gaps and translators, from local folders or a local hub cache; nothing is downloaded."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from transformers import (
    AutoConfig,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    GenerationConfig,
    PreTrainedTokenizerFast,
)

from rome.exceptions import InputError, ModelMissingError
from rome.features.analyser.config import set_folder
from rome.features.analyser.encoder import PIECES_FILE
from rome.features.analyser.fill_head import FILL_FILE, WINDOW, load_fill_head
from rome.features.analyser.model_set import file_digest
from rome.features.analyser.pieces import batches_of, padded
from rome.features.analyser.transformer import first_line, pretrained
from rome.train.synthesis.edits import words_of

TOP_K = 4
"""Candidates per place (SEScore §3.2: top-k sampling with k = 4)."""
FILLING = "a masked or a sequence-to-sequence language model"
TRANSLATION = "a sequence-to-sequence translation model"
BATCH_PIECES = 1024
Candidates = list[tuple[str, float]]
"""Words or phrases with probabilities in [0, 1], best first."""


class FillRequest(NamedTuple):
    """A place to fill: the characters ``text[start:end]``; an empty span is the place of an insertion."""

    text: str
    start: int
    end: int

    @property
    def original(self) -> str:
        """Return the characters in the place."""
        return self.text[self.start : self.end]


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
    if spec == "embedded" or (folder / FILL_FILE).is_file():
        return MaskedFiller(load_fill_head(folder), fill_tokenizer(), top_k=top_k, name=f"{folder.name}@{file_digest(folder)}")
    model, tokenizer, name = load_checkpoint(
        spec, FILLING, lambda config: AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForMaskedLM, device
    )
    kind = Seq2SeqFiller if model.config.is_encoder_decoder else MaskedFiller
    return kind(model, tokenizer, top_k=top_k, name=name)


def fill_tokenizer() -> Any:
    """Return the word pieces of the embedded head."""
    marks = {f"{name.lower()}_token": f"[{name}]" for name in ("UNK", "PAD", "CLS", "SEP", "MASK")}
    file = str(set_folder("small") / "encoder" / PIECES_FILE)
    return PreTrainedTokenizerFast(tokenizer_file=file, model_max_length=WINDOW, **marks)


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
    folder, unknown = Path(spec), f"{spec} holds no model that transformers loads"
    if folder.exists() and not (folder / "config.json").is_file():
        raise InputError(f"{unknown}: it has no config.json; give {wanted}")
    try:
        config, tokenizer = pretrained(AutoConfig, spec), pretrained(AutoTokenizer, spec)
    except (OSError, ValueError, KeyError, TypeError, ImportError) as error:
        if folder.exists() or isinstance(error, ImportError):
            raise InputError(f"{unknown}: {first_line(error)}; give {wanted}") from error
        raise ModelMissingError(
            f"the model {spec} is not on this machine: run `hf download {spec}`, or give a local folder"
        ) from error
    kind = next(iter(getattr(config, "architectures", None) or ()), config.model_type)
    try:
        model, report = pretrained(class_of(config), spec, output_loading_info=True)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{spec} is a {kind} ({first_line(error)}): give {wanted}") from error
    if report["missing_keys"]:
        raise InputError(f"{spec} is a {kind} with no weights for {sorted(report['missing_keys'])[0]}: give {wanted}")
    name = f"{folder.name}@{file_digest(folder)}" if folder.is_dir() else spec
    return model.eval().requires_grad_(False).to(device), tokenizer, name


def window_of(model: Any, tokenizer: Any) -> int:
    """Return how many positions a text may take; RoBERTa's family counts from the padding index on."""
    positions = getattr(model.config, "max_position_embeddings", None) or 512
    if "roberta" in model.config.model_type:
        positions -= int(model.config.pad_token_id or 0) + 1
    return int(min(tokenizer.model_max_length, positions))


MARKERS = ("Ġ", "▁")
"""Start of a word in byte-pair and SentencePiece vocabularies; WordPiece marks continuations with ``##``."""


class Filler(ABC):
    """A language model that proposes words for a place in a text, which is cut to the window of the model.

    Attributes
    ----------
    signature
        Model and settings in one line.
    spans
        True for a filler of phrases, False for one of single words.
    """

    signature: str
    spans: bool

    @abstractmethod
    def fill(self, requests: Sequence[FillRequest]) -> list[Candidates]:
        """Return per place the top-k candidates without the present words; maybe none."""

    def __init__(self, model: Any, tokenizer: Any, top_k: int) -> None:
        self.model, self.tokenizer, self.window, self.top_k = model, tokenizer, window_of(model, tokenizer), top_k
        bare, framed = self.ids("a"), tokenizer("a")["input_ids"]
        start = next((n for n in range(len(framed)) if framed[n : n + len(bare)] == bare), 0)
        self.before, self.after = framed[:start], framed[start + len(bare) :]
        self.vocabulary = [piece or "" for piece in tokenizer.convert_ids_to_tokens(range(len(tokenizer)))]
        self.marker = next((m for m in MARKERS if any(piece.startswith(m) for piece in self.vocabulary)), "")

    def ids(self, text: str) -> list[int]:
        """Return the ids of a part of a text; a mask in it is unknown."""
        ids = self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return [self.tokenizer.unk_token_id if number == self.tokenizer.mask_token_id else number for number in ids]

    def row(self, request: FillRequest, masks: int, more: int = 0) -> tuple[list[int], list[int], list[int]]:
        """Return the ids before a place, of a whole row with masks in it, and after it; the window has room for ``more`` ids.

        A blank before the place belongs to the following text, as byte-pair vocabularies need it.
        """
        space = self.window - len(self.before) - len(self.after) - masks - more
        left, right = request.text[: request.start], request.text[request.end :]
        blank = " " if left != left.rstrip() and right[:1].isalnum() else ""
        before, after = self.ids(left.rstrip()), self.ids(blank + right)
        kept = min(len(before), max(space // 2, space - len(after)))
        before, after = before[len(before) - kept :], after[: max(space - kept, 0)]
        return before, [*self.before, *before, *[self.tokenizer.mask_token_id] * masks, *after, *self.after], after


WHOLE_WORD = re.compile(r"(?!_)(?:[^\W\d_]{2,}(?:['’-][^\W\d_]+)*|[aAiI]|\d+|[.,;:!?])")
SENTENCE_START = re.compile(r"(?:^|[.!?…][\"'”’)\]]*\s+|\n\s*)[\"'“‘(\[]*$")


class MaskedFiller(Filler):
    """Fills a mask with the most probable whole words or marks, and gives the probability of the words in a place."""

    spans = False

    def __init__(self, model: Any, tokenizer: Any, *, top_k: int = TOP_K, name: str = "") -> None:
        super().__init__(model, tokenizer, top_k)
        self.signature = f"masked:{name}#top{top_k}"
        self.words: dict[int, str] = {}
        for number, piece in enumerate(self.vocabulary):
            begins = piece.startswith(self.marker)
            word = self.tokenizer.convert_tokens_to_string([piece]).strip() if self.marker and begins else piece
            if WHOLE_WORD.fullmatch(word) and (begins or not word[0].isalnum()):
                self.words[number] = word
        self.allowed = torch.tensor(list(self.words), dtype=torch.long)
        self.is_uncased = all(word == word.lower() for word in self.words.values())

    def fill(self, requests: Sequence[FillRequest]) -> list[Candidates]:
        """Return per place the ``top_k`` words and their probabilities among the whole vocabulary, best first."""
        filled = []
        for request, logits in zip(requests, self._logits([self.row(request, 1)[1] for request in requests]), strict=True):
            best = torch.softmax(logits[0], dim=0)[self.allowed].sort(descending=True, stable=True)
            words: dict[str, float] = {}  # one word may occur in two casings
            for n, p in zip(best.indices[: 2 * self.top_k + 2].tolist(), best.values.tolist(), strict=False):
                words.setdefault(self.written(self.words[int(self.allowed[n])], request), _rounded(p))
            filled.append(_other_words(words, request, self.top_k))
        return filled

    def of(self, requests: Sequence[FillRequest]) -> list[list[float]]:
        """Return per place the probability of each word: all of them masked at once, the pieces of a word multiplied.

        A phrase of more pieces than half the window is judged by the words that fit; casing does not count for an uncased vocabulary.
        """
        own = [self._word_ids(request) for request in requests]
        rows = [self.row(request, sum(map(len, words)))[1] for request, words in zip(requests, own, strict=True)]
        found = []
        for words, logits in zip(own, self._logits(rows), strict=True):
            ids = torch.tensor([number for word in words for number in word], dtype=torch.long)
            logs = torch.log_softmax(logits, dim=1)[torch.arange(len(ids)), ids]
            found.append([_rounded(float(part.sum().exp())) for part in logs.split(list(map(len, words)))])
        return found

    def _word_ids(self, request: FillRequest) -> list[list[int]]:
        """Return the ids of each word in a place, with the blank before it if there is one."""
        kept: list[list[int]] = []
        for word in words_of(request.original):
            blank = request.text[: request.start + word.start][-1:]
            ids = self.ids(f"{' ' if blank.isspace() else ''}{word.text}")
            if sum(map(len, kept)) + len(ids) > self.window // 2:
                break
            kept.append(ids)
        return [ids for ids in kept if ids]

    @torch.no_grad()
    def _logits(self, rows: Sequence[Sequence[int]]) -> list[torch.Tensor]:
        """Return per row the (masks, V) float32 logits at its masks."""
        found = [torch.zeros(0)] * len(rows)
        for chosen in batches_of(list(map(len, rows)), BATCH_PIECES):
            ids, mask = padded([torch.tensor(rows[n]) for n in chosen], self.tokenizer.pad_token_id)
            places = mask & (ids == self.tokenizer.mask_token_id)
            given = {"input_ids": ids.to(self.model.device), "attention_mask": mask.long().to(self.model.device)}
            logits = self.model(**given).logits.cpu().float()
            logits = logits if logits.dim() == 2 else logits[places]  # the embedded head gives those of the masks alone
            for n, part in zip(chosen, logits.split(places.sum(1).tolist()), strict=True):
                found[n] = part
        return found

    def written(self, word: str, request: FillRequest) -> str:
        """Return a word in the casing that its place asks for; one of a cased vocabulary stays as it is."""
        letters = [c for c in request.text if c.isalpha()]
        if not self.is_uncased:
            return word
        if len(letters) > 1 and all(c.isupper() for c in letters):
            return word.upper()
        usual = getattr(self.model, "casing", {}).get(word, word)
        name = request.original[:1].isupper() and word in getattr(self.model, "sometimes", (word,))
        start = SENTENCE_START.search(request.text[: request.start])
        first_is_capital = next((c.isupper() for c in request.text[request.start :] if c.isalpha()), True)
        return usual[:1].upper() + usual[1:] if name or (start and first_is_capital) else usual


SPARE_BEAMS = 2
ANCHOR = 2
"""Pieces of the following text that must follow a filling, so that its end is known."""


class Seq2SeqFiller(Filler):
    """Fills a gap with the most probable phrases by beam search. Raises InputError for a vocabulary without mask.

    Parameters
    ----------
    longest
        Largest number of pieces of a filling.
    """

    spans = True

    def __init__(self, model: Any, tokenizer: Any, *, top_k: int = TOP_K, longest: int = 8, name: str = "") -> None:
        if tokenizer.mask_token_id is None:
            raise InputError(f"{name} has no mask: give a model trained on text infilling, such as BART")
        super().__init__(model, tokenizer, top_k)
        self.longest = longest
        self.signature = f"seq2seq:{name}#top{top_k}#longest{longest}"
        self.start = self.after[-1] if model.config.model_type == "mbart" else model.config.decoder_start_token_id
        beams = {"num_beams": top_k + SPARE_BEAMS, "num_return_sequences": top_k + SPARE_BEAMS, "do_sample": False}
        tokens = {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id}
        tokens |= {"decoder_start_token_id": self.start, "max_new_tokens": longest + ANCHOR}
        answer = {"output_scores": True, "return_dict_in_generate": True}
        # not the settings of the checkpoint, such as a least length
        model.generation_config = GenerationConfig(**beams, **tokens, **answer)

    @torch.no_grad()
    def fill(self, requests: Sequence[FillRequest]) -> list[Candidates]:
        """Return per place the ``top_k`` phrases with the geometric mean of the probabilities of their pieces, best first.

        Fillings that do not end within ``longest`` pieces are left out, and those that do not begin with a whole word.
        """
        return [_other_words(self._phrases(request), request, self.top_k) for request in requests]

    def _phrases(self, request: FillRequest) -> dict[str, float]:
        """Return distinct fillings, which are whole words and end before the following text."""
        left, row, right = self.row(request, 1, self.longest + ANCHOR)
        end = right[:ANCHOR] or [self.tokenizer.eos_token_id]
        blank = bool(left) and request.text[request.start - 1].isspace()
        read, written = (torch.tensor([ids], device=self.model.device) for ids in (row, [self.start, *self.before, *left]))
        made = self.model.generate(input_ids=read, attention_mask=torch.ones_like(read), decoder_input_ids=written)
        phrases: dict[str, float] = {}
        sequences = made.sequences[:, written.shape[1] :].tolist()
        for ids, score in zip(sequences, made.sequences_scores.exp().tolist(), strict=True):
            own = ids[: next((n for n in range(len(ids)) if ids[n : n + len(end)] == end), 0)]
            first = self.vocabulary[own[0]] if own else ""
            continues = self.marker and not first.startswith(self.marker) and first[:1].isalnum()
            if text := "" if blank and continues else " ".join(self.tokenizer.decode(own, skip_special_tokens=True).split()):
                phrases[text] = max(_rounded(score), phrases.get(text, 0.0))
        return dict(sorted(phrases.items(), key=lambda item: -item[1]))


def _other_words(candidates: Mapping[str, float], request: FillRequest, top_k: int) -> Candidates:
    """Return the first ``top_k`` candidates that differ from the present words by more than casing."""
    return [(word, p) for word, p in candidates.items() if word.casefold() != request.original.casefold()][:top_k]


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
            found = found and _translated(found, model, tokenizer, self.beams)
        return found

    @torch.no_grad()
    def likelihood(self, text: str, target: str) -> float:
        """Return log P(target | text) per piece of the target, the best translation standing for all (§4.2); NaN for long texts."""
        (there, reading, _), (back, writing, _) = self.models
        foreign = _translated(text, there, reading, self.beams)
        ids = writing(foreign or "", return_tensors="pt", verbose=False).input_ids
        labels = writing(text_target=target, return_tensors="pt", verbose=False).input_ids
        if foreign is None or max(ids.shape[1], labels.shape[1]) > window_of(back, writing):
            return float("nan")
        return -float(back(input_ids=ids.to(back.device), labels=labels.to(back.device)).loss)


@torch.no_grad()
def _translated(text: str, model: Any, tokenizer: Any, beams: int) -> str | None:
    """Return the most likely translation of a text; None for a text beyond the window."""
    ids = tokenizer(text, return_tensors="pt", verbose=False).input_ids.to(model.device)
    window = window_of(model, tokenizer)
    if ids.shape[1] > window:
        return None
    limits = {"num_beams": beams, "do_sample": False, "max_length": None, "max_new_tokens": window - 1}
    produced = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), **limits)
    return str(tokenizer.decode(produced[0], skip_special_tokens=True)).strip()

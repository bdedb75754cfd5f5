"""Language models that fill gaps, from a local folder or from what is already on this machine of a hub; nothing is downloaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import AutoConfig, AutoModelForMaskedLM, AutoModelForSeq2SeqLM, AutoTokenizer

from rome.exceptions import InputError, ModelMissingError
from rome.features.analyser.identity import file_digest

__all__ = ["checkpoint_name", "config_and_tokenizer", "context", "frame", "load_language_model", "window_of"]

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
    """The configuration and the fast tokenizer of a checkpoint on this machine. wanted : what the user should give instead.

    Raises ModelMissingError, with the command that gets it, for a name that is not on this machine; InputError for a folder that
    holds no checkpoint.
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

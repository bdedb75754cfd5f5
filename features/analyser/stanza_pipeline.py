"""Stanza's pipeline, built from local files only and without a word on the terminal."""

from __future__ import annotations

import json
import logging
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rome.exceptions import ModelMissingError

from ..model_files import checked
from .memo import MemoisedTrunk
from .stanza_library import BertRecord, FoundationCache, Pipeline, ResourcesFileNotFoundError, utils

__all__ = ["MODELS", "embedded_pipeline", "package_pipeline", "quiet"]

TRUNK_NAME = "rome-trunk"
MODELS = {"tokenize": "tokenizer", "mwt": "mwt", "pos": "tagger", "lemma": "lemmatizer", "depparse": "parser"}
STUB = {"en": {"lang_name": "English", "default_processors": {}, "default_dependencies": {}}}


def _model_files(folder: Path | None) -> dict[str, Path]:
    """The file of each processor's model below a folder. Raises ModelMissingError naming the first that is absent or damaged."""
    paths = {processor: Path(folder or ".") / name / f"{name}.pt" for processor, name in MODELS.items()}
    for path in paths.values():
        if not path.is_file():
            raise ModelMissingError(f"{path} is missing: reinstall rome-metric, or run `rome train parser --out {folder}`")
        checked(path)
    return paths


def embedded_pipeline(folder: Path | None, trunk: MemoisedTrunk | None, tokenizer: Any, batch_size: int) -> Pipeline:
    """Stanza's pipeline over our own files; the trunk and its tokenizer are handed over in Stanza's cache.

    Raises ModelMissingError when a model's file is absent, ValueError without trunk or tokenizer.
    """
    paths = _model_files(folder)
    if trunk is None or tokenizer is None:
        raise ValueError("the embedded parser reads the encoder: give it the trunk and the tokenizer")
    cache = FoundationCache()
    cache.bert[TRUNK_NAME] = BertRecord(trunk, tokenizer, {})
    options = {f"{processor}_model_path": str(path) for processor, path in paths.items()}
    with tempfile.TemporaryDirectory() as stub, _without_optimizers():
        (Path(stub) / "resources.json").write_text(json.dumps(STUB))
        return _pipeline(stub, batch_size, allow_unknown_language=True, foundation_cache=cache, **options)


def package_pipeline(folder: Path, batch_size: int) -> Pipeline:
    """Stanza's own English package. Raises ModelMissingError when the directory does not hold it."""
    command = """python -c "import stanza; stanza.download('en')" """.strip()
    try:
        return _pipeline(str(folder), batch_size)
    except (FileNotFoundError, ResourcesFileNotFoundError, KeyError) as error:
        raise ModelMissingError(f"Stanza's English package is not complete in {folder}: get it with `{command}`") from error


def _pipeline(folder: str, batch_size: int, **options: Any) -> Pipeline:
    """A quiet pipeline of the five processors on the CPU that downloads nothing."""
    return Pipeline(
        "en",
        dir=folder,
        processors=",".join(MODELS),
        download_method=None,
        use_gpu=False,
        verbose=False,
        depparse_batch_size=batch_size,
        **options,
    )


@contextmanager
def _without_optimizers() -> Iterator[None]:
    """Stanza makes optimizers even where nothing is trained, and with them torch loads its compiler, longer than all models together.

    Only for the embedded models: those that train a transformer along could want theirs.
    """
    own = utils.get_optimizer, utils.get_split_optimizer
    utils.get_optimizer, utils.get_split_optimizer = (lambda *_, **__: None), (lambda *_, **__: {})
    try:
        yield
    finally:
        utils.get_optimizer, utils.get_split_optimizer = own


_QUIET = threading.Lock()
_levels: list[int] = []


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Stanza from logging below an error, and leave its logger as it was when the last of several threads is done."""
    logger = logging.getLogger("stanza")
    with _QUIET:
        _levels.append(logger.level)
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        with _QUIET:
            level = _levels.pop()
            if not _levels:
                logger.setLevel(level)

"""Stanza's pipeline, built from local files only and without a word on the terminal.

Of the embedded one tokenizer, expander and lemmatizer are Stanza's, trained by us; tags and trees come from the trunk's states and
enter as variants of Stanza's tagger and parser, in the way that Stanza has published for that.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stanza import Document, Pipeline
from stanza.models.common.doc import DEPREL, FEATS, HEAD, UPOS, XPOS
from stanza.pipeline.processor import ProcessorVariant, register_processor_variant
from stanza.resources.common import ResourcesFileNotFoundError

from rome.exceptions import ModelMissingError

from ..model_files import checked
from .tree_reader import Reading, TreeReader

__all__ = ["MODELS", "embedded_pipeline", "package_pipeline"]

PROCESSORS = ("tokenize", "mwt", "pos", "lemma", "depparse")
MODELS = {"tokenize": "tokenizer", "mwt": "mwt", "lemma": "lemmatizer"}
"""The processors that are Stanza's own, and the folder and file of each one's model."""
VARIANT = "rome"


class _FromStates(ProcessorVariant):
    """Fills columns of a document from the states of its sentences. config : holds the TreeReader as ``reader``."""

    OVERRIDE = True

    def __init__(self, config: dict[str, Any]) -> None:
        self.reader: TreeReader = config["reader"]

    def process(self, document: Document) -> Document:
        """Fill the columns of one document."""
        return self.bulk_process([document])[0]

    def bulk_process(self, documents: Sequence[Document]) -> Sequence[Document]:
        """Fill the columns of several documents, whose sentences are read together."""
        readings = iter(self.reader.read(documents))
        for document in documents:
            self.fill(document, [next(readings) for _ in document.sentences])
        return documents

    def fill(self, document: Document, readings: Sequence[Reading]) -> None:
        """Write what the readings of the document's sentences say."""
        raise NotImplementedError


@register_processor_variant("pos", VARIANT)
class TagsFromStates(_FromStates):
    """Parts of speech and morphological features."""

    def fill(self, document: Document, readings: Sequence[Reading]) -> None:
        """Write the three tags of every word."""
        tags = [tag for _, tree in readings for tag in zip(tree.upos, tree.xpos, tree.feats, strict=True)]
        document.set((UPOS, XPOS, FEATS), tags)


@register_processor_variant("depparse", VARIANT)
class TreesFromStates(_FromStates):
    """Dependency trees."""

    def fill(self, document: Document, readings: Sequence[Reading]) -> None:
        """Write head and relation of every word."""
        document.set((HEAD, DEPREL), [arc for _, tree in readings for arc in zip(tree.heads, tree.relations, strict=True)])
        for sentence in document.sentences:
            sentence.build_dependencies()


def _model_files(folder: Path) -> dict[str, Path]:
    """The file of each processor's model below a folder. Raises ModelMissingError naming the first that is absent or damaged."""
    paths = {processor: Path(folder) / name / f"{name}.pt" for processor, name in MODELS.items()}
    for path in paths.values():
        if not path.is_file():
            raise ModelMissingError(f"{path} is missing: reinstall rome-metric, or run `rome train parser --out {folder}`")
        checked(path)
    return paths


def embedded_pipeline(folder: Path, reader: TreeReader) -> Pipeline:
    """Stanza's pipeline over a model set's folder; tags and trees are the reader's.

    Raises ModelMissingError when a model's file is absent.
    """
    options: dict[str, Any] = {f"{processor}_model_path": str(path) for processor, path in _model_files(folder).items()}
    for processor in PROCESSORS:
        if processor not in MODELS:
            options |= {f"{processor}_with_{VARIANT}": True, f"{processor}_reader": reader}
    with tempfile.TemporaryDirectory() as stub:
        (Path(stub) / "resources.json").write_text("{}")
        return _pipeline(stub, allow_unknown_language=True, **options)


def package_pipeline(folder: Path) -> Pipeline:
    """Stanza's own English package. Raises ModelMissingError when the directory does not hold it."""
    command = """python -c "import stanza; stanza.download('en')" """.strip()
    try:
        return _pipeline(str(folder))
    except (FileNotFoundError, ResourcesFileNotFoundError, KeyError) as error:
        raise ModelMissingError(f"Stanza's English package is not complete in {folder}: get it with `{command}`") from error


def _pipeline(folder: str, **options: Any) -> Pipeline:
    """A quiet pipeline of the five processors on the CPU that downloads nothing."""
    named = {"processors": ",".join(PROCESSORS), "download_method": None, "use_gpu": False, "logging_level": "CRITICAL"}
    return Pipeline("en", dir=folder, **named, **options)

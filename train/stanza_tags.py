"""A treebank with a tagger's tags in place of the annotators': what the parser will meet when nobody tags for it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import stanza
import torch
from stanza.models.common.foundation_cache import BertRecord, FoundationCache
from stanza.utils.conll import CoNLL

from rome.features.analyser.stanza_pipeline import STUB, TRUNK_NAME

__all__ = ["retag"]


def retag(source: Path, target: Path, tagger: Path, trunk: Any, pieces: Any) -> None:
    """Write a CoNLL-U file again with the tags and features of a Stanza tagger; words, lemmas and trees stay.

    trunk, pieces : the transformer and tokenizer that the tagger was trained on.
    """
    cache = FoundationCache()
    cache.bert[TRUNK_NAME] = BertRecord(trunk, pieces, {})
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "resources.json").write_text(json.dumps(STUB))
        pipeline = stanza.Pipeline(
            "en",
            dir=folder,
            processors="tokenize,pos",
            tokenize_pretokenized=True,
            pos_model_path=str(tagger),
            download_method=None,
            allow_unknown_language=True,
            foundation_cache=cache,
            use_gpu=False,
            verbose=False,
        )
    document = CoNLL.conll2doc(str(source))
    with torch.no_grad():
        document = pipeline.processors["pos"].process(document)
    CoNLL.write_doc2conll(document, str(target))

"""What RoMe takes from Stanza, whose own import would bring along a model library, a graph library and a client for the network."""

from __future__ import annotations

from ..lean_imports import deferred, folder_alone

with folder_alone("udtools"), deferred("transformers", "networkx", "requests", "emoji", hidden=("IPython",)):
    from stanza import Pipeline
    from stanza.models.common import utils
    from stanza.models.common.doc import DEPREL, HEAD, ID, MISC, TEXT, UPOS, Document
    from stanza.models.common.foundation_cache import BertRecord, FoundationCache
    from stanza.models.common.seq2seq_constant import EOS, SOS
    from stanza.models.common.utils import EXCLAM_RE, QUESTION_RE, unsort
    from stanza.models.common.vocab import ROOT_ID, VOCAB_PREFIX_SIZE, CompositeVocab
    from stanza.models.depparse.data import DataLoader
    from stanza.models.depparse.trainer import unpack_batch
    from stanza.models.tokenization.data import NEWLINE_WHITESPACE_RE, WHITESPACE_RE
    from stanza.models.tokenization.utils import MASK_RE, update_pred_regex
    from stanza.resources.common import ResourcesFileNotFoundError

__all__ = [
    "DEPREL",
    "EOS",
    "EXCLAM_RE",
    "HEAD",
    "ID",
    "MASK_RE",
    "MISC",
    "NEWLINE_WHITESPACE_RE",
    "QUESTION_RE",
    "ROOT_ID",
    "SOS",
    "TEXT",
    "UPOS",
    "VOCAB_PREFIX_SIZE",
    "WHITESPACE_RE",
    "BertRecord",
    "CompositeVocab",
    "DataLoader",
    "Document",
    "FoundationCache",
    "Pipeline",
    "ResourcesFileNotFoundError",
    "unpack_batch",
    "unsort",
    "utils",
    "update_pred_regex",
]

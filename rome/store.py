"""Analyses on disk, so that a text that was analysed once never meets the models again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from rome.features.values import Analysis
from rome.packing import pack, unpack
from rome.sqlite_file import KeyValueFile

__all__ = ["AnalysisStore"]


class AnalysisStore(KeyValueFile):
    """A SQLite file of analyses, keyed by text and model identity; several processes and threads may share it.

    path : the file; it is made when it is missing, its folder is not.

    Nothing is pickled. What is damaged counts as missing, so it is computed and written again. A store is only a memory: it may be
    deleted when no process uses it.

    Raises StoreError, with a remedy, when the file cannot be opened, read or written or is not such a store.

    >>> with AnalysisStore("analyses.sqlite") as store:           # doctest: +SKIP
    ...     known = store.get_many(["A cat sat."], identity="embedded-en-1")
    """

    TABLE = "analyses"
    APPLICATION_ID = 0x526F4D65  # "RoMe"

    def get_many(self, texts: Iterable[str], *, identity: str) -> dict[str, Analysis]:
        """The analyses known for these texts under this model identity; unknown and damaged ones are simply absent."""
        wanted = {_key(text, identity): text for text in texts}
        return {wanted[key]: unpack(wanted[key], row) for key, row in self.read(list(wanted))}

    def put_many(self, analyses: Iterable[Analysis], *, identity: str) -> None:
        """Keep these analyses under this model identity, all or none; a text that is known already is overwritten."""
        self.write([(_key(analysis.text, identity), pack(analysis)) for analysis in analyses])


def _key(text: str, identity: str) -> bytes:
    """24 bytes that stand for a text under a model identity."""
    digest = hashlib.blake2b(identity.encode("utf-8"), digest_size=24)
    digest.update(b"\0")
    digest.update(text.encode("utf-8"))
    return digest.digest()

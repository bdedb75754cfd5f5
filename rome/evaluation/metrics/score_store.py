"""Scores on disk: what one metric said of one pair is computed once, so that a run resumes and the next one takes seconds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rome.storage.sqlite_file import KeyValueFile

__all__ = ["ScoreStore", "TextPair"]

TextPair = tuple[str, str]
"""Reference and hypothesis."""


class ScoreStore(KeyValueFile):
    """A SQLite file of float64 rows, keyed by a metric's signature, the reference and the hypothesis; processes may share it.

    Raises StoreError as its base does.
    """

    TABLE = "scores"
    APPLICATION_ID = 0x526F4D53  # "RoMS"

    def get_many(self, signature: str, pairs: Sequence[TextPair], width: int) -> dict[TextPair, NDArray[np.float64]]:
        """The rows of `width` numbers known for these pairs; a row of another length or with a number that is not finite is absent."""
        wanted = {_key(signature, pair): pair for pair in pairs}
        found = {}
        for key, value in self.read(list(wanted)):
            row = np.frombuffer(value, dtype="<f8") if len(value) == 8 * width else np.empty(0)
            if len(row) == width and np.isfinite(row).all():
                found[wanted[key]] = row
        return found

    def put_many(self, signature: str, rows: Mapping[TextPair, NDArray[np.float64]]) -> None:
        """Keep these rows, all or none."""
        self.write([(_key(signature, pair), np.asarray(row, dtype="<f8").tobytes()) for pair, row in rows.items()])


def _key(signature: str, pair: TextPair) -> bytes:
    """20 bytes that stand for a pair under a signature; lengths are part of it, so texts cannot run into each other."""
    parts = [part.encode("utf-8") for part in (signature, *pair)]
    digest = hashlib.blake2b(b"%d %d\0" % (len(parts[0]), len(parts[1])), digest_size=20)
    for part in parts:
        digest.update(part)
    return digest.digest()

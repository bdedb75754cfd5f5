"""Analyses on disk, so that a text that was analysed once never meets the models again.

The bytes of one: ``header size (4, little endian) | header (zlib of UTF-8 JSON) | vectors | word probabilities | states``. An array is
written as float16 when that loses nothing (the analyser rounds its vectors so), otherwise as float32.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rome.features.values import Analysis, Sentence, Word
from rome.storage.sqlite_file import KeyValueFile

_SIZE = struct.Struct("<I")
_DTYPES: dict[str, np.dtype[Any]] = {"2": np.dtype("<f2"), "4": np.dtype("<f4")}
_WORD_COLUMNS = ("text", "lemma", "upos", "xpos", "feats", "head", "relation", "start", "end", "sentence")


class AnalysisStore(KeyValueFile):
    """A SQLite file of analyses, keyed by text and model identity; several processes and threads may share it.

    Nothing is pickled. What is damaged counts as missing, so it is computed and written again. A store is only a memory: it may be
    deleted when no process uses it.

    Raises StoreError, with a remedy, when the file cannot be opened, read or written or is not such a store.

    Parameters
    ----------
    path
        The file; it is made when it is missing, its folder is not.

    Examples
    --------
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


def pack(analysis: Analysis) -> bytes:
    """The analysis as bytes, all but its text, which is the key of the row."""
    vectors, vectors_kind = _shrink(analysis.vectors)
    probabilities, probabilities_kind = _shrink(analysis.word_probabilities)
    header = {
        "words": [[getattr(word, column) for word in analysis.words] for column in _WORD_COLUMNS],
        "sentences": [[sentence.start, sentence.end, sentence.acceptability_probability] for sentence in analysis.sentences],
        "shape": list(analysis.vectors.shape),
        "states": list(analysis.states.shape),
        "kinds": vectors_kind + probabilities_kind,
    }
    compressed = zlib.compress(json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8"), 6)
    return (
        _SIZE.pack(len(compressed))
        + compressed
        + vectors.tobytes()
        + probabilities.tobytes()
        + analysis.states.astype(_DTYPES["2"]).tobytes()
    )


def unpack(text: str, body: bytes) -> Analysis:
    """The analysis of a text from the bytes that pack made of it; whoever kept them has verified their checksum."""
    (size,) = _SIZE.unpack_from(body)
    arrays = _SIZE.size + size
    header: dict[str, Any] = json.loads(zlib.decompress(body[_SIZE.size : arrays]))
    count, width = header["shape"]
    rows, depth = header["states"]
    vectors, end = _grow(body, arrays, header["kinds"][0], count * width)
    probabilities, end = _grow(body, end, header["kinds"][1], count)
    states = np.frombuffer(body, _DTYPES["2"], rows * depth, end).astype(np.float16)
    return Analysis(
        text=text,
        sentences=tuple(Sentence(*row) for row in header["sentences"]),
        words=tuple(Word(*row) for row in zip(*header["words"], strict=True)),
        vectors=vectors.reshape(count, width),
        word_probabilities=probabilities,
        states=states.reshape(rows, depth),
    )


def _shrink(array: NDArray[np.float32]) -> tuple[NDArray[Any], str]:
    """The array in the smaller of two types that holds it exactly."""
    with np.errstate(over="ignore"):
        half = array.astype(_DTYPES["2"])
    if np.array_equal(half.astype(np.float32), array, equal_nan=True):
        return half, "2"
    return array.astype(_DTYPES["4"]), "4"


def _grow(body: bytes, start: int, kind: str, count: int) -> tuple[NDArray[np.float32], int]:
    """Read `count` numbers from `start` as float32; also where they end."""
    dtype = _DTYPES[kind]
    array = np.frombuffer(body, dtype, count, start).astype(np.float32)
    return array, start + count * dtype.itemsize

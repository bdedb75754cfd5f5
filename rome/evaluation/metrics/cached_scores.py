"""Numbers of text pairs, each distinct pair computed once: from memory, from a file of scores, or by a function, block by block."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rome.evaluation.metrics.functions import References, Scores
from rome.exceptions import InputError
from rome.progress import progress_bar
from rome.storage.analysis_store import KeyValueFile
from rome.text_table import shorten

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


BLOCK = 256


class CachedScores:
    """`width` numbers for each pair of reference and hypothesis.

    Parameters
    ----------
    signature
        What the stored numbers belong to.
    function
        (pairs) -> (n, width), or (n,) when width is 1.
    store
        Where numbers are kept between runs, or None.
    progress
        True, False, or None for a bar when stderr is a terminal.
    """

    def __init__(
        self,
        signature: str,
        function: Callable[[Sequence[TextPair]], ArrayLike],
        *,
        width: int = 1,
        store: ScoreStore | None = None,
        progress: bool | None = None,
        label: str = "",
    ) -> None:
        self.signature, self.function, self.width, self.store = signature, function, width, store
        self.progress, self.label = progress, label or signature.partition("|")[0]
        self._memory: dict[TextPair, NDArray[np.float64]] = {}

    def of(self, pairs: Sequence[TextPair]) -> NDArray[np.float64]:
        """(n, width) float64; what was computed before an interruption is in the store.

        Raises InputError when the function gives another number of rows or a number that is not finite, naming the pair.
        """
        wanted = [pair for pair in dict.fromkeys(pairs) if pair not in self._memory]
        if self.store is not None and wanted:
            self._memory |= self.store.get_many(self.signature, wanted, self.width)
            wanted = [pair for pair in wanted if pair not in self._memory]
        with progress_bar(self.progress, len(wanted), unit="pair", desc=self.label) as bar:
            for start in range(0, len(wanted), BLOCK):
                block = wanted[start : start + BLOCK]
                rows = dict(zip(block, self._computed(block), strict=True))
                if self.store is not None:
                    self.store.put_many(self.signature, rows)
                self._memory |= rows
                bar.update(len(block))
        return np.array([self._memory[pair] for pair in pairs], dtype=np.float64).reshape(-1, self.width)

    def _computed(self, block: Sequence[TextPair]) -> NDArray[np.float64]:
        """The function's rows for one block, checked."""
        rows = np.asarray(self.function(block), dtype=np.float64)
        if rows.size != len(block) * self.width:
            raise InputError(f"{self.label} gave {rows.shape} numbers for {len(block)} pairs: return one score a pair")
        rows = rows.reshape(len(block), self.width)
        wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        if len(wrong):
            reference, hypothesis = block[int(wrong[0])]
            raise InputError(
                f"{self.label} gave {rows[wrong[0]].tolist()} for the hypothesis {shorten(hypothesis, 60)!r} and the reference "
                f"{shorten(reference, 60)!r}: return a finite number for every pair"
            )
        return rows


def candidates(references: References, hypotheses: Sequence[str]) -> tuple[list[TextPair], NDArray[np.int64]]:
    """Every reference of every segment with its hypothesis, and (n,) where each segment's candidates begin.

    Raises InputError for unequal lengths, a bare string among the references, or a segment without reference.
    """
    if len(references) != len(hypotheses):
        raise InputError(f"{len(references)} lists of references and {len(hypotheses)} hypotheses: give one list a hypothesis")
    pairs: list[TextPair] = []
    starts = []
    for number, (row, hypothesis) in enumerate(zip(references, hypotheses, strict=True)):
        if isinstance(row, str) or not row:
            raise InputError(f"references[{number}] is {'a bare text' if row else 'empty'}: give a list of at least one text")
        starts.append(len(pairs))
        pairs += [(reference, hypothesis) for reference in row]
    return pairs, np.array(starts, dtype=np.int64)


class BestReferenceMetric:
    """A metric of one reference and one hypothesis; with several references a segment gets its best one."""

    def __init__(self, name: str, values: CachedScores) -> None:
        self.name, self.values = name, values

    @property
    def signature(self) -> str:
        """The signature of the values, and that the best reference counts."""
        return f"{self.values.signature}|references:best"

    def score(self, references: References, hypotheses: Sequence[str]) -> Scores:
        """(n,) float64, the best reference's score of each hypothesis."""
        pairs, starts = candidates(references, hypotheses)
        if not pairs:
            return np.zeros(0)
        return np.asarray(np.maximum.reduceat(self.values.of(pairs)[:, 0], starts))

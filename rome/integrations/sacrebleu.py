"""Format signatures as sacreBLEU does: printed beside the score, with the number of references and the version."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from rome.features.values import FEATURES
from rome.results import CorpusScore


def format_signature(result: CorpusScore, *, references: Sequence[str | Sequence[str]] | None = None) -> str:
    """Return the result's signature as ``nrefs:1|features:2|...|net:...|version:...``. Equal strings mean comparable numbers.

    Parameters
    ----------
    references
        The scored references, for ``nrefs`` (``var`` where segments differ); without them the key is omitted.
    """
    parts = [] if references is None else [f"nrefs:{_count(references)}"]
    return "|".join([*parts, result.signature, f"version:{version('rome-metric')}"])


def format_score(result: CorpusScore, *, references: Sequence[str | Sequence[str]] | None = None, width: int = 4) -> str:
    """Return ``RoMe|<signature> = <score> <semantic>/<syntax>/<grammar>/<errors>`` for a paper or a log, with ``width`` decimals."""
    parts = "/".join(f"{value:.{width}f}" for _, value in zip(FEATURES, result.components, strict=True))
    return f"RoMe|{format_signature(result, references=references)} = {result.score:.{width}f} {parts}"


def _count(references: Sequence[str | Sequence[str]]) -> str:
    """Return the number of references of each segment, ``var`` where it differs."""
    counts = {1 if isinstance(given, str) else len(given) for given in references}
    return str(counts.pop()) if len(counts) == 1 else "var"

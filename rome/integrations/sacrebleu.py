"""Format signatures as sacreBLEU does: printed beside the score, long or short, with the number of references and the version."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from rome.exceptions import InputError
from rome.features.values import FEATURES
from rome.results import CorpusScore

SHORT = {
    "nrefs": "#",
    "features": "f",
    "models": "m",
    "idf": "i",
    "emd": "w",
    "delta": "d",
    "rho": "r",
    "penalty": "p",
    "coverage": "co",
    "theta": "th",
    "syntax": "sx",
    "grammar": "g",
    "errors": "er",
    "device": "on",
    "precision": "pr",
    "scorer": "sc",
    "net": "n",
    "version": "v",
}
"""The short name of each key. ``#`` and ``v`` are sacreBLEU's own; no other letter of sacreBLEU is used (t is its test set)."""


def parse_signature(signature: str) -> dict[str, str]:
    """Return the keys and values of ``key:value|key:value`` in order, with long keys. Raises InputError for anything else."""
    long = {short: name for name, short in SHORT.items()}
    parts = [part.partition(":") for part in signature.split("|") if part]
    broken = next(("".join(part) for part in parts if not part[0] or not part[1]), None)
    if broken is not None:
        raise InputError(f"signature must be key:value|key:value, got the part {broken!r}")
    return {long.get(key, key): value for key, _, value in parts}


def format_signature(
    result: CorpusScore, *, references: Sequence[str | Sequence[str]] | None = None, short: bool = False
) -> str:
    """Return the result's signature as ``nrefs:1|features:2|...|net:...|version:...``. Equal strings mean comparable numbers.

    Parameters
    ----------
    references
        The scored references, for ``nrefs`` (``var`` where segments differ); without them the key is omitted.
    short
        Use one or two letters per key.
    """
    parts = {} if references is None else {"nrefs": reference_count(references)}
    parts |= parse_signature(result.signature) | {"version": version("rome-metric")}
    return "|".join(f"{SHORT.get(key, key) if short else key}:{value}" for key, value in parts.items())


def format_score(
    result: CorpusScore, *, references: Sequence[str | Sequence[str]] | None = None, short: bool = False, width: int = 4
) -> str:
    """Return ``RoMe|<signature> = <score> <semantic>/<syntax>/<grammar>/<errors>`` for a paper or a log, with ``width`` decimals."""
    parts = "/".join(f"{value:.{width}f}" for _, value in zip(FEATURES, result.components, strict=True))
    return f"RoMe|{format_signature(result, references=references, short=short)} = {result.score:.{width}f} {parts}"


def reference_count(references: Sequence[str | Sequence[str]]) -> str:
    """Return the number of references of each segment, ``var`` where it differs. Raises InputError for no segment."""
    counts = {1 if isinstance(given, str) else len(given) for given in references}
    if not counts:
        raise InputError("references must contain the scored references, got none")
    return str(counts.pop()) if len(counts) == 1 else "var"

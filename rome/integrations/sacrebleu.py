"""What users of sacreBLEU look for: a signature that is printed beside the score, long or short, with the number of references and the version."""

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
"""The short name of each key; ``#`` and ``v`` are sacreBLEU's own, and its other letters keep their meaning there (t is the test set)."""


def parse_signature(signature: str) -> dict[str, str]:
    """The keys and values of ``key:value|key:value``, in order, of either length; short keys come back long. Empty gives empty.

    Raises InputError for what is no signature.
    """
    long = {short: name for name, short in SHORT.items()}
    parts = [part.partition(":") for part in signature.split("|") if part]
    broken = next(("".join(part) for part in parts if not part[0] or not part[1]), None)
    if broken is not None:
        raise InputError(f"{broken!r} is no part of a signature: give key:value|key:value")
    return {long.get(key, key): value for key, _, value in parts}


def format_signature(
    result: CorpusScore, *, references: Sequence[str | Sequence[str]] | None = None, short: bool = False
) -> str:
    """``nrefs:1|features:2|...|net:...|version:...``: the result's signature as sacreBLEU prints its own.

    Parameters
    ----------
    references
        Those that were scored, for ``nrefs`` (``var`` where segments differ); a result does not keep them, and without them the key is left
        out.
    short
        One or two letters a key, same values. Equal strings mean comparable numbers.
    """
    parts = {} if references is None else {"nrefs": reference_count(references)}
    parts |= parse_signature(result.signature) | {"version": version("rome-metric")}
    return "|".join(f"{SHORT.get(key, key) if short else key}:{value}" for key, value in parts.items())


def format_score(
    result: CorpusScore, *, references: Sequence[str | Sequence[str]] | None = None, short: bool = False, width: int = 4
) -> str:
    """One line for a paper or a log: ``RoMe|<signature> = <score> <semantic>/<syntax>/<grammar>/<errors>``, ``width`` decimals."""
    parts = "/".join(f"{value:.{width}f}" for _, value in zip(FEATURES, result.components, strict=True))
    return f"RoMe|{format_signature(result, references=references, short=short)} = {result.score:.{width}f} {parts}"


def reference_count(references: Sequence[str | Sequence[str]]) -> str:
    """How many references each segment has: a number, or ``var``. Raises InputError for none."""
    counts = {1 if isinstance(given, str) else len(given) for given in references}
    if not counts:
        raise InputError("references is empty: give those that were scored")
    return str(counts.pop()) if len(counts) == 1 else "var"

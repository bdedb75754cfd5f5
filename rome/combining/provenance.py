"""What says that a score is supervised: on whose ratings its net was fitted, in signatures, results and tables.

The label follows the net: whatever `rome train scorer --ratings` wrote carries it, wherever it is loaded.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

__all__ = [
    "SCORERS",
    "RatedSource",
    "Scorer",
    "differing_keys",
    "fitted_on",
    "labels",
    "outputs_digest",
    "signature_part",
    "supervision_note",
]

Scorer = Literal["unsupervised", "supervised"]
SCORERS: dict[str, str] = {"unsupervised": "scorer", "supervised": "scorer-supervised"}
"""Each embedded net by the folder of its model."""

_MARK = "scorer:supervised."


class RatedSource(NamedTuple):
    """A rated set that a net was fitted on.

    name : what the set is called. outputs : `outputs_digest` of its hypotheses, so that it is known under another name too.
    """

    name: str
    outputs: str


def outputs_digest(hypotheses: Iterable[str]) -> str:
    """16 hexadecimal digits of the distinct texts, whatever their order; references and ratings do not count."""
    found = hashlib.blake2b(digest_size=8)
    for text in sorted(set(hypotheses)):
        found.update(text.encode("utf-8") + b"\0")
    return found.hexdigest()


def signature_part(sources: Sequence[RatedSource]) -> str:
    """What stands before ``net:`` in a signature: ``scorer:supervised.NAME+NAME|``; nothing for an unsupervised net."""
    names = "+".join(re.sub(r"[^\w.-]+", "_", source.name) for source in sources)
    return f"{_MARK}{names}|" if sources else ""


def fitted_on(signature: str) -> tuple[str, ...]:
    """The rated sets that the net of a score's signature was fitted on; empty for an unsupervised score."""
    parts = [part for part in signature.split("|") if part.startswith(_MARK)]
    return tuple(parts[0].removeprefix(_MARK).split("+")) if parts else ()


def supervision_note(signature: str) -> str:
    """``supervised: fitted on human ratings (NAME, NAME)``; nothing for an unsupervised score."""
    names = fitted_on(signature)
    return f"supervised: fitted on human ratings ({', '.join(names)})" if names else ""


def labels(signature: str) -> dict[str, Any]:
    """What a supervised score's dictionary holds beside the others: ``scorer`` and ``fitted_on``; empty for an unsupervised score."""
    names = fitted_on(signature)
    return {"scorer": "supervised", "fitted_on": list(names)} if names else {}


def differing_keys(one: str, other: str, names: Sequence[str]) -> list[str]:
    """What differs between two signatures ``key:value|key:value``, as ``key: value in NAME, value in NAME``."""
    left, right = (dict(part.partition(":")[::2] for part in text.split("|") if part) for text in (one, other))
    keys = [key for key in dict.fromkeys([*left, *right]) if left.get(key) != right.get(key)]
    return [f"{key}: {left.get(key, 'absent')} in {names[0]}, {right.get(key, 'absent')} in {names[1]}" for key in keys]

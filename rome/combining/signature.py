"""Signatures: every choice that changes a number, as ``key:value|key:value``, and the rated sets behind a supervised net.

A file that `rome train scorer --ratings` wrote names its rated sets, so every score of that net does.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from rome.exceptions import SignatureMismatchError

if TYPE_CHECKING:
    from rome.features.errors.evidence import ErrorsConfig
    from rome.features.grammar import GrammarConfig
    from rome.features.semantic import SemanticConfig
    from rome.features.syntax import SyntaxConfig

    Configs = tuple[SemanticConfig, SyntaxConfig, GrammarConfig, ErrorsConfig]

SCORERS: dict[str, str] = {"unsupervised": "scorer", "supervised": "scorer-supervised"}
"""The folder of each embedded net."""
_MARK = "scorer:supervised."


def digest(text: str) -> str:
    """Return eight hexadecimal digits that change when the text does."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=4).hexdigest()


def feature_signature(name: str, models: str, idf: str, configs: Configs) -> str:
    """Return the signature of the four features: the models of the analyses, and every setting of every feature.

    Parameters
    ----------
    name
        Of the model set, with ``+`` and the parts of it that other models replace.
    models
        The analyser's identity, without the arithmetic of this machine.
    idf
        The name of the IDF table.
    """
    semantic, syntax, grammar, errors = configs
    trees = {name: value for name, value in asdict(syntax).items() if name != "distance"}  # whose choices give equal numbers
    parts = {
        "features": "10",
        "models": f"{name}.{digest(models)}",
        "idf": idf,
        "emd": semantic.emd,
        **{name: _number(getattr(semantic, name)) for name in ("delta", "rho", "penalty", "coverage")},
        "theta": _number(syntax.theta),
        "syntax": digest(json.dumps(trees, sort_keys=True)),
        "grammar": digest(json.dumps(asdict(grammar), sort_keys=True)),
        "errors": digest(json.dumps(asdict(errors), sort_keys=True)),
    }
    if semantic.position != "complement":
        parts["position"] = semantic.position
    if syntax.distance != "compiled":
        parts["ted"] = syntax.distance
    return "|".join(f"{key}:{value}" for key, value in parts.items())


def _number(value: float) -> str:
    """Return a number with six digits, or with all where it has more."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def without_arithmetic(signature: str) -> str:
    """Return the signature without device and precision, which change numbers by rounding only."""
    return "|".join(part for part in signature.split("|") if not part.startswith(("device:", "precision:")))


class RatedSource(NamedTuple):
    """A rated set that a net was fitted on.

    Attributes
    ----------
    name
        The name of the set.
    outputs
        `outputs_digest` of its hypotheses, so that it is recognised under another name, too.
    """

    name: str
    outputs: str


def outputs_digest(hypotheses: Iterable[str]) -> str:
    """Return 16 hexadecimal digits of the distinct texts in any order; references and ratings do not count."""
    content = b"".join(text.encode("utf-8") + b"\0" for text in sorted(set(hypotheses)))
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def signature_part(sources: Sequence[RatedSource]) -> str:
    """Return the part of a signature before ``net:``, ``scorer:supervised.NAME+NAME|``; empty for an unsupervised net."""
    names = "+".join(re.sub(r"[^\w.-]+", "_", source.name) for source in sources)
    return f"{_MARK}{names}|" if sources else ""


def fitted_on(signature: str) -> tuple[str, ...]:
    """Return the rated sets that the net of a score's signature was fitted on; empty for an unsupervised score."""
    parts = [part for part in signature.split("|") if part.startswith(_MARK)]
    return tuple(parts[0].removeprefix(_MARK).split("+")) if parts else ()


def supervision_note(signature: str) -> str:
    """Return ``supervised: fitted on human ratings (NAME, NAME)``; nothing for an unsupervised score."""
    names = fitted_on(signature)
    return f"supervised: fitted on human ratings ({', '.join(names)})" if names else ""


def labels(signature: str) -> dict[str, Any]:
    """Return the entries ``scorer`` and ``fitted_on`` of a supervised score's dictionary; empty for an unsupervised score."""
    names = fitted_on(signature)
    return {"scorer": "supervised", "fitted_on": list(names)} if names else {}


def differing_keys(one: str, other: str, names: Sequence[str]) -> list[str]:
    """List the differences of two signatures ``key:value|key:value`` as ``key: value in NAME, value in NAME``."""
    left, right = (dict(part.partition(":")[::2] for part in text.split("|") if part) for text in (one, other))
    keys = [key for key in dict.fromkeys([*left, *right]) if left.get(key) != right.get(key)]
    return [f"{key}: {left.get(key, 'absent')} in {names[0]}, {right.get(key, 'absent')} in {names[1]}" for key in keys]


def check_same_signature(one: str, other: str, names: Sequence[str]) -> None:
    """Raise SignatureMismatchError, naming the keys that differ, unless two scores have one signature."""
    if one != other:
        keys = "; ".join(differing_keys(one, other, names))
        raise SignatureMismatchError(f"{names[0]} and {names[1]} were scored in two ways ({keys}): score both with one metric")

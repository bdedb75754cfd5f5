"""Signatures: every choice that changes a number, as ``key:value|key:value``."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any

from rome.features.errors.estimator import ErrorsConfig
from rome.features.grammar import GrammarConfig
from rome.features.semantic import SemanticConfig
from rome.features.syntax import SyntaxConfig
from rome.features.values import FEATURES

__all__ = ["digest", "feature_signature"]


def digest(text: str) -> str:
    """Eight hexadecimal digits that change when the text does."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=4).hexdigest()


def feature_signature(
    name: str,
    models: str,
    idf: str,
    semantic: SemanticConfig,
    syntax: SyntaxConfig,
    grammar: GrammarConfig,
    errors: ErrorsConfig,
    *others: Any,
) -> str:
    """The signature of the four features: which models made the analyses, and every setting of every feature.

    name : of the model set, with ``+`` and what of it was replaced by other models. models : the analyser's identity, without the
    arithmetic of this machine. idf : the name of the IDF table.
    """
    parts = {
        "features": "4",
        "models": f"{name}.{digest(models)}",
        "idf": idf,
        "emd": semantic.emd,
        "delta": f"{semantic.delta:g}",
        "rho": f"{semantic.rho:g}",
        "penalty": f"{semantic.penalty:g}",
        "theta": f"{syntax.theta:g}",
        "syntax": digest(json.dumps(_settings(syntax), sort_keys=True)),
        "grammar": digest(json.dumps(asdict(grammar), sort_keys=True)),
        "errors": f"{errors.estimator}." + digest(json.dumps(asdict(errors), sort_keys=True)),
    }
    parts |= {
        name: digest(json.dumps(asdict(config), sort_keys=True)) for name, config in zip(FEATURES[4:], others, strict=True)
    }
    if syntax.distance != "compiled":
        parts["ted"] = syntax.distance
    return "|".join(f"{key}:{value}" for key, value in parts.items())


def _settings(syntax: SyntaxConfig) -> dict[str, object]:
    """All but the distance, which is named apart where it is not the default: both give the same numbers."""
    return {name: value for name, value in asdict(syntax).items() if name != "distance"}

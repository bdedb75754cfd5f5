"""The settings of the four features: what a model set says, what its encoder was replaced with, what the caller asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from rome.exceptions import InputError
from rome.features.analyser.config import SETS, ModelConfig
from rome.features.analyser.identity import file_digest
from rome.features.analyser.model_set import ModelSet
from rome.features.errors.estimator import ErrorsConfig
from rome.features.grammar import GrammarConfig
from rome.features.protocol import feature_class
from rome.features.semantic import Emd, SemanticConfig
from rome.features.syntax import SyntaxConfig
from rome.features.values import FEATURES

__all__ = ["Configs", "Estimator", "feature_configs"]

Configs = tuple[Any, ...]
Estimator = Literal["learned", "edit-script"]
FOREIGN: dict[str, dict[str, Any]] = {"semantic": {"delta": 0.6}, "syntax": {"theta": 0.65}, "errors": {}}
"""With another encoder than the set's own, in the place of what was found for that one's vectors."""


def feature_configs(
    models: ModelConfig, own: ModelSet, *, emd: Emd = "soft", rho: float | None = None, errors: Estimator | None = None
) -> Configs:
    """The configurations of semantic, syntax, grammar and errors.

    With another encoder a set that the package carries gives way to FOREIGN; what a set of the user's own says holds with any. rho, errors :
    as in RoMe. Raises InputError for a rho that is no share and for errors="learned" without a head or with vectors it does not know,
    ModelMissingError for a setting that this version does not know.
    """
    foreign = "encoder" in models.foreign
    estimator = errors or ("edit-script" if foreign or not own.has("errors") else "learned")
    if estimator == "learned" and foreign:
        raise InputError(
            'errors="learned" reads the states of the set\'s own encoder: choose errors="edit-script" with another'
        )
    if estimator == "learned" and not own.has("errors"):
        raise InputError(f'the model set {own.name} has no head for errors="learned": choose errors="edit-script"')
    if foreign:
        own = replace(own, settings={**own.settings, **FOREIGN} if models.set in SETS else {**FOREIGN, **own.settings})
    semantic = replace(own.settled("semantic", SemanticConfig()), emd=emd)
    return (
        semantic if rho is None else replace(semantic, rho=rho),
        own.settled("syntax", SyntaxConfig()),
        own.settled("grammar", GrammarConfig()),
        replace(
            own.settled("errors", ErrorsConfig()),
            estimator=estimator,
            head=file_digest(own.folder / "errors") if estimator == "learned" else "",
        ),
        *(own.settled(name, feature_class(name).config_class()) for name in FEATURES[4:]),
    )

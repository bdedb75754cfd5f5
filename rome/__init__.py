"""RoMe: a reference-based metric for generated English text that says why.

>>> from rome import RoMe                                                   # doctest: +SKIP
>>> RoMe().score(references=["A cat sat."], hypotheses=["A cat sits."])     # doctest: +SKIP

Every name is loaded at its first use, so `import rome` is fast and combining stored features needs no model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rome.combining.combiner import Combiner as Combiner
    from rome.combining.table import FeatureTable as FeatureTable
    from rome.evaluation.judging import diagnose as diagnose
    from rome.evaluation.judging import evaluate as evaluate
    from rome.exceptions import InputError as InputError
    from rome.exceptions import ModelMissingError as ModelMissingError
    from rome.exceptions import RomeError as RomeError
    from rome.exceptions import SignatureMismatchError as SignatureMismatchError
    from rome.exceptions import StoreError as StoreError
    from rome.features.analyser.config import ModelConfig as ModelConfig
    from rome.features.errors.evidence import ErrorsConfig as ErrorsConfig
    from rome.features.grammar import GrammarConfig as GrammarConfig
    from rome.features.semantic import SemanticConfig as SemanticConfig
    from rome.features.syntax import SyntaxConfig as SyntaxConfig
    from rome.metric import RoMe as RoMe
    from rome.results import CorpusScore as CorpusScore
    from rome.results import SegmentScore as SegmentScore
    from rome.results.comparison import Comparison as Comparison
    from rome.results.comparison import compare as compare
    from rome.self_check import selfcheck as selfcheck
    from rome.storage.analysis_store import AnalysisStore as AnalysisStore

_HOME = {
    "rome.combining.combiner": ("Combiner",),
    "rome.combining.table": ("FeatureTable",),
    "rome.evaluation.judging": ("diagnose", "evaluate"),
    "rome.exceptions": ("InputError", "ModelMissingError", "RomeError", "SignatureMismatchError", "StoreError"),
    "rome.features.analyser.config": ("ModelConfig",),
    "rome.features.errors.evidence": ("ErrorsConfig",),
    "rome.features.grammar": ("GrammarConfig",),
    "rome.features.semantic": ("SemanticConfig",),
    "rome.features.syntax": ("SyntaxConfig",),
    "rome.metric": ("RoMe",),
    "rome.results": ("CorpusScore", "SegmentScore"),
    "rome.results.comparison": ("Comparison", "compare"),
    "rome.self_check": ("selfcheck",),
    "rome.storage.analysis_store": ("AnalysisStore",),
}
_MODULES = {name: module for module, names in _HOME.items() for name in names}

__all__ = ["__version__", *sorted(_MODULES)]


def __getattr__(name: str) -> Any:
    """Load a public name from the module that defines it."""
    if name == "__version__":
        from importlib.metadata import version

        return version("rome-metric")
    if name in _MODULES:
        from importlib import import_module

        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'rome' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)

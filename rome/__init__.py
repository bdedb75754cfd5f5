"""RoMe: a reference-based metric for generated English text that says why.

>>> from rome import RoMe                                                   # doctest: +SKIP
>>> RoMe().score(references=["A cat sat."], hypotheses=["A cat sits."])     # doctest: +SKIP

Every name is loaded when it is first asked for, so `import rome` costs nothing and combining stored features needs no model.
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
    from rome.metric import RoMe as RoMe
    from rome.results import CorpusScore as CorpusScore
    from rome.results import SegmentScore as SegmentScore
    from rome.results.comparison import Comparison as Comparison
    from rome.results.comparison import compare as compare
    from rome.self_check import selfcheck as selfcheck
    from rome.storage.analysis_store import AnalysisStore as AnalysisStore

_HOME = {
    "AnalysisStore": "rome.storage.analysis_store",
    "Combiner": "rome.combining.combiner",
    "Comparison": "rome.results.comparison",
    "CorpusScore": "rome.results",
    "FeatureTable": "rome.combining.table",
    "InputError": "rome.exceptions",
    "ModelConfig": "rome.features.analyser.config",
    "ModelMissingError": "rome.exceptions",
    "RoMe": "rome.metric",
    "RomeError": "rome.exceptions",
    "SegmentScore": "rome.results",
    "SignatureMismatchError": "rome.exceptions",
    "StoreError": "rome.exceptions",
    "compare": "rome.results.comparison",
    "diagnose": "rome.evaluation.judging",
    "evaluate": "rome.evaluation.judging",
    "selfcheck": "rome.self_check",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    """Load a public name from the module that defines it."""
    if name == "__version__":
        from importlib.metadata import version

        return version("rome-metric")
    if name in _HOME:
        from importlib import import_module

        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'rome' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)

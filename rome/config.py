"""Every option of the metric, once: what `RoMe`, the command line and the integrations take, and what signatures are made of."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

from rome.checks import EmptyReference
from rome.exceptions import InputError
from rome.features.analyser.config import BATCH_SIZE, DEFAULT_SET, SETS, ModelConfig

if TYPE_CHECKING:
    from rome.combining.combiner import Combiner
    from rome.features.analyser.model_set import ModelSet

FeatureConfigs = tuple[Any, ...]
Models = str | os.PathLike[str] | ModelConfig
Emd = Literal["soft", "aligned", "standard"]
Idf = Literal["embedded", "references"]
Scorer = Literal["unsupervised", "supervised"]
Device = Literal["cpu", "auto", "cuda", "mps"]
Precision = Literal["float32", "bf16", "int8", "auto"]
CHOICES: dict[str, tuple[str, ...]] = {
    "emd": get_args(Emd),
    "idf": get_args(Idf),
    "empty_reference": get_args(EmptyReference),
    "scorer": get_args(Scorer),
    "device": get_args(Device),
    "precision": get_args(Precision),
}
"""The words that an option may be."""
OTHER_ENCODER: dict[str, dict[str, Any]] = {"semantic": {"delta": 0.6}, "syntax": {"theta": 0.65}}
"""Settings with another encoder than the set's own, in the place of what was found for that one's vectors."""


@dataclass(frozen=True)
class MetricConfig:
    """The options of `RoMe`; checked when it is made, but no file is read.

    Raises InputError for an option that there is not, or that does not go with another.

    Parameters
    ----------
    models : str, path or ModelConfig
        A model set ("base" or "small", which the package carries, or the folder of another), "paper" (the models of the RoMe paper) or a
        ModelConfig. Settings, word weights and net are those of the set.
    emd : {"soft", "aligned", "standard"}
        "soft" is RoMe in full; "aligned" and "standard" are the ablations of its table 5.
    rho : float, optional
        The share of their cosine that words outside the alignment are credited with, see SemanticConfig; 0 is the paper's distance, None
        takes what the models were measured best with.
    idf : {"embedded", "references"}
        "references" weighs words by how rare they are in the references of each call (a score then depends on the other segments).
    store : path, optional
        A file that keeps analyses between runs; made when absent. None keeps them in memory.
    progress : bool, optional
        None shows a bar on stderr when that is a terminal.
    threads : int, optional
        CPU threads, at most as many as there are processors; None leaves torch's choice.
    device : {"cpu", "auto", "cuda", "mps"}
        Where the trunk, its heads and the reader of both texts compute. The CPU gives the numbers of the model cards, the same on every machine
        but for last digits; "auto" takes a card where there is one. On a card the signature says so (``device:cuda``).
    precision : {"float32", "bf16", "int8", "auto"}
        "float32" is the reference. "bf16" multiplies matrices of trunk, acceptability and the reader of both texts in bfloat16: faster where
        the processor (AVX512-BF16, AMX) or the card does so itself, nowhere as exact, and named in the signature (``precision:bf16``).
        "auto" takes it there alone. "int8" multiplies them in whole numbers of eight bits, on x86 processors: faster with AVX2 too, less
        exact than bf16, and named likewise.
    batch_size : int
        Word pieces that pass through the trunk at once, and words through the reader; scores do not depend on it.
    empty_reference : {"error", "score"}
        "error" refuses an empty reference, "score" scores it (every word of the hypothesis is unnecessary).
    combiner : Combiner, optional
        The net; the set's own by default. It was trained on the features of the default settings: with other settings its scores rank, but
        the scale of the model card no longer holds.
    scorer : {"unsupervised", "supervised"}
        "supervised" takes, in place of the set's net, the one that was fitted on human ratings (its card says which); results and
        signature say so.
    """

    models: Models = DEFAULT_SET
    emd: Emd = "soft"
    rho: float | None = None
    idf: Idf = "embedded"
    store: str | os.PathLike[str] | None = None
    progress: bool | None = None
    threads: int | None = None
    device: Device = "cpu"
    precision: Precision = "float32"
    batch_size: int = BATCH_SIZE
    empty_reference: EmptyReference = "error"
    combiner: Combiner | None = None
    scorer: Scorer = "unsupervised"

    def __post_init__(self) -> None:
        """Check what needs no file."""
        for name, words in CHOICES.items():
            given = getattr(self, name)
            if given not in words:
                raise InputError(f"{name}={given!r} is unknown: choose {' or '.join(words)}")
        if self.threads is not None and (type(self.threads) is not int or self.threads < 1):
            raise InputError(
                f"threads={self.threads!r} is no number of threads: give 1 or more, or None for torch's own choice"
            )
        if type(self.batch_size) is not int or self.batch_size < 1:
            raise InputError(f"batch_size={self.batch_size!r} is no number of word pieces: give 1 or more")
        if self.combiner is not None and self.scorer != "unsupervised":
            raise InputError(f'combiner= and scorer="{self.scorer}" name two nets: give one of them')
        if self.rho is not None and (type(self.rho) not in (int, float) or not 0.0 <= self.rho <= 1.0):
            raise InputError(f"rho {self.rho!r} is no share: give a number from 0 (the paper's cost) to 1")

    @property
    def model_config(self) -> ModelConfig:
        """Which model comes from where. Raises InputError for ``models`` that are unknown."""
        return ModelConfig.of(self.models)

    def feature_configs(self, model_set: ModelSet) -> FeatureConfigs:
        """The configurations of the features in their order, with the settings of this model set.

        With another encoder a set that the package carries gives way to OTHER_ENCODER; what a set of the user's own says holds with any.
        Raises ModelMissingError for a setting that this version does not know.
        """
        from rome.features.analyser.model_set import file_digest
        from rome.features.errors.config import ErrorsConfig
        from rome.features.grammar import GrammarConfig
        from rome.features.protocol import feature_class
        from rome.features.semantic import SemanticConfig
        from rome.features.syntax import SyntaxConfig
        from rome.features.values import FEATURES

        models = self.model_config
        if "encoder" in models.foreign:
            settings = (
                {**model_set.settings, **OTHER_ENCODER} if models.set in SETS else {**OTHER_ENCODER, **model_set.settings}
            )
            model_set = replace(model_set, settings=settings)
        semantic = replace(model_set.with_settings("semantic", SemanticConfig()), emd=self.emd)
        head = file_digest(model_set.folder / "errors") if model_set.has("errors") else ""
        return (
            semantic if self.rho is None else replace(semantic, rho=self.rho),
            model_set.with_settings("syntax", SyntaxConfig()),
            model_set.with_settings("grammar", GrammarConfig()),
            replace(model_set.with_settings("errors", ErrorsConfig()), head=head),
            *(model_set.with_settings(name, feature_class(name).config_class()) for name in FEATURES[4:]),
        )


class MetricOptions(TypedDict, total=False):
    """The fields of `MetricConfig`, none of them needed, as editors and type checkers know the keywords of `RoMe`."""

    models: Models
    emd: Emd
    rho: float | None
    idf: Idf
    store: str | os.PathLike[str] | None
    progress: bool | None
    threads: int | None
    device: Device
    precision: Precision
    batch_size: int
    empty_reference: EmptyReference
    combiner: Combiner | None
    scorer: Scorer

"""The options of the metric, for `RoMe`, the command line and the integrations."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from rome.checks import EmptyReference
from rome.exceptions import InputError
from rome.features.analyser.config import BATCH_SIZE, DEFAULT_SET, SETS, ModelConfig

if TYPE_CHECKING:
    from rome.combining.combiner import Combiner
    from rome.features.analyser.model_set import ModelSet
    from rome.features.errors.evidence import ErrorsConfig
    from rome.features.grammar import GrammarConfig
    from rome.features.semantic import SemanticConfig
    from rome.features.syntax import SyntaxConfig

    FeatureConfigs = tuple[SemanticConfig, SyntaxConfig, GrammarConfig, ErrorsConfig]

Models = str | os.PathLike[str] | ModelConfig
Emd = Literal["soft", "aligned", "standard"]
Idf = Literal["embedded", "references"]
Device = Literal["cpu", "auto", "cuda", "mps"]
Precision = Literal["float32", "bf16", "auto"]
Scorer = Literal["unsupervised", "supervised"]
CHOICES: dict[str, tuple[str, ...]] = {
    "emd": get_args(Emd),
    "idf": get_args(Idf),
    "empty_reference": get_args(EmptyReference),
    "scorer": get_args(Scorer),
    "device": get_args(Device),
    "precision": get_args(Precision),
}
"""The values of the options that take one of several words."""
OTHER_ENCODER: dict[str, dict[str, Any]] = {"semantic": {"delta": 0.6}, "syntax": {"theta": 0.65}}
"""Settings for an encoder other than the set's own, instead of those found for the set's vectors."""


@dataclass(frozen=True)
class MetricConfig:
    """Hold the options of `RoMe`; they are checked at once, but no file is read.

    Raises InputError for an unknown value and for options that contradict each other.

    Parameters
    ----------
    models : str, path or ModelConfig
        A model set ("base" or "small", which come with the package, or the folder of another), "paper" (the models of the RoMe paper) or a
        ModelConfig. Settings, word weights and net are those of the set.
    emd : {"soft", "aligned", "standard"}
        "soft" is RoMe in full; "aligned" and "standard" are the ablations of its table 5.
    rho : float, optional
        How much of its cosine a pair of words outside the alignment is credited with, see SemanticConfig; 0 is the paper's distance, None the
        value of the model set.
    idf : {"embedded", "references"}
        "references" weighs words by how rare they are in the references of each call (a score then depends on the other segments).
    store : path, optional
        A file that keeps analyses between runs; it is created when absent. None keeps them in memory.
    progress : bool, optional
        None shows a bar on stderr when that is a terminal.
    threads : int, optional
        CPU threads, at most as many as there are processors; None leaves torch's choice.
    device : {"cpu", "auto", "cuda", "mps"}
        Where the models compute. The CPU gives the numbers of the model cards, the same on every machine but for the last digits; "auto" takes
        a GPU where there is one. The signature names a GPU (``device:cuda``).
    precision : {"float32", "bf16", "auto"}
        "float32" is the reference. "bf16" multiplies matrices in bfloat16: faster where the processor (AVX512-BF16, AMX) or the GPU supports it,
        less exact, and named in the signature (``precision:bf16``). "auto" takes it there alone.
    batch_size : int
        Word pieces that pass through the trunk at once, and words through the reader; scores differ by less than 1e-5.
    empty_reference : {"error", "score"}
        "error" refuses an empty reference, "score" scores it: every word of the hypothesis is then unnecessary.
    combiner : Combiner, optional
        The net; the set's own by default, which was trained on features of the default settings. With other settings its scores still rank,
        but the scale of the model card no longer holds.
    scorer : {"unsupervised", "supervised"}
        "supervised" takes the set's net that was fitted on human ratings, which its model card names; results and signature say so.
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
        """Check every option that needs no file."""
        for name, words in CHOICES.items():
            given = getattr(self, name)
            if given not in words:
                raise InputError(f"{name} must be {' or '.join(words)}, got {given!r}")
        if self.threads is not None and (type(self.threads) is not int or self.threads < 1):
            raise InputError(f"threads must be a positive integer, or None for torch's own choice, got {self.threads!r}")
        if type(self.batch_size) is not int or self.batch_size < 1:
            raise InputError(f"batch_size must be a positive integer, got {self.batch_size!r}")
        if self.combiner is not None and self.scorer != "unsupervised":
            raise InputError(f'combiner and scorer="{self.scorer}" name two nets: give one of them')
        if self.rho is not None and (type(self.rho) not in (int, float) or not 0.0 <= self.rho <= 1.0):
            raise InputError(f"rho must be in [0, 1], where 0 is the paper's cost, got {self.rho!r}")

    @property
    def model_config(self) -> ModelConfig:
        """Return the origin of each model. Raises InputError for an unknown model set."""
        return ModelConfig.of(self.models)

    def feature_configs(self, model_set: ModelSet) -> FeatureConfigs:
        """Return the configurations of the four features, with the settings of this model set.

        With an encoder other than the set's own, OTHER_ENCODER replaces the settings of an embedded set, but not those of a user's set.
        Raises ModelMissingError for a setting that this version does not know.
        """
        from rome.features.analyser.model_set import file_digest
        from rome.features.errors.evidence import ErrorsConfig
        from rome.features.grammar import GrammarConfig
        from rome.features.semantic import SemanticConfig
        from rome.features.syntax import SyntaxConfig

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
        )

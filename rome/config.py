"""The options of the metric, for `RoMe`, the command line and the integrations."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from rome.checks import EmptyReference
from rome.exceptions import InputError
from rome.features.analyser.config import BATCH_SIZE, DEFAULT_SET, SETS, ModelConfig
from rome.features.analyser.model_set import file_digest, with_settings
from rome.features.protocol import feature_class
from rome.features.values import FEATURES

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
Preset = Literal["default", "paper"]
_WORDS = {"emd": Emd, "idf": Idf, "empty_reference": EmptyReference, "scorer": Scorer, "preset": Preset}
_WORDS |= {"device": Device, "precision": Precision}
CHOICES: dict[str, tuple[str, ...]] = {name: get_args(words) for name, words in _WORDS.items()}
"""The values of the options that take one of several words."""
OTHER_ENCODER: dict[str, dict[str, Any]] = {"semantic": {"delta": 0.6}, "syntax": {"theta": 0.65}}
"""Settings for an encoder other than the set's own, instead of those found for the set's vectors."""
PRESETS: dict[Preset, dict[str, dict[str, Any]]] = {
    "default": {},
    "paper": {
        "semantic": {"delta": 0.6, "rho": 0.0, "penalty": 1.0, "coverage": 0.0, "position": "difference"},
        "syntax": {"theta": 0.65},
        "grammar": {"fluency": 0.0, "relative": False},
    },
}
"""Settings of features that replace those of the model set."""


@dataclass(frozen=True)
class MetricConfig:
    """Hold the options of `RoMe`; they are checked at once, but no file is read.

    Raises InputError for an unknown value and for options that contradict each other.

    Parameters
    ----------
    models : str, path or ModelConfig
        A model set ("base" or "small", which come with the package, or the folder of another), "paper" (the models of the RoMe paper) or a
        ModelConfig. Settings, word weights and net are those of the set.
    emd : {"soft", "aligned", "standard"}, optional
        "soft" is RoMe in full; "aligned" and "standard" are the ablations of its table 5. None: the model set's, which is "soft".
    rho : float, optional
        How much of its cosine a pair of words outside the alignment is credited with; None: the model set's. Both options are settings of
        `semantic`, and override it.
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
    preset : {"default", "paper"}
        "default" takes the settings of the model set. "paper" gives semantic, syntax and grammar as the RoMe paper prints them: equations 1
        to 5, its delta and theta, CoLA's probability alone. Printed equation 3 prefers distant words; ``semantic={"position": "complement"}`` beside
        it takes the method that the paper cites. The models stay (see `models`), and `errors`, which the paper does not have.
    semantic, syntax, grammar, errors : SemanticConfig, SyntaxConfig, GrammarConfig, ErrorsConfig or mapping, optional
        The settings of a feature: a configuration replaces all of them, a mapping such as ``{"delta": 0.4}`` those that it names.
        The signature tells them apart.
    scorer : {"unsupervised", "supervised"}
        "supervised" takes the set's net that was fitted on human ratings, which its model card names; results and signature say so.
    """

    models: Models = DEFAULT_SET
    emd: Emd | None = None
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
    preset: Preset = "default"
    semantic: SemanticConfig | Mapping[str, Any] | None = None
    syntax: SyntaxConfig | Mapping[str, Any] | None = None
    grammar: GrammarConfig | Mapping[str, Any] | None = None
    errors: ErrorsConfig | Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Check every option that needs no file."""
        for name, words in CHOICES.items():
            given = getattr(self, name)
            if given not in words and given != getattr(MetricConfig, name):
                raise InputError(f"{name} must be {' or '.join(words)}, got {given!r}")
        if self.threads is not None and (type(self.threads) is not int or self.threads < 1):
            raise InputError(f"threads must be a positive integer, or None for torch's own choice, got {self.threads!r}")
        if type(self.batch_size) is not int or self.batch_size < 1:
            raise InputError(f"batch_size must be a positive integer, got {self.batch_size!r}")
        if self.combiner is not None and self.scorer != "unsupervised":
            raise InputError(f'combiner and scorer="{self.scorer}" name two nets: give one of them')
        for name in FEATURES:
            self._configured(name, feature_class(name).config_class())

    @property
    def model_config(self) -> ModelConfig:
        """Return the origin of each model. Raises InputError for an unknown model set."""
        return ModelConfig.of(self.models)

    def feature_configs(self, model_set: ModelSet) -> FeatureConfigs:
        """Return the configurations of the four features, with the settings of this model set.

        With an encoder other than the set's own, OTHER_ENCODER replaces the settings of an embedded set, but not those of a user's set.
        Raises ModelMissingError for a setting that this version does not know.
        """
        models, settings = self.model_config, dict(model_set.settings)
        if "encoder" in models.foreign:
            settings = {**settings, **OTHER_ENCODER} if models.set in SETS else {**OTHER_ENCODER, **settings}
        own = replace(model_set, settings={**settings, **PRESETS[self.preset]})
        configs = {name: own.with_settings(name, feature_class(name).config_class()) for name in FEATURES}
        head = file_digest(own.folder / "errors") if own.has("errors") else ""
        *others, errors = (self._configured(name, config) for name, config in configs.items())
        return cast("FeatureConfigs", (*others, replace(errors, head=head, below=configs["errors"].below)))

    def _configured(self, name: str, config: Any) -> Any:
        """Return a feature's configuration with the chosen settings. Raises InputError for one that it does not have or allow."""
        given = settings = getattr(self, name)
        try:
            settings = {} if given is None else {**(asdict(given) if isinstance(given, type(config)) else given)}
            if name == "semantic":
                settings |= {key: value for key, value in (("emd", self.emd), ("rho", self.rho)) if value is not None}
            return with_settings(config, settings)
        except TypeError as error:
            kind = type(config).__name__
            raise InputError(f"{name} must be a {kind} or a mapping of its settings, got {settings!r}: {error}") from error

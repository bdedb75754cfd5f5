"""Every number of the scorer's training that one may want to turn, in one frozen dataclass, and what it makes of a pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import exp
from types import MappingProxyType
from typing import Any

from rome.exceptions import InputError
from rome.train.scorer.pairs import TrainingPair

OBJECTIVES = ("graded", "binary")


def _frozen(**values: float) -> Mapping[str, float]:
    return MappingProxyType(values)


@dataclass(frozen=True)
class ScorerConfig:
    """How the net is built and trained.

    Attributes
    ----------
    hidden
        Hidden units.
    weight_floor
        Smallest hidden weight of each feature, so that it always counts and ties break. The reader of `errors` knows most of the texts that
        fit the net, which would trust it too much: the floors of `semantic` and `grammar` make up for that. They were chosen, as was the
        decay, on annotated groups that taught neither, and on held-out pairs.
    base_quality
        Target of a clean pair by its base.
    severe_target
        Target of the cases whose severity is not counted.
    severity_scale
        A severity s multiplies the target by exp(-s / severity_scale); one minor error weighs 1, one major 5.
    graded_weight, ranking_weight
        Weight of the cross-entropy with the graded targets and of the ranking term.
    ranking_temperature
        Logit difference at which a ranked pair counts as mostly settled.
    ranking_gap
        Targets closer than this are not ranked.
    base_weight
        Weight in the cross-entropy by base, low where the true quality is unknown.
    objective
        ``graded``, or ``binary`` for RoMe's original one (clean or perturbed, section 3.4).
    binary_clean, binary_perturbed
        The quality from which a rated pair is clean in the binary objective, and up to which it is perturbed; between them it counts nothing.
        Ratings of similarity reach 0.85, so by default no such pair is clean.
    """

    seed: int = 0
    objective: str = "graded"
    hidden: int = 3
    weight_floor: Mapping[str, float] = field(
        default_factory=lambda: _frozen(semantic=1.0, syntax=0.02, grammar=0.6, errors=1.0)
    )
    steps: int = 3000
    learning_rate: float = 0.05
    decay: float = 1e-4
    held_out: float = 0.15
    severity_scale: float = 15.0
    severity_cap: float = 25.0
    graded_weight: float = 1.0
    ranking_weight: float = 1.0
    ranking_temperature: float = 0.8
    ranking_gap: float = 0.02
    clean_weight: float = 2.0
    binary_clean: float = 0.9
    binary_perturbed: float = 0.5
    base_quality: Mapping[str, float] = field(
        default_factory=lambda: _frozen(
            identity=1.0, reference=0.88, paraphrase=0.88, system=0.75, rated=0.5, meaning=0.5, groups=0.5, outputs=0.75
        )
    )
    base_weight: Mapping[str, float] = field(
        default_factory=lambda: _frozen(
            identity=1.0, reference=1.0, paraphrase=1.0, system=0.3, rated=8.0, meaning=8.0, groups=8.0, outputs=0.1
        )
    )
    severe_target: Mapping[str, float] = field(
        default_factory=lambda: _frozen(
            empty=0.0,
            unrelated=0.03,
            repeated_words=0.05,
            repeated_phrase=0.1,
            mixed=0.2,
            shuffled=0.25,
            truncated=0.4,
            doubled=0.5,
        )
    )

    def target(self, pair: TrainingPair) -> float:
        """The score in [0, 1] that the net should give the pair."""
        if self.objective == "binary":
            return float(pair.level == "clean" if pair.quality is None else pair.quality >= self.binary_clean)
        quality = self.base_quality[pair.base] if pair.quality is None else pair.quality
        if pair.operation in self.severe_target:
            return min(quality, self.severe_target[pair.operation])
        return quality * exp(-min(pair.severity, self.severity_cap) / self.severity_scale)

    def weight(self, pair: TrainingPair) -> float:
        """How much the pair counts in the cross-entropy; severe cases count in full, whatever their base."""
        if self.objective == "binary" and pair.quality is not None:
            return float(not self.binary_perturbed < pair.quality < self.binary_clean)
        if self.objective == "binary" or pair.operation in self.severe_target:
            return 1.0
        return self.base_weight[pair.base] * (self.clean_weight if pair.level == "clean" else 1.0)

    def with_settings(self, settings: Sequence[str]) -> ScorerConfig:
        """A copy with ``name=value`` or, in a mapping, ``name.key=value`` settings. Raises InputError for unknown ones."""
        changed = self
        for setting in settings:
            name, _, value = setting.partition("=")
            changed = changed._with(name.strip(), value.strip())
        if changed.objective not in OBJECTIVES:
            raise InputError(f"the objective {changed.objective} is unknown: choose from {', '.join(OBJECTIVES)}")
        return changed

    def _with(self, name: str, value: str) -> ScorerConfig:
        name, _, key = name.partition(".")
        old = getattr(self, name) if name in {entry.name for entry in fields(self)} else None
        if old is None or isinstance(old, Mapping) != bool(key) or (key and key not in old):
            raise InputError(f"the scorer has no setting {name}{key and '.'}{key}: see ScorerConfig for their names")
        try:
            new: Any = MappingProxyType({**old, key: float(value)}) if key else type(old)(value)
        except ValueError as error:
            raise InputError(f"the scorer's setting {name} cannot be {value!r}: give a number") from error
        return replace(self, **{name: new})

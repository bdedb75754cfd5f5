"""The net with its signatures and files: four features in, one score out, in NumPy alone, with exact contributions."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rome.combining.contributions import shapley_values
from rome.combining.net import TENSORS, MonotoneNet, Vector
from rome.combining.signature import SCORERS, RatedSource, differing_keys, signature_part, without_arithmetic
from rome.combining.table import WIDTH, FeatureTable
from rome.config import Scorer
from rome.exceptions import InputError, ModelMissingError, SignatureMismatchError, StoreError
from rome.features.analyser.config import DEFAULT_SET, SETS
from rome.features.analyser.model_set import ModelSet
from rome.features.errors.evidence import SHARES
from rome.features.values import FEATURES
from rome.storage.files import atomic_path

MEASURES = ("score", *FEATURES, *SHARES)
"""The score, the features behind it, and the shares of both texts without errors."""


@dataclass(frozen=True, eq=False)
class CombinedScores:
    """The scores of segments, in the order of the segment numbers.

    Attributes
    ----------
    segment
        (m,) int64.
    score
        (m,) float64 in [0, 1], against the best reference.
    reference
        (m,) int32, the number of that reference (of equals the lowest).
    row
        (m,) int64, its row in the combined table.
    """

    segment: NDArray[np.int64]
    score: Vector
    reference: NDArray[np.int32]
    row: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of segments."""
        return len(self.segment)


@dataclass(frozen=True, eq=False)
class Combiner(MonotoneNet):
    """A trained net of the four features; make one with `Combiner.load()`.

    Attributes
    ----------
    feature_signature
        The signature of the features it was trained on; empty accepts any.
    fitted_on
        The rated sets of a supervised net; empty for an unsupervised one.
    """

    feature_signature: str = ""
    fitted_on: tuple[RatedSource, ...] = ()

    def __post_init__(self) -> None:
        """Check the tensors, and their width."""
        super().__post_init__()
        if self.hidden_weight.shape[1] != WIDTH:
            raise InputError("the net's tensors do not fit together: train it again with `rome train scorer`")

    @staticmethod
    def of(net: MonotoneNet, feature_signature: str, fitted_on: tuple[RatedSource, ...] = ()) -> Combiner:
        """Return a fitted net of the four features as a combiner."""
        return Combiner(**vars(net), feature_signature=feature_signature, fitted_on=fitted_on)

    @staticmethod
    def load(
        path: str | PathLike[str] | None = None, *, models: str | PathLike[str] = DEFAULT_SET, scorer: Scorer = "unsupervised"
    ) -> Combiner:
        """Load a net written by `rome train scorer`; without a path, the one of a model set, given by its name or folder.

        Raises ModelMissingError when there is none, StoreError when the file is damaged, InputError for an unknown scorer or a set
        without a supervised net.

        Parameters
        ----------
        scorer
            "supervised" is the set's net that was fitted on human ratings; its signature says so.
        """
        if scorer not in SCORERS:
            raise InputError(f"scorer must be {' or '.join(SCORERS)}, got {scorer!r}")
        if path is not None and scorer != "unsupervised":
            raise InputError("path and scorer name two nets: give one of them")
        if path is not None:
            return _read(Path(path))
        model_set = ModelSet.load(models)
        file = model_set.folder / SCORERS[scorer] / "scorer.safetensors"
        return _read(file) if scorer == "unsupervised" else _read_supervised(model_set, file)

    @staticmethod
    def matching(signature: str, *, scorer: Scorer = "unsupervised") -> Combiner:
        """Load the net of the model set in a signature of features or of a score; the default set's where it names none.

        Raises ModelMissingError for a set that this installation does not carry, and what `load` raises.
        """
        models = next((part for part in signature.split("|") if part.startswith("models:")), "")  # models:NAME.digest
        name = models.removeprefix("models:").rpartition(".")[0].partition("+")[0] or DEFAULT_SET
        if name not in SETS:
            raise ModelMissingError(
                f"these features were measured with the model set {name}, which is not part of rome-metric: give the net in its "
                "folder, --net FOLDER/scorer/scorer.safetensors"
            )
        return Combiner.load(models=name, scorer=scorer)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the net as safetensors, whole or not at all; the same net gives the same bytes. Raises StoreError when that fails."""
        from safetensors.numpy import save

        tensors = {name: getattr(self, name) for name in TENSORS}
        description: dict[str, Any] = {"format": "1", "features": FEATURES, "feature_signature": self.feature_signature}
        if self.fitted_on:
            description["fitted_on"] = self.fitted_on
        with atomic_path(path, refusal=StoreError) as temporary:
            temporary.write_bytes(save(tensors, metadata={"description": json.dumps(description, sort_keys=True)}))

    @property
    def signature(self) -> str:
        """``net:`` and eight hexadecimal digits of the weights: another net, another signature.

        Before it, of a supervised net, ``scorer:supervised.`` and the names of the rated sets.
        """
        named = b"".join(name.encode() + np.asarray(getattr(self, name), dtype="<f8").tobytes() for name in TENSORS)
        return f"{signature_part(self.fitted_on)}net:{hashlib.sha256(named).hexdigest()[:8]}"

    def score(self, table: FeatureTable | ArrayLike, *, allow_mismatch: bool = False) -> Vector:
        """Return scores in [0, 1]: one per segment of a FeatureTable (see `combine`), one per row of an (n, 4) array.

        Raises SignatureMismatchError for a table of other features, InputError for a wrong shape or values outside [0, 1].
        """
        if isinstance(table, FeatureTable):
            return self.combine(table, allow_mismatch=allow_mismatch).score
        return self.score_rows(_checked(table))

    def combine(self, table: FeatureTable, *, allow_mismatch: bool = False) -> CombinedScores:
        """Score every candidate and keep the best reference of each segment.

        Raises SignatureMismatchError, naming the keys that differ, when the table was measured in another way than the training data
        of the net; ``allow_mismatch=True`` combines it anyway.
        """
        if not allow_mismatch:
            self.check_signature(table.signature)
        score = self.score_rows(table.values)
        order = np.lexsort((table.reference, -score, table.segment))  # of equals, the lowest reference number is first
        segment, first = np.unique(table.segment[order], return_index=True)
        rows = order[first]
        return CombinedScores(segment, score[rows], table.reference[rows], rows)

    def check_signature(self, signature: str) -> None:
        """Raise SignatureMismatchError unless the net was trained on features with this signature."""
        if self.feature_signature and without_arithmetic(signature) != without_arithmetic(self.feature_signature):
            raise SignatureMismatchError(
                "these features were measured in another way than the training data of the net "
                f"({'; '.join(differing_keys(signature, self.feature_signature, ('the table', 'the net')))}): "
                "take the net of their own model set, measure them again with `rome features`, or train a net for them with `rome train scorer`"
            )

    def contributions(self, values: FeatureTable | ArrayLike) -> Vector:
        """Return the points that each feature lost: (n, 4), none positive, with the row sums score - 1.

        Exact Shapley values against (1, 1, 1, 1). A FeatureTable gives one row per candidate.
        """
        rows = values.values if isinstance(values, FeatureTable) else _checked(values)
        return np.minimum(shapley_values(self.score_rows, rows, np.ones(WIDTH)), 0.0) + 0.0  # + 0.0: no -0.0


def _checked(values: ArrayLike) -> Vector:
    rows = np.asarray(values, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != WIDTH:
        raise InputError(f"features must have the shape (n, {WIDTH}), columns {', '.join(FEATURES)}; got {rows.shape}")
    if len(rows) and not (rows.min() >= 0.0 and rows.max() <= 1.0):
        raise InputError("features must be in [0, 1]: pass the values of the components, not their raw quantities")
    return rows


def _read(path: Path) -> Combiner:
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise ModelMissingError(
            f"the scorer {path} is missing: reinstall rome-metric, or train it with `rome train scorer --out FOLDER`"
        )
    try:
        with safe_open(str(path), framework="numpy") as file:
            tensors: dict[str, Any] = {name: file.get_tensor(name) for name in file.keys()}
            description = json.loads((file.metadata() or {}).get("description", "{}"))
        if not isinstance(description, dict):
            raise ValueError("its description is not an object")
    except (SafetensorError, OSError, ValueError, RecursionError) as error:
        raise StoreError(f"the scorer {path} is damaged ({error}): reinstall rome-metric, or train it again") from error
    if not tensors.keys() | {"direct_weight"} >= TENSORS.keys():
        raise StoreError(
            f"{path} is not a scorer (it holds {', '.join(sorted(tensors)) or 'nothing'}): train one with `rome train scorer`"
        )
    sources = tuple(RatedSource(*map(str, source)) for source in description.get("fitted_on", ()))
    known = {name: tensors[name] for name in TENSORS if name in tensors}  # older files have no direct_weight
    return Combiner(**known, feature_signature=str(description.get("feature_signature", "")), fitted_on=sources)


def _read_supervised(model_set: ModelSet, path: Path) -> Combiner:
    """Read the supervised net of the set, after checking that there is one and that it names its rated sets."""
    if not model_set.has("scorer-supervised"):
        raise InputError(
            f"the model set {model_set.name} has no supervised scorer: fit one with `rome train scorer --ratings FILE --out FOLDER` and "
            "give it, --net FOLDER/scorer.safetensors"
        )
    net = _read(path)
    if not net.fitted_on:
        raise StoreError(f"{path} does not say on which ratings it was fitted: fit it again with `rome train scorer --ratings`")
    return net

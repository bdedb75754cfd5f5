"""Use the four features as a scikit-learn transformer, for pipelines that learn from them. Needs scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rome.exceptions import InputError
from rome.features.packages import import_failed
from rome.features.values import FEATURES
from rome.integrations.columns import refuse_batches, score_columns

try:
    from sklearn.base import BaseEstimator, TransformerMixin
except ImportError as _error:
    raise import_failed(_error, "RoMeFeatures", "scikit-learn") from _error


class RoMeFeatures(TransformerMixin, BaseEstimator):
    """Transform pairs of texts into the four features, (n, 4) float64 in [0, 1], in the order semantic, syntax, grammar, errors.

    X is a sequence of (reference, hypothesis) pairs, where a reference is a text or a list of texts, or a data frame with the two columns.
    Nothing is learned: fit only checks. A row never depends on the others, so cross-validation leaks nothing.

    Parameters
    ----------
    metric
        A RoMe; None uses the one with default settings. Copies and clones share it; a pickle contains its options, not its models.
    reference, hypothesis
        The columns of a frame.
    """

    def __init__(self, metric: Any = None, reference: str = "reference", hypothesis: str = "hypothesis") -> None:
        self.metric = metric
        self.reference = reference
        self.hypothesis = hypothesis

    def fit(self, X: Any = None, y: Any = None) -> RoMeFeatures:
        """Check the metric; X and y are not read. Raises InputError for a metric whose scores depend on the batch."""
        refuse_batches(self.metric, "RoMeFeatures")
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the features of each pair. Raises InputError, naming the row, for anything but a pair of texts; see `RoMe.score`."""
        refuse_batches(self.metric, "RoMeFeatures")
        references, hypotheses = self._texts(X)
        columns = score_columns(self.metric, references, hypotheses, columns=FEATURES, names=(self.reference, self.hypothesis))
        return np.array([columns[name] for name in FEATURES], dtype=np.float64).T.reshape(-1, len(FEATURES))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the four features; input_features is not read."""
        return np.array(FEATURES, dtype=object)

    def _texts(self, X: Any) -> tuple[list[Any], list[Any]]:
        """Return the references and hypotheses of pairs or of a frame."""
        if hasattr(X, "columns"):
            from rome.integrations.frames import texts_of_frame

            return texts_of_frame(X, reference=self.reference, hypothesis=self.hypothesis)
        rows = X.tolist() if isinstance(X, np.ndarray) else X
        if isinstance(rows, str) or not hasattr(rows, "__iter__"):
            raise InputError(f"X must be a list of (reference, hypothesis) pairs or a data frame, got {type(X).__name__}")
        pairs = list(rows)
        for row, pair in enumerate(pairs):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise InputError(f"row {row} of X must be a (reference, hypothesis) pair, a tuple of two")
        if not pairs:
            raise InputError("X must have at least one (reference, hypothesis) pair, got none")
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]

    def __sklearn_is_fitted__(self) -> bool:
        """Return True: there is nothing to fit."""
        return True

    def __sklearn_tags__(self) -> Any:
        """Declare that X contains texts and that no fit is needed."""
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.no_validation = True
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        return tags

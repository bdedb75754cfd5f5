"""Use the four features as a scikit-learn transformer, for pipelines that learn from them. Needs scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rome.exceptions import InputError
from rome.features.packages import needed
from rome.features.values import FEATURES
from rome.integrations.columns import COLUMNS, check_columns, refuse_batches, score_columns

with needed("RoMeFeatures", "scikit-learn"):
    from sklearn.base import BaseEstimator, TransformerMixin


class RoMeFeatures(TransformerMixin, BaseEstimator):
    """Transform pairs of texts into columns of numbers, by default the four features, (n, 4) float64 in [0, 1].

    X is a sequence of (reference, hypothesis) pairs, where a reference is a text or a list of texts, or a data frame with the two columns.
    Nothing is learned: fit only checks. A row never depends on the others, so cross-validation leaks nothing.

    Parameters
    ----------
    metric
        A RoMe; None uses the one with default settings. Copies and clones share it; a pickle contains its options, not its models.
    reference, hypothesis
        The columns of a frame.
    columns
        The numbers, in this order, such as ``completeness`` and ``faithfulness``; see `score_frame` for their names.
    """

    def __init__(
        self,
        metric: Any = None,
        reference: str = "reference",
        hypothesis: str = "hypothesis",
        columns: Sequence[str] = FEATURES,
    ) -> None:
        self.metric = metric
        self.reference = reference
        self.hypothesis = hypothesis
        self.columns = columns

    def fit(self, X: Any = None, y: Any = None) -> RoMeFeatures:
        """Check metric and columns; X and y are not read. Raises InputError for a metric whose scores depend on the batch."""
        refuse_batches(self.metric, "RoMeFeatures")
        check_columns(self.columns, "error", [name for name, kind in COLUMNS.items() if kind in ("float64", "int32")])
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the columns of the pairs. Raises InputError, naming the row, for anything but a pair of texts; see `RoMe.score`."""
        self.fit()
        names = (self.reference, self.hypothesis)
        columns = score_columns(self.metric, *self._texts(X), columns=self.columns, names=names)
        return np.array([columns[name] for name in self.columns], dtype=np.float64).T.reshape(-1, len(self.columns))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns; input_features is not read."""
        return np.array(self.columns, dtype=object)

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

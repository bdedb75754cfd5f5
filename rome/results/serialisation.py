"""Any result as plain values that JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Turn a value into dictionaries, lists, str, int, float, bool and None.

    Dataclasses become dictionaries of their public fields, and of ``operations`` where a class finds them on demand; arrays and
    tuples become lists; a number that is not finite becomes None, because JSON has no word for it. An error span takes the
    customary form ``{text, start, end, severity, confidence, type, reference: {text, start, end}}``.
    """
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, (int, float)):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return _error_span(value) if hasattr(value, "severity") else _dataclass(value)
    return [plain(inner) for inner in value]


def _dataclass(value: Any) -> dict[str, Any]:
    """Return the public fields by name."""
    row = {item.name: plain(getattr(value, item.name)) for item in fields(value) if not item.name.startswith("_")}
    if hasattr(value, "operations"):
        row["operations"] = plain(value.operations)
    return row


def _error_span(error: Any) -> dict[str, Any]:
    """Return the fields with the place in the hypothesis at the top and the one in the reference below ``reference``; either may be None."""
    row = _dataclass(error)
    place = row.pop("hypothesis") or {"text": None, "start": None, "end": None}
    reference = row.pop("reference")
    return {**place, **row, "reference": reference}

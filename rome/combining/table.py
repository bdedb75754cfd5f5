"""FeatureTable: the four features of many candidates as plain columns, and their Parquet file.

A row is one candidate, a hypothesis against one reference: several references of a segment are several rows with the same
``segment``. The file carries the signature of what was measured, so a net can refuse numbers it was not trained for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rome.exceptions import InputError
from rome.features.values import FEATURES

WIDTH = len(FEATURES)


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """n candidates: who they are and what the four features say of them; checked when made, never changed.

    An empty table (n = 0) is allowed. Raises InputError when lengths, shapes or ranges do not fit.

    Attributes
    ----------
    segment
        (n,) int64, which segment; the rows of one segment stand together.
    reference
        (n,) int32, which of the segment's references, from 0.
    values
        (n, 4) float64 in [0, 1], the features in the order of FEATURES, 1 is best.
    raw
        (n, 4) float64, the same before they were brought to [0, 1], in ``units``.
    units
        Unit of each raw column.
    signature
        Every choice that changed a number, ``key:value|key:value``; empty when unknown.
    flags
        (n,) uint32 or None; bit i says that ``flag_names[i]`` holds for the row (such as ``empty_hypothesis``).
    """

    segment: NDArray[np.int64]
    reference: NDArray[np.int32]
    values: NDArray[np.float64]
    raw: NDArray[np.float64]
    units: tuple[str, ...] = ("",) * WIDTH
    signature: str = ""
    flags: NDArray[np.uint32] | None = None
    flag_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Bring the columns to their types and check them."""
        set_ = object.__setattr__
        set_(self, "segment", _column(self.segment, np.int64, "segment"))
        set_(self, "reference", _column(self.reference, np.int32, "reference"))
        set_(self, "values", _matrix(self.values, "values"))
        set_(self, "raw", _matrix(self.raw, "raw"))
        set_(self, "units", tuple(self.units))
        set_(self, "flag_names", tuple(self.flag_names))
        if self.flags is not None:
            set_(self, "flags", _column(self.flags, np.uint32, "flags"))
        self._check()

    def _check(self) -> None:
        columns = (self.reference, self.values, self.raw) + (() if self.flags is None else (self.flags,))
        if any(len(column) != len(self.segment) for column in columns):
            raise InputError(
                "the columns of a feature table must have one length: give every candidate one row in each of them"
            )
        if len(self.units) != WIDTH:
            raise InputError(
                f"a feature table needs {WIDTH} units, one for each of {', '.join(FEATURES)}; got {len(self.units)}"
            )
        if not len(self):
            return
        if self.segment.min() < 0 or self.reference.min() < 0:
            raise InputError("segment and reference numbers of a feature table start at 0: negative ones are not allowed")
        for index, name in enumerate(FEATURES):
            _check_range(self.values[:, index], name)
        if not np.isfinite(self.raw).all():
            raise InputError("the raw values of a feature table must be finite: measure the features again")

    def __len__(self) -> int:
        """Number of candidates (rows)."""
        return len(self.segment)

    def __eq__(self, other: object) -> bool:
        """Equal when every column, the units, the flags and the signature are."""
        return isinstance(other, FeatureTable) and self.described() == other.described() and _same_columns(self, other)

    __hash__ = None  # type: ignore[assignment]

    def described(self) -> tuple[str, tuple[str, ...], tuple[str, ...], bool]:
        """What two tables must share to be one: signature, units, names of the flags, whether there are flags."""
        return self.signature, self.units, self.flag_names, self.flags is not None

    def __getitem__(self, rows: slice | NDArray[Any]) -> FeatureTable:
        """The table of some rows, by slice, index array or mask."""
        flags = None if self.flags is None else self.flags[rows]
        picked = self.segment[rows], self.reference[rows], self.values[rows], self.raw[rows]
        return FeatureTable(*picked, self.units, self.signature, flags, self.flag_names)

    @staticmethod
    def concat(tables: Sequence[FeatureTable]) -> FeatureTable:
        """Join tables row by row; segment numbers are kept. InputError for none, or for different signatures or units."""
        if not tables:
            raise InputError("concat needs at least one feature table: give it a non-empty list")
        check_alike(tables)
        names = ["segment", "reference", "values", "raw"] + ([] if tables[0].flags is None else ["flags"])
        joined: dict[str, Any] = {name: np.concatenate([getattr(table, name) for table in tables]) for name in names}
        return replace(tables[0], **joined)

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """The columns by name: segment, reference, the four features, their ``_raw`` columns, and flags when there are any."""
        columns: dict[str, NDArray[Any]] = {"segment": self.segment, "reference": self.reference}
        columns |= {name: self.values[:, index] for index, name in enumerate(FEATURES)}
        columns |= {f"{name}_raw": self.raw[:, index] for index, name in enumerate(FEATURES)}
        return columns if self.flags is None else columns | {"flags": self.flags}

    def flags_of(self, row: int) -> tuple[str, ...]:
        """Names of the flags of one row; empty when there are none."""
        mask = 0 if self.flags is None else int(self.flags[row])
        return tuple(name for bit, name in enumerate(self.flag_names) if mask >> bit & 1)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the table as one Parquet file, all or nothing. Raises StoreError when the path cannot be written."""
        FeatureTable.save_batches(path, [self])

    @staticmethod
    def save_batches(path: str | PathLike[str], tables: Iterable[FeatureTable]) -> int:
        """Write tables one after the other into one Parquet file, all or nothing; return the number of rows.

        Only one of them needs to be in memory. Raises InputError when they are not alike, StoreError when writing fails.
        """
        from rome.combining.table_file import write_tables

        return write_tables(path, tables)

    @staticmethod
    def load(path: str | PathLike[str]) -> FeatureTable:
        """Read what `save` or `rome features` wrote. Raises InputError when it is no table, StoreError when it is damaged."""
        from rome.combining.table_file import read_table

        return read_table(path)

    @staticmethod
    def iter_batches(path: str | PathLike[str], rows: int = 1 << 18) -> Iterator[FeatureTable]:
        """Read a table in pieces of about ``rows`` rows, never separating the rows of one segment. Raises as `load`."""
        from rome.combining.table_file import iter_tables

        return iter_tables(path, rows)


def check_alike(tables: Sequence[FeatureTable]) -> None:
    """Raise InputError unless all tables share signature, units and flags."""
    for table in tables[1:]:
        if table.described() != tables[0].described():
            raise InputError(
                "these feature tables were made differently and cannot be joined: measure them under one configuration "
                f"({tables[0].described()} and {table.described()})"
            )


def rows_in_order(segment: NDArray[Any], reference: NDArray[Any]) -> bool:
    """Whether rows with these two columns stand by segment, and those of one segment by reference."""
    back = (segment[1:] == segment[:-1]) & (reference[1:] < reference[:-1])
    return not (back | (segment[1:] < segment[:-1])).any()


def _column(given: ArrayLike, kind: Any, name: str) -> NDArray[Any]:
    array = np.asarray(given)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(
            f"the column {name} of a feature table must hold whole numbers, one a row; got {array.dtype} {array.shape}"
        )
    return np.ascontiguousarray(array, dtype=kind)


def _matrix(given: ArrayLike, name: str) -> NDArray[np.float64]:
    array = np.asarray(given, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != WIDTH:
        raise InputError(
            f"{name} of a feature table must have the shape (n, {WIDTH}), columns {', '.join(FEATURES)}; got {array.shape}"
        )
    return np.ascontiguousarray(array)


def _check_range(column: NDArray[np.float64], name: str) -> None:
    """Refuse values outside [0, 1], NaN among them, and name the first row at fault."""
    if not (column.min() >= 0.0 and column.max() <= 1.0):
        row = int(np.flatnonzero(~((column >= 0.0) & (column <= 1.0)))[0])
        raise InputError(f"the feature {name} is {column[row]} in row {row}: values lie in [0, 1]; measure that segment again")


def _same_columns(a: FeatureTable, b: FeatureTable) -> bool:
    left, right = a.to_dict(), b.to_dict()
    return left.keys() == right.keys() and all(np.array_equal(left[name], right[name]) for name in left)

"""Several systems on the same segments: read their texts or their stored scores, gather the scores, rank the systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from rome.combining.signature import check_same_signature
from rome.exceptions import InputError
from rome.reports.resampling import bootstrap_intervals
from rome.results.comparison import Comparison, compare
from rome.results.corpus import CorpusScore, iter_scores
from rome.results.segment import Components, SegmentScore
from rome.storage.files import named, read_lines
from rome.storage.pair_files import Columns, PairRow, parallel_rows, read_pairs
from rome.text_table import clean

RESAMPLES = 2000

# texts


@dataclass(frozen=True)
class SystemTexts:
    """The rows of each system: the same number of segments, the same references, the same ids.

    Attributes
    ----------
    names
        The systems, distinct, in the order they were given.
    """

    names: tuple[str, ...]
    rows: tuple[list[PairRow], ...]

    @property
    def ids(self) -> bool:
        """True when segments have ids."""
        return any(row.id for row in self.rows[0])


def named_files(arguments: Sequence[str], option: str) -> list[tuple[str, str]]:
    """Return ``SYSTEM=FILE`` as (system, file), in order.

    Raises InputError for an argument without ``=``, without a system or without a file, and for a system that is named twice.
    """
    pairs: list[tuple[str, str]] = []
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not (name.strip() and equals and path):
            raise InputError(
                f"{option} must be SYSTEM=FILE, such as baseline={path or argument or 'outputs.txt'}, got {argument!r}"
            )
        if name.strip() in (known for known, _ in pairs):
            raise InputError(f"{option}: the system {name.strip()} was given twice: give each system its own name")
        pairs.append((name.strip(), path))
    return pairs


def read_systems(references: Sequence[str], hypotheses: Sequence[tuple[str, str]]) -> SystemTexts:
    """Read text files with one segment per line: those of the references, and one of each system.

    Raises InputError for a file that cannot be read, for unequal numbers of lines with both files and both numbers.

    Parameters
    ----------
    hypotheses
        (system, file), at least one.
    """
    columns = [read_lines(path) for path in references]
    texts = [list(parallel_rows(columns, read_lines(path), references, path)) for _, path in hypotheses]
    return SystemTexts(tuple(name for name, _ in hypotheses), tuple(texts))


def read_system_pairs(path: str, columns: Columns = Columns()) -> SystemTexts:
    """Read a table of pairs with a column ``system``; see `read_pairs` for the other columns.

    The rows of the first system define the segments. With ids the rows of the others may be in any order; without, each system's
    rows are its segments in order. Raises InputError that names the place for a row without a system, a segment that a system
    answers twice or not at all, and references that differ between systems.
    """
    pairs = read_pairs(path, columns)
    if not pairs:
        raise InputError(f"{named(path)} holds no segment: give at least one")
    systems: dict[str, dict[str, PairRow]] = {}
    ids = any(row.id for row in pairs)
    for row in pairs:
        cell = row.cells.get("system")
        system = "" if cell is None else str(cell).strip()
        if not system:
            raise InputError(f"{row.place}: no system: name it in a column `system`, or give --references with --hypotheses")
        rows = systems.setdefault(system, {})
        name = row.id if ids else str(len(rows) + 1)
        if name in rows:
            raise InputError(f"{row.place}: segment {name} of system {system} is already in {rows[name].place}")
        rows[name] = row
    first, segments = next(iter(systems.items()))
    for system, rows in systems.items():
        missing = segments.keys() ^ rows.keys()
        if missing:
            raise InputError(
                f"{named(path)}: segment {min(missing)} is not answered by both {first} and {system}: {first} has {len(segments)} segments "
                f"and {system} has {len(rows)}, give every system the same segments"
            )
        for segment, row in rows.items():
            if row.references != segments[segment].references:
                raise InputError(
                    f"{row.place}: segment {segment} has other references than in {segments[segment].place}: "
                    "systems are compared on the same references"
                )
    return SystemTexts(tuple(systems), tuple([rows[name] for name in segments] for rows in systems.values()))


# stored scores


def iter_systems(files: Sequence[tuple[str, str]]) -> Iterator[tuple[str, tuple[SegmentScore, ...]]]:
    """Yield the name of each segment (its id, or its number from 0) with the score of every system.

    Raises InputError when the files do not hold the same segments: unequal numbers, or other ids.

    Parameters
    ----------
    files
        (system, file).
    """
    readers = [iter_scores(path) for _, path in files]
    for count, rows in enumerate(zip_longest(*readers)):
        if None in rows:
            short = files[rows.index(None)][1]
            raise InputError(
                f"unequal numbers of segments: {short} ends after {count}: score every system on the same segments"
            )
        names = [name for name, _ in rows]
        if other := next((place for place, name in enumerate(names) if name != names[0]), None):
            raise InputError(
                f"segment {count} is {names[other]!r} in {files[other][1]} and {names[0]!r} in {files[0][1]}: "
                "give the same order of segments"
            )
        yield str(count) if names[0] is None else names[0], tuple(score for _, score in rows)


# ranks


@dataclass(frozen=True)
class Standing:
    """The place of one system among all: its means of the MEASURES, their intervals (7, 2), and its comparison with the first.

    Attributes
    ----------
    against
        This system minus the first; None for the first itself.
    """

    name: str
    rank: int
    means: NDArray[np.float64]
    intervals: NDArray[np.float64]
    against: Comparison | None


class Systems:
    """Gather the scores of several systems segment by segment; of the evidence only the errors are kept.

    Parameters
    ----------
    names
        The systems.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(map(clean, names))
        self.signature: str | None = None
        self.segment_names: list[str] = []
        self._segments: list[list[SegmentScore]] = [[] for _ in names]

    def __len__(self) -> int:
        """Return the number of segments."""
        return len(self.segment_names)

    def add(self, name: str, scores: Sequence[SegmentScore]) -> None:
        """Add one segment. Raises SignatureMismatchError when its scores were not made in the same way as the previous ones."""
        for system, score in enumerate(scores):
            if self.signature is None:
                self.signature = score.signature
            names = f"segment {name} of {self.names[system]}", "the segments before it"
            check_same_signature(score.signature, self.signature, names)
            kept = (part if part.name == "errors" else replace(part, evidence=None) for part in score.components)
            slim = replace(score, segment=len(self), components=Components(*kept), signature=self.signature)
            self._segments[system].append(slim)
        self.segment_names.append(clean(name))

    @property
    def corpora(self) -> list[CorpusScore]:
        """One CorpusScore per system."""
        return [CorpusScore(tuple(segments), self.signature or "") for segments in self._segments]

    def standings(self, *, resamples: int = RESAMPLES, seed: int = 0) -> list[Standing]:
        """Rank the systems, the highest mean score first; equal means share a rank and keep the order given.

        Intervals are percentiles of the means over ``resamples`` resamples of the segments, nan with one segment. The same seed gives the
        same numbers. Raises InputError without segments.
        """
        if not len(self):
            raise InputError("there is no segment to report: give at least one")
        corpora = self.corpora
        values = [corpus.measures for corpus in corpora]
        means = np.stack([rows.mean(axis=0) for rows in values])
        order = np.argsort(-np.nan_to_num(means[:, 0], nan=-np.inf), kind="stable").tolist()
        first, standings = order[0], []
        for system in order:
            names = self.names[first], self.names[system]
            against = None
            if system != first:
                against = compare(corpora[first], corpora[system], names=names, resamples=resamples, seed=seed)
            intervals = bootstrap_intervals(values[system], resamples, seed)
            rank = 1 + int((means[:, 0] > means[system, 0]).sum())
            standings.append(Standing(self.names[system], rank, means[system], intervals, against))
        return standings

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
from rome.results.corpus import CorpusScore, Stored, iter_scores
from rome.results.segment import Components, SegmentScore
from rome.storage.files import STANDARD_INPUT, named, read_lines
from rome.storage.pair_files import PairRow, parallel_rows, read_pairs
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

    Raises InputError for a file that cannot be read, for unequal numbers of lines with both files and both numbers, and for standard input that
    is named twice.

    Parameters
    ----------
    hypotheses
        (system, file), at least one.
    """
    if [*references, *(path for _, path in hypotheses)].count(STANDARD_INPUT) > 1:
        raise InputError("standard input was named twice: give `-` for one file only")
    if STANDARD_INPUT in references and len(hypotheses) > 1:
        raise InputError("references cannot be read from standard input for several systems: write them to a file")
    columns = [read_lines(path) for path in references]
    texts = [list(parallel_rows(columns, read_lines(path), references, path)) for _, path in hypotheses]
    for (_, path), rows in zip(hypotheses, texts, strict=True):
        if not rows:
            raise InputError(f"{named(path)} holds no segment: give at least one")
    return SystemTexts(tuple(name for name, _ in hypotheses), tuple(texts))


def read_system_pairs(path: str) -> SystemTexts:
    """Read a TSV or JSON-lines file of pairs with a column ``system``; see `read_pairs` for the other columns.

    The rows of the first system define the segments. With ids the rows of the others may be in any order; without, each system's
    rows are its segments in order. Raises InputError that names the place for a row without a system, a segment that a system
    answers twice or not at all, and references that differ between systems.
    """
    if path == STANDARD_INPUT:
        raise InputError("--pairs cannot read standard input: write the pairs to a file")
    pairs = read_pairs(path)
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
        _check_answered(first, segments, system, rows)
        _check_answered(system, rows, first, segments)
        for segment, row in rows.items():
            if row.references != segments[segment].references:
                raise InputError(
                    f"{row.place}: segment {segment} has other references than in {segments[segment].place}: "
                    "systems are compared on the same references"
                )
    return SystemTexts(tuple(systems), tuple([rows[name] for name in segments] for rows in systems.values()))


def _check_answered(system: str, rows: dict[str, PairRow], other: str, answers: dict[str, PairRow]) -> None:
    """Raise InputError for a segment of one system that the other one does not answer."""
    missing = next((segment for segment in rows if segment not in answers), None)
    if missing is not None:
        raise InputError(
            f"{rows[missing].place}: segment {missing} of system {system} is not answered by {other} ({system} has {len(rows)} "
            f"segments and {other} has {len(answers)}): give every system the same segments"
        )


# stored scores


def iter_systems(files: Sequence[tuple[str, str]]) -> Iterator[tuple[str, tuple[SegmentScore, ...]]]:
    """Yield the name of each segment (its id, or its number from 0) with the score of every system.

    Raises InputError, with both places and counts, when the files do not hold the same segments: unequal numbers, other ids, or another text
    for the same reference.

    Parameters
    ----------
    files
        (system, file).
    """
    readers = [iter_scores(path) for _, path in files]
    for count, rows in enumerate(zip_longest(*readers)):
        if None in rows:
            lengths = [count + (row is not None) + sum(1 for _ in rest) for row, rest in zip(rows, readers, strict=True)]
            counts = ", ".join(f"{path} has {length}" for (_, path), length in zip(files, lengths, strict=True))
            raise InputError(f"the files hold unequal numbers of segments ({counts}): score every system on the same segments")
        for (_, path), row in zip(files, rows, strict=True):
            _check_same_segment(rows[0], files[0][1], row, path, count)
        name = rows[0][0]
        yield str(count) if name is None else name, tuple(score for _, score in rows)


def _check_same_segment(first: Stored, first_path: str, other: Stored, path: str, count: int) -> None:
    """Raise InputError unless both are the same segment, with the same text where the same reference scored best."""
    (name, one), (its_name, two) = first, other
    if name != its_name:
        raise InputError(
            f"segment {count} is {its_name!r} in {path} and {name!r} in {first_path}: give the same order of segments"
        )
    if one.reference_index == two.reference_index and one.reference != two.reference:
        raise InputError(
            f"segment {count} has another reference in {path} than in {first_path}: score every system against the same references"
        )


# ranks


@dataclass(frozen=True)
class Standing:
    """The place of one system among all: its means of the MEASURES, their intervals (5, 2), and its comparison with the first.

    Attributes
    ----------
    against
        The first system minus this one; None for the first itself.
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

"""What `rome report` reads: the texts of several systems, or the scores that `rome score --format jsonl --evidence` wrote for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rome.exceptions import InputError
from rome.results import SegmentScore
from rome.results.stored import Stored, iter_scores
from rome.storage.files import STANDARD_INPUT, named, read_lines
from rome.storage.pair_files import PairRow, parallel_rows, read_pairs


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
        """Whether segments have ids."""
        return any(row.id for row in self.rows[0])


def named_files(arguments: Sequence[str], option: str) -> list[tuple[str, str]]:
    """``SYSTEM=FILE`` as (system, file), in order.

    Raises InputError for an argument without ``=``, without a system or without a file, and for a system that is named twice.
    """
    pairs: list[tuple[str, str]] = []
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not (name.strip() and equals and path):
            raise InputError(f"{option} {argument}: give SYSTEM=FILE, such as baseline={path or argument or 'outputs.txt'}")
        if name.strip() in (known for known, _ in pairs):
            raise InputError(f"{option}: the system {name.strip()} was given twice: give each system a name of its own")
        pairs.append((name.strip(), path))
    return pairs


def read_systems(references: Sequence[str], hypotheses: Sequence[tuple[str, str]]) -> SystemTexts:
    """Read text files with one segment a line: those of the references, and one of each system.

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
        raise InputError("references cannot come from standard input for several systems: write them to a file")
    columns = [read_lines(path) for path in references]
    texts = [list(parallel_rows(columns, read_lines(path), references, path)) for _, path in hypotheses]
    for (_, path), found in zip(hypotheses, texts, strict=True):
        if not found:
            raise InputError(f"{named(path)} holds no segment: give at least one")
    return SystemTexts(tuple(name for name, _ in hypotheses), tuple(texts))


def read_system_pairs(path: str) -> SystemTexts:
    """Read a TSV or JSON-lines file of pairs with a column ``system``; see `read_pairs` for the other columns.

    The rows of the first system say which segments there are. With ids the others may come in any order; without, each system's
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
        named_system = row.cells.get("system")
        system = "" if named_system is None else str(named_system).strip()
        if not system:
            raise InputError(f"{row.place}: no system: name it in a column `system`, or give --references with --hypotheses")
        rows = systems.setdefault(system, {})
        name = row.id if ids else str(len(rows) + 1)
        if name in rows:
            raise InputError(f"{row.place}: segment {name} of system {system} stands in {rows[name].place} already")
        rows[name] = row
    first, segments = next(iter(systems.items()))
    for system, rows in systems.items():
        _check_same_segments((first, segments), (system, rows))
    return SystemTexts(tuple(systems), tuple([rows[name] for name in segments] for rows in systems.values()))


def _check_same_segments(first: tuple[str, dict[str, PairRow]], other: tuple[str, dict[str, PairRow]]) -> None:
    """Both systems answer the same segments, against the same references."""
    (name, segments), (system, rows) = first, other
    for one, its, two, their in ((name, segments, system, rows), (system, rows, name, segments)):
        missing = next((segment for segment in its if segment not in their), None)
        if missing is not None:
            counts = f"{name} has {len(segments)} segments and {system} has {len(rows)}"
            raise InputError(
                f"{its[missing].place}: segment {missing} of system {one} is not answered by {two} ({counts}): "
                "give every system the same segments"
            )
    for segment, row in rows.items():
        if row.references != segments[segment].references:
            raise InputError(
                f"{row.place}: segment {segment} has other references than in {segments[segment].place}: "
                "systems are compared on the same references"
            )


# stored scores


def iter_systems(files: Sequence[tuple[str, str]]) -> Iterator[tuple[str, tuple[SegmentScore, ...]]]:
    """The name of each segment (its id, or its number from 0) with the score of every system, segment by segment.

    Raises InputError, with both places and counts, when the files do not hold the same segments: unequal numbers, other ids, or another text
    for the same reference.

    Parameters
    ----------
    files
        (system, file).
    """
    readers = [iter_scores(path) for _, path in files]
    for count, rows in enumerate(zip_longest(*readers)):
        for (_, path), row in zip(files, rows, strict=True):
            if row is None:
                lengths = [count + sum(1 for _ in rest) + (left is not None) for rest, left in zip(readers, rows, strict=True)]
                told = ", ".join(f"{path} has {length}" for (_, path), length in zip(files, lengths, strict=True))
                raise InputError(
                    f"the files hold unequal numbers of segments ({told}): score every system on the same segments"
                )
            _check_same_segment(rows[0], files[0][1], row, path, count)
        name = rows[0][0]
        yield str(count) if name is None else name, tuple(score for _, score in rows)


def _check_same_segment(first: Stored, first_path: str, other: Stored, path: str, count: int) -> None:
    """Both are the same segment, and the same reference where the same one scored best."""
    (name, one), (its_name, two) = first, other
    if name != its_name:
        raise InputError(
            f"segment {count} is {its_name!r} in {path} and {name!r} in {first_path}: give the same order of segments"
        )
    if one.reference_index == two.reference_index and one.reference != two.reference:
        raise InputError(
            f"segment {count} has another reference in {path} than in {first_path}: score every system against the same references"
        )

"""The texts of several systems that answered the same segments, from parallel text files or from one file of pairs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rome.exceptions import InputError
from rome.storage.files import STANDARD_INPUT, named, read_lines
from rome.storage.pair_files import PairTexts, read_pairs, read_parallel

__all__ = ["SystemTexts", "named_files", "read_system_pairs", "read_systems"]


@dataclass(frozen=True)
class SystemTexts:
    """One PairTexts a system: the same number of segments, the same references, the same ids.

    names : the systems, distinct, in the order they were given.
    """

    names: tuple[str, ...]
    texts: tuple[PairTexts, ...]

    @property
    def ids(self) -> list[str] | None:
        """What the segments are called; None when the input has no ids."""
        return self.texts[0].ids


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

    hypotheses : (system, file), at least one. Raises InputError where `read_parallel` does, so for unequal numbers of lines with
    both files and both numbers; and for standard input that is named twice.
    """
    if [*references, *(path for _, path in hypotheses)].count(STANDARD_INPUT) > 1:
        raise InputError("standard input was named twice: give `-` for one file only")
    if STANDARD_INPUT in references and len(hypotheses) > 1:
        raise InputError("references cannot come from standard input for several systems: write them to a file")
    texts = [read_parallel(references, path) for _, path in hypotheses]
    for (_, path), found in zip(hypotheses, texts, strict=True):
        if not found.hypotheses:
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
    if not pairs.hypotheses:
        raise InputError(f"{named(path)} holds no segment: give at least one")
    systems: dict[str, dict[str, int]] = {}
    for row, system in enumerate(_systems(path, pairs)):
        rows = systems.setdefault(system, {})
        name = pairs.ids[row] if pairs.ids else str(len(rows) + 1)
        if name in rows:
            raise InputError(
                f"{pairs.places[row]}: segment {name} of system {system} stands in {pairs.places[rows[name]]} already"
            )
        rows[name] = row
    first, segments = next(iter(systems.items()))
    for system, rows in systems.items():
        _check_same(pairs, (first, segments), (system, rows))
    texts = [_selected(pairs, [rows[name] for name in segments]) for rows in systems.values()]
    return SystemTexts(tuple(systems), tuple(texts))


def _systems(path: str, pairs: PairTexts) -> list[str]:
    """The system of every row of a file that `read_pairs` accepted."""
    lines = read_lines(path)
    if lines[0].lstrip().startswith("{"):
        found = [json.loads(line).get("system") for line in lines if line.strip()]
    else:
        header = lines[0].split("\t")
        column = header.index("system") if "system" in header else -1
        found = [line.split("\t")[column] if column >= 0 else None for line in lines[1:]]
    names = ["" if name is None else str(name).strip() for name in found]
    for name, place in zip(names, pairs.places, strict=True):
        if not name:
            raise InputError(f"{place}: no system: name it in a column `system`, or give --references with --hypotheses")
    return names


def _check_same(pairs: PairTexts, first: tuple[str, dict[str, int]], other: tuple[str, dict[str, int]]) -> None:
    """Both systems answer the same segments, against the same references."""
    (name, segments), (system, rows) = first, other
    for one, its, two, their in ((name, segments, system, rows), (system, rows, name, segments)):
        missing = next((segment for segment in its if segment not in their), None)
        if missing is not None:
            counts = f"{name} has {len(segments)} segments and {system} has {len(rows)}"
            raise InputError(
                f"{pairs.places[its[missing]]}: segment {missing} of system {one} is not answered by {two} ({counts}): "
                "give every system the same segments"
            )
    for segment, row in rows.items():
        if pairs.references[row] != pairs.references[segments[segment]]:
            raise InputError(
                f"{pairs.places[row]}: segment {segment} has other references than in {pairs.places[segments[segment]]}: "
                "systems are compared on the same references"
            )


def _selected(pairs: PairTexts, rows: list[int]) -> PairTexts:
    """The rows in the order given."""
    return replace(
        pairs,
        references=[pairs.references[row] for row in rows],
        hypotheses=[pairs.hypotheses[row] for row in rows],
        places=[pairs.places[row] for row in rows],
        ids=[pairs.ids[row] for row in rows] if pairs.ids else None,
        notes=None,
    )

"""Tables of a file of generated pairs: edits, kinds, types and severities."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from rome.reports.model import Cell, Table
from rome.train.synthesis.pairs import SyntheticPair

SEVERITIES = ("none", "minor", "major")


def tables_of(pairs: Sequence[SyntheticPair], skipped: Mapping[str, int]) -> list[Table]:
    """Return the tables of some pairs.

    Parameters
    ----------
    skipped
        Texts that gave nothing, by reason.
    """
    operations = [operation for pair in pairs for operation in pair.operations]
    labels = [pair.label for pair in pairs if pair.label is not None]
    rows: list[tuple[Cell, ...]] = [
        ("pairs", len(pairs)),
        ("pairs without any change", sum(pair.reference == pair.hypothesis for pair in pairs)),
        ("edits", len(operations)),
        ("edits per pair", len(operations) / len(pairs)),
        ("mean label", sum(labels) / len(labels) if labels else None),
        *((f"skipped: {reason}", number) for reason, number in sorted(skipped.items()) if number),
    ]
    return [
        Table("synthesis", "Generated pairs", ("what", "figure"), tuple(rows), digits=2),
        _by_severity("kind", ((one.kind, one.severity) for one in operations)),
        _by_severity("type", ((one.type or "-", one.severity) for one in operations)),
    ]


def _by_severity(column: str, edits: Iterable[tuple[str, str]]) -> Table:
    """Return one row per kind or type: how often, as which severity, and its share of all edits."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for kind, severity in edits:
        counts[kind][severity] += 1
    total = sum(own.total() for own in counts.values())
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (kind, own.total(), *(own[severity] for severity in SEVERITIES), own.total() / total)
        for kind, own in sorted(counts.items(), key=lambda item: (-item[1].total(), item[0]))
    )
    note = "none: harmless, or a pipeline without severities"
    title = f"{column.capitalize()}s of edits and their severities"
    return Table(f"synthesis_{column}s", title, (column, "edits", *SEVERITIES, "share"), rows, note)

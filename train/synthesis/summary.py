"""What a file of generated pairs holds: how many edits, of which kinds and types, how bad; as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rome.reports.model import Cell, Table
from rome.train.synthesis.pairs import SyntheticPair

SEVERITIES = ("none", "minor", "major")
MOST_TYPES = 40


@dataclass
class Summary:
    """Counts over pairs: edits a pair, severities by kind and by type, labels (those without a label are not among them), copies."""

    pairs: int = 0
    same: int = 0
    edits: Counter[int] = field(default_factory=Counter)
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    types: Counter[tuple[str, str]] = field(default_factory=Counter)
    labels: Counter[float] = field(default_factory=Counter)

    @classmethod
    def of(cls, pairs: Iterable[SyntheticPair]) -> Summary:
        """Count the pairs."""
        found = cls()
        for pair in pairs:
            found.pairs += 1
            found.same += pair.reference == pair.hypothesis
            found.edits[len(pair.operations)] += 1
            found.kinds.update((operation.kind, operation.severity) for operation in pair.operations)
            found.types.update((operation.type or "-", operation.severity) for operation in pair.operations)
            if pair.label is not None:
                found.labels[pair.label] += 1
        return found


def tables_of(
    summary: Summary, made: int = 0, seconds: float = 0.0, skipped: Mapping[str, int] | None = None
) -> list[Table]:
    """Return the tables; without pairs they are empty.

    Parameters
    ----------
    made, seconds
        Pairs of this run and how long they took.
    skipped
        Texts that gave nothing, by reason.
    """
    count = sum(summary.edits[n] * n for n in summary.edits)
    rate = made / seconds if made and seconds > 0 else None
    rows: list[tuple[str, str | int | float | None]] = [
        ("pairs", summary.pairs),
        ("pairs without any change", summary.same),
        ("edits", count),
        ("edits a pair", count / summary.pairs if summary.pairs else None),
        ("mean label", _mean(summary.labels)),
        ("pairs of this run", made),
        ("pairs a second", rate),
        *((f"skipped: {reason}", number) for reason, number in sorted((skipped or {}).items()) if number),
    ]
    return [
        Table("synthesis", "Generated pairs", ("what", "figure"), tuple(rows), digits=2),
        _by_severity("synthesis_kinds", "Kinds of edits and their severities", "kind", summary.kinds),
        _by_severity("synthesis_types", "Types of edits and their severities", "type", summary.types),
    ]


def _by_severity(name: str, title: str, column: str, counts: Counter[tuple[str, str]]) -> Table:
    """One row a kind or type: how often, as which severity, and its share of all edits."""
    totals: Counter[str] = Counter()
    for (what, _), number in counts.items():
        totals[what] += number
    everything = sum(totals.values())
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (what, total, *(counts[what, severity] for severity in SEVERITIES), total / everything)
        for what, total in sorted(totals.items(), key=lambda item: (-item[1], item[0]))[:MOST_TYPES]
    )
    note = "none: harmless, or a pipeline without severities"
    return Table(name, title, (column, "edits", *SEVERITIES, "share"), rows, note)


def _mean(labels: Counter[float]) -> float | None:
    number = sum(labels.values())
    return sum(label * times for label, times in labels.items()) / number if number else None

"""What a file of generated pairs holds: how many edits, of which kinds and types, how bad; as tables and figures of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rome.reports.model import Bars, Cell, Figure, Lines, Table
from rome.train.synthesis.pairs import Operation, SyntheticPair

SEVERITIES = ("none", "minor", "major")
MOST_TYPES = 40
EXAMPLES = 10


@dataclass
class Summary:
    """Counts over pairs: edits a pair, severities by kind and by type, labels (those without a label are not among them), copies, examples."""

    pairs: int = 0
    same: int = 0
    edits: Counter[int] = field(default_factory=Counter)
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    types: Counter[tuple[str, str]] = field(default_factory=Counter)
    labels: Counter[float] = field(default_factory=Counter)
    examples: list[SyntheticPair] = field(default_factory=list)

    @classmethod
    def of(cls, pairs: Iterable[SyntheticPair]) -> Summary:
        """Count; of the pairs themselves only the first ten with an edit are kept."""
        found = cls()
        for pair in pairs:
            found.pairs += 1
            if pair.operations and len(found.examples) < EXAMPLES:
                found.examples.append(pair)
            found.same += pair.reference == pair.hypothesis
            found.edits[len(pair.operations)] += 1
            found.kinds.update((operation.kind, operation.severity) for operation in pair.operations)
            found.types.update((operation.type or "-", operation.severity) for operation in pair.operations)
            if pair.label is not None:
                found.labels[pair.label] += 1
        return found


def parts_of(
    summary: Summary, made: int = 0, seconds: float = 0.0, skipped: Mapping[str, int] | None = None
) -> list[Table | Figure]:
    """Tables and figures.

    Without pairs the tables are empty.

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
        *_figures(summary, count),
        _examples(summary.examples),
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


def _examples(pairs: Iterable[SyntheticPair]) -> Table:
    """The first pairs, with what was done to them."""
    rows = tuple((pair.reference, pair.hypothesis, pair.label, "; ".join(map(_told, pair.operations))) for pair in pairs)
    return Table("synthesis_examples", "The first pairs", ("reference", "hypothesis", "label", "edits"), rows, digits=1)


def _told(operation: Operation) -> str:
    """An operation in words: ``replacement "red" -> "blue" (major)``."""
    old, new = operation.original.strip(), operation.new.strip()
    change = f'"{old}" -> "{new}"' if old and new else f'+"{new}"' if new else f'-"{old}"'
    return f"{operation.type or operation.kind} {change}" + (f" ({operation.severity})" if operation.label is not None else "")


def _figures(summary: Summary, count: int) -> list[Figure]:
    """Edits a pair as a line; severities by kind, and labels, as bars."""
    most = max(summary.edits, default=0)
    x = tuple(float(n) for n in range(most + 1)) if summary.pairs else ()
    shares = [summary.edits[int(n)] / summary.pairs for n in x]
    kinds = sorted((kind, severity) for kind, severity in summary.kinds if summary.kinds[kind, severity])
    labels = sorted(summary.labels)
    shown = f"{summary.pairs:,} pairs"
    return [
        Lines("synthesis_edits", "Edits a pair", x, {"share of pairs": shares}, "edits", "share of pairs", shown),
        Bars(
            "synthesis_severities",
            "Kind and severity of the edits",
            tuple(f"{kind}, {severity}" for kind, severity in kinds),
            tuple(summary.kinds[key] / count for key in kinds),
            axis="share of edits",
            note=shown,
        ),
        Bars(
            "synthesis_labels",
            "Labels of the pairs",
            tuple(f"{label:g}" for label in labels),
            tuple(summary.labels[label] / summary.pairs for label in labels),
            axis="share of pairs",
            note=shown,
        ),
    ]


def _mean(labels: Counter[float]) -> float | None:
    number = sum(labels.values())
    return sum(label * times for label, times in labels.items()) / number if number else None

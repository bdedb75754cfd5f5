"""The pages of the reports on speed and on faults: what was aimed at, tables, and plots, from the tables that the benchmarks left in a folder."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from result_rows import read_rows

from rome.reports.figures import draw, is_empty, plots_available, save
from rome.reports.model import Bars, Figure, Lines

Row = dict[str, str]
Part = str | Figure
SHARE = 0.04
"""Stages that never take so much of the whole are drawn together."""
LAST_SYSTEMS = 10
"""Systems whose cost is compared with that of their hypotheses alone; one alone says little on a machine with other work."""
AIMS = {"base": (15, 200, 4, 8, 4, 1.5), "small": (60, 400, 20, 10, 3, 1.0)}
"""Of each set: pairs a second cold and from stored analyses, times as fast as BERTScore and COMET-22, seconds of one pair, gigabytes."""
WITHOUT, WITH = "rome score --format tsv", "rome score with the models of"


def write_page(folder: Path) -> Path:
    """Write speed_report.md and its plots, speed_*.svg, from the tables in the folder; what is not there is left out."""
    parts: list[str] = []
    for part in _parts(folder):
        if isinstance(part, str):
            parts.append(part)
        elif plots_available() and not is_empty(part):
            save(draw(part), folder / f"{part.name}.svg")
            parts.append(f"![{part.title}]({part.name}.svg)")
    page = folder / "speed_report.md"
    page.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    return page


def write_fault_page(folder: Path) -> Path:
    """Write fault_report.md from what the benchmarks of faults left in the folder; what is not there is left out."""
    parts = [
        "# What goes wrong on purpose, and what it costs",
        "Made by `python benchmarks/report.py --report faults` from the tables that stand beside this page; a broken law, a wrong row, a "
        "finding ends the command with 1.",
    ]
    done = folder / "faults.md"
    parts += [done.read_text(encoding="utf-8").strip().replace("# ", "## ", 1)] if done.is_file() else []
    for title, name in (
        ("Laws, and ways of asking", "laws"),
        ("One pair of any length, and texts that are none", "hostile"),
        ("Changed bytes at every reader", "fuzz"),
    ):
        notes, rows = read_rows(folder / f"{name}.tsv")
        parts += [str(part) for part in _section(title, notes, [_table(rows)])] if rows else []
    page = folder / "fault_report.md"
    page.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    return page


def _parts(folder: Path) -> Iterator[Part]:
    yield "# How fast, and how it grows"
    yield (
        "Made by `python benchmarks/report.py` from the tables that stand beside this page. Ratios were measured in one run; absolute "
        "figures are those of one machine, whose load each section tells."
    )
    yield from _section("Aims", [], _aims(folder), "A dash where the benchmark has not run.")
    for title, name, tell in (
        ("Beside other metrics, cold", "peers", _peers),
        ("Cold, from stored analyses, from stored features", "speed", lambda rows: [_table(rows)]),
        ("Where the time goes", "stages", _stages),
        ("Number of pairs", "scaling_pairs", _pairs),
        ("Length of the texts", "scaling_words", _words),
        ("Growth of each stage", "scaling_growth", _growth),
        ("Number of systems", "scaling_systems", _systems),
        ("Threads and processes", "scaling_processors", lambda rows: [_table(rows)]),
        ("Memory", "memory", _memory),
        ("Start, and stored features", "start", lambda rows: [_table(rows)]),
    ):
        notes, rows = read_rows(folder / f"{name}.tsv")
        if rows:
            yield from _section(title, notes, tell(rows))


def _section(title: str, notes: Sequence[str], parts: Sequence[Part], note: str = "") -> Iterator[Part]:
    yield f"## {title}"
    yield note
    yield "\n".join(f"- {text}" for text in notes)
    yield from parts


def _table(rows: Sequence[Mapping[str, str]]) -> str:
    """A table in Markdown, figures with three digits."""
    if not rows:
        return ""
    lines = ["| " + " | ".join(name.replace("_", " ") for name in rows[0]) + " |", "|---" * len(rows[0]) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(_shown(cell) for cell in row.values()) + " |" for row in rows)])


def _shown(cell: str) -> str:
    """A number with three digits that count, thousands apart, anything else as it is; a dash for nothing."""
    number = _number(cell)
    if math.isnan(number):
        return cell.replace("|", "\\|") or "–"
    return f"{number:,.0f}" if abs(number) >= 100 or number == int(number) else f"{number:.3g}"


def _number(cell: str | None) -> float:
    try:
        return float(cell or "nan")
    except ValueError:
        return math.nan


def _aims(folder: Path) -> list[Part]:
    """What issue and design want, what was measured, and whether that is enough."""
    peers = read_rows(folder / "peers.tsv")[1]
    start = {row["what"].partition(",")[0]: row for row in read_rows(folder / "start.tsv")[1]}
    systems = read_rows(folder / "scaling_systems.tsv")[1]
    peaks: dict[str, list[float]] = {}
    for row in read_rows(folder / "memory.tsv")[1]:
        peaks.setdefault(row["operation"], []).append(_number(row["peak_mib"]))
    bare = peaks.get(WITHOUT, [])
    last = [_number(row["ms_a_pair"]) / _number(row["own_hypotheses_ms"]) for row in systems[-LAST_SYSTEMS:]]
    wanted: list[tuple[str, float, str, float]] = []
    for models, (cold, stored, bertscore, comet, seconds, gigabytes) in AIMS.items():
        of_set = [peak for name, found in peaks.items() if name.startswith(f"{WITH} {models},") for peak in found]
        wanted += [
            (f"{models}: pairs a second, cold", _fastest(peers, models, "pairs_per_second"), ">=", cold),
            (f"{models}: pairs a second, stored analyses", _fastest(peers, models, "pairs_per_second", "stored"), ">=", stored),
            (f"{models}: the same with bf16", _fastest(peers, models, "pairs_per_second", "bf16, stored"), ">=", stored),
            (
                f"{models}: times as fast as BERTScore, roberta-large architecture",
                _fastest(peers, models, "times_bertscore"),
                ">=",
                bertscore,
            ),
            (f"{models}: times as fast as COMET-22's architecture", _fastest(peers, models, "times_comet"), ">=", comet),
            (
                f"{models}: rome score of one pair, seconds",
                _of(start, f"rome score of one pair with {models}", "value"),
                "<=",
                seconds,
            ),
            (f"{models}: highest peak memory, MiB", max(of_set, default=math.nan), "<=", gigabytes * 1e9 / 2**20),
        ]
    wanted += [
        (
            f"system {len(systems) or 30} as a multiple of its hypotheses alone, median of the last {LAST_SYSTEMS}",
            median(last) if last else math.nan,
            "<=",
            1.1,
        ),
        ("import rome, ms", _of(start, "import rome", "value"), "<=", 100),
        ("stored features combined a second, one core", _of(start, "combining stored features", "value"), ">=", 1_000_000),
        ("largest peak over smallest, any size, without models", max(bare) / min(bare) if bare else math.nan, "<=", 1.1),
    ]
    rows = []
    for what, measured, sign, aim in wanted:
        met = "–" if math.isnan(measured) else "yes" if (measured >= aim) == (sign == ">=") or measured == aim else "no"
        cell = "" if math.isnan(measured) else f"{measured:.6g}"
        rows.append({"what": what, "measured": cell, "aim": f"{sign} {_shown(f'{aim:.6g}')}", "met": met})
    return [_table(rows)]


def _of(rows: Mapping[str, Row], name: str, column: str) -> float:
    return _number(rows[name][column]) if name in rows else math.nan


def _fastest(rows: Sequence[Row], models: str, column: str, mode: str = "cold") -> float:
    """The highest number of a model set's modes of that beginning; nan where the set was not measured."""
    known = (row for row in rows if row.get("models") == models and row["mode"].startswith(mode))
    return max((_number(row[column]) for row in known), default=math.nan)


def _peers(rows: Sequence[Row]) -> list[Part]:
    learned = [row for row in rows if not row["metric"].startswith("chrF")]
    names = tuple(", ".join(filter(None, (row["metric"], row.get("models"), row.get("mode")))) for row in learned)
    title = "Pairs a second, all in one run"
    columns = [[_number(row[name]) for row in learned] for name in ("pairs_per_second", "lowest", "highest")]
    bars = Bars("speed_peers", title, names, *map(tuple, columns), axis="pairs a second", digits=1)
    return [_table(rows), bars]


def _stages(rows: Sequence[Row]) -> list[Part]:
    shares = [(row["stage"], _number(row["share_percent"])) for row in rows[:-1]]
    labels, values = zip(*sorted(shares, key=lambda pair: -pair[1]), strict=True)
    return [_table(rows), Bars("speed_stages", "Share of the time of a pair, cold", labels, values, axis="percent", digits=1)]


def _pairs(rows: Sequence[Row]) -> list[Part]:
    """Milliseconds a pair as a multiple of those at the smallest size: 1 everywhere when cost grows with the work alone."""
    found: dict[str, dict[float, float]] = {}
    for row in rows:
        if row["how"] == "measured":
            found.setdefault(row["from"], {})[_number(row["pairs"])] = _number(row["ms_a_pair"])
    series = {name: {n: ms / next(iter(points.values())) for n, ms in points.items()} for name, points in found.items()}
    plot = _lines("speed_pairs", "Time a pair, as a multiple of that at the smallest size", series, "pairs", "multiple")
    return [_table(rows), plot]


def _words(rows: Sequence[Row]) -> list[Part]:
    """A plot a kind of text: milliseconds a word of each stage, so that a level line is a cost that grows with the length alone."""
    parts: list[Part] = [
        "Milliseconds a pair, and in the plots milliseconds a pair and word of the reference: a level line is linear growth."
    ]
    for kind in dict.fromkeys(row["kind"] for row in rows):
        of_kind = [row for row in rows if row["kind"] == kind]
        sizes = list(dict.fromkeys(row["words"] for row in of_kind))
        cost = {(row["stage"], row["words"]): _number(row["ms_a_pair"]) for row in of_kind}
        stages = [name for name in dict.fromkeys(row["stage"] for row in of_kind) if name != "all of it"] or ["all of it"]
        whole = {size: sum(cost[stage, size] for stage in stages) for size in sizes}
        shown = [stage for stage in stages if any(cost[stage, size] >= SHARE * whole[size] for size in sizes)]
        series = {stage: {float(size): cost[stage, size] / float(size) for size in sizes} for stage in shown}
        rest = {float(s): sum(cost[stage, s] for stage in stages if stage not in shown) / float(s) for s in sizes}
        series |= {"everything else": rest} if len(shown) < len(stages) else {}
        table = [
            {"stage": stage, **{f"{size} words": f"{cost[stage, size]:.4g}" for size in sizes}}
            for stage in dict.fromkeys([*stages, "all of it"])
        ]
        name = f"speed_words_{kind.partition(' ')[0]}"
        parts += [f"### Texts of {kind}", _table(table)]
        parts.append(_lines(name, f"Texts of {kind}: time a word", series, "words a text", "ms a word"))
    return parts


def _growth(rows: Sequence[Row]) -> list[Part]:
    """One row a stage with the exponents of both kinds of texts."""
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    names = {"exponent": "exponent", "exponent_at_the_end": "between the last two lengths"}
    by = {(row["kind"], row["stage"]): row for row in rows}
    table = [
        {"stage": stage, **{f"{kind}: {name}": by[kind, stage][column] for kind in kinds for column, name in names.items()}}
        for stage in dict.fromkeys(row["stage"] for row in rows)
    ]
    return ["The exponent e of n^e for n words, fitted from 25 words on: 1 is linear, 2 quadratic.", _table(table)]


def _systems(rows: Sequence[Row]) -> list[Part]:
    columns = {"measured": "ms_a_pair", "as many hypotheses alone": "own_hypotheses_ms"}
    series = {name: {_number(row["system"]): _number(row[column]) for row in rows} for name, column in columns.items()}
    shown = [row for n, row in enumerate(rows) if n < 3 or n == len(rows) - 1]
    return [_table(shown), _lines("speed_systems", "Systems scored one after the other", series, "system", "ms a pair")]


def _memory(rows: Sequence[Row]) -> list[Part]:
    """The table, and a plot of what the real models take and one of everything else."""
    parts: list[Part] = [_table(rows)]
    for name, title, models in (
        ("speed_memory_models", "Peak memory with the models", True),
        ("speed_memory_others", "Peak memory without models", False),
    ):
        series: dict[str, dict[float, float]] = {}
        for row in rows:
            if ("with the models" in row["operation"]) == models:
                series.setdefault(row["operation"], {})[_number(row["size"])] = _number(row["peak_mib"])
        if series:
            parts.append(_lines(name, title, series, "pairs, or rows of a table", "MiB"))
    return parts


def _lines(name: str, title: str, series: Mapping[str, Mapping[float, float]], x_label: str, y_label: str) -> Lines:
    """Lines over all places that any series has."""
    x = sorted({place for points in series.values() for place in points})
    ys = {label: tuple(points.get(place, math.nan) for place in x) for label, points in series.items()}
    return Lines(name, title, tuple(x), ys, x_label, y_label)

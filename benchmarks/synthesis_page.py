"""The page of `benchmarks/synthesis.py`: a table, plots of the distributions, and one example a sentence for each pipeline."""

from __future__ import annotations

import html
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import numpy as np

from rome.reports.figures import draw, save
from rome.reports.model import Figure, Heatmap, Lines
from rome.train.synthesis.pairs import SyntheticPair
from rome.train.synthesis.summary import Summary

SEVERITIES = ("none", "minor", "major")
MOST_EDITS, MOST_ROWS, EXAMPLES = 12, 15, 10
ABOUT = {
    "sescore": "SEScore: insertions, deletions, replacements and swaps, up to five; severity by entailment in both directions.",
    "sescore2": "SEScore2: differences from a similar sentence and dropped words; severity by likelihood and word weights. "
    "Phrases of up to six words come from Wikipedia (WikiSplit, CC BY-SA 4.0).",
    "bleurt": "BLEURT: words hidden, here and there or in a row, and filled by a language model; words dropped. No severities.",
    "rome": "RoMe: up to five steps of TextAttack, among them a TextFooler-like attack; severity by what each step changed.",
    "perturbations": "One perturbation a pair, each with the severity of DEMETR's table 1; critical counts as major.",
}
COLUMNS = (
    "pipeline",
    "pairs",
    "texts_without_pair",
    "edits_a_pair",
    "minor",
    "major",
    "mean_label",
    "pairs_per_second",
    "seconds_to_load",
)


@dataclass
class Run:
    """What one pipeline made: pairs of the many texts, examples of our own ones. rate : pairs a second. loading : seconds."""

    name: str
    pairs: list[SyntheticPair]
    examples: list[SyntheticPair]
    signature: str
    loading: float
    rate: float
    skipped: dict[str, int]
    summary: Summary = field(init=False)

    def __post_init__(self) -> None:
        """Count."""
        self.summary = Summary.of(self.pairs)

    def row(self, texts: int) -> list[str]:
        """One cell a column of COLUMNS."""
        count = sum(number * times for number, times in self.summary.edits.items())
        shares = [
            sum(n for (_, s), n in self.summary.kinds.items() if s == severity) / max(count, 1) for severity in SEVERITIES
        ]
        labels = [pair.label for pair in self.pairs if pair.label is not None]
        weighed = bool(labels)
        return [
            self.name,
            str(len(self.pairs)),
            str(texts - len({pair.source for pair in self.pairs})),
            f"{count / max(len(self.pairs), 1):.2f}",
            *(f"{share:.3f}" if weighed else "" for share in shares[1:]),
            f"{np.mean(labels):.2f}" if weighed else "",
            f"{self.rate:.1f}",
            f"{self.loading:.1f}",
        ]


def write_page(runs: Sequence[Run], texts: Sequence[str], folder: Path, what: str, machine: str, seed: int) -> None:
    """Write synthesis.md with its plots, synthesis.tsv, and synthesis_distribution.tsv (every count that the plots show)."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [run.row(len(texts)) for run in runs]
    words = float(np.mean([len(text.split()) for text in texts]))
    told = f"{len(texts)} {what} of {words:.1f} words on average, {machine}, seed {seed}"
    _write_rows(folder / "synthesis.tsv", [f"# {told}"], COLUMNS, rows)
    _write_rows(folder / "synthesis_distribution.tsv", [], ("pipeline", "what", "value", "severity", "count"), _counts(runs))
    table = ["| " + " | ".join(name.replace("_", " ") for name in COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    table += ["| " + " | ".join(row) + " |" for row in rows]
    parts = [
        "# What the synthesis pipelines make",
        f"Made by `benchmarks/synthesis.py`: {told}. Loading is timed apart; it includes the index of sescore2, unless it was kept. "
        "`minor` and `major`: shares of the edits; the rest is harmless. The label of a pair is the sum over its edits, "
        "-1 for a minor one, -5 for a major one, at least -25.",
        "\n".join(table),
        "\n".join(f"- **{run.name}**: {_skipped(run)}" for run in runs if run.skipped),
    ]
    for figure in _figures(runs):
        save(draw(figure), folder / f"{figure.name}.svg")
        parts += [f"## {figure.title}", figure.note, f"![{figure.title}]({figure.name}.svg)"]
    parts += [
        "## Examples",
        f"Of the sentences in `benchmarks/synthesis_texts.txt`, which are our own, the first {EXAMPLES} that give a pair; where a pipeline makes "
        "several of a sentence, one is drawn by the seed. None is picked. What went is struck out, what came is bold.",
    ]
    for run in runs:
        parts += [f"### {run.name}", ABOUT[run.name], _examples(run, seed), f"Signature: `{run.signature}`"]
    (folder / "synthesis.md").write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")


def marked(pair: SyntheticPair) -> str:
    """The reference and the hypothesis in one line of HTML: what went in <del>, what came in <b>; what came and went again is not shown.

    A blank that came or went by itself is shown as an open box.
    """
    cells = [(character, "kept") for character in pair.reference]
    for operation in pair.operations:
        there = [n for n, (_, state) in enumerate(cells) if state != "del"] + [len(cells)]
        start, end = there[operation.start], there[operation.end]
        while operation.start == operation.end and end < len(cells) and cells[end][1] == "del":
            end += 1
        old = [(c, "del" if state == "kept" else state) for c, state in cells[start:end] if state != "b"]
        cells[start:end] = [*old, *((character, "b") for character in operation.new)]
    found = []
    for state, group in groupby(cells, key=lambda cell: cell[1]):
        text = "".join(character for character, _ in group)
        bare = text.strip() or "␣"
        before, after = (text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]) if text.strip() else ("", "")
        shown = html.escape(text if state == "kept" else bare, quote=False)
        found.append(shown if state == "kept" else f"{before}<{state}>{shown}</{state}>{after}")
    return "".join(found).replace("|", "\\|").replace("*", "\\*").replace("_", "\\_").replace("\n", " ")


def _examples(run: Run, seed: int) -> str:
    """A table with one pair a text."""
    lines = ["| reference and hypothesis | label | edits |", "|---|---|---|"]
    groups = [(source, list(group)) for source, group in groupby(run.examples, key=lambda pair: pair.source)]
    for source, pairs in groups[:EXAMPLES]:
        pair = random.Random(f"{seed}|{run.name}|{source}").choice(pairs)
        label = "" if pair.label is None else f"{pair.label:g}"
        edits = Counter(
            (o.type or o.kind).replace("_", " ") + (f", {o.severity}" if o.label is not None else "") for o in pair.operations
        )
        told = "; ".join(f"{number} × {edit}" if number > 1 else edit for edit, number in edits.items())
        lines.append(f"| {marked(pair)} | {label} | {told or 'none'} |")
    return "\n".join(lines)


def _skipped(run: Run) -> str:
    return "skipped " + ", ".join(f"{number} {reason}" for reason, number in sorted(run.skipped.items()))


def _figures(runs: Sequence[Run]) -> list[Figure]:
    """Edits a pair and labels as lines, kinds and types by severity as heat maps; nothing for what no pipeline has."""
    full = [run for run in runs if run.pairs]
    if not full:
        return []
    edits = {run.name: [_share(run, n) for n in range(MOST_EDITS + 1)] for run in full}
    weighed = [run for run in full if run.summary.labels]
    labels = {run.name: [run.summary.labels[float(n)] / len(run.pairs) for n in range(-25, 1)] for run in weighed}
    x = tuple(float(n) for n in range(MOST_EDITS + 1))
    figures: list[Figure] = [
        Lines(
            "synthesis_edits",
            "Edits a pair",
            x,
            edits,
            "edits",
            "share of pairs",
            f"The last point: {MOST_EDITS} edits or more.",
        )
    ]
    if labels:
        x = tuple(float(n) for n in range(-25, 1))
        note = "The sum of the labels of a pair's edits; pipelines without severities have none."
        figures.append(Lines("synthesis_labels", "Labels of the pairs", x, labels, "label", "share of pairs", note))
    note = "Percent of a pipeline's edits. BLEURT weighs nothing: all of its edits stand under none."
    kinds = _heatmap(
        "synthesis_kinds", "Kinds of edits and their severities", note, [(run.name, run.summary.kinds) for run in full]
    )
    types = _heatmap(
        "synthesis_types", "Types of mistakes and their severities", note, [(run.name, run.summary.types) for run in full]
    )
    return [*figures, *(figure for figure in (kinds, types) if figure is not None)]


def _share(run: Run, edits: int) -> float:
    """The share of pairs with so many edits; the last number stands for all beyond."""
    found = sum(times for number, times in run.summary.edits.items() if min(number, MOST_EDITS) == edits)
    return found / len(run.pairs)


def _heatmap(name: str, title: str, note: str, counts: Sequence[tuple[str, Counter[tuple[str, str]]]]) -> Heatmap | None:
    """One row a kind or type of each pipeline, the most frequent first, the rest in one; None without edits."""
    rows: list[tuple[str, str, list[float]]] = []
    for pipeline, found in counts:
        totals: Counter[str] = Counter()
        for (what, _), number in found.items():
            totals[what] += number
        ordered = sorted(totals, key=lambda what: (-totals[what], what))
        shown = [[what] for what in ordered[:MOST_ROWS]] + [rest for rest in [ordered[MOST_ROWS:]] if rest]
        for whats in shown:
            numbers = [sum(found[what, severity] for what in whats) for severity in SEVERITIES]
            label = whats[0].replace("_", " ") if len(whats) == 1 else f"{len(whats)} others"
            rows.append((pipeline, label, [100 * n / totals.total() if n else np.nan for n in numbers]))
    if not rows:
        return None
    groups, names, values = zip(*rows, strict=True)
    return Heatmap(name, title, names, SEVERITIES, np.array(values), groups, note, digits=1, axis="percent of edits")


def _counts(runs: Sequence[Run]) -> list[list[str]]:
    """Every count, a row each."""
    rows = []
    for run in runs:
        plain = {"edits": run.summary.edits, "label": run.summary.labels}
        rows += [
            [run.name, what, f"{value:g}", "", str(n)] for what, found in plain.items() for value, n in sorted(found.items())
        ]
        both = {"kind": run.summary.kinds, "type": run.summary.types}
        rows += [[run.name, what, *key, str(n)] for what, found in both.items() for key, n in sorted(found.items())]
    return rows


def _write_rows(path: Path, notes: Sequence[str], header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    path.write_text("\n".join([*notes, *("\t".join(row) for row in (header, *rows))]) + "\n", encoding="utf-8")

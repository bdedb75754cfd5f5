"""Tables of measured figures for the pages, read from benchmarks/results and from the model cards whenever the site is built.

A page names one as ``{{ name }}``.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[1]
RESULTS, MODELS = TOP / "benchmarks" / "results", TOP / "data" / "models"
PLACE = re.compile(r"\{\{ (\w+) \}\}")
WEAK, PEERS = 96.0, ("BLEU", "chrF2", "METEOR", "BERTScore", "TER", "length")
SHOWN = ("RoMe", "RoMe.errors", "BERTScore", "BLEU", "chrF2", "METEOR")


def filled(text: str) -> str:
    """The page with every named table in its place. Raises KeyError for a name that is not in TABLES."""
    return PLACE.sub(lambda found: TABLES[found[1]](), text)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; the columns after the first stand right when they hold numbers."""
    body = [list(row) for row in rows]
    right = [all(re.fullmatch(r"[-–+.,\d]*( .*)?", row[n]) for row in body) for n in range(len(header))]
    rule = ["---:" if number and n else "---" for n, number in enumerate(right)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [list(header), rule, *body])


def _read(name: str) -> list[dict[str, str]]:
    """The rows of one file of results; its comments are left out."""
    with (RESULTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t"))


def _percent(value: str) -> str:
    return f"{float(value):.1f}" if value else ""


def _card(name: str, models: str = "small") -> dict[str, Any]:
    card: dict[str, Any] = json.loads((MODELS / models / name / "card.json").read_text(encoding="utf-8"))
    return card


def scale() -> str:
    """What the score means: the mean of known kinds of pairs, from the card of the net."""
    figures = _card("scorer")["figures"]
    means = [
        (name.removeprefix("mean_").replace("_", " "), value) for name, value in figures.items() if name.startswith("mean_")
    ]
    return markdown_table(["pair", "mean score"], [[name, f"{value:.2f}"] for name, value in means])


def weak_kinds() -> str:
    """The kinds of mistakes of DEMETR that RoMe overlooks most often, the weakest first."""
    rows = [row for row in _read("demetr_accuracy.tsv") if float(row["RoMe"]) < WEAK and row["severity"] != "base"]
    rows.sort(key=lambda row: float(row["RoMe"]))
    header = ["kind of mistake", "severity", "pairs", "RoMe", "BERTScore", "chrF2", "BLEU", "best published"]
    return markdown_table(header, [
        [row["perturbation"], row["severity"], row["items"],
         *(_percent(row[name]) for name in ("RoMe", "BERTScore", "chrF2", "BLEU")), f"{_percent(row['best_published'])} ({row['by']})"]
        for row in rows
    ])  # fmt: skip


def demetr() -> str:
    """Accuracy on DEMETR by severity: RoMe, live peers, and the published rows."""
    rows = sorted(_read("demetr_table4.tsv"), key=lambda row: -float(row["all"]))
    kept = [row for row in rows if row["figures"] != "here" or row["metric"] in SHOWN]
    taught = "`errors`, and so RoMe, was taught on our own versions of the same kinds of mistake, made in other texts; the peers were not."
    return taught + "\n\n" + markdown_table(["metric", "figures", "critical", "major", "minor", "all", "95 % interval of all"], [
        [row["metric"], row["figures"], *(_percent(row[name]) for name in ("critical", "major", "minor", "all")),
         f"{_percent(row['all_low'])} to {_percent(row['all_high'])}" if row["all_low"] else ""]
        for row in kept
    ])  # fmt: skip


def severity_order() -> str:
    """How much a mistake of each severity costs, as a share of the way from the score of the reference to that of an empty text."""
    rows = [row for row in _read("demetr_severity_order.tsv") if row["critical"]]
    return markdown_table(["metric", "critical", "major", "minor", "resamples in that order"], [
        [row["metric"], *(f"{float(row[name]):.3f}" for name in ("critical", "major", "minor")), f"{100 * float(row['ordered']):.0f} %"]
        for row in rows
        if row["metric"] != "random"
    ])  # fmt: skip


def peers_ahead() -> str:
    """Where another metric agrees better with people than RoMe does."""
    groups: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    for row in _read("human.tsv"):
        groups.setdefault((row["set"], row["rating"]), {})[row["metric"]] = row
    found = []
    for (name, rating), metrics in groups.items():
        own = metrics["RoMe"]
        for peer in PEERS:
            row = metrics.get(peer)
            if row is not None and float(row["tau"]) > float(own["tau"]):
                cells = [f"{r['tau']} [{r['tau_low']}, {r['tau_high']}]" for r in (own, row)]
                found.append([f"{name}, {rating}", cells[0], peer, cells[1]])
    return markdown_table(["set, rating", "RoMe", "peer", "tau of the peer"], found)


def human() -> str:
    """Kendall's tau-b of RoMe, of its components and of peers on every development set."""
    names = ("RoMe", "RoMe.semantic", "RoMe.syntax", "RoMe.grammar", "RoMe.errors", "BERTScore", "chrF2", "BLEU", "length")
    groups: dict[tuple[str, str], dict[str, str]] = {}
    for row in _read("human.tsv"):
        groups.setdefault((row["set"], row["rating"]), {})[row["metric"]] = row["tau"]
    header = ["set, rating", *(name.removeprefix("RoMe.") for name in names)]
    return markdown_table(header, [[", ".join(key), *(taus.get(name, "") for name in names)] for key, taus in groups.items()])


def speed() -> str:
    """Pairs a second."""
    note = (RESULTS / "speed.tsv").read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
    rows = [[row["operation"], f"{float(row['pairs_per_second']):,.0f}"] for row in _read("speed.tsv")]
    return f"{note}.\n\n" + markdown_table(["operation", "pairs a second"], rows)


def faults() -> str:
    """What went wrong on purpose, and what it cost."""
    shown = ("fault", "times", "finished", "missing", "wrong", "healed")
    names = ("what goes wrong", "times", "finished before", "not found again", "came back wrong", "mended")
    return markdown_table(names, [[row[name] for name in shown] for row in _read("faults.tsv")])


def laws() -> str:
    """Laws, ways of asking, and how many real pairs broke them."""
    note = (RESULTS / "laws.tsv").read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
    names = ("law", "cases", "broken", "largest difference")
    return f"{note}.\n\n" + markdown_table(names, [list(row.values()) for row in _read("laws.tsv")])


def perturbations() -> str:
    """Every perturbation that `rome perturb` can make."""
    from rome.evaluation.perturbing import perturbation_table

    header, rows = perturbation_table()
    return markdown_table(header, [[f"`{name}`", *rest] for name, *rest in rows])


TABLES: dict[str, Callable[[], str]] = {
    function.__name__: function
    for function in (
        scale,
        weak_kinds,
        demetr,
        severity_order,
        peers_ahead,
        human,
        perturbations,
        speed,
        faults,
        laws,
    )
}
"""Every table that a page can name."""

"""Measured figures for the pages, read from benchmarks/results and the model cards when the site is built.

A page inserts a table or a phrase with ``{{ name }}``, and one figure of a card with ``{{SET/MODEL/FIGURE}}``.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[1]
RESULTS, MODELS = TOP / "benchmarks" / "results", TOP / "data" / "models"
PLACE = re.compile(r"\{\{ ?([\w/-]+) ?\}\}")
WEAK, PEERS = 96.0, ("BLEU", "chrF2", "METEOR", "BERTScore", "TER", "length")
SHOWN = ("RoMe", "RoMe.errors", "BERTScore", "BLEU", "chrF2", "METEOR")


def filled(text: str) -> str:
    """Insert every named figure into a page. Raises KeyError for a name that is neither in TABLES nor in a card."""
    return PLACE.sub(lambda match: _card(*match[1].split("/")) if "/" in match[1] else TABLES[match[1]](), text)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown, with columns of numbers aligned to the right."""
    body = [list(row) for row in rows]
    right = [all(re.fullmatch(r"[-–+.,\d]*( %)?", row[n]) for row in body) for n in range(len(header))]
    rule = ["---:" if number and n else "---" for n, number in enumerate(right)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [list(header), rule, *body])


def _read(name: str) -> list[dict[str, str]]:
    """Return the rows of a file of results, without comments."""
    with (RESULTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t"))


def _percent(value: str) -> str:
    return f"{float(value):.1f}" if value else ""


def _card(models: str, name: str, *path: str) -> Any:
    """Return a figure of a card: a share in three decimals, a count with commas; without a path, all of them."""
    value = json.loads((MODELS / models / name / "card.json").read_text(encoding="utf-8"))["figures"]
    for key in path:
        value = value[key]
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}" if path else value


def scale() -> str:
    """Return the mean scores of known kinds of pairs, from the cards of the nets."""
    nets = [_card(models, "scorer") for models in ("base", "small")]
    means = [name for name in nets[0] if name.startswith("mean_")]
    rows = [[name.removeprefix("mean_").replace("_", " "), *(f"{net[name]:.3f}" for net in nets)] for name in means]
    return markdown_table(["pair", "`base`", "`small`"], rows)


def memory() -> str:
    """Return the memory of one process that has scored thousands of new pairs."""
    peaks = {row["operation"]: float(row["peak_mib"]) * 2**20 / 1e9 for row in _read("memory.tsv")}  # the largest size is last
    return " or ".join(f"{peaks[f'rome score with the models of {n}, cold']:.1f} GB with `{n}`" for n in ("base", "small"))


def weak_kinds() -> str:
    """Return the kinds of mistakes of DEMETR that RoMe overlooks most often, the weakest first."""
    rows = [row for row in _read("demetr_accuracy.tsv") if float(row["RoMe"]) < WEAK and row["severity"] != "base"]
    rows.sort(key=lambda row: float(row["RoMe"]))
    header = ["kind of mistake", "severity", "pairs", "RoMe", "BERTScore", "chrF2", "BLEU", "best published"]
    return markdown_table(header, [
        [row["perturbation"], row["severity"], row["items"],
         *(_percent(row[name]) for name in ("RoMe", "BERTScore", "chrF2", "BLEU")), f"{_percent(row['best_published'])} ({row['by']})"]
        for row in rows
    ])  # fmt: skip


def demetr() -> str:
    """Return the accuracy on DEMETR by severity: RoMe, peers measured here, and published rows."""
    rows = sorted(_read("demetr_table4.tsv"), key=lambda row: -float(row["all"]))
    kept = [row for row in rows if row["figures"] != "here" or row["metric"] in SHOWN]
    note = "`errors`, and so RoMe, was trained on our own versions of the same kinds of mistake in other texts; the peers were not."
    return note + "\n\n" + markdown_table(["metric", "figures", "critical", "major", "minor", "all", "95 % interval of all"], [
        [row["metric"], row["figures"], *(_percent(row[name]) for name in ("critical", "major", "minor", "all")),
         f"{_percent(row['all_low'])} to {_percent(row['all_high'])}" if row["all_low"] else ""]
        for row in kept
    ])  # fmt: skip


def severity_order() -> str:
    """Return the cost of a mistake of each severity, relative to the cost of an empty text."""
    rows = [row for row in _read("demetr_severity_order.tsv") if row["critical"]]
    return markdown_table(["metric", "critical", "major", "minor", "resamples in that order"], [
        [row["metric"], *(f"{float(row[name]):.3f}" for name in ("critical", "major", "minor")), f"{100 * float(row['ordered']):.0f} %"]
        for row in rows
        if row["metric"] != "random"
    ])  # fmt: skip


def _ratings() -> dict[tuple[str, str], dict[str, dict[str, str]]]:
    """Return the rows of agreement with people by set and rating, and by metric."""
    groups: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    for row in _read("human.tsv"):
        groups.setdefault((row["set"], row["rating"]), {})[row["metric"]] = row
    return groups


def peers_ahead() -> str:
    """Return the ratings with which another metric agrees better than RoMe does."""
    rows = []
    for (name, rating), metrics in _ratings().items():
        own = metrics["RoMe"]
        for peer in PEERS:
            if float(metrics.get(peer, own)["tau"]) > float(own["tau"]):
                cells = [f"{r['tau']} [{r['tau_low']}, {r['tau_high']}]" for r in (own, metrics[peer])]
                rows.append([f"{name}, {rating}", cells[0], peer, cells[1]])
    return markdown_table(["set, rating", "RoMe", "peer", "tau of the peer"], rows)


def human() -> str:
    """Return Kendall's tau-b of RoMe, its components and peers on every development set."""
    names = ("RoMe", "RoMe.semantic", "RoMe.syntax", "RoMe.grammar", "RoMe.errors", "BERTScore", "chrF2", "BLEU", "length")
    header = ["set, rating", *(name.removeprefix("RoMe.") for name in names)]
    return markdown_table(header, [
        [", ".join(key), *(metrics[name]["tau"] if name in metrics else "" for name in names)] for key, metrics in _ratings().items()
    ])  # fmt: skip


def development(part: str) -> str:
    """Return rows of the development sets whose names begin with some words: `base`, its errors alone, with the former reader, `small`."""
    found = {(row["models"], row["row"]): row for row in _read("development.tsv")}
    former = {row["row"]: row["rome"] for row in _read("development_before.tsv") if row["models"] == "base"}
    names = [name for models, name in found if models == "base" and re.match(part, name)]
    header = ["row", "`base`", "its `errors` alone", "`base` with the former reader", "`small`"]
    return markdown_table(header, [
        [name, found["base", name]["rome"], found["base", name]["rome.errors"], former.get(name, ""), found.get(("small", name), {}).get("rome", "")]
        for name in names
    ])  # fmt: skip


def faults() -> str:
    """Return the injected faults and their effects."""
    shown = ("fault", "times", "finished", "missing", "wrong", "healed")
    names = ("fault", "times", "finished before", "lost", "wrong", "recovered")
    return markdown_table(names, [[row[name] for name in shown] for row in _read("faults.tsv")])


def laws() -> str:
    """Return the laws, and how many cases broke them."""
    note = (RESULTS / "laws.tsv").read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
    names = ("law", "cases", "broken", "largest difference")
    return f"{note}.\n\n" + markdown_table(names, [list(row.values()) for row in _read("laws.tsv")])


def perturbations() -> str:
    """Return every perturbation of `rome perturb`."""
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
        memory,
        faults,
        laws,
    )
}
TABLES |= {
    f"development_{name}": partial(development, part)
    for name, part in (
        ("groups", "groups"),
        ("meaning", "handmade|webnlg|SummEdits|PAWS"),
        ("ratings", "WMT|WebNLG |BAGEL|MLQE|TED"),
        ("minimal", "DEMETR"),
    )
}
"""Tables by the name that pages use."""

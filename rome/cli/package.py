"""Show what the package carries: example files, model cards, known answers."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from rome.cli.options import MakeMetric, add_metric_arguments, add_output_arguments
from rome.cli.pairs import example_pairs
from rome.exceptions import InputError, ModelMissingError
from rome.features.analyser.config import SETS, ModelConfig, set_folder
from rome.features.model_files import read_manifest, record_files
from rome.storage.files import open_output
from rome.text_table import aligned, shorten, terminal_width

FILES = {
    "pairs.jsonl": "pairs of every kind, with a note of what is wrong",
    "pairs.tsv": "the same as a table",
    "references.txt": "references, one segment per line",
    "old.txt": "a system's outputs for them",
    "new.txt": "another system's",
    "outputs.tsv": "both systems' outputs in one table",
    "texts.txt": "texts alone",
    "groups.jsonl": "references with acceptable rewrites and with texts that have a wrong fact",
    "ratings.tsv": "outputs of three systems with ratings, made up",
    "annotated.jsonl": "the same kind of outputs, rated by two annotators, made up",
}
"""Example files and what they contain."""
TEXTS = 4
"""Texts to perturb. Few, because every perturbation is tried on each."""
MEGABYTE, TEXT_WIDTH = 1_000_000, 44
Cards = Sequence[Mapping[str, Any]]


def add_examples_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option of `rome examples`."""
    parser.add_argument("--write", required=True, metavar="DIR", help="write the files into this folder, made when absent")


def run_examples(options: argparse.Namespace, _: MakeMetric) -> int:
    """Write small files to try every command on: pairs, two systems, texts, ratings."""
    folder = Path(options.write)
    existing = [name for name in FILES if (folder / name).exists()]
    if existing:
        raise InputError(f"{folder / existing[0]} exists already: name an empty or a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    derived = _derived()
    for name, meaning in FILES.items():
        with open_output(str(folder / name)) as stream:
            stream.write("".join(f"{line}\n" for line in derived.get(name) or _lines(name)))
        print(f"{folder / name}\t{meaning}")
    return 0


def _derived() -> dict[str, list[str]]:
    """Return the lines of the files that are made from others."""
    references, outputs = _lines("references.txt"), {name: _lines(f"{name}.txt") for name in ("old", "new")}
    systems = [
        f"{system}\t{n}\t{reference}\t{text}"
        for system, texts in outputs.items()
        for n, (reference, text) in enumerate(zip(references, texts, strict=True))
    ]
    return {
        "outputs.tsv": ["system\tid\treference\thypothesis", *systems],
        "pairs.tsv": ["reference\thypothesis", *(f"{pair.references[0]}\t{pair.hypothesis}" for pair in example_pairs())],
        "texts.txt": references[:TEXTS],
    }


def _lines(name: str) -> list[str]:
    return (files("rome.data") / "examples" / name).read_text(encoding="utf-8").splitlines()


def add_models_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome models`."""
    add_output_arguments(parser, "table", "json", note="; json has the whole cards, figures too")


def run_models(options: argparse.Namespace, _: MakeMetric) -> int:
    """Print the models of every set: size, licence, data, task."""
    sets = read_cards()
    with open_output(options.output) as stream:
        if options.format == "json":
            text = json.dumps(sets, ensure_ascii=False, indent=1)
        else:
            room = terminal_width(options.output)
            text = "\n\n\n".join(f"{name}\n\n{cards_table(cards, room)}" for name, cards in sets.items())
        stream.write(f"{text}\n")
    return 0


def read_cards() -> dict[str, list[dict[str, Any]]]:
    """Return the cards of each model set, ordered by the names of their folders. Raises ModelMissingError without any."""
    sets = {name: sorted(set_folder(name).glob("*/card.json")) for name in SETS}
    cards = {name: [json.loads(path.read_text(encoding="utf-8")) for path in paths] for name, paths in sets.items() if paths}
    if not cards:
        raise ModelMissingError("the package holds no model card: reinstall it, `pip install --force-reinstall rome-metric`")
    return cards


def cards_table(cards: Cards, room: int | None = None) -> str:
    """Return one line per model (size, licence, data, task), within the columns of a terminal."""
    rows = []
    for card in cards:
        texts = (shorten(_words(card.get(field)), TEXT_WIDTH) for field in ("licence", "data", "task"))
        rows.append([str(card.get("name")), f"{(card.get('size_bytes') or 0) / MEGABYTE:.1f}", *texts])
    header, right = ("model", "MB", "licence", "data", "task"), (False, True, False, False, False)
    return "\n".join(aligned(header, rows, right, room=room))


def _words(value: Any) -> str:
    """Return a value of a card as text."""
    return ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def add_selfcheck_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome selfcheck`."""
    add_metric_arguments(parser)
    record = "for maintainers: record the present files and answers of the set as the known ones"
    parser.add_argument("--record", action="store_true", help=record)


def run_selfcheck(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Check that this installation gives the known answers (exit code 1 when it does not)."""
    from rome.self_check import record, selfcheck

    folder = ModelConfig.of(options.models).folder
    if not options.record:
        result = selfcheck(metric(options), models=folder)
        print(result)
        return 0 if result else 1
    manifest = record_files(folder)  # first, because new models load only then
    if any(name.startswith("scorer/") for name in read_manifest(folder).files):
        answers = record(folder, [(row.references, row.hypothesis) for row in example_pairs()], metric(options))
        print(f"recorded {manifest} and {answers}")
    else:
        print(f"recorded {manifest}; no answers: the set has no scorer yet")
    return 0

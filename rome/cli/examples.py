"""Write small files to try every command on: pairs, two systems, texts, ratings."""

from __future__ import annotations

import argparse
from importlib.resources import files
from pathlib import Path

from rome.cli.metric import MakeMetric
from rome.cli.pairs import example_pairs
from rome.exceptions import InputError
from rome.storage.files import open_output

FILES = {
    "pairs.jsonl": "pairs of every kind, with a note of what is wrong",
    "pairs.tsv": "the same as a table",
    "references.txt": "references, one segment a line",
    "old.txt": "a system's outputs for them",
    "new.txt": "another system's",
    "outputs.tsv": "both systems' outputs in one table",
    "texts.txt": "texts alone",
    "groups.jsonl": "references with acceptable rewrites and with texts that have a fact turned",
    "ratings.tsv": "outputs of three systems with ratings, made up",
    "annotated.jsonl": "the same kind of outputs, rated by two annotators, made up",
}
"""What is written, and what it is."""
TEXTS = 4
"""Few, because every perturbation is tried on each."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The option of `rome examples`."""
    parser.add_argument("--write", required=True, metavar="DIR", help="write the files into this folder, made when absent")


def run(options: argparse.Namespace, _: MakeMetric) -> int:
    """Write all files, or none where one of them is there already."""
    folder = Path(options.write)
    there = [name for name in FILES if (folder / name).exists()]
    if there:
        raise InputError(f"{folder / there[0]} exists already: name an empty or a new folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {folder}: {error.strerror}") from error
    made = _made()
    for name, meaning in FILES.items():
        text = made[name] if name in made else _packaged(name)
        with open_output(str(folder / name)) as stream:
            stream.write(text)
        print(f"{folder / name}\t{meaning}")
    return 0


def _made() -> dict[str, str]:
    """The files that are other forms of the example pairs."""
    rows = ["reference\thypothesis", *(f"{pair.references[0]}\t{pair.hypothesis}" for pair in example_pairs())]
    references, old, new = (_lines(name) for name in ("references.txt", "old.txt", "new.txt"))
    table = ["system\tid\treference\thypothesis"]
    for system, outputs in (("old", old), ("new", new)):
        table += [f"{system}\t{n}\t{one}\t{text}" for n, (one, text) in enumerate(zip(references, outputs, strict=True))]
    return {
        "outputs.tsv": "\n".join([*table, ""]),
        "pairs.tsv": "\n".join([*rows, ""]),
        "texts.txt": "\n".join([*references[:TEXTS], ""]),
    }


def _packaged(name: str) -> str:
    return (files("rome.data") / "examples" / name).read_text(encoding="utf-8")


def _lines(name: str) -> list[str]:
    return _packaged(name).splitlines()

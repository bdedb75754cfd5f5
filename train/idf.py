"""Make the IDF table: in how many of some 40,000 texts each word occurs."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterator
from pathlib import Path

from rome.data.sources import data_file, read_jsonl
from rome.features.idf import IdfTable
from rome.train.common.recipe import card_text, write_card

IDF_FILE = "idf.tsv"
WORDS = re.compile(r"\w+(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|\w+(?:[-.,]\w+)*|[^\w\s]", re.IGNORECASE)
"""Words much as the parser cuts them, contractions split, without running it over the whole text."""


def texts() -> Iterator[str]:
    """Wikipedia sentences and every distinct first reference of the WMT segments."""
    seen: set[str] = set()
    for row in read_jsonl(data_file("text/wikipedia_sentences.jsonl.gz")):
        seen.add(row["text"])
        yield row["text"]
    for year in ("wmt22", "wmt23"):
        for row in read_jsonl(data_file(f"text/{year}_to_en_outputs.jsonl.gz")):
            for text in row["reference"][:1]:
                if text not in seen:
                    seen.add(text)
                    yield text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome train idf`."""
    parser.add_argument("--out", type=Path, required=True, help="folder for idf.tsv and its card")
    parser.add_argument("--minimum", type=int, default=2, help="words in fewer texts are left out and count as unseen")


def run(arguments: argparse.Namespace) -> int:
    """Count, write the table and its card."""
    started = time.monotonic()
    arguments.out.mkdir(parents=True, exist_ok=True)
    table = IdfTable.from_texts((WORDS.findall(text) for text in texts()), "wikipedia+wmt", arguments.minimum)
    table.save(arguments.out / IDF_FILE)
    write_card(
        arguments.out,
        **card_text("idf"),
        recipe=f"rome train idf --out FOLDER --minimum {arguments.minimum}",
        seed=0,
        steps=table.documents,
        seconds=time.monotonic() - started,
        figures={"texts": table.documents, "words": len(table.counts)},
    )
    return 0

"""Make the IDF table: the number of texts, of some 40,000, in which each word occurs."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterator
from itertools import chain

from rome.data.sources import data_file, read_jsonl
from rome.features.idf import IdfTable
from rome.train.common.recipe import add_out, card_text, command_line, write_card

IDF_FILE = "idf.tsv"
WORDS = re.compile(r"\w+(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|\w+(?:[-.,]\w+)*|[^\w\s]", re.IGNORECASE)
"""Words roughly as the parser splits them, contractions too, without running it over the whole text."""


def texts() -> Iterator[str]:
    """Yield Wikipedia sentences and every distinct first reference of the WMT segments."""
    sentences = [row["text"] for row in read_jsonl(data_file("text/wikipedia_sentences.jsonl.gz"))]
    rows = chain.from_iterable(read_jsonl(data_file(f"text/{year}_to_en_outputs.jsonl.gz")) for year in ("wmt22", "wmt23"))
    references = dict.fromkeys(text for row in rows for text in row["reference"][:1])
    known = set(sentences)
    yield from sentences
    yield from (text for text in references if text not in known)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome train idf`."""
    add_out(parser, "idf", "folder for idf.tsv and its card")
    parser.add_argument("--minimum", type=int, default=2, help="words in fewer texts are left out and count as unseen")


def run(arguments: argparse.Namespace) -> int:
    """Count the words, write the table and its card."""
    started = time.monotonic()
    arguments.out.mkdir(parents=True, exist_ok=True)
    table = IdfTable.from_texts((WORDS.findall(text) for text in texts()), "wikipedia+wmt", arguments.minimum)
    table.save(arguments.out / IDF_FILE)
    made = {"recipe": command_line(arguments), "seed": 0, "steps": table.documents, "seconds": time.monotonic() - started}
    figures = {"texts": table.documents, "words": len(table.counts)}
    write_card(arguments.out, **card_text("idf"), **made, figures=figures)
    return 0

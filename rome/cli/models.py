"""Print what is known of the models of each set: task, size, licence, figures."""

from __future__ import annotations

import argparse
import json

from rome.cli.metric import MakeMetric
from rome.storage.files import open_output

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome models`."""
    parser.add_argument("--format", choices=("table", "json"), default="table", help="default: table; json has the whole cards")
    parser.add_argument("--output", metavar="FILE", help="write here, all or nothing (default: standard output)")


def run(options: argparse.Namespace, _: MakeMetric) -> int:
    """Read the cards and write them."""
    from rome.cards import read_cards, sets_table

    cards = read_cards()
    with open_output(options.output) as stream:
        stream.write(json.dumps(cards, ensure_ascii=False, indent=1) if options.format == "json" else sets_table(cards))
        stream.write("\n")
    return 0

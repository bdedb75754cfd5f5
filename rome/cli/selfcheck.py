"""Check that this installation gives the known answers (exit code 1 when it does not)."""

from __future__ import annotations

import argparse
from importlib.resources import as_file, files

from rome.cli.metric import MakeMetric, add_metric_arguments
from rome.cli.pairs import example_pairs
from rome.files import open_output

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome selfcheck`."""
    add_metric_arguments(parser)
    parser.add_argument("--record", action="store_true", help="for maintainers: write today's answers as the known ones")


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Compare and print what failed; or record."""
    from rome.known_answers import record, record_files, selfcheck

    if options.record:
        texts = example_pairs()
        with as_file(files("rome.data") / "models" / "en") as folder:
            record_files(folder)  # new models load only when their hashes are on record
            report = f"recorded {record(folder, list(zip(texts.references, texts.hypotheses, strict=True)), metric(options))}"
        code = 0
    else:
        result = selfcheck(metric(options))
        report, code = str(result), 0 if result else 1
    with open_output(None) as stream:
        stream.write(f"{report}\n")
    return code

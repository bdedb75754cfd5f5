"""Check that this installation gives the known answers (exit code 1 when it does not)."""

from __future__ import annotations

import argparse

from rome.cli.metric import MakeMetric, add_metric_arguments
from rome.cli.pairs import example_pairs
from rome.storage.files import open_output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome selfcheck`."""
    add_metric_arguments(parser)
    parser.add_argument(
        "--record",
        action="store_true",
        help="for maintainers: write the model set's files and answers of today as the known ones",
    )


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Compare and print what failed; or record."""
    from rome.features.analyser.config import ModelConfig
    from rome.self_check import selfcheck

    folder = ModelConfig.of(options.models).folder
    if options.record:
        report, code = _recorded(options, metric), 0
    else:
        result = selfcheck(metric(options), models=folder)
        report, code = str(result), 0 if result else 1
    with open_output(None) as stream:
        stream.write(f"{report}\n")
    return code


def _recorded(options: argparse.Namespace, metric: MakeMetric) -> str:
    """Record the files, since new models load only then, and the answers where there is a net to give them."""
    from rome.features.analyser.config import ModelConfig
    from rome.features.model_files import read_manifest, record_files
    from rome.self_check import record

    folder = ModelConfig.of(options.models).folder
    manifest = record_files(folder)
    if not any(name.startswith("scorer/") for name in read_manifest(folder).files):
        return f"recorded {manifest}; no answers: the set has no scorer yet"
    answers = record(folder, [(row.references, row.hypothesis) for row in example_pairs()], metric(options))
    return f"recorded {manifest} and {answers}"

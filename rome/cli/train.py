"""Train one of the models that the package carries (needs the extra `train` and the development data)."""

from __future__ import annotations

import argparse

from rome.cli.options import MakeMetric, Parser

NAMES = ("base", "parser", "trees", "grammar", "encoder", "idf", "fill", "errors", "scorer")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the name of the recipe, which reads its own options: `rome train scorer --help`."""
    parser.add_argument("name", choices=NAMES, help="which model")
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="...", help="the recipe's options: `rome train NAME --help`")


def run(options: argparse.Namespace, _: MakeMetric) -> int:
    """Load the recipe, read its options and run it."""
    from rome.features.packages import check_versions

    check_versions()
    from rome.train.common.recipe import load_recipe

    recipe = load_recipe(options.name)
    summary = (recipe.__doc__ or "").partition("\n")[0]
    parser = Parser(prog=f"rome train {options.name}", description=summary, allow_abbrev=False)
    recipe.add_arguments(parser)
    code: int = recipe.run(parser.parse_args(options.rest))
    return code

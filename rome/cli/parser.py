"""The parser of every command: no abbreviated options, and one line for what it does not know, with the nearest option."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from difflib import get_close_matches
from os.path import commonprefix
from typing import Any, NoReturn

from rome.exceptions import InputError
from rome.text_table import visible

BAD_INPUT = 2
WRITTEN = ("output", "export", "junit", "markdown", "report")
READ = (
    *("texts", "references", "hypotheses", "pairs", "scores", "baseline", "old", "new", "features", "agreement", "corpus"),
    *("antonyms", "hypernyms", "synonyms", "store", "index", "net", "models", "demetr"),
)
"""Options and arguments that name what is written, and what is read or kept."""
FILES = {"bash": "_shtab_compgen_files", "zsh": "_files", "tcsh": "f"}
"""What shtab calls the names of files, so that nothing is imported for a completion that nobody asks for."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line; a command below it answers for its own options."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **settings})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The options; nothing is left unknown, because a command above would blame itself for it."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._unknown(unknown))
        return found, unknown

    def print_help(self, file: Any = None) -> None:
        """Print the help; argparse itself does not say when it cannot be written and Python does not buffer (PYTHONUNBUFFERED)."""
        print(self.format_help(), end="", file=file)

    def error(self, message: str) -> NoReturn:
        """Leave with exit code 2 and one line on standard error."""
        self.exit(BAD_INPUT, f"{self.prog}: error: {visible(' '.join(message.split()))} (see `{self.prog} --help`)\n")

    def _unknown(self, words: list[str]) -> str:
        """What is wrong with words that are neither options nor have a place."""
        option = next((word.partition("=")[0] for word in words if word.startswith("-") and word != "-"), None)
        if option is None:
            return f"{words[0]} is one too many: name files side by side, before the options or after them"
        known = re.findall(r"(?<![\w-])--?[a-z][\w-]*", self.format_usage())
        near = [name for name in known if name.startswith(option)] or get_close_matches(option, known)
        best = max(near, key=lambda name: len(commonprefix([name, option])), default="")
        return f"there is no option {option}" + (f": did you mean {best}?" if best else "")


def completes_files(argument: argparse.Action) -> None:
    """Let the shell's completion offer files for this argument."""
    argument.complete = FILES  # type: ignore[attr-defined]


def check_outputs(options: argparse.Namespace) -> None:
    """Raise InputError for an output that is also read or kept, or two outputs in one place, by whatever path or link."""
    reading = getattr(options, "agreement", None) or getattr(
        options, "export", None
    )  # then `rome annotate` does not write --output
    for name in WRITTEN[bool(reading) :]:
        for path in _paths(options, name):
            same = [
                other for dest in (*READ, *WRITTEN) if dest != name for other in _paths(options, dest) if _same(path, other)
            ]
            if same:
                raise InputError(
                    f"--{name} {path} is the same file as {same[0]}, which would be lost: name another to write to"
                )


def _paths(options: argparse.Namespace, name: str) -> Iterator[str]:
    """What an option names, but for standard input and output; of ``SYSTEM=FILE`` the file too."""
    given = getattr(options, name, None) or ()
    for path in [given] if isinstance(given, str) else given:
        yield from {path, path.partition("=")[2]} - {"", "-"}


def _same(one: str, other: str) -> bool:
    """Whether two paths lead to one file or folder, which need not be there yet; devices may be read and written."""
    if os.path.exists(one) and os.path.exists(other):
        return os.path.samefile(one, other) and (os.path.isfile(one) or os.path.isdir(one))
    return os.path.realpath(one) == os.path.realpath(other)

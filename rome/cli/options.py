"""Parse options: those that several commands share, and what is wrong with the others."""

from __future__ import annotations

import argparse
import gc
import os
import re
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NoReturn

from rome.checks import meant
from rome.config import CHOICES, MetricConfig
from rome.exceptions import InputError
from rome.features.analyser.config import SETS
from rome.features.values import FEATURES
from rome.text_table import visible

if TYPE_CHECKING:
    from rome.combining.combiner import Combiner
    from rome.metric import RoMe

MakeMetric = Callable[[argparse.Namespace], Any]
"""Makes a RoMe, or a metric of the tests, from the parsed options."""
BAD_INPUT = 2
WRITTEN = ("output", "export", "junit", "markdown", "report")
READ = (
    *("texts", "references", "hypotheses", "pairs", "scores", "baseline", "first", "second", "features", "agreement", "corpus"),
    *("antonyms", "hypernyms", "synonyms", "store", "index", "net", "models", "demetr"),
)
"""Options and arguments that name files to write, and files to read or keep."""
FILES = {"bash": "_shtab_compgen_files", "zsh": "_files", "tcsh": "f"}
"""shtab's completion of file names; importing shtab takes 50 ms."""


class Parser(argparse.ArgumentParser):
    """Report a mistake in one line; each command reports its own.

    Attributes
    ----------
    commands
        The parsers of the commands below, by name.
    whole
        Makes the parser of all commands.
    """

    commands: Mapping[str, Any] | None = None
    whole: Callable[[], Parser] | None = None

    @property
    def options(self) -> list[str]:
        """Return the options, such as ``--format``."""
        return re.findall(r"(?<![\w-])--?[a-z][\w-]*", self.format_usage())

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return the options; unknown words are reported here, because otherwise the command above would report them."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._unknown(unknown))
        return options, unknown

    def error(self, message: str) -> NoReturn:
        """Exit with code 2 and one line on standard error."""
        self.exit(BAD_INPUT, f"{self.prog}: error: {visible(' '.join(message.split()))} (see `{self.prog} --help`)\n")

    def _unknown(self, words: list[str]) -> str:
        """Return the message for words that are neither options nor have a place."""
        option = next((word.partition("=")[0] for word in words if word.startswith("-") and word != "-"), None)
        if option is None:
            ways = self.get_default("ways") or "files side by side, before the options or after them"
            return f"{words[0]} is one too many: name {ways}"
        every = (self.whole().commands if self.whole else None) or {}
        others = [f"`rome {name}`" for name, command in every.items() if option in command.options]
        near = [one for one in (meant(option, self.options, 0.8 if others else 0.6), *others) if one]
        return f"there is no option {option}" + (f": did you mean {' or '.join(near)}?" if near else "")


def completes_files(argument: argparse.Action) -> None:
    """Let the shell complete file names for this argument."""
    argument.complete = FILES  # type: ignore[attr-defined]


def check_outputs(options: argparse.Namespace) -> None:
    """Raise InputError for an output that is also read or kept, or two outputs in one place, by whatever path or link."""
    only_read = getattr(options, "agreement", None) or getattr(options, "export", None)  # `rome annotate` reads its --output
    for name in WRITTEN[bool(only_read) :]:
        others = [path for other in (*READ, *WRITTEN) if other != name for path in _paths(options, other)]
        for path in _paths(options, name):
            same = next((other for other in others if _same(path, other)), None)
            if same is not None:
                raise InputError(f"--{name} {path} is the same file as {same}, which would be lost: name another to write to")


def _paths(options: argparse.Namespace, name: str) -> Iterator[str]:
    """Yield the paths that an option names, without standard input and output; for ``SYSTEM=FILE`` the file too."""
    given = getattr(options, name, None) or ()
    for path in [given] if isinstance(given, str) else given:
        yield from {path, path.partition("=")[2]} - {"", "-"}


def _same(one: str, other: str) -> bool:
    """Return True for two paths to one file or folder, which may be missing; devices may be read and written."""
    if os.path.exists(one) and os.path.exists(other):
        return os.path.samefile(one, other) and (os.path.isfile(one) or os.path.isdir(one))
    return os.path.realpath(one) == os.path.realpath(other)


def positive(text: str) -> int:
    """Return a whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


HELPS = {
    "models": f"a model set, by name or folder, or the paper's models (default: {MetricConfig.models}; the sets are offline)",
    "preset": "paper: the features as the RoMe paper prints them (default: with the model set's settings)",
    "set": "a setting of a feature, such as semantic.delta=0.4, syntax.distance=zss or errors.surface.sure=0.8; can be repeated",
    "emd": "variant of the transport cost, semantic.emd (default: the model set's, soft)",
    "rho": "credit of words outside the alignment, 0 to 1, semantic.rho (default: the model set's)",
    "idf": "where word weights come from",
    "net": "a net trained by `rome train scorer` (default: the model set's own)",
    "scorer": "supervised: the set's net that was fitted on human ratings, and is marked so (default: unsupervised)",
    "empty_reference": "an empty reference (default: error)",
    "store": "keep the analyses in this FILE, so that known texts skip the models",
    "threads": "processor threads, at most as many as there are processors (default: what torch takes)",
    "device": "where the models compute; auto: a card where there is one (default: cpu, whose numbers are the reference)",
    "precision": "of the models' products; bf16 is faster with AVX512-BF16 or AMX and less exact, auto takes it there (default: float32)",
    "batch_size": f"word pieces that pass through a model at once (default: {MetricConfig.batch_size})",
    "progress": "progress bar (default: only on a terminal)",
}
"""Help of the option for each field of MetricConfig."""
SETTINGS: dict[str, dict[str, Any]] = {
    **{name: {"choices": choices} for name, choices in CHOICES.items()},
    "models": {"metavar": f"{{{','.join((*SETS, 'paper', 'FOLDER'))}}}"},
    "rho": {"type": float, "metavar": "SHARE"},
    "set": {"action": "append", "metavar": "FEATURE.SETTING=VALUE"},
    "net": {"metavar": "FILE"},
    "store": {"metavar": "PATH"},
    "threads": {"type": positive, "metavar": "N"},
    "batch_size": {"type": positive, "metavar": "N"},
    "progress": {"action": argparse.BooleanOptionalAction},
}
"""Other settings of these options."""


def add_metric_arguments(parser: argparse.ArgumentParser, **helps: str) -> None:
    """Add every option of a metric; ``helps`` replaces the help of some."""
    add_options(parser.add_argument_group("metric"), *HELPS, **helps)


def add_options(group: Any, *names: str, **helps: str) -> None:
    """Add some options of a metric, with their choices and defaults."""
    for name in names:
        option, default = f"--{name.replace('_', '-')}", getattr(MetricConfig, name, None)
        group.add_argument(option, help=helps.get(name, HELPS[name]), default=default, **SETTINGS.get(name, {}))


def add_output_arguments(group: Any, *formats: str, note: str = "") -> None:
    """Add --format, whose default is the first, and --output; ``note`` is added to the help of the formats."""
    group.add_argument("--format", "-f", choices=formats, default=formats[0], help=f"default: {formats[0]}{note}")
    whole = "write a whole file or none (default: standard output)"
    completes_files(group.add_argument("--output", "-o", metavar="FILE", help=whole))


def named_net(options: argparse.Namespace) -> Combiner | None:
    """Return the net in the file that the options name, None for one of the model set. Raises InputError for two nets."""
    from rome.combining.combiner import Combiner

    if options.net is not None and options.scorer != "unsupervised":
        raise InputError(f"--net {options.net} and --scorer {options.scorer} name two nets: give one of them")
    return None if options.net is None else Combiner.load(options.net)


def chosen_settings(given: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return by feature the settings ``FEATURE.SETTING=VALUE``. Raises InputError for another form."""
    chosen: dict[str, dict[str, Any]] = {}
    for text in given:
        place, equals, value = text.partition("=")
        feature, _, setting = place.strip().partition(".")
        if feature not in FEATURES or not setting or not equals:
            raise InputError(f"--set must be FEATURE.SETTING=VALUE, FEATURE one of {', '.join(FEATURES)}, got {text!r}")
        word: Any = value.strip()
        with suppress(ValueError, SyntaxError):  # a word otherwise
            word = literal_eval({"true": "True", "false": "False"}.get(word, word))
        chosen.setdefault(feature, {})[setting] = word
    return chosen


def make_metric(options: argparse.Namespace) -> RoMe:
    """Return the metric of the parsed options; a command need not offer every option."""
    from rome.metric import RoMe

    net = named_net(options) if hasattr(options, "net") else None
    named: dict[str, Any] = {f.name: getattr(options, f.name) for f in fields(MetricConfig) if hasattr(options, f.name)}
    return RoMe(combiner=net, **named | chosen_settings(getattr(options, "set", None) or ()))


def load_at_once(metric: object, options: argparse.Namespace) -> None:
    """Load the models of a metric whose first text needs them: without a store, and where this process does the work.

    Python's garbage collector is off meanwhile and ignores these half a million objects afterwards. `rome score` of one pair with `base` then
    takes 4.8 s of processor time instead of 6.3 s. Raises ModelMissingError.
    """
    from rome.metric import RoMe

    if isinstance(metric, RoMe) and options.store is None and getattr(options, "workers", 1) == 1:
        gc.disable()
        metric.load()
        gc.freeze()
        gc.enable()

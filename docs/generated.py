"""Generate pages when the site is built: the command line from its parser, the model cards from their files."""

from __future__ import annotations

import argparse
import html
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from figures import markdown_table

from rome.cli import COMMANDS, _parser
from rome.cli.package import Cards, read_cards

FACTS = ("task", "data", "licence", "recipe", "seed", "steps", "seconds", "machine")


def command_page() -> str:
    """Return the page of every command with its usage and options."""
    commands = _subparsers(_parser())
    missing = sorted(set(COMMANDS) - set(commands))
    if missing:
        raise KeyError(f"commands without a parser: {', '.join(missing)}")
    parts = [_parser().description or "", "[Exit codes](commands.md#exit-codes)."]
    parts.append("Data goes to standard output; progress (on a terminal only) and errors go to standard error.")
    summary = [[f"[`rome {name}`](#rome-{name})", _escaped(parser.description)] for name, parser in commands.items()]
    parts += [markdown_table(["command", "what it does"], summary), *_options(_parser())]
    for name, parser in commands.items():
        parts += _command(f"rome {name}", parser, 2)
    return "\n\n".join(["# Command line", *parts])


def _command(title: str, parser: argparse.ArgumentParser, level: int) -> Iterator[str]:
    """Yield the section of a command and those of its subcommands."""
    yield f"{'#' * level} {title}"
    yield _escaped(parser.description)
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    yield f"```text\n{usage}\n```"
    yield from _options(parser)
    for name, below in _subparsers(parser).items():
        yield from _command(f"{title} {name}", below, level + 1)


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield a table for each group of arguments and options."""
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if not _hidden(action)]
        if not actions:
            continue
        if group.title not in ("positional arguments", "options"):
            yield f"**{_escaped(group.title)}**"
        rows = [[_names(action), _escaped(_help(action))] for action in actions]
        yield markdown_table(["argument" if group.title == "positional arguments" else "option", "meaning"], rows)
    if parser.epilog:
        yield f"```text\n{parser.epilog}\n```"


def _hidden(action: argparse.Action) -> bool:
    return action.help == argparse.SUPPRESS or isinstance(action, (argparse._HelpAction, argparse._SubParsersAction))


def _names(action: argparse.Action) -> str:
    """Return the names and the value of an option."""
    value = action.metavar or ("{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper())
    text = " ".join(value) if isinstance(value, tuple) else value
    if not action.option_strings:
        return f"`{text}`"
    names = ", ".join(action.option_strings)
    return f"`{names}`" if action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction) else f"`{names} {text}`"


def _help(action: argparse.Action) -> str:
    """Return the help with the values for %(default)s and the like."""
    text = (action.help or "") % (vars(action) | {"prog": "rome"}) if action.help else ""
    listed = bool(action.choices) and action.metavar is not None
    return text + (f" One of {', '.join(map(str, action.choices or ()))}." if listed and not text else "")


def _subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    found: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found |= action.choices
    return found


def card_page() -> str:
    """Return the page of the model cards of every set."""
    sets = read_cards()
    parts = [
        "# Model cards",
        f"The package carries {len(sets)} model sets, {_megabytes(chain(*sets.values())):.0f} MB together; `rome models` prints the "
        "same figures and `rome selfcheck` compares every file with its hash. Nothing is ever downloaded unasked.",
    ]
    for name, cards in sets.items():
        line = f'`RoMe(models="{name}")`: {len(cards)} models, {_megabytes(cards):.0f} MB.'
        parts += [f"## {name}", line, _contents(name, cards)]
        for card in cards:
            parts += _card(name, card)
    return "\n\n".join(parts)


def _megabytes(cards: Iterable[Mapping[str, Any]]) -> float:
    return sum(card.get("size_bytes") or 0 for card in cards) / 1e6


def _contents(name: str, cards: Cards) -> str:
    """Return a table of a set's models with links to their cards."""
    rows = [[f"[{c['name']}](#{name}-{c['name']})", f"{_megabytes([c]):.1f}", _escaped(c.get("task"))] for c in cards]
    return markdown_table(["model", "MB", "task"], rows)


def _card(name: str, card: Mapping[str, Any]) -> Iterator[str]:
    """Yield the section of a card."""
    yield f"### {name}: {card['name']}"
    facts = [[fact, _fact(fact, card[fact])] for fact in FACTS if card.get(fact) is not None]
    yield markdown_table(["fact", "value"], [*facts, ["size", f"{_megabytes([card]):.2f} MB"]])
    yield _escaped(card.get("notes"))
    figures = [[_escaped(label), _value(value)] for label, value in _flat(card.get("figures") or {})]
    if figures:
        yield markdown_table(["figure", "value"], figures)


def _fact(name: str, value: Any) -> str:
    text = "; ".join(map(str, value)) if isinstance(value, list) else f"{value:.4g}" if isinstance(value, float) else str(value)
    return f"`{text}`" if name == "recipe" and text.startswith("rome") else _escaped(text)


def _flat(figures: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Names and values, nested names joined."""
    for name, value in figures.items():
        label = f"{prefix} {name}".strip().replace("_", " ")
        if isinstance(value, Mapping):
            yield from _flat(value, label)
        else:
            yield label, value


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else _escaped(value)


def _escaped(text: Any) -> str:
    """Return a text in one line with Markdown escaped."""
    line = " ".join(str(text or "").split())
    for mark in "\\`*_[]|":
        line = line.replace(mark, f"\\{mark}")
    return html.escape(line, quote=False).replace("\\`", "`")

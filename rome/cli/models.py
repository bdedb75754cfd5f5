"""Print what is known of the models of each set: task, size, licence, figures."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rome.cli.metric import MakeMetric, add_output_arguments
from rome.exceptions import ModelMissingError
from rome.features.analyser.config import SETS, set_folder
from rome.storage.files import open_output
from rome.text_table import aligned, shorten, terminal_width

MEGABYTE, TEXT_WIDTH = 1_000_000, 44
Cards = Sequence[Mapping[str, Any]]


def read_cards() -> Mapping[str, Cards]:
    """Every card of the package: for each model set those of its models, by the name of their folders.

    Raises ModelMissingError when there is none.
    """
    read = {name: cards for name in SETS if (cards := [*map(_card, sorted(set_folder(name).glob("*/card.json")))])}
    if not read:
        raise ModelMissingError("the package holds no model card: reinstall it, `pip install --force-reinstall rome-metric`")
    return read


def _card(path: Path) -> dict[str, Any]:
    card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return card


def sets_table(sets: Mapping[str, Cards], room: int | None = None) -> str:
    """The cards of each set under its name."""
    return "\n\n\n".join(f"{name}\n\n{cards_table(cards, room)}" for name, cards in sets.items())


def cards_table(cards: Cards, room: int | None = None) -> str:
    """One line a model (size, licence, data, task), then the figures of each; within the columns of a terminal."""
    rows = [["model", "MB", "licence", "data", "task"]]
    for card in cards:
        size = f"{(card.get('size_bytes') or 0) / MEGABYTE:.1f}"
        texts = (shorten(_words(card.get(field)), TEXT_WIDTH) for field in ("licence", "data", "task"))
        rows.append([str(card.get("name")), size, *texts])
    total = sum(card.get("size_bytes") or 0 for card in cards) / MEGABYTE
    rows.append(["all", f"{total:.1f}", "", "", ""])
    table = aligned(rows, [False, True, False, False, False], rule_after=(0, len(rows) - 2), room=room)
    figures = [[str(card.get("name")), name, value] for card in cards for name, value in _figures(card.get("figures") or {})]
    if not figures:
        return table
    plain = all(", " not in value for *_, value in figures)  # numbers stand right, lines of several figures left
    return f"{table}\n\n{aligned([['model', 'figure', 'value'], *figures], [False, False, plain], rule_after=(0,), room=room)}"


def _figures(figures: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Names and values, nested ones joined by a blank; the third level (one figure of several scorers) stays in one line."""
    rows: list[tuple[str, str]] = []
    for name, value in figures.items():
        if isinstance(value, Mapping) and prefix:
            rows.append((f"{prefix}{name}", ", ".join(f"{scorer} {number:.3f}" for scorer, number in value.items())))
        elif isinstance(value, Mapping):
            rows += _figures(value, f"{prefix}{name} ")
        else:
            rows.append((f"{prefix}{name}", f"{value:.4g}" if isinstance(value, float) else _words(value)))
    return rows


def _words(value: Any) -> str:
    """A value of a card in one line."""
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else " ".join(str(value).split())


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome models`."""
    add_output_arguments(parser, "table", "json", said="; json has the whole cards")


def run(options: argparse.Namespace, _: MakeMetric) -> int:
    """Read the cards and write them."""
    cards = read_cards()
    with open_output(options.output) as stream:
        whole = options.format == "json"
        text = json.dumps(cards, ensure_ascii=False, indent=1) if whole else sets_table(cards, terminal_width(options.output))
        stream.write(text)
        stream.write("\n")
    return 0

"""The model cards of the embedded models: one card.json beside each, written when it was trained."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from rome.exceptions import ModelMissingError
from rome.text_table import aligned, shorten

__all__ = ["cards_table", "read_cards"]

LANGUAGE = "en"
MEGABYTE, TEXT_WIDTH = 1_000_000, 44


def read_cards() -> list[dict[str, Any]]:
    """Every card of the package, by the name of its folder. Raises ModelMissingError when there is none."""
    root = files("rome.data") / "models" / LANGUAGE
    folders = sorted(root.iterdir(), key=lambda folder: folder.name) if root.is_dir() else []
    cards = [folder / "card.json" for folder in folders]
    read = [json.loads(card.read_text(encoding="utf-8")) for card in cards if card.is_file()]
    if not read:
        raise ModelMissingError("the package holds no model card: reinstall it, `pip install --force-reinstall rome-metric`")
    return read


def cards_table(cards: Sequence[Mapping[str, Any]]) -> str:
    """One line a model (size, licence, data, task), then the figures of each."""
    rows = [["model", "MB", "licence", "data", "task"]]
    for card in cards:
        size = f"{(card.get('size_bytes') or 0) / MEGABYTE:.1f}"
        texts = (shorten(_words(card.get(field)), TEXT_WIDTH) for field in ("licence", "data", "task"))
        rows.append([str(card.get("name")), size, *texts])
    total = sum(card.get("size_bytes") or 0 for card in cards) / MEGABYTE
    rows.append(["all", f"{total:.1f}", "", "", ""])
    table = aligned(rows, [False, True, False, False, False], rule_after=(0, len(rows) - 2))
    figures = [[str(card.get("name")), name, value] for card in cards for name, value in _figures(card.get("figures") or {})]
    if not figures:
        return table
    plain = all(", " not in value for *_, value in figures)  # numbers stand right, lines of several figures left
    return f"{table}\n\n{aligned([['model', 'figure', 'value'], *figures], [False, False, plain], rule_after=(0,))}"


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

"""The colours of every display and figure, from palette.json."""

import json
from importlib.resources import files

PALETTE: dict[str, list[str]] = json.loads(files("rome.reports").joinpath("palette.json").read_text(encoding="utf-8"))
"""Each colour in light and in dark. ``less`` are the shades of negative numbers. ``pale`` is the text on the fourth and fifth shade; on the
others it is ``ink``."""

COLOURS = {name: pair[0] for name, pair in PALETTE.items()}
"""The colours on light ground: files have white ground wherever they are put."""

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f7f7f")
"""Okabe and Ito's colours, which colour-blind people tell apart, but for the yellow one, which white paper swallows."""

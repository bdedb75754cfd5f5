"""The colours of every display and figure."""

PALETTE = {
    "ground": ("#ffffff", "#15181b"),
    "raised": ("#f1f4f7", "#20252a"),
    "line": ("#d0d6dc", "#3b434b"),
    "ink": ("#1b1c1e", "#e7e9eb"),
    "soft": ("#545b63", "#a7afb7"),
    "link": ("#0b5cad", "#7db8f2"),
    "bar": ("#0072b2", "#4a9fe3"),
    "up": ("#0072b2", "#4a9fe3"),
    "down": ("#b84a00", "#f2914f"),
    "critical": ("#8c0d4f", "#ff7ab8"),
    "major": ("#b3261e", "#ff8f85"),
    "minor": ("#7f5600", "#e3b558"),
    "change": ("#7b3fa0", "#cda4ec"),
    "insert": ("#00695c", "#5fc7b4"),
    "delete": ("#b84a00", "#f2914f"),
    "heat1": ("#e4eef7", "#1d2e3c"),
    "heat2": ("#b9d6ea", "#264a66"),
    "heat3": ("#84b6d9", "#33658c"),
    "heat4": ("#2473a8", "#69ade0"),
    "heat5": ("#00406b", "#a9d8fb"),
    "less1": ("#f9eae0", "#3a2a1c"),
    "less2": ("#f2cdb0", "#5c3d22"),
    "less3": ("#e5a877", "#825128"),
    "less4": ("#a85a1c", "#e8a56d"),
    "less5": ("#7a3300", "#f8cfa8"),
    "pale": ("#ffffff", "#0d1a25"),
}
"""Each colour in light and in dark. ``less`` are the shades of negative numbers. ``pale`` is the text on the fourth and fifth shade; on the
others it is ``ink``."""

COLOURS = {name: pair[0] for name, pair in PALETTE.items()}
"""The colours on light ground: files have white ground wherever they are put."""

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f7f7f")
"""Okabe and Ito's colours, which colour-blind people tell apart, but for the yellow one, which white paper swallows."""

"""The ground that every figure stands on: our settings over matplotlib's defaults, and files with the same bytes for the same figure."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

from rome.display.style import PALETTE
from rome.exceptions import InputError, ModelMissingError
from rome.storage.files import atomic_path
from rome.text_table import shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "Figure", "blank", "bare", "canvas", "drawing", "label", "save", "shades", "signed", "ticks"]

COLOURS = {name: pair[0] for name, pair in PALETTE.items()}
"""The palette of the displays on light ground: the files have white ground wherever they are put."""

DOTS_PER_INCH = 200
FORMATS = {".png": "png", ".svg": "svg", ".pdf": "pdf"}
NO_DATES: dict[str, dict[str, Any]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None, "ModDate": None}}
SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "rome",
    "pdf.fonttype": 42,
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.unicode_minus": True,
    "figure.facecolor": "white",
    **{key: COLOURS["ink"] for key in ("text.color", "axes.labelcolor", "xtick.color", "ytick.color")},
    "axes.edgecolor": COLOURS["soft"],
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
}

Arguments = ParamSpec("Arguments")


def drawing(function: Callable[Arguments, Figure]) -> Callable[Arguments, Figure]:
    """Make a function draw under our settings, whatever the user's own are; theirs are put back.

    Raises ModelMissingError with the install line when matplotlib is not there.
    """

    @functools.wraps(function)
    def drawn(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Figure:
        with _settings():
            return function(*args, **kwargs)

    return drawn


def canvas(width: float, height: float) -> Figure:
    """An empty figure of this size in inches; it belongs to no window and to no list of open figures."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG, SVG or PDF, by the ending of the name; the same figure gives the same bytes.

    The file appears whole or not at all. Raises InputError for another ending and for a name that cannot be written.
    """
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        raise InputError(f"{os.fspath(path)} ends in {ending or 'nothing'}: figures are written as .png, .svg or .pdf")
    kind = FORMATS[ending]
    with _settings(), atomic_path(path) as temporary:
        figure.savefig(
            temporary,
            format=kind,
            dpi=DOTS_PER_INCH,
            facecolor="white",
            bbox_inches="tight",
            pad_inches=0.1,
            metadata=NO_DATES[kind],
        )


def shades(name: str) -> Any:
    """Colours from white to one of the palette, or, for ``both``, from orange over white to blue."""
    from matplotlib.colors import LinearSegmentedColormap

    ends = [COLOURS["down"], "#ffffff", COLOURS["up"]] if name == "both" else ["#ffffff", COLOURS[name]]
    return LinearSegmentedColormap.from_list(f"rome-{name}", ends)


def ticks(count: int) -> Any:
    """Round numbers along an axis, at most so many steps."""
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(count)


def label(text: str, width: int) -> str:
    """A text that a drawing can hold: one line, without control characters, cut to this many columns."""
    return "".join(char if char.isprintable() and not 0xD800 <= ord(char) < 0xE000 else " " for char in shorten(text, width))


def signed(value: float, digits: int = 3) -> str:
    """With its sign and a real minus."""
    return f"{value:+.{digits}f}".replace("-", "\u2212")


def bare(axes: Any) -> None:
    """Axes without a frame and without ticks' lines."""
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def blank(axes: Any, text: str) -> None:
    """A sentence in the place of a drawing that there is nothing for."""
    axes.axis("off")
    axes.text(0.5, 0.5, text, ha="center", va="center", color=COLOURS["soft"], wrap=True)


@contextmanager
def _settings() -> Iterator[None]:
    """Our settings over matplotlib's defaults, the user's own put back afterwards; letters without a glyph warn nobody."""
    if find_spec("matplotlib") is None:
        raise ModelMissingError('figures need matplotlib: run `pip install "rome-metric[evaluate]"`')
    import matplotlib

    parameters: Any = matplotlib.rcParams  # its type lists the keys of one version
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matplotlib.rcdefaults()
        parameters.update(SETTINGS)
        yield

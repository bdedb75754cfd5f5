"""The explanation in a terminal's colours: the plain text with its errors underlined, its bars and its edits told apart."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from rome.display.texts import SEVERITIES
from rome.text_report import blocks
from rome.text_table import visible

if TYPE_CHECKING:
    from rome.results import SegmentScore

__all__ = ["coloured", "takes_colours"]

RESET = "\x1b[0m"
CODES = {
    "title": "1",
    "quiet": "2",
    "critical": "1;4;7;31",
    "major": "1;4;31",
    "minor": "4;33",
    "down": "31",
    "change": "35",
    "insert": "32",
    "delete": "31",
}
"""Select Graphic Rendition (ECMA-48): 1 bold, 2 faint, 4 underlined, 7 reversed, 31 to 35 red, green, yellow, blue, magenta."""

_COST = re.compile(rf"(?<=, )({'|'.join(SEVERITIES)})(?=\)$)")
_SEVERITY = re.compile(r"^(  \d+\.\d+  )(critical|major|minor|none)(?= )")


def takes_colours(stream: TextIO, environment: Mapping[str, str] | None = None) -> bool:
    """True for a terminal that can show colours and a user who wants them.

    A set NO_COLOR (https://no-color.org) and TERM=dumb say no. environment : by default the process's own.
    """
    known = os.environ if environment is None else environment
    return stream.isatty() and not known.get("NO_COLOR") and known.get("TERM") != "dumb"


def coloured(segment: SegmentScore) -> str:
    """`text_report.explain` with colours: without the escape sequences it is the same text, word for word.

    Control characters that a text itself holds, which could move the cursor or turn the line around, show as their code in brackets.
    """
    texts, losses, contributions, *features, signature = blocks(segment)
    writers: tuple[Callable[[str], str], ...] = (_semantic, _syntax, _titled, _errors)
    parts = [_texts(texts, segment), _losses(visible(losses)), _contributions(contributions)]
    parts += [write(visible(block)) for write, block in zip(writers, features, strict=True)]
    return "\n\n".join([*parts, paint("quiet", visible(signature))])


def paint(kind: str, text: str) -> str:
    """The text between the escape sequences of its kind; nothing stays nothing."""
    return f"\x1b[{CODES[kind]}m{text}{RESET}" if text else ""


def _texts(block: str, segment: SegmentScore) -> str:
    """The two texts with their errors underlined; labels quiet, the score bold."""
    lines = []
    for line in block.split("\n"):
        label, blanks, rest = _split(line)
        side = label.split(" ")[0]
        if side in ("reference", "hypothesis"):
            rest = _underlined(getattr(segment, side), side, segment)
        elif side == "score":
            rest = paint("title", rest)
        else:
            rest = visible(rest)
        lines.append(paint("quiet", label) + blanks + rest)
    return "\n".join(lines)


def _split(line: str) -> tuple[str, str, str]:
    """Label, the blanks behind it (two at least) and the rest."""
    label, _, _ = line.partition("  ")
    rest = line[len(label) :].lstrip(" ")
    return label, line[len(label) : len(line) - len(rest)], rest


def _underlined(text: str, side: str, segment: SegmentScore) -> str:
    """The text on one line, each character under the worst severity of the errors that hold it."""
    evidence = segment.evidence.errors
    worst = [""] * len(text)
    for severity in reversed(SEVERITIES):
        for error in () if evidence is None else evidence.errors:
            span = getattr(error, side)
            if span is not None and error.severity == severity:
                first, last = max(0, span.start), min(span.end, len(text))
                worst[first:last] = [severity] * max(0, last - first)
    return "".join(paint(kind, visible(piece)) if kind else visible(piece) for kind, piece in _runs(_on_one_line(text, worst)))


def _on_one_line(text: str, kinds: Sequence[str]) -> list[tuple[str, str]]:
    """The characters of ``" ".join(text.split())`` with their kinds; a blank between words keeps that of the first it stands for."""
    kept: list[tuple[str, str]] = []
    waiting: tuple[str, str] | None = None
    for character, kind in zip(text, kinds, strict=True):
        if character.isspace():
            waiting = waiting or (" ", kind)
            continue
        if waiting and kept:
            kept.append(waiting)
        kept.append((character, kind))
        waiting = None
    return kept


def _runs(characters: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Neighbours of one kind together."""
    start = 0
    for n in range(1, len(characters) + 1):
        if n == len(characters) or characters[n][1] != characters[start][1]:
            yield characters[start][1], "".join(character for character, _ in characters[start:n])
            start = n


def _losses(block: str) -> str:
    """Each severity in its colour."""
    return _titled(block, lambda line: _COST.sub(lambda found: paint(found.group(), found.group()), line))


def _contributions(block: str) -> str:
    """Bars in the colour of what is lost."""
    return _titled(block, lambda line: re.sub(r"-+$", lambda bar: paint("down", bar.group()), line))


def _titled(block: str, rest: Callable[[str], str] = lambda line: line) -> str:
    """The first line bold, the others as `rest` makes them."""
    title, *lines = block.split("\n")
    return "\n".join([paint("title", title), *map(rest, lines)])


def _semantic(block: str) -> str:
    """Pairs that share nothing are quiet, words without counterpart stand out."""

    def line(text: str) -> str:
        if text.startswith("  without counterpart"):
            return paint("change", text)
        return paint("quiet", text) if text.endswith("  1.000") or text.startswith("  reference ") else text

    return _titled(block, line)


def _syntax(block: str) -> str:
    """Trees with quiet relations, then each edit in its colour."""
    edits = False

    def line(text: str) -> str:
        nonlocal edits
        edits = edits or text.startswith("  edit operations")
        kind: Any = text.split()[0] if text.split() else ""
        if edits and text.startswith("    ") and kind in CODES:
            return f"    {paint(kind, kind)}{text[4 + len(kind) :]}"
        return text if edits else re.sub(r"\([^()]*\)$", lambda found: paint("quiet", found.group()), text)

    return _titled(block, line)


def _errors(block: str) -> str:
    """Each severity in its colour; what does not count is quiet."""

    def line(text: str) -> str:
        found = _SEVERITY.match(text)
        if found and found.group(2) == "none":
            return paint("quiet", text)
        return _SEVERITY.sub(lambda parts: parts.group(1) + paint(parts.group(2), parts.group(2)), text)

    return _titled(block, line)

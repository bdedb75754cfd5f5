"""Explanations folded into columns before they are deflated: what repeats stands once, what varies stands beside its like.

A page's explanations are long because of their markup: deflated as they are, they take twice the space (benchmarks/results/page.tsv).
Folding takes no notice of what the markup means, so whatever makes the HTML stays the only one that does. unpack.js unfolds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["CODE", "KINDS", "SECTION", "UNIT", "fold"]

SECTION, UNIT = "\x1e", "\x1f"
"""Between the parts of a folded text, and between the entries of one part. No fragment holds a control character, see `fold`."""

CODE, HIGHEST = 0x28, 0xD000
"""A number n below HIGHEST is written as the character CODE + n."""

KINDS = TEXT, ATTRIBUTE, NUMBER, RAW, END = '>"#=!'
"""What follows a piece of markup: the content of an element; the value of an attribute; a number as its difference to the one that
followed the same piece before, in hundredths; a number as it is spelt; nothing, the explanation ends."""

_SLOT = re.compile(r'(>[^<]+|(?:title|label|data-l)="[^"]*|[0-9]+(?:\.[0-9]+)?)')
_SHORT = re.compile(r"(?:0|[1-9][0-9]*)(?:\.[0-9]?[1-9])?")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"} | {0x7F: 0x2421}


def fold(fragments: Sequence[str]) -> str:
    """One text for several fragments of HTML, each of which `unfold` in unpack.js gives back.

    A fragment is cut into pieces of markup, each followed by a slot: a text, an attribute's value or a number. The first section lists
    the distinct pieces, their kind as the last character; the second names the piece of each place; then comes one section a piece with
    all that followed it (none for END). Control characters but tab and line feed become their pictures, as they would stay invisible.
    """
    places: dict[tuple[str, str], int] = {}
    columns: list[list[str]] = []
    order: list[int] = []
    codes: dict[str, int | None] = {}
    for fragment in fragments:
        last: dict[int, int] = {}
        if _CONTROL.search(fragment):
            fragment = fragment.translate(_PICTURES)
        parts = _SLOT.split(fragment)
        parts.append(END)
        for piece, slot in zip(parts[::2], parts[1::2], strict=True):
            kind, first = NUMBER, slot[0]
            if first == TEXT:
                kind, slot = TEXT, slot[1:]
            elif first == END:
                kind, slot = END, ""
            elif not first.isdigit():
                kind, _, slot = slot.partition(ATTRIBUTE)
            else:
                step = codes[slot] if slot in codes else codes.setdefault(slot, _hundredths(slot))
                kind = RAW if step is None else NUMBER
            place = places.setdefault((piece, kind), len(columns))
            if place == len(columns):
                columns.append([])
            if kind == NUMBER and step is not None:
                step, last[place] = step - last.get(place, 0), step
                slot = chr(CODE + (2 * step if step >= 0 else -2 * step - 1))
            order.append(place)
            columns[place].append(slot)
    return _written(list(places), columns, order)


def _hundredths(spelt: str) -> int | None:
    """The number in hundredths; None where it is too large, or not spelt as short as can be."""
    short = _SHORT.fullmatch(spelt) is not None and float(spelt) < HIGHEST / 400
    return round(100 * float(spelt)) if short else None


def _written(places: Sequence[tuple[str, str]], columns: Sequence[Sequence[str]], order: Sequence[int]) -> str:
    """Pieces, order and columns as sections; what belongs to the markup on both sides of a slot goes to the piece."""
    pieces = []
    for piece, kind in places:
        after = {TEXT: TEXT + TEXT, NUMBER: NUMBER, RAW: RAW, END: END}
        pieces.append(piece + after.get(kind, kind + ATTRIBUTE + ATTRIBUTE))
    sections = [("" if kind == NUMBER else UNIT).join(column) for (_, kind), column in zip(places, columns, strict=True)]
    return SECTION.join([UNIT.join(pieces), "".join(chr(CODE + place) for place in order), *sections])

"""Groups of a reference with acceptable rewrites and critical near-copies, one JSON object per line, in two layouts."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from rome.data.readers.lines import json_objects, texts_of
from rome.data.sources import data_file
from rome.exceptions import InputError

Distance = Literal["near", "far", ""]

MEANING_SETS = ("handmade", "webnlg_dev")
"""The development sets by name."""
CELLS: tuple[tuple[str, Distance], ...] = tuple(
    (side, distance) for side in ("acceptable", "critical") for distance in ("near", "far")
)
LAYOUTS = (
    "give `reference` with `acceptable` and `critical` (a text or a list each), "
    "or with the four texts `acceptable_near`, `acceptable_far`, `critical_near`, `critical_far`"
)


@dataclass(frozen=True, slots=True)
class Wording:
    """One text of a group.

    Attributes
    ----------
    distance
        How far its words are from the reference's; "" where unknown.
    """

    text: str
    distance: Distance = ""


@dataclass(frozen=True, slots=True)
class MeaningGroup:
    """References with texts that say the same (acceptable) and texts that turn a fact (critical).

    Raises InputError naming the place for: no reference, a side without a text, a blank text, a text on both sides.

    Attributes
    ----------
    kind
        Which falsehood, "" when unknown.
    rewrite
        How the acceptable far text was made, likewise.
    cluster
        Groups made of one text share it and are resampled together; "" for a group of its own.
    place
        ``file:line``, for messages.
    """

    references: tuple[str, ...]
    acceptable: tuple[Wording, ...]
    critical: tuple[Wording, ...]
    kind: str = ""
    rewrite: str = ""
    cluster: str = ""
    place: str = "the group"

    def __post_init__(self) -> None:
        """Check that both sides have texts and share none."""
        sides = {
            "reference": self.references,
            "acceptable": tuple(one.text for one in self.acceptable),
            "critical": tuple(one.text for one in self.critical),
        }
        for name, texts in sides.items():
            if not texts or not all(text.strip() for text in texts):
                raise InputError(f"{self.place}: {name} {'holds an empty text' if texts else 'is missing'}: {LAYOUTS}")
        both = set(sides["acceptable"]) & set(sides["critical"])
        if both:
            raise InputError(f"{self.place}: {min(both)[:60]!r} is both acceptable and critical: decide, or leave it out")


def read_meaning(spec: str | Path, limit: int | None = None) -> list[MeaningGroup]:
    """Return the groups of a file of JSON lines, gzipped or plain, or of a development set by its name in MEANING_SETS.

    A line holds ``reference`` (a text or a list) with ``acceptable`` and ``critical`` (likewise), or with the four texts ``acceptable_near``,
    ``acceptable_far``, ``critical_near``, ``critical_far``; and ``kind`` where it is known. Other keys are left alone.

    Raises InputError naming file, line and remedy, and for a file without groups.

    Parameters
    ----------
    limit
        At most so many groups of each kind.
    """
    path = data_file(f"meaning/{spec}.jsonl.gz") if str(spec) in MEANING_SETS and not Path(spec).is_file() else Path(spec)
    groups = meaning_groups(json_objects(path), limit)
    if not groups:
        raise InputError(f"{path} holds no group: {LAYOUTS}, one object a line")
    return groups


def meaning_groups(rows: Iterable[tuple[str, Mapping[str, Any]]], limit: int | None = None) -> list[MeaningGroup]:
    """Return the groups of objects, each with its place; see `read_meaning`."""
    groups: list[MeaningGroup] = []
    seen: Counter[str] = Counter()
    for place, row in rows:
        group = _group(row, place)
        seen[group.kind] += 1
        if limit is None or seen[group.kind] <= limit:
            groups.append(group)
    return groups


def _group(row: Mapping[str, Any], place: str) -> MeaningGroup:
    """Return the group of one line."""
    kind = row.get("kind") or ""
    if not isinstance(kind, str):
        raise InputError(f"{place}: kind must be a text. Name the kind of falsehood, or leave it out")
    if "reference" not in row:
        raise InputError(f"{place}: reference is missing: {LAYOUTS}")
    four = any(f"{side}_{distance}" in row for side, distance in CELLS)
    cells = CELLS if four else (("acceptable", ""), ("critical", ""))
    sides: dict[str, list[Wording]] = {"acceptable": [], "critical": []}
    for side, distance in cells:
        name = f"{side}_{distance}" if distance else side
        if name not in row or (four and not isinstance(row[name], str)):
            raise InputError(f"{place}: {name} is {'no text' if name in row else 'missing'}: {LAYOUTS}")
        sides[side] += [Wording(text, distance) for text in texts_of(row[name], place, name)]
    references = texts_of(row["reference"], place, "reference")
    return MeaningGroup(references, tuple(sides["acceptable"]), tuple(sides["critical"]), kind=kind, place=place)


def meaning_digest(groups: Iterable[MeaningGroup]) -> str:
    """Return 16 hexadecimal digits that change when any text or kind does; places do not count."""
    rows = [asdict(group) | {"place": ""} for group in groups]
    return hashlib.blake2b(json.dumps(rows, ensure_ascii=False).encode("utf-8"), digest_size=8).hexdigest()

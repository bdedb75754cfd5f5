"""Items to rate, and the file of ratings: one line of JSON per save, written to the disk at once; the last record of an item counts."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from rome.data.readers.lines import json_object
from rome.data.readers.own import rated_line
from rome.data.readers.rated import ErrorMark
from rome.exceptions import InputError, StoreError
from rome.features.text import visible
from rome.storage.files import STANDARD_INPUT, as_input_error, named
from rome.storage.pair_files import PairRow

Identity = tuple[str, str, str]
"""Language pair, item and system."""


@dataclass(frozen=True, slots=True)
class AnnotationItem:
    """Hold one output to be rated; annotators never see its item, system and language pair.

    Attributes
    ----------
    place
        ``file:line`` for messages.
    """

    item: str
    references: tuple[str, ...]
    hypothesis: str
    system: str = ""
    language_pair: str = ""
    place: str = ""

    @property
    def identity(self) -> Identity:
        """Return the key that no other output has."""
        return self.language_pair, self.item, self.system

    @property
    def key(self) -> str:
        """Return 16 hexadecimal digits that change with the identity and with every text, and reveal no name."""
        content = json.dumps([*self.identity, self.references, self.hypothesis])
        return hashlib.blake2b(content.encode("utf-8"), digest_size=8).hexdigest()

    def row(self) -> dict[str, Any]:
        """Return the fields of a line of ratings that describe the output."""
        return {
            "item": self.item,
            "system": self.system,
            **({"language_pair": self.language_pair} if self.language_pair else {}),
            "reference": self.references[0] if len(self.references) == 1 else list(self.references),
            "hypothesis": self.hypothesis,
        }


def rated_items(pairs: Iterable[PairRow]) -> list[AnnotationItem]:
    """Return the items of pairs from a file.

    Columns or keys: ``reference``, ``hypothesis``, optionally ``id`` (or ``item``; by default the number of the segment, from 1),
    ``system`` and ``language_pair``. Raises InputError that names file and line for a text that is not Unicode, for a repeated output, for
    some items with and some without an id, for systems without ids, and for standard input.
    """
    rows = list(pairs)
    if rows and named(STANDARD_INPUT) in rows[0].place:
        raise InputError("standard input cannot be annotated: write the texts to a file, so that the work can be resumed")
    items = []
    for row in rows:
        item, system, language_pair = (str(row.cells.get(key) or "") for key in ("item", "system", "language_pair"))
        items.append(AnnotationItem(item or row.id, tuple(row.references), row.hypothesis, system, language_pair, row.place))
    if not any(item.item for item in items):
        if any(item.system for item in items):
            raise InputError(f"{items[0].place}: a system but no id: give outputs that answer the same input the same id")
        items = [replace(item, item=str(number)) for number, item in enumerate(items, start=1)]
    _check(items)
    return items


def _check(items: list[AnnotationItem]) -> None:
    """Check that each item has an id of its own and references, and can be written as UTF-8."""
    seen: dict[Identity, str] = {}
    for item in items:
        if not item.item:
            raise InputError(f"{item.place}: no id, where other segments have one: give every segment an id, or none")
        if not all(map(visible, item.references)):
            raise InputError(f"{item.place}: the reference is empty: give a text to compare with")
        try:
            "".join((*item.identity, *item.references, item.hypothesis)).encode("utf-8")
        except UnicodeEncodeError as error:
            raise InputError(f"{item.place}: a lone surrogate is not text: write the file again as UTF-8") from error
        if item.identity in seen:
            named = f"item {item.item}" + (f" of system {item.system}" if item.system else "")
            raise InputError(f"{item.place}: {named} is also in {seen[item.identity]}: give each output its own id")
        seen[item.identity] = item.place


@dataclass(frozen=True, slots=True)
class Record:
    """Hold what one annotator rated and marked in one item; it may be incomplete.

    Attributes
    ----------
    place
        ``file:line``.
    """

    item: AnnotationItem
    annotator: str
    ratings: Mapping[str, float]
    marks: tuple[ErrorMark, ...]
    scale: str
    place: str = ""

    def answers(self) -> dict[str, Any]:
        """Return ratings and marks for JSON."""
        return {"ratings": dict(self.ratings), "errors": [asdict(mark) for mark in self.marks]}

    def line(self) -> str:
        """Return one line of JSON without its line end, as `rome evaluate` reads it."""
        time = datetime.now(timezone.utc).isoformat(timespec="seconds")
        row = {**self.item.row(), "annotator": self.annotator, **self.answers(), "scale": self.scale, "time": time}
        return json.dumps(row, ensure_ascii=False)

    @classmethod
    def of(cls, line: bytes, place: str) -> Record:
        """Return the record of one line. Raises InputError for another line."""
        try:
            row = json_object(line.decode("utf-8"), place, ("item", "reference", "hypothesis", "annotator", "ratings"))
            rated = rated_line(row, place)
        except (InputError, UnicodeDecodeError) as error:
            raise InputError(f"{place}: not a record of `rome annotate` ({error}): restore the line, or remove it") from error
        one = rated.segment
        item = AnnotationItem(one.item, one.references, one.hypothesis, one.system, one.language_pair, place)
        return cls(item, rated.annotator, rated.ratings, rated.marks or (), str(row.get("scale") or ""), place)


class RatingsFile:
    """Append records to a file that one process at a time holds open.

    Opening keeps every complete line and removes the rest of an interrupted write, which was never reported as saved.

    Raises InputError if the file cannot be opened, is held by another process, or has a line that is not a record.

    Attributes
    ----------
    notes
        Messages for the user.
    records
        The records of the file when it was opened.
    """

    def __init__(self, path: str) -> None:
        self.path, self.notes = path, []
        self._thread, self._process = threading.Lock(), FileLock(f"{path}.lock")
        try:
            Path(path).touch()
            self._process.acquire(timeout=0)
            content = Path(path).read_bytes()
            self.records, torn = _records(content, path)
            if torn:
                os.truncate(path, len(content) - len(torn))
                self.notes.append(
                    f"{path}: an incomplete last line of {len(torn)} bytes was removed: it was never reported as saved"
                )
            elif content and not content.endswith(b"\n"):
                self.append("")
        except Timeout as error:
            raise InputError(f"{path} is open in another `rome annotate`: use its page, or name another --output") from error
        except OSError as error:
            self.close()
            raise InputError(f"{path} cannot be written ({error.strerror}): choose a file in a folder that exists") from error
        except InputError:
            self.close()
            raise

    def append(self, line: str) -> None:
        """Write one line to the disk. Raises StoreError, leaving the file as it was, if that fails."""
        content = line.encode("utf-8") + b"\n"
        with self._thread, open(self.path, "ab", buffering=0) as stream:
            before = stream.tell()
            try:
                if stream.write(content) < len(content):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(stream.fileno())
            except OSError as error:
                stream.truncate(before)
                raise StoreError(
                    f"{self.path} cannot be written ({error.strerror}): make room; the page tries again"
                ) from error

    def close(self) -> None:
        """Release the file for other processes."""
        self._process.release()


def read_records(path: str) -> tuple[list[Record], str]:
    """Return every record of a file, in the order of saving, and a note on an incomplete last line ("" without one).

    Raises InputError that names file and line for a line that is not a record.
    """
    with as_input_error(path):
        records, torn = _records(Path(path).read_bytes(), path)
    return records, f"{path}: an incomplete last line of {len(torn)} bytes was left out" if torn else ""


def last_records(records: Iterable[Record]) -> dict[Identity, dict[str, Record]]:
    """Return output -> annotator -> the last record, both in the order of first appearance.

    Raises InputError if one output has two different texts.
    """
    outputs: dict[Identity, dict[str, Record]] = {}
    for record in records:
        group = outputs.setdefault(record.item.identity, {})
        first = next(iter(group.values()), record)
        if first.item.key != record.item.key:
            raise InputError(
                f"{record.place}: item {record.item.item} has other texts than in {first.place}: give different items different ids"
            )
        group[record.annotator] = record
    return outputs


def _records(content: bytes, path: str) -> tuple[list[Record], bytes]:
    """Return the records of every complete line, and the rest of an interrupted write.

    A last line that lacks only its line end is complete.
    """
    *lines, rest = content.split(b"\n")
    try:
        if isinstance(json.loads(rest), dict):
            lines, rest = [*lines, rest], b""
    except (ValueError, RecursionError):
        pass
    return [Record.of(line, f"{path}:{number}") for number, line in enumerate(lines, start=1) if line.strip()], rest


Ratings = Mapping[Identity, Mapping[str, Record]]


def read_ratings(paths: Sequence[str]) -> tuple[Ratings, list[str]]:
    """Return the last record of every annotator for every output of one or several files, and notes on incomplete lines.

    Raises InputError for a line that is not a record, for one item with different texts, for different scales, and if nothing was rated.
    """
    records, notes = [], []
    for path in paths:
        own, note = read_records(path)
        records.extend(own)
        notes.extend([note] if note else [])
    scales = {record.scale: record.place for record in records if record.scale}
    if len(scales) > 1:
        (one, place), (other, elsewhere) = list(scales.items())[:2]
        raise InputError(f"{place} is on the scale {one}, {elsewhere} on {other}: give ratings of one scale only")
    ratings = last_records(records)
    if not any(record.ratings or record.marks for group in ratings.values() for record in group.values()):
        raise InputError(f"{', '.join(paths)}: nothing was rated: rate at least one item first")
    return ratings, notes


def dimensions_of(ratings: Ratings) -> list[str]:
    """Return the rated dimensions, in the order of first appearance."""
    return list(dict.fromkeys(name for group in ratings.values() for record in group.values() for name in record.ratings))

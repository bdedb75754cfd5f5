"""Annotated groups: acceptable texts of one reference with single errors; and which rows of the training data are held out.

The layout is described in ``README.md`` beside the data: one JSON object per line with ``id``, ``domain``, ``texts`` and ``reference`` (by
default the first text); a mark ``{right=>wrong|severity|type}`` in a text names one possible error, and ``||`` separates alternatives at one
place.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rome.data.readers.lines import json_objects
from rome.exceptions import InputError

MARK = re.compile(r"\{([^{}]*)\}")
SEVERITIES = ("minor", "major", "critical")
LAYOUT = "write {right=>wrong|severity|type}, severity one of minor, major, critical, and || between alternatives"


@dataclass(frozen=True, slots=True)
class SingleError:
    """One possible error of an acceptable text.

    Attributes
    ----------
    start, end
        The characters of the acceptable text that the error replaces; equal for an addition.
    right, wrong
        The replaced characters and what replaces them; an empty ``wrong`` is an omission.
    """

    start: int
    end: int
    right: str
    wrong: str
    severity: str
    type: str


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """An acceptable text and its possible errors, in the order of the text."""

    text: str
    errors: tuple[SingleError, ...]

    def with_errors(self, *errors: SingleError) -> str:
        """Return the text with some of its errors, which must not overlap."""
        text = self.text
        for error in sorted(errors, key=lambda error: error.start, reverse=True):
            text = text[: error.start] + error.wrong + text[error.end :]
        return text


@dataclass(frozen=True, slots=True)
class AnnotatedGroup:
    """The texts of one reference; the first of them is the reference itself."""

    id: str
    domain: str
    reference: str
    texts: tuple[AnnotatedText, ...]


def parse_marks(text: str, place: str = "the text") -> AnnotatedText:
    """Return the acceptable text of a marked one, and its errors.

    Raises
    ------
    InputError
        For a mark of another form; the message begins with ``place``.
    """
    plain, errors, at = "", [], 0
    for mark in MARK.finditer(text):
        plain += text[at : mark.start()]
        at = mark.end()
        right, arrow, wrongs = mark.group(1).partition("=>")
        for alternative in wrongs.split("||"):
            parts = alternative.split("|")
            if not arrow or len(parts) != 3 or parts[1] not in SEVERITIES or parts[0] == right:
                raise InputError(f"{place}: the mark {mark.group(0)} cannot be read: {LAYOUT}")
            errors.append(SingleError(len(plain), len(plain) + len(right), right, *parts))
        plain += right
    return AnnotatedText(plain + text[at:], tuple(errors))


def read_groups(path: str | Path) -> Iterator[AnnotatedGroup]:
    """Yield the groups of a file of JSON lines, gzipped or plain.

    Raises
    ------
    InputError
        Naming file and line, for a missing key or an unreadable mark.
    """
    for place, row in json_objects(Path(path)):
        try:
            texts = tuple(parse_marks(text, place) for text in row["texts"])
            yield AnnotatedGroup(row["id"], row["domain"], row.get("reference", texts[0].text), texts)
        except (KeyError, TypeError, IndexError) as error:
            raise InputError(f"{place}: an annotated group needs id, domain and texts (a list with at least one text)") from error


HELD_DOMAIN = "podcast"
"""The domain of SummEdits that trains nothing: of average size, with nearly the same mix of edits as the whole set."""
HELD_OUT_OF = 10
"""One training group in this many is held out."""


def is_held_out_summary(row: Mapping[str, Any]) -> bool:
    """Return whether a row of SummEdits belongs to the held-out domain."""
    return bool(row["domain"] == HELD_DOMAIN)


def is_held_out_paws(row: Mapping[str, Any]) -> bool:
    """Return whether a pair of PAWS belongs to the held-out half.

    Notes
    -----
    PAWS repeats its sentences: most texts occur in several pairs, in another order of words or as the other side. The half is therefore chosen
    by the longest word of ``a`` (of equally long words the first in the alphabet), which nearly all pairs made of one sentence share. By the
    whole text, 80 % of the rows would have a sentence with the same words in the other half; this way 8 % have.
    """
    words = sorted(set(re.findall(r"\w+", row["a"].lower())))
    return _share("paws", max(words, key=len, default=""), 2)


def is_held_out_group(group_id: str) -> bool:
    """Return whether an annotated training group belongs to the held-out tenth."""
    return _share("group", group_id, HELD_OUT_OF)


def _share(kind: str, key: str, parts: int) -> bool:
    """Return whether a key falls into the first of some equal parts; the same on every machine and in every run."""
    digest = hashlib.blake2b(f"{kind}\0{key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % parts == 0

"""The door: every text that enters RoMe is checked here, once, and nowhere else."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import permutations
from statistics import fmean
from typing import Any, Literal

from rome.exceptions import InputError

MOST_WORDS, MOST_CHARACTERS = 2_500, 20_000
"""Of one text that are read. A pair's alignment grows with the square of its words in memory and faster in time, so what a text has beyond
this is cut off, and its result says so (flag ``cut``). Words are counted as runs of letters and digits, and every other mark or symbol
on its own."""
TRANSPOSED, COMPARED = 0.2, 20
"""How much more of their words texts must share by column than by row of a square nest of references for it to be refused, and how many rows
and columns are looked at. On segments of WMT and WebNLG with two or three references, 93 to 99 in 100 transposed nests are noticed, and no
right one is refused (of BAGEL, whose outputs are nearly alike, 15 in 10,000 nests of neighbouring outputs are)."""
EmptyReference = Literal["error", "score"]
_ARGUMENT = re.compile(r"(\w+)\[\d+\](?:\[(\d+)\])?")
_WORD = re.compile(r"\w+|[^\w\s]")
_BARE = (str, bytes, bytearray, memoryview)


class SegmentError(InputError):
    """One segment is not what it should be; ``segment`` is its number from 0, so that a reader of files can name the line."""

    def __init__(self, message: str, segment: int) -> None:
        super().__init__(message)
        self.segment = segment

    @property
    def in_words(self) -> str:
        """The message for who gave a file and options: which text it is in words, for a line that the reader of the file names."""
        found = _ARGUMENT.match(str(self))
        if found is None:
            return str(self)
        name = {"references": "the reference", "hypotheses": "the hypothesis"}.get(found[1], "the text")
        which = f"reference {int(found[2]) + 1}" if found[2] else name
        return f"{which}{str(self)[found.end() :]}".replace('pass empty_reference="score"', "take --empty-reference score")


@dataclass(frozen=True, slots=True)
class CheckedPair:
    """One segment after the check: its number from 0, one or more references, and the hypothesis (which may be empty).

    ``cut``: one of these texts is only the beginning of the one that was given, see MOST_WORDS.
    """

    segment: int
    references: tuple[str, ...]
    hypothesis: str
    cut: bool = False


def check_pairs(
    references: object,
    hypotheses: object,
    *,
    empty_reference: EmptyReference = "error",
    first: int = 0,
    by_segment: bool = False,
) -> list[CheckedPair]:
    """Return one Pair a hypothesis, or say what is wrong with the input and what to do about it.

    A square nest (as many references as segments) is read as ``[segment][reference]``, unless its texts say clearly that it is transposed.
    Of a text of more than MOST_WORDS or MOST_CHARACTERS the beginning is returned.

    Raises InputError for a bare string, None, bytes or anything else that is not a text where a text belongs, for unequal lengths, for the
    transposed shape, for pandas Series with different indices, for a lone surrogate, for an empty reference, and for no segments at all: a
    mean over nothing has no value.

    Parameters
    ----------
    references
        For each hypothesis one text, or a list of texts; several references are ``[segment][reference]``. The two forms may be mixed. Any
        iterable but a mapping or a set will do (a list, a tuple, a pandas column).
    hypotheses
        One text a segment; it may be empty or blank.
    empty_reference
        "error" refuses an empty or blank reference, "score" lets it pass.
    first
        The number of the first segment.
    by_segment
        True for the rows of a file or a table, which cannot be transposed.
    """
    if empty_reference not in ("error", "score"):
        raise InputError(f'empty_reference is {empty_reference!r}: choose "error" or "score"')
    reference_rows = _rows(references, "references")
    hypothesis_rows = _rows(hypotheses, "hypotheses")
    _check_lengths(reference_rows, hypothesis_rows)
    _check_indices(references, hypotheses)
    pairs = [
        _pair(_references(given, segment, empty_reference), _text(hypothesis, f"hypotheses[{segment}]", segment), segment)
        for segment, (given, hypothesis) in enumerate(zip(reference_rows, hypothesis_rows, strict=True), start=first)
    ]
    if not by_segment:
        _check_square(pairs)
    return pairs


def check_texts(texts: object) -> list[str]:
    """Return the texts as they are; an empty text passes, and so do no texts at all.

    Raises InputError for a bare string and for anything else that is no listing, what `check_pairs` raises for one text, and for a text of more
    than MOST_WORDS or MOST_CHARACTERS: an analysis has no flags that could say that it is one of a part.
    """
    found = [_text(text, f"texts[{number}]", number) for number, text in enumerate(_rows(texts, "texts"))]
    for number, text in enumerate(found):
        if len(part_read(text)) < len(text):
            raise SegmentError(
                f"texts[{number}] has more than {MOST_WORDS:,} words and marks, or {MOST_CHARACTERS:,} characters: "
                "give its paragraphs or sentences as texts of their own",
                number,
            )
    return found


def part_read(text: str) -> str:
    """The text up to MOST_WORDS and MOST_CHARACTERS, the whole of nearly every text; a word is not cut in two where a blank stands before it."""
    if len(text) <= MOST_WORDS:  # words are never more than characters
        return text
    part = text[:MOST_CHARACTERS]
    if len(part) < len(text) and not text[MOST_CHARACTERS].isspace():
        whole = part[: part.rfind(" ") + 1]
        part = whole if whole.strip() else part
    ends = [found.end() for found in _WORD.finditer(part) if _counts(found.group()[0])]
    return part[: ends[MOST_WORDS - 1]] if len(ends) > MOST_WORDS else part


def _rows(given: object, name: str) -> list[object]:
    """The argument as a list of segments."""
    if isinstance(given, str):
        raise InputError(f"{name} is a bare string: put it in a list, {name}=[text]")
    if not _is_listing(given):
        raise InputError(f"{name} is {_kind(given)}: give a list with one entry for each segment")
    return list(given)  # type: ignore[call-overload]


def _check_lengths(references: list[object], hypotheses: list[object]) -> None:
    """Both sides have the same number of segments, at least one."""
    if len(references) != len(hypotheses):
        raise InputError(_unequal(references, hypotheses))
    if not hypotheses:
        raise InputError("references and hypotheses are both empty: give at least one segment, nothing has no mean score")


def _check_indices(references: object, hypotheses: object) -> None:
    """Two pandas Series have the same index: their rows meet by position, whatever their labels are."""
    one: Any = getattr(references, "index", None)
    other: Any = getattr(hypotheses, "index", None)
    if hasattr(one, "equals") and hasattr(other, "equals") and not one.equals(other):
        labels = enumerate(zip(one, other, strict=True))
        where = next((f" (at position {n}: {label!r} and {found!r})" for n, (label, found) in labels if label != found), "")
        raise InputError(
            f"references and hypotheses have different indices{where}, and rows meet by position: bring them into one order "
            "(hypotheses=hypotheses.loc[references.index]), or give lists (.tolist()) if they stand in one"
        )


def _check_square(pairs: Sequence[CheckedPair]) -> None:
    """As many references a segment as segments may be [reference][segment]: refused where the texts say so."""
    size, some = len(pairs), range(min(len(pairs), COMPARED))
    if size < 2 or any(len(pair.references) != size for pair in pairs):
        return
    if len({text for pair in pairs for text in pair.references}) < size * size:
        return  # a segment stands there twice, and any reading pairs alike texts
    references = [[_words(pairs[n].references[k]) for k in some] for n in some]
    firsts = [_words(pairs[n].hypothesis) for n in some], [references[n][n] for n in some]
    gains = (
        fmean(_shared(first[n], references[k][n]) - _shared(first[n], references[n][k]) for n, k in permutations(some, 2))
        for first in firsts
    )
    if min(gains) > TRANSPOSED:
        raise InputError(
            f"references is {size} lists of {size} texts and fits the hypotheses only when read as [reference][segment], as sacreBLEU has "
            "it: RoMe takes [segment][reference], give references=list(zip(*references)); if it is right as it is, score the segments in "
            "two calls"
        )


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    """Sørensen's and Dice's share of common words, in [0, 1]."""
    return 2 * len(one & other) / max(1, len(one) + len(other))


def _unequal(references: list[object], hypotheses: list[object]) -> str:
    """Say how the lengths differ, and name the transposed shape and the flat list of references when they are recognised."""
    counts = f"references has {len(references)} segments and hypotheses has {len(hypotheses)}"
    sizes = [_size(row) for row in references]
    if hypotheses and references and all(size == len(hypotheses) for size in sizes):
        return (
            f"references looks transposed, [reference][segment] as sacreBLEU has it ({len(references)} lists of "
            f"{len(hypotheses)} texts): RoMe takes [segment][reference], give references=list(zip(*references))"
        )
    if len(hypotheses) == 1 and references and all(isinstance(row, str) for row in references):
        return f"{counts}: several references of one hypothesis belong in a list of their own, references=[[text, text]]"
    return f"{counts}: give one entry in references (a text, or a list of texts) for each hypothesis"


def _references(given: object, segment: int, empty_reference: EmptyReference) -> tuple[str, ...]:
    """The references of one segment, each checked."""
    if isinstance(given, str) or not _is_listing(given):
        named = [(f"references[{segment}]", given)]
    else:
        named = [(f"references[{segment}][{index}]", text) for index, text in enumerate(list(given))]  # type: ignore[call-overload]
    if not named:
        raise SegmentError(f"references[{segment}] is an empty list: give at least one reference for each segment", segment)
    texts = tuple(_text(text, name, segment) for name, text in named)
    for (name, _), text in zip(named, texts, strict=True):
        if empty_reference == "error" and not text.strip():
            raise SegmentError(f'{name} is empty: leave the segment out, or pass empty_reference="score" to score it', segment)
    return texts


def _pair(references: tuple[str, ...], hypothesis: str, segment: int) -> CheckedPair:
    """One segment, its texts as far as they are read."""
    some, own = tuple(map(part_read, references)), part_read(hypothesis)
    return CheckedPair(segment, some, own, cut=(some, own) != (references, hypothesis))


def _text(given: object, name: str, segment: int) -> str:
    """The text itself, as a plain str that can be written as UTF-8."""
    if not isinstance(given, str):
        remedy = "decode it first, .decode('utf-8')" if isinstance(given, (bytes, bytearray)) else "give a str ('' for no text)"
        raise SegmentError(f"{name} is {_kind(given)}, not a text: {remedy}", segment)
    text = str(given)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise SegmentError(
            f"{name} has a lone surrogate (U+{ord(text[error.start]):04X}) at character {error.start}, which is no text: "
            "read it again with the right encoding, or take it out",
            segment,
        ) from error
    return text


def _counts(first: str) -> bool:
    """Whether a run that begins with this character is a word, or a mark or symbol."""
    return first.isalnum() or unicodedata.category(first)[0] in "PS"


def _is_listing(given: object) -> bool:
    """True for whatever holds several entries in an order."""
    return isinstance(given, Iterable) and not isinstance(given, (*_BARE, Mapping, Set))


def _size(given: object) -> int | None:
    """The number of entries of an inner list; None for a text and for what has no length."""
    return len(given) if _is_listing(given) and hasattr(given, "__len__") else None


def _kind(given: object) -> str:
    """The kind of a wrong value, as an error message names it."""
    if given is None:
        return "None"
    if isinstance(given, float) and given != given:
        return "a missing value (nan)"
    return f"of type {type(given).__name__}"

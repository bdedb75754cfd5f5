"""Validate arguments and input texts, once, before anything is computed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from itertools import permutations
from statistics import fmean
from typing import Any, Literal, ParamSpec, TypeVar

from rome.exceptions import InputError
from rome.features.text import visible
from rome.features.windows import MOST_CHARACTERS, MOST_WORDS, WORD, is_long

TRANSPOSED, COMPARED = 0.2, 20
"""Share of words that texts must have in common by column beyond that by row for a square nest of references to be refused, and the number
of rows and columns that are compared. On segments of WMT and WebNLG with two or three references, 93 to 99 in 100 transposed nests are
noticed, and no correct one is refused (of BAGEL, whose outputs are nearly alike, 15 in 10,000 nests of neighbouring outputs are)."""
EmptyReference = Literal["error", "score"]
_ARGUMENT = re.compile(r"(\w+)\[\d+\](?:\[(\d+)\])?")


class SegmentError(InputError):
    """A segment is not valid; ``segment`` is its number from 0, so that a reader of files can name the line."""

    def __init__(self, message: str, segment: int) -> None:
        super().__init__(message)
        self.segment = segment

    @property
    def in_words(self) -> str:
        """Return the message for a user of files and options: the text in words instead of an argument."""
        argument = _ARGUMENT.match(str(self))
        if argument is None:
            return str(self)
        name = {"references": "the reference", "hypotheses": "the hypothesis"}.get(argument[1], "the text")
        which = f"reference {int(argument[2]) + 1}" if argument[2] else name
        return f"{which}{str(self)[argument.end() :]}".replace('pass empty_reference="score"', "take --empty-reference score")


@dataclass(frozen=True, slots=True)
class CheckedPair:
    """A valid segment: its number from 0, one or more references, and the hypothesis, which may be empty."""

    segment: int
    references: tuple[str, ...]
    hypothesis: str


def check_pairs(
    references: object,
    hypotheses: object,
    *,
    empty_reference: EmptyReference = "error",
    first: int = 0,
    by_segment: bool = False,
) -> list[CheckedPair]:
    """Return one pair per hypothesis. Raises InputError with what is wrong and the remedy.

    A square nest (as many references as segments) is read as ``[segment][reference]``, unless its texts show clearly that it is transposed.

    Refused are a bare string, None, bytes and other values instead of a text, unequal lengths, the transposed shape, pandas Series with different
    indices, a lone surrogate, an empty reference, and no segments at all, which have no mean.

    Parameters
    ----------
    references
        For each hypothesis one text, or a list of texts; several references are ``[segment][reference]``. The two forms may be mixed. Any
        iterable except a mapping or a set is accepted (a list, a tuple, a pandas column).
    hypotheses
        One text per segment; it may be empty or blank.
    empty_reference
        "error" refuses an empty or blank reference, "score" accepts it.
    first
        The number of the first segment.
    by_segment
        True for the rows of a file or a table, which cannot be transposed.
    """
    if empty_reference not in ("error", "score"):
        raise InputError(f'empty_reference must be "error" or "score", got {empty_reference!r}')
    reference_rows, hypothesis_rows = _rows(references, "references"), _rows(hypotheses, "hypotheses")
    if len(reference_rows) != len(hypothesis_rows):
        raise InputError(_unequal(reference_rows, hypothesis_rows))
    if not hypothesis_rows:
        raise InputError("references and hypotheses are both empty: give at least one segment")
    _check_indices(references, hypotheses)
    pairs = [
        CheckedPair(segment, _references(given, segment, empty_reference), _text(hypothesis, f"hypotheses[{segment}]", segment))
        for segment, (given, hypothesis) in enumerate(zip(reference_rows, hypothesis_rows, strict=True), start=first)
    ]
    if not by_segment:
        _check_square(pairs)
    return pairs


def check_texts(texts: object) -> list[str]:
    """Return the texts unchanged; an empty text is valid, and so is an empty list.

    Raises InputError for a bare string and other values that are not lists, as `check_pairs` for one text, and for a text of more than MOST_WORDS
    or MOST_CHARACTERS, which is scored in windows, but not analysed as a whole.
    """
    valid = [_text(text, f"texts[{number}]", number) for number, text in enumerate(_rows(texts, "texts"))]
    for number, text in enumerate(valid):
        if is_long(text):
            bounds = f"{MOST_WORDS:,} words and marks, or {MOST_CHARACTERS:,} characters"
            remedy = "give its paragraphs or sentences as texts of their own"
            raise SegmentError(f"texts[{number}] has more than {bounds}: {remedy}", number)
    return valid


def _rows(given: object, name: str) -> list[Any]:
    """Return the argument as a list of segments."""
    if isinstance(given, str):
        raise InputError(f"{name} is a bare string: put it in a list, {name}=[text]")
    if not _is_listing(given):
        raise InputError(f"{name} is {_kind(given)}: give a list with one entry for each segment")
    return list(given)  # type: ignore[call-overload]


def _unequal(references: list[Any], hypotheses: list[Any]) -> str:
    """Return the message for unequal lengths; name the transposed shape and the flat list of references when they are recognised."""
    counts = f"references has {len(references)} segments and hypotheses has {len(hypotheses)}"
    sizes = {len(row) if _is_listing(row) and hasattr(row, "__len__") else None for row in references}
    if hypotheses and sizes == {len(hypotheses)}:
        shape = f"[reference][segment] as sacreBLEU has it ({len(references)} lists of {len(hypotheses)} texts)"
        return f"references looks transposed, {shape}: RoMe takes [segment][reference], give references=list(zip(*references))"
    if len(hypotheses) == 1 and references and all(isinstance(row, str) for row in references):
        return f"{counts}: several references of one hypothesis belong in a list of their own, references=[[text, text]]"
    return f"{counts}: give one entry in references (a text, or a list of texts) for each hypothesis"


def _check_indices(references: object, hypotheses: object) -> None:
    """Refuse two pandas Series with different indices, because rows are matched by position."""
    one: Any = getattr(references, "index", None)
    other: Any = getattr(hypotheses, "index", None)
    if hasattr(one, "equals") and hasattr(other, "equals") and not one.equals(other):
        labels = enumerate(zip(one, other, strict=True))
        where = next((f" (at position {n}: {label!r} and {second!r})" for n, (label, second) in labels if label != second), "")
        remedy = "(hypotheses=hypotheses.loc[references.index]), or give lists (.tolist()) if they are in one"
        reason = f"have different indices{where}, and rows are matched by position: bring them into one order"
        raise InputError(f"references and hypotheses {reason} {remedy}")


def _check_square(pairs: Sequence[CheckedPair]) -> None:
    """Refuse as many references per segment as segments where the texts show that they are [reference][segment]."""
    size, some = len(pairs), range(min(len(pairs), COMPARED))
    if size < 2 or any(len(pair.references) != size for pair in pairs):
        return
    if len({text for pair in pairs for text in pair.references}) < size * size:
        return  # a segment is there twice, and any reading pairs similar texts
    references = [[_words(pairs[n].references[k]) for k in some] for n in some]
    firsts = [_words(pairs[n].hypothesis) for n in some], [references[n][n] for n in some]
    gains = (
        fmean(_shared(first[n], references[k][n]) - _shared(first[n], references[n][k]) for n, k in permutations(some, 2))
        for first in firsts
    )
    if min(gains) > TRANSPOSED:
        reading = "fits the hypotheses only when read as [reference][segment], as sacreBLEU has it"
        remedy = "give references=list(zip(*references)); if it is right as it is, score the segments in two calls"
        raise InputError(f"references is {size} lists of {size} texts and {reading}: RoMe takes [segment][reference], {remedy}")


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.lower()))


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    """Return Sørensen's and Dice's share of common words, in [0, 1]."""
    return 2 * len(one & other) / max(1, len(one) + len(other))


def _references(given: Any, segment: int, empty_reference: EmptyReference) -> tuple[str, ...]:
    """Return the valid references of one segment."""
    place = f"references[{segment}]"
    named = [(f"{place}[{n}]", text) for n, text in enumerate(given)] if _is_listing(given) else [(place, given)]
    if not named:
        raise SegmentError(f"{place} is an empty list: give at least one reference for each segment", segment)
    texts = tuple(_text(text, name, segment) for name, text in named)
    for (name, _), text in zip(named, texts, strict=True):
        if empty_reference == "error" and not visible(text):
            raise SegmentError(f'{name} is empty: leave the segment out, or pass empty_reference="score" to score it', segment)
    return texts


def _text(given: object, name: str, segment: int) -> str:
    """Return the text as a plain str that can be written as UTF-8."""
    if not isinstance(given, str):
        remedy = "decode it first, .decode('utf-8')" if isinstance(given, (bytes, bytearray)) else "give a str ('' for no text)"
        raise SegmentError(f"{name} is {_kind(given)}, not a text: {remedy}", segment)
    text = str(given)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        place = f"(U+{ord(text[error.start]):04X}) at character {error.start}"
        remedy = "read it again with the right encoding, or remove it"
        raise SegmentError(f"{name} has a lone surrogate {place}, which is not text: {remedy}", segment) from error
    return text


def _is_listing(given: object) -> bool:
    """Return True for an ordered collection, which a text is not."""
    return isinstance(given, Iterable) and not isinstance(given, (str, bytes, bytearray, memoryview, Mapping, Set))


def _kind(given: object) -> str:
    """Return the kind of a wrong value as error messages name it."""
    if given is None:
        return "None"
    if isinstance(given, float) and given != given:
        return "a missing value (nan)"
    return f"of type {type(given).__name__}"


# Arguments by other names

Given = ParamSpec("Given")
Returned = TypeVar("Returned")
SYNONYMS = (
    "hypothesis hypotheses hyp hyps prediction predictions pred preds candidate candidates cand cands output outputs actual_output"
    " response responses answer answers generated generation generations translation translations mt sys system text texts".split(),
    "reference references ref refs target targets tgt gold golds label labels expected expected_output ground_truth truth".split(),
)
"""Names that other tools give to the same thing."""


def meant(name: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the one of the names that means the same or is spelt nearly so, None without one; case, hyphens and underscores do not count."""
    known = {each.lower().strip("-").replace("-", "_"): each for each in names}
    word = name.lower().strip("-").replace("-", "_")
    same = next((group for group in SYNONYMS if word in group), ())
    near = next((each for each in same if each in known), None) or next(iter(get_close_matches(word, known, 1, cutoff)), None)
    return None if near is None else known[near]


def hints(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """Let a call with a wrong argument raise a TypeError that names the right one."""
    parameters = signature(function).parameters
    named = [name for name in parameters if name != "self"]
    places = sum(one.kind is not one.KEYWORD_ONLY for one in parameters.values())
    title = function.__qualname__.removesuffix(".__init__")

    @wraps(function)
    def call(*args: Given.args, **given: Given.kwargs) -> Returned:
        if len(args) > places:
            raise TypeError(f"{title}() takes its arguments by name: write {', '.join(f'{name}=' for name in named)}")
        if wrong := [name for name in given if name not in named]:
            near = [right for name in wrong if (right := meant(name, named))]
            remedy = f"did you mean {', '.join(near)}?" if near else f"it takes {', '.join(named)}"
            raise TypeError(f"{title}() has no argument {', '.join(wrong)}: {remedy}")
        return function(*args, **given)

    return call

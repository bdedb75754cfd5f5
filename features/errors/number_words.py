"""Read one number of an English text: digits, words, vulgar fractions, mixed numbers, ordinals and scales such as k or million."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from ..packages import import_failed

DIGIT_WORDS = "zero nil nought oh one two three four five six seven eight nine".split()
TENS = "twenty thirty forty fourty fifty sixty seventy eighty ninety".split()
SMALL = [*DIGIT_WORDS, *"ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(), *TENS]
LARGE = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
SCALES = LARGE | {
    "dozen": 12.0,
    "k": 1e3,
    "m": 1e6,
    "mn": 1e6,
    "mio": 1e6,
    "mln": 1e6,
    "b": 1e9,
    "bn": 1e9,
    "bln": 1e9,
    "tn": 1e12,
}
"""What a number can be multiplied by; the single letters stand directly behind digits."""
SPELLINGS = {"nil": "zero", "nought": "zero", "oh": "zero", "fourty": "forty", "a": "one", "an": "one", "and": ""}
IRREGULAR = {"first": "one", "second": "two", "third": "three", "fifth": "five", "eighth": "eight", "ninth": "nine"}
IRREGULAR |= {"twelfth": "twelve"}
REGULAR = [w for w in (*SMALL[4:], *LARGE) if w not in IRREGULAR.values() and w != "fourty"]
ORDINALS = IRREGULAR | {(f"{w[:-1]}ieth" if w.endswith("y") else f"{w}th"): w for w in REGULAR}
"""Each ordinal with its cardinal."""
PARTS = {"half": 2.0, "halve": 2.0, "quarter": 4.0} | {"third": 3.0, "fourth": 4.0, "fifth": 5.0, "sixth": 6.0, "seventh": 7.0}
PARTS |= {"eighth": 8.0, "ninth": 9.0, "tenth": 10.0, "twentieth": 20.0, "hundredth": 100.0, "thousandth": 1000.0}
"""Each name of a part with its denominator."""
ALONE = {"twice": 2.0, "thrice": 3.0, "couple": 2.0}


def alternatives(words: object) -> str:
    """Return a pattern that matches each of the words, longest first."""
    return "|".join(map(re.escape, sorted(map(str, words), key=len, reverse=True)))  # type: ignore[call-overload]


CARDINAL = rf"(?:{alternatives([*SMALL, *LARGE])})"
ORDINAL = rf"(?:{alternatives(ORDINALS)})"
PART = rf"(?:{alternatives(PARTS)})"
BIG = rf"(?:{alternatives(LARGE)}|dozen)"
STARTS = rf"(?:{CARDINAL}|{ORDINAL}|half|quarter|dozen|twice|thrice|an?(?=[\s-](?:{PART}|{BIG}|couple)\b))(?!\w)"
"""The words that a number begins with."""
VULGAR = re.compile("[¼-¾⅐-⅞]")
GROUPED = re.compile(r"[1-9]\d{0,2}(?:[,\u00a0\u202f\u2009'’]\d{3}){1,6}(?![\d])|[1-9]\d{0,2}(?: \d{3}){1,6}(?! ?\d)")
"""Digits in groups of three."""
PLAIN = re.compile(r"\d+")
DECIMALS = re.compile(r"\.\d+(?![\d]*\.\d)")
RUN = re.compile(
    rf"(?:an?(?=[\s-]{BIG}\b)|{CARDINAL}|{ORDINAL})(?!\w)"
    rf"(?:(?:[\s-]{{1,2}}|(?:(?<=hundred)|(?<=thousand)|(?<=illion))\sand\s)(?:{CARDINAL}|{ORDINAL})(?!\w)){{0,11}}"
)
WORD = re.compile(r"[a-z]+")
POINT = re.compile(rf"\spoint((?:\s(?:{alternatives(DIGIT_WORDS)})(?!\w)){{1,9}})")
NUMERIC_FRACTION = re.compile(r"\s?[/⁄](\d{1,4})(?:rds?|ths?)?(?![\d/.,]\d|\d)")
MIXED = re.compile(
    rf"\s?({VULGAR.pattern})|[\s-](\d{{1,2}})[/⁄](\d{{1,3}})(?![\d/])|\sand\s(an?|one|two|three)[\s-]({PART})s?(?!\w)"
)
PARTS_AFTER = re.compile(rf"[\s-]({PART})(s?)(?![\w-])")
SCALE = re.compile(rf"[\s-]?({alternatives(LARGE)}|mio|ml?n|bl?n|tn)(?!\w)|(k|m|b)(?![\w/²³])|\s?(dozen)(?!\w)")
ONE_PART = re.compile(rf"[\s-]?({PART}|couple|dozen)(?!\w|-[a-z])")
OF_SCALE = re.compile(rf"(?:\sof)?(?:\san?)?\s({BIG})(?!\w)")
DECIMAL_COMMA = re.compile(r",\d{1,2}(?![\d,])|(?<!\d0)(?<=0),\d+(?![\d,])")
ORDINAL_ENDING = re.compile(r"(?:st|nd|rd|th)(?!\w)")


@dataclass(frozen=True, slots=True)
class Number:
    """A number that ends before ``text[end]``.

    Attributes
    ----------
    kind
        "number", "ratio" (a fraction), "ordinal" or "sequence" (digits whose zeros and length matter).
    digits
        The digits as written where they are plain, else empty.
    scale
        What the scale after the digits or words multiplied them by.
    """

    end: int
    value: float
    kind: str = "number"
    sure: bool = True
    digits: str = ""
    scale: float = 1.0


@lru_cache(maxsize=4096)
def words_value(words: str) -> float | None:
    """Return the value of cardinal number words in lower case, None where they are not one number."""
    try:
        from text_to_num import text2num
    except ImportError as error:
        raise import_failed(error, "reading number words", '"rome-metric[models]"') from error
    try:
        return float(text2num(" ".join(SPELLINGS.get(word, word) for word in words.split()), "en"))
    except (ValueError, OverflowError):
        return None


def read_number(text: str, low: str, start: int) -> Number | None:
    """Return the number at ``text[start]``, without its sign, or None.

    Parameters
    ----------
    low
        The text in lower case, of the same length.
    """
    if low[start : start + 1].isalpha():
        return _in_words(low, start)
    if VULGAR.match(low, start) is not None:
        return _scaled(text, low, Number(start + 1, unicodedata.numeric(low[start]), "ratio"))
    return _in_digits(text, low, start)


def _in_digits(text: str, low: str, start: int) -> Number | None:
    """Read 1,200 and 1.5, and what follows directly: a fraction, a scale, the ending of an ordinal."""
    whole = GROUPED.match(low, start) or PLAIN.match(low, start)
    end = start if whole is None else whole.end()
    decimals = DECIMALS.match(low, end)
    if whole is None and decimals is None:
        return None
    digits = "".join(str(int(c)) for c in low[start:end] if c.isdecimal())
    if decimals is not None:
        value = float(f"{digits or 0}.{''.join(str(int(c)) for c in decimals[0][1:])}")
        return _scaled(text, low, Number(decimals.end(), value, sure=not _starts_with_zero(digits)))
    if (comma := DECIMAL_COMMA.match(low, end)) is not None:
        return Number(comma.end(), float(f"{digits}.{comma[0][1:]}"), sure=False)
    value = float(digits)
    if (ending := ORDINAL_ENDING.match(low, end)) is not None:
        return Number(ending.end(), value, "ordinal")
    fraction = NUMERIC_FRACTION.match(low, end)
    if fraction is not None and (below := int(fraction[1])):
        return _scaled(text, low, Number(fraction.end(), value / below, "ratio", value < below <= 100))
    mixed = _mixed(low, end)
    if mixed is not None:
        return _scaled(text, low, Number(mixed[0], value + mixed[1]))
    if len(digits) > 7 and whole is not None and whole[0].isdecimal() or (len(digits) > 2 and digits[0] == "0"):
        return Number(end, value, "sequence", digits=digits)
    short_year = len(digits) == 2 and (low[max(0, start - 1) : start] in ("'", "’") or _starts_with_zero(digits))
    return _scaled(text, low, Number(end, value, sure=not short_year, digits=digits))


def _starts_with_zero(digits: str) -> bool:
    """Return True for the digits of 02.17, which may be a time, and of '04, which may be a year."""
    return len(digits) > 1 and digits[0] == "0"


def _mixed(low: str, end: int) -> tuple[int, float] | None:
    """Read the fraction of a mixed number (1½, 1 1/2, one and a half): where it ends, and its value."""
    found = MIXED.match(low, end)
    if found is None:
        return None
    if found[1]:
        return found.end(), unicodedata.numeric(found[1])
    if found[2]:
        above, below = int(found[2]), int(found[3])
        return (found.end(), above / below) if above < below else None
    return found.end(), (words_value(found[4]) or 1.0) / PARTS[found[5]]


def _in_words(low: str, start: int) -> Number | None:
    """Read twelve hundred, one and a half, two thirds, half a million, twenty-first, four four seven one."""
    first = WORD.match(low, start)
    word = first[0] if first else ""
    if word in ("half", "quarter", "a", "an"):
        part = Number(start, 1.0) if word in ("half", "quarter") else Number(start + len(word), 1.0)
        found = ONE_PART.match(low, part.end)
        if found is not None:
            if found[1] in ("couple", "dozen"):
                return Number(found.end(), ALONE.get(found[1], 12.0), sure=found[1] == "dozen")
            return _part(low, found.end(), 1.0 / PARTS[found[1]], found[1])
    if word in ALONE or word == "dozen":
        return Number(start + len(word), ALONE.get(word, 12.0), sure=False)
    run = RUN.match(low, start)
    return None if run is None else _longest(low, [(w[0], w.end() + start) for w in WORD.finditer(run[0])])


def _part(low: str, end: int, value: float, name: str) -> Number:
    """Return a fraction in words, with the scale after it (half a million); unsure where it may be an ordinal or a noun."""
    scale = OF_SCALE.match(low, end)
    if scale is not None:
        return Number(scale.end(), value * SCALES[scale[1]])
    clear = low.startswith((" of ", " the ", " a ", " an "), end) or (
        name not in ("half", "quarter") and not low[end : end + 2].strip().isalpha()
    )
    return Number(end, value, "ratio", clear)


def _longest(low: str, words: list[tuple[str, int]]) -> Number | None:
    """Read the longest beginning of these words (each with its end) that is one number."""
    if len(words) >= 3 and all(word in DIGIT_WORDS for word, _ in words):
        digits = "".join(str(int(words_value(word) or 0)) for word, _ in words)
        return Number(words[-1][1], float(digits), "sequence", digits=digits)
    for count in range(len(words), 0, -1):
        last, end = words[count - 1]
        if (count < len(words) and words[count][0] in LARGE) or last == "and":
            continue
        phrase = " ".join([*(word for word, _ in words[: count - 1]), ORDINALS.get(last, last)])
        value = words_value(phrase)
        if value is None:
            continue
        if last in ORDINALS:
            return Number(end, value, "ordinal", value > 3 or low[max(0, end - len(last) - 4) : end - len(last)] == "the ")
        year = words_value(" ".join(word for word, _ in words[count : count + 2])) if 10 <= value <= 21 else None
        if year is None and 10 <= value <= 21 and len(words) == count + 1:
            year = words_value(words[count][0])
        if year is not None and 10 <= year < 100 and words[-1][0] not in ORDINALS:
            return Number(words[min(count + 2, len(words)) - 1][1], value * 100 + year)
        scale = LARGE.get(last, 1.0) if count > 1 else 1.0
        return _after_words(low, Number(end, value, sure=phrase != "one", scale=scale))
    return None


def _after_words(low: str, number: Number) -> Number:
    """Read what can follow a cardinal in words: a mixed fraction, a part, decimals, a scale."""
    end, value = number.end, number.value
    if (mixed := _mixed(low, end)) is not None:
        number = Number(mixed[0], value + mixed[1])
    elif (part := PARTS_AFTER.match(low, end)) is not None and bool(part[2]) == (value != 1.0):
        return _part(low, part.end(), value / PARTS[part[1]], "half" if part[1] == "half" and value == 1 else f"{part[1]}s")
    elif (point := POINT.match(low, end)) is not None:
        digits = "".join(str(int(words_value(word) or 0)) for word in point[1].split())
        number = Number(point.end(), value + float(f"0.{digits}"))
    return _scaled(low, low, number)


def _scaled(text: str, low: str, number: Number) -> Number:
    """Multiply a number by the scale after it: 12k, 5 million, two dozen, 5M (a small m is a metre)."""
    scale = SCALE.match(low, number.end)
    if scale is None or (scale[2] == "m" and text[scale.start()] == "m"):
        return number
    name = scale[1] or scale[2] or scale[3]
    sure = scale[2] != "b"
    return Number(scale.end(), number.value * SCALES[name], sure=sure, scale=SCALES[name])

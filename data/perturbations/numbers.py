"""A number changed within the range and the format of its kind (DEMETR 10)."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from rome.features.values import Word

from .lexicons import MONTHS, names_of, word_sequence
from .perturbation import Change, Outcome, Parse, in_case_of, perturbation

LATEST_YEAR = 2025
CARDINALS = word_sequence("numbers.cardinals")
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
PLAIN = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
ORDINAL = re.compile(r"(\d+)(st|nd|rd|th)")
CLOCK = re.compile(r"(\d{1,2}):(\d{2})")
DECADE = re.compile(r"(1\d|20)(\d)0s")


@dataclass(frozen=True, slots=True)
class _Number:
    """A number in the text: its word, its value, its kind."""

    word: Word
    value: float
    kind: str


@perturbation("accuracy", "mistranslation - numbers", "critical", 10)
def number_changed(parse: Parse) -> Outcome:
    """One number becomes another: years stay years, percentages at most 100, days in a month, months by name; digits and
    commas as before; and it stays smaller or larger than every other number of its kind that it was smaller or larger than."""
    numbers = [found for n in range(len(parse.words)) for found in (_number(parse, n),) if found]

    def make(number: _Number) -> list[Change] | None:
        same = [other.value for other in numbers if other.kind == number.kind and other is not number]
        for _ in range(40):
            value = _drawn(number, parse.rng)
            new = _written(number, value)
            keeps_order = all((value - o) * (number.value - o) > 0 for o in same)
            if keeps_order and value != number.value and new != number.word.text:
                return parse.replace(number.word.start, number.word.end, in_case_of(new, number.word.text))
        return None

    return parse.choose(numbers, make, "no number that can be another one")


def _number(parse: Parse, n: int) -> _Number | None:
    """The kind and value of a word that is a number; None for 0 and 1, for what letters or marks touch, and for anything else."""
    word, low = parse.words[n], parse.low(n)
    around = parse.touching(word.start, word.end)
    if not parse.has_own_span(n) or any(c.isalnum() and c not in "mk" or c in "-–/@_:#" for c in around):
        return None
    near = [other.text for other in parse.words[max(n - 1, 0) : n] + parse.words[n + 1 : n + 2]]
    if word.text in names_of("month") and word.xpos == "NNP" and (word.text != "May" or any(t.isdecimal() for t in near)):
        return _Number(word, MONTHS.index(word.text) + 1, "month")
    if low in ORDINALS and word.upos == "ADJ" and low != "second" and not parse.reads(n - 1, "a an one two at"):
        return _Number(word, ORDINALS.index(low) + 1, "ordinal word")
    if word.upos == "NUM" and low in CARDINALS[2:]:
        return _Number(word, CARDINALS.index(low), "word")
    if word.upos == "NUM" and low in TENS:
        return _Number(word, 10 * TENS.index(low) + 20, "tens")
    return _in_digits(parse, n, {*near})


def _in_digits(parse: Parse, n: int, near: set[str]) -> _Number | None:
    word, dated = parse.words[n], bool(near & names_of("month"))
    before, after = parse.text[max(word.start - 3, 0) : word.start], parse.text[word.end : word.end + 10]
    if match := CLOCK.fullmatch(word.text):
        return _Number(word, int(match.group(1)) + int(match.group(2)) / 100, "clock")
    if DECADE.fullmatch(word.text):
        return _Number(word, float(word.text[:4]), "decade")
    if match := ORDINAL.fullmatch(word.text):
        kind = "day" if dated else "century" if {"century", "centuries"} & near else "ordinal"
        return _Number(word, int(match.group(1)), kind)
    odd = before.endswith((".", "№")) or re.match(r"\.\d", after)
    if odd or not PLAIN.fullmatch(word.text) or word.upos not in ("NUM", "NOUN", "PROPN"):
        return None
    value = float(word.text.replace(",", ""))
    if re.match(r"\s?(?:%|percent\b|per cent\b)", after) and value <= 100:
        return _Number(word, value, "percentage") if value > 0 else None
    if dated and 1 <= value <= 31 and value.is_integer():
        return _Number(word, value, "day")
    counted = word.relation == "nummod" and word.head > n and (parse.tag(word.head) == "NNS" or parse.pos(word.head) == "SYM")
    money = before.rstrip().endswith(("$", "€", "£"))
    if re.fullmatch(r"1[0-9]{3}|20[0-4]\d", word.text) and not money and not counted:
        return _Number(word, value, "year")
    return _Number(word, value, "number") if value > 1 and len(word.text) <= 15 else None


def _drawn(number: _Number, rng: random.Random) -> float:
    """A value of the same kind, drawn near the old one where the kind is open-ended."""
    kind, value = number.kind, number.value
    if kind == "year":
        latest = LATEST_YEAR if value <= LATEST_YEAR else 2100
        return float(min(max(value + rng.choice((-1, 1)) * rng.randint(2, 30), 1000), latest))
    if kind == "decade":
        return value + 10 * rng.choice((-3, -2, -1, 1, 2))
    if kind in ("month", "century"):
        return float(rng.randint(1, 12 if kind == "month" else 21))
    if kind == "day":
        return float(rng.randint(1, 28))
    if kind == "clock":
        hour = rng.randint(1, 12) if value < 13 else rng.randint(13, 23)
        return hour + round(value % 1, 2)
    if kind in ("word", "ordinal word"):
        return float(rng.randint(2, 12 if value <= 12 else 19) if kind == "word" else rng.randint(1, 10))
    if kind == "tens":
        return 10.0 * rng.randint(2, 9)
    return _near(value, kind, _decimals(number.word.text), rng)


def _near(value: float, kind: str, decimals: int, rng: random.Random) -> float:
    """Half to twice the value, with as many digits before the point; round where a large value is round; 1 to 100 per cent."""
    digits = len(str(int(value)))
    lowest, highest = max(value / 2, 2.0), max(2 * value, 9.0)
    if digits > 1:
        lowest, highest = max(lowest, 10.0 ** (digits - 1)), min(highest, 10.0**digits - 1)
    if kind == "percentage":
        lowest, highest = 1.0, 100.0
    step = 10 ** (digits - 2) if decimals == 0 and value >= 1000 and value % 100 == 0 else 1
    return round(rng.uniform(lowest, highest) / step, decimals) * step


def _decimals(text: str) -> int:
    """Digits after the decimal point."""
    return len(text.partition(".")[2])


def _written(number: _Number, value: float) -> str:
    """The value in the way the old number was written."""
    kind, old, whole = number.kind, number.word.text, int(value)
    listed = {"month": (MONTHS, 1), "word": (CARDINALS, 0), "ordinal word": (ORDINALS, 1)}
    if kind in listed:
        names, first = listed[kind]
        return names[whole - first]
    if kind == "tens":
        return TENS[whole // 10 - 2]
    if kind in ("clock", "decade"):
        return f"{whole}:{old.partition(':')[2]}" if kind == "clock" else f"{whole}s"
    if ORDINAL.fullmatch(old):
        return f"{int(value)}{ordinal_ending(int(value))}"
    return f"{value:,.{_decimals(old)}f}" if "," in old else f"{value:.{_decimals(old)}f}"


def ordinal_ending(value: int) -> str:
    """The letters of an ordinal in digits: 1st, 2nd, 3rd, 11th."""
    return "th" if 10 <= value % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")

"""Quantities, dates and times made false: the unit, the order of magnitude, a digit, the day, the time of day."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import cache

from rome.data.perturbations.numbers import ordinal_ending
from rome.features.values import Word

from .lexicons import MONTHS, alternatives, table, word_set
from .perturbation import Change, Outcome, Parse, in_case_of, perturbation

SHORT_MONTHS = "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec".split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
SEASONS = "spring summer autumn winter".split()
CENTURIES = (
    "tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split()
)
ORDERS = frozenset("hundred thousand million billion trillion dozen".split())
NUMBER = re.compile(r"(?<![\w.,/:–−'’№#-])(?!0\d)(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w/:–−-]|[.,]\d)")
YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
DIGITS = re.compile(r"\d+")
ATTACHED_UNIT = re.compile(
    r"(?<=\d)(?:mg|kg|g|mm|cm|km|m|ml|l|KB|MB|GB|TB|W|kW|MW|GW|kWh|MWh|GWh|kV|V|kHz|MHz|GHz|Hz|ft|lb|oz|°C|°F)(?!\w)"
)
MONTH = "|".join(MONTHS)
DATE = re.compile(
    rf"(?:(?<!\w)(?P<before>\d{{1,2}})(?P<end>st|nd|rd|th)? (?:of )?(?:{MONTH})\b)"
    rf"|(?:\b(?:{MONTH}) (?P<after>\d{{1,2}})(?P<ending>st|nd|rd|th)?(?!\w|[.,:]\d))"
)
DECADE = re.compile(r"(?<!\w)(1[0-9]|20)(\d)0(?=['’]?s\b)|(?<=['’])(\d)0(?=s\b)")
CENTURY = re.compile(r"(?<!\w)(\d{1,2})(st|nd|rd|th)(?=[ -](?:century|centuries)\b)")
MIDDAY = re.compile(r"(?<=\d)(\s?)(a\.m\.|p\.m\.|am|pm|AM|PM|A\.M\.|P\.M\.|a\.m|p\.m)(?!\w)")
CLOCK = re.compile(r"(?<![\w:.,])([01]?\d|2[0-4])([:.h])([0-5]\d)(?![\d:.]\d|\d|%)")
HOUR = re.compile(r"(?<!\w)(?P<hour>1[0-2]|[1-9])(?= (?:o[’']clock|o[’'] clock)\b|\s?(?:a\.m\b|p\.m\b|am\b|pm\b|AM\b|PM\b))")
RELATIVE_DAYS = alternatives("quantities.relative_days")
RELATIVE = alternatives("quantities.relative")
PERIODS = frozenset("week month year weekend decade century quarter season summer winter spring autumn fall".split()) | {
    d.lower() for d in WEEKDAYS
}
PARTS_OF_DAY = alternatives("quantities.parts_of_day")


@cache
def _units() -> dict[str, tuple[str, ...]]:
    """Every unit -> all that may stand for it."""
    found: dict[str, tuple[str, ...]] = {}
    for group in table("units").values():
        for unit in group:
            found[unit] = tuple(dict.fromkeys((*found.get(unit, ()), *(other for other in group if other != unit))))
    return found


@perturbation("accuracy", "mistranslation - units", "critical")
def unit_changed(parse: Parse) -> Outcome:
    """A quantity gets another unit, currency or order of magnitude: *5 kg* -> *5 g*, *$40* -> *£40*, *two million* -> *two billion*."""
    ways: list[tuple[int, int, Sequence[str]]] = []
    for n, word in enumerate(parse.words):
        if parse.has_own_span(n) and (options := _other_units(parse, n)):
            ways.append((word.start, word.end, options))
    for match in ATTACHED_UNIT.finditer(parse.text):
        ways.append((match.start(), match.end(), [u for u in _units().get(match.group(), ()) if len(u) < 4]))
    return parse.choose(ways, lambda way: _drawn(parse, way), "no quantity with a unit")


def _drawn(parse: Parse, way: tuple[int, int, Sequence[str]]) -> list[Change] | None:
    """One of the options in the place of the characters, in their case."""
    start, end, options = way
    old = parse.text[start:end]
    fitting = [option for option in options if option != old]
    return (
        parse.replace(
            start,
            end,
            in_case_of(parse.rng.choice(fitting), old) if old[:1].isalpha() and len(old) > 3 else parse.rng.choice(fitting),
        )
        if fitting
        else None
    )


def _other_units(parse: Parse, n: int) -> list[str]:
    """What may stand for a word as a unit, in its number; empty where it measures nothing."""
    word, words = parse.words[n], parse.words
    if word.text in "$€£¥" and n + 1 < len(words) and words[n + 1].text[:1].isdigit():
        return [*_units()[word.text]]
    if word.text in ("°C", "°F", "Celsius", "Fahrenheit", "Kelvin", "USD", "EUR", "GBP", "JPY", "CNY"):
        return [*_units()[word.text]]
    counted = n > 0 and (_is_number(words[n - 1]) or words[n - 1].text == "-" and n > 1 and _is_number(words[n - 2]))
    low = word.text.lower()
    if (
        counted
        and word.text in _units()
        and len(word.text) < 5
        and word.text not in ("inch", "foot", "mile", "acre", "cent", "in", "hour", "day", "week", "year", "yard")
    ):
        return [*_units()[word.text]]
    if not parse.stands_alone(n) and not (counted and words[n - 1].text == "-"):
        return []
    singular = (
        low
        if low in _units()
        else next(
            (
                low.removesuffix(e) + r
                for e, r in (("s", ""), ("ies", "y"))
                if low.removesuffix(e) + r in _units() and low.endswith(e)
            ),
            {"feet": "foot", "inches": "inch"}.get(low, ""),
        )
    )
    if not singular or len(singular) < 3:
        return []
    if singular in ORDERS:
        return _orders(parse, n, singular, low, counted)
    article = n > 0 and words[n - 1].text.lower() in ("a", "an", "one", "several", "few", "many", "half")
    if (
        not (counted or article)
        or singular == "second"
        and not counted
        or word.upos not in ("NOUN", "SYM")
        or singular == "foot"
        and low == "foot"
        and article
    ):
        return []
    others = [unit for unit in _units()[singular] if len(unit) > 2]
    plurals = [unit if unit == "yen" else parse.inflect(unit, "NNS") for unit in others]
    return others if low == singular else [form for form in plurals if form]


def _orders(parse: Parse, n: int, singular: str, low: str, counted: bool) -> list[str]:
    """*million* -> *billion* after a number or article, *thousands* -> *millions* before *of*."""
    words = parse.words
    others = [unit for unit in _units()[singular] if unit in ORDERS]
    if low == singular:
        after = n > 0 and words[n - 1].text.lower() in ("a", "one", "few", "several", "half")
        compound = n + 1 < len(words) and words[n + 1].text.lower() in ORDERS
        return [o for o in others if not after or o != "dozen"] if (counted or after) and not compound else []
    return [f"{unit}s" for unit in others] if n + 1 < len(words) and words[n + 1].text == "of" else []


def _is_number(word: Word) -> bool:
    """Whether a word is a number in digits or in letters."""
    return word.upos == "NUM" or re.fullmatch(r"\d[\d,.]*", word.text) is not None


@perturbation("accuracy", "mistranslation - magnitude", "critical")
def magnitude_changed(parse: Parse) -> Outcome:
    """A number in digits gets a zero more or one less, or its point moves: *3,000* -> *30,000*, *0.5* -> *5*."""
    text = parse.text
    dates = [match.span() for match in DATE.finditer(text)]

    def make(match: re.Match[str]) -> list[Change] | None:
        old = match.group()
        if (
            any(a <= match.start() < b for a, b in dates)
            or YEAR.fullmatch(old)
            and not _is_counted(parse, match)
            or float(old.replace(",", "")) == 0
        ):
            return None
        percent = re.match(r"\s?(?:%|percent\b|per cent\b)", text[match.end() :]) is not None
        options = [o for o in _magnitudes(old) if not percent or float(o.replace(",", "")) <= 100]
        return parse.replace(match.start(), match.end(), parse.rng.choice(options)) if options else None

    numbers = [m for m in NUMBER.finditer(text) if len(m.group()) < 14]
    return parse.choose(numbers, make, "no number whose order of magnitude can change")


def _is_counted(parse: Parse, match: re.Match[str]) -> bool:
    """Whether a number that could be a year counts something or is money."""
    before, after = parse.text[: match.start()].rstrip(), parse.text[match.end() :]
    return (
        before.endswith(("$", "€", "£"))
        or re.match(r" (?:people|men|women|km|kg|metres|meters|feet|miles|euros|dollars)\b", after) is not None
    )


def _magnitudes(old: str) -> list[str]:
    """Ten times and a tenth of a number, as it is written."""
    whole, _, decimals = old.replace(",", "").partition(".")
    digits = whole + decimals
    up, down = len(whole) + 1, len(whole) - 1
    found = []
    for point in (up, down):
        if decimals:
            padded = digits.ljust(point, "0")
            left, right = padded[: max(point, 0)] or "0", padded[max(point, 0) :]
            left = str(int(left))
            if point < 1:
                left, right = "0", "0" * -point + digits
        elif point == up:
            left, right = digits + "0", ""
        elif len(digits) > 1 and digits.endswith("0"):
            left, right = digits[:-1], ""
        elif len(digits) > 2:
            left, right = digits[:-1], ""
        else:
            continue
        grouped = f"{int(left):,}" if "," in old or len(left) > 4 and len(whole) <= 3 else left
        found.append(f"{grouped}.{right}" if right else grouped)
    return [o for o in dict.fromkeys(found) if o != old and float(o.replace(",", "")) > 0]


@perturbation("accuracy", "mistranslation - digits", "critical")
def digits_transposed(parse: Parse) -> Outcome:
    """Digits change places, or one becomes another, in numbers, years and codes: *1998* -> *1989*, *F-16* -> *F-18*."""
    text = parse.text
    dates = [match.span() for match in DATE.finditer(text)]

    def make(match: re.Match[str]) -> list[Change] | None:
        start, end = match.span()
        timed = text[:start].endswith(":") and text[start - 2 : start - 1].isdigit() or re.match(r":\d", text[end:]) is not None
        dated = len(match.group()) < 3 and any(a <= start < b for a, b in dates)
        if timed or dated or len(match.group()) > 20 or re.match(r"(?:st|nd|rd|th)\b", text[end:]):
            return None
        decade = YEAR.fullmatch(match.group()) is not None and re.match(r"['’]?s\b", text[end:]) is not None
        tries = [_other_digits(match.group(), decade, parse.rng) for _ in range(20)]
        new = next((new for new in tries if _is_sound(match.group(), new, text[end:])), None)
        return parse.replace(start, end, new) if new else None

    return parse.choose(DIGITS.finditer(text), make, "no digits that can change")


def _is_sound(old: str, new: str, after: str) -> bool:
    """Whether new digits are others, no year to come, no 0 or 1 of something counted, no more than 100 per cent."""
    future = YEAR.fullmatch(old) is not None and old < "2026" <= new
    few = int(new) < 2 and not after.startswith((".", ","))
    return new != old and not future and not few and not (after.startswith("%") and int(new) > 100 >= int(old))


def _other_digits(old: str, decade: bool, rng: random.Random) -> str:
    """Digits in another order or with one exchanged, without a new zero in front; of a year only the last two, of a decade one."""
    year = YEAR.fullmatch(old) is not None
    places = [n for n in range(len(old) - 1) if old[n] != old[n + 1] and (n > 0 or old[1] != "0") and (n == 2 or not year)]
    if places and not decade and rng.random() < 0.5:
        n = rng.choice(places)
        return old[:n] + old[n + 1] + old[n] + old[n + 2 :]
    n = 2 if decade else rng.choice((2, 3)) if year else rng.randrange(len(old))
    drawn = rng.choice([d for d in "0123456789" if d != old[n] and (n > 0 or d != "0")])
    return old[:n] + drawn + old[n + 1 :]


@perturbation("accuracy", "mistranslation - dates", "critical")
def day_or_month_changed(parse: Parse) -> Outcome:
    """A weekday, month, season, date, decade, century or relative day becomes another: *12 May* -> *21 May*, *1990s* -> *1970s*."""
    text = parse.text
    ways = [way for n in range(len(parse.words)) if (way := _other_day(parse, n))]
    for match in DATE.finditer(text):
        group = "before" if match.group("before") else "after"
        endings = match.group("end") or match.group("ending") or ""
        start, end = match.span(group)
        day = int(match.group(group))
        drawn = [str(d) for d in range(1, 29) if d != day] + (
            [match.group(group)[::-1]] * 6 if 9 < int(match.group(group)[::-1]) < 29 else []
        )
        if 1 <= day <= 31:
            options = [d + ordinal_ending(int(d)) if endings else d for d in drawn]
            ways.append((start, end + len(endings), [o for o in options if o != text[start : end + len(endings)]]))
    for match in DECADE.finditer(text):
        digit = match.group(2) or match.group(3)
        century = match.group(1) or ""
        highest = 3 if century == "20" else 10
        options = [f"{century}{d}0" for d in range(highest if century else 10) if str(d) != digit and (century or d > 1)]
        ways.append((match.start(), match.end(), options))
    for match in CENTURY.finditer(text):
        number = int(match.group(1))
        others = [d for d in range(max(number - 3, 1), min(number + 3, 21) + 1) if d != number]
        ways.append((match.start(), match.end(), [f"{d}{ordinal_ending(d)}" for d in others]))
    return parse.choose(ways, lambda way: _drawn(parse, way), "no date, day, month or decade")


def _other_day(parse: Parse, n: int) -> tuple[int, int, Sequence[str]] | None:
    """A word that names a day, month, season or a time by today, and what it may become."""
    word, words = parse.words[n], parse.words
    if not parse.has_own_span(n):
        return None
    low, next_word = word.text.lower(), words[n + 1].text.lower() if n + 1 < len(words) else ""
    for names in (WEEKDAYS, MONTHS, SHORT_MONTHS):
        singular = word.text.removesuffix("s") if names is WEEKDAYS else word.text
        if singular in names and _is_day(parse, n):
            return (
                word.start,
                word.end,
                [other + ("s" if singular != word.text else "") for other in names if other != singular],
            )
    if not parse.stands_alone(n):
        return None
    if low in SEASONS or low == "fall" and word.upos == "NOUN" and n and words[n - 1].text.lower() in ("this", "last", "next"):
        return (
            (word.start, word.end, [s for s in SEASONS if s != low and (low != "fall" or s != "autumn")])
            if word.upos == "NOUN" and word.relation != "compound"
            else None
        )
    if low in RELATIVE_DAYS and not parse.in_title_case(n) and word.relation != "fixed":
        return word.start, word.end, RELATIVE_DAYS[low]
    if low in RELATIVE and (next_word in PERIODS) and word.upos in ("ADJ", "DET", "VERB"):
        return word.start, word.end, RELATIVE[low]
    if low in CENTURIES and next_word in ("century", "centuries"):
        return word.start, word.end, [c for c in CENTURIES if c != low]
    return None


def _is_day(parse: Parse, n: int) -> bool:
    """Whether a capitalised word is a day or month: not the *May* of a name, nor *March* at the start of a sentence."""
    word, words = parse.words[n], parse.words
    near = [words[m] for m in (n - 1, n + 1) if 0 <= m < len(words) and words[m].sentence == word.sentence]
    numbered = any(other.text[:1].isdigit() for other in near)
    placed = n > 0 and words[n - 1].text.lower() in word_set("quantities.before_day")
    if any(other.text[:1].isupper() and other.upos == "PROPN" and other.text not in (*MONTHS, *WEEKDAYS) for other in near):
        return False
    return (
        numbered
        or placed
        or word.text not in ("May", "March", "August", "April", "June", "Mar", "Jan", "Dec")
        and word.upos == "PROPN"
    )


@perturbation("accuracy", "mistranslation - times", "critical")
def time_of_day_changed(parse: Parse) -> Outcome:
    """A time of day becomes another: *8 a.m.* -> *8 p.m.*, *15:30* -> *16:30*, *noon* -> *midnight*, *morning* -> *evening*."""
    text = parse.text
    ways: list[tuple[int, int, Sequence[str]]] = [
        (m.start(2), m.end(2), [m.group(2).translate(str.maketrans("apAP", "paPA"))]) for m in MIDDAY.finditer(text)
    ]
    for match in CLOCK.finditer(text):
        if match.group(2) == ":" or re.match(r"\s?(?:[ap]\.?m|[AP]\.?M|h\b|o[’']clock)", text[match.end() :]):
            ways.append((match.start(), match.end(), _other_clocks(match)))
    ways += [(m.start(), m.end(), [str(h) for h in range(1, 13) if h != int(m.group())]) for m in HOUR.finditer(text)]
    for n, word in enumerate(parse.words):
        if (
            word.text.lower() in PARTS_OF_DAY
            and word.upos in ("NOUN", "ADV")
            and parse.stands_alone(n)
            and _is_time_of_day(parse, n)
        ):
            ways.append((word.start, word.end, PARTS_OF_DAY[word.text.lower()]))
    return parse.choose(ways, lambda way: _drawn(parse, way), "no time of day")


def _other_clocks(match: re.Match[str]) -> list[str]:
    """The time a few hours or some minutes earlier or later, written as it was."""
    hour, mark, minute = match.groups()
    width, limit = len(hour), 12 if int(hour) <= 12 else 23
    hours = [h for h in range(max(int(hour) - 3, 1), min(int(hour) + 3, limit) + 1) if h != int(hour)]
    minutes = [m for m in (0, 10, 15, 20, 30, 40, 45, 50) if m != int(minute)]
    shaped = [f"{h:02d}" if hour.startswith("0") else str(h) for h in hours]
    return [f"{h}{mark}{minute}" for h in shaped] + [f"{hour:>{width}}{mark}{m:02d}" for m in minutes]


def _is_time_of_day(parse: Parse, n: int) -> bool:
    """Whether *morning*, *night* stand for a time: after a preposition with an article, a weekday or *this*; not *good night*."""
    words = parse.words
    word = words[n]
    before = words[n - 1].text.lower() if n else ""
    if before in ("good", "last", "one", "all", "wedding", "opening") or word.relation in ("compound", "fixed", "flat", "root"):
        return False
    if word.text.lower() == "night" and before == "at":
        return False
    return not word.text[:1].isupper() and (word.upos == "NOUN" or word.text.lower() == "overnight")

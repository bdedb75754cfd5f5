"""Quantities, dates and times made false: the unit, the order of magnitude, a digit, the day, the time of day."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import cache

from rome.data.perturbations.numbers import ordinal_ending

from .lexicons import MONTHS, alternatives, table, word_sequence, word_set
from .perturbation import Change, Outcome, Parse, in_case_of, perturbation, split

SHORT_MONTHS = "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec".split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
SEASONS = "spring summer autumn winter".split()
CENTURIES = word_sequence("notation.ordinals")[10:21]
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
PERIODS = word_set("quantities.periods")
PARTS_OF_DAY = alternatives("quantities.parts_of_day")
Way = tuple[int, int, Sequence[str]]
"""Start and end of some characters, and what may stand in their place."""


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
    spelled = [n for n in range(len(parse.words)) if parse.has_own_span(n)]
    ways: list[Way] = [(*parse.span([n]), options) for n in spelled if (options := _other_units(parse, n))]
    for match in ATTACHED_UNIT.finditer(parse.text):
        ways.append((*match.span(), [u for u in _units().get(match.group(), ()) if len(u) < 4]))
    return _one_of(parse, ways, "no quantity with a unit")


def _one_of(parse: Parse, ways: list[Way], reason: str) -> Outcome:
    """One of the ways, with one of its options in the place of the characters, in their case."""

    def make(way: Way) -> list[Change] | None:
        start, end, options = way
        old = parse.text[start:end]
        fitting = [option for option in options if option != old]
        new = parse.rng.choice(fitting) if fitting else ""
        cased = in_case_of(new, old) if old[:1].isalpha() and len(old) > 3 else new
        return parse.replace(start, end, cased) if fitting else None

    return parse.choose(ways, make, reason)


def _other_units(parse: Parse, n: int) -> list[str]:
    """What may stand for a word as a unit, in its number; empty where it measures nothing."""
    low, form, units = parse.low(n), parse.form(n), _units()
    joined = parse.form(n - 1) == "-"
    counted = _is_number(parse, n - 1) or joined and _is_number(parse, n - 2)
    sign = form in split("°C °F Celsius Fahrenheit Kelvin USD EUR GBP JPY CNY")
    sign = sign or form in split("$ € £ ¥") and parse.form(n + 1)[:1].isdigit()
    short = counted and form in units and len(form) < 5
    if sign or short and form not in split("inch foot mile acre cent in hour day week year yard"):
        return [*units[form]]
    if not parse.stands_alone(n) and not (counted and joined):
        return []
    stems = [low.removesuffix(old) + new for old, new in (("", ""), ("s", ""), ("ies", "y")) if low.endswith(old)]
    singular = next((stem for stem in stems if stem in units), {"feet": "foot", "inches": "inch"}.get(low, ""))
    if len(singular) < 3:
        return []
    if singular in ORDERS:
        return _orders(parse, n, singular, counted)
    article = parse.reads(n - 1, "a an one several few many half")
    odd = singular == "second" and not counted or low == "foot" and article
    if odd or not (counted or article) or not parse.matches(n, pos="NOUN SYM"):
        return []
    others = [unit for unit in units[singular] if len(unit) > 2]
    plurals = [unit if unit == "yen" else parse.inflect(unit, "NNS") for unit in others]
    return others if low == singular else [form for form in plurals if form]


def _orders(parse: Parse, n: int, singular: str, counted: bool) -> list[str]:
    """*million* -> *billion* after a number or article, *thousands* -> *millions* before *of*."""
    others = [unit for unit in _units()[singular] if unit in ORDERS]
    if parse.low(n) != singular:
        return [f"{unit}s" for unit in others] if parse.form(n + 1) == "of" else []
    after = parse.reads(n - 1, "a one few several half")
    plain = (counted or after) and parse.low(n + 1) not in ORDERS
    return [o for o in others if not after or o != "dozen"] if plain else []


def _is_number(parse: Parse, n: int) -> bool:
    """Whether a word is a number in digits or in letters."""
    return parse.pos(n) == "NUM" or re.fullmatch(r"\d[\d,.]*", parse.form(n)) is not None


@perturbation("accuracy", "mistranslation - magnitude", "critical")
def magnitude_changed(parse: Parse) -> Outcome:
    """A number in digits gets a zero more or one less, or its point moves: *3,000* -> *30,000*, *0.5* -> *5*."""
    text = parse.text
    dates = [match.span() for match in DATE.finditer(text)]

    def make(match: re.Match[str]) -> list[Change] | None:
        old = match.group()
        year = YEAR.fullmatch(old) and not _is_counted(parse, match)
        if year or any(a <= match.start() < b for a, b in dates) or float(old.replace(",", "")) == 0:
            return None
        percent = re.match(r"\s?(?:%|percent\b|per cent\b)", text[match.end() :]) is not None
        options = [o for o in _magnitudes(old) if not percent or float(o.replace(",", "")) <= 100]
        return parse.replace(match.start(), match.end(), parse.rng.choice(options)) if options else None

    numbers = [m for m in NUMBER.finditer(text) if len(m.group()) < 14]
    return parse.choose(numbers, make, "no number whose order of magnitude can change")


def _is_counted(parse: Parse, match: re.Match[str]) -> bool:
    """Whether a number that could be a year counts something or is money."""
    counted = re.match(r" (?:people|men|women|km|kg|metres|meters|feet|miles|euros|dollars)\b", parse.text[match.end() :])
    return counted is not None or parse.text[: match.start()].rstrip().endswith(("$", "€", "£"))


def _magnitudes(old: str) -> list[str]:
    """Ten times and a tenth of a number, as it is written."""
    whole, _, decimals = old.replace(",", "").partition(".")
    digits, found = whole + decimals, []
    for point in (len(whole) + 1, len(whole) - 1):
        if decimals:
            padded = digits.ljust(point, "0")
            left, right = (str(int(padded[:point])), padded[point:]) if point > 0 else ("0", digits)
        elif point > len(whole):
            left, right = digits + "0", ""
        elif len(digits) > 2 or len(digits) > 1 and digits.endswith("0"):
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
    ways: list[Way] = [
        (*parse.span([n]), other) for n in range(len(parse.words)) if (other := _other_days(parse, n)) is not None
    ]
    for match in DATE.finditer(parse.text):
        group = "before" if match.group("before") else "after"
        ending, (start, end) = match.group("end") or match.group("ending") or "", match.span(group)
        day, turned = int(match.group(group)), match.group(group)[::-1]
        drawn = [str(d) for d in range(1, 29) if d != day] + [turned] * (6 if 9 < int(turned) < 29 else 0)
        if 1 <= day <= 31:
            options = [d + ordinal_ending(int(d)) if ending else d for d in drawn]
            ways.append((start, end + len(ending), [o for o in options if o != parse.text[start : end + len(ending)]]))
    for match in DECADE.finditer(parse.text):
        century, digit = match.group(1) or "", match.group(2) or match.group(3)
        highest = 3 if century == "20" else 10
        ways.append((*match.span(), [f"{century}{d}0" for d in range(highest) if str(d) != digit and (century or d > 1)]))
    for match in CENTURY.finditer(parse.text):
        number = int(match.group(1))
        others = [d for d in range(max(number - 3, 1), min(number + 3, 21) + 1) if d != number]
        ways.append((*match.span(), [f"{d}{ordinal_ending(d)}" for d in others]))
    return _one_of(parse, ways, "no date, day, month or decade")


def _other_days(parse: Parse, n: int) -> Sequence[str] | None:
    """What a word that names a day, month, season or a time by today may become; None for any other word."""
    low, form = parse.low(n), parse.form(n)
    if not parse.has_own_span(n):
        return None
    for names in (WEEKDAYS, MONTHS, SHORT_MONTHS):
        singular = form.removesuffix("s") if names is WEEKDAYS else form
        if singular in names and _is_day(parse, n):
            return [other + form[len(singular) :] for other in names if other != singular]
    if not parse.stands_alone(n):
        return None
    if low in SEASONS or low == "fall" and parse.pos(n) == "NOUN" and parse.reads(n - 1, "this last next"):
        others = [s for s in SEASONS if s != low and (low != "fall" or s != "autumn")]
        return others if parse.pos(n) == "NOUN" and parse.relation(n) != "compound" else None
    if low in RELATIVE_DAYS and not parse.in_title_case(n) and parse.relation(n) != "fixed":
        return RELATIVE_DAYS[low]
    if low in RELATIVE and parse.low(n + 1) in PERIODS and parse.matches(n, pos="ADJ DET VERB"):
        return RELATIVE[low]
    return [c for c in CENTURIES if c != low] if low in CENTURIES and parse.reads(n + 1, "century centuries") else None


def _is_day(parse: Parse, n: int) -> bool:
    """Whether a capitalised word is a day or month: not the *May* of a name, nor *March* at the start of a sentence."""
    near = [word for word in parse.words[max(n - 1, 0) : n + 2] if word.sentence == parse.words[n].sentence]
    near = [word for word in near if word is not parse.words[n]]
    if any(w.text[:1].isupper() and w.upos == "PROPN" and w.text not in (*MONTHS, *WEEKDAYS) for w in near):
        return False
    if any(w.text[:1].isdigit() for w in near) or parse.low(n - 1) in word_set("quantities.before_day"):
        return True
    return parse.pos(n) == "PROPN" and parse.form(n) not in split("May March August April June Mar Jan Dec")


@perturbation("accuracy", "mistranslation - times", "critical")
def time_of_day_changed(parse: Parse) -> Outcome:
    """A time of day becomes another: *8 a.m.* -> *8 p.m.*, *15:30* -> *16:30*, *noon* -> *midnight*, *morning* -> *evening*."""
    turned = str.maketrans("apAP", "paPA")
    ways: list[Way] = [(*m.span(2), [m.group(2).translate(turned)]) for m in MIDDAY.finditer(parse.text)]
    for match in CLOCK.finditer(parse.text):
        marked = re.match(r"\s?(?:[ap]\.?m|[AP]\.?M|h\b|o[’']clock)", parse.text[match.end() :])
        if match.group(2) == ":" or marked:
            ways.append((*match.span(), _other_clocks(match)))
    ways += [(*m.span(), [str(h) for h in range(1, 13) if h != int(m.group())]) for m in HOUR.finditer(parse.text)]
    parts = [n for n in range(len(parse.words)) if parse.low(n) in PARTS_OF_DAY and parse.matches(n, pos="NOUN ADV")]
    parts = [n for n in parts if parse.stands_alone(n) and _is_time_of_day(parse, n)]
    return _one_of(parse, [*ways, *((*parse.span([n]), PARTS_OF_DAY[parse.low(n)]) for n in parts)], "no time of day")


def _other_clocks(match: re.Match[str]) -> list[str]:
    """The time a few hours or some minutes earlier or later, written as it was."""
    hour, mark, minute = match.groups()
    limit = 12 if int(hour) <= 12 else 23
    hours = [h for h in range(max(int(hour) - 3, 1), min(int(hour) + 3, limit) + 1) if h != int(hour)]
    minutes = [m for m in (0, 10, 15, 20, 30, 40, 45, 50) if m != int(minute)]
    shaped = [f"{h:02d}" if hour.startswith("0") else str(h) for h in hours]
    return [f"{h}{mark}{minute}" for h in shaped] + [f"{hour}{mark}{m:02d}" for m in minutes]


def _is_time_of_day(parse: Parse, n: int) -> bool:
    """Whether *morning*, *night* stand for a time: after a preposition with an article, a weekday or *this*; not *good night*."""
    bound = parse.reads(n - 1, "good last one all wedding opening") or parse.low(n) == "night" and parse.low(n - 1) == "at"
    if bound or parse.relation(n) in ("compound", "fixed", "flat", "root"):
        return False
    return not parse.form(n)[:1].isupper() and (parse.pos(n) == "NOUN" or parse.low(n) == "overnight")

"""Numbers, quantities, dates and times made false, their format kept (DEMETR 10)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from .lexicons import MONTHS, alternatives, partners, table, word_sequence, word_set
from .perturbation import Change, Outcome, Parse, in_case_of, perturbation, split

CARDINALS = word_sequence("numbers.cardinals")
TENS = ("", "", *"twenty thirty forty fifty sixty seventy eighty ninety".split())
SHORT_MONTHS = "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec".split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
SEASONS = "spring summer autumn winter".split()
CENTURIES = word_sequence("numbers.ordinals")[10:21]
ORDERS = frozenset("hundred thousand million billion trillion dozen".split())
LATEST_YEAR = 2025
NUMBER = re.compile(r"(?<![\w.,/:#№’'–−-])(?!0\d)((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(st|nd|rd|th)?(?![\w/:–−-]|[.,]\d)")
YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
PERCENT = re.compile(r"\s?(?:%|percent\b|per cent\b)")
COUNTED = re.compile(r" (?:people|men|women|km|kg|metres|meters|feet|miles|euros|dollars)\b")
ATTACHED_UNIT = re.compile(
    r"(?<=\d)(?:mg|kg|g|mm|cm|km|m|ml|l|KB|MB|GB|TB|W|kW|MW|GW|kWh|MWh|GWh|kV|V|kHz|MHz|GHz|Hz|ft|lb|oz|°C|°F)(?!\w)"
)
MONTH = "|".join(MONTHS)
DATE = re.compile(
    rf"(?:(?<!\w)(?P<before>\d{{1,2}})(?P<end>st|nd|rd|th)? (?:of )?(?:{MONTH})\b)"
    rf"|(?:\b(?:{MONTH}) (?P<after>\d{{1,2}})(?P<ending>st|nd|rd|th)?(?!\w|[.,:]\d))"
)
DECADE = re.compile(r"(?<!\w)(1[0-9]|20)(\d)0(?=['’]?s\b)|(?<=['’])(\d)0(?=s\b)")
MIDDAY = re.compile(r"(?<=\d)(\s?)(a\.m\.|p\.m\.|am|pm|AM|PM|A\.M\.|P\.M\.|a\.m|p\.m)(?!\w)")
CLOCK = re.compile(r"(?<![\w:.,])([01]?\d|2[0-4]):([0-5]\d)(?![\d:.]\d|\d|%)")
HOUR = re.compile(r"(?<!\w)(?P<hour>1[0-2]|[1-9])(?= (?:o[’']clock|o[’'] clock)\b|\s?(?:a\.m\b|p\.m\b|am\b|pm\b|AM\b|PM\b))")
RELATIVE_DAYS = alternatives("quantities.relative_days")
RELATIVE = alternatives("quantities.relative")
PARTS_OF_DAY = alternatives("quantities.parts_of_day")
Way = tuple[int, int, Sequence[str]]
"""Start and end of some characters, and what may replace them."""


def in_words(value: int) -> str:
    """Return a whole number below a hundred in words."""
    if value < 20:
        return CARDINALS[value]
    return TENS[value // 10] + (f"-{CARDINALS[value % 10]}" if value % 10 else "")


NUMBER_WORDS = {in_words(value): value for value in range(100)}


def ordinal_ending(value: int) -> str:
    """Return the letters of an ordinal in digits: 1st, 2nd, 3rd, 11th."""
    return "th" if 10 <= value % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")


@dataclass(frozen=True, slots=True)
class _Figure:
    """A number of the text.

    Attributes
    ----------
    kind
        Word, day, ordinal, percentage, money, year or number.
    """

    start: int
    end: int
    text: str
    value: float
    kind: str


def _figures(parse: Parse) -> list[_Figure]:
    """Return the numbers of a text in digits and in single words, without 0, 1 and what belongs to a clock or a decade."""
    dates = [match.span() for match in DATE.finditer(parse.text)]
    results = []
    for match in NUMBER.finditer(parse.text):
        value, (start, end) = float(match.group(1).replace(",", "")), match.span()
        dated = any(a <= start < b for a, b in dates)
        kind = "day" if dated else "ordinal" if match.group(2) else _kind(parse, match)
        if (value > 1 or kind == "ordinal") and len(match.group()) < 14:
            results.append(_Figure(start, end, match.group(), value, kind))
    for n, word in enumerate(parse.words):
        value = NUMBER_WORDS.get(parse.low(n), 0)
        if word.upos == "NUM" and value > 1 and parse.stands_alone(n) and not parse.some((n - 1, n + 1), pos="NUM"):
            results.append(_Figure(word.start, word.end, word.text, value, "word"))
    return results


def _kind(parse: Parse, match: re.Match[str]) -> str:
    """Return the kind of a number in digits that is neither a day nor an ordinal."""
    after = parse.text[match.end() :]
    if PERCENT.match(after):
        return "percentage"
    if parse.text[: match.start()].rstrip().endswith(("$", "€", "£")):
        return "money"
    words = [word for word in parse.words if word.start == match.start() and word.relation == "nummod"]
    counted = COUNTED.match(after) or any(parse.tag(word.head) == "NNS" for word in words)
    return "year" if YEAR.fullmatch(match.group()) and not counted else "number"


@perturbation("accuracy", "mistranslation - numbers", "critical", 10)
def number_changed(parse: Parse) -> Outcome:
    """Change one number: years stay years, percentages at most 100, the format and the order among numbers of a kind stay."""
    figures = [figure for figure in _figures(parse) if figure.kind != "day"]

    def make(figure: _Figure) -> list[Change] | None:
        others = [other.value for other in figures if other.kind == figure.kind and other is not figure]
        for _ in range(40):
            value = _near(parse, figure)
            keeps_order = all((value - other) * (figure.value - other) > 0 for other in others)
            if keeps_order and value != figure.value:
                return parse.replace(figure.start, figure.end, in_case_of(_written(figure, value), figure.text))
        return None

    return parse.choose(figures, make, "no number that can be another one")


def _near(parse: Parse, figure: _Figure) -> float:
    """Return a number of the same kind: half to twice the old one, with as many digits, round where a large one is round."""
    value, digits, decimals = figure.value, len(str(int(figure.value))), len(figure.text.partition(".")[2])
    if figure.kind == "year":
        latest = LATEST_YEAR if value <= LATEST_YEAR else 2099
        return float(min(max(value + parse.rng.choice((-1, 1)) * parse.rng.randint(2, 30), 1000), latest))
    if figure.kind == "word":
        return float(parse.rng.randint(2, 19) if value < 20 else 10 * parse.rng.randint(2, 9))
    lowest, highest = max(value / 2, 2.0), max(2 * value, 9.0)
    if digits > 1:
        lowest, highest = max(lowest, 10.0 ** (digits - 1)), min(highest, 10.0**digits - 1)
    if figure.kind == "percentage" and value <= 100:
        lowest, highest = 1.0, 100.0
    step = 10 ** (digits - 2) if decimals == 0 and value >= 1000 and value % 100 == 0 else 1
    return round(parse.rng.uniform(lowest, highest) / step, 0 if figure.kind == "ordinal" else decimals) * step


def _written(figure: _Figure, value: float) -> str:
    """Return a number as the old one was written."""
    if figure.kind == "word":
        return in_words(int(value))
    if figure.kind == "ordinal":
        return f"{int(value)}{ordinal_ending(int(value))}"
    decimals = len(figure.text.partition(".")[2])
    return f"{value:,.{decimals}f}" if "," in figure.text else f"{value:.{decimals}f}"


RANGED = re.compile(
    r"(?:[-–—~/x×,:;]|and|or|to|through|until|till|by|, and|, or|percent (?:and|or|to)|out of|of|in|-?year(?:s)? (?:or|to))?"
)


@perturbation("accuracy", "mistranslation - numbers", "critical")
def numbers_exchanged(parse: Parse) -> Outcome:
    """Exchange two numbers of one kind: *3 men and 7 women* -> *7 men and 3 women*."""
    pairs = [pair for pair in combinations(sorted(_figures(parse), key=lambda one: one.start), 2) if _apart(parse, *pair)]

    def make(pair: tuple[_Figure, _Figure]) -> list[Change]:
        changes: list[Change] = []
        for old, new in (pair, pair[::-1]):
            text = new.text.capitalize() if old.text[0].isupper() else new.text.lower()
            changes += parse.replace(old.start, old.end, text)
        return changes

    return parse.choose(pairs, make, "no two numbers that can change places")


def _apart(parse: Parse, first: _Figure, second: _Figure) -> bool:
    """Return whether two numbers are of one kind, differ, and are not the ends of a range or parts of a list."""
    less, more = sorted((first.value, second.value))
    if first.kind != second.kind or less == more or more > 1000 * less:
        return False
    between = parse.text[first.end : second.start].strip().lower().strip("%$€£ ")
    listed = not re.search(r"[a-z]", re.sub(r"\b(?:and|or|million|billion|percent|thousand)\b", "", between))
    dashed = first.kind in ("year", "day") and re.search(r"[–—-]", between) is not None and len(between) < 20
    return not (RANGED.fullmatch(between) or listed or dashed)


@cache
def _units() -> dict[str, tuple[str, ...]]:
    """Return every unit with all that may replace it."""
    return partners(table("units").values())


@perturbation("accuracy", "mistranslation - units", "critical")
def unit_changed(parse: Parse) -> Outcome:
    """Change the unit, currency or order of magnitude of a quantity: *5 kg* -> *5 g*, *$40* -> *£40*, *two million* -> *two billion*."""
    spelled = [n for n in range(len(parse.words)) if parse.has_own_span(n)]
    ways: list[Way] = [(*parse.span([n]), options) for n in spelled if (options := _other_units(parse, n))]
    for match in ATTACHED_UNIT.finditer(parse.text):
        ways.append((*match.span(), [u for u in _units().get(match.group(), ()) if len(u) < 4]))
    return _one_of(parse, ways, "no quantity with a unit")


def _one_of(parse: Parse, ways: list[Way], reason: str) -> Outcome:
    """Replace the characters of one of the ways by one of its options, in their case."""

    def make(way: Way) -> list[Change] | None:
        start, end, options = way
        old = parse.text[start:end]
        fitting = [option for option in options if option != old]
        new = parse.rng.choice(fitting) if fitting else ""
        cased = in_case_of(new, old) if old[:1].isalpha() and len(old) > 3 else new
        return parse.replace(start, end, cased) if fitting else None

    return parse.choose(ways, make, reason)


def _other_units(parse: Parse, n: int) -> list[str]:
    """Return what may replace a word as a unit, in its number; nothing where it measures nothing."""
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
    singular = low if low in units else parse.lemma(n)
    if singular not in units or len(singular) < 3:
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
    """Return other orders of magnitude: *million* -> *billion* after a number or article, *thousands* -> *millions* before *of*."""
    others = [unit for unit in _units()[singular] if unit in ORDERS]
    if parse.low(n) != singular:
        return [f"{unit}s" for unit in others] if parse.form(n + 1) == "of" else []
    after = parse.reads(n - 1, "a one few several half")
    plain = (counted or after) and parse.low(n + 1) not in ORDERS
    return [o for o in others if not after or o != "dozen"] if plain else []


def _is_number(parse: Parse, n: int) -> bool:
    """Return whether a word is a number in digits or in letters."""
    return parse.pos(n) == "NUM" or re.fullmatch(r"\d[\d,.]*", parse.form(n)) is not None


@perturbation("accuracy", "mistranslation - dates", "critical")
def day_or_month_changed(parse: Parse) -> Outcome:
    """Change a weekday, month, season, date, decade or relative day: *12 May* -> *21 May*, *1990s* -> *1970s*."""
    ways: list[Way] = [(*parse.span([n]), _other_days(parse, n)) for n in range(len(parse.words)) if parse.has_own_span(n)]
    for match in DATE.finditer(parse.text):
        group = "before" if match.group("before") else "after"
        ending, (start, end) = match.group("end") or match.group("ending") or "", match.span(group)
        days = [day for day in range(1, 29) if day != int(match.group(group))]
        options = [f"{day}{ordinal_ending(day) if ending else ''}" for day in days]
        ways.append((start, end + len(ending), options if int(match.group(group)) < 32 else []))
    for match in DECADE.finditer(parse.text):
        century, digit = match.group(1) or "", match.group(2) or match.group(3)
        highest = 3 if century == "20" else 10
        ways.append((*match.span(), [f"{century}{d}0" for d in range(highest) if str(d) != digit and (century or d > 1)]))
    return _one_of(parse, [way for way in ways if way[2]], "no date, day, month or decade")


def _other_days(parse: Parse, n: int) -> Sequence[str]:
    """Return what a word that names a day, month, season or a time relative to today may become; nothing for any other word."""
    low, form = parse.low(n), parse.form(n)
    for names in (WEEKDAYS, MONTHS, SHORT_MONTHS):
        singular = form.removesuffix("s") if names is WEEKDAYS else form
        if singular in names and _is_day(parse, n):
            return [other + form[len(singular) :] for other in names if other != singular]
    if not parse.stands_alone(n):
        return ()
    if low in SEASONS:
        noun = parse.pos(n) == "NOUN" and parse.relation(n) != "compound"
        return [season for season in SEASONS if season != low] if noun else ()
    if low in RELATIVE_DAYS and not parse.in_title_case(n) and parse.relation(n) != "fixed":
        return RELATIVE_DAYS[low]
    if low in RELATIVE and parse.low(n + 1) in word_set("quantities.periods") and parse.matches(n, pos="ADJ DET VERB"):
        return RELATIVE[low]
    return [c for c in CENTURIES if c != low] if low in CENTURIES and parse.reads(n + 1, "century centuries") else ()


def _is_day(parse: Parse, n: int) -> bool:
    """Return whether a capitalised word is a day or month: not the *May* of a name, nor *March* at the start of a sentence."""
    near = [word for word in parse.words[max(n - 1, 0) : n + 2] if word.sentence == parse.words[n].sentence]
    near = [word for word in near if word is not parse.words[n]]
    if any(w.text[:1].isupper() and w.upos == "PROPN" and w.text not in (*MONTHS, *WEEKDAYS) for w in near):
        return False
    if any(w.text[:1].isdigit() for w in near) or parse.low(n - 1) in word_set("quantities.before_day"):
        return True
    return parse.pos(n) == "PROPN" and parse.form(n) not in split("May March August April June Mar Jan Dec")


@perturbation("accuracy", "mistranslation - times", "critical")
def time_of_day_changed(parse: Parse) -> Outcome:
    """Change a time of day: *8 a.m.* -> *8 p.m.*, *15:30* -> *16:30*, *noon* -> *midnight*, *morning* -> *evening*."""
    other_half = str.maketrans("apAP", "paPA")
    ways: list[Way] = [(*m.span(2), [m.group(2).translate(other_half)]) for m in MIDDAY.finditer(parse.text)]
    ways += [(*match.span(), _other_clocks(match)) for match in CLOCK.finditer(parse.text)]
    ways += [(*m.span(), [str(h) for h in range(1, 13) if h != int(m.group())]) for m in HOUR.finditer(parse.text)]
    parts = [n for n in range(len(parse.words)) if parse.low(n) in PARTS_OF_DAY and parse.matches(n, pos="NOUN ADV")]
    parts = [n for n in parts if parse.stands_alone(n) and _is_time_of_day(parse, n)]
    return _one_of(parse, [*ways, *((*parse.span([n]), PARTS_OF_DAY[parse.low(n)]) for n in parts)], "no time of day")


def _other_clocks(match: re.Match[str]) -> list[str]:
    """Return times a few hours or some minutes earlier or later, written as the old one."""
    hour, minute = match.groups()
    limit = 12 if int(hour) <= 12 else 23
    hours = [h for h in range(max(int(hour) - 3, 1), min(int(hour) + 3, limit) + 1) if h != int(hour)]
    minutes = [m for m in (0, 10, 15, 20, 30, 40, 45, 50) if m != int(minute)]
    shaped = [f"{h:02d}" if hour.startswith("0") else str(h) for h in hours]
    return [f"{h}:{minute}" for h in shaped] + [f"{hour}:{m:02d}" for m in minutes]


def _is_time_of_day(parse: Parse, n: int) -> bool:
    """Return whether a word such as *morning* or *night* means a time: not in *good night* or *wedding night*."""
    bound = parse.reads(n - 1, "good last one all wedding opening") or parse.low(n) == "night" and parse.low(n - 1) == "at"
    if bound or parse.relation(n) in ("compound", "fixed", "flat", "root"):
        return False
    return not parse.form(n)[:1].isupper() and (parse.pos(n) == "NOUN" or parse.low(n) == "overnight")

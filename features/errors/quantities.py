"""Read the values in an English text: numbers, money, clock times, dates, durations and other units, versions, codes, scores.

A value is the same however it is written: *9 a.m.* and *9:00*, *$1,000* and *1000 dollars*, *90 minutes* and *an hour and a half*.
`features/errors/quantity_pairs.py` compares the values of two texts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from ..packages import needed
from ..text import EditedText


def table(pairs: str) -> dict[str, str]:
    """Return a mapping from its pairs, each of them key=value."""
    return dict(pair.split("=") for pair in pairs.split())


@dataclass(frozen=True, slots=True)
class Quantity:
    """The value of ``text[start:end]``.

    Attributes
    ----------
    dimension
        "number", "ratio" (a fraction or percentage), "ordinal", "sequence" (of digits), "range" or "score" (of plain numbers), "version",
        "code" with its letters, "program" (a piece of code), "address", "date", "time of day", "money:USD" and so on, or a physical
        dimension such as "length" or "time"; a rate has " / time" after it.
        Two ambiguous units are their own dimensions: "pounds" and "cents". "time of day (12 h)" is a time without a.m. or p.m.
    value
        A float in base units; for a range or score the two ends, for a date (year, month, day), each of them None where it is not written;
        for sequences, versions, codes, programs and addresses the characters. Values of one dimension are comparable.
    sure
        False where the words may mean something else.
    """

    start: int
    end: int
    dimension: str
    value: Any
    sure: bool = True


SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12.0}
"""Multipliers of a number; these words are kept."""
ALIKE = str.maketrans(dict(zip("\u00a0\u202f\u2009’−–—⁄İıſK", "   '---/IisK", strict=True)))
"""Characters that are read as another one."""
NOT_JOINED = ("million", "billion", "trillion", "o", "oh")
"""Words that are no part of the number before them: a scale may belong to both ends of a range."""
BEFORE_SECOND = frozenset("the - s my your his her its our their".split())
"""Words after which a second is no time."""
NUMBER_TOKEN = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")
NUMBER_PART = re.compile(
    r"([¼-¾⅐-⅞])|(?<![\w.,/-])(?:(?P<few>\d{1,3}|an?)[\s-])?(?:(?P<name>half|halves|quarters?)|(?<=[\s-])(?P<below>\d+)(?:rd|th)(?P<many>s?))(?![\w-])"
    r"|\b(?:12\s)?(?:(?P<noon>noon|midday)|midnight|(?P<two>twice|a\scouple))\b",
    re.IGNORECASE,
)
"""A fraction, after the first pass (*2 3rds*, *a 4th*, *3 quarters*), a named time, or two in other words."""

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
MONTH = r"(?:(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|(?:nov|dec)(?:ember)?)(?!\w))"
DAY = r"(?P<d>\d\d?)(?:st|nd|rd|th)?"
DATES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<y>\d{4})([-/.])(?P<m>\d\d?)\2(?P<d>\d\d?)(?!\w|[-/]\d)",
        r"(?P<m>\d\d?)([-/.])(?P<d>\d\d?)\2(?P<y>\d{4})(?!\w|[-/]\d)",
        r"(?P<d>\d\d?)([-/.])(?P<m>\d\d?)\2(?P<y>\d{4})(?!\w|[-/]\d)",
        rf"{DAY}(?:\sof)?[\s-](?P<m>{MONTH})\.?(?:,?[\s-](?P<y>\d{{4}})(?!\w|[,.]\d))?",
        rf"(?P<m>{MONTH})\.?\s(?:the\s)?{DAY}(?![\w:]|[.,]\d)(?:,?\s(?P<y>\d{{4}})(?!\w|[,.]\d))?",
        rf"(?P<m>{MONTH})\.?,?\s(?P<y>\d{{4}})(?!\w|[,.]\d)(?P<d>)",
    )
]
CLOCK = re.compile(
    r"(?i)(?:(?:an?\s)?(?P<shift>1/[24]|\d\d?)(?P<minutes>\sminutes)?\s(?P<side>past|to)\s)?(?P<h>\d\d?)(?!\d)(?:(?P<mark>[:.])(?P<m>[0-5]\d)(?!\d))?"
    r"(?::[0-5]\d)?(?![:.]?\d)(?P<hour>\so'?\s?clock)?(?:\s?(?P<x>[ap])(?:\.\s?m\b\.?|\s?m\b\.?)|\s(?:in\sthe|at)\s(?P<part>morning|afternoon|evening|night)\b)?"
)
VERSION = re.compile(r"(?:(?:version|release)\sv?|v)\.?\s?(\d+(?:\.\d+)*)(?![\w]|\.\d)|(\d+(?:\.\d+){2,})(?!\w)", re.IGNORECASE)
SEQUENCE = re.compile(
    r"(?![1-9]\d{0,2}(?: \d{3})+(?![ -]?\d))(?:\+?\d+(?:\)?[ -]\d+){2,11}(?![\d/:])|\d(?: \d){1,11}(?![\d/:%]|\.\d)|(?:0\d\d+|\d{8,})(?!\w|[.,/]\d))"
)

CURRENCIES = table("$=USD us$=USD €=EUR £=GBP ¥=JPY ₹=INR") | {code: code.upper() for code in "usd eur gbp jpy chf inr".split()}
MONEY_WORDS = table("dollar=USD euro=EUR yen=JPY quid=GBP pence=GBP p=GBP pound=pounds cent=cents ¢=cents")
CURRENCY = "|".join(map(re.escape, sorted(CURRENCIES, key=len, reverse=True)))
LARGE = "hundred|thousand|million|billion|trillion|dozen"
SHORT_SCALES = SCALES | {"k": 1e3, "m": 1e6, "mn": 1e6, "b": 1e9, "bn": 1e9, "tn": 1e12}
TIMES = "second|minute|hour|day|week|fortnight|month|year|decade"
WORDS = (
    r"(?:(?:square|cubic|sq|cu)\s)?(?:(?:kilo|centi|milli|mega|giga|tera|micro|nano)?(?:met(?:er|re)|gram|lit(?:er|re)|watt(?:\shour)?|byte|bit|joule"
    rf"|volt|pascal|calorie)|inche?|foot|feet|yard|mile|ounce|stone|ton|tonne|acre|hectare|gallon|pint|quart|cup|tablespoon|teaspoon|knot|hertz|{TIMES}"
    r"|centurie|century|sec|min|hr|yr|lb|ft|kilo)s?|degrees?(?:\s(?:celsius|fahrenheit|c|f))?|celsius|fahrenheit"
)
SYMBOLS = (
    r"(?-i:(?:[kcdmnµμ]?m|ft|yd|mi)(?:[²³]|\^?[23])?|[kmµμ]?g|oz|t|[mcdhµμ]?[lL]|ms|(?<!0)s|h|ha|[kMG]?Hz|[kMGTm]?Wh?|[kM]?J|[km]?V|k?cal"
    r"|[kKMGTP]i?[Bb]|[kmgt]b|[kh]?Pa|psi|[°º]\s?[CcFf]|[CF]|km/h|kmh|kph|mph|m/s|°)"
)
UNITS = table("celsius=degC c=degC fahrenheit=degF f=degF º=degree kilo=kg kilos=kg kmh=kph kb=kB mb=MB gb=GB tb=TB inche=inch")
"""Spellings that pint does not read, or reads as something else."""
MEASURED = re.compile(
    rf"(?i)(?P<sign>[-+]|minus\s|negative\s)?(?:(?P<money>{CURRENCY})\s?)?(?P<inner>-(?=\d))?"
    r"(?:(?:(?P<ones>\d{1,4})(?:\s(?:and\s)?|-))?(?P<above>\d{1,4})/(?P<below>[1-9]\d{0,3})(?:rds?|ths?)?(?![\d/]|[.,]\d)"
    rf"|(?P<number>[1-9]\d{{0,2}}(?:[,'\s]\d{{3}})+(?!\s?\d)|\d+(?!\d)|(?=\.\d)|an?(?=\s(?:(?:{LARGE}|{TIMES}|mile|pound|dollar|euro)\b)))"
    r"(?P<decimals>\.\d+(?!\.?\d)|,\d{1,2}(?![\d,])|(?<=\b0),\d+(?![\d,]))?(?:(?P<ordinal>st|nd|rd|th)\b)?)"
    rf"(?:(?:[\s-]|(?<=/\d)(?:\sof)?\san?\s)?(?P<scale>{LARGE}|mn|bn|tn)\b|(?P<short>[kb]|(?-i:M))(?![\w/²³]))?"
    rf"(?:\s?(?P<percent>%|(?:per\s?cent|pct|percentage\spoints?)\b)|(?:[\s-]|(?<=/\d)(?:\sof)?\san?\s)?(?P<price>{CURRENCY}|(?:{'|'.join(MONEY_WORDS)})s?)(?![\w/]*\w)"
    rf"|\s?(?P<symbol>{SYMBOLS})(?![\w²³])|(?:[\s-]|(?<=/\d)(?:\sof)?\san?\s)?(?P<word>{WORDS})(?!\w))?"
    rf"(?P<rate>(?:\s?/\s?|\sper\s|\s(?:an?|each|every)\s)(?P<per>{TIMES}|hr|h|min|s|km|kg|person|night|head|share|lit(?:re|er)|unit)\b)?"
    r"(?P<more>\sand\s(?P<top>\d)/(?P<bottom>[2-9])(?![\d/]))?(?P<zero>\sbelow\s0\b)?"
)
RANGE = re.compile(r"\s?-\s?|\s(?:to|until|till|through)\s|:(?=\d)", re.IGNORECASE)
SHARE = re.compile(r"(?<!number \d)\s(?:in|out\sof)\s(?:every\s)?", re.IGNORECASE)
CODE = re.compile(r"[^\W\d_]+\d[^\W_]*(?!\w)")
ADDRESS = re.compile(
    r"(?<![\w@.-])(?:https?://)?(?:[\w.+-]{1,64}@)?(?:[A-Za-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?:/[^\s]*)?(?![\w@])"
)
"""Addresses of mail and pages, and names of files: every character counts."""
LETTERS = re.compile(r"[^\W\d_]+(?!\w)")
"""Units directly after digits: 80px, 1990s, 2FA."""
JOINED = re.compile(r"\s(?:and\s)?(?=\d)", re.IGNORECASE)
START = re.compile(
    rf"(?i)(?<![^\W_])(?:(?:(?<![\w)\]])[-+])?(?:(?:{CURRENCY})\s?)?-?\.?\d|(?:minus|negative)\s|{MONTH}|an?\s|[^\W\d_]+\d|v\.?\s?\d|(?:version|release)\s)"
)
"""Places where a quantity may begin."""
JOINING = ("time", "length", "mass", "money:USD", "money:EUR", "money:GBP")


class _Token(str):
    """A word or mark, as text2num wants it."""

    def text(self) -> str:
        return str(self)

    text_lowercase = str.lower

    def nt_separated(self, _: _Token) -> bool:
        return False

    def not_a_number_part(self) -> bool:
        return not self.isalpha() and self != "-"


def in_digits(text: str) -> EditedText:
    """Return the text with its numbers in digits."""
    written = EditedText.of(text.translate(ALIKE)).edited(_numbers_in_words(text))
    return written.edited(_fractions(written.text))


def _numbers_in_words(text: str) -> Iterable[tuple[int, int, str]]:
    """Yield the start, the end and the digits of each cardinal and ordinal in words; a second may be a time."""
    with needed("reading number words", '"rome-metric[models]"'):
        from text_to_num import find_numbers
    found = list(NUMBER_TOKEN.finditer(text))
    words = [match[0].lower() for match in found]
    times = {n for n, word in enumerate(words) if word == "second" and (not n or words[n - 1] not in BEFORE_SECOND)}
    tokens = [_Token("." if n in times or word in NOT_JOINED else word) for n, word in enumerate(words)]
    for number in find_numbers(tokens, "en", threshold=0):
        start, end = found[number.start].start(), found[number.end - 1].end()
        if text[start:end].lower() not in SCALES and not text[start:end].isdigit():
            yield start, end, number.text


def _fractions(text: str) -> Iterable[tuple[int, int, str]]:
    """Yield the start, the end and the digits of each fraction, noon and midnight."""
    for found in NUMBER_PART.finditer(text):
        below, few = found["below"], found["few"] if (found["few"] or "a").isdigit() else "1"
        if found[1]:
            space = " " if text[max(0, found.start() - 1) : found.start()].isdigit() else ""
            yield *found.span(), space + unicodedata.normalize("NFKD", found[1]).replace("⁄", "/")
        elif found["name"]:
            yield *found.span(), f"{few}/{2 if found['name'][:3].lower() == 'hal' else 4}"
        elif not below:
            yield *found.span(), "2" if found["two"] else "12:00 p.m." if found["noon"] else "00:00"
        elif found["few"] and bool(found["many"]) == (few != "1") and int(below) > 2:
            yield *found.span(), f"{few}/{below}"


@cache
def _registry() -> Any:
    """Return pint's units, loaded at the first one."""
    with needed("reading units", '"rome-metric[models]"'):
        from pint import UnitRegistry
    return UnitRegistry()


@lru_cache(maxsize=4096)
def in_base_units(value: float, unit: str) -> tuple[str, float] | None:
    """Return the physical dimension and the value in base units, None for an unknown unit."""
    name = re.sub(r"^degrees?\s(?=\w)|^[°º]\s?(?=\w)", "", unit).replace("sq ", "square ").replace("cu ", "cubic ").replace("decade", "decayear")
    name = UNITS.get(name.lower() if name in ("C", "F") else name, name)
    name = re.sub(r"(?<=[mtdi])([23])$", r"^\1", name)
    try:
        base = _registry().Quantity(value, name).to_base_units()
    except Exception:  # pint has no common base of its errors, and its parser raises tokenize's and others
        return None
    dimension = str(base.units if base.dimensionless else base.dimensionality)
    return re.sub(r"[\[\]]", "", dimension), float(base.magnitude)


def quantities_of(text: str, code: Sequence[tuple[int, int]] = ()) -> tuple[Quantity, ...]:
    """Return the quantities of a text, in order, without overlaps, and each of its pieces of code; blanks inside code do not count."""
    written = in_digits(text)
    exact = [Quantity(a, b, "program", re.sub(r"\s+", "", text[a:b])) for a, b in code if text[a:b].strip()]
    addresses = (one for one in ADDRESS.finditer(text) if not any(a <= one.start() < b for a, b in code))
    exact += [Quantity(*one.span(), "address", one[0]) for one in addresses]
    found: list[Quantity] = []
    place = 0
    while (start := START.search(written.text, place)) is not None:
        place = start.start() + 1
        for quantity in _quantities_at(written.text, start.start()):
            place = quantity.end
            value = float(f"{quantity.value:.11e}") if isinstance(quantity.value, float) else quantity.value
            begin, end = (written.place(n, n)[0] for n in (quantity.start, quantity.end))
            own = replace(quantity, start=begin, end=end, value=value)
            if own.start < own.end and (not found or found[-1].end <= own.start):
                found.append(replace(own, sure=own.sure and _is_clear(text, own)))
    if exact:
        found = [one for one in found if not any(one.start < whole.end and whole.start < one.end for whole in exact)]
    return tuple(sorted([*found, *exact], key=lambda one: one.start))


def _is_clear(text: str, quantity: Quantity) -> bool:
    """Return whether number words can only be a number: not *one* alone, *first* without *the*, *half* or *third* without *of*, *a day*."""
    written = text[quantity.start : quantity.end].lower()
    if quantity.dimension == "ordinal":
        return quantity.value > 3 or not written.isalpha() or text[: quantity.start].lower().endswith("the ")
    if quantity.dimension == "ratio" and written[0].isalpha():
        after = text[quantity.end : quantity.end + 4].lower()
        return after.startswith((" of ", " the", " a ")) or re.search(r"cent|pct|\s(?:in|of)\s", written) is not None
    return written not in ("one", "twice", "a couple") and (
        quantity.dimension == "number" or re.fullmatch(r"an?\s\w+", written) is None
    )


def _quantities_at(text: str, start: int) -> list[Quantity]:
    """Return the quantity that starts at a place, the two of a range with units, or none."""
    if (known := _date(text, start) or _clock(text, start) or _characters(text, start)) is not None:
        return [known]
    found = MEASURED.match(text, start)
    if found is None or (first := _measured(found)) is None:
        return []
    joint = RANGE.match(text, first.end)
    between = text[max(0, start - 8) : start].lower() == "between " and text.startswith(" and ", first.end)
    place = first.end + 5 if between else joint.end() if joint is not None else -1
    if place > 0 and (both := _range(text, found, first, place)):
        return both
    joint = SHARE.match(text, first.end) if first.dimension == "number" else None
    second = _measured(MEASURED.match(text, joint.end())) if joint is not None else None
    if second is not None and second.dimension == "number" and 0 <= first.value <= second.value and 1 <= second.value <= 100:
        return [Quantity(start, second.end, "ratio", first.value / second.value)]
    return [_joined(text, found, first)]


def _range(text: str, found: re.Match[str], first: Quantity, place: int) -> list[Quantity]:
    """Return a range of plain numbers, or its two ends where the first gets the scale, unit, month or half of the day of the second."""
    plain = first.dimension == "number"
    if (second := _date(text, place) or _clock(text, place)) is not None:
        if plain and second.dimension == "date" and first.value <= 31:
            return [replace(first, dimension="date", value=(*second.value[:2], int(first.value))), second]
        if plain and second.dimension != "date" and 1 <= first.value <= 12:
            hour = first.value % 12 * 60
            late = second.dimension == "time of day" and text[second.end - 1].lower() in "m." and hour + 720 < second.value
            return [replace(first, dimension=second.dimension, value=hour + 720 * late), second]
        return [first, second]
    after = MEASURED.match(text, place)
    if after is None or (second := _measured(after)) is None or after["sign"]:
        return []
    scale = after["scale"] or after["short"]
    if plain:
        first = _measured(found, after, scale if abs(first.value) < 1000 else None) or first
    elif found["money"] and second.dimension == "number":
        first, second = _measured(found, None, scale) or first, replace(second, dimension=first.dimension)
    if first.dimension == second.dimension == "number":
        century = first.value - first.value % 100 if second.end - place == 2 and 1000 <= first.value < 2200 else 0.0
        ends = first.value, second.value + (century if first.value < century + second.value else 0.0)  # 2011-15
        return [Quantity(first.start, second.end, "score" if ends[0] > ends[1] else "range", ends, first.sure or second.sure)]
    return [first, _joined(text, after, second)]


def _date(text: str, start: int) -> Quantity | None:
    """Read 7 March 2025, March 7th, 2025-03-07, March 2025, and 12/31/2024; 7/3/2025 may be in March or in July."""
    for pattern in DATES:
        if (found := pattern.match(text, start)) is None:
            continue
        name, day = found["m"].lower(), int(found["d"]) if found["d"] else None
        month = int(name) if name.isdecimal() else MONTHS.index(name[:3]) + 1
        verb = name in ("may", "march", "mar") and found.start("m") == start and text[start].islower()
        if not 1 <= month <= 12 or not 1 <= (day or 1) <= 31 or verb:
            continue
        year = int(found["y"]) if found["y"] else None
        sure = not name.isdecimal() or found.start("y") == start or day == month or (day or 0) > 12
        return Quantity(start, found.end(), "date" if sure else "numeric date", (year, month, day), sure)
    return None


def _clock(text: str, start: int) -> Quantity | None:
    """Read 9:00, 9 a.m., nine o'clock, half past nine, quarter to ten as minutes after midnight."""
    found = CLOCK.match(text, start)
    if found is None:
        return None
    part, hour, shift = (found["part"] or "").lower(), int(found["h"]), found["shift"]
    half = (found["x"] or {"": "", "morning": "a"}.get(part, "p")).lower()
    told = found["mark"] == ":" or found["hour"] or half or found["side"]
    unclear = (found["side"] or "").lower() == "to" and not (
        found["minutes"] or shift == "1/4" or text.endswith(" at ", 0, start)
    )
    if not told or unclear or hour > 24 or (half and hour > 12):
        return None
    if part == "night" and (hour < 6 or hour == 12):
        half = "a"
    minutes = int(found["m"] or 0)
    if shift:
        minutes += (60 // int(shift[2:]) if "/" in shift else int(shift)) * (1 if found["side"].lower() == "past" else -1)
    bare = not half and 1 <= hour <= 12 and not found["h"].startswith("0")
    hour = hour % 12 + 12 * (half == "p") if half else hour
    return Quantity(start, found.end(), "time of day (12 h)" if bare else "time of day", float((hour * 60 + minutes) % 1440))


def _characters(text: str, start: int) -> Quantity | None:
    """Read what must be the same to the last character: v2.10 and 1.2.3, B12 and IPv6, 4 4 7 1 and 555-123-4567."""
    if (version := VERSION.match(text, start)) is not None:
        return Quantity(start, version.end(), "version", version[1] or version[2])
    if (code := CODE.match(text, start)) is not None:
        return Quantity(start, code.end(), f"code {re.sub(r'[0-9]+', '#', code[0].lower())}", code[0])
    found = SEQUENCE.match(text, start)
    return found and Quantity(start, found.end(), "sequence", re.sub(r"\D", "", found[0]))


def _measured(found: re.Match[str] | None, other: re.Match[str] | None = None, scale: str | None = None) -> Quantity | None:
    """Return a number with its sign, currency, percent sign, unit or rate; of a range, the other end gives what the first lacks."""
    if found is None:
        return None
    start, end, parts = found.start(), found.end(), found.groupdict()
    if parts["ordinal"] or not (parts["percent"] or parts["price"] or parts["symbol"] or parts["word"] or parts["money"]):
        end = max(found.end(name) for name in ("below", "number", "decimals", "ordinal", "scale", "short"))
        parts |= {
            name: other[name] if other else None for name in ("percent", "price", "symbol", "word", "per", "more", "money")
        }
    digits = re.sub(r"[,'\s]", "", (parts["number"] or "").lower())
    digits = "1" if digits in ("a", "an") else digits
    if parts["number"] is None:
        dimension = "number" if parts["ones"] else "ratio"
        value = float(parts["ones"] or 0) + int(parts["above"]) / int(parts["below"])
        sure = bool(parts["ones"]) or value < 1 and int(parts["below"]) <= 100
    else:
        value, dimension = float(f"{digits or 0}{(parts['decimals'] or '').replace(',', '.')}"), "number"
        sure = not (parts["decimals"] or "").startswith(",") and not (digits.startswith("0") and len(digits) > 1)
        sure = sure and not (len(digits) == 2 and found.string[max(0, start - 1) : start] == "'")
    if parts["money"] and (parts["symbol"] or "") in ("m", "b"):
        scale = parts["symbol"]
    if scale := scale or parts["scale"] or parts["short"]:
        value, dimension = value * SHORT_SCALES[scale.lower()], "number"
    value = -value if parts["sign"] not in (None, "+") or parts["inner"] or parts["zero"] else value
    if parts["ordinal"]:
        return Quantity(start, end, "ordinal", value)
    if parts["percent"]:
        return Quantity(
            start, end, "points" if parts["percent"].lower().startswith("percentage") else "ratio", value / 100, sure
        )
    size = 0.0
    if not other and (letters := LETTERS.match(found.string, end)) is not None:
        return Quantity(start, letters.end(), letters[0].lower(), value, sure)
    if name := parts["money"] or parts["price"]:
        name = name.lower() if name.lower() in CURRENCIES else name.lower().removesuffix("s")
        code = CURRENCIES.get(name) or MONEY_WORDS[name]
        dimension = code if code in ("pounds", "cents") else f"money:{code}"
        value /= 100 if name in ("cent", "¢", "p", "pence") else 1
    elif unit := parts["symbol"] or (parts["word"] or "").lower():
        base, one = in_base_units(value, unit), in_base_units(1.0, unit)
        if base is None or one is None:
            return None
        (dimension, value), size = base, one[1]
    if parts["more"]:
        value += size * int(parts["top"]) / int(parts["bottom"])
    if parts["per"] and dimension not in ("number", "ratio"):
        per = in_base_units(1.0, parts["per"].lower()) or (parts["per"].lower(), 1.0)
        dimension, value = f"{dimension} / {per[0]}", value / per[1]
    return Quantity(start, end, dimension, value, sure)


def _joined(text: str, found: re.Match[str], first: Quantity) -> Quantity:
    """Add the smaller unit that belongs to a quantity: 1 hour 30 minutes, 5 dollars and 20 cents."""
    joint = JOINED.match(text, first.end) if first.dimension in JOINING else None
    second = _measured(MEASURED.match(text, joint.end())) if joint is not None else None
    one = in_base_units(1.0, found["symbol"] or (found["word"] or "cent").lower())
    size = one[1] if one is not None and not first.dimension.startswith("money") else 1.0
    if second is None or second.dimension not in (first.dimension, "cents") or not 0 < second.value < size:
        return first
    return replace(first, end=second.end, value=first.value + second.value)

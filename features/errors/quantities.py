"""Read the values in an English text: numbers, money, clock times, dates, durations and other units, versions, scores, codes.

A value is the same however it is written: *9 a.m.* and *9:00*, *$1,000* and *1000 dollars*, *90 minutes* and *an hour and a half*.
`features/errors/quantity_pairs.py` compares the values of two texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from ..packages import import_failed
from .number_words import ORDINAL, STARTS, VULGAR, Number, alternatives, read_number


def table(pairs: str) -> dict[str, str]:
    """Return a mapping from its pairs, each of them key=value."""
    return dict(pair.split("=") for pair in pairs.split())


@dataclass(frozen=True, slots=True)
class Quantity:
    """The value of ``text[start:end]``.

    Attributes
    ----------
    dimension
        "number", "ratio" (a fraction or percentage), "ordinal", "sequence" (of digits), "range", "score", "version", "code", "date",
        "time of day", "money:USD" and so on, or a physical dimension such as "length" or "time"; "... range" for a range of these.
        Two ambiguous units are their own dimensions: "pounds" and "cents". "time of day (12 h)" is a time without a.m. or p.m.
    value
        A float in base units; for a range or score the two ends, for a date (year, month, day), each of them None where it is not written;
        for sequences and codes the characters. Values of one dimension are comparable.
    sure
        False where the words may mean something else.
    """

    start: int
    end: int
    dimension: str
    value: Any
    sure: bool = True


Reader = Callable[[str, str, int], Quantity | None]

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
DAY = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?|(?:(?:twenty|thirty)[\s-])?{ORDINAL})"
DATES = (
    re.compile(r"(?P<y>\d{4})(?P<mark>[-/.])(?P<m>\d\d?)(?P=mark)(?P<d>\d\d?)(?!\w|[-/]\d)"),
    re.compile(rf"(?P<d>{DAY})(?:\sof)?[\s-](?P<m>{MONTH})(?!\w)\.?(?:,?[\s-](?P<y>\d{{4}})(?![\w]|[,.]\d))?"),
    re.compile(rf"(?P<m>{MONTH})\.?\s(?:the\s)?(?P<d>{DAY})(?![\w:]|[.,]\d)(?:,?\s(?P<y>\d{{4}})(?![\w]|[,.]\d))?"),
    re.compile(rf"(?P<m>{MONTH})\.?,?\s(?P<y>\d{{4}})(?![\w]|[,.]\d)(?P<d>)"),
)
NUMERIC_DATE = re.compile(r"(\d\d?)([-/.])(\d\d?)\2(\d{4}|\d\d)(?![\w]|[-/.]\d)")

HOURS = "one two three four five six seven eight nine ten eleven twelve".split()
HOUR = rf"(?:\d{{1,2}}|{alternatives(HOURS)})"
HALF_DAY = r"(?:\s?(?P<x>[ap])(?:\.\s?m\b\.?|\s?m(?!\w)\.?)|\s(?:in\sthe|at)\s(?P<part>morning|afternoon|evening|night)(?!\w))"
CLOCKS = (
    re.compile(rf"(?P<h>\d\d?):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d))?(?![\d:]){HALF_DAY}?"),
    re.compile(
        rf"(?P<h>{HOUR})(?:\.(?P<m>[0-5]\d))?(?:\so['’]?clock(?!\w){HALF_DAY}?|{HALF_DAY.replace('<x>', '<y>').replace('<part>', '<parts>')})"
    ),
    re.compile(
        rf"(?:an?\s)?(?P<part_of>half|quarter|five|ten|twenty(?:[\s-]five)?|\d\d?)(?P<minutes>\sminutes)?\s(?P<side>past|to)\s(?P<h>{HOUR})(?!\w){HALF_DAY}?"
    ),
)
TELLS_TIME = re.compile(r"\b(?:at|by|until|before|after)\s$")
"""Before "ten to one", which is a score or a range elsewhere."""
NAMED_TIMES = re.compile(r"(?:(?:12|twelve)\s)?(noon|midday|midnight)(?!\w)")

VERSION = re.compile(
    r"(?:(?:version|release)\sv?\.?|v\.?\s?)(\d+(?:\.\d+)*)((?:-?(?:alpha|beta|rc))?\.?\d*)(?![\w]|\.\d)|(\d+(?:\.\d+){2,})(?!\w)"
)
SEQUENCE = re.compile(r"\+?\d+(?:\)?[ -]\d+){2,}(?![\d/:])|\d(?: \d)+(?![\d/:%]|\.\d)")
IN_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?: \d{3})+")
CODE = re.compile(r"[^\W\d_]+\d\w*|\d+[^\W\d_]+\w*")
KNOWN_ENDINGS = re.compile(r"\d+(?:x|s)(?!\w)")
DECADE = re.compile(r"['’]?(\d{1,3}0)['’]?s(?!\w)")

CODES = "usd eur gbp jpy chf cny inr aud sek nok dkk pln rub".split()
CURRENCIES = table("$=USD us$=USD €=EUR £=GBP ¥=JPY ₹=INR ₽=RUB ₩=KRW a$=AUD c$=CAD") | {code: code.upper() for code in CODES}
MONEY_WORDS = table(
    "dollar=USD buck=USD euro=EUR yen=JPY yuan=CNY rupee=INR rouble=RUB ruble=RUB franc=CHF peso=peso quid=GBP pence=GBP"
)
MONEY_WORDS |= table("p=GBP penny=GBP pennies=GBP pound= cent= ¢= krone=krone kroner=krone krona=krona kronor=krona")
MONEY_WORDS |= {"pound sterling": "GBP", "pounds sterling": "GBP"}
"""Names of currencies; "" where they are ambiguous."""
HUNDREDTHS = ("cent", "pence", "p", "penny", "pennies", "¢")
PREFIX = re.compile(rf"(?P<sign>[-−–+]|minus\s|negative\s)?(?:(?P<money>{alternatives(CURRENCIES)})\s?)?(?P<inner>[-−](?=\d))?")
MONEY = re.compile(rf"[\s-]?(?:us\s|u\.s\.\s|american\s)?({alternatives([*CURRENCIES, *MONEY_WORDS])})s?(?!\w)")
MONEY_SCALE = re.compile(r"\s?([mbt])(?!\w)")
PERCENT = re.compile(r"\s?(%|‰)|[\s-]?(?:per\s?cent|pct)(?!\w)|\s(percentage\spoints?|pp)(?!\w)")

TIMES = r"(?:second|minute|hour|day|week|fortnight|month|year|decade)"
METRIC = r"(?:kilo|centi|milli|mega|giga|tera|micro|nano)?"
METRIC += r"(?:met(?:er|re)|gram(?:me)?|lit(?:er|re)|watt(?:[\s-]hour)?|byte|bit|joule|volt|pascal|calorie)"
OTHER = "inche?|foot|feet|yard|mile|ounce|stone|ton|tonne|acre|hectare|gallon|pint|quart|cup|tablespoon|teaspoon|knot|hertz|centurie|century"
WORDS = rf"(?:(?:square|cubic|sq\.?|cu\.?)\s)?(?:{METRIC}|{OTHER}|{TIMES}|sec|min|hr|yr|lb|ft)s?"
DEGREES = r"degrees?\s?(?:celsius|centigrade|fahrenheit|c|f)|degrees?|celsius|fahrenheit"
UNIT_WORDS = re.compile(rf"[\s-]?({WORDS}|{DEGREES}|kilos?)(?!\w)")
SYMBOLS = (
    r"(?:[kcdmnµμ]?m|ft|yd|mi)(?:[²³]|\^?[23])?|[kmµμ]?g|oz|t|[mcdhµμ]?[lL]|ms|s|h|ha|[kMG]?Hz|[kMGTm]?Wh?|[kM]?J|[km]?V|k?cal"
)
SYMBOLS += r"|[kKMGTP]i?[Bb]|[kmgt]b|[kh]?Pa|psi|[°º]\s?[CcFf]|[CF]|km/h|kmh|kph|mph|m/s|°"
UNIT_SYMBOLS = re.compile(rf"\s?({SYMBOLS})(?![\w²³])")
UNITS = table(
    "celsius=degC centigrade=degC c=degC C=degC fahrenheit=degF f=degF F=degF °=degree feet=foot centurie=century yr=year"
)
UNITS |= table(
    "h=hour s=second t=tonne kilo=kg kmh=km/hour km/h=km/hour kph=km/hour mph=mile/hour m/s=m/second kb=kB KB=kB mb=MB gb=GB tb=TB"
)
"""Spellings that pint does not read, or reads as something else."""
ONE_UNIT = re.compile(rf"an?\s(?=(?:{TIMES}|mile|kilomet(?:er|re)|lit(?:er|re)|pound|dollar|euro)(?!\w))")
OF_UNIT = re.compile(r"(?:\sof)?\san?(?=\s)")
RATE = re.compile(
    rf"(?:\s?/\s?|\s?per\s|\s(?:an?|each|every)\s)({TIMES}|hr|h|min|s|km|kg|person|night|head|share|litre|liter|unit)(?!\w)"
)
HALF_MORE = re.compile(r"\sand\s(a half|a quarter|three quarters)(?!\w)")
MORE = {"a h": 0.5, "a q": 0.25, "thr": 0.75}
JOINING = ("time", "length", "mass", "pounds", "money:USD", "money:EUR")
JOINED = re.compile(r",?\sand\s(?=\d|[a-z])|,?\s(?=\d)|(?<=[hm])(?=\d)")
RANGE = re.compile(r"\s?[-–—−]\s?|\s(?:to|until|till|through)\s|:(?=\d)")
SHARE = re.compile(r"\s(?:in|out\sof)\s(?:every\s)?")
START = re.compile(
    rf"(?<![^\W_])(?:(?:(?<![\w)\]])[-−–+])?(?:(?:{alternatives(CURRENCIES)})\s?)?-?\.?\d|{VULGAR.pattern}"
    rf"|[^\W\d_]+\d|(?:{STARTS}|(?:minus|negative)\s(?={STARTS}|\d|[$€£¥])|noon(?!\w)|mid(?:day|night)(?!\w)|{MONTH}(?=\.?,?\s(?:the\s)?{DAY})|(?:version|release)\s\d"
    rf"|{ONE_UNIT.pattern}))"
)
"""Where a quantity may begin."""


@cache
def _registry() -> Any:
    """Return pint's units, loaded at the first one."""
    try:
        from pint import UnitRegistry
    except ImportError as error:
        raise import_failed(error, "reading units", '"rome-metric[models]"') from error
    return UnitRegistry()


@lru_cache(maxsize=4096)
def in_base_units(value: float, unit: str) -> tuple[str, float] | None:
    """Return the physical dimension and the value in base units, None for an unknown unit."""
    registry = _registry()
    try:
        base = registry.Quantity(value, unit).to_base_units()
    except Exception:  # pint has no common base of its errors, and its parser raises tokenize's and others
        return None
    name = str(base.units if base.dimensionless else base.dimensionality)
    return re.sub(r"[\[\]]", "", name), float(base.magnitude)


def quantities_of(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of a text, in order, without overlaps."""
    lowered = text.lower()
    low = lowered if len(lowered) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    found: list[Quantity] = []
    place = 0
    while (start := START.search(low, place)) is not None:
        quantity = _quantity_at(text, low, start.start())
        place = start.start() + 1 if quantity is None else quantity.end
        if quantity is not None:
            found.append(quantity)
    return tuple(found)


def _quantity_at(text: str, low: str, start: int) -> Quantity | None:
    """Read one quantity, or a range of two."""
    first = next((found for read in READERS if (found := read(text, low, start)) is not None), None)
    if first is None or first.dimension in ("sequence", "code", "version"):
        return first
    if (share := _share(text, low, first)) is not None:
        return share
    between = low.startswith("between ", max(0, start - 8)) and low.startswith(" and ", first.end)
    joint = RANGE.match(low, first.end)
    if not between and joint is None:
        return first
    place = first.end + 5 if between else joint.end() if joint is not None else 0
    return _range(text, low, first, place) or first


def _share(text: str, low: str, first: Quantity) -> Quantity | None:
    """Read one in three, 3 out of 4."""
    joint = SHARE.match(low, first.end) if first.dimension == "number" else None
    second = _measured(text, low, joint.end()) if joint is not None else None
    if second is None or second.dimension != "number" or not 0 <= first.value <= second.value:
        return None
    alike = low[first.start].isalpha() == low[second.start].isalpha()  # not "number one in 10 countries"
    fits = 1 <= second.value <= 100 or second.value in (1e3, 1e4, 1e5, 1e6)
    return Quantity(first.start, second.end, "ratio", first.value / second.value) if alike and fits else None


def _range(text: str, low: str, first: Quantity, place: int) -> Quantity | None:
    """Join two ends, the second at a place; a unit, a scale or a month that only the second has is that of the first too."""
    second = next((found for read in (_date, _clock, _measured) if (found := read(text, low, place)) is not None), None)
    if second is None:
        return None
    one, two, dimension, plain = first.value, second.value, second.dimension, first.dimension == "number"
    number = read_number(text, low, PREFIX.match(low, place).end())  # type: ignore[union-attr]
    scale = number.scale if number is not None and isinstance(one, float) and abs(one) < 1000 else 1.0
    if dimension.startswith("time of day"):
        one, dimension = _first_time(low, first, second)
    elif plain and dimension == "date":
        one = (*two[:2], one)
    elif plain and dimension != "number" and number is not None:
        again = _measured(text, low, first.start, number.end)
        one, dimension = (again.value * scale, dimension) if again is not None and again.dimension == dimension else (one, "")
    elif dimension in (first.dimension, "number") and (plain or first.dimension.startswith("money")):
        one, dimension = one * scale, first.dimension
    elif dimension != first.dimension:
        return None
    if dimension == "number":
        if second.end - place == 2 and 1000 <= one < 2200 and one % 100 < two < 100:
            two += one - one % 100  # 2011-15
        dimension = "score" if one > two else "range"
    elif dimension:
        dimension += " range"
    return Quantity(first.start, second.end, dimension, (one, two), first.sure or second.sure) if dimension else None


def _first_time(low: str, first: Quantity, second: Quantity) -> tuple[float, str]:
    """Return the first time of 9 to 5 p.m., 7 to 9 p.m., 9:00 to 17:00, and the dimension of both; "" where it is no time."""
    one = first.value
    if first.dimension == "number" and 1 <= one <= 12:
        one = one % 12 * 60
    elif not first.dimension.startswith("time of day"):
        return one, ""
    if first.dimension == "time of day" or second.dimension != "time of day":
        return one, first.dimension if first.dimension != "number" else second.dimension
    afternoon = not low[second.end - 1].isdecimal() and one + 720 < second.value
    return one + 720 * afternoon, second.dimension


def _date(text: str, low: str, start: int) -> Quantity | None:
    """Read 7 March 2025, March 7th, 2025-03-07, March 2025, and 7/3/2025, which is unsure unless one number must be the day."""
    for pattern in DATES:
        found = pattern.match(low, start)
        if found is None:
            continue
        name, written = found["m"], found["d"]
        month = int(name) if name.isdecimal() else MONTHS.index(name[:3]) + 1
        number = read_number(text, low, found.start("d")) if written else None
        day = int(number.value) if number is not None else None
        verb = name in ("may", "march", "mar") and found.start("m") == start and text[start].islower()
        if month > 12 or not 1 <= (day or 1) <= 31 or verb:
            continue
        return Quantity(start, found.end(), "date", (int(found["y"]) if found["y"] else None, month, day))
    found = NUMERIC_DATE.match(low, start)
    if found is None:
        return None
    one, two, year = int(found[1]), int(found[3]), int(found[4]) + (2000 if len(found[4]) == 2 else 0)
    if max(one, two) > 31 or min(one, two) > 12 or min(one, two) < 1:
        return None
    if one != two and max(one, two) <= 12:
        return Quantity(start, found.end(), "numeric date", (year, one, two), False)
    return Quantity(start, found.end(), "date", (year, min(one, two), max(one, two)))


def _clock(text: str, low: str, start: int) -> Quantity | None:
    """Read 9:00, 9 a.m., noon, nine o'clock, half past nine, quarter to ten as minutes after midnight."""
    if (named := NAMED_TIMES.match(low, start)) is not None:
        return Quantity(start, named.end(), "time of day", 0.0 if named[1] == "midnight" else 720.0)
    for pattern in CLOCKS:
        found = pattern.match(low, start)
        if found is None:
            continue
        parts = found.groupdict()
        clear = parts.get("part_of") == "quarter" or parts.get("minutes") or TELLS_TIME.search(low[max(0, start - 8) : start])
        hour = int(parts["h"]) if parts["h"].isdecimal() else HOURS.index(parts["h"]) + 1
        half = parts["x"] or parts.get("y") or {"morning": "a", None: ""}.get(parts["part"] or parts.get("parts"), "p")
        if hour > 24 or (half and hour > 12) or (parts.get("side") == "to" and not clear):
            continue
        if "night" in (parts["part"], parts.get("parts")) and (hour < 6 or hour == 12):
            half = "a"
        minutes = float(parts.get("m") or 0) + float(parts.get("s") or 0) / 60
        if parts.get("part_of"):
            number = read_number(text, low, found.start("part_of"))
            shift = {"half": 30, "quarter": 15}.get(parts["part_of"]) or int(number.value if number is not None else 0)
            minutes += shift if parts["side"] == "past" else -shift
        bare = not half and 1 <= hour <= 12 and not parts["h"].startswith("0")
        hour = hour % 12 + 12 * (half == "p") if half else hour
        return Quantity(start, found.end(), "time of day (12 h)" if bare else "time of day", (hour * 60 + minutes) % 1440)
    return None


def _version(text: str, low: str, start: int) -> Quantity | None:
    """Read v2.10, version 3, 1.2.3 as strings: 2.10 is not 2.1."""
    found = VERSION.match(low, start)
    if found is None:
        return None
    return Quantity(start, found.end(), "version", (*(found[1] or found[3]).split("."), found[2] or ""))


def _sequence(text: str, low: str, start: int) -> Quantity | None:
    """Read 4 4 7 1 and 555-123-4567 as digits."""
    found = SEQUENCE.match(low, start)
    if found is None or IN_THOUSANDS.fullmatch(found[0]):
        return None
    return Quantity(start, found.end(), "sequence", "".join(str(int(c)) for c in found[0] if c.isdecimal()))


def _decade(text: str, low: str, start: int) -> Quantity | None:
    """Read 1990s; 30s may be an age or a decade."""
    found = DECADE.match(low, start)
    return None if found is None else Quantity(start, found.end(), "decade", float(found[1]), int(found[1]) > 999)


def _code(text: str, low: str, start: int) -> Quantity | None:
    """Read what joins letters and digits, such as B12 or 2FA."""
    found = CODE.match(low, start)
    return None if found is None else Quantity(start, found.end(), "code", found[0])


def _measured(text: str, low: str, start: int, unit_at: int | None = None) -> Quantity | None:
    """Read a number with its sign, currency, percent sign or unit.

    Parameters
    ----------
    unit_at
        Where the unit is, by default right after the number.
    """
    one = ONE_UNIT.match(low, start)
    if one is not None:
        found = _with_unit(text, low, start, Number(one.end() - 1, 1.0, sure=False), one.end() - 1)
        return found and _joined(text, low, found, found.value)
    prefix = PREFIX.match(low, start)
    number = read_number(text, low, prefix.end()) if prefix is not None else None
    if prefix is None or number is None:
        return None
    if prefix["money"] and (scale := MONEY_SCALE.match(low, number.end)) is not None:
        number = Number(scale.end(), number.value * {"m": 1e6, "b": 1e9, "t": 1e12}[scale[1]])
    if (prefix["sign"] or "+") != "+" or prefix["inner"]:
        number = replace(number, value=-number.value, digits="", kind="number" if number.kind == "sequence" else number.kind)
    if prefix["money"]:
        return _rate(low, Quantity(start, number.end, f"money:{CURRENCIES[prefix['money']]}", number.value))
    measured = _with_unit(text, low, start, number, number.end if unit_at is None else unit_at)
    if measured is not None:
        return _joined(text, low, measured, measured.value / number.value) if unit_at is None and number.value else measured
    if number.end < len(low) and (low[number.end].isalnum() and not KNOWN_ENDINGS.match(low, start)):
        return _code(text, low, start)
    return Quantity(start, number.end, number.kind, number.digits if number.kind == "sequence" else number.value, number.sure)


def _with_unit(text: str, low: str, start: int, number: Number, place: int) -> Quantity | None:
    """Read the percent sign, currency or unit at a place; None where there is none."""
    value, sure = number.value, number.sure or number.value == 1.0
    if number.kind == "ratio" and (of := OF_UNIT.match(low, place)) is not None:
        place = of.end()
    if (percent := PERCENT.match(low, place)) is not None:
        if percent[2]:
            return Quantity(start, percent.end(), "percentage points", value)
        return Quantity(start, percent.end(), "ratio", value / (1000 if percent[1] == "‰" else 100))
    if (money := MONEY.match(low, place)) is not None and number.kind not in ("ordinal", "sequence"):
        word = money[1]
        code = CURRENCIES.get(word) or MONEY_WORDS[word]
        dimension = f"money:{code}" if code else "pounds" if word == "pound" else "cents"
        value /= 100 if word in HUNDREDTHS else 1
        return _rate(low, Quantity(start, money.end(), dimension, value, sure))
    unit = UNIT_SYMBOLS.match(text, place) or UNIT_WORDS.match(low, place)
    if unit is None or number.kind in ("ordinal", "sequence"):
        return None
    name = pint_name(unit[1])
    sure = number.sure if low.startswith("a", start) else sure
    if (rate := RATE.match(low, unit.end())) is not None and (
        per := in_base_units(value, f"{name}/{UNITS.get(rate[1], rate[1])}")
    ):
        return Quantity(start, rate.end(), per[0], per[1], sure)
    base = in_base_units(value, name)
    return None if base is None else _rate(low, Quantity(start, unit.end(), base[0], base[1], sure))


def pint_name(unit: str) -> str:
    """Return pint's spelling of a unit."""
    if unit in UNITS:
        return UNITS[unit]
    unit = re.sub(r"^degrees?\s?(?=\w)|^[°º]\s?(?=\w)", "", unit)
    power = re.match(r"(square|sq|cubic|cu)\.?\s", unit)
    single = unit[power.end() if power else 0 :]
    single = (
        UNITS.get(single)
        or UNITS.get(single.lower() if len(single) == 1 and single in "cf" else single.removesuffix("s"))
        or single
    )
    single = re.sub(r"\^?([23])$", r"**\1", re.sub(r"[\s-]", "*", single)).replace("gramme", "gram")
    return f"({single})**{2 if power[1].startswith('sq') else 3}" if power else single


def _rate(low: str, quantity: Quantity) -> Quantity:
    """Divide by what follows "per"; a rate per hour and one per minute are comparable, one per person is its own dimension."""
    found = RATE.match(low, quantity.end)
    if found is None or quantity.dimension == "time":
        return quantity
    base = in_base_units(1.0, UNITS.get(found[1], found[1]))
    name, value = (found[1], quantity.value) if base is None else (base[0], quantity.value / base[1])
    return replace(quantity, end=found.end(), dimension=f"{quantity.dimension} / {name}", value=value)


def _joined(text: str, low: str, first: Quantity, size: float) -> Quantity:
    """Add the smaller units that belong to a quantity: an hour and a half, 1 hour 30 minutes, 5 dollars and 20 cents.

    Parameters
    ----------
    size
        The value of one unit of the first.
    """
    if first.dimension not in JOINING:
        return first
    if (more := HALF_MORE.match(low, first.end)) is not None:
        return replace(first, end=more.end(), value=first.value + size * MORE[more[1][:3]], sure=True)
    for _ in range(3):
        joint = JOINED.match(low, first.end)
        number = read_number(text, low, joint.end()) if joint is not None else None
        second = _with_unit(text, low, joint.end(), number, number.end) if joint is not None and number is not None else None
        if (
            number is None
            or second is None
            or second.dimension not in (first.dimension, "cents")
            or not 0 < second.value < size
        ):
            break
        first, size = replace(first, end=second.end, value=first.value + second.value, sure=True), second.value / number.value
    return first


READERS: tuple[Reader, ...] = (_date, _clock, _version, _sequence, _decade, _measured, _code)

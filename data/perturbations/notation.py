"""The same text in another notation: contractions, numbers, times, units, spellings, abbreviated names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

from rome.data.perturbations.numbers import CARDINALS, ordinal_ending

from .lexicons import MONTHS, alternatives, names_of, table, word_sequence, word_set
from .perturbation import Change, NotApplicable, Outcome, Parse, in_case_of, of_relation, perturbation

NOT_FORMS = {"will": "won't", "can": "can't", "shall": "shan't"}
NEGATED = tuple("do does did is are was were has have had would could should will can must".split())
EXPANDED = {"'re": "are", "'ve": "have", "'ll": "will", "'m": "am"}
CONTRACTED = {"am": "'m", "are": "'re", "is": "'s", "has": "'s", "have": "'ve", "had": "'d", "will": "'ll", "would": "'d"}
CONTRACTS_WITH = alternatives("notation.contracts_with")
TENS = ("", "", *"twenty thirty forty fifty sixty seventy eighty ninety".split())
ORDINALS = (*word_sequence("notation.ordinals"), "twenty-first")
SMALL = (
    "(?:(?:" + "|".join(TENS[2:]) + ")(?:-(?:" + "|".join(CARDINALS[1:10]) + "))?|" + "|".join(reversed(CARDINALS[2:])) + ")"
)
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
FRACTIONS = (
    r"(?![\s-](?:thirds?|quarters?|fifths?|sixths?|eighths?|tenths?|half|halves|hundred|thousand|million|billion|and|or|to)\b)"
)
MONTH = "(" + "|".join(MONTHS) + ")"
DAYS = {"Monday": "Mon.", "Tuesday": "Tue.", "Wednesday": "Wed.", "Thursday": "Thu.", "Friday": "Fri.", "Saturday": "Sat."}
DECADES = {"60": "sixties", "70": "seventies", "80": "eighties", "90": "nineties"}
UNITS = alternatives("notation.units")
SPEEDS = tuple((unit, *names) for unit, names in alternatives("notation.speeds").items())
CURRENCIES = {"$": "dollars", "€": "euros", "£": "pounds", "US$": "US dollars", "¥": "yen"}
LIGHT = word_sequence("notation.light")
MEASURES = word_sequence("notation.measures")
ONE_WAY = frozenset("tire tires check checks story stories program license curb practice draft jewelry mold plow".split())
"""American spellings that are other words, too: only the British one changes."""
AMBIGUOUS = word_set("notation.ambiguous")
"""Abbreviations with several long forms: only the long form changes."""


def several(parse: Parse, spots: Iterable[Change], reason: str, most: int = 3) -> Outcome:
    """One to ``most`` of the exchanges, those that neither overlap nor touch, in an order drawn; articles are put right."""
    order = list(spots)
    parse.rng.shuffle(order)
    wanted, taken = parse.rng.randint(1, most), list[Change]()
    for start, end, new in order:
        changes = parse.replace(start, end, at_start(parse, start, new))
        free = all(one[1] < other[0] or other[1] < one[0] for one in changes for other in taken)
        if wanted and free and parse.text[start:end] != changes[-1][2]:
            taken += changes
            wanted -= 1
    return parse.finish(taken, reason) if taken else NotApplicable(reason)


def at_start(parse: Parse, start: int, new: str) -> str:
    """The new text with a capital where it starts a sentence that starts with one."""
    capital = parse.text[start : start + 1].isupper() and parse.starts_sentence(start)
    return new[:1].upper() + new[1:] if capital else new


def word_at(parse: Parse, start: int) -> int | None:
    """The index of the word that holds a character, or None."""
    return next((n for n, word in enumerate(parse.words) if word.start <= start < word.end), None)


def _matches(parse: Parse, pattern: str, make: Callable[[re.Match[str]], str | None]) -> Iterator[Change]:
    """A change for each match of a pattern that something is made of."""
    for match in re.finditer(pattern, parse.text):
        new = make(match)
        if new:
            yield match.start(), match.end(), new


@perturbation("robustness", "contraction", "none")
def contraction_changed(parse: Parse) -> Outcome:
    """Contractions written out, or full forms contracted: *did not* -> *didn't*, *it's* -> *it is*."""
    spots = [*_not_forms(parse), *_clitics(parse), *_helpers(parse)]
    return several(parse, spots, "nothing that is or can be contracted")


def _not_forms(parse: Parse) -> Iterator[Change]:
    """*not* after an auxiliary, contracted or written out, where the subject does not follow."""
    for match in re.finditer(
        r"\b(\w+?)(n['’]t| not)\b(?! only)|\b(cannot|can't|can’t|can not|let's|let’s)\b(?! only)", parse.text, re.I
    ):
        low = match.group().lower().replace("’", "'")
        whole = alternatives("notation.whole_forms")
        place = word_at(parse, match.end() - 1)
        head = parse.words[place].head if place is not None else -1
        subject = parse.subject(head) if head >= 0 else None
        if place is None or (subject is not None and subject > place) or match.group()[1:2].isupper():
            continue
        if re.match(r" (?:\w+ )?(?:i|you|he|she|we|they|it|there)\b", parse.text[match.end() :], re.I):
            continue
        if low in whole:
            yield match.start(), match.end(), in_case_of(parse.rng.choice(whole[low]), match.group())
        elif low.endswith("n't") and low[:-3] in NEGATED:
            yield match.start(), match.end(), f"{match.group()[:-3]} not"
        elif low.endswith(" not") and low[:-4] in NEGATED and re.match(r" \w", parse.text[match.end() :]):
            yield match.start(), match.end(), in_case_of(NOT_FORMS.get(low[:-4], f"{low[:-4]}n't"), match.group())


def _clitics(parse: Parse) -> Iterator[Change]:
    """Contracted auxiliaries written out: *'s* is *is* or *has*, *'d* is *would* or *had*, by what they stand before."""
    for n, word in enumerate(parse.words):
        low = word.text.lower().replace("’", "'")
        if word.upos not in ("AUX", "VERB") or not n or parse.text[word.start : word.end] != word.text or word.head < n:
            continue
        head = parse.words[word.head]
        tail = parse.text[word.end :]
        new = EXPANDED.get(low, "")
        if low == "'s" and of_relation(word, "aux", "cop"):
            perfect = re.match(r" (?:\w+ly |already |never |just |not |always |also )?(?:been|had|got|become)\b", tail)
            new = "has" if perfect or (head.xpos == "VBN" and word.relation == "aux") else "is"
        if low == "'d":
            new = "had" if head.xpos == "VBN" or re.match(r" better\b", tail) else "would" if head.xpos == "VB" else ""
        if new and tail[:1] == " " and parse.text[word.start - 1].isalpha():
            yield word.start, word.end, f" {new}"


def _helpers(parse: Parse) -> Iterator[Change]:
    """Auxiliaries contracted with the pronoun before them, where what they belong to follows; seldom *will* with a noun."""
    for n, word in enumerate(parse.words):
        low = word.text.lower()
        if not n or low not in CONTRACTED or not of_relation(word, "aux", "cop") or word.head <= n or word.text != low:
            continue
        before = parse.words[n - 1]
        pronoun = before.text.lower() in CONTRACTS_WITH[low] and before.xpos != "WDT"
        noun = low == "will" and before.xpos == "NN" and parse.rng.random() < 0.1
        joined = parse.text[before.end : word.start] == " " and re.match(r" \w", parse.text[word.end :])
        if (pronoun or noun) and joined and before.head == word.head and of_relation(before, "nsubj", "expl"):
            yield before.end, word.end, CONTRACTED[low]


def in_words(value: int) -> str | None:
    """A whole number below a hundred, or a round one, in words."""
    if value < 20:
        return CARDINALS[value]
    if value < 100:
        return TENS[value // 10] + (f"-{CARDINALS[value % 10]}" if value % 10 else "")
    for name, scale in reversed(SCALES.items()):
        if value >= scale and value % scale == 0 and value // scale < 100:
            return f"{in_words(value // scale)} {name}"
    return None


def value_of(words: str) -> int:
    """The value of a number below a hundred in words."""
    return sum(CARDINALS.index(part) if part in CARDINALS else 10 * TENS.index(part) for part in words.lower().split("-"))


@perturbation("robustness", "notation - numbers", "none")
def number_notation(parse: Parse) -> Outcome:
    """Numbers written otherwise, of the same value: *25* -> *twenty-five*, *3,000* -> *3000*, *4%* -> *4 percent*."""
    spots = [*_counted(parse), *_worded(parse), *_shares(parse), *_ranks(parse), *_spans(parse)]
    return several(parse, spots, "no number that can be written otherwise")


def _counted(parse: Parse) -> Iterator[Change]:
    """Digits before what they count, in words or with other commas."""
    for match in re.finditer(
        r"(?<![\w.,$€£¥#/:–—-])(?<!\d )(\d{1,3}(?:,\d{3})+|\d{1,6})(?![\w%°/:–—-])(?![.,]\d)(?! [\d½¼–-])", parse.text
    ):
        place = word_at(parse, match.start())
        word = parse.words[place] if place is not None else None
        if place is None or word is None or word.relation != "nummod" or word.head <= place or word.end != match.end():
            continue
        head, value = parse.words[word.head], int(match.group().replace(",", ""))
        near = parse.text[max(match.start() - 8, 0) : match.start()] + "#" + parse.text[match.end() : match.end() + 8]
        if (
            head.upos != "NOUN"
            or head.text in UNITS
            or len(head.text) < 3
            or re.search(r"(?: to| or| and|-) #|\d[\d,.]* #|# (?:to|or|and|by|x) ?\d", near)
        ):
            continue
        forms = [in_words(value)] if value else []
        forms += [f"a {forms[0].removeprefix('one ')}"] if value in (100, 1000) and forms[0] and near[-10:-9] != "e" else []
        if value >= 1000 and not (1000 <= value < 2100 and head.xpos != "NNS"):
            forms += [f"{value:,}" if "," not in match.group() else str(value)]
        if value and value % 100000 == 0 and value > 1000000:
            forms += [f"{value / 1000000:g} million"]
        forms = [form for form in forms if form]
        before = parse.low(place - 1)
        if forms and not parse.in_title_case(max(place - 1, 0)):
            chosen = parse.rng.choice(forms) or ""
            determined = before in word_set("notation.determiners")
            yield match.start(), match.end(), in_words(value) or chosen if chosen.startswith("a ") and determined else chosen


def _worded(parse: Parse) -> Iterator[Change]:
    """Numbers in words, in digits; *2.5 million* <-> *2,500,000*."""

    def digits(match: re.Match[str]) -> str | None:
        place = word_at(parse, match.start())
        if place is None or parse.pos(place) != "NUM" or parse.in_title_case(place):
            return None
        value = value_of(match.group(1))
        scale = match.group(2)
        if not scale:
            return str(value)
        total = value * SCALES[scale]
        return (
            parse.rng.choice([f"{value} {scale}", f"{total:,}"])
            if total >= 10**6
            else parse.rng.choice([str(total), f"{total:,}"])
        )

    pattern = (
        r"(?<![\w-])(?<!hundred )(?<!thousand )(?<!hundred and )"
        + f"({SMALL})(?: (hundred|thousand|million|billion))?"
        + r"\b"
        + FRACTIONS
    )
    yield from _matches(parse, f"(?i){pattern}(?!-(?:fold|{'|'.join(CARDINALS)}))(?!(?-i: [A-Z]))(?! o['’]clock)", digits)

    def long(match: re.Match[str]) -> str | None:
        value = float(match.group(1)) * SCALES[match.group(2)]
        if "." not in match.group(1) and parse.rng.random() < 0.7:
            return f"{in_words(int(match.group(1)))} {match.group(2)}" if int(match.group(1)) < 100 else None
        return f"{round(value):,}"

    yield from _matches(parse, r"(?<![\w$€£¥.,–-])(\d{1,3}(?:\.\d{1,2})?) (million|billion)\b(?! ?(?:[-–]|to|or|and \d))", long)


def _shares(parse: Parse) -> Iterator[Change]:
    """Percentages: sign, one word, two words."""

    def share(match: re.Match[str]) -> str:
        forms = [f"{match.group(1)}%", f"{match.group(1)} percent", f"{match.group(1)} per cent"]
        return parse.rng.choice([form for form in forms if form != match.group()])

    yield from _matches(parse, r"(?<![\w.,–-])(\d+(?:[.,]\d+)?)(?: ?%| percent\b| per cent\b)(?![\w-])", share)
    yield from _matches(
        parse,
        r"(?:(?<=about )|(?<=over )|(?<=than )|(?<=nearly )|(?<=almost ))half of(?= (?:all|the|its|their|our)\b)",
        lambda m: parse.rng.choice(["50 percent of", "50% of"]),
    )


def _ranks(parse: Parse) -> Iterator[Change]:
    """Ordinals in digits and in words: *19th century* <-> *nineteenth century*."""

    def rank(match: re.Match[str]) -> str | None:
        place = word_at(parse, match.start())
        dated = re.search(MONTH + r" $", parse.text[: match.start()]) or re.match(
            rf",? (?:of )?{MONTH}", parse.text[match.end() :]
        )
        if dated or place is None or parse.in_title_case(place):
            return None
        low = match.group().lower()
        if low[0].isdigit():
            value = int(low[:-2])
            return ORDINALS[value] if 0 < value < len(ORDINALS) else None
        word, tail = parse.words[place], parse.text[match.end() :]
        fraction = place and parse.low(place - 1) in ("a", "an", "one", "every", "at")
        counted = word.relation == "amod" and re.match(r"[ -][a-z]", tail) and not re.match(r"[ -](?:of|hand|thought)\b", tail)
        value = ORDINALS.index(low)
        return f"{value}{ordinal_ending(value)}" if counted and not fraction and word.upos == "ADJ" else None

    yield from _matches(
        parse, r"(?<![\w–/.,-])(?:\d{1,2}(?:st|nd|rd|th)|" + "|".join(ORDINALS[:1:-1]) + r")(?![\w–/])(?! [A-Z])", rank
    )


def _spans(parse: Parse) -> Iterator[Change]:
    """Decades, centuries, dozens and times in other words."""
    rows = alternatives("notation.spans").items()
    for pattern, forms in rows:
        yield from _matches(parse, pattern, lambda match, forms=forms: parse.rng.choice(forms))  # type: ignore[misc]


@perturbation("robustness", "notation - times", "none")
def time_notation(parse: Parse) -> Outcome:
    """Times and dates written otherwise: *3 pm* -> *15:00*, *12 May 2010* -> *May 12, 2010*."""
    spots = [*_clock(parse), *_dates(parse), *_calendar(parse)]
    return several(parse, spots, "no time or date that can be written otherwise")


def _clock(parse: Parse) -> Iterator[Change]:
    """Times of the day in twelve or twenty-four hours."""
    text = parse.text

    def twelve(match: re.Match[str]) -> str | None:
        hour, minute, half = int(match.group(1)), match.group(2) or "", match.group(3).lower()
        if not 1 <= hour <= 12:
            return None
        ends = match.group().endswith(".") and (
            match.end() == len(text) or re.match(r"[\"”]?(?: [A-Z]|$)", text[match.end() :])
        )
        clock = f"{hour}:{minute}" if minute else str(hour)
        full = hour % 12 + (12 if half == "p" else 0)
        forms = [f"{clock} {half}m", f"{clock} {half}.m.", f"{clock}{half}m", f"{full:02}:{minute or '00'}"]
        part = "in the morning" if half == "a" else "in the afternoon" if hour < 6 or hour == 12 else "in the evening"
        if re.search(r"\bat $", text[: match.start()]) and 4 < full < 22:
            forms.append(f"{clock} {part}")
        new = parse.rng.choice([form for form in forms if form != match.group()])
        return new + "." if ends and not new.endswith(".") else new

    yield from _matches(parse, r"(?<![\w:.,–/-])(\d{1,2})(?:[:.](\d\d))? ?([apAP])(?:\.[mM]\.|[mM]\b)(?! ?[-–])", twelve)

    def twentyfour(match: re.Match[str]) -> str | None:
        hour, minute = int(match.group(1)), match.group(2)
        if hour < 13 and not match.group(1).startswith("0"):
            return None
        half = "pm" if hour > 12 else "am"
        short = f"{(hour - 1) % 12 + 1}" + ("" if minute == "00" else f":{minute}")
        return f"{short} {parse.rng.choice((half, f'{half[0]}.m.'))}" if hour > 0 else None

    pattern = r"(?<=\b(?:at|by) )(\d\d):(\d\d)\b(?![:.]\d)(?! ?[-–apAP(]| hours| [A-Z]{3}|\.$)"
    yield from _matches(parse, pattern, twentyfour)
    yield from _matches(parse, r"(?<=\bat )noon\b", lambda m: parse.rng.choice(["12 pm", "midday", "12:00 noon"]))
    yield from _matches(parse, r"(?<=\bat )midnight\b", lambda m: parse.rng.choice(["12 am", "12 midnight"]))
    yield from _matches(parse, r"(?<=\bat )midday\b", lambda m: parse.rng.choice(["noon", "12 pm"]))
    yield from _matches(parse, r"(?<=\b\d) o['’]clock\b", lambda m: ":00")


def _dates(parse: Parse) -> Iterator[Change]:
    """Days of the year in the order of the British, the Americans and of speech."""
    text = parse.text

    def date(day: str, month: str, year: str, match: re.Match[str]) -> str | None:
        if not 1 <= int(day) <= 31 or re.search(r"(?:\d|\b(?:to|and|or|–))[ –-]$", text[: match.start()][-5:]):
            return None
        ordinal = f"{day}{ordinal_ending(int(day))}"
        after = f" {year}" if year else ""
        forms = [f"{day} {month}{after}", f"{month} {day}{',' + after if year else ''}", f"{ordinal} {month}{after}"]
        spoken = re.search(r"\b(?:on|since|until|from|by) $", text[: match.start()], re.I)
        if spoken:
            forms.append(f"the {ordinal} of {month}{after}")
        if not year:
            forms.append(f"{month} {ordinal}")
        if len(month) > 5 and parse.rng.random() < 0.15 and year:
            forms = [f"{day} {month[:3]} {year}", f"{month[:3]}. {day}, {year}"]
        return parse.rng.choice([form for form in forms if form != match.group()])

    tail = r"(?!,? \d{4})(?![\w,–/-]*\d)(?! ?[-–])(?! (?:and|to|or) \d)"
    british = r"(?<![\w.,/–-])(?<!the )(\d{1,2})(?:st|nd|rd|th)?(?: of)? " + MONTH + r"\b(?:,? (\d{4})\b)?" + tail
    american = r"(?<![\w-])(?<!\d )(?<!of )(?<!the )" + MONTH + r" (\d{1,2})(?:st|nd|rd|th)?\b(?:, (\d{4})\b)?" + tail
    yield from _matches(parse, british, lambda m: date(m.group(1), m.group(2), m.group(3) or "", m))
    yield from _matches(parse, american, lambda m: date(m.group(2), m.group(1), m.group(3) or "", m))


def _calendar(parse: Parse) -> Iterator[Change]:
    """Decades, eras and days of the week, the last seldom."""
    yield from _matches(
        parse, r"(?<=\bthe )(1[89]\d0)s\b", lambda m: f"{m.group(1)}'s" if parse.rng.random() < 0.5 else _decade(m.group(1))
    )
    yield from _matches(parse, r"(?<=\d )BC\b", lambda m: "BCE")
    yield from _matches(parse, r"(?<=\d )BCE\b", lambda m: "BC")
    yield from _matches(parse, r"(?<=\d )AD\b", lambda m: "CE")
    yield from _matches(
        parse,
        r"(?<=\bin )(" + "|".join(MONTHS) + r") (?=\d{4}\b)",
        lambda m: f"{m.group(1)} of " if parse.rng.random() < 0.5 else None,
    )
    if parse.rng.random() < 0.15:
        yield from _matches(parse, r"(?<=\bon )(" + "|".join(DAYS) + r")\b(?= [a-z])", lambda m: DAYS[m.group(1)])


def _decade(year: str) -> str:
    """*1990* -> *nineties* for the decades that are meant by it, else with an apostrophe."""
    return DECADES[year[2:]] if year.startswith("19") and year[2:] in DECADES else f"{year}'s"


@perturbation("robustness", "notation - units", "none")
def unit_notation(parse: Parse) -> Outcome:
    """Units and money written otherwise: *5 km* -> *5 kilometres*, *$5* -> *5 dollars*."""
    spots = [*_units(parse), *_money(parse), *_measures(parse)]
    return several(parse, spots, "no unit that can be written otherwise")


def _ends_phrase(parse: Parse, end: int) -> bool:
    """Whether no noun follows that the amount could modify."""
    after = re.match(r"[ -]([a-zA-Z]+)\b", parse.text[end:])
    return after is None or after.group(1) in LIGHT


def _units(parse: Parse) -> Iterator[Change]:
    """Short and long names of units after digits; singular before a noun."""

    def long(match: re.Match[str]) -> str | None:
        names = UNITS[match.group(2)]
        name = parse.rng.choice(names)
        single = match.group(1) == "1" or not _ends_phrase(parse, match.end()) and not _measuring(parse, match.end())
        plural = name if name.endswith("hertz") else "feet" if name == "foot" else f"{name}s"
        joint = "-" if single and match.group(1) != "1" else " "
        return f"{match.group(1)}{joint}{name if single else plural}"

    def short(match: re.Match[str]) -> str | None:
        names = {
            name: unit
            for unit, every in UNITS.items()
            for name in every
            if name not in ("hour", "minute", "second", "pound", "foot")
        }
        unit = names.get(match.group(3).removesuffix("s"))
        return f"{match.group(1)}{match.group(2)}{unit}" if unit else None

    def other(match: re.Match[str]) -> str | None:
        name = match.group(2)
        return f"{match.group(1)}{name[:-2]}er" if name.endswith("re") else f"{match.group(1)}{name[:-2]}re"

    number = r"(?<![\w.,$€£/*×–-])(?<![x×*] )(\d[\d,]*(?:\.\d+)?)"
    yield from _matches(
        parse, number + r" ?(" + "|".join(sorted(UNITS, key=len, reverse=True)) + r")\b(?![/²³2-])(?! per\b| an hour)", long
    )
    yield from _matches(parse, number + r"([ -])((?:kilo|centi|milli|mega|giga|tera|hect)\w+)\b(?! per\b| an hour)", short)
    yield from _matches(
        parse, number + r"[ -]((?:kilo|centi|milli)?(?:metre|meter|litre|liter))(?=s?\b)", lambda m: other(_spaced(m))
    )


def _spaced(match: re.Match[str]) -> re.Match[str]:
    """The match from the number with what stands between it and the unit."""
    found = re.match(r"(\d[\d,]*(?:\.\d+)?[ -])(\w+)$", match.group())
    return found if found else match


def _measuring(parse: Parse, end: int) -> bool:
    """Whether a word of measure follows: *5 km long*."""
    return re.match(rf" (?:{'|'.join(MEASURES)})\b", parse.text[end:]) is not None


def _measures(parse: Parse) -> Iterator[Change]:
    """Speeds, temperatures and areas after digits."""
    for names in SPEEDS:
        for name in names:

            def other(match: re.Match[str], names: tuple[str, ...] = names, name: str = name) -> str:
                new = parse.rng.choice([one for one in names if one != name])
                return f"{match.group(1)}{'' if new.startswith('°') else ' '}{new}"

            yield from _matches(
                parse, r"(?<![\w.,–-])(\d[\d,]*(?:\.\d+)?) ?" + re.escape(name) + r"(?![\w²])(?! [a-z]+ (?:zone|limit))", other
            )


def _money(parse: Parse) -> Iterator[Change]:
    """Currencies as a sign before the amount or as a word after it."""

    def spelled(match: re.Match[str]) -> str | None:
        scale = {"bn": " billion", "m": " million", "b": " billion", "k": ",000"}.get(
            match.group(3) or "", match.group(3) or ""
        )
        if not _ends_phrase(parse, match.end()) or match.group(2) == "1" and not scale:
            return f"{match.group(1)}{match.group(2)}{scale}" if scale != (match.group(3) or "") else None
        return f"{match.group(2)}{scale} {CURRENCIES[match.group(1)]}"

    def signed(match: re.Match[str]) -> str | None:
        signs = {name: sign for sign, name in CURRENCIES.items()}
        return f"{signs[match.group(3)]}{match.group(1)}{match.group(2) or ''}"

    yield from _matches(
        parse,
        r"(?<!\ba )(?<!\ban )(?<![\w$])(US\$|\$|€|£|¥) ?(\d[\d,]*(?:\.\d+)?)( million| billion| trillion|bn|m|b|k)?\b"
        r"(?![-–.]\w)(?! (?:to|and|or) [$€£¥\d])(?![-–])",
        spelled,
    )
    yield from _matches(
        parse,
        r"(?<![\w.,–$-])(?<!to )(?<!and )(\d[\d,]*(?:\.\d+)?)( million| billion| trillion)? (US dollars|dollars|euros)\b",
        signed,
    )


@perturbation("robustness", "spelling variant", "none")
def spelling_variant(parse: Parse) -> Outcome:
    """British spellings become American ones, or the other way round: *colour* -> *color*."""
    spots = []
    for n, word in enumerate(parse.words):
        if word.xpos.startswith("NNP") or parse.in_title_case(n) or not parse.stands_alone(n):
            continue
        new = _variants().get(word.text.lower())
        if new:
            spots.append((word.start, word.end, in_case_of(new, word.text)))
    return several(parse, spots, "no word with a British and an American spelling", max(len(spots), 1))


@cache
def _variants() -> Mapping[str, str]:
    """Every form of the listed spellings, both ways: *colour* is listed, *colours*, *coloured* and *colourful* follow."""
    found: dict[str, str] = {}
    for british, others in table("spellings").items():
        forms = [(british, others[0])]
        if british.endswith("ise"):
            endings: tuple[str, ...] = ("ise", "ises", "ised", "ising", "iser", "isers", "isation", "isations")
            forms = [(british[:-3] + end, others[0][:-3] + end.replace("is", "iz", 1)) for end in endings]
        elif british.endswith("yse"):
            forms = [(british[:-1] + end, others[0][:-1] + end) for end in ("e", "es", "ed", "er", "ers")]
            forms += [(f"{british[:-1]}ing", f"{others[0][:-1]}ing")]
        elif british.endswith("our"):
            endings = ("", "s", "ed", "ing", "ful", "fully", "less", "able", "ably", "er", "ers", "ite", "ites", "ly")
            forms = [(british + end, others[0] + end) for end in endings]
        elif not british.endswith(("ed", "ing", "s", "ly", "est", "st")):
            forms += [(f"{british}s", f"{others[0]}s")]
        for old, new in forms:
            found.setdefault(old, new)
            if new not in ONE_WAY and others[0] not in ONE_WAY:
                found.setdefault(new, old)
    return found


@perturbation("robustness", "abbreviation", "none")
def abbreviated_name(parse: Parse) -> Outcome:
    """Names and titles abbreviated or written out: *United Nations* -> *UN*, *Dr.* -> *Doctor*."""
    if parse.text.isupper():
        return NotApplicable("no name with a known abbreviation")
    spots: list[Change] = []
    for old, options in _abbreviations().items():
        place = parse.text.find(old.removeprefix("the "))
        if place >= 0:
            for start, end in _occurrences(parse, old):
                new = parse.rng.choice(options)
                if not (new.endswith(".") and parse.text[end : end + 1] == "."):
                    spots.append((start, end, new))
    return several(parse, _longest(spots), "no name with a known abbreviation")


def _longest(spots: list[Change]) -> list[Change]:
    """The spots that lie in no longer one."""
    return [a for a in spots if not any(b[0] <= a[0] and a[1] <= b[1] and b[1] - b[0] > a[1] - a[0] for b in spots)]


def _occurrences(parse: Parse, old: str) -> Iterator[tuple[int, int]]:
    """Where an abbreviation or a full name stands as a whole and is no part of a longer name."""
    text, title = parse.text, old.endswith(".") or old in names_of("title") or old in TITLES
    pattern = r"(?<![\w.&/-])" + ("[Tt]" + re.escape(old[1:]) if old.startswith("the ") else re.escape(old)) + r"(?![\w&/-])"
    for match in re.finditer(pattern, text):
        before, after = text[: match.start()], text[match.end() :]
        ends = old.endswith(".") and (not after.strip("\"'”’ )") or re.match(r"[\"”’)]* [A-Z]", after) and not title)
        name = re.match(r" [A-Z]", after) is not None
        whole = title or old.islower() or not name or any(old.startswith(one) for one in ADJECTIVES)
        named = re.search(r"[A-Z][\w.]* $", before) is not None and not parse.starts_sentence(
            len(before.rstrip().rpartition(" ")[0]) + 1
        )
        bracketed = re.search(r"\($", before) and re.match(r"\)", after) or re.match(r" \([A-Z]", after)
        if not ends and whole and (name or not title or old.islower()) and not bracketed and not (named and not title):
            if not (old in ("US", "WHO", "IT") and re.search(r"[A-Z]{2,} $", before)):
                yield match.start(), match.end()


ADJECTIVES = word_sequence("notation.adjectives")
TITLES = word_sequence("notation.titles")


@cache
def _abbreviations() -> Mapping[str, tuple[str, ...]]:
    """Long forms and their abbreviations, both ways but for the ambiguous ones."""
    found: dict[str, tuple[str, ...]] = {}
    for long, shorts in table("abbreviations").items():
        for form in (long, *shorts):
            if form not in AMBIGUOUS:
                found[form] = tuple(dict.fromkeys((*found.get(form, ()), *(o for o in (long, *shorts) if o != form))))
    return found

"""The same text in another notation or with synonyms: contractions, numbers, times, units, spellings, abbreviated names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

from rome.data.perturbations.quantities import CARDINALS, NUMBER_WORDS, SCALES, TENS, in_words, ordinal_ending

from .lexicons import MONTHS, alternatives, names_of, replacements, table, word_sequence, word_set
from .perturbation import Change, NotApplicable, Outcome, Parse, capitalised, in_case_of, perturbation
from .words import form_of, open_words

NOT_FORMS = {"will": "won't", "can": "can't", "shall": "shan't"}
EXPANDED = {"'re": "are", "'ve": "have", "'ll": "will", "'m": "am"}
CONTRACTED = replacements("notation.contracted")
CONTRACTS_WITH = alternatives("notation.contracts_with")
ORDINALS = (*word_sequence("notation.ordinals"), "twenty-first")
UNITS = alternatives("notation.units")
CURRENCIES = {"$": "dollars", "€": "euros", "£": "pounds", "US$": "US dollars", "¥": "yen"}
ONE_WAY = word_set("notation.one_way")
"""American spellings that are other words, too: only the British one changes."""
AMBIGUOUS = word_set("notation.ambiguous")
"""Abbreviations with several long forms: only the long form changes."""


def several(parse: Parse, spots: Iterable[Change], reason: str, most: int = 3) -> Outcome:
    """Make one to ``most`` of the exchanges that are apart from each other, in a drawn order, with their articles put right."""
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
    """Return the new text, capitalised where it starts a sentence that starts with a capital."""
    return capitalised(new) if parse.text[start : start + 1].isupper() and parse.starts_sentence(start) else new


def word_at(parse: Parse, start: int) -> int | None:
    """Return the index of the word that contains a character, or None."""
    return next((n for n, word in enumerate(parse.words) if word.start <= start < word.end), None)


@cache
def _pattern(name: str) -> str:
    """Return a pattern of the lexicons, with the words of a list in the place of its name between per cent signs."""
    lists: dict[str, Iterable[str]] = {
        "months": MONTHS,
        "cardinals": CARDINALS,
        "ordinals": ORDINALS[:1:-1],
        "tens": TENS[2:],
        "ones": CARDINALS[1:10],
        "teens": CARDINALS[:1:-1],
        "units": sorted(UNITS, key=len, reverse=True),
    }
    results = replacements("notation.patterns")[name]
    return re.sub(
        r"%(\w+)%", lambda match: "|".join(lists[match.group(1)]) if match.group(1) in lists else match.group(), results
    )


Make = str | tuple[str, ...] | Callable[[Parse, re.Match[str]], str | None]
"""The replacement of a match: a text, one of several, or the result of a function (None: no replacement)."""


def matches(parse: Parse, pattern: str, make: Make) -> Iterator[Change]:
    """Yield a change for each match of a pattern that has a replacement."""
    for match in re.finditer(pattern, parse.text):
        new = make(parse, match) if callable(make) else make if isinstance(make, str) else parse.rng.choice(make)
        if new:
            yield (*match.span(), new)


def _by_patterns(parse: Parse, rows: Mapping[str, Make]) -> list[Change]:
    """Return the changes of every named pattern, in their order."""
    return [change for name, make in rows.items() for change in matches(parse, _pattern(name), make)]


@perturbation("robustness", "contraction", "none")
def contraction_changed(parse: Parse) -> Outcome:
    """Write contractions out, or contract full forms: *did not* -> *didn't*, *it's* -> *it is*."""
    spots = [*_by_patterns(parse, {"not": _not_form}), *_clitics(parse), *_helpers(parse)]
    return several(parse, spots, "no contraction, and no words that can be contracted")


def _not_form(parse: Parse, match: re.Match[str]) -> str | None:
    """Return *not* after an auxiliary contracted or written out, where the subject does not follow."""
    old, tail = match.group(), parse.text[match.end() :]
    low, whole, negated = old.lower().replace("’", "'"), alternatives("notation.whole_forms"), word_set("notation.negated")
    asked = re.match(r" (?:\w+ )?(?:i|you|he|she|we|they|it|there)\b", tail, re.I) or parse.starts_sentence(match.start())
    if asked or old.isupper():
        return None
    if low in whole:
        return in_case_of(parse.rng.choice(whole[low]), old)
    if low.endswith("n't") and low[:-3] in negated:
        return f"{old[:-3]} not"
    contracted = low.endswith(" not") and low[:-4] in negated and re.match(r" \w", tail)
    return NOT_FORMS.get(low[:-4], f"{old[:-4]}n't") if contracted else None


def _clitics(parse: Parse) -> Iterator[Change]:
    """Yield contracted auxiliaries written out: *'s* is *is* or *has*, *'d* is *would* or *had*, by the word that follows."""
    for n, word in enumerate(parse.words):
        low, head, tail = parse.low(n).replace("’", "'"), parse.tag(word.head), parse.text[word.end :]
        if word.upos not in ("AUX", "VERB") or not n or parse.text[word.start : word.end] != word.text or word.head < n:
            continue
        new = EXPANDED.get(low, "")
        if low == "'s" and parse.relates(n, "aux", "cop"):
            perfect = re.match(r" (?:\w+ly |already |never |just |not |always |also )?(?:been|had|got|become)\b", tail)
            new = "has" if perfect or (head == "VBN" and word.relation == "aux") else "is"
        if low == "'d":
            new = "had" if head == "VBN" or re.match(r" better\b", tail) else "would" if head == "VB" else ""
        if new and tail[:1] == " " and parse.text[word.start - 1].isalpha():
            yield word.start, word.end, f" {new}"


def _helpers(parse: Parse) -> Iterator[Change]:
    """Yield auxiliaries contracted with the pronoun before them, where what they belong to follows."""
    for n, word in enumerate(parse.words):
        before, joins = parse.words[n - 1], word.text in CONTRACTED and n > 0
        joins = joins and parse.low(n - 1) in CONTRACTS_WITH[word.text] and before.xpos != "WDT"
        if joins and parse.relates(n, "aux", "cop") and word.head > n and parse.relates(n - 1, "nsubj", "expl"):
            spaced = parse.text[before.end : word.start] == " " and re.match(r" \w", parse.text[word.end :])
            if before.head == word.head and spaced:
                yield before.end, word.end, CONTRACTED[word.text]


@perturbation("robustness", "notation - numbers", "none")
def number_notation(parse: Parse) -> Outcome:
    """Write numbers in another way, with the same value: *25* -> *twenty-five*, *3,000* -> *3000*, *4%* -> *4 percent*."""
    return several(parse, _by_patterns(parse, NUMBERS), "no number that can be written in another way")


def _counted(parse: Parse, match: re.Match[str]) -> str | None:
    """Return digits before what they count in words, or with other commas."""
    place, old = word_at(parse, match.start()), match.group()
    if place is None or parse.relation(place) != "nummod" or parse.words[place].end != match.end():
        return None
    head, value = parse.head(place), int(old.replace(",", ""))
    ranged = parse.reads(place - 1, "to or and - –") or parse.reads(place + 1, "to or and by x - –")
    if head <= place or not parse.matches(head, pos="NOUN") or ranged or parse.form(head) in UNITS:
        return None
    words = in_words(value) if value else None
    forms = [words] if words else []
    if value >= 1000 and (value >= 2100 or parse.tag(head) == "NNS"):
        forms.append(f"{value:,}" if "," not in old else str(value))
    return parse.rng.choice(forms) if forms else None


def _in_digits(parse: Parse, match: re.Match[str]) -> str | None:
    """Return a number in words in digits."""
    place, value, scale = word_at(parse, match.start()), NUMBER_WORDS[match.group(1).lower()], match.group(2)
    if place is None or parse.pos(place) != "NUM" or parse.in_title_case(place):
        return None
    total = value * SCALES[scale] if scale else value
    return f"{value} {scale}" if total >= 10**6 else f"{total:,}"


def _percentage(parse: Parse, match: re.Match[str]) -> str:
    """Return a percentage with another sign or word."""
    forms = [f"{match.group(1)}{sign}" for sign in ("%", " percent", " per cent")]
    return parse.rng.choice([form for form in forms if form != match.group()])


def _rank(parse: Parse, match: re.Match[str]) -> str | None:
    """Return an ordinal in digits in words, or the other way round: *19th century* <-> *nineteenth century*."""
    place, low = word_at(parse, match.start()), match.group().lower()
    dated = any(parse.form(n) in MONTHS for n in range(place - 1, place + 3)) if place is not None else True
    if place is None or dated or parse.in_title_case(place):
        return None
    if low[0].isdigit():
        return dict(enumerate(ORDINALS[1:], 1)).get(int(low[:-2]))
    value, bound = ORDINALS.index(low), parse.reads(place - 1, "a an one every at") or parse.reads(place + 1, "of hand thought")
    return f"{value}{ordinal_ending(value)}" if parse.matches(place, "amod", pos="ADJ") and not bound else None


NUMBERS: dict[str, Make] = {
    "counted": _counted,
    "in words": _in_digits,
    "percentage": _percentage,
    "rank": _rank,
}


@perturbation("robustness", "notation - times", "none")
def time_notation(parse: Parse) -> Outcome:
    """Write times and dates in another way: *3 pm* -> *15:00*, *12 May 2010* -> *May 12, 2010*."""
    return several(parse, _by_patterns(parse, TIMES), "no time or date that can be written in another way")


def _twelve_hours(parse: Parse, match: re.Match[str]) -> str | None:
    """Return *3 pm* otherwise, or in twenty-four hours."""
    hour, minute, half = int(match.group(1)), match.group(2) or "", match.group(3).lower()
    if not 1 <= hour <= 12 or match.group().endswith(".") and not re.match(r" [a-z]", parse.text[match.end() :]):
        return None
    clock, full = f"{hour}:{minute}" if minute else str(hour), hour % 12 + 12 * (half == "p")
    forms = [f"{clock} {half}m", f"{clock}{half}m", f"{full:02}:{minute or '00'}"]
    return parse.rng.choice([form for form in forms if form != match.group()])


def _twenty_four_hours(parse: Parse, match: re.Match[str]) -> str | None:
    """Return *15:00* in twelve hours."""
    hour, minute = int(match.group(1)), "" if match.group(2) == "00" else f":{match.group(2)}"
    if hour == 0 or hour < 13 and not match.group(1).startswith("0"):
        return None
    half = "pm" if hour > 12 else "am"
    return f"{(hour - 1) % 12 + 1}{minute} {parse.rng.choice((half, f'{half[0]}.m.'))}"


def _date(parse: Parse, match: re.Match[str], day: str, month: str) -> str | None:
    """Return a day of the year in British, American or spoken order."""
    before, year = parse.text[: match.start()], match.group(3) or ""
    if not 1 <= int(day) <= 31 or re.search(r"(?:\d|\b(?:to|and|or|–))[ –-]$", before[-5:]):
        return None
    ordinal, after = f"{day}{ordinal_ending(int(day))}", f" {year}" if year else ""
    forms = [f"{day} {month}{after}", f"{month} {day}{',' + after if year else ''}", f"{ordinal} {month}{after}"]
    if re.search(r"\b(?:on|since|until|from|by) $", before, re.I):
        forms.append(f"the {ordinal} of {month}{after}")
    if not year:
        forms.append(f"{month} {ordinal}")
    return parse.rng.choice([form for form in forms if form != match.group()])


TIMES: dict[str, Make] = {
    "twelve hours": _twelve_hours,
    "twenty-four hours": _twenty_four_hours,
    "noon": ("12 pm", "midday", "12:00 noon"),
    "midnight": ("12 am", "12 midnight"),
    "midday": ("noon", "12 pm"),
    "o'clock": ":00",
    "British date": lambda parse, match: _date(parse, match, match.group(1), match.group(2)),
    "American date": lambda parse, match: _date(parse, match, match.group(2), match.group(1)),
}


@perturbation("robustness", "notation - units", "none")
def unit_notation(parse: Parse) -> Outcome:
    """Write units and money in another way: *5 km* -> *5 kilometres*, *$5* -> *5 dollars*."""
    return several(parse, _by_patterns(parse, AMOUNTS), "no unit that can be written in another way")


def _ends_phrase(parse: Parse, end: int) -> bool:
    """Return whether no noun follows that the amount could modify."""
    after = re.match(r"[ -]([a-zA-Z]+)\b", parse.text[end:])
    return after is None or after.group(1) in word_set("notation.light") | word_set("notation.measures")


def _long_unit(parse: Parse, match: re.Match[str]) -> str | None:
    """Return the long name of a unit after digits; singular after 1 and before a noun."""
    amount, name = match.group(1), parse.rng.choice(UNITS[match.group(2)])
    if amount == "1" or not _ends_phrase(parse, match.end()):
        return f"{amount}{' ' if amount == '1' else '-'}{name}"
    return f"{amount} {name if name.endswith('hertz') else parse.inflect(name, 'NNS') or name + 's'}"


def _short_unit(parse: Parse, match: re.Match[str]) -> str | None:
    """Return a unit after digits by its short name."""
    name = match.group(3).removesuffix("s")
    unit = next((unit for unit, names in reversed(UNITS.items()) if name in names), None)
    return f"{match.group(1)}{match.group(2)}{unit}" if unit else None


def _after_amount(parse: Parse, match: re.Match[str]) -> str | None:
    """Return a currency as a word after the amount."""
    sign, amount, scale = match.group(1), match.group(2), match.group(3) or ""
    plain = scale in ("", " million", " billion") and (amount != "1" or scale)
    return f"{amount}{scale} {CURRENCIES[sign]}" if plain and _ends_phrase(parse, match.end()) else None


def _before_amount(parse: Parse, match: re.Match[str]) -> str | None:
    """Return a currency as a sign before the amount."""
    sign = next(sign for sign, name in CURRENCIES.items() if name == match.group(3))
    return f"{sign}{match.group(1)}{match.group(2) or ''}"


AMOUNTS: dict[str, Make] = {
    "short unit": _long_unit,
    "long unit": _short_unit,
    "sign": _after_amount,
    "currency": _before_amount,
}


@perturbation("robustness", "spelling variant", "none")
def spelling_variant(parse: Parse) -> Outcome:
    """Exchange British and American spellings: *colour* -> *color*."""
    words = [n for n, word in enumerate(parse.words) if not word.xpos.startswith("NNP") and parse.low(n) in _variants()]
    words = [n for n in words if not parse.in_title_case(n) and parse.stands_alone(n)]
    spots = [change for n in words for change in parse.spelled(n, _variants()[parse.low(n)])]
    return several(parse, spots, "no word with a British and an American spelling", max(len(spots), 1))


@cache
def _variants() -> Mapping[str, str]:
    """Return every form of the listed spellings, both ways: *colour* is listed, *colours*, *coloured* and *colourful* follow."""
    results: dict[str, str] = {}
    for british, (american, *_) in table("spellings").items():
        cut, ends = next((row for ending, row in ENDINGS.items() if british.endswith(ending)), (0, ("", "s")))
        stems = [word[: len(word) - cut] for word in (british, american)]
        for old, new in [(stems[0] + end, stems[1] + end) for end in ends]:
            results.setdefault(old, new)
            if new not in ONE_WAY and american not in ONE_WAY:
                results.setdefault(new, old)
    return results


ENDINGS = {
    "ise": (1, ("e", "es", "ed", "ing", "er", "ers", "ation", "ations")),
    "yse": (1, ("e", "es", "ed", "ing", "er", "ers")),
    "our": (0, ("", *"s ed ing ful fully less able ably er ers ite ites ly".split())),
    **dict.fromkeys(("ed", "ing", "s", "ly", "st"), (0, ("",))),
}
"""Ending of a British spelling -> how many of its letters go, and what follows them in the forms of the word."""


@perturbation("robustness", "abbreviation", "none")
def abbreviated_name(parse: Parse) -> Outcome:
    """Abbreviate names and titles, or write them out: *United Nations* -> *UN*, *Dr.* -> *Doctor*."""
    if parse.text.isupper():
        return NotApplicable("no name with a known abbreviation")
    spots: list[Change] = []
    for old, options in _abbreviations().items():
        for start, end in _occurrences(parse, old) if old.removeprefix("the ") in parse.text else ():
            new = parse.rng.choice(options)
            if not (new.endswith(".") and parse.text[end : end + 1] == "."):
                spots.append((start, end, new))
    return several(parse, longest(spots), "no name with a known abbreviation")


def longest(spots: list[Change]) -> list[Change]:
    """Return the spots that are inside no longer one."""
    return [a for a in spots if not any(b[0] <= a[0] and a[1] <= b[1] and b[1] - b[0] > a[1] - a[0] for b in spots)]


def _occurrences(parse: Parse, old: str) -> Iterator[tuple[int, int]]:
    """Yield where an abbreviation or a full name is whole and no part of a longer name."""
    title = old.endswith(".") or old in names_of("title") or old in TITLES
    pattern = r"(?<![\w.&/-])" + ("[Tt]" + re.escape(old[1:]) if old.startswith("the ") else re.escape(old)) + r"(?![\w&/-])"
    for match in re.finditer(pattern, parse.text):
        before, after = parse.text[: match.start()], parse.text[match.end() :]
        before_name = re.match(r" [A-Z]", after) is not None
        whole = before_name if title else old.islower() or not before_name or old.startswith(ADJECTIVES)
        inside = not title and re.search(r"[A-Z][\w.]* $", before) is not None
        explained = re.search(r"\($", before) or re.match(r" \([A-Z]", after)
        ends = old.endswith(".") and not title and not re.match(r" [a-z]", after)
        if whole and not inside and not explained and not ends:
            yield match.span()


ADJECTIVES = word_sequence("notation.adjectives")
TITLES = word_sequence("notation.titles")


@cache
def _abbreviations() -> Mapping[str, tuple[str, ...]]:
    """Return long forms and their abbreviations, both ways except for the ambiguous ones."""
    results: dict[str, tuple[str, ...]] = {}
    for long, shorts in table("abbreviations").items():
        for form in (long, *shorts):
            if form not in AMBIGUOUS:
                results[form] = tuple(dict.fromkeys((*results.get(form, ()), *(o for o in (long, *shorts) if o != form))))
    return results


TAGS = ("NN", "NNS", "VB", "VBP", "VBZ", "VBD", "VBN", "VBG", "JJ", "RB")
LONGEST = 7
"""Words of a listed phrase, at most."""


@perturbation("robustness", "synonym", "none")
def synonym_reworded(parse: Parse) -> Outcome:
    """Replace one to three words or phrases by synonyms: *due to* -> *because of*, *postponed* -> *put off*."""
    spots = [*_listed_phrases(parse), *_listed_words(parse)]
    return several(parse, longest(spots), "no word or phrase with a synonym that fits")


@cache
def _lexicon(kind: str) -> Mapping[str, tuple[str, ...]]:
    """Return the rows of one word class, or of ``PHRASE``, with the synonyms of each."""
    ending = f"/{kind}"
    return {key.removesuffix(ending): others for key, others in table("rewordings").items() if key.endswith(ending)}


def _listed_phrases(parse: Parse) -> Iterator[Change]:
    """Yield a synonym of every run of words that is listed as a phrase, the longest at each place."""
    phrases, words = _lexicon("PHRASE"), list(re.finditer(r"[\w'’-]+(?:\.(?=$))?", parse.text))
    for n, first in enumerate(words):
        for last in reversed(words[n : n + LONGEST]):
            old = parse.text[first.start() : last.end()]
            options = phrases.get(old.lower())
            if options and (old[1:] == old[1:].lower()) and _phrase_fits(parse, old.lower(), first.start(), last.end()):
                yield first.start(), last.end(), parse.rng.choice(options)
                break


def _phrase_fits(parse: Parse, old: str, start: int, end: int) -> bool:
    """Return whether a phrase is what it looks like: prepositions with what follows, no part of a longer expression."""
    before, after, words = parse.text[:start].rstrip().lower(), parse.text[end : end + 12], old.split()
    if before.endswith(("-", "n't", " not", " no", "exactly", "quite", "just")) or after[:1] in ("-", ","):
        return False
    governs = words[-1] in word_set("rewording.governing") or old in ("despite", "besides", "near")
    if governs and not re.match(r" [\w\"“‘'(]", after):
        return False
    if words[-1] == "to" and len(words) > 1 and words[0] in word_set("rewording.not_reworded_with_to"):
        place = word_at(parse, end + 1)
        return place is not None and parse.tag(place) == "VB"
    return not old.endswith("ly") or len(words) > 1 or _at_edge(parse, end)


def _at_edge(parse: Parse, end: int) -> bool:
    """Return whether a comma or the end of the clause follows, so that an adverb of several words fits."""
    return re.match(r"[.,;!?]|$", parse.text[end:]) is not None


def _listed_words(parse: Parse) -> Iterator[Change]:
    """Yield single words of the open classes with a synonym in their form."""
    for n in open_words(parse):
        word, listed = parse.words[n], _lexicon(parse.pos(n)).get(parse.lemma(n), ())
        options = [option for option in listed if " " not in option or _takes_phrase(parse, n)]
        if not options or word.xpos not in TAGS or word.text.isupper() or not _stands_free(parse, n):
            continue
        form = form_of(parse.materials, parse.rng.choice(options), word.xpos)
        if form and form.lower() != word.text.lower():
            yield word.start, word.end, in_case_of(form, word.text)


def _takes_phrase(parse: Parse, n: int) -> bool:
    """Return whether several words can replace a word: no plural, no passive, no pronoun that would part the words."""
    if parse.pos(n) == "ADV":
        return _at_edge(parse, parse.words[n].end)
    passive = parse.has(n, "nsubj:pass") or parse.relates(n, "acl")
    return parse.tag(n) != "NNS" and not passive and parse.tag(n + 1) != "PRP"


def _stands_free(parse: Parse, n: int) -> bool:
    """Return whether the word is no part of a compound, a phrasal verb or a comparison."""
    upos, below = parse.pos(n), parse.children(n)
    if upos == "NOUN":
        return not parse.has(n, "compound")
    if upos == "ADJ":
        measured = parse.has(n, "obl", "nmod", "xcomp", "ccomp", "advcl")
        graded = any(parse.low(m) in word_set("rewording.graded") for m in below)
        return not (measured or graded) and parse.relates(n, "amod", "root", "conj", "xcomp", "ccomp")
    if upos == "ADV":
        return not below and parse.relates(n, "advmod")
    return parse.relation(n) in CLAUSES and parse.low(n + 1) not in word_set("rewording.particles")


CLAUSES = ("root", "conj", "ccomp", "advcl", "xcomp", "acl:relcl", "acl", "parataxis")

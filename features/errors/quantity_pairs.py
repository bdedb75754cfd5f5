"""Compare the quantities of two texts: the same values, and other values in the same slot.

A slot is what a text says its quantity of: the content words of its clause ("Basic" and "Pro" in *Basic $5, Pro $12*). Two slots are linked
where words that single out one quantity in its text single out one in the other text, too, and no other word contradicts.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .number_words import read_number
from .quantities import PREFIX, Quantity

TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[.;!?\n,]")
BREAKS = frozenset(", . ; ! ? \n and but or while whereas then".split(" "))
"""Where a clause ends."""
HARD = frozenset(". ; ! ? \n".split(" "))
FUNCTION_WORDS = frozenset(
    "a an the of in on at to by for from with into per than as is are was were be been being has have had do does did will would can could "
    "it its this that these those he she they we you i his her their our your my him them there here who which when where not no so also "
    "only just about around over under after before until since between during each every all both".split()
)
ABOUT = re.compile(
    r"(?:about|around|approximately|approx\.|roughly|nearly|almost|some|over|under|more than|less than|at least|up to|circa|ca\.|~|≈)\s?$"
)
BOUND = re.compile(r"(?:more|less|fewer|above|below|at most|before|after|until|by)(?: than)?\s$")
NEAR = 0.1
"""Values that differ by at most this share may be the same, rounded, where a text says "about" or uses another unit."""
COMMON = 50
"""A value that occurs more often is no evidence for an exchange."""
NUMBER = "number / "
"""The group of plain numbers."""
PLAIN = ("number", "ratio", "sequence")
EXACT = ("ordinal", "decade", "range", "score", "version", "sequence", "code")
POUND = 0.45359237


@dataclass(frozen=True, slots=True)
class QuantitiesCompared:
    """Pairs of a quantity of the reference and one of the hypothesis; each quantity is in at most one pair.

    Attributes
    ----------
    equal
        The same value, however it is written.
    different
        Another value in the same slot, both of them sure; values that two slots exchanged are two pairs.
    """

    equal: tuple[tuple[Quantity, Quantity], ...]
    different: tuple[tuple[Quantity, Quantity], ...]


@dataclass(slots=True)
class _Slot:
    """A quantity with the words around it.

    Attributes
    ----------
    group
        Quantities of one group are comparable.
    keys
        Two quantities are equal when they share one.
    words
        The content words of its clause, as far as they belong to it.
    around
        The tokens right before and after it.
    figure
        Its number without the unit, None where it has several.
    doubtful
        Whether the text says "about" before it.
    bounded
        Whether it is a bound, which another one may express: "more than three" and "four or more".
    """

    quantity: Quantity
    written: str
    group: str
    keys: frozenset[Hashable]
    doubtful: bool
    bounded: bool
    figure: float | None
    words: set[str] = field(default_factory=set)
    around: tuple[str, str] = ("", "")


def compare_quantities(
    reference_text: str, reference: Sequence[Quantity], hypothesis_text: str, hypothesis: Sequence[Quantity]
) -> QuantitiesCompared:
    """Return the equal and the different quantities of two texts; all others are for the reader of both texts to judge."""
    if not reference or not hypothesis:
        return QuantitiesCompared((), ())
    ones, others = _slots(reference_text, reference), _slots(hypothesis_text, hypothesis)
    links = _links(ones, others)
    equal = {i: j for i, j in links.items() if ones[i].keys & others[j].keys}
    different = _exchanged(ones, others, links)
    _match_values(ones, others, equal, different)
    left = [n for n in range(len(ones)) if n not in equal and n not in different]
    taken = {*equal.values(), *different.values()}
    there = [n for n in range(len(others)) if n not in taken]
    neighbours = _once(ones, left, others, there, lambda slot: slot.around)
    groups = _once(ones, left, others, there, lambda slot: slot.group)
    singles = {i: j for i, j in groups.items() if ones[i].words & others[j].words}
    if len(left) == len(there) == 1 and not (
        ones[left[0]].bounded or others[there[0]].bounded or ones[left[0]].group == NUMBER
    ):
        singles |= groups
    figures = _figures(ones, set(left) - links.keys()), _figures(others, set(there) - set(links.values()))
    for i, j in (*links.items(), *neighbours.items(), *singles.items()):
        elided = _elided(ones[i], others[j], others, figures[1]) or _elided(others[j], ones[i], ones, figures[0])
        if i not in equal and i not in different and j not in taken and not elided and _differ(ones[i], others[j]):
            different[i] = j
            taken.add(j)
    pairs = [tuple((reference[i], hypothesis[j]) for i, j in sorted(found.items())) for found in (equal, different)]
    return QuantitiesCompared(pairs[0], pairs[1])


def _figures(slots: Sequence[_Slot], unmatched: Iterable[int]) -> set[float]:
    """Return the plain numbers among the unmatched quantities."""
    return {slots[n].quantity.value for n in unmatched if slots[n].quantity.dimension == "number"}


def _elided(slot: _Slot, other: _Slot, others: Sequence[_Slot], figures: Collection[float]) -> bool:
    """Return whether the other text may have the same figure without its unit, as in "three hours rather than six"."""
    dimension = slot.quantity.dimension
    there = slot.figure in figures or slot.figure == other.quantity.value and other.quantity.dimension == "number"
    return dimension != "number" and there and any(near.quantity.dimension == dimension for near in others)


def _match_values(ones: Sequence[_Slot], others: Sequence[_Slot], equal: dict[int, int], different: Mapping[int, int]) -> None:
    """Pair what is left by value, in order, first what is written alike."""
    keys: tuple[Callable[[_Slot], Iterable[Hashable]], ...]
    keys = (lambda slot: [(slot.quantity.dimension, slot.written)], lambda slot: slot.keys)
    for key in keys:
        taken = {*equal.values(), *different.values()}
        places: dict[Hashable, deque[int]] = defaultdict(deque)
        for j, slot in enumerate(others):
            for k in () if j in taken else key(slot):
                places[k].append(j)
        for i, slot in enumerate(ones):
            for k in () if i in equal or i in different else sorted(key(slot), key=str):
                while places[k] and i not in equal:
                    if (j := places[k].popleft()) not in taken:
                        equal[i] = j
                        taken.add(j)


def _once(
    ones: Sequence[_Slot], left: Iterable[int], others: Sequence[_Slot], there: Iterable[int], key: Callable[[_Slot], Hashable]
) -> dict[int, int]:
    """Return the unmatched quantities that share a key which occurs once among the unmatched of each side."""
    places: tuple[dict[Hashable, list[int]], ...] = (defaultdict(list), defaultdict(list))
    for side, slots, numbers in zip(places, (ones, others), (left, there), strict=True):
        for n in numbers:
            side[key(slots[n])].append(n)
    return {i[0]: places[1][k][0] for k, i in places[0].items() if len(i) == 1 == len(places[1].get(k, ()))}


def _slots(text: str, quantities: Sequence[Quantity]) -> list[_Slot]:
    """Return the slot of each quantity of a text."""
    slots = []
    clauses: list[list[str | int]] = [[]]
    hard = [True]
    tokens: list[str] = [""]
    places = []
    end = 0
    for n, quantity in enumerate([*quantities, Quantity(len(text), len(text), "", 0.0)]):
        for token in TOKEN.findall(text, end, quantity.start):
            word = token.casefold().removesuffix("'s").removesuffix("’s")
            tokens.append(word)
            if word in BREAKS:
                clauses.append([])
                hard.append(word in HARD)
            elif word not in FUNCTION_WORDS:
                clauses[-1].append(word.rstrip("s"))
        end = quantity.end
        places.append(len(tokens))
        if n < len(quantities):
            tokens.append("#")
            clauses[-1].append(n)
            written = text[quantity.start : quantity.end].casefold()
            before = text[max(0, quantity.start - 15) : quantity.start].casefold()
            about, bounded = ABOUT.search(before) is not None, BOUND.search(before) is not None
            number = read_number(written, written, PREFIX.match(written).end())  # type: ignore[union-attr]
            figure = None if number is None or not isinstance(quantity.value, float) else number.value
            slots.append(_Slot(quantity, written, _group(quantity), _keys(quantity, written), about, about or bounded, figure))
    tokens.append("")
    for slot, place in zip(slots, places, strict=False):
        slot.around = tokens[place - 1], tokens[place + 1]
    _share_words(slots, clauses, hard)
    return slots


def _share_words(slots: Sequence[_Slot], clauses: Sequence[Sequence[str | int]], hard: Sequence[bool]) -> None:
    """Give each slot the words of its clause, or of a neighbouring clause where its own has none; several share them by side."""
    for n, clause in enumerate(clauses):
        owners = [item for item in clause if isinstance(item, int)]
        words = {item for item in clause if isinstance(item, str)}
        if len(owners) == 1:
            for near, barrier in ((n + 1, n + 1), (n - 1, n)):
                if (
                    not words
                    and 0 <= near < len(clauses)
                    and not hard[barrier]
                    and all(isinstance(item, str) for item in clauses[near])
                ):
                    words = {str(item) for item in clauses[near]}
            slots[owners[0]].words = words
            continue
        last = -1
        pending: list[str] = []
        for item in clause if owners else ():
            if isinstance(item, str):
                pending.append(item)
                if last >= 0:
                    slots[last].words.add(f">{item}")
            else:
                slots[item].words.update(f"<{word}" for word in pending)
                last, pending = item, []


def _group(quantity: Quantity) -> str:
    """Return the name that comparable quantities share."""
    name, _, rate = quantity.dimension.partition(" / ")
    if name in PLAIN:
        name = "number"
    elif name == "score":
        name = "range"
    elif name == "code":
        name = re.sub(r"\d+", "#", str(quantity.value))
    elif name.startswith("money:") or name in ("pounds", "cents"):
        name = "money range" if name.endswith("range") else "money"
    return f"{name.replace(' (12 h)', '')} / {rate}"


def _rounded(value: Any) -> Hashable:
    """Return a value to twelve digits, so that other units give equal numbers."""
    if isinstance(value, tuple):
        return tuple(map(_rounded, value))
    return float(f"{value:.11e}") if isinstance(value, float) else value


def _keys(quantity: Quantity, written: str) -> frozenset[Hashable]:
    """Return the readings of a quantity; 3.10 has its own, as it may be a version."""
    name, value = quantity.dimension, quantity.value
    if name == "sequence":
        digits = len(value) <= 12 and not value.startswith("0")
        return frozenset(((name, value), ("number", float(value)) if digits else (name, value)))
    if name == "pounds":
        return frozenset((("money:GBP", _rounded(value)), ("mass", _rounded(value * POUND))))
    if name == "cents":
        return frozenset((("money:USD", _rounded(value)), ("money:EUR", _rounded(value))))
    if name == "number" and re.fullmatch(r"\d+\.\d*0", written):
        return frozenset((("number", written),))
    name = {"ratio": "number", "ordinal": "number", "score": "range"}.get(name, name).replace(" (12 h)", "")
    return frozenset(((name, _rounded(value)),))


def _links(ones: Sequence[_Slot], others: Sequence[_Slot]) -> dict[int, int]:
    """Return the slots that clearly stand for each other, by words that only they have."""
    owners: list[dict[tuple[str, str], int]] = []
    for slots in (ones, others):
        uses = Counter((slot.group, word) for slot in slots for word in slot.words)
        owners.append(
            {(slot.group, word): n for n, slot in enumerate(slots) for word in slot.words if uses[slot.group, word] == 1}
        )
    votes = {(i, owners[1][key]) for key, i in owners[0].items() if key in owners[1]}
    often = Counter(i for i, _ in votes), Counter(j for _, j in votes)
    return {i: j for i, j in sorted(votes) if often[0][i] == often[1][j] == 1}


def _exchanged(ones: Sequence[_Slot], others: Sequence[_Slot], links: Mapping[int, int]) -> dict[int, int]:
    """Return the linked slots with another value, where no slot outside the links has that value on the other side."""
    back = {j: i for i, j in links.items()}
    places = _by_key(ones), _by_key(others)
    linked = back.keys(), links.keys()
    found = {}
    for i, j in links.items():
        theirs = [n for key in ones[i].keys for n in places[1][key]]
        ours = [n for key in others[j].keys for n in places[0][key]]
        rare = 0 < len(theirs) + len(ours) and len(theirs) <= COMMON and len(ours) <= COMMON
        if not rare or not linked[0] >= set(theirs) or not linked[1] >= set(ours) or not _differ(ones[i], others[j]):
            continue
        rivals = [_likeness(ones[i], others[n]) for n in theirs] + [_likeness(ones[n], others[j]) for n in ours]
        if _likeness(ones[i], others[j]) > max(rivals, default=0):
            found[i] = j
    return found


def _likeness(one: _Slot, other: _Slot) -> int:
    """Return the number of words that two slots share, those on the same side twice."""
    sides = [{word.lstrip("<>") for word in slot.words} for slot in (one, other)]
    return len(one.words & other.words) + len(sides[0] & sides[1])


def _by_key(slots: Sequence[_Slot]) -> dict[Hashable, list[int]]:
    """Return the places of each reading."""
    places: dict[Hashable, list[int]] = defaultdict(list)
    for n, slot in enumerate(slots):
        for key in slot.keys:
            places[key].append(n)
    return places


def _differ(one: _Slot, other: _Slot) -> bool:
    """Return True only where two quantities certainly have different values; other units of another kind are different, too."""
    a, b = one.quantity, other.quantity
    if not (a.sure and b.sure) or one.keys & other.keys:
        return False
    if one.group != other.group:
        physical = not {a.dimension, b.dimension} & {*PLAIN, *EXACT, "date"}
        return physical and isinstance(a.value, float) and isinstance(b.value, float) and one.around == other.around
    if a.dimension.startswith("date"):
        return _conflict(a.value, b.value)
    if a.dimension.startswith("time of day"):
        twelve = "(12 h)" in a.dimension + b.dimension and a.dimension != b.dimension
        return not twelve or _turned(a.value) != _turned(b.value)
    if a.dimension == b.dimension and a.dimension not in EXACT:
        ends = [value if isinstance(value, tuple) else (value,) for value in (a.value, b.value)]
        return not all(_may_be_rounded(one, other, *pair) for pair in zip(*ends, strict=True))
    return True


def _conflict(one: Any, two: Any) -> bool:
    """Return whether two dates, or ranges of dates, contradict each other in what both of them say."""
    if isinstance(one, tuple) and isinstance(two, tuple):
        return any(_conflict(a, b) for a, b in zip(one, two, strict=False))
    return one is not None and two is not None and one != two


def _turned(value: Any) -> Hashable:
    """Return times on a clock of twelve hours."""
    return tuple(map(_turned, value)) if isinstance(value, tuple) else value % 720 if isinstance(value, float) else value


def _may_be_rounded(one: _Slot, other: _Slot, a: float, b: float) -> bool:
    """Return whether one value may stand for the other: after "about", in another unit, or rounded in words."""
    if _rounded(a) == _rounded(b) or (one.bounded != other.bounded and abs(a - b) == 1.0):
        return True
    letters = [re.sub(r"[^a-z°²³]", "", slot.written) for slot in (one, other)]
    near = abs(a - b) <= (1.0 if one.quantity.dimension == "temperature" else NEAR * max(abs(a), abs(b)))
    if not near or not (one.doubtful or other.doubtful or letters[0] != letters[1]):
        return False
    short, long = sorted((a, b), key=lambda value: len(f"{value:.11e}".split("e")[0].rstrip("0")))
    digits = max(len(f"{short:.11e}".split("e")[0].strip("-").rstrip("0").replace(".", "")), 1)
    return one.doubtful or other.doubtful or one.quantity.dimension not in PLAIN or float(f"{long:.{digits - 1}e}") == short

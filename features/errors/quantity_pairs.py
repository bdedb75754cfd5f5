"""Compare the quantities of two texts: the same values, and other values in the same slot.

A slot is what a text says its quantity of: the content words of its clause ("Basic" and "Pro" in *Basic $5, Pro $12*). Two slots are linked
where words that single out one quantity in its text single out one in the other text, too, and no other word contradicts.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from .quantities import Quantity, in_digits

TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[.;!?\n,]")
BREAKS = frozenset(", . ; ! ? \n and but or while whereas then".split(" "))
"""Ends of clauses."""
FUNCTION_WORDS = frozenset(
    "a an the of in on at to by for from with into per than as is are was were be been being has have had do does did will would can could "
    "it its this that these those he she they we you i his her their our your my him them there here who which when where not no so also "
    "only just about around over under after before until since between during each every all both".split()
)
ABOUT = re.compile(
    r"(?:about|around|approximately|roughly|nearly|almost|some|over|under|(?:more|less) than|at least|up to|ca\.|~|≈)\s?$"
)
NEAR = 0.1
"""Values that differ by at most this share may be the same, rounded, where a text says "about" or uses another unit."""
NUMBER, PROGRAM = "number / ", "program / "
"""The groups of plain numbers and of pieces of code."""
PLAIN = ("number", "ratio", "sequence")
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
        Its number as written, in digits.
    doubtful
        Whether the text says "about" before it.
    """

    quantity: Quantity
    written: str
    group: str
    keys: frozenset[Hashable]
    doubtful: bool
    figure: str
    words: set[str] = field(default_factory=set)
    around: tuple[str, str] = ("", "")


def compare_quantities(
    reference_text: str, reference: Sequence[Quantity], hypothesis_text: str, hypothesis: Sequence[Quantity]
) -> QuantitiesCompared:
    """Return the equal and the different quantities of two texts; all others are for the reader of both texts to judge."""
    ones, others = _slots(reference_text, reference), _slots(hypothesis_text, hypothesis)
    links = _links(ones, others)
    back = {j: i for i, j in links.items()}
    free = [slot for n, slot in enumerate(ones) if n not in links], [slot for n, slot in enumerate(others) if n not in back]
    ours, theirs = ({key for slot in slots for key in slot.keys} for slots in free)
    figures = [{slot.figure for slot in slots if slot.group == NUMBER} for slots in free]
    code = [[slot.written for slot in slots if slot.group == PROGRAM] for slots in (ones, others)]

    def certain(i: int, j: int) -> bool:
        """Return whether two quantities differ, and neither may be in the other text without its unit, or in pieces of code."""
        given = (ones[i].written, code[1]), (others[j].written, code[0])
        if all({*text.split()} <= {*" ".join(there).split()} for text, there in given) and any(text not in there for text, there in given):
            return False
        one, other = ones[i].figure, others[j].figure
        elided = ones[i].group != NUMBER and one != other and (one in figures[1] or other in figures[0])
        return not elided and _differ(ones[i], others[j])

    equal = {i: j for i, j in links.items() if ones[i].keys & others[j].keys}
    exchanged = {i: j for i, j in links.items() if not ones[i].keys & theirs and not others[j].keys & ours}
    different = {i: j for i, j in exchanged.items() if certain(i, j)}
    _match_values(ones, others, equal, different)
    taken = {*equal.values(), *different.values()}
    left = {n: slot for n, slot in enumerate(ones) if n not in equal and n not in different}
    there = {n: slot for n, slot in enumerate(others) if n not in taken}
    neighbours, groups = _once(left, there, lambda slot: slot.around), _once(left, there, lambda slot: slot.group)
    alone = len(left) == len(there) == 1
    singles = {i: j for i, j in groups.items() if ones[i].words & others[j].words or alone and ones[i].group != NUMBER}
    programs = zip(*([n for n, slot in side.items() if slot.group == PROGRAM] for side in (left, there)), strict=False)
    for i, j in (*links.items(), *neighbours.items(), *singles.items(), *programs):
        if i in left and i not in different and j not in taken and certain(i, j):
            different[i] = j
            taken.add(j)
    pairs = [tuple((reference[i], hypothesis[j]) for i, j in sorted(found.items())) for found in (equal, different)]
    return QuantitiesCompared(pairs[0], pairs[1])


def _match_values(ones: Sequence[_Slot], others: Sequence[_Slot], equal: dict[int, int], different: dict[int, int]) -> None:
    """Pair what is left by value, in order."""
    taken = {*equal.values(), *different.values()}
    places: dict[Hashable, deque[int]] = defaultdict(deque)
    for j, slot in enumerate(others):
        for key in slot.keys if j not in taken else ():
            places[key].append(j)
    for i, slot in enumerate(ones):
        for key in sorted(slot.keys, key=str) if i not in equal and i not in different else ():
            while places[key] and i not in equal:
                if (j := places[key].popleft()) not in taken:
                    equal[i] = j
                    taken.add(j)


def _once(left: dict[int, _Slot], there: dict[int, _Slot], key: Callable[[_Slot], Hashable]) -> dict[int, int]:
    """Return the unmatched quantities that share a key which occurs once among the unmatched of each side."""
    places: tuple[dict[Hashable, list[int]], ...] = (defaultdict(list), defaultdict(list))
    for side, slots in zip(places, (left, there), strict=True):
        for n, slot in slots.items():
            side[key(slot)].append(n)
    return {i[0]: places[1][k][0] for k, i in places[0].items() if len(i) == 1 == len(places[1].get(k, ()))}


def _slots(text: str, quantities: Sequence[Quantity]) -> list[_Slot]:
    """Return the slot of each quantity of a text: with others in its clause, the words before it, or after it where the clause begins with one."""
    slots: list[_Slot] = []
    clauses: list[list[str | _Slot]] = [[]]
    tokens: list[str] = [""]
    places = []
    end = 0
    for quantity in [*quantities, Quantity(len(text), len(text), "", 0.0)]:
        for token in TOKEN.findall(text, end, quantity.start):
            word = token.casefold().removesuffix("'s").removesuffix("’s")
            tokens.append(word)
            if word in BREAKS:
                clauses.append([])
            elif word not in FUNCTION_WORDS:
                clauses[-1].append(word.rstrip("s"))
        end = quantity.end
        places.append(len(tokens))
        tokens.append("#")
        if quantity.dimension:
            written = text[quantity.start : end]
            figure = "".join(re.findall(r"\d[\d.,/]*", in_digits(written.casefold()).text)[:1])
            doubtful = ABOUT.search(text[max(0, quantity.start - 15) : quantity.start].casefold()) is not None
            slots.append(_Slot(quantity, written, _group(quantity), _keys(quantity, written), doubtful, figure))
            clauses[-1].append(slots[-1])
    for slot, place in zip(slots, places, strict=False):
        slot.around = tokens[place - 1], "" if place + 2 == len(tokens) else tokens[place + 1]
    for clause in clauses:
        owners = [item for item in clause if isinstance(item, _Slot)]
        owner = owners[0] if len(owners) == 1 else None
        side = "" if owner else ">" if owners and owners[0] is clause[0] else "<"
        for item in clause[::-1] if side == "<" else clause:
            if isinstance(item, _Slot):
                owner = item
            elif owner:
                owner.words.add(side + item)
    return slots


def _group(quantity: Quantity) -> str:
    """Return the name that comparable quantities share."""
    name, _, rate = quantity.dimension.partition(" / ")
    name = "money" if name.startswith("money:") or name in ("pounds", "cents") else name.removesuffix(" (12 h)")
    return f"{'number' if name in PLAIN else 'range' if name == 'score' else name} / {rate}"


def _keys(quantity: Quantity, written: str) -> frozenset[Hashable]:
    """Return the readings of a quantity; 3.10 has its own, as it may be a version."""
    name, value = quantity.dimension, quantity.value
    if name == "sequence":
        return frozenset([(name, value), *([("number", float(value))] if len(value) <= 12 and value[0] != "0" else [])])
    if name == "pounds":
        return frozenset((("money:GBP", value), ("mass", float(f"{value * POUND:.11e}"))))
    if name == "cents":
        return frozenset((("money:USD", value), ("money:EUR", value)))
    if name == "number" and re.fullmatch(r"\d+\.\d*0", written):
        return frozenset(((name, written),))
    name = {"ratio": "number", "ordinal": "number", "score": "range"}.get(name, name).removesuffix(" (12 h)")
    return frozenset(((name, value),))


def _links(ones: Sequence[_Slot], others: Sequence[_Slot]) -> dict[int, int]:
    """Return the slots that clearly stand for each other, by words that only they have."""
    owners: list[dict[tuple[str, str], int]] = []
    for slots in (ones, others):
        words = [((slot.group, word), n) for n, slot in enumerate(slots) for word in slot.words]
        uses = Counter(key for key, _ in words)
        owners.append({key: n for key, n in words if uses[key] == 1})
    votes = {(i, owners[1][key]) for key, i in owners[0].items() if key in owners[1]}
    often = Counter(i for i, _ in votes), Counter(j for _, j in votes)
    return {i: j for i, j in sorted(votes) if often[0][i] == often[1][j] == 1}


def _differ(one: _Slot, other: _Slot) -> bool:
    """Return True only where two quantities certainly have different values; other units of another kind are different, too."""
    a, b = one.quantity, other.quantity
    if not (a.sure and b.sure) or one.keys & other.keys:
        return False
    if one.group != other.group:
        physical = not {a.dimension, b.dimension} & {*PLAIN, "ordinal"}
        return physical and isinstance(a.value, float) and isinstance(b.value, float) and one.around == other.around
    if a.dimension != b.dimension and one.figure == other.figure and "number" in (a.dimension, b.dimension):
        return False  # a unit may be left out: 3.4 per cent, after 3.1
    if a.value == b.value and a.dimension == "number":
        return False  # 3.1 and 3.10
    if a.dimension == "date":
        return any(x is not None and y is not None and x != y for x, y in zip(a.value, b.value, strict=True))
    if a.dimension.startswith("time of day"):
        return bool(a.value % 720 != b.value % 720) or a.dimension == b.dimension
    exact = a.dimension != b.dimension or a.dimension == "ordinal" or not isinstance(a.value, float)
    return exact or not _may_be_rounded(one, other)


def _unit(slot: _Slot) -> float:
    """Return the value of its unit in base units, 0 where that is not clear."""
    clear = re.fullmatch(r"[\d,]*[1-9][\d,]*(\.\d+)?", slot.figure)
    return float(f"{slot.quantity.value / float(slot.figure.replace(',', '')):.9e}") if clear else 0.0


def _may_be_rounded(one: _Slot, other: _Slot) -> bool:
    """Return whether one value may stand for the other: after "about", in another unit, or rounded in words."""
    a, b, doubtful = one.quantity.value, other.quantity.value, one.doubtful or other.doubtful
    letters = [re.sub(r"[^a-z°²³]", "", slot.written.casefold()) for slot in (one, other)]
    near = abs(a - b) <= (1.0 if one.quantity.dimension == "temperature" else NEAR * max(abs(a), abs(b)))
    plain = one.quantity.dimension in PLAIN
    alike = letters[0] == letters[1] if plain else letters[0] == letters[1] != "" or 0.0 < _unit(one) == _unit(other)
    if doubtful or alike or not plain or not near:
        return near and (doubtful or not alike)
    short, long = sorted((a, b), key=lambda value: len(f"{value:.11e}".split("e")[0].rstrip("0")))
    digits = max(len(f"{short:.11e}".split("e")[0].strip("-").rstrip("0").replace(".", "")), 1)
    return float(f"{long:.{digits - 1}e}") == short

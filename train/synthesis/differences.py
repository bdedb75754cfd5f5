"""What turned one given text into another given text, as operations that replay to the last character."""

from __future__ import annotations

from rome.train.synthesis.edit_script import EditScript
from rome.train.synthesis.values import Operation

__all__ = ["SPACING", "diff_operations"]

SPACING = "spacing"
"""Kind of an operation that changes white space alone."""


def diff_operations(before: str, after: str, type: str = "") -> tuple[Operation, ...]:
    """The fewest word edits from ``before`` to ``after``, from left to right, without severities; none for equal texts.

    Unlike a chain of an edit script, whose white space is chosen anew, carrying all of them out gives ``after`` exactly: what
    stands between two kept words is replaced where it differs, white space and all.
    """
    script = EditScript.between(before, after)
    old, new = script.words
    kept = [(old[place.anchor], new[place.neighbour]) for place in script.places if place.neighbour >= 0]
    operations: list[Operation] = []
    at, new_at, shift = 0, 0, 0
    for end, new_end, next_at, next_new in [
        *((one.start, other.start, one.end, other.end) for one, other in kept),
        (len(before), len(after), 0, 0),
    ]:
        operation = _difference(before[at:end], after[new_at:new_end], at + shift, type)
        if operation is not None:
            operations.append(operation)
        shift = new_end - end
        at, new_at = next_at, next_new
    return tuple(operations)


def _difference(old: str, new: str, start: int, type: str) -> Operation | None:
    """One operation for what stands between two kept words, without the white space that both begin or end with."""
    if old == new:
        return None
    head = _shared(old, new)
    old, new = old[head:], new[head:]
    tail = _shared(old[::-1], new[::-1])
    old, new = old[: len(old) - tail], new[: len(new) - tail]
    kinds = {(True, True): "replacement", (False, True): "insertion", (True, False): "deletion", (False, False): SPACING}
    return Operation(kinds[bool(old.strip()), bool(new.strip())], start + head, start + head + len(old), old, new, type=type)


def _shared(one: str, other: str) -> int:
    """How much white space both texts begin with alike."""
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count] and one[count].isspace():
        count += 1
    return count

"""What every synthesis pipeline yields: a text, what was done to it step by step, how bad each step is, and where it came from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rome.exceptions import InputError

__all__ = ["MOST", "GeneratedPair", "Operation"]

MOST = 25.0
"""The most that all mistakes of a text can cost, as in MQM and SEScore (labels lie in [-25, 0])."""
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Operation:
    """One step. start, end : characters of the text **before** this step; ``original`` stood there, ``new`` took its place.

    kind : insertion, deletion, replacement, swap, or another pipeline's own word. type : what it is about, such as noun, number.
    severity : none, minor or major. label : what it costs, at most 0 (SEScore: -1 or -5; None where a pipeline gives no severity).
    details : numbers behind the severity, such as the probabilities of entailment or the likelihood in context.
    """

    kind: str
    start: int
    end: int
    original: str
    new: str
    severity: str = "none"
    label: float | None = None
    type: str = ""
    details: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GeneratedPair:
    """A reference, the hypothesis that was made of it, and everything needed to make it again.

    id : unique within a run. pipeline : its name and settings that change the output, ``sescore|fill:...``. seed : of this pair.
    reference : the anchor text. hypothesis : the text after all operations, which are in the order they were carried out.
    label : the sum of the operations' labels, at least -25; None where they have none.
    signals : further numbers of the pair (BLEURT's pre-training signals). source : where the reference came from, ``file:line``.
    """

    id: str
    pipeline: str
    seed: int
    reference: str
    hypothesis: str
    operations: tuple[Operation, ...] = ()
    label: float | None = None
    signals: Mapping[str, float] = field(default_factory=dict)
    source: str = ""

    def replayed(self) -> str:
        """The hypothesis made again from the reference and the operations. Raises InputError when an operation does not fit its text."""
        text = self.reference
        for operation in self.operations:
            if text[operation.start : operation.end] != operation.original:
                raise InputError(
                    f"pair {self.id}: {operation.original!r} does not stand at {operation.start} of the text before: damaged"
                )
            text = text[: operation.start] + operation.new + text[operation.end :]
        return text

    def to_json(self) -> str:
        """One line of JSON; equal pairs give equal bytes."""
        return json.dumps({"format": FORMAT, **asdict(self)}, ensure_ascii=False, sort_keys=True)

    @staticmethod
    def from_json(line: str, place: str = "") -> GeneratedPair:
        """What to_json wrote. Raises InputError, naming the place, for anything else."""
        try:
            row: dict[str, Any] = json.loads(line)
            if row.pop("format") != FORMAT:
                raise ValueError("another format")
            operations = tuple(Operation(**operation) for operation in row.pop("operations"))
            return GeneratedPair(operations=operations, **row)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(f"{place}: no generated pair ({error}): take a file that `rome synthesize` wrote") from error

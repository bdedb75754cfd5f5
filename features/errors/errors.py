"""Measure errors: the spans that the pair reader marks, different quantities, and errors on the surface."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ..protocol import AnalysedText, Feature, Resources, number, string
from ..values import Component
from .evidence import MAXIMUM, SEVERITIES, ErrorsConfig, ErrorsEvidence, ErrorSpan, PairErrorModel, TextSpan, value_of
from .prepared import PreparedText, match_words, prepare
from .quantity_pairs import compare_quantities
from .spans import PairWords, equal_words, find_spans, surface_errors, weigh


class Errors(Feature[PreparedText]):
    """Count the errors of the hypothesis by severity: minor 1, major 5, critical 10, at most 25 per segment (MQM, SEScore)."""

    name, config_class = "errors", ErrorsConfig
    about = "how many mistakes, how bad? A minor one weighs 1, a major one 5, a critical one, which turns the meaning, 10; at most 25 a segment."

    def __init__(self, reader: PairErrorModel, config: ErrorsConfig = ErrorsConfig()) -> None:
        self.reader, self.config = reader, config

    @classmethod
    def make(cls, config: ErrorsConfig, resources: Resources) -> Errors:
        """Return the feature with the reader of the model set, whose weights are loaded at the first pair."""
        from ..analyser.pair_reader import PairReader

        given = (resources.threads, resources.device, resources.batch_size, resources.precision)
        return cls(PairReader(resources.folder, config.below, *given), config)

    @staticmethod
    def evidence_from_dict(row: dict[str, Any]) -> ErrorsEvidence:
        """Return the evidence that ``to_dict()`` wrote."""
        errors, differences = (tuple(map(_error_from_dict, given)) for given in (row["errors"], row.get("differences", ())))
        return ErrorsEvidence(errors, number(row["count"]), differences, number(row.get("doubt", 0.0)))

    def prepare(self, text: AnalysedText) -> PreparedText:
        """Prepare one text."""
        return prepare(text)

    def compare(self, reference: PreparedText, hypothesis: PreparedText) -> Component:
        """Compare one pair, see `compare_all`."""
        return self.compare_all([(reference, hypothesis)])[0]

    def compare_all(self, pairs: Sequence[tuple[PreparedText, PreparedText]]) -> list[Component]:
        """Return one component with the value 12 / (12 + count + doubt) per pair of reference and hypothesis.

        Notes
        -----
        The count is the sum of the weights of the listed errors, the doubt a share of what the reader expects beyond them. The raw quantity is
        both together, at most 25. It is not divided by the length, because the reader's amount refers to the whole pair. An empty hypothesis
        for a reference with words has one error, the full count, and value 0.
        A text compared with itself has no error.
        """
        quantities = [compare_quantities(one.text, one.quantities, other.text, other.quantities) for one, other in pairs]
        equal = [equal_words(*pair, compared.equal) for pair, compared in zip(pairs, quantities, strict=True)]
        readings = self.reader([(one.analysis, other.analysis) for one, other in pairs], equal)
        found = []
        for pair, compared, same, reading in zip(pairs, quantities, equal, readings, strict=True):
            matches = match_words(*pair)
            spans = find_spans(PairWords(*pair, reading, same), matches, compared.different, reading.amount, self.config)
            words = weigh(spans, reading.amount, self.config)
            doubt = self.config.doubt * max(0.0, reading.amount - math.fsum(error.weight for error in words))
            surface = surface_errors(*pair, matches, compared.equal, self.config.surface)
            found.append(self._component(*pair, [*words, *surface], doubt))
        return found

    def _component(
        self, reference: PreparedText, hypothesis: PreparedText, errors: Sequence[ErrorSpan], doubt: float
    ) -> Component:
        """Return the component of a pair with these errors and differences, and the doubt."""
        empty = bool(reference.words) and not hypothesis.words
        doubt = doubt if hypothesis.words else 0.0
        if reference.text == hypothesis.text:
            errors, doubt = [], 0.0
        elif empty:
            everything = reference.span_of(range(len(reference.words)))
            errors = [ErrorSpan("missing", "omission", "critical", MAXIMUM, 1.0, everything, None)]
        found = self.component(errors, doubt)
        return replace(found, value=0.0) if empty else found

    @classmethod
    def component(cls, errors: Sequence[ErrorSpan], doubt: float) -> Component:
        """Return the component of errors and a doubt, whose sum has a cap; errors of weight 0 are differences."""
        listed = [error for error in errors if error.weight]
        count = min(math.fsum(error.weight for error in listed), MAXIMUM)
        evidence = ErrorsEvidence(_in_order(listed), count, _in_order(error for error in errors if not error.weight), doubt)
        return Component(cls.name, value_of(evidence.cost), evidence.cost, "severity-weighted errors", evidence)


def _in_order(errors: Iterable[ErrorSpan]) -> tuple[ErrorSpan, ...]:
    """Return errors in the order of the hypothesis."""
    return tuple(sorted(errors, key=lambda e: (e.hypothesis or e.reference or TextSpan("", 0, 0)).start))


def _error_from_dict(row: dict[str, Any]) -> ErrorSpan:
    """Return one error from plain values."""
    if row["severity"] not in SEVERITIES:
        raise ValueError(f"severity must be one of {', '.join(SEVERITIES)}, got {row['severity']!r}")
    return ErrorSpan(
        kind=string(row["kind"]),  # type: ignore[arg-type]
        type=string(row["type"]),
        severity=row["severity"],
        weight=number(row["weight"]),
        confidence=number(row["confidence"]),
        reference=_span_from_dict(row["reference"]),
        hypothesis=_span_from_dict(row["hypothesis"] if "hypothesis" in row else row),
    )


def _span_from_dict(row: dict[str, Any] | None) -> TextSpan | None:
    """Return one span from plain values; an earlier version wrote that of the hypothesis without a name, and null for its text."""
    return None if row is None or row["text"] is None else TextSpan(string(row["text"]), int(row["start"]), int(row["end"]))

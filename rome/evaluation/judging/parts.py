"""Everything that is said of one rated set, in the order of reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rome.evaluation.diagnosis.correlations import component_correlations
from rome.evaluation.judging.differences import differences
from rome.evaluation.judging.plan import Judged
from rome.evaluation.judging.spans import error_spans
from rome.evaluation.judging.systems import ranking, systems
from rome.evaluation.judging.tables import by_system, language_pairs, leaderboard
from rome.reports.model import Figure, Table

__all__ = ["parts_of"]


def parts_of(judged: Sequence[Judged], metrics: Sequence[Any]) -> list[Table | Figure]:
    """For each dimension leaderboard, bars, tests, language pairs and systems, as far as the set offers them; then error spans and
    how alike the metrics are (RoMe, figure 5). Every table of agreement ends with the set's notes."""
    parts: list[Table | Figure] = []
    for one in judged:
        parts += [_noted(part, one.notes) for part in _agreement(one)]
    spans = error_spans(judged[0].rated, metrics)
    parts += [spans] if spans is not None else []
    if len(judged[0].scores) > 1:
        people = {f"people: {one.dimension}": one.people for one in judged}
        alike = component_correlations({**people, **judged[0].scores})
        name = judged[0].rated.name
        parts.append(replace(alike, name=f"{name}_correlations", title=f"{name}: how alike the scores are"))
    return parts


def _agreement(one: Judged) -> list[Table | Figure]:
    """Agreement of the metrics with one dimension."""
    parts: list[Table | Figure] = [*leaderboard(one)]
    parts += [differences(one)] if len(one.scores) > 1 else []
    parts += [language_pairs(one)] if len(set(one.keys["language_pairs"])) > 1 else []
    parts += [table for table in (systems(one), ranking(one)) if table is not None]
    parts += [by_system(one)] if len(set(one.keys["systems"])) > 1 else []
    return parts


def _noted(part: Table | Figure, notes: Sequence[str]) -> Table | Figure:
    """The part with the notes after its own one."""
    return replace(part, note=" ".join([*([part.note] if part.note else []), *notes])) if notes else part

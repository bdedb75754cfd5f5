"""Compare an installation with known answers: scores of known pairs, and the hash of every model file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rome.combining.signature import without_arithmetic
from rome.exceptions import InputError, ModelMissingError, StoreError
from rome.features.analyser.config import DEFAULT_SET, set_folder
from rome.features.model_files import ANSWERS, file_hashes, read_manifest, remedy

if TYPE_CHECKING:
    from rome.metric import RoMe
    from rome.results import CorpusScore

TOLERANCE, BF16_TOLERANCE = 1e-3, 0.02
"""Largest difference that rounding on another processor explains, in float32 and in bf16, where known pairs differed by up to 0.006."""


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison: the hash of a model file, the signature, or the numbers of one pair."""

    name: str
    expected: str
    found: str
    passed: bool


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """All comparisons; true when every one passed."""

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Return True if there are checks and all of them passed."""
        return bool(self.checks) and all(check.passed for check in self.checks)

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        failed = [check for check in self.checks if not check.passed]
        lines = [f"failed  {check.name}: expected {check.expected}, found {check.found}" for check in failed]
        verdict = "passed" if self.passed else "failed: reinstall rome-metric, or report these lines"
        return "\n".join([*lines, f"self-check of {len(self.checks)} items {verdict}"])


def selfcheck(metric: RoMe | None = None, *, models: str | os.PathLike[str] = DEFAULT_SET) -> SelfCheck:
    """Score the known pairs, hash the model files of a set, and compare both with the record of the release.

    The record was made in float32 on a processor. Other precisions have wider tolerances.

    Parameters
    ----------
    models
        The set, by name or folder.
    metric
        The metric to check; by default a new one of this set. A metric of other models fails at its signature.

    Raises
    ------
    ModelMissingError
        When one of the records is not in the set.
    StoreError
        When a record is damaged.
    """
    folder = set_folder(models)
    answers = _read(folder / ANSWERS)
    checks = [*_compare_files(read_manifest(folder).files, file_hashes(folder))]
    try:
        checks += _compare_scores(answers, _score(metric, answers["pairs"], models))
    except ModelMissingError as error:
        if all(check.passed for check in checks):
            raise
        checks.append(Check("pairs", "scores", f"none, {error}", False))
    return SelfCheck(tuple(checks))


def record(folder: Path, pairs: Sequence[tuple[list[str], str]], metric: RoMe | None = None) -> Path:
    """Write the present answers of the set in this folder as the known ones, and return the file; for maintainers, after `record_files`.

    Raises InputError for a metric that computes on a card or in another precision.
    """
    texts = [{"references": references, "hypothesis": hypothesis} for references, hypothesis in pairs]
    result = _score(metric, texts, folder)
    if result.signature != without_arithmetic(result.signature):
        raise InputError("the known answers are those in float32 on a processor: record them without --device and --precision")
    numbers = [{**text, "numbers": _numbers(segment)} for text, segment in zip(texts, result, strict=True)]
    path = folder / ANSWERS
    content = {"signature": result.signature, "pairs": numbers}
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return path


def _read(path: Path) -> dict[str, Any]:
    """Return the record of known answers."""
    if not path.parent.is_dir():
        raise ModelMissingError(f"{path.parent} does not exist: name a model set or its folder")
    if not path.is_file():
        raise ModelMissingError(f"{path} does not exist: {remedy(path.parent)}")
    try:
        answers: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise StoreError(f"{path} is damaged ({error}): reinstall rome-metric") from error
    return answers


def _score(metric: RoMe | None, pairs: Sequence[Mapping[str, Any]], models: str | os.PathLike[str]) -> CorpusScore:
    """Score the pairs, with this model set unless a metric is given."""
    if metric is None:
        from rome.metric import RoMe

        metric = RoMe(models=models, progress=False)
    return metric.score(references=[pair["references"] for pair in pairs], hypotheses=[pair["hypothesis"] for pair in pairs])


def _numbers(segment: Any) -> dict[str, float]:
    """Return the score and the components of one segment."""
    return {"score": round(segment.score, 6), **{part.name: round(part.value, 6) for part in segment.components}}


def _compare_files(expected: Mapping[str, str], present: Mapping[str, str]) -> Iterator[Check]:
    """Yield one check per model file, including missing and unexpected ones."""
    for name in sorted({*expected, *present}):
        wanted, actual = expected.get(name, "no such file"), present.get(name, "no such file")
        yield Check(f"file {name}", wanted[:16], actual[:16], wanted == actual)


def _compare_scores(answers: Mapping[str, Any], result: CorpusScore) -> Iterator[Check]:
    """Yield one check for the signature without device and precision, then one per pair."""
    signature = without_arithmetic(result.signature)
    yield Check("signature", answers["signature"], signature, answers["signature"] == signature)
    tolerance = BF16_TOLERANCE if "precision:bf16" in result.signature.split("|") else TOLERANCE
    for number, (pair, segment) in enumerate(zip(answers["pairs"], result, strict=True)):
        wanted, actual = pair["numbers"], _numbers(segment)
        near = wanted.keys() == actual.keys() and all(abs(wanted[name] - actual[name]) <= tolerance for name in wanted)
        yield Check(f"pair {number}", _line(wanted), _line(actual), near)


def _line(numbers: Mapping[str, float]) -> str:
    """Return names and numbers in one line."""
    return " ".join(f"{name} {value:.4f}" for name, value in numbers.items())

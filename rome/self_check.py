"""Are my numbers right? Known pairs with known answers, and the hash of every model file of a set."""

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

TOLERANCE = 1e-3
"""Processors round differently; a number that is off by more than this is wrong."""
TOLERANCES = {"precision:bf16": 0.02}
"""Of numbers in another precision to those in float32, by what the signature says; known pairs were off by up to 0.006. Answers of their own
would hardly be nearer in bf16: AVX512-BF16 and float32 products of rounded numbers are as far apart as either is from float32."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was compared: a model file's hash, the signature, or the numbers of one pair."""

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
        """Whether every check passed, and there was one."""
        return bool(self.checks) and all(check.passed for check in self.checks)

    def __bool__(self) -> bool:
        """The same as ``passed``."""
        return self.passed

    def __str__(self) -> str:
        """What failed, line by line, then the verdict."""
        failed = [check for check in self.checks if not check.passed]
        lines = [f"failed  {check.name}: expected {check.expected}, found {check.found}" for check in failed]
        verdict = "passed" if self.passed else "failed: reinstall rome-metric, or report these lines"
        return "\n".join([*lines, f"self-check of {len(self.checks)} items {verdict}"])


def selfcheck(metric: RoMe | None = None, *, models: str | os.PathLike[str] = DEFAULT_SET) -> SelfCheck:
    """Score the known pairs and hash the model files of a set; compare both with what was recorded at release.

    What was recorded is float32 on a processor. A metric in bf16 answers nearly the same: its numbers have a wider tolerance of
    their own.

    Raises ModelMissingError when one of the records is not in the set, StoreError when it is damaged.

    Parameters
    ----------
    models
        The set, by name or folder.
    metric
        The metric to check; by default a fresh one of this set. A metric of other models fails at its signature.
    """
    folder = set_folder(models)
    expected = _read(folder / ANSWERS)
    checks = [*_compare_files(read_manifest(folder).files, file_hashes(folder))]
    try:
        checks += _compare_scores(expected, _score(metric, expected["pairs"], models))
    except ModelMissingError as error:
        if all(check.passed for check in checks):
            raise
        checks.append(Check("pairs", "scores", f"none, {error}", False))
    return SelfCheck(tuple(checks))


def record(folder: Path, pairs: Sequence[tuple[list[str], str]], metric: RoMe | None = None) -> Path:
    """Write what the set in this folder answers now as what to expect; for maintainers, after `record_files`. Returns the file written.

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
    """The record of known answers."""
    if not path.parent.is_dir():
        raise ModelMissingError(f"{path.parent} does not exist: name a model set or its folder")
    if not path.is_file():
        raise ModelMissingError(f"{path} does not exist: {remedy(path.parent)}")
    try:
        expected: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise StoreError(f"{path} is damaged ({error}): reinstall rome-metric") from error
    return expected


def _score(metric: RoMe | None, pairs: Sequence[Mapping[str, Any]], models: str | os.PathLike[str]) -> CorpusScore:
    """The pairs scored, by this model set unless a metric is given."""
    if metric is None:
        from rome.metric import RoMe

        metric = RoMe(models=models, progress=False)
    return metric.score(references=[pair["references"] for pair in pairs], hypotheses=[pair["hypothesis"] for pair in pairs])


def _numbers(segment: Any) -> dict[str, float]:
    """The score and the components of one segment."""
    return {"score": round(segment.score, 6), **{part.name: round(part.value, 6) for part in segment.components}}


def _compare_files(expected: Mapping[str, str], found: Mapping[str, str]) -> Iterator[Check]:
    """One check a model file, missing and unexpected ones included."""
    for name in sorted({*expected, *found}):
        there, here = expected.get(name, "no such file"), found.get(name, "no such file")
        yield Check(f"file {name}", there[:16], here[:16], there == here)


def _compare_scores(expected: Mapping[str, Any], result: CorpusScore) -> Iterator[Check]:
    """The signature, but for where and how precisely it was computed, then one check a pair."""
    signature = without_arithmetic(result.signature)
    yield Check("signature", expected["signature"], signature, expected["signature"] == signature)
    tolerance = next((TOLERANCES[part] for part in result.signature.split("|") if part in TOLERANCES), TOLERANCE)
    for number, (pair, segment) in enumerate(zip(expected["pairs"], result, strict=True)):
        there, here = pair["numbers"], _numbers(segment)
        near = there.keys() == here.keys() and all(abs(there[name] - here[name]) <= tolerance for name in there)
        yield Check(f"pair {number}", _line(there), _line(here), near)


def _line(numbers: Mapping[str, float]) -> str:
    """Names and numbers in one line."""
    return " ".join(f"{name} {value:.4f}" for name, value in numbers.items())

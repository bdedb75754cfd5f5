"""Are my numbers right? Known pairs with known answers, and the hash of every model file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rome.exceptions import ModelMissingError, StoreError

if TYPE_CHECKING:
    from rome.results import CorpusScore

__all__ = ["Check", "SelfCheck", "file_hashes", "record", "record_files", "selfcheck"]

EXPECTED_FILE = "selfcheck.json"
TOLERANCE = 1e-3
"""Processors round differently; a number that is off by more than this is wrong."""
_NO_MODEL = (EXPECTED_FILE, "card.json")


class Scorer(Protocol):
    """What the self-check needs of RoMe."""

    def score(self, *, references: list[list[str]], hypotheses: list[str]) -> CorpusScore:
        """Score every segment."""


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


def selfcheck(metric: Scorer | None = None) -> SelfCheck:
    """Score the known pairs and hash the embedded model files; compare both with what was recorded at release.

    metric : the metric to check; by default a fresh ``RoMe()``. A metric of other models fails at its signature.
    Raises ModelMissingError when the record is not in the package, StoreError when it is damaged.
    """
    with as_file(files("rome.data") / "models" / "en") as folder:
        expected = _read(folder / EXPECTED_FILE)
        checks = [*_compare_files(expected["files"], file_hashes(folder))]
    try:
        checks += _compare_scores(expected, _score(metric, expected["pairs"]))
    except ModelMissingError as error:
        if all(check.passed for check in checks):
            raise
        checks.append(Check("pairs", "scores", f"none, {error}", False))
    return SelfCheck(tuple(checks))


def record(folder: Path, pairs: Sequence[tuple[list[str], str]], metric: Scorer | None = None) -> Path:
    """Write what is true now as what to expect; for maintainers, after new models. Returns the file written."""
    texts = [{"references": references, "hypothesis": hypothesis} for references, hypothesis in pairs]
    path = record_files(folder)
    result = _score(metric, texts)
    numbers = [{**text, "numbers": _numbers(segment)} for text, segment in zip(texts, result, strict=True)]
    _write(path, {"signature": result.signature, "files": file_hashes(folder), "pairs": numbers})
    return path


def record_files(folder: Path) -> Path:
    """Write the hashes of the model files as they are now, and keep the known answers; new models load only when they are on record."""
    path = folder / EXPECTED_FILE
    try:
        known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except ValueError:
        known = {}
    _write(path, {**known, "files": file_hashes(folder)})
    return path


def _write(path: Path, content: Mapping[str, Any]) -> None:
    """The record as indented JSON."""
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def file_hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of every model file below a folder, by relative path; cards and the record itself are no models."""
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file() and path.name not in _NO_MODEL)
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def _read(path: Path) -> dict[str, Any]:
    """The record of known answers."""
    if not path.is_file():
        raise ModelMissingError(f"{path} is missing: reinstall rome-metric, or make it with `rome selfcheck --record`")
    try:
        expected: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise StoreError(f"{path} is damaged ({error}): reinstall rome-metric") from error
    return expected


def _score(metric: Scorer | None, pairs: Sequence[Mapping[str, Any]]) -> CorpusScore:
    """The pairs scored, by the embedded models unless a metric is given."""
    if metric is None:
        from rome.metric import RoMe

        metric = RoMe(progress=False)
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
    """The signature, then one check a pair."""
    yield Check("signature", expected["signature"], result.signature, expected["signature"] == result.signature)
    for number, (pair, segment) in enumerate(zip(expected["pairs"], result, strict=True)):
        there, here = pair["numbers"], _numbers(segment)
        near = there.keys() == here.keys() and all(abs(there[name] - here[name]) <= TOLERANCE for name in there)
        yield Check(f"pair {number}", _line(there), _line(here), near)


def _line(numbers: Mapping[str, float]) -> str:
    """Names and numbers in one line."""
    return " ".join(f"{name} {value:.4f}" for name, value in numbers.items())

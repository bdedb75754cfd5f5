"""The folder layout of the WMT metrics tasks (mt-metrics-eval, version 2): one test set with texts, human scores and metric scores.

sources/LP.txt  documents/LP.docs  references/LP.REF.txt  system-outputs/LP/SYS.txt
human-scores/LP.NAME.seg.score  metric-scores/LP/NAME-REF.seg.score
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rome.data.readers.lines import check_counts, number, text_lines
from rome.data.readers.rated import RatedSegment, RatedSet
from rome.exceptions import InputError

_Scores = dict[str, list[tuple[float | None, str]]]


def read_metrics_eval(
    folder: str | Path,
    language_pair: str,
    human: str | Sequence[str] = "mqm",
    reference: str = "",
    *,
    metrics: Sequence[str] | None = None,
) -> RatedSet:
    """The rated outputs of one language pair.

    Raises InputError for files that do not have a line for each source line, a block of scores that is not as long as the test set, a scored
    system without outputs, a reference that differs from the output of its name, a missing metric score.

    Parameters
    ----------
    human
        Name of the human scores, or several, of which a segment needs all.
    reference
        Its name, needed where there are several; an output file of that name is the reference itself and is left out.
    metrics
        Names of published metrics; None takes every one that has scores of all systems with that reference. Segments whose human score is
        ``None`` are left out.
    """
    root = Path(folder)
    name, texts = _reference(root, language_pair, reference)
    sources, outputs = _texts(root, language_pair, name, texts)
    names = [human] if isinstance(human, str) else list(human)
    people = {one: _human_scores(root, language_pair, one, name, outputs, len(texts)) for one in names}
    published = _published(root / "metric-scores" / language_pair, name, outputs, len(texts), metrics)
    segments = []
    for system, lines in outputs.items():
        for at, output in enumerate(lines):
            found = {one: scores[system][at] for one, scores in people.items() if system in scores}
            ratings = {one: value for one, (value, _) in found.items() if value is not None}
            if len(ratings) == len(names):
                metric = {one: value for one, scores in published.items() if (value := scores[system][at][0]) is not None}
                args = (str(at + 1), (texts[at],), output, ratings, system, language_pair)
                segments.append(RatedSegment(*args, published=metric, source=sources[at], place=found[names[0]][1]))
    return RatedSet(f"{root.name}-{language_pair}", tuple(segments))


def _texts(root: Path, pair: str, name: str, reference: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """The sources, and the outputs by system without the reference itself, all of one length."""
    beside = {
        path: text_lines(path)
        for path in (root / "sources" / f"{pair}.txt", root / "documents" / f"{pair}.docs")
        if path.exists()
    }
    paths = {path.stem: path for path in sorted((root / "system-outputs" / pair).glob("*.txt"))}
    outputs = {system: text_lines(path) for system, path in paths.items()}
    files = {**beside, **{path: outputs[system] for system, path in paths.items()}}
    check_counts([(f"{root}/references/{pair}.{name}.txt", reference), *files.items()])
    for line, (one, other) in enumerate(zip(outputs.pop(name, reference), reference, strict=True), start=1):
        if one != other:
            raise InputError(f"{paths[name]}:{line}: not the reference {name}: fetch both again")
    return beside.get(root / "sources" / f"{pair}.txt", [""] * len(reference)), outputs


def _reference(root: Path, pair: str, wanted: str) -> tuple[str, list[str]]:
    """Name and lines of the reference."""
    found = {
        path.name.removeprefix(f"{pair}.").removesuffix(".txt"): path for path in (root / "references").glob(f"{pair}.*.txt")
    }
    name = wanted or (next(iter(found)) if len(found) == 1 else "")
    if name not in found:
        raise InputError(
            f"{root}/references/{pair}.NAME.txt: NAME is {', '.join(sorted(found)) or 'missing'}: name one of them"
        )
    return name, text_lines(found[name])


def _human_scores(root: Path, pair: str, human: str, reference: str, outputs: Mapping[str, list[str]], count: int) -> _Scores:
    path = root / "human-scores" / f"{pair}.{human}.seg.score"
    if not path.exists():
        there = sorted(p.name.removesuffix(".seg.score") for p in path.parent.glob(f"{pair}.*.seg.score"))
        raise InputError(f"{path} does not exist: choose one of {', '.join(there) or 'another folder'}")
    scores = _scores(path, count)
    for system, rows in scores.items():
        if system not in outputs and system != reference:
            raise InputError(f"{rows[0][1]}: scores of {system}, of which there are no outputs: fetch the test set again")
    return scores


def _scores(path: Path, count: int) -> _Scores:
    """System -> (score or None, file:line) for each line of the test set."""
    scores: _Scores = {}
    for line, text in enumerate(text_lines(path), start=1):
        cells, place = text.split(), f"{path}:{line}"
        if len(cells) != 2:
            raise InputError(f"{place}: needs a system and a score: fetch the file again")
        scores.setdefault(cells[0], []).append((None if cells[1] == "None" else number(cells[1], place, "the score"), place))
    for system, rows in scores.items():
        if len(rows) != count:
            place = rows[min(len(rows), count + 1) - 1][1]
            raise InputError(f"{place}: {system} has {len(rows)} scores for {count} lines: give scores of this test set")
    return scores


def _published(
    folder: Path, reference: str, outputs: Mapping[str, list[str]], count: int, metrics: Sequence[str] | None
) -> dict[str, _Scores]:
    """Metric -> its scores of every system; a metric that lacks some is left out, or refused where it was asked for."""
    end = f"-{reference}.seg.score"
    files = {path.name.removesuffix(end): path for path in sorted(folder.glob(f"*{end}"))} if folder.is_dir() else {}
    wanted = list(files) if metrics is None else list(metrics)
    missing = [metric for metric in wanted if metric not in files]
    if missing:
        raise InputError(f"{folder}/{missing[0]}{end} does not exist: choose among {', '.join(files) or 'no metric'}")
    found = {}
    for metric in wanted:
        scores = _scores(files[metric], count)
        short = [system for system in outputs if system not in scores or any(value is None for value, _ in scores[system])]
        if not short:
            found[metric] = scores
        elif metrics is not None:
            raise InputError(f"{files[metric]}:1: no score of {short[0]} for every line: leave {metric} out")
    return found

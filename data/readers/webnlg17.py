"""WebNLG 2017 (Shimorina et al. 2018): the human evaluation of nine systems and the baseline, fluency, grammar and semantics, 1 to 3."""

from __future__ import annotations

from pathlib import Path

from rome.data.readers.development import check_shared_texts, development_rows, numbers, segment_of
from rome.data.readers.lines import check_counts, number, same_words, shown, table, text_lines
from rome.data.readers.rated import RatedSegment, RatedSet
from rome.data.sources import data_file
from rome.exceptions import InputError

__all__ = ["read_webnlg17", "read_webnlg17_third"]

RATINGS = "all_data_final_averaged.csv"
INPUTS = "MRs.txt"
REFERENCES = "gold-sample-reference*.lex"
PEOPLE = "webnlg"
"""The team under which the release rates the human references."""
_METRICS = ("bleu", "meteor", "ter")


def read_webnlg17_third(path: str | Path | None = None) -> RatedSet:
    """The third of the inputs that the development data holds, 74 inputs with nine outputs each.

    Raises InputError for a line without system or segment, an input with other references or another meaning representation
    elsewhere, a system with two outputs for one input.
    """
    segments = []
    for place, row in development_rows(path or data_file("human/webnlg17_third.jsonl.gz")):
        if not row.get("system") or "segment" not in row or "mr" not in row:
            raise InputError(f"{place}: an item needs a system, a segment and an mr: fetch the file again")
        segments.append(segment_of(row, place, str(row["segment"]), numbers(row["scores"], place)))
    return RatedSet("webnlg17", check_shared_texts(segments))


def read_webnlg17(folder: str | Path, outputs: str | Path | None = None) -> RatedSet:
    """The released folder: averaged ratings by meaning representation and team, the inputs, up to three files of references.

    The rows of the human references (team ``webnlg``) are left out. outputs : optionally the folder with one file ``TEAM.txt``
    a team, in the order of the inputs; each rated text is then checked against it.

    Raises InputError for references that do not have a line an input, a rated input that is not among the inputs, a team
    that rates an input twice or misses one that others have, a rated text that is not the team's output.
    """
    root = Path(folder)
    references = sorted(root.glob(REFERENCES))
    if not references:
        raise InputError(f"{root} holds no {REFERENCES}: give the released folder")
    inputs = text_lines(root / INPUTS)
    columns = [text_lines(path) for path in references]
    check_counts([(str(root / INPUTS), inputs), *((str(path), lines) for path, lines in zip(references, columns, strict=True))])
    index = {"".join(text.split()): number for number, text in enumerate(inputs)}
    if len(index) < len(inputs):
        raise InputError(f"{root / INPUTS}:1: an input stands there twice: fetch the file again")
    segments = []
    for place, row in table(root / RATINGS, ("mr", "team", "text", "fluency", "grammar", "semantics"), ",", quoted=True):
        if row["team"] == PEOPLE:
            continue
        line = index.get("".join(row["mr"].split()))
        if line is None:
            raise InputError(f"{place}: {shown(row['mr'])} is no line of {root / INPUTS}: give files that belong together")
        texts = tuple(column[line] for column in columns if column[line].strip())
        segments.append(_segment(row, place, line, texts, inputs[line]))
    _check_teams(segments)
    if outputs is not None:
        _check_outputs(segments, Path(outputs), len(inputs))
    return RatedSet("webnlg17-released", tuple(segments))


def _segment(row: dict[str, str], place: str, line: int, references: tuple[str, ...], source: str) -> RatedSegment:
    ratings = {name: number(row[name], place, name) for name in ("fluency", "grammar", "semantics")}
    published = {name: number(row[name], place, name) for name in _METRICS if row.get(name)}
    return RatedSegment(
        str(line + 1), references, row["text"], ratings, row["team"], published=published, source=source, place=place
    )


def _check_teams(segments: list[RatedSegment]) -> None:
    """Every team is rated on the same inputs."""
    rated: dict[str, dict[str, str]] = {}
    for segment in segments:
        rated.setdefault(segment.system, {})[segment.item] = segment.place
    every = {item: place for items in rated.values() for item, place in items.items()}
    for team, items in rated.items():
        for item, place in every.items():
            if item not in items:
                raise InputError(f"{place}: input {item} is rated here but not for {shown(team)}: fetch the file again")


def _check_outputs(segments: list[RatedSegment], folder: Path, count: int) -> None:
    """Every rated text is that line of the team's file."""
    files = {team: folder / f"{team}.txt" for team in {segment.system for segment in segments}}
    lines = {team: text_lines(path) for team, path in files.items()}
    for team, path in files.items():
        if len(lines[team]) != count:
            raise InputError(
                f"{path}:{min(len(lines[team]), count) + 1}: {len(lines[team])} lines for {count} inputs: fetch it again"
            )
    for segment in segments:
        number_of = int(segment.item)
        if not same_words(lines[segment.system][number_of - 1], segment.hypothesis):
            raise InputError(
                f"{segment.place}: the rated text is not {files[segment.system]}:{number_of}: give outputs that were rated"
            )

"""WebNLG 2017 and 2020 (Castro Ferreira et al. 2020): human ratings of English RDF-to-text systems.

The release of 2020 keeps ratings, outputs and references apart: ratings name a system (``submission_id``) and an input (``sample_id``,
from 1), outputs are one file a system with a line an input. A published table scored one system's outputs against the ratings of
all of them; here a rating reaches only the file of the system that it names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from rome.data.readers.lines import check_counts, json_array, number, same_words, table, text_lines
from rome.data.readers.rated import RatedSegment, RatedSet, check_shared_texts, development_rows, segment_of
from rome.data.sources import data_file
from rome.exceptions import InputError
from rome.storage.rows import json_value, shown

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
    rows = development_rows(path or data_file("human/webnlg17_third.jsonl.gz"), ("system", "segment", "mr"))
    return RatedSet("webnlg17", check_shared_texts([segment_of(row, place, str(row["segment"])) for place, row in rows]))


def read_webnlg17(folder: str | Path, outputs: str | Path | None = None) -> RatedSet:
    """The released folder: averaged ratings by meaning representation and team, the inputs, up to three files of references.

    The rows of the human references (team ``webnlg``) are left out.

    Raises InputError for references that do not have a line an input, a rated input that is not among the inputs, a team that rates an input
    twice or misses one that others have, a rated text that is not the team's output.

    Parameters
    ----------
    outputs
        Optionally the folder with one file ``TEAM.txt`` a team, in the order of the inputs; each rated text is then checked against it.
    """
    root = Path(folder)
    references = sorted(root.glob(REFERENCES))
    if not references:
        raise InputError(f"{root} holds no {REFERENCES}: give the released folder")
    inputs = text_lines(root / INPUTS)
    columns = [text_lines(path) for path in references]
    check_counts([(root / INPUTS, inputs), *zip(references, columns, strict=True)])
    index = {"".join(text.split()): number for number, text in enumerate(inputs)}
    if len(index) < len(inputs):
        raise InputError(f"{root / INPUTS}:1: an input stands there twice: fetch the file again")
    segments = []
    for place, row in table(root / RATINGS, ("mr", "team", "text", "fluency", "grammar", "semantics"), ","):
        if row["team"] == PEOPLE:
            continue
        line = index.get("".join(row["mr"].split()))
        if line is None:
            raise InputError(f"{place}: {shown(row['mr'])} is no line of {root / INPUTS}: give files that belong together")
        texts = tuple(column[line] for column in columns if column[line].strip())
        segments.append(_rated_text(row, place, line, texts, inputs[line]))
    _check_teams(segments)
    if outputs is not None:
        _check_outputs(segments, Path(outputs), len(inputs))
    return RatedSet("webnlg17-released", tuple(segments))


def _rated_text(row: dict[str, str], place: str, line: int, references: tuple[str, ...], source: str) -> RatedSegment:
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
    lines: dict[str, list[str]] = {}
    for segment in segments:
        path, at = folder / f"{segment.system}.txt", int(segment.item)
        if segment.system not in lines:
            lines[segment.system] = text_lines(path)
            check_counts([(folder / INPUTS, range(count)), (path, lines[segment.system])])
        if not same_words(lines[segment.system][at - 1], segment.hypothesis):
            raise InputError(f"{segment.place}: the rated text is not {path}:{at}: give outputs that were rated")


DIMENSIONS = ("Correctness", "DataCoverage", "Fluency", "Relevance", "TextStructure")
OUTPUT = "primary.en"


@dataclass(frozen=True, slots=True)
class _Input:
    """One test input: its class, its number of triples, its triples and the references."""

    category: str
    size: str
    triples: str
    references: tuple[str, ...]


def read_webnlg20(
    ratings: str | Path, outputs: str | Path, references: str | Path, *, leave_out: Collection[str] = ()
) -> RatedSet:
    """The rated outputs with their references.

    Raises InputError for a rated system without outputs, a file of outputs that has not a line an input, a rating of an input that does not
    exist or is of another category or size than the rating says, a system that is rated twice on one input, and two systems whose rated outputs
    are all the same.

    Parameters
    ----------
    ratings
        ``english_humeval_data_all_teams.json`` (z-scores), or the folder that holds ``SYSTEM/primary.json`` with the raw ratings of each
        worker, 0 to 100, of which the mean is taken.
    outputs
        The folder ``submissions/rdf2text/en`` with ``SYSTEM/primary.en``.
    references
        The test data with references, XML or JSON.
    leave_out
        Rated systems without such a file, such as the human references.
    """
    inputs = _inputs(Path(references))
    folder = Path(outputs)
    if not folder.is_dir():
        raise InputError(
            f"{folder}:1: one system's outputs would meet every system's ratings: give the folder with SYSTEM/{OUTPUT}"
        )
    rows = [row for row in _ratings(Path(ratings)) if str(row[1]["submission_id"]) not in leave_out]
    texts: dict[str, list[str]] = {}
    segments = []
    for place, row in rows:
        system = str(row["submission_id"])
        if system in ("", "..") or system != Path(system).name:
            raise InputError(f"{place}: {shown(system)} is no name of a system's folder: fetch the file again")
        if system not in texts:
            texts[system] = _outputs(folder / system / OUTPUT, len(inputs), place)
        segments.append(_segment(row, place, texts[system], inputs))
    _check_systems(segments)
    return RatedSet("webnlg20", tuple(segments))


def _ratings(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """``(file:line, rating)`` of either layout."""
    if not path.is_dir():
        yield from json_array(path, ("submission_id", "sample_id", *DIMENSIONS))
        return
    for file in sorted(path.glob("*/primary.json")):
        samples = json_value("\n".join(text_lines(file)), f"{file}:1")
        if not isinstance(samples, dict):
            raise InputError(f"{file}:1: not an object of samples: fetch the file again")
        for sample, workers in samples.items():
            place = f"{file}:1 (sample {shown(sample)})"
            if workers:
                if not isinstance(workers, dict) or not all(isinstance(one, dict) for one in workers.values()):
                    raise InputError(f"{place}: not an object of workers and their ratings: fetch the file again")
                given = {name: [number(one.get(name), place, name) for one in workers.values()] for name in DIMENSIONS}
                means = {name: sum(values) / len(values) for name, values in given.items()}
                yield place, {"submission_id": file.parent.name, "sample_id": sample, **means}


def _outputs(path: Path, count: int, place: str) -> list[str]:
    if not path.exists():
        raise InputError(f"{place}: rates {path.parent.name}, of which {path} is missing: give its outputs or leave it out")
    lines = text_lines(path)
    check_counts([(path, lines), ("the inputs", range(count))])
    return lines


def _segment(row: dict[str, Any], place: str, outputs: list[str], inputs: list[_Input]) -> RatedSegment:
    sample = str(row["sample_id"])
    if not sample.isdecimal() or len(sample) > 9 or not 1 <= int(sample) <= len(inputs):
        raise InputError(
            f"{place}: sample {shown(sample)} is none of the {len(inputs)} inputs: give the references that were rated"
        )
    entry = inputs[int(sample) - 1]
    for name in ("category", "size"):
        if name in row and str(row[name]) != getattr(entry, name):
            raise InputError(
                f"{place}: sample {sample} is rated as {name} {shown(str(row[name]))}, the references have {shown(getattr(entry, name))}: "
                "give the references that were rated"
            )
    found = {name: number(row[name], place, name) for name in DIMENSIONS}
    text, system = outputs[int(sample) - 1], str(row["submission_id"])
    return RatedSegment(sample, entry.references, text, found, system, source=entry.triples, place=place)


def _check_systems(segments: list[RatedSegment]) -> None:
    """No two systems hand in the same texts for all that they were rated on."""
    by_system: dict[str, list[RatedSegment]] = {}
    for segment in segments:
        by_system.setdefault(segment.system, []).append(segment)
    seen: dict[frozenset[tuple[str, str]], str] = {}
    for system, rated in by_system.items():
        texts = frozenset((segment.item, segment.hypothesis) for segment in rated)
        if len(texts) > 1 and texts in seen:
            raise InputError(f"{rated[0].place}: the outputs of {system} are those of {seen[texts]}: give its own")
        seen[texts] = system


def _inputs(path: Path) -> list[_Input]:
    """The test inputs in order, from the released XML or JSON."""
    text = "\n".join(text_lines(path))
    try:
        if text.lstrip().startswith("{"):
            found = _from_json(json_value(text, f"{path}:1"))
        else:
            found = _from_xml(_xml(text, path))
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration) as error:
        if isinstance(error, InputError):
            raise
        said = shown(str(error))
        raise InputError(f"{path}:1: not the released test data with references ({said}): fetch the file again") from error
    for line, (identifier, _) in enumerate(found, start=1):
        if identifier.removeprefix("Id") != str(line):
            raise InputError(f"{path}:1: entry {line} is numbered {shown(identifier)}: give the whole test data in its order")
    return [entry for _, entry in found]


def _xml(text: str, path: Path) -> ElementTree.Element:
    """The root of an XML document that declares nothing of its own: entities that stand for each other could fill the memory."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError(f"{path}:1: declares a document type or entities, which the release does not: fetch the file again")
    try:
        return ElementTree.fromstring(text.encode())
    except (ElementTree.ParseError, LookupError) as error:  # LookupError: it declares an encoding that nobody knows
        raise InputError(f"{path}:1: not XML ({error}): fetch the file again") from error


def _from_xml(root: ElementTree.Element) -> list[tuple[str, _Input]]:
    found = []
    for entry in root.iter("entry"):
        triples = "<br>".join(triple.text or "" for triple in entry.iter("mtriple"))
        texts = tuple(lex.text for lex in entry.iter("lex") if lex.text and lex.text.strip())
        found.append((entry.get("eid", ""), _Input(entry.get("category", ""), entry.get("size", ""), triples, texts)))
    return found


def _from_json(data: dict[str, Any]) -> list[tuple[str, _Input]]:
    found = []
    for wrapped in data["entries"]:
        identifier, entry = next(iter(wrapped.items()))
        triples = "<br>".join(
            f"{t['subject']} | {t['property']} | {t['object']}"
            for t in entry.get("modifiedtripleset", [])
            if isinstance(t, dict)
        )
        texts = tuple(lex["lex"] for lex in entry["lexicalisations"] if lex["lex"].strip())
        found.append((str(identifier), _Input(entry["category"], str(entry["size"]), triples, texts)))
    return found

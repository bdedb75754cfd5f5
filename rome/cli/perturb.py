"""Perturb texts: minimal pairs with one mistake each, or the reason why a text gives none."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from rome.checks import SegmentError, check_texts
from rome.cli.options import MakeMetric, add_options, add_output_arguments, positive
from rome.exceptions import InputError
from rome.progress import progress_bar
from rome.storage.files import open_output, read_lines

if TYPE_CHECKING:
    from rome.evaluation.perturbing import PerturbedText

COLUMNS = (
    *("number", "perturbation", "category", "type", "severity", "identifier", "seed"),
    *("text", "perturbed", "edits", "reason"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome perturb`."""
    parser.add_argument("texts", nargs="?", metavar="TEXTS", help="text file, one text per line; `-`: standard input")
    parser.add_argument("--list", action="store_true", help="print the table of all perturbations and leave")
    group = parser.add_argument_group("perturbations")
    group.add_argument("--perturbation", nargs="+", metavar="NAME", help="those to make (default: all, see --list)")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed gives the same texts (default: 0)")
    group.add_argument("--limit", type=positive, metavar="N", help="at most N perturbed texts of each perturbation")
    for name in ("antonyms", "hypernyms", "synonyms"):
        text = f"lines of a lemma, a tab and its {name}, instead of the embedded list"
        group.add_argument(f"--{name}", metavar="FILE", help=text)
    add_options(parser.add_argument_group("analysis"), "models", "store", "threads", "progress")
    output = parser.add_argument_group("output")
    add_output_arguments(output, *WRITERS, note="; pairs: for rome score and annotate")
    others = "also the texts that a perturbation does not apply to, with why"
    output.add_argument("--not-applicable", action="store_true", help=others)


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Read, analyse block by block, write each perturbed text as soon as it is made."""
    from rome.evaluation.perturbing import inflection_note, materials_for, perturb_texts, perturbation_table

    if options.list:
        with open_output(options.output) as stream:
            header, rows = perturbation_table()
            stream.writelines("\t".join(row) + "\n" for row in (header, *rows))
        return 0
    if options.texts is None:
        raise InputError("name the texts: a file with one text per line, or `-` for standard input (or --list)")
    texts = read_lines(options.texts)
    if not texts:
        raise InputError(f"{options.texts} holds no text: give at least one line")
    try:
        check_texts(texts)
    except SegmentError as error:
        raise InputError(f"{options.texts}:{error.segment + 1}: {error.in_words}") from error
    lexicons = {name: getattr(options, name) for name in ("antonyms", "hypernyms", "synonyms")}
    materials = materials_for(texts, **lexicons)
    made: Any = metric(options)
    note = inflection_note()
    if note is not None:
        print(f"rome: {note}", file=sys.stderr)
    results = perturb_texts(texts, options.perturbation, analyse=made.analyse, seed=options.seed, materials=materials)
    with (
        open_output(options.output) as stream,
        progress_bar(options.progress, len(texts), unit="text", desc="perturb") as bar,
    ):
        for line in WRITERS[options.format](_kept(results, options, bar)):
            stream.write(f"{line}\n")
            stream.flush()
    return 0


def _kept(results: Iterator[PerturbedText], options: argparse.Namespace, bar: Any) -> Iterator[PerturbedText]:
    """Yield perturbed texts up to the limit of each perturbation, and on demand those that do not apply; move the bar over the texts."""
    done: Counter[str] = Counter()
    for result in results:
        bar.update(max(0, result.number + 1 - bar.n))
        if result.perturbed is None:
            if options.not_applicable:
                yield result
        elif options.limit is None or done[result.perturbation] < options.limit:
            done[result.perturbation] += 1
            yield result


def _tsv(results: Iterator[PerturbedText]) -> Iterator[str]:
    """Yield a header and tab-separated rows; the edits are JSON."""
    yield "\t".join(COLUMNS)
    for result in results:
        row = result.to_dict() | {"edits": json.dumps(result.to_dict()["edits"], ensure_ascii=False)}
        yield _tabbed(result, ["" if row[name] is None else str(row[name]) for name in COLUMNS])


def _pairs(results: Iterator[PerturbedText]) -> Iterator[str]:
    """Yield a TSV file of pairs for `rome score` and `rome annotate`: the text is the reference, the perturbation the system."""
    yield "\t".join(("id", "system", "reference", "hypothesis"))
    for result in results:
        line = _tabbed(result, [str(result.number + 1), result.perturbation, result.text, result.perturbed or ""])
        if result.perturbed is not None:
            yield line


def _tabbed(result: PerturbedText, cells: list[str]) -> str:
    """Return the cells as a line. Raises InputError for a cell that contains a tab or a line end."""
    if any("\t" in cell or "\n" in cell for cell in cells):
        raise InputError(f"text {result.number + 1} holds a tab, which no TSV cell can: use --format jsonl")
    return "\t".join(cells)


def _jsonl(results: Iterator[PerturbedText]) -> Iterator[str]:
    """Yield one JSON object per perturbed text."""
    return (json.dumps(result.to_dict(), ensure_ascii=False) for result in results)


WRITERS: dict[str, Callable[[Iterator[PerturbedText]], Iterator[str]]] = {"tsv": _tsv, "jsonl": _jsonl, "pairs": _pairs}

"""How good are the parts of each model set? Every figure by the public path of the analyser, so it is that of what ships.

    python benchmarks/sets.py --models base small --store runs/sets --output benchmarks/results/sets.tsv [--only semantic trees]

semantic: it alone on the development sets; of several references the nearest counts. whole: the components and the score on WMT15.
trees: tags, trees and lemmas of EWT dev from its raw text, F1 in percent. cola: Matthews correlation at one half of a sentence's
acceptability. pairs: how often a sentence of EWT dev is more acceptable than its corruption; pairs whose slip is mended before the models
read it are alike to them and count as lost. size: numbers in all weight files, and the folder's MB.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from people import JUDGED, WMT15, Judged
from result_rows import conditions, write_rows
from safetensors import safe_open

from rome.combining.table import FeatureTable
from rome.data.readers.rated import RatedSegment
from rome.data.readers.texts import read_cola
from rome.data.sources import data_file
from rome.features.analyser.analyser import Analyser
from rome.features.grammar import Grammar, GrammarConfig
from rome.features.values import FEATURES
from rome.metric import RoMe

Figures = dict[str, float]
ACCEPTABILITY = Grammar(GrammarConfig(fluency=0.0, relative=False))
"""The sentences' acceptability alone; a text that was cut into several has their mean."""


def values(metric: RoMe, judged: Judged, limit: int | None) -> tuple[Sequence[RatedSegment], FeatureTable, NDArray[np.float64]]:
    """The segments of a set, their features, and (n, 4) each feature against the reference that is nearest by it."""
    segments = judged.segments(limit)
    table = metric.features(references=[s.references for s in segments], hypotheses=[s.hypothesis for s in segments])
    return segments, table, np.maximum.reduceat(table.values, np.searchsorted(table.segment, range(len(segments))))


def semantic(metric: RoMe, limit: int | None) -> Figures:
    """Agreement of `semantic` alone with people on each set."""
    found: Figures = {}
    for judged in JUDGED:
        segments, _, nearest = values(metric, judged, limit)
        found[f"semantic: {judged.title}"] = judged.follows(segments, nearest[:, 0])
    return found


def whole(metric: RoMe, limit: int | None) -> Figures:
    """Agreement of each component and of the whole score with people on WMT15; the net may have been fitted to other features."""
    segments, table, nearest = values(metric, WMT15, limit)
    columns = {**dict(zip(FEATURES, nearest.T, strict=True)), "whole": metric.combiner.score(table, allow_mismatch=True)}
    return {f"{name}: {WMT15.title}": WMT15.follows(segments, scores) for name, scores in columns.items()}


def trees(metric: RoMe, limit: int | None) -> Figures:
    """F1 in percent on EWT dev from raw text."""
    from stanza.utils.datasets import conllu_to_text

    from rome.train.parser.recipe import raw_text_scores

    sentences = data_file("ud_english_ewt/dev.conllu").read_text(encoding="utf-8").strip().split("\n\n")[:limit]
    with tempfile.TemporaryDirectory() as folder:
        gold, raw = Path(folder) / "gold.conllu", Path(folder) / "raw.txt"
        gold.write_text("\n\n".join(sentences) + "\n\n", encoding="utf-8")
        conllu_to_text.main([str(gold), str(raw)])
        scores = raw_text_scores(Analyser(metric.models).parser, raw.read_text(encoding="utf-8"), gold)
    return {f"EWT dev, raw text: {name}": scores[name] for name in ("LAS", "UPOS", "Lemmas")}


def acceptability(metric: RoMe, texts: Iterable[str]) -> NDArray[np.float64]:
    """(n,) in [0, 1]."""
    given = list(texts)
    analyses = metric.analyse(list(dict.fromkeys(given)))
    return np.array([ACCEPTABILITY.measure(analyses[text], analyses[text]).value for text in given])


def cola(metric: RoMe, limit: int | None) -> Figures:
    """Matthews correlation on CoLA's two development sets."""
    from rome.train.grammar.figures import matthews

    found: Figures = {}
    for name in ("in_domain_dev", "out_of_domain_dev"):
        rows = list(read_cola(data_file(f"cola/{name}.tsv")))[:limit]
        accepted = acceptability(metric, (row.text for row in rows)) > 0.5
        found[f"CoLA MCC: {name}"] = matthews(accepted, [row.acceptable for row in rows])
    return found


class Letters:
    """A tokenizer whose pieces are letters, so that the examples made with it can be read as texts again."""

    def __call__(self, texts: Sequence[str], **_: object) -> Mapping[str, Any]:
        """Code points, and the place of each."""
        return {
            "input_ids": [[ord(letter) for letter in text] for text in texts],
            "offset_mapping": [[(n, n + 1) for n in range(len(text))] for text in texts],
        }


def pairs(metric: RoMe, limit: int | None) -> Figures:
    """How often a clean sentence is more acceptable than its corruption, and how often both are alike to the models."""
    from rome.train.grammar.data import load_material

    known = load_material(Letters()).pairs[:limit]
    clean = acceptability(metric, ("".join(map(chr, one.pieces)) for _, one, _ in known))
    corrupted = acceptability(metric, ("".join(map(chr, other.pieces)) for _, _, other in known))
    return {
        "minimal pairs: right": float((clean > corrupted).mean()),
        "minimal pairs: alike": float((clean == corrupted).mean()),
    }


def size(metric: RoMe, _: int | None) -> Figures:
    """Numbers in all weight files, in millions, and the MB of the whole folder."""
    paths = [path for path in metric.model_set.folder.rglob("*") if path.is_file()]
    return {
        "parameters, millions": sum(map(numbers, paths)) / 1e6,
        "folder, MB": sum(path.stat().st_size for path in paths) / 1e6,
    }


def numbers(path: Path) -> int:
    """How many numbers the tensors of a weight file hold; 0 for any other file."""
    if path.suffix != ".safetensors":
        return 0
    with safe_open(path, "np") as file:
        tensors = [file.get_slice(name) for name in file.keys()]  # noqa: SIM118
        return sum(int(np.prod(tensor.get_shape())) for tensor in tensors if tensor.get_dtype() != "U8")  # those are bytes


PARTS: Mapping[str, Callable[[RoMe, int | None], Figures]] = {
    "semantic": semantic,
    "whole": whole,
    "trees": trees,
    "cola": cola,
    "pairs": pairs,
    "size": size,
}


def main(given: Sequence[str] | None = None) -> int:
    """Print and write one row a figure, one column a set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["base", "small"], help="names or folders of model sets")
    parser.add_argument("--only", nargs="+", choices=tuple(PARTS), default=list(PARTS), help="parts to measure (default: all)")
    parser.add_argument("--store", type=Path, help="analyses are kept in this folder between runs")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=int, help="segments, sentences or pairs of each measurement, to try the script")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(given)
    told = conditions(options.threads)
    if options.store:
        options.store.mkdir(parents=True, exist_ok=True)
    columns: list[Figures] = []
    for models in options.models:
        store = options.store and options.store / "analyses.sqlite"
        metric = RoMe(models=models, store=store, threads=options.threads)
        found: Figures = {}
        for name in options.only:
            found |= PARTS[name](metric, options.limit)
        columns.append(found)
    notes = [f"{told}{f'; the first {options.limit} of everything' if options.limit else ''}"]
    rows = [[figure, *(column[figure] for column in columns)] for figure in columns[0]]
    write_rows(options.output, notes, ("figure", *options.models), rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())

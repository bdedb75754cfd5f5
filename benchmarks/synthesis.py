"""What do the synthesis pipelines make, and how fast? Every pipeline on 1,000 Wikipedia sentences, and ten examples on our own ones.

    python benchmarks/synthesis.py --work runs/synthesis --output benchmarks/results [--only sescore] [--textattack PYTHON]

Pairs are kept in --work: an interrupted run goes on there (its rate is that of the last part), and the page shows every pipeline that is
finished there. Loading, with the index of sescore2 and one text to warm up, is timed apart. Examples come from benchmarks/synthesis_texts.txt.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

from synthesis_page import Run, write_page

from rome.data.sources import data_file, read_jsonl
from rome.exceptions import RomeError
from rome.storage.files import read_lines
from rome.train.synthesis.pairs import read_synthetic, write_synthetic
from rome.train.synthesis.registry import PIPELINES, SynthesisOptions, make_pipeline
from rome.train.synthesis.retrieval import texts_digest

OWN = Path(__file__).with_name("synthesis_texts.txt")
Texts = list[tuple[str, str]]


def sampled(path: str | None, count: int, seed: int) -> tuple[Texts, list[str]]:
    """``count`` texts with their sources, drawn by the seed from a file of lines, else from Wikipedia; and all texts, to retrieve from."""
    if path is None:
        every = [row["text"] for row in read_jsonl(data_file("text/wikipedia_sentences.jsonl.gz"))]
    else:
        every = [line.strip() for line in read_lines(path) if line.strip()]
    name = "wikipedia" if path is None else Path(path).name
    places = {text: number for number, text in reversed(list(enumerate(every, 1)))}
    chosen = random.Random(seed).sample(sorted(places), min(count, len(places)))
    return [(f"{name}:{places[text]}", text) for text in chosen], list(places)


def measure(name: str, texts: Texts, options: SynthesisOptions, folder: Path, seed: int) -> None:
    """Load one pipeline, make what is still missing of its pairs, and keep pairs, examples and figures in the folder."""
    begin = time.perf_counter()
    pipeline: Any = make_pipeline(name, options)
    own = [(f"{OWN.name}:{number}", text) for number, text in enumerate(OWN.read_text(encoding="utf-8").splitlines(), 1)]
    list(pipeline.pairs(own[:1], seed))  # whatever is loaded at the first text
    loading, path, before = time.perf_counter() - begin, folder / f"{name}.jsonl", pipeline.skipped.copy()
    known = folder / f"{name}.json"
    if known.exists() and json.loads(known.read_text(encoding="utf-8"))["signature"] == pipeline.signature:
        print(f"{name}: its pairs are there", flush=True)
        return
    begin = time.perf_counter()
    made = sum(map(len, write_synthetic(path, pipeline, texts, seed)))
    figures = {
        "signature": pipeline.signature,
        "loading": loading,
        "rate": made / (time.perf_counter() - begin),
        "skipped": dict(pipeline.skipped - before),
    }
    lines = [f"{pair.to_json()}\n" for pair in pipeline.pairs(own, seed)]
    (folder / f"{name}.examples.jsonl").write_text("".join(lines), encoding="utf-8")
    known.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    print(f"{name}: {made} pairs, {figures['rate']:.1f} a second, loaded in {loading:.1f} s", flush=True)


def finished(folder: Path) -> list[Run]:
    """What the folder holds of every pipeline that came to its end."""
    runs = []
    for name in PIPELINES:
        if (folder / f"{name}.json").exists():
            figures = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
            pairs = list(read_synthetic(folder / f"{name}.jsonl"))
            runs.append(Run(name, pairs, list(read_synthetic(folder / f"{name}.examples.jsonl")), **figures))
    return runs


def arguments() -> argparse.Namespace:
    """What the user wants."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="generated pairs, examples and the index are kept here")
    parser.add_argument("--output", type=Path, help="write the page, its plots and the tables into this folder")
    parser.add_argument("--texts", metavar="FILE", help="own texts, one a line, instead of Wikipedia")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=tuple(PIPELINES), metavar="PIPELINE", help="none: write the page anew")
    parser.add_argument("--fill", default="embedded", metavar="FOLDER", help="the filler of sescore, sescore2 and bleurt")
    parser.add_argument("--entailment", default="embedded", metavar="FOLDER", help="the judge of severity in sescore")
    parser.add_argument("--textattack", metavar="PYTHON", help="the interpreter that has TextAttack, for rome")
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def main() -> int:
    """Run what was asked for, then show everything that is there; 1 when a pipeline could not run."""
    options = arguments()
    import torch

    torch.set_num_threads(options.threads)
    texts, corpus = sampled(options.texts, options.count, options.seed)
    folder = options.work / f"{texts_digest([text for _, text in texts])}-{options.seed}"
    folder.mkdir(parents=True, exist_ok=True)
    made = SynthesisOptions(
        fill=(options.fill,),
        entailment=options.entailment,
        corpus=corpus,
        index=str(options.work / "index"),
        textattack=options.textattack,
        threads=options.threads,
    )
    failed = 0
    for name in options.only:
        try:
            measure(name, texts, made, folder, options.seed)
        except RomeError as error:
            failed = 1
            print(f"{name}: {error}", file=sys.stderr)
    if options.output:
        machine = f"{options.threads} thread{'s' if options.threads > 1 else ''} of a machine with {os.cpu_count()} cores"
        what = "Wikipedia sentences" if options.texts is None else f"lines of {Path(options.texts).name}"
        write_page(finished(folder), [text for _, text in texts], options.output, what, machine, options.seed)
    return failed


if __name__ == "__main__":
    sys.exit(main())

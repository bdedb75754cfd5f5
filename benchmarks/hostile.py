"""How much one text can cost: processor seconds and peak memory of one pair by its length, up to the bounds of the door and past them.

    python benchmarks/hostile.py --models small --output benchmarks/results/hostile.tsv

Two texts of random sentences of 15 words, one thread; below them long texts that are no sentences, against an ordinary one. Memory is
the highest of the process so far, so the rows are in the order of their size.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
from pathlib import Path

from result_rows import conditions, keep_lines

from rome.checks import MOST_CHARACTERS
from rome.metric import RoMe

VOCABULARY = (
    "the old museum opens at nine on weekdays and a young engineer designed this bridge over wide river near our town".split()
)
WORDS = (25, 100, 400, 1_000, 2_300, 10_000, 1_000_000)
"""Blank-separated; with its full stops the fifth is just below the bound of 2,500 words and marks."""
ORDINARY = "The museum opens at nine on weekdays."
OTHERS = {
    "one word of letters": "a" * MOST_CHARACTERS,
    "one word with joints": ("a-" * MOST_CHARACTERS)[:2_490],
    "an unspaced script": "日本語の文章は長いです" * (MOST_CHARACTERS // 11),
    "brackets": "(" * 2_490,
    "marks on one letter": "a" + "\u0301" * (MOST_CHARACTERS - 1),
    "no width between letters": "a\u200b" * 2_000,
}


def sentences(count: int, seed: int) -> str:
    """A text of so many words."""
    chance = random.Random(seed)
    words = [chance.choice(VOCABULARY) for _ in range(count)]
    for end in range(14, count, 15):
        words[end] += "."
    return " ".join(words)


def cost(metric: RoMe, reference: str, hypothesis: str) -> tuple[str, float, int]:
    """What came of a pair, its processor seconds, and the highest memory of the process so far in MB."""
    start = time.process_time()
    (segment,) = metric.score(references=[reference], hypotheses=[hypothesis])
    came = f"score {segment.score:.3f}{', of what is cut off at the bound' * ('cut' in segment.flags)}"
    return came, time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> int:
    """Print and write one row a pair."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default="base")
    parser.add_argument("--only", default="", help="pairs with this in their name")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    told = conditions(1)
    metric = RoMe(models=options.models, progress=False, threads=1)
    metric.score(references=[ORDINARY], hypotheses=["It opens at nine."])
    pairs = [(f"{count:,} words each", sentences(count, 1), sentences(count, 2)) for count in WORDS]
    pairs += [(f"{name}, {len(text):,} characters", ORDINARY, text) for name, text in OTHERS.items()]
    lines = [f"# models {options.models}; {told}", "pair\toutcome\tprocessor_seconds\tpeak_mb"]
    for name, reference, hypothesis in (pair for pair in pairs if options.only in pair[0]):
        came, seconds, memory = cost(metric, reference, hypothesis)
        lines.append(f"{name}\t{came}\t{seconds:.2f}\t{memory}")
        print(lines[-1], flush=True)
    keep_lines(options.output, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())

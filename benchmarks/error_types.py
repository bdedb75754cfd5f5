"""Does an error get its right name? Every kind of DEMETR's perturbations and what the errors' evidence calls it.

    python benchmarks/error_types.py --store runs/judging/analyses.sqlite --output benchmarks/results

For each pair of a good translation and a perturbed copy, the errors that the copy has and the good one has not are the answer; the
heaviest of them counts. `named` is the share of pairs with such an error, `right` the share of those whose class is one that fits the
perturbation, `severity` the share of those whose severity (critical, major, minor) is the perturbation's.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from result_rows import write_rows

from rome.data.readers.demetr import KINDS, MinimalPair, read_demetr
from rome.metric import RoMe

SUBSTITUTION = ("noun", "verb", "adjective", "generalisation", "idiom", "style")
GRAMMAR = ("tense", "agreement", "article", "preposition", "reference")
OF_ITS_OWN = ("repetition", "negation", "punctuation", "spacing", "casing")
FITTING: dict[str, tuple[str, ...]] = {
    "minor_id1_repeat2": ("repetition",),
    "minor_id2_repeat4": ("repetition",),
    "major_id3_hypernym": ("substitution",),
    "critical_id4_codemix": ("substitution", "spelling", "name"),
    "major_id5_pp_removed": ("omission",),
    "critical_id6_addition": ("addition",),
    "critical_id7_antonym": ("antonym", "negation", "substitution"),
    "critical_id8_negation": ("negation",),
    "critical_id9_ne_replaced": ("name", "place"),
    "critical_id10_numbers_replaced": ("number",),
    "critical_id11_gender": ("pronoun",),
    "minor_id12_conj_removed": ("omission",),
    "minor_id13_pos_shift": ("grammar",),
    "minor_id14_word_swap": ("order",),
    "minor_id15_case": ("grammar",),
    "minor_id16_function_word": ("grammar",),
    "major_id17_tense": ("grammar",),
    "major_id18_aspect": ("grammar", "omission", "addition"),
    "major_id19_question": ("grammar", "order", "omission", "addition"),
    "critical_id21_adj_adv_removed": ("omission",),
    "critical_id22_verb_removed": ("omission",),
    "critical_id23_noun_removed": ("omission",),
    "critical_id24_subj_removed": ("omission",),
    "critical_id25_ne_removed": ("omission",),
    "minor_id26_misspelled": ("spelling",),
    "minor_id27_char_removed": ("spelling",),
    "minor_id28_final_punc_removed": ("punctuation",),
    "minor_id29_punc_addition": ("punctuation",),
    "minor_id30_tokenized": ("spacing",),
    "minor_id31_full_lower": ("casing",),
    "minor_id32_first_lower": ("casing",),
}
"""The classes that fit each perturbation, by its definition; decided before anything was measured."""


def class_of(error: Any) -> str:
    """One word for kind and type together."""
    if error.type in OF_ITS_OWN:
        return str(error.type)
    if error.type in GRAMMAR:
        return "grammar"
    if error.kind in ("missing", "unnecessary"):
        return {"missing": "omission", "unnecessary": "addition"}[error.kind]
    return "substitution" if error.type in SUBSTITUTION else str(error.type)


def answer(before: Iterable[Any], after: Iterable[Any]) -> Any | None:
    """The heaviest named error of the perturbed text that the translation has not; None where there is none."""

    def key(error: Any) -> tuple[Any, ...]:
        return error.kind, error.type, error.reference, error.hypothesis and error.hypothesis.text

    old = Counter(key(error) for error in before if error.severity != "none")
    new = []
    for error in after:
        if error.severity != "none":
            old[key(error)] -= 1
            if old[key(error)] < 0:
                new.append(error)
    return max(new, key=lambda error: error.weight, default=None)


def rows_of(pairs: Sequence[MinimalPair], metric: RoMe) -> list[list[str]]:
    """One row a kind, and one of all."""
    texts = [text for pair in pairs for text in (pair.translation, pair.perturbed)]
    references = [pair.reference for pair in pairs for _ in range(2)]
    segments = metric.score(references=references, hypotheses=texts).segments
    found: dict[str, list[Any]] = defaultdict(list)
    for number, pair in enumerate(pairs):
        before, after = (segments[2 * number + n].evidence.errors.errors for n in (0, 1))
        found[pair.kind].append(answer(before, after))
    rows, totals = [], Counter[str]()
    for kind, errors in found.items():
        named = [error for error in errors if error is not None]
        right = [error for error in named if class_of(error) in FITTING[kind]]
        severe = [error for error in named if error.severity == KINDS[kind].severity]
        often = Counter(map(class_of, named)).most_common(3)
        totals.update(pairs=len(errors), named=len(named), right=len(right), severe=len(severe))
        rows.append([kind, str(len(errors)), *_shares(len(errors), len(named), len(right), len(severe)), _shown(often, named)])
    rows.append(["all", str(totals["pairs"]), *_shares(*(totals[n] for n in ("pairs", "named", "right", "severe"))), ""])
    return rows


def _shares(pairs: int, named: int, right: int, severe: int) -> list[str]:
    return [f"{100 * part / max(1, whole):.1f}" for part, whole in ((named, pairs), (right, named), (severe, named))]


def _shown(often: Sequence[tuple[str, int]], named: Sequence[Any]) -> str:
    return ", ".join(f"{name} {100 * count / len(named):.0f}" for name, count in often)


def main() -> int:
    """Print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", help="analyses are kept in this file between runs")
    parser.add_argument("--most", type=int, help="pairs of each kind (default: all)")
    parser.add_argument("--output", type=Path, help="write error_types.tsv into this folder")
    options = parser.parse_args()
    seen: Counter[str] = Counter()
    pairs = []
    for pair in read_demetr():
        seen[pair.kind] += 1
        if pair.kind in FITTING and (options.most is None or seen[pair.kind] <= options.most):
            pairs.append(pair)
    rows = rows_of(pairs, RoMe(store=options.store, progress=False))
    notes = ["percent; named: of the pairs, right and severity: of the named; mostly: the commonest classes"]
    path = options.output / "error_types.tsv" if options.output else None
    write_rows(path, notes, "kind pairs named right severity mostly".split(), rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Lessons of a tiny annotated group, tiny sources in a folder, and a few synthetic pairs."""

from __future__ import annotations

import json
import random
from pathlib import Path

from tiny_encoder import write_lines

from rome.data.perturbations.changes import Made
from rome.data.readers.groups import (
    AnnotatedGroup,
    SingleError,
    is_held_out_group,
    is_held_out_paws,
    is_held_out_summary,
    parse_marks,
)
from rome.train.errors import sources
from rome.train.synthesis.pairs import SyntheticPair

MARKED = (
    "The {old=>young|critical|antonym||elderly|minor|style} dog saw {a=>an|minor|article} red house{ on Monday=>|major|omission}"
    "{=>, and it barked|major|addition}.",
    "On {Monday=>Tuesday|critical|date}, an old dog {saw=>ignored|critical|verb} a {red=>blue|major|adjective} house{ there=>|minor|omission}.",
    "A red house {was seen=>were seen|minor|agreement} by {the old dog=>the old cat|critical|noun} on Monday.",
)
TEXTS = tuple(map(parse_marks, MARKED))
GROUP = AnnotatedGroup("g", "test", TEXTS[0].text, TEXTS)
LESSONS = [sources.annotated(GROUP, random.Random(n)) for n in range(60)]


def forms(text: Made, places: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(text.forms()[n] for n in places)


def error_of(text: str) -> tuple[str, SingleError]:
    """The acceptable text and the error that make a text with one error."""
    (found,) = [(one.text, error) for one in TEXTS for error in one.errors if one.with_errors(error) == text]
    return found


def write_sources(folder: Path) -> set[str]:
    """Write tiny sources to a folder; the words of what is held out: every row names itself, and about a tenth or a half is held out."""
    (folder / "groups").mkdir()
    rows = [
        {"id": f"g{n}", "domain": "d", "reference": "", "texts": [text.replace("dog", f"dog{n}") for text in MARKED]}
        for n in range(24)
    ]
    (folder / "groups" / "train_01.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    summaries = [
        {
            "group": f"s{n % 6}",
            "domain": "podcast" if n % 3 else "news",
            "reference": f"It rains in r{n}.",
            "hypothesis": f"Rain r{n}.",
            "consistent": n % 2 == 0,
        }
        for n in range(24)
    ]
    write_lines(folder / "meaning" / "summedits.jsonl.gz", summaries)
    paws = [{"a": f"Tall p{n}pppppp trees.", "b": f"Trees, tall p{n}pppppp.", "paraphrase": n % 2} for n in range(24)]
    write_lines(folder / "pairs" / "paws_wiki_dev.jsonl.gz", paws)
    held = {f"dog{row['id'][1:]}" for row in rows if is_held_out_group(row["id"])}
    held |= {f"r{n}" for n, row in enumerate(summaries) if is_held_out_summary(row)}
    held |= {f"p{n}pppppp" for n, row in enumerate(paws) if is_held_out_paws(row)}
    return held


def generated(path: Path) -> Path:
    """Three pairs of one reference, one of another, and two that teach nothing, as `rome synthesize` writes them."""
    rows = [("It rains.", "It snows.", -5.0), ("It rains.", "It rain.", -1.0), ("It rains.", "Rain falls.", 0.0)]
    rows += [("We go home now.", "They went.", -25.0), ("It rains.", " ", -5.0), ("It rains.", "Sun.", None)]  # type: ignore[list-item]
    pairs = [SyntheticPair(f"p{n}", "made", n, one, other, (), label) for n, (one, other, label) in enumerate(rows)]
    path.write_text("".join(pair.to_json() + "\n" for pair in pairs), encoding="utf-8")
    return path

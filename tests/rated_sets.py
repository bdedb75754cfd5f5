"""Small rated sets for tests: three systems on a few inputs, with ratings, marks and published scores."""

from __future__ import annotations

from pathlib import Path

from rome.data.readers.rated import ErrorMark, RatedSegment, RatedSet

REFERENCES = (
    "The museum opens at nine on weekdays.",
    "She sold her car because it was old.",
    "Two hundred people live in the village.",
    "The doctor said the medicine is safe.",
)


def outputs(reference: str) -> dict[str, str]:
    """What three systems make of a text: the text itself, its last words lost, one word said over and over."""
    words = reference.split()
    return {"good": reference, "middle": " ".join(words[: len(words) // 2]) + ".", "bad": " ".join([words[0]] * 5)}


def rated_set(*, name: str = "small", marks: bool = False, language_pairs: tuple[str, ...] = ("", "")) -> RatedSet:
    """Twelve segments; ``quality`` follows the systems' order, ``noise`` does not."""
    segments = []
    for number, reference in enumerate(REFERENCES):
        for rank, (system, text) in enumerate(outputs(reference).items()):
            marked = {"ann": () if rank == 0 else (ErrorMark(0, 3, "major"),)} if marks else {}
            segments.append(
                RatedSegment(
                    item=f"i{number}",
                    references=(reference,),
                    hypothesis=text,
                    ratings={"quality": 3.0 - rank + 0.01 * number, "noise": float((7 * number + 5 * rank) % 4)},
                    system=system,
                    language_pair=language_pairs[number % 2],
                    marks=marked,
                    published={"theirs": float(-rank)},
                    source=f"Quelle {number}",
                    place=f"small.tsv:{len(segments) + 2}",
                )
            )
    return RatedSet(name, tuple(segments))


def ratings_file(path: Path) -> Path:
    """The small set as a user's own TSV file."""
    rows = ["item\tsystem\treference\thypothesis\trating:quality\tscore:theirs"]
    for s in rated_set().segments:
        rows.append(f"{s.item}\t{s.system}\t{s.references[0]}\t{s.hypothesis}\t{s.ratings['quality']}\t{s.published['theirs']}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path

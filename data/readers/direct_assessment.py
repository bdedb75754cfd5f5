"""WMT direct assessment (Bojar et al. 2015 and later): adequacy on a continuous scale, standardised for each rater (z)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rome.data.readers.lines import check_counts, number, set_name, text_lines
from rome.data.readers.rated import RatedSegment, RatedSet, check_shared_texts, development_rows, segment_of
from rome.data.sources import data_file
from rome.exceptions import InputError

_OUTPUTS = ("mt-system", "system")


def read_wmt15(path: str | Path | None = None) -> RatedSet:
    """The WMT15 segments of the development data, 4 language pairs x 500, with the published scores of several metrics.

    Raises InputError for a line without language pair, segment or published scores, and for a segment that comes twice.
    """
    file = path or data_file("human/wmt15_da_to-en.jsonl.gz")
    rows = development_rows(file, ("lp", "segment"), once=("lp", "segment"))
    segments = [segment_of(row, place, str(row["segment"])) for place, row in rows]
    metrics = set(segments[0].published) if segments else set()
    for segment in segments:
        if set(segment.published) != metrics:
            raise InputError(
                f"{segment.place}: published scores of other metrics than in {segments[0].place}: fetch the file again"
            )
    return RatedSet("wmt15", check_shared_texts(segments))


def read_daseg(folder: str | Path) -> RatedSet:
    """The parallel files of one year, ``DAseg.newstest2015.{human,mt-system,reference,source}.de-en``: all pairs into English.

    A line is one output of an unnamed system for one source text. The files of a language pair must have the same number of
    lines; ``source`` may be missing. Raises InputError naming the first line without partner, a rating that is no number, an
    empty reference, and a folder without such files.
    """
    root = Path(folder)
    segments: list[RatedSegment] = []
    for ratings in sorted(root.glob("DAseg.*.human.*-en")):
        segments += _language_pair(ratings)
    if not segments:
        raise InputError(f"{root} holds no ratings DAseg.YEAR.human.XX-en: give the released folder")
    return RatedSet(set_name(folder), tuple(segments))


def _language_pair(ratings: Path) -> list[RatedSegment]:
    front, pair = ratings.name.split(".human.")
    beside = {kind: ratings.with_name(f"{front}.{kind}.{pair}") for kind in (*_OUTPUTS, "reference", "source")}
    outputs = next((beside[kind] for kind in _OUTPUTS if beside[kind].exists()), beside[_OUTPUTS[0]])
    files = {path: text_lines(path) for path in (ratings, outputs, beside["reference"])}
    source = beside["source"]
    files[source] = text_lines(source) if source.exists() else [""] * len(files[ratings])
    check_counts(files.items())
    found = []
    for line, (given, output, reference, text) in enumerate(zip(*files.values(), strict=True), start=1):
        place = f"{ratings}:{line}"
        rating = {"z": number(given.strip(), place, "the rating")}
        found.append(RatedSegment(str(line), (reference,), output, rating, language_pair=pair, source=text, place=place))
    return found


def read_ad_scores(
    scores: str | Path,
    outputs: str | Path,
    reference: str | Path,
    source: str | Path | None = None,
    language_pair: str = "",
    *,
    first: int = 1,
) -> RatedSet:
    """The later years' ``ad-seg-scores-de-en.csv``: columns SYS, SID (line of the test set), RAW.SCR and Z.SCR.

    Raises InputError for a system without a file or with several, files that have not the same number of lines, a line number outside them, a
    system that is rated twice on one line.

    Parameters
    ----------
    outputs
        The folder with one text file a system, named ``SYS`` with whatever stands before or after it as in ``newstest2017.SYS.de-en``. The
        dimensions are ``raw`` and ``z``.
    language_pair
        By default the end of the file's name.
    first
        The number of the first line.
    """
    path = Path(scores)
    pair = language_pair or path.name.split(".")[0].removeprefix("ad-seg-scores-")
    references = text_lines(reference)
    sources = text_lines(source) if source is not None else [""] * len(references)
    check_counts([(reference, references), (source, sources)])
    texts: dict[str, list[str]] = {}
    segments = []
    for place, system, number_of, ratings in _ad_rows(path):
        if system not in texts:
            texts[system] = _outputs(Path(outputs), system, pair, place)
            check_counts([(reference, references), (f"{outputs} ({system})", texts[system])])
        at = int(number_of) - first if number_of.isdecimal() and len(number_of) < 10 else -1
        if not 0 <= at < len(references):
            raise InputError(
                f"{place}: line {number_of} is none of {len(references)} in {reference}: give the test set that was rated"
            )
        names = (number_of, (references[at],), texts[system][at], ratings, system, pair)
        segments.append(RatedSegment(*names, source=sources[at], place=place))
    return RatedSet(set_name(path), tuple(segments))


def _ad_rows(path: Path) -> Iterator[tuple[str, str, str, dict[str, float]]]:
    """``(file:line, system, line of the test set, ratings)`` of a table whose columns are separated by spaces."""
    lines = text_lines(path)
    header = [name.strip('"').upper() for name in lines[0].split()] if lines else []
    columns = {name: header.index(label) for name, label in (("raw", "RAW.SCR"), ("z", "Z.SCR")) if label in header}
    if header[:2] != ["SYS", "SID"] or not columns:
        raise InputError(f"{path}:1: the header is {' '.join(header)}: it needs SYS SID RAW.SCR Z.SCR")
    for row, line in enumerate(lines[1:], start=2):
        place, cells = f"{path}:{row}", [cell.strip('"') for cell in line.split()]
        if len(cells) != len(header):
            raise InputError(f"{place}: {len(cells)} columns where the header has {len(header)}: fetch the file again")
        yield place, cells[0], cells[1], {name: number(cells[column], place, name) for name, column in columns.items()}


def _outputs(folder: Path, system: str, pair: str, place: str) -> list[str]:
    """The lines of the one file whose name is the system's, but for what stands before and after it."""
    if not folder.is_dir():
        raise InputError(f"{place}: {folder} is one file for every system: give the folder with one a system")
    ends = {system, f"{system}.txt", f"{system}.{pair}", f"{system}.{pair}.txt"}
    found = [
        path for path in sorted(folder.iterdir()) if path.name in ends or any(path.name.endswith("." + end) for end in ends)
    ]
    if len(found) != 1:
        raise InputError(f"{place}: {system} has {len(found)} files in {folder}: give one a system, named as {system}.{pair}")
    return text_lines(found[0])

"""The data behind the page of `rome report`: nothing lost, nothing alive, the same bytes twice, wrong input refused with its place."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from html_checks import write_report

from rome.cli import report
from rome.exceptions import InputError
from rome.reports.html import clean
from rome.results import CorpusScore, SegmentScore
from rome.results.corpus import iter_scores
from rome.results.systems import Systems, iter_systems, read_system_pairs

HOSTILE = (
    "</script><script>document.title='taken'</script>",
    "<!-- <script> -->",
    "a \u202e b \u2066 c",
    "half \ud800 a pair",
    "NUL \0, bell \a, unit \x1f and section \x1e",
    "]]> &lt; &amp; ' \"",
    "",
    "🧵 naïve ﷽ 𝔘",
)

Make = Callable[..., SegmentScore]


def unpacked(text: str) -> str:
    """What `packed` packed."""
    return zlib.decompress(base64.b64decode(text)).decode("utf-8")


def table_of(page: Path) -> dict[str, Any]:
    """The columns that a page carries."""
    found = re.search(r'<script type="text/plain" id="table">([^<]*)</script>', page.read_text(encoding="utf-8"))
    return dict(json.loads(unpacked(found[1] if found else "")))


def explanations_of(page: Path) -> list[str]:
    """The explanations that a page carries."""
    found = re.findall(r'<script type="text/plain" id="block-\d+">([^<]*)</script>', page.read_text(encoding="utf-8"))
    return [fragment for block in found for fragment in unpacked(block).split("\x1e")]


def corpus(make: Make, texts: Sequence[str], score: float = 0.5) -> CorpusScore:
    """One segment a hypothesis."""
    rows = [make(n, score=score, hypothesis=text, flags=() if text else ("empty_hypothesis",)) for n, text in enumerate(texts)]
    return CorpusScore(tuple(rows), "rome:test")


def test_hostile_texts_stay_texts(make_segment: Make, tmp_path: Path) -> None:
    """No text can be seen by an HTML parser: the file has the page's own scripts only, and the packed data gives the texts back."""
    page = tmp_path / "report.html"
    names = ("<b>A</b>$blocks<!--blocks-->", "B\u202e")
    results = {name: corpus(make_segment, HOSTILE) for name in names}
    write_report(results, page, ids=HOSTILE, title="</title><script>1</script>")
    html = page.read_text(encoding="utf-8")
    assert re.findall(r"<script(?![^>]*text/plain)", html) == ["<script"]
    assert "taken" not in html and "<!--" not in html.split("</style>")[1].split("<script")[0]
    table = table_of(page)
    assert table["systems"] == list(names)
    assert table["segments"] == [clean(text) for text in HOSTILE]
    assert [table["texts"][place] for place in table["hypotheses"][::2]] == [clean(text) for text in HOSTILE]
    assert clean("half \ud800 a pair \U0001f9f5") == "half \ufffd a pair \U0001f9f5"
    for fragment in explanations_of(page):
        assert not re.search(r"<(script|img|iframe|style|!)| on\w+=| style=| id=", fragment)


def test_page_allows_its_own_script_and_style_only(make_segment: Make, tmp_path: Path) -> None:
    """The policy names both by hash; nothing in the file points anywhere else."""
    page = tmp_path / "report.html"
    write_report({"A": corpus(make_segment, ["x"])}, page)
    html = page.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None and "unsafe" not in policy[1] and policy[1].startswith("default-src 'none'")
    assert policy[1].count("'sha256-") == 2
    assert not re.search(r'(?:src|href|action)="(?!#|data:,)', html)
    assert not re.search(r"https?://", html)


def test_same_input_gives_same_bytes(make_segment: Make, tmp_path: Path) -> None:
    """Two runs write the same file; another seed changes intervals only."""
    results = {"A": corpus(make_segment, ["one", "two", "three"]), "B": corpus(make_segment, ["1", "2", "3"], 0.25)}
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        write_report(results, tmp_path / name, seed=seed)
    first, second, third = ((tmp_path / name).read_bytes() for name in "abc")
    assert first == second != third
    assert table_of(tmp_path / "a") == table_of(tmp_path / "c")


def test_columns_hold_what_was_scored(make_segment: Make, tmp_path: Path) -> None:
    """Numbers to six decimals, texts once, flags, and the errors that count; a missing number is null."""
    bad = replace(make_segment(1, score=float("nan"), hypothesis=""), flags=("empty_hypothesis", "long"))
    results = {
        "A": CorpusScore((make_segment(0, score=1 / 3), bad), "rome:test"),
        "B": corpus(make_segment, ["Four cats sleep soundly.", "x"]),
    }
    write_report(results, tmp_path / "p.html", ids=["s1", "s2"])
    table = table_of(tmp_path / "p.html")
    assert table["numbers"][0] == [333333, 500000, None, 500000]
    assert table["numbers"][2] == [666667] * 4
    assert table["texts"].count("Five cats sleep.") == 1
    assert [[table["flagNames"][n] for n in row] for row in table["flags"]] == [[], [], ["empty_hypothesis", "long"], []]
    assert [table["kinds"][n] for n in table["errors"][0]] == [["minor", "adverb"], ["major", "number"]]
    assert len(explanations_of(tmp_path / "p.html")) == 4


@pytest.mark.parametrize("texts", [["only"], [""]])
def test_one_system_one_segment(make_segment: Make, tmp_path: Path, texts: list[str]) -> None:
    """The smallest report: no differences, no intervals, and no warning on the way."""
    write_report({"A": corpus(make_segment, texts)}, tmp_path / "p.html")
    html = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "1 segment, 1 system." in html and 'id="differences"' not in html and "NaN" not in html.split("<script")[0]


def test_standings_rank_and_compare(make_segment: Make) -> None:
    """Highest mean first, equal means share a rank, every other system is compared with the first on the same segments."""
    gathered = Systems(["low", "high", "even"])
    for n in range(20):
        gathered.add(str(n), [make_segment(n, score=score + n / 100) for score in (0.1, 0.6, 0.6)])
    first, second, third = gathered.standings(resamples=200)
    assert [(row.name, row.rank) for row in (first, second, third)] == [("high", 1), ("even", 1), ("low", 3)]
    assert first.against is None and second.against is not None and third.against is not None
    assert third.against.score.difference == pytest.approx(-0.5) and third.against.score.decided
    assert not second.against.score.decided
    assert first.intervals[0][0] < first.means[0] < first.intervals[0][1]


def run_report(metric: Any, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What `rome report` complains about; empty when it wrote the page."""
    import argparse

    parser = argparse.ArgumentParser()
    report.add_arguments(parser)
    try:
        report.run(parser.parse_args(arguments), lambda _: metric)
    except InputError as error:
        return str(error)
    return ""


def test_command_writes_the_page(fake_metric: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """From parallel files and from a table of pairs in any order, the same segments; ids are names."""
    for name, lines in {"r": "One.\nTwo.\n", "a": "One.\n2\n", "b": "1\nTwo.\n"}.items():
        (tmp_path / name).write_text(lines)
    rows = ["id\tsystem\treference\thypothesis", "x\tA\tOne.\tOne.", "y\tA\tTwo.\t2", "y\tB\tTwo.\tTwo.", "x\tB\tOne.\t1"]
    (tmp_path / "pairs.tsv").write_text("\n".join(rows))
    r, a, b, pairs, one, two = (str(tmp_path / name) for name in ("r", "a", "b", "pairs.tsv", "one.html", "two.html"))
    assert run_report(fake_metric, capsys, "--references", r, "--hypotheses", f"A={a}", f"B={b}", "--output", one) == ""
    assert run_report(fake_metric, capsys, "--pairs", pairs, "--output", two) == ""
    tables = table_of(tmp_path / "one.html"), table_of(tmp_path / "two.html")
    assert tables[0]["numbers"][0] == tables[1]["numbers"][0] == [1_000_000, 500_000, 500_000, 1_000_000]
    assert [table["segments"] for table in tables] == [["0", "1"], ["x", "y"]]


def test_command_prints_the_leaderboard(fake_metric: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The best system first; the same numbers as text, as TSV and as JSON; without --output a page is refused, a leaderboard is printed."""
    for name, lines in {"r": "One.\nTwo.\nThree.\n", "a": "One.\n2\n3\n", "b": "One.\nTwo.\n3\n"}.items():
        (tmp_path / name).write_text(lines)
    texts = ["--references", str(tmp_path / "r"), "--hypotheses", f"A={tmp_path / 'a'}", f"B={tmp_path / 'b'}"]
    assert "print the leaderboard, `--format text`" in run_report(fake_metric, capsys, *texts)
    shown = {}
    for form in ("text", "tsv", "json"):
        assert run_report(fake_metric, capsys, *texts, "-f", form) == ""
        shown[form] = capsys.readouterr().out
    header, first, second = (line.split("\t") for line in shown["tsv"].splitlines())
    told = json.loads(shown["json"])
    assert [row["system"] for row in told["systems"]] == [first[0], second[0]] == ["B", "A"] and told["signature"]
    assert [float(row[header.index("score")]) for row in (first, second)] == [row["score"] for row in told["systems"]]
    assert told["systems"][0]["p"] == "–" and told["systems"][1]["difference to the first"] < 0
    assert shown["text"].startswith("Leaderboard\n") and "signature" in shown["text"] and header[1:3] == ["rank", "score"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"system": "A", "id": 1}, {"system": "A", "id": 1}], ":2: segment 1 of system A is already in"),
        ([{"system": "A", "id": 1}, {"system": "A", "id": 2}, {"system": "B", "id": 1}], "not answered by both A and B"),
        ([{"system": "A", "id": 1}, {"system": "B", "id": 2}], "segment 1 is not answered by both A and B"),
        ([{"system": "A", "id": 1}, {"id": 1}], ":2: no system"),
        ([{"system": "A", "id": 1}, {"system": "B", "id": 1, "reference": "other"}], ":2: segment 1 has other references"),
    ],
)
def test_tables_of_pairs_are_checked(tmp_path: Path, rows: list[dict[str, Any]], message: str) -> None:
    """Each system answers each segment once, against the same references."""
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps({"reference": "r", "hypothesis": "h"} | row) + "\n" for row in rows))
    with pytest.raises(InputError, match=re.escape(message)):
        read_system_pairs(str(path))


def test_damaged_scores_are_refused(make_segment: Make, tmp_path: Path) -> None:
    """A file that is no stored score, a tree with a cycle, another number of segments: InputError with file and line or counts."""
    row = make_segment().to_dict()
    whole, cyclic, short = json.dumps(row), json.loads(json.dumps(row)), json.loads(json.dumps(row))
    cyclic["evidence"]["syntax"]["reference"]["parents"][1:] = [2, 1, 0]
    short["evidence"]["semantic"]["cost"] = [[1.0]]
    path, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for text in (
        "{",
        "[]",
        "{}",
        "[" * 100_000,
        '{"id": ' * 100_000,
        json.dumps(cyclic),
        json.dumps(short),
        whole.replace('"minor"', '"deadly"'),
    ):
        path.write_text(f"{whole}\n{text}\n")
        with pytest.raises(InputError, match=re.escape(f"{path}:2: ")):
            list(iter_scores(str(path)))
    path.write_text(json.dumps(row | {"baseline": 0.5}))
    with pytest.raises(InputError, match="earlier version"):
        list(iter_scores(str(path)))
    path.write_text(f"{whole}\n{whole}\n{whole}\n")
    other.write_text(f"{whole}\n")
    with pytest.raises(InputError, match=re.escape(f"{other} ends after 1")):
        list(iter_systems([("A", str(path)), ("B", str(other))]))
    with pytest.raises(InputError, match="nowhere"):
        list(iter_scores("nowhere.jsonl"))

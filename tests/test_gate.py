"""The gate, the error diff, and the commands `check`, `compare`, `explain --from` and `examples` on stored scores."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rome.cli import main
from rome.cli.package import FILES
from rome.exceptions import InputError
from rome.features.errors.evidence import ErrorSpan
from rome.reports.gate import gate_junit, gate_markdown, gate_text
from rome.results import SegmentScore
from rome.results.comparison import compare, error_changes
from rome.results.gate import Limits, check_limits
from rome.results.segment import Change

from scored_segments import corpus, error, scored

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def rome(capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line; exit code, standard output, standard error."""

    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        return code, *capsys.readouterr()

    return run


def stored(path: Path, segments: Sequence[SegmentScore], *, evidence: bool = True, ids: bool = False) -> str:
    """The file that `rome score --format jsonl --evidence` would write."""
    rows = [({"id": f"n{n}"} if ids else {}) | s.to_dict(evidence=evidence) for n, s in enumerate(segments)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def turned(number: int, **changes: str) -> ErrorSpan:
    """A critical error."""
    found = error(10.0, **changes)
    return ErrorSpan(found.kind, "negation", "critical", 10.0, 1.0, found.reference, found.hypothesis)


# the error diff


@given(st.integers(0, 50), st.integers(0, 50))
def test_error_changes_are_antisymmetric(one: int, other: int) -> None:
    """Seen from the other side, what went has come; nothing changes against itself."""
    a, b = corpus(12, one), corpus(12, other)
    assert error_changes(map(Change, a, a)) == ()
    there, back = error_changes(map(Change, a, b)), error_changes(map(Change, b, a))
    assert {(c.name, c.gone, c.come) for c in there} == {(c.name, c.come, c.gone) for c in back}
    assert sum(c.difference for c in there) == sum(len(s.evidence.errors.errors) for s in b) - sum(
        len(s.evidence.errors.errors) for s in a
    )


def test_error_changes_in_words() -> None:
    """One and several, fewer and more; a mistake that both make at the same place is none; no evidence says nothing."""
    both = error(1.0, reference="x", hypothesis="y")
    before = [scored(0, errors=[turned(0), both]), scored(1, errors=[turned(1), turned(1, reference="mat")]), scored(2)]
    after = [scored(0, errors=[both]), scored(1, errors=[turned(1)]), scored(2, errors=[error(5.0)])]
    first, second = error_changes(map(Change, before, after))
    assert (str(first), first.gone, first.come) == ("2 fewer wrong negations", (0, 1), ())
    assert (str(second), second.gone, second.come) == ("1 more wrong noun", (), (2,))
    assert error_changes([Change(scored(0, evidence=False), scored(0, errors=[turned(0)]))]) == ()


def test_a_comparison_tells_the_error_diff() -> None:
    """In the text, in plain values and in the page."""
    found = compare(corpus(12, 2), corpus(12, 1), names=("old", "new"))
    assert "Mistakes  new against old: " in str(found) and "segments of old" in found._repr_html_()
    assert found.to_dict()["error_changes"][0]["name"] == found.error_changes[0].name
    assert "Mistakes" not in str(compare(corpus(4, 1, evidence=False), corpus(4, 2, evidence=False)))


# the gate


def test_limits_count_all_segments_together() -> None:
    """At the limit it passes, one above it fails and names every segment that holds such an error."""
    segments = [scored(0, errors=[turned(0)]), scored(1), scored(2, errors=[turned(2), error(1.0)])]
    assert check_limits(segments, Limits(critical=2)).passed
    result = check_limits(segments, Limits(critical=1))
    assert [offence.name for offence in result.offences] == ["0", "2"]
    assert result.counts == {"critical": 2, "major": 0, "minor": 1}
    assert all(e.severity == "critical" for offence in result.offences for e in offence.errors)
    assert check_limits(segments, Limits()).passed and not check_limits(segments, Limits(minor=0)).passed


@given(st.integers(0, 30), st.integers(0, 6), st.integers(0, 6))
def test_a_looser_limit_never_fails_more(seed: int, major: int, more: int) -> None:
    """Whoever passes goes on passing; the number of segments to blame does not grow."""
    segments = corpus(10, seed).segments
    tight, loose = check_limits(segments, Limits(major=major)), check_limits(segments, Limits(major=major + more))
    assert loose.passed or not tight.passed
    assert len(loose.offences) <= len(tight.offences)


@given(st.integers(0, 30))
def test_a_result_passes_against_itself(seed: int) -> None:
    """Nothing is new; without the baseline the same errors count."""
    segments = corpus(10, seed).segments
    limits = Limits(0, 0, 0, 0.5)
    assert check_limits(segments, limits, baseline=segments).passed
    assert check_limits(segments, limits).passed is not any(s.score < 0.5 or s.evidence.errors.errors for s in segments)


def test_the_gate_refuses_what_it_cannot_judge() -> None:
    """No segments, no evidence, another baseline, impossible limits; a score needs no evidence."""
    bare = [scored(0, evidence=False)]
    for given_segments, limits, baseline, told in (
        ([], Limits(critical=0), None, "no segment"),
        (bare, Limits(critical=0), None, "segment 0 has no evidence"),
        ([scored(0)], Limits(critical=0), [], "the baseline has 0 segments and 1 are checked"),
        ([scored(0)], Limits(critical=0), [scored(0, reference="A bird sings.")], "segment 0 has another reference"),
    ):
        with pytest.raises(InputError, match=told):
            check_limits(given_segments, limits, baseline=baseline)
    assert not check_limits(bare, Limits(score=1.0)).passed
    for wrong in ({"critical": -1}, {"score": 1.5}):
        with pytest.raises(InputError):
            Limits(**wrong)


def test_hostile_texts_stay_texts() -> None:
    """Markup and control characters of a text break neither XML, nor Markdown, nor the terminal."""
    text = 'A <b>|cat</b> & "dog" \x1b[31m\x00 ]]> `x` \ud800'
    result = check_limits([scored(0, hypothesis=text, errors=[turned(0, hypothesis=text)])], Limits(critical=0))
    case = ElementTree.fromstring(gate_junit(result).encode("utf-8")).find("testsuite/testcase/failure")
    assert case is not None and "<b>" in str(case.text)
    row = gate_markdown(result).splitlines()[-1]
    assert row.count(" | ") == 6 and "<b>" not in row
    assert "\x1b" not in gate_text(result)


# the commands


def test_check_command(rome: Run, tmp_path: Path) -> None:
    """Exit codes, the files that it writes, ids, JSON, and the baseline."""
    path = stored(tmp_path / "s.jsonl", [scored(0), scored(1, errors=[turned(1)])], ids=True)
    code, out, _ = rome("check", "--scores", path, "--junit", f"{tmp_path}/j.xml", "--markdown", f"{tmp_path}/m.md")
    assert code == 1 and "segment n1  critical negation" in out and "FAILED: 1 critical (at most 0 allowed)" in out
    suite = ElementTree.parse(tmp_path / "j.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert "| n1 |" in (tmp_path / "m.md").read_text(encoding="utf-8")
    assert rome("check", "--scores", path, "--max-critical", "1")[0] == 0
    assert rome("check", "--scores", path, "--baseline", path)[:2] == (
        0,
        "passed: 0 new critical (at most 0 allowed), 0 new major (any number allowed), 0 new minor (any number allowed) in 2 segments\n",
    )
    row = json.loads(rome("check", "--scores", path, "--format", "json")[1])
    assert (row["passed"], row["counts"]["critical"], row["offences"][0]["segment"]) == (False, 1, "n1")
    assert rome("check", "--scores", path, "-q", "-f", "json", "-o", f"{tmp_path}/c.json")[:2] == (1, "")
    assert json.loads((tmp_path / "c.json").read_text(encoding="utf-8")) == row
    assert rome("check", "--scores", path, "-q")[:2] == (1, "")


def test_compare_command(rome: Run, tmp_path: Path) -> None:
    """Every difference is the second file's minus the first's, as in Python; text, JSON and page tell the same."""
    old, new = (stored(tmp_path / f"{name}.jsonl", corpus(12, seed).segments) for seed, name in enumerate(("old", "new")))
    expected = compare(corpus(12, 0), corpus(12, 1), names=("old", "new"))
    assert rome("compare", old, new)[1] == f"{expected}\n"
    row = json.loads(rome("compare", old, new, "--format", "json")[1])
    assert row["names"] == ["old", "new"] and row["sign"] == "new minus old" and len(row["deciding"]) == 10
    assert row["differences"]["score"]["difference"] == pytest.approx(expected.score.difference)
    assert rome("compare", old, new, "--format", "html", "--output", f"{tmp_path}/c.html")[:2] == (0, "")
    assert "The segments that decide" in (tmp_path / "c.html").read_text(encoding="utf-8")
    shorter = stored(tmp_path / "short.jsonl", corpus(11, 0).segments)
    assert "old has 12 segments, short has 11" in rome("compare", old, shorter)[2]


def test_explain_stored_segments(rome: Run, tmp_path: Path) -> None:
    """By id, by number, the worst ones; the explanation is that of the segment itself."""
    segments = corpus(9, 3).segments
    path = stored(tmp_path / "s.jsonl", segments, ids=True)
    worst = min(segments, key=lambda segment: segment.score)
    assert (
        rome("explain", "--from", path, "--row", "n4")[1]
        == rome("explain", "--from", path, "--row", "4")[1]
        == f"{segments[4]}\n"
    )
    assert rome("explain", "--from", path, "--worst", "1")[1] == f"{worst}\n"
    rows = json.loads(rome("explain", "--from", path, "--worst", "3", "--format", "json")[1])
    assert [row["score"] for row in rows] == sorted(segment.score for segment in segments)[:3]
    assert rome("explain", "--from", path, "--worst", "2", "--format", "html")[1].count('rome-signature"') == 1
    assert "has no segment x: it has 9" in rome("explain", "--from", path, "--row", "x")[2]


def test_examples_command(rome: Run, tmp_path: Path) -> None:
    """All files with what they are; never over a file that is there."""
    code, out, _ = rome("examples", "--write", str(tmp_path / "new"))
    assert code == 0 and sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(FILES)
    assert [line.split("\t")[0] for line in out.splitlines()] == [str(tmp_path / "new" / name) for name in FILES]
    lines = [len((tmp_path / "new" / name).read_text().splitlines()) for name in ("references.txt", "old.txt", "new.txt")]
    assert len(set(lines)) == 1
    assert "exists already" in rome("examples", "--write", str(tmp_path / "new"))[2]


def test_pytest_fixture(tmp_path: Path) -> None:
    """Found by its entry point; a bad mistake fails the test and is told, what is allowed passes."""
    (tmp_path / "conftest.py").write_text(
        "import pytest\n"
        "from scored_segments import error, scored\n"
        "from rome.results import CorpusScore\n"
        "class Metric:\n"
        "    def score(self, *, references, hypotheses):\n"
        "        bad = [error(5.0)] if 'dog' in hypotheses[0] else []\n"
        "        return CorpusScore((scored(0, reference=references[0], hypothesis=hypotheses[0], errors=bad),))\n"
        "@pytest.fixture(scope='session')\n"
        "def rome_metric():\n"
        "    return Metric()\n"
    )
    (tmp_path / "test_it.py").write_text(
        "def test_good(rome_check):\n    assert rome_check('A cat.', 'A cat.').score > 0\n"
        "def test_allowed(rome_check):\n    rome_check('A cat.', 'A dog.')\n"
        "def test_bad(rome_check):\n    rome_check('A cat.', 'A dog.', max_major=0)\n"
        "def test_ignored(rome_check):\n    rome_check('A cat.', 'A dog.', max_major=0, max_type={'noun': 0}, ignore=['noun'])\n"
        "def test_low(rome_check):\n    rome_check('A cat.', 'A dog.', min_score=1.0)\n"
        "def test_unknown(rome_check):\n    rome_check('A cat.', 'A dog.', ignore=('awful',))\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--rootdir", str(tmp_path)]
    environment = {"PYTHONPATH": str(Path(__file__).parent), "PATH": ""}
    found = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert "3 failed, 3 passed" in found.stdout
    assert 'major noun: "cat" -> "dog"' in found.stdout and "awful" in found.stdout


def test_limits_by_kind_and_type_and_what_is_ignored() -> None:
    """Added, missing and a type have their own limits; what is ignored is neither counted nor shown, in the baseline too."""
    added, missing = error(5.0, "unnecessary", reference=None), error(1.0, "missing", hypothesis=None)
    segments = [scored(0, errors=[added, missing]), scored(1, errors=[turned(1), missing])]
    assert check_limits(segments, Limits(added=1, missing=2)).passed
    result = check_limits(segments, Limits(missing=1, type={"negation": 1}))
    assert result.counts == {"critical": 1, "major": 1, "minor": 2, "missing": 2, "negation": 1}
    assert [[e.kind for e in offence.errors] for offence in result.offences] == [["missing"], ["missing"]]
    assert result.summary.startswith("FAILED: 1 critical (any number allowed), ")
    assert "2 missing (at most 1 allowed)" in result.summary
    result = check_limits(segments, Limits(major=0, minor=0, critical=0, ignore=("missing", "negation")))
    assert [offence.message for offence in result.offences] == ['major noun: "dog" added']
    assert (result.counts["critical"], result.counts["minor"]) == (0, 0)
    assert result.summary.endswith("without missing, negation")
    assert "negation" not in gate_text(result).splitlines()[0] and 'cat" missing' not in gate_markdown(result)
    assert check_limits(segments, Limits(minor=0, ignore=("minor",)), baseline=segments).passed
    for name, wrong in (("ignore", ("casings",)), ("ignore", "style"), ("type", {"critical": 0}), ("type", {"name": -1})):
        with pytest.raises(InputError, match="must be"):
            Limits(**{name: wrong})  # type: ignore[arg-type]


def test_the_least_completeness_and_faithfulness() -> None:
    """A segment below fails with its number; ignored errors do not lower it; a baseline that is as low excuses it; evidence is needed."""
    segments = [scored(0, errors=[error(5.0, "missing", hypothesis=None)]), scored(1)]
    result = check_limits(segments, Limits(completeness=0.95, faithfulness=1.0))
    assert [(o.name, o.low, o.message) for o in result.offences] == [("0", ("completeness",), "completeness 0.885")]
    assert "1 segments below a completeness of 0.95, 0 segments below a faithfulness of 1 in 2" in result.summary
    assert result.to_dict()["offences"][0]["completeness"] == segments[0].completeness
    assert "| segment | score | completeness | faithfulness |" in gate_markdown(result)
    assert check_limits(segments, Limits(completeness=0.95, ignore=["noun"])).passed
    assert check_limits(segments, Limits(completeness=0.95), baseline=segments).passed
    with pytest.raises(InputError, match="segment 0 has no evidence"):
        check_limits([scored(0, evidence=False)], Limits(faithfulness=0.5))


def test_check_command_has_every_limit(rome: Run, tmp_path: Path) -> None:
    """The options, a file without evidence, and what is said about a wrong name."""
    path = stored(tmp_path / "s.jsonl", [scored(0, errors=[error(5.0, "unnecessary", reference=None)])], evidence=False)
    for words, code in (
        ("", 0),
        ("--max-added 0", 1),
        ("--max-added 0 --ignore noun casing", 0),
        ("--max-type noun=0 --max-type number=0", 1),
        ("--max-missing 0 --min-completeness 1", 0),
        ("--min-faithfulness 0.9", 1),
    ):
        assert rome("check", "--scores", path, *words.split())[0] == code, words
    for words, told in (
        ("--max-type noun", "--max-type must be TYPE=N, such as number=0, got 'noun'"),
        ("--max-type nouns=1", "got 'nouns'"),
        ("--ignore capitals", "ignore must be some of critical, major, minor, added, missing, negation"),
    ):
        code, _, line = rome("check", "--scores", path, *words.split())
        assert code == 2 and told in line and line.count("\n") == 1

"""The store of analyses: nothing is lost, nothing damaged is returned, several processes may write."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from rome.exceptions import StoreError
from rome.features.values import Analysis, Sentence, Word
from rome.storage.analysis_store import AnalysisStore, pack, unpack

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NUMBER = st.integers(-1, 10_000)
PROBABILITY = st.floats(0, 1)


@st.composite
def analyses(draw: st.DrawFn) -> Analysis:
    """Any analysis: 0 to 5 words, vectors as the analyser rounds them."""
    count, width = draw(st.integers(0, 5)), draw(st.integers(0, 4))
    word = st.builds(Word, TEXT, TEXT, TEXT, TEXT, TEXT, NUMBER, TEXT, NUMBER, NUMBER, NUMBER)
    number = st.floats(width=16, allow_nan=False)
    return Analysis(
        text=draw(TEXT),
        sentences=tuple(draw(st.lists(st.builds(Sentence, NUMBER, NUMBER, PROBABILITY), max_size=3))),
        words=tuple(draw(st.lists(word, min_size=count, max_size=count))),
        vectors=draw(npst.arrays(np.float32, (count, width), elements=number)),
        word_probabilities=draw(npst.arrays(np.float32, count, elements=st.floats(0, 1, width=32))),
        states=draw(
            npst.arrays(np.float16, st.sampled_from([(0, 0), (count, 3)]), elements=st.floats(width=16, allow_nan=False))
        ),
    )


def example(text: str = "A cat.", seed: int = 0) -> Analysis:
    """A small analysis with float16 vectors, as the analyser makes them."""
    vectors = np.random.default_rng(seed).normal(size=(2, 384)).astype(np.float16).astype(np.float32)
    words = tuple(Word(w, w.lower(), "NOUN", "NN", "_", -1, "root", 0, 1, 0) for w in ("A", "cat"))
    return Analysis(text, (Sentence(0, 6, 0.9),), words, vectors, np.array([0.1, 0.7], dtype=np.float32))


@given(analyses())
def test_packing_loses_nothing(analysis: Analysis) -> None:
    """Every analysis comes back equal, its arrays of the same type and shape."""
    again = unpack(analysis.text, pack(analysis))
    assert again == analysis
    assert (again.vectors.dtype, again.vectors.shape) == (np.float32, analysis.vectors.shape)
    assert again.word_probabilities.dtype == np.float32
    assert (again.states.dtype, again.states.shape) == (np.float16, analysis.states.shape)


@settings(max_examples=20, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.lists(analyses(), max_size=5, unique_by=lambda analysis: analysis.text))
def test_store_returns_what_was_put(tmp_path_factory: pytest.TempPathFactory, kept: list[Analysis]) -> None:
    """After closing and opening again, every text gives its analysis; unknown texts are absent."""
    path = tmp_path_factory.mktemp("store") / "analyses.sqlite"
    with AnalysisStore(path) as store:
        store.put_many(kept, identity="m")
    with AnalysisStore(path) as store:
        found = store.get_many([*(analysis.text for analysis in kept), "unknown text"], identity="m")
        assert found == {analysis.text: analysis for analysis in kept}
        assert len(store) == len(kept)


def test_other_models_are_kept_apart(tmp_path: Path) -> None:
    """An analysis by one model is never served for another, nor is identity + text read across their border."""
    with AnalysisStore(tmp_path / "a.sqlite") as store:
        store.put_many([example("bc")], identity="a")
        assert store.get_many(["bc"], identity="b") == {}
        assert store.get_many(["c"], identity="ab") == {}


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE analyses SET value = x'00112233'",
        "UPDATE analyses SET value = x''",
        "UPDATE analyses SET value = 'a text'",
        "UPDATE analyses SET value = 7",
        "UPDATE analyses SET value = (SELECT value FROM analyses WHERE rowid = 2)",
    ],
)
def test_damaged_row_counts_as_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str) -> None:
    """A damaged row, and the whole row of another text, is absent, one line says so, and writing the text again heals it."""
    path = tmp_path / "a.sqlite"
    with AnalysisStore(path) as store:
        store.put_many([example(), example("B", 1)], identity="m")
    by_hand(path, damage)
    with AnalysisStore(path) as store:
        assert store.get_many(["A cat."], identity="m") == {}
        assert capsys.readouterr().err == f"rome: the store {path} has 1 damaged rows among 1: computed again\n"
        store.put_many([example()], identity="m")
        assert store.get_many(["A cat."], identity="m") == {"A cat.": example()}
    assert capsys.readouterr().err == ""


def by_hand(path: Path, *statements: str) -> None:
    """Change a store as no program of ours would."""
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


WRITER = """
import sys
import numpy as np
from rome.features.values import Analysis
from rome.storage.analysis_store import AnalysisStore

with AnalysisStore(sys.argv[1]) as store:
    for number in range(40):
        text = f"{sys.argv[2]} {number}"
        store.put_many([Analysis(text, (), (), np.zeros((0, 2), np.float32), np.zeros(0, np.float32))], identity="m")
"""


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    """Processes that make and fill the same new file at the same time lose nothing."""
    path = str(tmp_path / "a.sqlite")
    workers = [subprocess.Popen([sys.executable, "-I", "-c", WRITER, path, str(worker)]) for worker in range(3)]
    assert [worker.wait() for worker in workers] == [0, 0, 0]
    with AnalysisStore(path) as store:
        assert len(store) == 120


def test_wrong_files_are_refused_with_a_remedy(tmp_path: Path) -> None:
    """A directory, a missing folder, a text file and another program's database: each is named and left as it is."""
    text, other = tmp_path / "notes.txt", tmp_path / "other.sqlite"
    text.write_text("this is no database, only a note " * 20)
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    before = other.read_bytes()
    for path, message in [
        (tmp_path, "must be a file"),
        (tmp_path / "none" / "a.sqlite", "in a folder that exists"),
        (text, "not a store of RoMe"),
        (other, "of another program"),
    ]:
        with pytest.raises(StoreError, match=message):
            AnalysisStore(path)
    assert other.read_bytes() == before


def damaged_store(path: Path) -> tuple[dict[str, Analysis], bytes]:
    """A store that lost its last pages, what it held, and its bytes."""
    many = [example(f"text {number}", number) for number in range(30)]
    with AnalysisStore(path) as store:
        store.put_many(many, identity="m")
    content = path.read_bytes()[: -5 * 4096 - 7]
    path.write_bytes(content)
    return {analysis.text: analysis for analysis in many}, content


def test_damaged_file_is_set_aside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The damaged file stays under another name, the store goes on in a new one, and one line says so."""
    path, link = tmp_path / "a.sqlite", tmp_path / "link.sqlite"
    known, content = damaged_store(path)
    (tmp_path / "a.sqlite.damaged-1").write_text("of another day")
    link.symlink_to(path)
    with AnalysisStore(link) as store:
        assert store.get_many(known, identity="m") == {}
        store.put_many(known.values(), identity="m")
    aside = tmp_path / "a.sqlite.damaged-2"
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"rome: the store {link} was damaged (") and f"it is now {aside}" in line
    assert aside.read_bytes() == content and (tmp_path / "a.sqlite.damaged-1").read_text() == "of another day"
    assert link.is_symlink()
    with AnalysisStore(path) as store:
        assert store.get_many(known, identity="m") == known
    assert capsys.readouterr().err == ""


def test_replaced_or_deleted_file_is_noticed(tmp_path: Path) -> None:
    """A store that is open goes on in the file that now has its name; nothing is written into one that nobody can find."""
    path = tmp_path / "a.sqlite"
    store = AnalysisStore(path)
    store.put_many([example("a")], identity="m")
    for log in ("", "-wal", "-shm"):
        Path(f"{path}{log}").unlink(missing_ok=True)
    store.put_many([example("b")], identity="m")
    with AnalysisStore(path) as other:
        assert list(other.get_many(["a", "b"], identity="m")) == ["b"]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that others may enter too, and while it is there this process is nobody's, because root may write everywhere."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        is_root = os.geteuid() == 0
        if is_root:
            os.chown(name, 65534, 65534)
            os.setresuid(65534, 65534, 0)
        yield Path(name)
        if is_root:
            os.setresuid(0, 0, 0)
        Path(name).chmod(0o755)


@pytest.mark.skipif(sys.platform != "linux", reason="permissions and users of Linux")
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_store_that_may_only_be_read_is_read(folder: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What it holds is found; nothing is written, and one line says so once."""
    path = folder / "a #1?.sqlite"
    with AnalysisStore(path) as store:
        store.put_many([example("a")], identity="m")
    path.chmod(0o444)
    folder.chmod(0o755 if kind == "file" else 0o555)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    for _ in range(2):
        with AnalysisStore(path) as store:
            store.put_many([example("c")], identity="m")
            assert list(store.get_many(["a", "c"], identity="m")) == ["a"] and len(store) == 1
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    assert capsys.readouterr().err == f"rome: the store {path} cannot be written: it is read, and nothing is added\n"


@pytest.mark.skipif(sys.platform != "linux", reason="permissions and users of Linux")
def test_a_damaged_store_that_may_only_be_read_is_refused(folder: Path) -> None:
    """It is not set aside, and no store is made in a folder that may not be written."""
    path = folder / "a.sqlite"
    AnalysisStore(path)
    content = path.read_bytes()
    path.write_bytes(content[:100] + bytes(len(content) - 100))
    path.chmod(0o444)
    with pytest.raises(StoreError, match="is damaged or is not a store"):
        AnalysisStore(path)
    folder.chmod(0o555)
    assert not [name for name in os.listdir(folder) if "damaged" in name]
    with pytest.raises(StoreError, match="cannot be written .*check its permissions"):
        AnalysisStore(folder / "b.sqlite")


def test_analyses_of_another_run_of_the_same_models_are_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the same models come to give other last digits, nothing stored before is returned; the run is no part of signatures."""
    from rome.config import MetricConfig
    from rome.storage.analyses import Analyses

    from handmade import analysis

    asked: list[str] = []

    class Made:
        """An analyser that remembers what it was asked."""

        def analyse(self, texts: list[str]) -> list[object]:
            asked.extend(texts)
            return [analysis(text) for text in texts]

    def found() -> Analyses:
        analyses = Analyses(MetricConfig(store=tmp_path / "a.sqlite"))
        analyses._analyser = Made()  # type: ignore[assignment]
        assert list(analyses.of(["A cat."])) == ["A cat."]
        return analyses

    first = found()
    found()
    assert asked == ["A cat."]
    monkeypatch.setattr("rome.storage.analyses.RUN", "another")
    assert found().models_identity == first.models_identity
    assert asked == ["A cat."] * 2

"""The analyser: one result whatever the call, the order and the number of threads."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("stanza")

from tiny_trees import write_parser  # noqa: E402

from rome.features.analyser.analyser import Analyser  # noqa: E402
from rome.features.analyser.config import ModelConfig, set_folder  # noqa: E402

SENTENCE = "Number {n} of the reports doesn't say why the two engineers left the old company in March."
TEXTS = [" ".join(SENTENCE.format(n=n + k) for k in range(1 + n % 4)) for n in range(16)]


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> ModelConfig:
    """The small set with a random head for tags and trees."""
    folder = write_parser(tmp_path_factory.mktemp("set"))
    for name in ("encoder", "grammar"):
        (folder / name).symlink_to(set_folder("small") / name)
    return ModelConfig(set=str(folder))


def test_a_caller_that_stops_or_fails_leaves_nothing_changed(config, monkeypatch):
    """After the first text, or an error, torch has its number of threads, and the next call works."""
    analyser, before = Analyser(config, threads=2), torch.get_num_threads()
    texts = analyser.analyse(TEXTS)
    assert next(texts).text == TEXTS[0]
    assert torch.get_num_threads() == before
    texts.close()
    with monkeypatch.context() as patched:
        patched.setattr(analyser, "_probabilities", lambda _: (_ for _ in ()).throw(MemoryError("no room")))
        with pytest.raises(MemoryError, match="no room"):
            list(analyser.analyse(TEXTS))
    assert torch.get_num_threads() == before
    assert [analysis.text for analysis in analyser.analyse(TEXTS[:3])] == TEXTS[:3]


def test_finished_texts_come_in_chunks(config, monkeypatch):
    """Texts are given in order as soon as their chunk is done; each text is in one chunk, a long one in a chunk of its own."""
    analyser, chunks = Analyser(config, threads=1), []
    monkeypatch.setattr(analyser, "characters", 150)
    done = analyser._analyse_chunk
    monkeypatch.setattr(analyser, "_analyse_chunk", lambda chunk: chunks.append(chunk) or done(chunk))
    texts = analyser.analyse(["Yes.", "No.", TEXTS[3] * 3, *TEXTS[:2], ""])
    assert next(texts).text == "Yes." and len(chunks) == 1
    assert len(list(texts)) == 5
    assert chunks == [["Yes.", "No."], [TEXTS[3] * 3], [TEXTS[0]], [TEXTS[1]], [""]]


def test_word_vectors_and_judgements_read_the_parsers_pass(config, monkeypatch):
    """Analysing a text takes the trunk once over each sentence: nothing reads it again."""
    analyser, rows = Analyser(config, threads=1), []
    passed = analyser.embedded.states_of_rows
    monkeypatch.setattr(analyser.embedded, "states_of_rows", lambda given: rows.extend(given) or passed(given))
    found = list(analyser.analyse(["A first sentence. And a second!", "A third one."]))
    assert len(rows) == 3
    assert [len(analysis.sentences) for analysis in found] == [2, 1]

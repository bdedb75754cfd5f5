"""The analyser's lanes: several threads, one result."""

from __future__ import annotations

import logging
import threading

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("stanza")

from rome.features.analyser.analyser import Analyser  # noqa: E402
from rome.features.analyser.stanza_pipeline import quiet  # noqa: E402

SENTENCE = "Number {n} of the reports doesn't say why the two engineers left the old company in March."
TEXTS = [" ".join(SENTENCE.format(n=n + k) for k in range(1 + n % 4)) for n in range(60)]


def test_results_do_not_depend_on_the_number_of_threads():
    """One, two and three threads give the same words, trees and numbers to the last bit, and torch keeps its own number of threads."""
    before = torch.get_num_threads()
    one, *others = [list(Analyser(threads=threads).analyse(TEXTS)) for threads in (1, 2, 3)]
    assert torch.get_num_threads() == before
    assert [analysis.text for analysis in one] == TEXTS
    assert all(other == one for other in others)


def test_results_do_not_depend_on_neighbours_or_order():
    """Backwards, in small calls and each by itself, texts have the analyses that they have together, to the last bit."""
    analyser, some = Analyser(threads=1), [*TEXTS[:9], "", "Yes.", "a", "I can't!", TEXTS[3] * 9]
    together = list(analyser.analyse(some))
    assert list(analyser.analyse(some[::-1]))[::-1] == together
    assert [analysis for text in some for analysis in analyser.analyse([text])] == together


def test_a_lane_that_fails_is_free_again(monkeypatch):
    """An error in one thread reaches the caller, and the analyser works on afterwards."""
    analyser = Analyser(threads=2)
    with monkeypatch.context() as patched:
        patched.setattr(analyser, "_judge", lambda *_: (_ for _ in ()).throw(MemoryError("no room")))
        with pytest.raises(MemoryError, match="no room"):
            list(analyser.analyse(TEXTS))
    assert [analysis.text for analysis in analyser.analyse(TEXTS[:30])] == TEXTS[:30]


def test_a_caller_that_stops_leaves_nothing_running():
    """Closed after the first text, the analyser has no thread at work, torch has its number of threads, and the next call works."""
    analyser, before = Analyser(threads=2), (threading.active_count(), torch.get_num_threads())
    texts = analyser.analyse(TEXTS * 2)
    assert next(texts).text == TEXTS[0]
    texts.close()
    assert (threading.active_count(), torch.get_num_threads()) == before
    assert [analysis.text for analysis in analyser.analyse(TEXTS[:3])] == TEXTS[:3]


def test_stanzas_logger_is_restored_when_threads_overlap():
    """Two threads keep Stanza quiet; whichever leaves first, the logger gets its own level back at the end, not before."""
    logger = logging.getLogger("stanza")
    level = logger.level
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with quiet():
            entered.set()
            leave.wait(10)

    with quiet():
        thread = threading.Thread(target=other)
        thread.start()
        assert entered.wait(10)
    assert logger.level == logging.CRITICAL
    leave.set()
    thread.join()
    assert logger.level == level

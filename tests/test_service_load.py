"""The HTTP service under load: calls, queues, time limits, connections, the end; and once with the real models."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the service needs the extra `serve`")
pytest.importorskip("starlette", reason="the service needs the extra `serve`")

from rome.exceptions import ModelMissingError  # noqa: E402
from rome.service.app import ScoreServer  # noqa: E402
from rome.service.limits import Limits  # noqa: E402
from rome.service.scorer import Scorer  # noqa: E402

from serving import PAIR, SECONDS, SmallMetric, ask, expected, running, until  # noqa: E402


def _many(name: str, count: int, **more: str) -> dict[str, Any]:
    return {
        "pairs": [{"reference": [f"{name} reference {n}", "another"], "hypothesis": f"{name} text {n}"} for n in range(count)]
    }


def _right(request: dict[str, Any], body: dict[str, Any]) -> bool:
    """The answer holds the scores of exactly these pairs."""
    wanted = [(n, p["hypothesis"], expected(p["reference"], p["hypothesis"])) for n, p in enumerate(request["pairs"])]
    return [(s["segment"], s["hypothesis"], s["score"]) for s in body["segments"]] == wanted


def test_fifty_clients_get_their_own_scores() -> None:
    """50 at once, three requests each: all right, and one thread scores."""
    metric = SmallMetric(pause=0.002)
    requests = [_many(f"slow client {n}", 1 + n % 3) for n in range(50)]
    with running(lambda: metric) as server, ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda request: [ask(server, "/score", request) for _ in range(3)], requests))
    assert all(
        status == 200 and _right(request, body)
        for request, row in zip(requests, answers, strict=True)
        for status, _, body in row
    )
    assert len(metric.threads) == 1
    assert sum(metric.calls) - 1 == 3 * sum(len(request["pairs"]) for request in requests)


def test_a_bad_pair_never_harms_other_requests() -> None:
    """Only its own request fails; the log does not contain its texts."""
    metric = SmallMetric()
    bad = {"pairs": [PAIR, {"reference": "secret", "hypothesis": "boom"}]}
    requests = [*(_many(f"client {n}", 3) for n in range(4)), bad]
    with running(lambda: metric) as server, ThreadPoolExecutor(5) as pool:
        *answers, failed = pool.map(lambda request: ask(server, "/score", request), requests)
    assert (failed[0], failed[2]["error"]["code"], failed[2]["error"]["where"]) == (500, "scoring_failed", "pairs")
    assert all(status == 200 and _right(request, body) for request, (status, _, body) in zip(requests, answers, strict=False))
    assert any("ValueError at" in line for line in server.lines)  # type: ignore[attr-defined]
    assert not any("secret" in line or "'boom'" in line for line in server.lines)  # type: ignore[attr-defined]


def test_a_full_queue_is_told_and_time_runs_out() -> None:
    """503 with Retry-After over the queue's length; 504 when the time is over, and what was not begun is never scored."""
    metric = SmallMetric()
    limits = Limits(max_queue=3, timeout=1.5)
    with running(lambda: metric, limits=limits) as server, ThreadPoolExecutor(3) as pool:
        first = pool.submit(ask, server, "/score", {"reference": "a", "hypothesis": "held"})
        assert metric.reached.wait(SECONDS)
        others = [pool.submit(ask, server, "/score", PAIR) for _ in range(2)]
        until(lambda: ask(server, "/health")[2]["queue"]["requests"] == 3)
        status, headers, body = ask(server, "/score", PAIR)
        assert (status, body["error"]["code"]) == (503, "busy")
        assert int(headers["retry-after"]) >= 1
        assert [job.result()[0] for job in (first, *others)] == [504, 504, 504]
        metric.release.set()
        assert ask(server, "/score", PAIR)[0] == 200
    assert metric.calls == [1, 1, 1]  # the warm-up, the held one, the last one


def test_a_large_request_does_not_hold_up_small_ones() -> None:
    """It is scored in parts, between which others are let in."""
    metric = SmallMetric(pause=0.01)
    large = _many("slow large", 200)
    with running(lambda: metric) as server, ThreadPoolExecutor(1) as pool:
        job = pool.submit(ask, server, "/score", large)
        until(lambda: len(metric.calls) > 2)
        assert ask(server, "/score", PAIR)[0] == 200
        assert not job.done()
        assert _right(large, job.result()[2])
    assert max(metric.calls) == 16


def test_connections_are_counted() -> None:
    """One more than allowed gets 503; when one goes, the next is served."""
    with running(SmallMetric, limits=Limits(max_connections=3)) as server:
        held = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(3)]
        try:
            until(lambda: ask(server, "/health")[0] == 503)
        finally:
            for connection in held:
                connection.close()
        until(lambda: ask(server, "/health")[0] == 200)


def test_requests_wait_for_the_models_and_health_says_so() -> None:
    """503 from /health until they are loaded; a request that came before is answered afterwards."""
    loaded = threading.Event()

    def make() -> SmallMetric:
        loaded.wait(SECONDS)
        return SmallMetric()

    with running(make, ready=False) as server, ThreadPoolExecutor(1) as pool:
        status, _, body = ask(server, "/health")
        assert (status, body["status"], body["signature"]) == (503, "loading", None)
        early = pool.submit(ask, server, "/score", PAIR)
        loaded.set()
        assert early.result()[0] == 200
        assert ask(server, "/health")[0] == 200


def test_models_that_cannot_be_loaded_end_the_service() -> None:
    """The error comes out of `run`."""

    def make() -> SmallMetric:
        raise ModelMissingError("no models: install them")

    with pytest.raises(ModelMissingError, match="install them"):
        ScoreServer(Scorer(make, Limits())).run()


def test_scores_that_depend_on_the_call_are_made_in_one_call() -> None:
    """Score a request in one call where words are weighed by its references."""
    metric, request = SmallMetric(idf="references"), _many("client", 50)
    with running(lambda: metric) as server:
        assert _right(request, ask(server, "/score", request)[2])
    assert metric.calls == [1, 50]


SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {tests!r})
import rome.cli
from rome.cli import serve
from serving import SmallMetric
rome.cli.COMMANDS.setdefault("serve", serve)
sys.exit(rome.cli.main(["serve", "--port", "0", *sys.argv[1:]], metric=lambda options: SmallMetric(pause=0.5)))
"""


@contextmanager
def _process(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """`rome serve` with a slow small metric, in a process; and what `ask` needs of a server.

    Ctrl-C is heard also where the tests run in the background of a shell, which has its children ignore it.
    """
    script = SCRIPT.format(tests=str(Path(__file__).parent))
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", script, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        url = process.stdout.readline().strip()  # type: ignore[union-attr]
        assert url.startswith("http://127.0.0.1:"), process.stderr.read()  # type: ignore[union-attr]
        yield process, type("At", (), {"port": int(url.rpartition(":")[2])})
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_after_what_is_in_hand(sent: signal.Signals, code: int) -> None:
    """The request that is being scored and the one that waits are answered, new ones are not taken, and nothing of the texts is said."""
    with _process() as (process, server), ThreadPoolExecutor(2) as pool:
        until(lambda: ask(server, "/health")[0] == 200)
        request = {"reference": "a", "hypothesis": "slow private"}
        answers = [pool.submit(ask, server, "/score", request) for _ in range(2)]
        until(lambda: ask(server, "/health")[2]["queue"]["requests"] == 2)
        process.send_signal(sent)
        assert [answer.result()[0] for answer in answers] == [200, 200]
        said = process.communicate(timeout=SECONDS)
        with pytest.raises(OSError):
            ask(server, "/health")
    assert process.returncode == code
    assert said[0] == "" and "private" not in said[1]
    assert "Traceback" not in said[1]


def test_the_end_does_not_wait_for_ever() -> None:
    """After the grace those who wait are answered, and the process ends with the call that is under way."""
    with _process("--grace", "1", "--timeout", "300") as (process, server), ThreadPoolExecutor(1) as pool:
        until(lambda: ask(server, "/health")[0] == 200)
        slow = {"pairs": [{"reference": "a", "hypothesis": f"slow {n}"} for n in range(100)]}
        answer = pool.submit(ask, server, "/score", slow)
        until(lambda: ask(server, "/health")[2]["queue"]["requests"] == 1)
        process.terminate()
        begun = time.monotonic()
        assert process.wait(SECONDS) == 0
        assert time.monotonic() - begun < SECONDS / 2
        assert answer.result()[2]["error"]["code"] == "stopping"


def test_the_real_metric_gives_the_scores_of_a_single_process() -> None:
    """Alone, together with others, and in one process without a server: equal to 1e-6; the explanation is SegmentScore.to_dict."""
    pytest.importorskip("torch", reason="the metric needs the extra `models`")
    from rome.metric import RoMe

    pairs = [
        {"reference": "Snow fell on the hills all night.", "hypothesis": "It snowed on the hills during the night."},
        {
            "reference": ["The train left at noon.", "At noon the train departed."],
            "hypothesis": "The train left at 12 at noon.",
        },
        {"reference": "She bought three apples.", "hypothesis": "She bought four apple."},
        {"reference": "Rain is expected tomorrow.", "hypothesis": ""},
    ]
    metric = RoMe(models="small", progress=False, threads=1)
    with running(lambda: metric, limits=Limits(timeout=SECONDS)) as server, ThreadPoolExecutor(5) as pool:
        bodies = list(pool.map(lambda body: ask(server, "/score", body)[2], [*pairs, {"pairs": pairs}]))
        explained = ask(server, "/explain", pairs[2])[2]
    metric._analyses._memory.clear()  # each text meets the models once more, now in a call of its own
    wanted = [metric.score(references=[p["reference"]], hypotheses=[str(p["hypothesis"])])[0] for p in pairs]
    for body, segment in zip(bodies, wanted, strict=False):
        assert body["score"] == pytest.approx(segment.score, abs=1e-6)
    assert [s["score"] for s in bodies[-1]["segments"]] == pytest.approx([s.score for s in wanted], abs=1e-6)
    assert bodies[-1]["signature"] == metric.signature
    truth = wanted[2].to_dict()
    assert explained.keys() == truth.keys()
    one, other = (found["evidence"]["errors"]["errors"][0]["hypothesis"] for found in (explained, truth))
    assert one["text"] == other["text"]
    assert explained["evidence"]["syntax"]["operations"] == truth["evidence"]["syntax"]["operations"]

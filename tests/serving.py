"""A small metric and a real server on a free loopback port, for the tests of the service."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pairs_metric import PairsMetric

from rome.checks import check_pairs
from rome.features.values import FEATURES, Component
from rome.results import Components, Contributions, CorpusScore, SegmentScore
from rome.service.app import ScoreServer
from rome.service.limits import Limits
from rome.service.scorer import Scorer

SECONDS = 120.0
PAIR = {"reference": "Five cats sleep.", "hypothesis": "Four cats sleep."}


class SmallMetric(PairsMetric):
    """Scores by checksum, so that every pair has its own score. calls : the number of pairs of each call, the warm-up first.

    A hypothesis "slow" takes `pause` seconds; "held" waits until `release` is set; "boom" raises an error that quotes the text.
    """

    def __init__(self, pause: float = 0.0, idf: str = "embedded") -> None:
        self.idf, self.pause, self.calls, self.threads = idf, pause, [], set()  # type: ignore[var-annotated]
        self.release, self.reached = threading.Event(), threading.Event()

    def score(self, *, references: Any, hypotheses: Any) -> CorpusScore:
        pairs = check_pairs(references, hypotheses)
        self.calls.append(len(pairs))
        self.threads.add(threading.get_ident())
        for pair in pairs:
            if pair.hypothesis == "boom":
                raise ValueError(f"cannot read {pair.hypothesis!r} with {pair.references!r}")
            if pair.hypothesis == "held":
                self.reached.set()
                self.release.wait(SECONDS)
            time.sleep(self.pause if pair.hypothesis.startswith("slow") else 0)
        return CorpusScore(tuple(_segment(p.segment, p.references, p.hypothesis) for p in pairs), "rome:small")


def expected(references: Any, hypothesis: str) -> float:
    """The small metric's score of a pair: that of the best reference."""
    listed = [references] if isinstance(references, str) else references
    return max(zlib.crc32(f"{text}|{hypothesis}".encode()) / 2**32 for text in listed)


def _segment(number: int, references: tuple[str, ...], hypothesis: str) -> SegmentScore:
    best = max(range(len(references)), key=lambda n: expected(references[n], hypothesis))
    score = expected(references[best], hypothesis)
    components = Components(*(Component(name, score, 0.5, "unit", None) for name in FEATURES))
    shares = Contributions(score - 1.0, 0.0, 0.0, 0.0)
    return SegmentScore(number, references[best], hypothesis, best, score, components, shares, (), "rome:small")


@contextmanager
def running(make: Callable[[], Any], *, limits: Limits = Limits(), ready: bool = True, **named: Any) -> Iterator[ScoreServer]:
    """A server in a thread, stopped at the end; `lines` of what it said stand in `server.lines`."""
    lines: list[str] = []
    scorer = Scorer(make, limits, say=lines.append)
    server = ScoreServer(scorer, **named)
    server.lines = lines  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        until(lambda: scorer.state != "loading" or not ready, 300)
        yield server
    finally:
        server.stop()
        thread.join(SECONDS)


def until(true: Callable[[], object], seconds: float = SECONDS) -> None:
    """Wait until it is true."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError("it never became true")
        time.sleep(0.01)


def ask(
    server: ScoreServer, path: str, body: Any = None, *, method: str | None = None, headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str], Any]:
    """Status, headers (names in lower case) and body of one request; JSON is read, bytes are sent as they are."""
    content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)
    try:
        sent = {} if content is None else {"Content-Type": "application/json"}
        connection.request(method or ("GET" if content is None else "POST"), path, content, {**sent, **(headers or {})})
        answer = connection.getresponse()
        text = answer.read()
        named = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, named, json.loads(text) if named.get("content-type") == "application/json" and text else text
    finally:
        connection.close()


def raw_status(server: ScoreServer, content: bytes) -> int:
    """The status that bytes are answered with which no library would send."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as connection:
        connection.sendall(content)
        return int(connection.recv(65536).split(b" ", 2)[1])

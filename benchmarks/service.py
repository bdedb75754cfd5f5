"""How many requests a second does the service answer, and how long does one wait? 1, 8 and 50 clients, one pair a request.

    python benchmarks/service.py --requests 200 --output benchmarks/results/service.tsv

The server runs in this process, on a loopback port. Each round asks for texts that were never scored before (WMT references of about 25
words with a real system output), so every request meets the models. "again" asks the last round's requests once more. cpu_ms is the
processor time a request, the clients' included: it says what batches save also where other work slows the clock.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from rome.data.readers.texts import read_wmt
from rome.data.sources import data_file
from rome.metric import RoMe
from rome.service.app import ScoreServer
from rome.service.batching import Batcher
from rome.service.limits import Limits

COLUMNS = ("clients", "texts", "requests", "calls", "requests_per_second", "p50_ms", "p90_ms", "p99_ms", "cpu_ms")


def bodies(count: int) -> list[bytes]:
    """Distinct pairs as request bodies."""
    found: dict[str, str] = {}
    for segment in read_wmt(data_file("text/wmt22_to_en_outputs.jsonl.gz")):
        if 20 <= len(segment.references[0].split()) <= 30 and segment.outputs:
            found.setdefault(segment.references[0], segment.outputs[0][1])
        if len(found) == count:
            break
    return [json.dumps({"reference": reference, "hypothesis": text}).encode() for reference, text in found.items()]


def ask(port: int, share: list[bytes]) -> list[float]:
    """One client: its requests one after the other on one connection; milliseconds of each."""
    connection, waited = http.client.HTTPConnection("127.0.0.1", port, timeout=600), []
    for body in share:
        begun = time.perf_counter()
        connection.request("POST", "/score", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        content = answer.read()
        waited.append(1000 * (time.perf_counter() - begun))
        if answer.status != 200:
            raise RuntimeError(f"status {answer.status}: {content[:200]!r}")
    connection.close()
    return waited


def measured(server: ScoreServer, clients: int, texts: str, round_: list[bytes]) -> tuple[Any, ...]:
    """One row: all clients begin together."""
    before, begun, cpu = server.batcher.calls, time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(clients) as pool:
        waited = np.concatenate(list(pool.map(lambda n: ask(server.port, round_[n::clients]), range(clients))))
    seconds = time.perf_counter() - begun
    used = 1000 * (time.process_time() - cpu) / len(waited)
    figures = [len(waited) / seconds, *np.percentile(waited, (50, 90, 99)), used]
    return (clients, texts, len(waited), server.batcher.calls - before, *(f"{value:.1f}" for value in figures))


def main() -> int:
    """Print and write one row a round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=200, help="a round")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 50])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    texts = bodies(options.requests * len(options.clients))
    batcher = Batcher(lambda: RoMe(progress=False, threads=options.threads), Limits(timeout=600))
    server = ScoreServer(batcher)
    thread = threading.Thread(target=server.run, daemon=True)
    begun = time.perf_counter()
    thread.start()
    while batcher.state == "loading":
        time.sleep(0.1)
    rows = [
        f"# {options.threads} thread(s), one pair a request; ready after {time.perf_counter() - begun:.1f} s",
        "\t".join(COLUMNS),
    ]
    for number, clients in enumerate(options.clients):
        share = texts[number * options.requests : (number + 1) * options.requests]
        for kind in ("new", "again") if number == len(options.clients) - 1 else ("new",):
            rows.append("\t".join(map(str, measured(server, clients, kind, share))))
            print(rows[-1], file=sys.stderr, flush=True)
    server.stop()
    thread.join()
    text = "\n".join(rows) + "\n"
    print(text, end="")
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A program for test_contained.py: run RoMe's commands in the working directory, and write down everything they open, make, reach and start.

    contained.py EVENTS

EVENTS becomes JSON: ``codes`` (exit code of each command), ``written`` (every path that was opened for writing, made, moved or removed),
``reached`` (every address outside this machine, which was refused), ``started`` (every other program).
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
MOVES = {"sqlite3.connect", *(f"os.{name}" for name in "mkdir rename remove rmdir link symlink truncate chmod".split())}
STARTS = {"subprocess.Popen", "webbrowser.open"} | {
    f"os.{name}" for name in "system exec posix_spawn fork forkpty startfile".split()
}
HERE = {"127.0.0.1", "::1", "localhost", None, ""}
COMMANDS = [
    "score pairs.jsonl --format jsonl --evidence --output scores.jsonl",
    "score pairs.jsonl --format jsonl --evidence --output others.jsonl",
    "score pairs.jsonl --format table --output scores.txt.gz",
    "score pairs.jsonl",
    "features pairs.jsonl --output features.parquet",
    "rescore features.parquet --format tsv --output rescored.tsv",
    "explain --example 3 --format html --output explained.html",
    "explain --example 3",
    "report --scores a=scores.jsonl b=scores.jsonl --resamples 20 --output report.html",
    "check --scores scores.jsonl --max-critical 99 --junit checked.xml --markdown checked.md",
    "compare scores.jsonl others.jsonl --resamples 20 --format html --output compared.html",
    "examples --write examples",
    "models --output models.txt",
    "selfcheck --models small",
    "perturb texts.txt --perturbation negation_added word_swap --output perturbed.jsonl",
    "evaluate ratings.tsv --metric rome chrf --samples 20 --permutations 5 --all-tables --store kept",
    "diagnose --texts texts.txt --metric chrf length --samples 20 -f html -o diagnosis.html",
]


class Watch:
    """An audit hook: what happens is noted, and what would leave this machine is refused."""

    def __init__(self) -> None:
        self.written: set[str] = set()
        self.reached: list[str] = []
        self.started: list[str] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            if any(letter in (mode or "") for letter in "wax+") or (isinstance(flags, int) and flags & WRITES):
                self._note(path)
        elif event in MOVES:
            for path in arguments[:2] if event in ("os.rename", "os.link", "os.symlink") else arguments[:1]:
                self._note(path)
        elif event in ("socket.connect", "socket.sendto", "socket.bind"):
            self._refuse(event, arguments[1][0] if isinstance(arguments[1], tuple) else None)
        elif event in ("socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"):
            self._refuse(event, arguments[0])
        elif event in STARTS:
            self.started.append(f"{event} {arguments[0]} {arguments[1] if len(arguments) > 1 else ''}")

    def _note(self, path: object) -> None:
        if isinstance(path, (str, bytes, os.PathLike)) and os.fspath(path) not in ("", ":memory:", b":memory:"):
            self.written.add(os.path.realpath(os.fsdecode(path)))

    def _refuse(self, event: str, host: object) -> None:
        if (host.decode() if isinstance(host, bytes) else host) not in HERE:
            self.reached.append(f"{event} {host}")
            raise PermissionError(f"no network here: {event} {host}")


def serve(metric: Any) -> int:
    """A request to a service on a free port; its status."""
    from serving import PAIR, ask, running

    with running(lambda: metric) as server:
        return ask(server, "/score", {"pairs": [PAIR]})[0]


def main() -> None:
    events, watch = Path(sys.argv[1]), Watch()
    sys.addaudithook(watch)
    from rome.cli import main as command
    from rome.metric import RoMe

    metric, codes = RoMe(models="small", progress=False, threads=1, store="analyses.sqlite"), {}
    for line in COMMANDS:
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = command(line.split(), metric=lambda _: metric)
        codes[line] = f"{code} {said.getvalue()[-300:]}" if code else "0"
    codes["serve"] = str(serve(metric))
    found = {"codes": codes, "written": sorted(watch.written), "reached": watch.reached, "started": watch.started}
    events.write_text(json.dumps(found))


if __name__ == "__main__":
    main()

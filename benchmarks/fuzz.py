"""Throw changed files, texts and requests at every reader, guided by which lines of RoMe each of them reaches (atheris, libFuzzer).

    pip install -c constraints.txt -e ".[fuzz]"
    python benchmarks/fuzz.py --seconds 300 --output benchmarks/results/fuzz.tsv

Every target runs in a process of its own for its share of the time. A finding is an error that is no refusal in one line, more than
--most-seconds for one input of at most --most-bytes, or more than 2 GiB of memory; the input is kept in --findings. Without findings the
exit code is 0.

inputs: how many were tried. read, refused: how they ended. findings: distinct places of unexpected errors. covered: places of RoMe's code
that were reached.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

COLUMNS = ("inputs", "read", "refused", "findings", "covered", "seconds")
MEMORY = 2048


def fuzz(name: str, folder: Path, options: argparse.Namespace) -> None:
    """Run one target until its time is over; the results are in folder/counts.json, which is updated regularly."""
    import atheris

    tempfile.tempdir = str(folder)  # the fuzzer ends its process without ceremony: whoever made the folder removes it
    with atheris.instrument_imports(include=["rome"]):
        from fuzz_targets import TARGETS, outcome
    target, counts, places, begun = TARGETS[name], Counter[str](), dict[str, str](), time.monotonic()

    def one(content: bytes) -> None:
        try:
            counts[outcome(target, content)] += 1
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            counts["unexpected"] += 1
            place = where(error)
            if place not in places:
                places[place] = f"{' '.join(str(error).split())[:120]}; {kept(content, name, options.findings)}"
        if sum(counts.values()) % 500 == 0 or time.monotonic() - begun > options.seconds - 1:
            (folder / "counts.json").write_text(json.dumps({"counts": counts, "places": places}))

    corpus = folder / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(target.seeds()):
        if outcome(target, seed) != "read" and name != "texts":
            raise ValueError(f"{name}: the reader refuses the file that it should set out from")
        (corpus / str(number)).write_bytes(seed)
    limits = [f"-max_total_time={options.seconds}", f"-timeout={options.most_seconds}", f"-rss_limit_mb={MEMORY}"]
    rest = [f"-max_len={options.most_bytes}", f"-artifact_prefix={options.findings}/{slug(name)}-", f"-seed={options.seed}"]
    atheris.Setup(["fuzz", *limits, *rest, str(corpus)], one)
    atheris.Fuzz()


def where(error: BaseException) -> str:
    """Return the kind of an error and the last line of RoMe in its traceback."""
    rooms = [str(Path(str(spec.origin)).parent) for spec in map(find_spec, ("rome", "rome.features", "rome.data")) if spec]
    frames = traceback.extract_tb(error.__traceback__)
    last = next((frame for frame in reversed(frames) if frame.filename.startswith(tuple(rooms))), frames[-1])
    return f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"


def slug(name: str) -> str:
    """Return the name of a target as part of a file name."""
    return name.replace(" ", "-")


def kept(content: bytes, name: str, findings: Path) -> str:
    """Return the path of the input of a finding."""
    path = findings / f"{slug(name)}-{hashlib.sha256(content).hexdigest()[:12]}"
    path.write_bytes(content)
    return str(path)


def target_row(name: str, options: argparse.Namespace) -> tuple[list[Any], list[str]]:
    """Run one target in a process of its own: its row of the table, and a line a finding."""
    memory = "/dev/shm"  # readers want files: in memory where the system has such a place
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as place:
        begun, folder = time.monotonic(), Path(place)
        words = [sys.executable, __file__, "--target", name, "--folder", place, "--seconds", str(options.share)]
        words += ["--findings", str(options.findings), "--seed", str(options.seed)]
        words += ["--most-bytes", str(options.most_bytes), "--most-seconds", str(options.most_seconds)]
        done = subprocess.run(words, capture_output=True, check=False)
        said = done.stderr.decode(errors="replace")
        state = folder / "counts.json"
        found = json.loads(state.read_text()) if state.exists() else {"counts": {}, "places": {}}
    counts, places = found["counts"], found["places"]
    lines = [f"{name}: {place} ({path})" for place, path in places.items()]
    if done.returncode:
        last = [line for line in said.splitlines() if "ERROR" in line or "Error" in line][-1:]
        lines.append(f"{name}: ended with {done.returncode} {' '.join(last)[:200]}; see {options.findings}")
    covered = [int(number) for number in re.findall(r"cov: (\d+)", said)]
    total = re.findall(r"Done (\d+) runs", said)
    inputs = int(total[-1]) if total else sum(counts.values())
    seconds = f"{time.monotonic() - begun:.0f}"
    return [name, inputs, counts.get("read", 0), counts.get("refused", 0), len(lines), max(covered, default=0), seconds], lines


def main() -> int:
    """Run all targets, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=300, help="for all targets together")
    parser.add_argument("--only", default="", help="targets with this in their name")
    parser.add_argument("--most-bytes", type=int, default=4096, help="of one input")
    parser.add_argument("--most-seconds", type=int, default=10, help="for one input")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--findings", type=Path, default=Path(tempfile.gettempdir()) / "rome-fuzz-findings")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--target", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if find_spec("atheris") is None:
        print("fuzz: needs the package atheris: run `pip install 'rome-metric[fuzz]'` (Linux and macOS)", file=sys.stderr)
        return 2
    options.findings.mkdir(parents=True, exist_ok=True)
    if options.target:
        fuzz(options.target, options.folder, options)
        return 0
    return table(options)


def table(options: argparse.Namespace) -> int:
    """Return one row per target, then the findings."""
    from fuzz_targets import TARGETS

    names = [name for name in TARGETS if options.only in name]
    options.share = max(2, options.seconds // max(1, len(names)))
    rows, findings = ["\t".join(("target", *COLUMNS))], []
    for name in names:
        row, lines = target_row(name, options)
        rows.append("\t".join(map(str, row)))
        findings += lines
        print(rows[-1], *lines, sep="\n", file=sys.stderr, flush=True)
    text = "\n".join([*rows, f"# {len(findings)} findings", *(f"# {line}" for line in findings)]) + "\n"
    print(text, end="")
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

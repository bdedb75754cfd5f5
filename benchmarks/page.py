"""How large is the page of `rome report`, how long does it take to write, and how quick is it in a browser?

    rome score --references R --hypotheses A --format jsonl --evidence --output a.jsonl      (and b.jsonl for another system)
    python benchmarks/page.py --scores A=a.jsonl B=b.jsonl --segments 10000 --output benchmarks/results/page.tsv

The stored segments are repeated, each time with other texts (a number is added), until there are enough; those of one packed block are
all different. Give some hundred stored outputs. The browser is Chromium, driven by playwright.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rome.reports.html import fragment
from rome.reports.inputs import iter_systems, named_files
from rome.reports.page import write_page
from rome.reports.segment import segment_document
from rome.results import SegmentScore
from rome.storage.files import open_output

Rows = list[tuple[SegmentScore, ...]]


def repeated(stored: Rows, count: int) -> Iterator[tuple[str, tuple[SegmentScore, ...]]]:
    """So many segments, no two with the same texts."""
    for n in range(count):
        row = stored[n % len(stored)]
        yield str(n), tuple(replace(s, reference=f"{s.reference} {n}", hypothesis=f"{s.hypothesis} {n}") for s in row)


def browsed(path: Path) -> Iterator[tuple[str, float]]:
    """Seconds in Chromium: until the table stands, then one sort, one filter, one search, one turned page, one opened segment."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(300_000)
        begin = time.perf_counter()
        page.goto(path.as_uri(), wait_until="commit")
        page.wait_for_selector("#browse:not([hidden]) #rows tbody tr")
        yield "until the table can be used", time.perf_counter() - begin
        page.wait_for_load_state("load")
        yield "until the whole file is read", time.perf_counter() - begin
        measured = """async ([id, value, event]) => {
          const begin = performance.now(), control = document.getElementById(id);
          if (value !== null) control.value = value;
          control.dispatchEvent(new Event(event, { bubbles: true }));
          if (id === "q") await new Promise((done) => new MutationObserver(done).observe(document.querySelector("#rows tbody"), { childList: true }));
          document.body.getBoundingClientRect();
          return (performance.now() - begin) / 1000;
        }"""
        for name, control in {
            "sort by the lowest score": ("sort", "score", "input"),
            "filter: score below 0.3": ("below", "0.3", "input"),
            "filter: with a major error": ("severity", "major", "input"),
            "clear the filters": ("reset", None, "click"),
            "first search for a word (after the pause of 0.12 s for typing)": ("q", "the", "input"),
            "another search": ("q", "policy", "input"),
            "clear the search": ("reset", None, "click"),
            "turn the page": ("next", None, "click"),
        }.items():
            yield name, page.evaluate(measured, list(control))
        opened = """async (row) => {
          const begin = performance.now(), box = document.getElementById("explanation");
          const shown = new Promise((done) => new MutationObserver(done).observe(box, { childList: true }));
          document.querySelectorAll("#rows tbody button")[row].click();
          await shown;
          box.getBoundingClientRect();
          document.getElementById("close").click();
          return (performance.now() - begin) / 1000;
        }"""
        yield "open a segment (its block is not unpacked yet)", page.evaluate(opened, 7)
        yield "open another", page.evaluate(opened, 33)
        browser.close()


def main() -> int:
    """Print and write one row a figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scores", nargs="+", required=True, metavar="SYSTEM=FILE")
    parser.add_argument("--segments", type=int, default=10_000)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    files = named_files(options.scores, "--scores")
    stored = [row for _, row in iter_systems(files)]
    words = sum(len(text.split()) for row in stored for s in row for text in (s.reference, s.hypothesis))
    outputs = options.segments * len(files)
    lines = [
        f"# {options.segments} segments x {len(files)} systems, {words / len(stored) / len(files) / 2:.1f} words a text; "
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        "what\tvalue\tunit",
    ]

    def tell(what: str, value: float, unit: str) -> None:
        lines.append(f"{what}\t{value:.3f}\t{unit}")
        print(lines[-1], flush=True)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        begin, busy = time.perf_counter(), time.process_time()
        with open_output(str(path)) as stream:
            write_page(stream, [name for name, _ in files], repeated(stored, options.segments))
        tell("write the page", time.perf_counter() - begin, "seconds")
        tell("write the page, processor time", time.process_time() - busy, "seconds")
        size = path.stat().st_size
        tell("size of the page", size / 1e6, "MB")
        tell("an output of a system, everything together", size / outputs, "bytes")
        fragments = [fragment(segment_document(score, every=False)) for row in stored for score in row]
        tell("an explanation as HTML", sum(map(len, fragments)) / len(fragments), "bytes")
        for what, seconds in browsed(path):
            tell(what, seconds, "seconds")
    if options.output:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

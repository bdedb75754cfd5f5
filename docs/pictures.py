"""Make the pictures of the documentation from the displays, with fixed texts and a headless Chromium.

    python docs/pictures.py                 # all, into docs/pages/pictures
    python docs/pictures.py segment report  # some
    python docs/pictures.py --dark --output /tmp/dark   # in dark

This needs the extra `test` (playwright) and Chromium or Chrome. Make the pictures again when a display or a model changes, and look at them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from camera import PAGE, Camera, terminal_page

import rome
from rome.cli import report as command
from rome.reports.html import document_page
from rome.reports.segment import segment_document
from rome.reports.text import document_text
from rome.service.app import ScoreServer
from rome.service.limits import Limits
from rome.service.scorer import Scorer

PICTURES = Path(__file__).resolve().parent / "pages" / "pictures"
REFERENCE = "The committee approved the new budget on Tuesday, and all 15 members voted for it."
HYPOTHESIS = "On Tuesday the committee approved the new plan and all 50 member voted for it."
MENDED = "On Tuesday the committee approved the new budget, and all 15 members voted for it."
REFERENCES = [
    "The museum opens at nine on weekdays.",
    "She sold her old car because it needed expensive repairs.",
    "The doctor said that the medicine is not safe for children.",
    "Many tourists visit the castle in the summer.",
    "The train to Lisbon leaves from platform four.",
    "Nobody answered when he knocked at the door.",
    "The company hired 120 people last year.",
    "Heavy rain destroyed most of the harvest.",
    "The old bridge was closed after the flood.",
    "He wrote three novels before he turned thirty.",
    "The library lends books to anyone who lives in the city.",
    "They cancelled the concert because the singer was ill.",
]
SYSTEMS = {
    "careful": [
        "The museum opens at nine on weekdays.",
        "She sold her old car as it needed costly repairs.",
        "The doctor said the medicine is not safe for children.",
        "In the summer many tourists visit the castle.",
        "The train to Lisbon departs from platform four.",
        "No one answered when he knocked on the door.",
        "The company employed 120 people last year.",
        "Heavy rainfall destroyed most of the harvest.",
        "After the flood the old bridge was closed.",
        "He wrote three novels before he was thirty.",
        "The library lends books to everyone who lives in the town.",
        "They cancelled the concert as the singer was ill.",
    ],
    "hasty": [
        "The museum opens at ten on weekdays.",
        "She sold her old car because it needed repairs.",
        "The doctor said that the medicine is safe for children.",
        "Many tourists visits castle in summer.",
        "The train to Porto leaves from platform four.",
        "Nobody answer when he knocked at door.",
        "The company hired 210 people last year.",
        "Heavy rain destroyed the harvest.",
        "The old bridge was opened after the flood.",
        "He wrote three novels before he turned forty.",
        "The library lends books to anyone who lives in city.",
        "They cancelled the concert because the singer were ill.",
    ],
}


class Results:
    """Scores that the pictures show, computed once."""

    @cached_property
    def metric(self) -> rome.RoMe:
        """Return the metric with its default settings."""
        return rome.RoMe(progress=False, threads=1)

    @cached_property
    def segment(self) -> rome.SegmentScore:
        """Score one pair with several kinds of mistakes."""
        return self.metric.score(references=[REFERENCE], hypotheses=[HYPOTHESIS])[0]

    @cached_property
    def systems(self) -> dict[str, rome.CorpusScore]:
        """Score two systems on the same references."""
        return {name: self.metric.score(references=REFERENCES, hypotheses=texts) for name, texts in SYSTEMS.items()}


def segment(results: Results, camera: Camera) -> None:
    """Take a picture of an explanation in a notebook."""
    camera.shoot("segment", document_page(segment_document(results.segment)), 900)


def corpus(results: Results, camera: Camera) -> None:
    """Take a picture of a corpus."""
    camera.shoot("corpus", PAGE.format(body=results.systems["hasty"]._repr_html_()), 900)


def comparison(results: Results, camera: Camera) -> None:
    """Take a picture of a comparison."""
    names, systems = zip(*reversed(results.systems.items()), strict=True)
    camera.shoot("comparison", PAGE.format(body=rome.compare(*systems, names=names)._repr_html_()), 1180)


def change(results: Results, camera: Camera) -> None:
    """Take a picture of an edited hypothesis."""
    camera.shoot("change", PAGE.format(body=results.metric.what_if(results.segment, hypothesis=MENDED)._repr_html_()), 900)


def terminal(results: Results, camera: Camera) -> None:
    """Take a picture of `rome explain` in a terminal, without its two longest parts."""
    shown = document_text(segment_document(results.segment), width=110, colours=True).split("\n\n")[:6]
    command_line = f'$ rome explain --reference "{REFERENCE}" \\\n      --hypothesis "{HYPOTHESIS}"'
    parts = [command_line, *shown]
    camera.shoot("terminal", terminal_page("\n\n".join(parts)), 900)


def matrices(results: Results, camera: Camera) -> None:
    """Take a picture of alignment and flow as heat maps."""
    page = camera.open(1000)
    page.set_content(document_page(segment_document(results.segment)))
    part = page.locator("details", has_text="Alignment and flow").last
    part.evaluate("part => { part.open = true }")
    camera.save("matrices", part.screenshot())
    page.context.close()


def report(results: Results, camera: Camera) -> None:
    """Take pictures of the page of `rome report`: its top, and one open segment."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for system, texts in {"references": REFERENCES, **SYSTEMS}.items():
            (folder / f"{system}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
        files = [f"{system}={folder / system}.txt" for system in SYSTEMS]
        words = ["--references", str(folder / "references.txt"), "--hypotheses", *files, "--title", "Two systems"]
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        command.run(parser.parse_args([*words, "--output", str(folder / "report.html")]), lambda _: results.metric)
        page = camera.open(1400, 1330)
        page.goto((folder / "report.html").as_uri())
        page.wait_for_selector("#rows tbody tr")
        camera.save("report", page.screenshot())
        page.set_viewport_size({"width": 1100, "height": 900})
        page.locator("#rows tbody tr").nth(9).click()
        page.wait_for_selector("#detail[open] .rome-document")
        camera.save("report_segment", page.screenshot())
        page.context.close()


def serve(results: Results, camera: Camera) -> None:
    """Take a picture of the page of `rome serve` with an edit."""
    server = ScoreServer(Scorer(lambda: results.metric, Limits()))
    thread = threading.Thread(target=server.run)
    thread.start()
    page = camera.open(1000, 1060)
    page.goto(server.url)
    page.get_by_label("Reference", exact=True).fill(REFERENCE)
    page.get_by_label("Hypothesis", exact=True).fill(HYPOTHESIS)
    page.keyboard.press("Control+Enter")
    page.locator("#explanation article").wait_for()
    page.get_by_label("Edit the hypothesis").fill(HYPOTHESIS.replace("50", "15"))
    page.locator("#change article").wait_for()
    camera.save("serve", page.screenshot())
    page.context.close()
    server.stop()
    thread.join()


PICTURED: dict[str, Callable[[Results, Camera], None]] = {
    function.__name__: function for function in (segment, matrices, corpus, comparison, change, terminal, report, serve)
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the given pictures, or all."""
    parser = argparse.ArgumentParser(description="Make the pictures of the documentation.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: all; {', '.join(PICTURED)}")
    parser.add_argument("--output", type=Path, default=PICTURES, metavar="FOLDER")
    parser.add_argument("--dark", action="store_true")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in PICTURED]
    if unknown:
        parser.error(f"no such picture: {', '.join(unknown)}")
    options.output.mkdir(parents=True, exist_ok=True)
    results, camera = Results(), Camera(options.output, options.dark)
    try:
        for name in options.names or PICTURED:
            PICTURED[name](results, camera)
    finally:
        camera.close()
    for path in sorted(options.output.glob("*.png")):
        print(f"{path.stat().st_size / 1000:6.1f} kB  {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

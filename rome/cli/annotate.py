"""Collect people's ratings and error spans on a local web page; print how far the annotators agree."""

from __future__ import annotations

import argparse
import sys
import threading
import webbrowser
from contextlib import closing

from rome.cli.options import MakeMetric, completes_files
from rome.cli.pairs import NO_SEGMENT, add_pair_arguments, names_texts, open_named_pairs
from rome.exceptions import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome annotate`."""
    add_pair_arguments(parser)
    output = "the ratings as JSON lines, one per save; an existing file is continued"
    completes_files(parser.add_argument("--output", "-o", metavar="FILE", help=output))
    group = parser.add_argument_group("the questions")
    group.add_argument("--scale", default="1-3", metavar="LOW-HIGH", help="1-3 (default), 0-100 or other whole numbers")
    group.add_argument("--dimensions", nargs="+", metavar="NAME", help="default: fluency semantic grammar")
    group.add_argument("--categories", nargs="+", metavar="NAME", help="kinds of error (default: an MQM-like list)")
    group = parser.add_argument_group("the page")
    group.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1, which only this machine reaches")
    group.add_argument("--port", type=int, default=0, help="default: 0, a free one, the same for the same FILE where it can be")
    group.add_argument("--no-browser", action="store_true", help="only print the address")
    group = parser.add_argument_group("afterwards", "FILE... of --agreement is read; no page is opened")
    group.add_argument("--agreement", nargs="+", metavar="FILE", help="print how far the annotators of these files agree")


def run(options: argparse.Namespace, _: MakeMetric) -> int:
    """Serve the page until interrupted (KeyboardInterrupt), or read collected ratings."""
    if options.agreement is not None:
        return _read(options)
    if not names_texts(options) or options.output is None:
        raise InputError("name the pairs to rate and --output FILE for the ratings (or --agreement FILE to read some)")
    from rome.evaluation.annotate.ratings import RatingsFile, rated_items
    from rome.evaluation.annotate.server import AnnotationServer, usual_port
    from rome.evaluation.annotate.study import CATEGORIES, DIMENSIONS, Guideline, Scale, Study

    dimensions, categories = tuple(options.dimensions or DIMENSIONS), tuple(options.categories or CATEGORIES)
    with open_named_pairs(options) as rows:
        guideline, items = Guideline(Scale.parse(options.scale), dimensions, categories), rated_items(rows)
    if not items:
        raise InputError(NO_SEGMENT)
    with closing(RatingsFile(options.output)) as ratings:
        study = Study(items, ratings, guideline)
        preferred = usual_port(options.output)
        server = AnnotationServer(study, host=options.host, port=options.port, preferred=preferred, say=_report)
        if not server.loopback:
            _report(f"{options.host} can be reached from other machines: whoever has the address can rate, without encryption")
        _report(*ratings.notes)
        if ratings.records:
            _report(f"{options.output} holds {len(ratings.records)} saves: the work continues there")
        print(server.url, flush=True)
        _report("open this address to rate; Ctrl-C ends, everything saved is kept")
        if not options.no_browser:
            threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
        server.run()
    return 0


def _read(options: argparse.Namespace) -> int:
    """Print the agreement of collected ratings."""
    from rome.evaluation.annotate.agreement import agreement_table, span_table
    from rome.evaluation.annotate.ratings import read_ratings
    from rome.reports.text import table_text

    if names_texts(options):
        raise InputError("name the ratings to read with --agreement FILE, and no pairs")
    ratings, notes = read_ratings(options.agreement)
    _report(*notes)
    print("\n\n".join(table_text(table) for table in (agreement_table(ratings), span_table(ratings)) if table.rows))
    return 0


def _report(*lines: str) -> None:
    for line in lines:
        print(f"rome annotate: {line}", file=sys.stderr)

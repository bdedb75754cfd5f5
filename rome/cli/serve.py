"""Answer over HTTP on this machine: scores, explanations, health."""

from __future__ import annotations

import argparse
import signal
import sys
from dataclasses import fields

from rome.cli.options import MakeMetric, add_metric_arguments
from rome.service.limits import Limits


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `rome serve`."""
    group = parser.add_argument_group("address")
    group.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1, which only this machine reaches")
    group.add_argument("--port", type=int, default=8000, help="default: 8000; 0 takes any free one and prints it")
    group.add_argument("--allow-remote", action="store_true", help="allow a --host that other machines reach")
    names = "a further host name that requests may use"
    group.add_argument("--allow-host", action="append", default=[], metavar="NAME", help=names)
    add_metric_arguments(parser)
    group = parser.add_argument_group("limits")
    for limit in fields(Limits):
        settings = {"type": type(limit.default), "metavar": limit.metadata["unit"], "help": limit.metadata["help"]}
        group.add_argument(f"--{limit.name.replace('_', '-')}", default=limit.default, **settings)


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Serve until an interruption (exit code 130) or SIGTERM (0)."""
    from rome.service.app import ScoreServer
    from rome.service.scorer import Scorer

    options.progress = bool(options.progress)  # no bar per call unless it was asked for
    limits = Limits(**{limit.name: getattr(options, limit.name) for limit in fields(Limits)})
    server = ScoreServer(
        Scorer(lambda: metric(options), limits, say=_say),
        host=options.host,
        port=options.port,
        allow_remote=options.allow_remote,
        names=options.allow_host,
        empty_reference=options.empty_reference,
    )
    if not server.loopback:
        _say(f"{options.host} can be reached from other machines: whoever has the address may ask, without encryption")
    signal.signal(signal.SIGTERM, lambda *_: server.stop())  # uvicorn ends on it, then raises it again
    print(server.url, flush=True)
    _say("loading the models")
    server.run()
    return 0


def _say(line: str) -> None:
    print(f"rome serve: {line}", file=sys.stderr, flush=True)

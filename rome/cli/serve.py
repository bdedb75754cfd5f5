"""Answer over HTTP on this machine: scores, explanations, health."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import fields
from typing import TYPE_CHECKING

from rome.cli.metric import MakeMetric, add_metric_arguments

if TYPE_CHECKING:
    from rome.service.limits import Limits

__all__ = ["add_arguments", "run"]

_LIMITS = {
    "max-body": ("body_bytes", int, "BYTES", "a request's body (default: 1048576)"),
    "max-pairs": ("pairs", int, "N", "pairs a request (default: 256)"),
    "max-references": ("references", int, "N", "references a pair (default: 32)"),
    "max-characters": ("characters", int, "N", "characters a text (default: 4000)"),
    "max-explain-characters": ("explain_characters", int, "N", "characters a text to explain as JSON (default: 1000)"),
    "max-queue": ("queue", int, "N", "requests that wait or are being scored; more get 503 (default: 100)"),
    "max-connections": ("connections", int, "N", "open connections; more get 503 (default: 200)"),
    "timeout": ("seconds", float, "SECONDS", "a request; then 504, and what is not begun is dropped (default: 60)"),
    "receive-timeout": ("receive_seconds", float, "SECONDS", "to send a head or a body, and of idleness (default: 10)"),
    "grace": ("grace_seconds", float, "SECONDS", "to finish what is in hand at the end (default: 30)"),
    "batch-pairs": ("batch_pairs", int, "N", "references scored in one call (default: 32)"),
    "batch-characters": ("batch_characters", int, "N", "characters in one call (default: 20000)"),
    "batch-wait": ("wait_seconds", float, "SECONDS", "how long a call waits for others to join it (default: 0.005)"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `rome serve`."""
    group = parser.add_argument_group("address")
    group.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1, so that only this machine reaches it")
    group.add_argument("--port", type=int, default=8000, help="default: 8000; 0 takes any free one, which is printed")
    group.add_argument("--allow-remote", action="store_true", help="let --host name an address that other machines reach")
    group.add_argument("--allow-host", action="append", default=[], metavar="NAME", help="a further name it may be called by")
    add_metric_arguments(parser)
    group = parser.add_argument_group("limits")
    for option, (name, kind, metavar, text) in _LIMITS.items():
        group.add_argument(f"--{option}", dest=f"limit_{name}", type=kind, metavar=metavar, help=text)
    parser.add_argument("--log-requests", action="store_true", help="a line a request on standard error, without its texts")


def run(options: argparse.Namespace, metric: MakeMetric) -> int:
    """Serve until interrupted (exit code 130) or told to end by SIGTERM (0)."""
    from rome.service.server import Server

    options.progress = bool(options.progress)  # no bar a call unless it was asked for
    server = Server(
        lambda: metric(options),
        host=options.host,
        port=options.port,
        allow_remote=options.allow_remote,
        names=options.allow_host,
        limits=_limits(options),
        together=options.idf != "references",
        empty_reference=options.empty_reference,
        say=_say,
        log=_say if options.log_requests else None,
        ready=lambda: _say("ready; Ctrl-C ends"),
    )
    if not server.loopback:
        _say(f"{options.host} lets other machines in: whoever reaches the address may ask, and the texts travel unencrypted")
    print(server.url, flush=True)
    _say("loading the models")
    if server.run():
        return 0
    _say("the thread that loads and scores was still at work: ended without it")
    sys.stdout.flush()
    os._exit(130 if server.interrupted else 0)  # the interpreter cannot end in order while a thread is inside a model


def _limits(options: argparse.Namespace) -> Limits:
    """The limits that were given, and the defaults of the others."""
    from rome.service.limits import Limits

    given = {item.name: getattr(options, f"limit_{item.name}") for item in fields(Limits)}
    return Limits(**{name: value for name, value in given.items() if value is not None})


def _say(line: str) -> None:
    print(f"rome serve: {line}", file=sys.stderr, flush=True)

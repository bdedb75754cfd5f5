"""The HTTP service: what it answers, and what it refuses, with a small metric behind it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the service needs the extra `serve`")
pytest.importorskip("starlette", reason="the service needs the extra `serve`")

from rome.exceptions import InputError  # noqa: E402
from rome.service.app import ScoreServer  # noqa: E402
from rome.service.errors import CODES  # noqa: E402
from rome.service.limits import Limits  # noqa: E402
from rome.service.scorer import Scorer  # noqa: E402
from rome.service.server import HostNames  # noqa: E402

from serving import PAIR, SmallMetric, ask, expected, raw_status, running  # noqa: E402

LIMITS = Limits(max_body=20_000, max_pairs=5, max_references=3, max_characters=100, receive_timeout=1.0)
DOCUMENT = json.loads((files("rome.service") / "openapi.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def server() -> Iterator[ScoreServer]:
    with running(SmallMetric, limits=LIMITS) as running_server:
        yield running_server


@pytest.fixture(autouse=True)
def _healthy_afterwards(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever was sent: the service still answers, and said nothing of the texts."""
    yield
    if "server" in request.fixturenames:
        service = request.getfixturevalue("server")
        assert ask(service, "/health")[0] == 200
        status, _, body = ask(service, "/score", PAIR)
        assert (status, body["score"]) == (200, expected(**_as_arguments(PAIR)))
        assert not [line for line in service.lines if "boom" in line or "cats" in line]


def _as_arguments(pair: dict[str, Any]) -> dict[str, Any]:
    return {"references": pair["reference"], "hypothesis": pair["hypothesis"]}


def _validate(name: str, value: Any) -> None:
    """The value is what the OpenAPI document promises."""
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(value, {"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]})


# What is answered


def test_many_pairs_are_scored_in_their_order(server: ScoreServer) -> None:
    """One or several references; the answer is CorpusScore.to_dict without evidence, segments numbered within the request."""
    pairs = [{"reference": ["a", "b", "c"], "hypothesis": f"h{n}"} for n in range(4)] + [PAIR]
    status, headers, body = ask(server, "/score", {"pairs": pairs})
    assert status == 200
    assert [s["score"] for s in body["segments"]] == [expected(**_as_arguments(pair)) for pair in pairs]
    assert [s["segment"] for s in body["segments"]] == [0, 1, 2, 3, 4]
    assert body["segments"][0]["reference"] == ["a", "b", "c"][body["segments"][0]["reference_index"]]
    assert "evidence" not in body["segments"][0]
    _validate("CorpusScore", body)
    assert headers["x-content-type-options"] == "nosniff" and "default-src 'none'" in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store" and "access-control-allow-origin" not in headers
    assert "server" not in headers


def test_text_comes_back_as_it_was_sent(server: ScoreServer) -> None:
    """Non-ASCII, right-to-left, markup, NUL and an empty hypothesis."""
    for text in ("naïve café ☃ 🐈", "שלום <script>alert(1)</script>", "a\x00b", ""):
        status, _, body = ask(server, "/score", {"reference": "r", "hypothesis": text})
        assert (status, body["segments"][0]["hypothesis"]) == (200, text)


def test_an_explanation_comes_as_json_or_as_a_page(server: ScoreServer) -> None:
    """JSON unless the client prefers HTML; the page is escaped and needs nothing from elsewhere."""
    status, headers, body = ask(server, "/explain", PAIR)
    assert (status, body["score"]) == (200, expected(**_as_arguments(PAIR)))
    assert headers["vary"] == "Accept"
    _validate("Explanation", body)
    assert ask(server, "/explain", PAIR, headers={"Accept": "application/json, text/html"})[2] == body
    pair = {"reference": "a <script>alert(1)</script>", "hypothesis": "<img src=x onerror=alert(2)>"}
    status, headers, page = ask(server, "/explain", pair, headers={"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"})
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert page.startswith(b"<!doctype html>") and b"<script" not in page and b"<img" not in page
    assert "script-src" not in headers["content-security-policy"] and "default-src 'none'" in headers["content-security-policy"]


def test_health_tells_what_there_is_to_do(server: ScoreServer) -> None:
    """Version, signature, uptime, queue."""
    status, _, body = ask(server, "/health")
    assert (status, body["status"], body["signature"]) == (200, "ready", "rome:small")
    assert body["queue"]["limit"] == LIMITS.max_queue and body["uptime_seconds"] >= 0
    _validate("Health", body)
    assert ask(server, "/health", method="HEAD")[0] == 200


def test_the_document_is_openapi(server: ScoreServer) -> None:
    """The schemas are JSON Schema, references lead somewhere, every route and every code of a scoring request is there."""
    jsonschema = pytest.importorskip("jsonschema")
    status, _, body = ask(server, "/openapi.json")
    assert (status, body["paths"], body["info"]["version"] != "") == (200, DOCUMENT["paths"], True)
    for schema in body["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    named = {f"#/components/{kind}/{name}" for kind, rows in body["components"].items() for name in rows}
    assert set(_references(body)) <= named
    codes = body["components"]["schemas"]["Error"]["properties"]["error"]["properties"]["code"]["enum"]
    assert set(codes) == set(CODES) - {"foreign_token", "conflict", "not_written"}  # these are of `rome annotate`
    for path, methods in body["paths"].items():
        for method, operation in methods.items():
            assert operation["operationId"] and ask(server, path, method=method.upper())[0] not in (404, 405)
            assert operation["responses"].keys() >= {"200", "default"}


def _references(value: Any) -> Iterator[str]:
    """Every $ref below a value."""
    if isinstance(value, dict):
        yield from ([value["$ref"]] if "$ref" in value else [])
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


def test_an_edit_comes_beside_the_first_text(server: ScoreServer) -> None:
    """Both scores against the reference that counts for the first hypothesis, as JSON or as a page."""
    edit = {"reference": ["a", "b", "c"], "hypothesis": "Four cats sleep.", "edited": "Five cats sleep."}
    status, headers, body = ask(server, "/what-if", edit)
    assert (status, headers["vary"]) == (200, "Accept")
    _validate("Change", body)
    reference = max(edit["reference"], key=lambda text: expected(text, edit["hypothesis"]))
    assert body["reference"] == reference
    assert body["score"]["before"] == expected(reference, edit["hypothesis"])
    assert body["score"]["after"] == expected(reference, edit["edited"])
    status, headers, page = ask(server, "/what-if", edit, headers={"Accept": "text/html"})
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b"What moved the points" in page and b"<script" not in page
    assert "script-src" not in headers["content-security-policy"]


def test_the_page_for_people_needs_nothing_from_elsewhere(server: ScoreServer) -> None:
    """Its own style and script alone, named by their hashes, and no address outside; the script may ask this server."""
    status, headers, page = ask(server, "/")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b"POST /score" in page and b"src=" not in page and page.count(b"<script") == page.count(b"<style") == 1
    assert not [link for link in re.findall(rb'(?:href|action)="([^"]*)"', page) if not link.startswith((b"#", b"/", b"data:"))]
    policy = headers["content-security-policy"]
    for tag in ("style", "script"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>".encode(), page, re.S)
        assert f"{tag}-src 'sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}';" in policy
    assert "default-src 'none'" in policy and "connect-src 'self'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy and headers["x-frame-options"] == "DENY"


# What is refused


def _nested(depth: int) -> bytes:
    return b'{"reference":' + b"[" * depth + b"]" * depth + b',"hypothesis":"x"}'


REFUSED: list[tuple[str, Any, str, str | None]] = [
    ("no JSON", b"{", "invalid_json", "body"),
    ("no UTF-8", b'{"reference": "\xff", "hypothesis": "x"}', "invalid_json", "body"),
    ("deep lists", _nested(9_000), "invalid_json", "body"),
    ("Infinity", b'{"pairs": [-Infinity]}', "invalid_request", "pairs[0]"),
    ("a long number", b'{"pairs": ' + b"9" * 15_000 + b"}", "invalid_json", "body"),
    ("a text", "x", "invalid_request", "body"),
    ("an unknown key", {**PAIR, "references": []}, "invalid_request", "body"),
    ("no pairs", {"pairs": []}, "invalid_request", "pairs"),
    ("a pair that is a list", {"pairs": [PAIR, ["a", "b"]]}, "invalid_request", "pairs[1]"),
    ("an empty reference", {"pairs": [{"reference": ["a", " "], "hypothesis": "x"}]}, "invalid_request", "pairs[0]"),
    ("a lone surrogate", b'{"reference": "a", "hypothesis": "x\\ud800"}', "invalid_request", "body"),
    ("too many pairs", {"pairs": [PAIR] * 6}, "too_many_pairs", "pairs"),
    ("too many references", {"reference": ["a"] * 4, "hypothesis": "x"}, "too_many_references", "body"),
    ("a long text", {"reference": "a", "hypothesis": "x" * 101}, "text_too_long", "body"),
    ("a large body", b" " * 20_001, "too_large", "body"),
]


def test_a_refusal_speaks_of_the_fields_of_the_request(server: ScoreServer) -> None:
    """With the names and types of JSON, not those of Python."""
    for path, body, *said in (
        ("/score", {**PAIR, "reference": []}, "reference must be a string or a list of at least one string, got an empty list"),
        ("/score", {**PAIR, "reference": ["a", None]}, "reference must be", "got null"),
        ("/score", {**PAIR, "reference": ["a", " "]}, "reference[1] is empty", "--empty-reference score"),
        ("/score", {**PAIR, "hypothesis": 3}, "hypothesis must be a string, got a number"),
        ("/score", {"references": ["a"], "hypotheses": ["b"]}, "must be reference, hypothesis, got references, hypotheses"),
        ("/score", ["a", "b"], "must be reference, hypothesis, got no object"),
        ("/what-if", PAIR, "must be reference, hypothesis, edited, got reference, hypothesis"),
        ("/what-if", {**PAIR, "edited": None}, "edited must be a string, got null"),
    ):
        status, _, answer = ask(server, path, body)
        message = answer["error"]["message"]
        assert status == 422 and all(part in message for part in said), message
        assert not re.search(r"segment|\bstr\b|None|references\[|hypotheses\[|=", message)


def test_explanations_and_edits_have_the_same_limits(server: ScoreServer) -> None:
    """Refuse several pairs to explain, a pair to edit, and a long edit."""
    for path, body, code in (
        ("/explain", {"pairs": [PAIR]}, "invalid_request"),
        ("/what-if", PAIR, "invalid_request"),
        ("/what-if", {**PAIR, "edited": "x" * 101}, "text_too_long"),
    ):
        assert ask(server, path, body)[2]["error"]["code"] == code


@pytest.mark.parametrize(("body", "code", "where"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_hostile_bodies_are_refused(server: ScoreServer, body: Any, code: str, where: str | None) -> None:
    """With the code, the place and a remedy, and never with the text."""
    status, headers, answer = ask(server, "/score", body)
    assert (answer["error"]["code"], answer["error"]["where"]) == (code, where)
    assert status == CODES[code]
    assert len(answer["error"]["message"]) < 300
    _validate("Error", answer)
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Content-Type": "text/plain"}, "wrong_content_type"),
        ({"Content-Type": "application/x-www-form-urlencoded"}, "wrong_content_type"),
        ({"Host": "example.org"}, "foreign_host"),
        ({"Host": "127.0.0.1.example.org"}, "foreign_host"),
        ({"Host": "127.0.0.1@example.org"}, "foreign_host"),
        ({"Host": "192.0.2.1"}, "foreign_host"),
        ({"Origin": "http://example.org"}, "foreign_origin"),
        ({"Origin": "null"}, "foreign_origin"),
    ],
)
def test_heads_that_are_refused(server: ScoreServer, headers: dict[str, str], code: str) -> None:
    """Other types, encodings, names that lead here, and pages of other sites."""
    status, _, answer = ask(server, "/score", PAIR, headers=headers)
    assert (status, answer["error"]["code"]) == (CODES[code], code)


def test_a_compressed_bomb_is_not_unpacked(server: ScoreServer) -> None:
    """A compressed body is not JSON."""
    bomb = gzip.compress(b" " * 10_000_000)
    assert ask(server, "/score", bomb, headers={"Content-Encoding": "gzip"})[2]["error"]["code"] == "invalid_json"


HEAD = b"POST /score HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


def test_a_body_is_never_read_beyond_its_limit(server: ScoreServer) -> None:
    """An announced length is refused before the body, a chunked body when it has grown too large, a slow one after a while."""
    for length, status in ((b"20001", 413), (b"9" * 13, 413), (b"9" * 20, 413), (b"9" * 5000, 400), (b"1_0", 400)):
        assert raw_status(server, HEAD + b"Content-Length: " + length + b"\r\n\r\n") == status
    assert raw_status(server, HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + (b"1000\r\n" + b" " * 4096 + b"\r\n") * 6) == 413
    assert raw_status(server, HEAD + b"Content-Length: 100\r\n\r\n{") == 408


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),  # TLS
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"POST /score HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"GET /health HTTP/1.0\r\n\r\n", 403),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n\r\n", 200),
    ],
    ids=["tls", "two-hosts", "negative-length", "no-host", "websocket"],
)
def test_odd_requests_do_no_harm(server: ScoreServer, request_bytes: bytes, status: int) -> None:
    """What is no HTTP, names no host or wants another protocol."""
    assert raw_status(server, request_bytes) == status


@pytest.mark.parametrize(
    "path", ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//score", "/score/", "/docs", "/%00", "/*"]
)
def test_paths_lead_nowhere_else(server: ScoreServer, path: str) -> None:
    """Six addresses, nothing is read from disk, nothing redirects."""
    assert ask(server, path)[0] == 404
    assert ask(server, path, PAIR)[2]["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/score"), ("DELETE", "/explain"), ("GET", "/what-if"), ("OPTIONS", "/score"), ("POST", "/health")],
)
def test_methods_that_are_refused(server: ScoreServer, method: str, path: str) -> None:
    """405 with the methods that are taken; a browser's preflight gets no leave."""
    status, headers, answer = ask(server, path, PAIR if method == "POST" else None, method=method)
    assert (status, answer["error"]["code"]) == (405, "method_not_allowed")
    assert headers["allow"] and "access-control-allow-origin" not in headers
    allowed = " or ".join(sorted(headers["allow"].split(", ")))
    assert answer["error"]["message"] == f"the method must be {allowed}, got {method}"


def test_errors_hold_no_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report the type and the lines of an unexpected error to the log alone."""
    with running(SmallMetric) as server:
        monkeypatch.setattr(type(server.scorer), "requests", property(lambda _: int("secret")), raising=False)
        status, headers, body = ask(server, "/health")
    assert (status, body["error"]["code"], headers["x-content-type-options"]) == (500, "internal", "nosniff")
    assert server.lines[0] == "ready; Ctrl-C ends" and "ValueError at" in server.lines[1] and len(server.lines) == 2  # type: ignore[attr-defined]
    assert "secret" not in f"{server.lines} {body}"  # type: ignore[attr-defined]


# The parts


def test_a_host_that_others_reach_needs_leave() -> None:
    """Loopback by default; with leave, numbers and given names count as its own."""
    with pytest.raises(InputError, match="--allow-remote"):
        ScoreServer(Scorer(SmallMetric, LIMITS), host="0.0.0.0")
    for host, port in (("127.0.0.1", 70_000), ("300.1.1.1", 0)):
        with pytest.raises(InputError, match="name another"):
            ScoreServer(Scorer(SmallMetric, LIMITS), host=host, port=port, allow_remote=True)
    remote = HostNames("192.0.2.7", ["Scores.example.org"])
    assert all(host in remote for host in ("192.0.2.7:80", "scores.example.org", "localhost:1"))
    assert "evil.example.org" not in remote


def test_names_of_this_machine() -> None:
    """Accept the names that no other machine can take, and no other."""
    own = ["127.0.0.1:1", "localhost", "LOCALHOST:80", "[::1]:8000", "127.9.9.9"]
    foreign = ["", "a", "localhost.example.org", "127.0.0.1/x", "[::1", "a b", "0.0.0.0", "example.org:127"]
    assert [host for host in [*own, *foreign] if host in HostNames("127.0.0.1")] == own


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf")])
def test_limits_are_above_zero(wrong: float) -> None:
    """A limit of nothing would refuse everything."""
    with pytest.raises(InputError, match="timeout"):
        Limits(timeout=wrong)

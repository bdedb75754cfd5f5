"""The annotation server: who is answered, what is saved when it is killed, and one clear line of JSON for every mistake."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the page needs the extra `serve`")
pytest.importorskip("starlette", reason="the page needs the extra `serve`")

from rome.evaluation.annotate.ratings import RatingsFile, rated_items  # noqa: E402
from rome.evaluation.annotate.server import AnnotationServer, usual_port  # noqa: E402
from rome.evaluation.annotate.study import Guideline, Study  # noqa: E402
from rome.exceptions import InputError  # noqa: E402
from rome.storage.pair_files import read_pairs  # noqa: E402

PAIRS = "id\treference\thypothesis\nx\tA cat.\tA dog.\ny\tA cat.\tCats.\n"
SCRIPT = """
import sys
from rome.cli import main
sys.exit(main(["annotate", *sys.argv[1:]]))
"""


class Client:
    """A page's requests; status and object of every answer."""

    def __init__(self, url: str) -> None:
        self.base, _, self.token = url.partition("/#token=")

    def __call__(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """POST with a body, else GET."""
        sent = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(self.base + path, data, sent), timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def save(self, key: str, revision: int = 0, name: str = "Ann", **ratings: int) -> tuple[int, Any]:
        """Save ratings without marks."""
        body = {"annotator": name, "key": key, "ratings": ratings, "errors": [], "revision": revision}
        return self("/api/save", body)


@pytest.fixture
def pairs(tmp_path: Path) -> str:
    """Two items."""
    path = tmp_path / "pairs.tsv"
    path.write_text(PAIRS)
    return str(path)


@pytest.fixture
def client(tmp_path: Path, pairs: str) -> Iterator[Client]:
    """A server in this process."""
    ratings = RatingsFile(str(tmp_path / "ratings.jsonl"))
    server = AnnotationServer(Study(rated_items(read_pairs(pairs)), ratings, Guideline()))
    thread = threading.Thread(target=server.run)
    thread.start()
    yield Client(server.url)
    server.stop()
    thread.join()
    ratings.close()


def test_save_resume_correct(client: Client, tmp_path: Path) -> None:
    """Start, rate, correct, see it again: the way of a page."""
    status, about = client("/api/about")
    assert (status, about["count"], about["scale"], about["severities"]) == (
        200,
        2,
        {"low": 1, "high": 3},
        ["minor", "major", "critical"],
    )
    keys = client("/api/start", {"annotator": "Ann"})[1]["keys"]
    assert client.save(keys[0], fluency=1) == (200, {"revision": 1, "done": False})
    assert client.save(keys[0], 1, fluency=2, semantic=2, grammar=3) == (200, {"revision": 2, "done": True})
    status, stale = client.save(keys[0], 1, fluency=3)
    assert (status, stale["state"]["ratings"]["fluency"]) == (409, 2)
    assert client("/api/start", {"annotator": "ann"})[1]["done"] == [True, False]
    item = client(f"/api/item?annotator=Ann&key={keys[0]}")[1]
    assert (item["references"], item["hypothesis"], item["state"]["revision"]) == (["A cat."], "A dog.", 2)
    assert "system" not in item and "item" not in item
    assert len((tmp_path / "ratings.jsonl").read_text().splitlines()) == 2


def test_many_save_at_once(client: Client, tmp_path: Path) -> None:
    """Eight annotators in eight threads: every save is one whole line."""
    keys = client("/api/start", {"annotator": "Ann"})[1]["keys"]

    def rate(name: str) -> None:
        for revision in range(5):
            for key in keys:
                client.save(key, revision, name, fluency=revision % 3 + 1)

    threads = [threading.Thread(target=rate, args=(f"N{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = [json.loads(line) for line in (tmp_path / "ratings.jsonl").read_text().splitlines()]
    assert len(rows) == 8 * 5 * 2


def test_only_holders_of_the_token_are_answered(client: Client) -> None:
    """Without the run's token nothing is told and nothing is saved; the page itself, which holds no data, is for all."""
    key = client("/api/start", {"annotator": "Ann"})[1]["keys"][0]
    for given in ("", "Bearer ", "Bearer x", f"Basic {client.token}", "Bearer \u00e9"):
        for path, body in (("/api/about", None), ("/api/save", {"key": key}), (f"/api/item?key={key}", None)):
            status, answer = client(path, body, Authorization=given)
            assert (status, list(answer)) == (403, ["error"])
    with urllib.request.urlopen(client.base + "/", timeout=60) as page:
        content = page.read().decode()
        policy = page.headers["Content-Security-Policy"]
    assert client.token not in content and "A cat." not in content
    assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy.replace("https:", "")


@pytest.mark.parametrize("headers", [{"Host": "evil.example:1"}, {"Origin": "http://evil.example"}])
def test_other_names_and_pages_are_refused(client: Client, headers: dict[str, str]) -> None:
    """Even with the token: a name that leads here (DNS rebinding), and a page from elsewhere (request forgery)."""
    port = client.base.rpartition(":")[2]
    assert client("/api/about", **headers)[0] == 403
    assert client("/api/about", Host=f"localhost:{port}", Origin=f"http://localhost:{port}")[0] == 200


@pytest.mark.parametrize(
    ("path", "body", "headers", "status", "word"),
    [
        ("/api/start", b"{", {}, 400, "not JSON"),
        ("/api/start", b"[" * 100_000, {}, 400, "not JSON"),
        ("/api/start", {}, {}, 422, "annotator"),
        ("/api/start", {"annotator": "A"}, {"Content_Type": "text/plain"}, 415, "application/json"),
        ("/api/start", b"x" * 300_000, {}, 413, "over"),
        ("/api/save", {"annotator": "A", "key": "nonsense"}, {}, 404, "no such item"),
        ("/api/save", None, {}, 404, "no such address"),
        ("//etc/passwd", None, {}, 404, "no such address"),
    ],
)
def test_mistakes_are_named(client: Client, path: str, body: Any, headers: dict[str, str], status: int, word: str) -> None:
    """Wrong bodies, unknown items and addresses: a status and one line; no file is served by its path."""
    found, answer = client(path, body, **headers)
    assert found == status and word in answer["error"]["message"]


def test_hosts_and_ports(tmp_path: Path, pairs: str) -> None:
    """Loopback by default; the same port for the same file where it is free."""
    ratings = RatingsFile(str(tmp_path / "r.jsonl"))
    study = Study(rated_items(read_pairs(pairs)), ratings, Guideline())
    preferred = usual_port(str(tmp_path / "r.jsonl"))
    first, second = (AnnotationServer(study, preferred=preferred) for _ in range(2))
    assert first.loopback and first.host == "127.0.0.1" and first.port != second.port and first.url[-20:] != second.url[-20:]
    for wrong in ({"port": first.port}, {"host": "192.0.2.1"}):
        with pytest.raises(InputError, match="cannot listen"):
            AnnotationServer(study, **wrong)  # type: ignore[arg-type]
    ratings.close()


@pytest.fixture
def start(tmp_path: Path, pairs: str) -> Iterator[Any]:
    """Start `rome annotate` as a process of its own."""
    running: list[subprocess.Popen[str]] = []

    def run(*words: str) -> tuple[subprocess.Popen[str], Client]:
        command = [sys.executable, "-I", "-c", SCRIPT, pairs, "--output", str(tmp_path / "r.jsonl"), "--no-browser", *words]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        running.append(process)
        return process, Client(str(process.stdout.readline()).strip())  # type: ignore[union-attr]

    yield run
    for process in running:
        process.kill()
        process.communicate()


def test_a_killed_server_loses_nothing(start: Any, tmp_path: Path) -> None:
    """Killed in the middle of saves (no clean end of any kind): everything that was answered is there after a restart."""
    process, client = start()
    keys = client("/api/start", {"annotator": "Ann"})[1]["keys"]
    answered = 0

    def rate() -> None:
        nonlocal answered
        for revision in range(10_000):
            try:
                client.save(keys[0], revision, fluency=revision % 3 + 1)
            except OSError:
                return
            answered = revision + 1

    thread = threading.Thread(target=rate)
    thread.start()
    while answered < 20 and thread.is_alive():
        thread.join(0.01)
    os.kill(process.pid, signal.SIGKILL)
    thread.join()
    again, client = start()
    revision = client(f"/api/item?annotator=Ann&key={keys[0]}")[1]["state"]["revision"]
    assert 20 <= answered <= revision <= answered + 1
    again.send_signal(signal.SIGINT)
    _, err = again.communicate(timeout=60)
    assert again.returncode == 130 and "saves" in err and "Traceback" not in err


def test_another_host_must_be_named_and_is_announced(start: Any) -> None:
    """`--host 0.0.0.0` says what that means."""
    process, client = start("--host", "0.0.0.0", "--scale", "0-100", "--dimensions", "adequacy")
    port = client.base.rpartition(":")[2]
    client.base = f"http://127.0.0.1:{port}"
    assert client("/api/about")[1]["dimensions"] == ["adequacy"]
    process.send_signal(signal.SIGINT)
    assert "other machines" in process.communicate(timeout=60)[1]

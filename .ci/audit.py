"""Look the pinned packages up among known vulnerabilities with pip-audit, where it is installed and its service answers.

Exit code 1 for a vulnerability that is not accepted below, otherwise 0. One line reports what could not be looked up. Declared, pinned and
forbidden packages are checked by tests/test_dependencies.py, which needs no network.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ACCEPTED = {
    "CVE-2024-35515": "sqlitedict comes with flair, for training; it unpickles what it reads, and nothing of ours gives it a file",
}
"""Vulnerabilities, by any of their names, that nothing here can reach, and why."""
SECONDS = 300


def answer(constraints: Path) -> dict[str, Any] | str:
    """Return the answer of pip-audit about the pinned packages, or the reason why there is none."""
    program = shutil.which("pip-audit")
    if program is None:
        return "pip-audit is not installed (pip install pip-audit)"
    options = ["--no-deps", "--disable-pip", "--format", "json", "--aliases", "on", "--progress-spinner", "off"]
    try:
        done = subprocess.run(
            [program, "--requirement", constraints, *options], capture_output=True, text=True, timeout=SECONDS, check=False
        )
        return dict(json.loads(done.stdout))
    except subprocess.TimeoutExpired:
        return f"no answer within {SECONDS} seconds"
    except ValueError:
        return f"no answer ({(done.stderr.strip().splitlines() or ['no output'])[-1][:200]})"


def faults(found: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return one line per vulnerability: those that matter, and those that were accepted."""
    bad, accepted = [], []
    for package in found["dependencies"]:
        for one in package.get("vulns", ()):
            names = [one["id"], *one.get("aliases", ())]
            line = f"{package['name']} {package['version']}: {', '.join(names)}"
            reason = next((ACCEPTED[name] for name in names if name in ACCEPTED), None)
            if reason:
                accepted.append(f"accepted  {line}: {reason}")
            else:
                bad.append(f"FAILED  {line}: take {' or '.join(one['fix_versions']) or 'another package, none is fixed'}")
    return bad, accepted


def main() -> int:
    """Print the vulnerabilities, or the reason why none could be looked up."""
    found = answer(Path(__file__).parents[1] / "constraints.txt")
    if isinstance(found, str):
        print(f"audit: skipped, {found}")
        return 0
    bad, accepted = faults(found)
    skipped = [package["name"] for package in found["dependencies"] if "skip_reason" in package]
    for line in (*accepted, *bad):
        print(line)
    unknown = f", {len(skipped)} unknown to the service ({', '.join(skipped)})" if skipped else ""
    print(f"audit: {len(found['dependencies'])} packages, {len(bad)} vulnerabilities, {len(accepted)} accepted{unknown}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

"""Run the Python examples of the pages and compare their outputs.

    python docs/examples.py           # list the differences; exit code 1 if there are any
    python docs/examples.py --write   # write the outputs into the pages, for example after a change of the models

A fence ``python`` is a program, and a fence ``output`` after it is its output. The blocks of one page share their names. A block that begins
with ``# needs NAME`` is skipped where that package is not installed. Fences ``py`` are not run: they need a server or a cluster.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from os import chdir
from pathlib import Path
from typing import Any

PAGES = Path(__file__).resolve().parent / "pages"
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$(?:\n\n```output\n(?P<output>.*?)^```$)?", re.M | re.S)
NEEDS = re.compile(r"# needs (\w+)\n")
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


@dataclass(frozen=True, slots=True)
class Example:
    """One block of Python and its output on the page, or None."""

    code: str
    output: str | None
    line: int


def examples_of(text: str) -> list[Example]:
    """Return the blocks of one page, in order."""
    return [Example(found["code"], found["output"], text.count("\n", 0, found.start()) + 2) for found in BLOCK.finditer(text)]


def run(examples: list[Example], name: str, globals_: dict[str, Any]) -> list[str]:
    """Run the blocks with shared ``globals_`` and return what each prints.

    A block that needs a missing package returns the output of the page. Exceptions of a block propagate.
    """
    printed = []
    for example in examples:
        needed = NEEDS.match(example.code)
        if needed and find_spec(needed[1]) is None:
            printed.append(example.output or "")
            continue
        stream = io.StringIO()
        code = compile("\n" * (example.line - 1) + example.code, name, "exec")
        with contextlib.redirect_stdout(stream):
            exec(code, globals_)
        printed.append(stream.getvalue())
    return printed


def agree(expected: str, printed: str) -> bool:
    """Return whether two outputs are equal except for spaces and one unit of a number's last decimal, because processors round differently."""
    words = [[NUMBER.sub("#", line).split() for line in text.strip().splitlines()] for text in (expected, printed)]
    numbers = [NUMBER.findall(text) for text in (expected, printed)]
    return words[0] == words[1] and all(
        abs(float(one) - float(other)) < 1.5 * 10.0 ** -len(one.partition(".")[2]) for one, other in zip(*numbers, strict=True)
    )


def rewritten(text: str, printed: list[str]) -> str:
    """Return the page with new outputs."""
    outputs = iter(printed)

    def block(found: re.Match[str]) -> str:
        output = next(outputs)
        lines = "".join(f"{line.rstrip()}\n" for line in output.strip("\n").splitlines())
        return f"```python\n{found['code']}```" + (f"\n\n```output\n{lines}```" if lines else "")

    return BLOCK.sub(block, text)


def main(arguments: list[str]) -> int:
    """Run every page in a folder of its own, then compare or write. A page whose program fails stays as it is."""
    import rome

    write, wanted, wrong = "--write" in arguments, [word for word in arguments if not word.startswith("-")], 0
    metric = rome.RoMe(progress=False)
    make = rome.RoMe
    rome.RoMe = lambda **options: make(**options) if options else metric  # type: ignore[assignment,misc]  # loaded once
    for path in sorted(PAGES.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        examples = examples_of(text)
        if not examples or (wanted and path.stem not in wanted):
            continue
        chdir(tempfile.mkdtemp())
        try:
            printed = run(examples, str(path), {})
        except rome.RomeError as error:
            print(f"{path}: {error}")
            wrong += 1
            continue
        differs = [e for e, out in zip(examples, printed, strict=True) if not agree(e.output or "", out)]
        wrong += len(differs)
        for example in differs:
            print(f"{path}:{example.line}: the output differs")
        if write:
            path.write_text(rewritten(text, printed), encoding="utf-8")
    return int(wrong > 0 and not write)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

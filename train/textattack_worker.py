"""A process of its own that runs TextAttack: a JSON request a line on standard input, a JSON answer a line on standard output.

TextAttack overwrites HF_HOME and XDG_CACHE_HOME for its process, wants to download at import and takes seconds to load, so
it never runs inside the library. `train/perturb.py` starts this module with a prepared folder; the first line that it
writes says what is available: {"ready": true, "version": ..., "operations": [...]}.

Request: {"id": any, "text": str, "operation": str, "edits": int, "seed": int}. Answer: {"id", "text", "edits"}: the perturbed
text and how many words were asked to change; or {"id", "error"}.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

__all__ = ["main"]


def load_embedding(folder: Path) -> Any:
    """TextAttack's in-memory WordEmbedding from vectors.npy, neighbours.npy and words.json in the folder; None without them."""
    if not (folder / "vectors.npy").is_file():
        return None
    import numpy as np
    from textattack.shared import WordEmbedding

    words = json.loads((folder / "words.json").read_text(encoding="utf-8"))
    index = {word: number for number, word in enumerate(words)}
    vectors, neighbours = np.load(folder / "vectors.npy"), np.load(folder / "neighbours.npy")
    return WordEmbedding(vectors, index, dict(enumerate(words)), nn_matrix=neighbours)


def answer(operations: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Run one request; what TextAttack raises on odd text becomes an "error" answer, so no text ends the run."""
    try:
        text = operations.perturb(request["text"], request["operation"], int(request["edits"]), int(request["seed"]))
    except (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError) as error:
        return {"id": request.get("id"), "error": f"{type(error).__name__}: {error}"}
    return {"id": request["id"], "text": text, "edits": request["edits"]}


def main(arguments: list[str]) -> int:
    """Serve requests until standard input ends. arguments: the prepared folder, optionally a masked language model."""
    out, sys.stdout = sys.stdout, sys.stderr  # whatever TextAttack prints must not mix with the answers
    folder = Path(arguments[0])
    import textattack  # noqa: F401  (fails early, with its own message, when it is absent or cannot start offline)

    from rome.train.textattack_operations import Operations

    stopwords = (folder / "nltk" / "corpora" / "stopwords" / "english").read_text(encoding="utf-8").split()
    operations = Operations(stopwords, load_embedding(folder), arguments[1] if len(arguments) > 1 else None)
    hello = {"ready": True, "version": version("textattack"), "operations": operations.names()}
    out.write(json.dumps(hello) + "\n")
    out.flush()
    for line in sys.stdin:
        if line.strip():
            out.write(json.dumps(answer(operations, json.loads(line)), ensure_ascii=False) + "\n")
            out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

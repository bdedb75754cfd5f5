"""A lock on an open file, which ends with the process that holds it, however it ends."""

from __future__ import annotations

try:
    import fcntl
except ImportError:  # a system without such locks
    fcntl = None  # type: ignore[assignment]

__all__ = ["locked"]


def locked(handle: int) -> bool | None:
    """Whether the file is now this process's alone; None where the system or the file system has no such locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True

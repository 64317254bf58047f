"""Replaces a file's content so that a crash leaves the old file or the new one, never half."""

import os
import stat
import tempfile


class RewriteError(Exception):
    """A file that was left as it was; its text says why and what to do."""


def rewrite(path: str, before: bytes, after: bytes) -> None:
    """Give a file new bytes, provided that it still holds `before`.

    A link stays a link: the file behind it is replaced. The mode is kept, and the owner where
    the system allows.

    Raises:
        RewriteError: the file was changed meanwhile, is read-only, or can't be replaced.
    """
    target = os.path.realpath(path)
    try:
        status = os.stat(target)
        with open(target, "rb") as file:
            unchanged = file.read() == before
    except OSError as error:
        raise RewriteError(f"not fixed: {error.strerror or error}") from None
    if not unchanged:
        raise RewriteError("not fixed: it was changed meanwhile; run ecolint again")
    if not os.access(target, os.W_OK):
        raise RewriteError("not fixed: it is read-only; allow writing and run ecolint again")
    temporary = ""
    try:
        temporary = _write_beside(target, after, status)
        os.replace(temporary, target)
    except OSError as error:
        _discard(temporary)
        raise RewriteError(f"not fixed: {error.strerror or error}") from None
    except BaseException:
        _discard(temporary)
        raise


def _write_beside(target: str, content: bytes, status: os.stat_result) -> str:
    """Write a temporary file in the target's folder, all the way to the disk."""
    handle, path = tempfile.mkstemp(prefix=".ecolint-", dir=os.path.dirname(target))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _keep_owner(path, status)
        os.chmod(path, stat.S_IMODE(status.st_mode))
    except BaseException:
        _discard(path)
        raise
    return path


def _keep_owner(path: str, status: os.stat_result) -> None:
    if not hasattr(os, "chown"):
        return
    try:
        os.chown(path, status.st_uid, status.st_gid)
    except OSError:  # only root may give files away
        return


def _discard(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return

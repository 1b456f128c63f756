"""Object code on disk, found by the hash of what it was compiled from.
Keywords: cache invalidation.

The directory belongs to its owner alone, files appear whole or not at all, and a file whose digest
does not fit is as good as absent. Whatever the disk refuses, the answer is "not kept", never an
error.

A tape only grows: nodes that were hashed are never hashed again, neither here nor on its forks.
Which symbols long expressions contain is kept as well: a walk through a long tape takes longer than
its hash.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import stat
import sys
import warnings
from typing import TYPE_CHECKING, Any, Final

from dalembert.errors import DalembertWarning
from dalembert.foundation.caching import COMPUTE_LOCK
from dalembert.symbolic.algebra.expression_graph import symbols_of
from dalembert.symbolic.algebra.tape import Tape

if TYPE_CHECKING:
    from hashlib import blake2b
else:
    try:
        # that of hashlib, without OpenSSL, which takes a fiftieth of a first run to load
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b

LIMIT: Final = 256 * 2**20
_SWITCHED_OFF: Final = frozenset({"off", "0", "no", "false", "none"})
_DIGEST_SIZE: Final = 32
_SUFFIX: Final = ".obj"
# how full a directory is left that was too full
_EVICTION_TARGET: Final = 15 / 16
# bytes in each directory when it was last looked through, and what this process has written since
_seen: dict[str, int] = {}


def new_digest(data: bytes = b"") -> blake2b:
    """The running hash of keys and contents: BLAKE2b, 256 bits."""
    return blake2b(data, digest_size=_DIGEST_SIZE)


class ObjectCache:
    """A directory of objects, at most `limit` bytes; those unused longest go first."""

    def __init__(self, directory: str | os.PathLike[str] | None, limit: int = LIMIT) -> None:
        self.directory = None if directory is None else os.fspath(directory)
        self.limit = limit

    @classmethod
    def from_environment(cls) -> ObjectCache:
        """The cache that DALEMBERT_CACHE names: a directory, or `off`; by default below the
        user's cache directory.
        """
        return cls(_cache_directory())

    def read(self, key: str) -> bytes | None:
        """The object kept under `key`, or None if there is none that is whole."""
        if self.directory is None:
            return None
        path = os.path.join(self.directory, key + _SUFFIX)
        try:
            if not _is_trusted(self.directory):
                return None
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            return None
        digest, payload = data[:_DIGEST_SIZE], data[_DIGEST_SIZE:]
        if digest != _digest(key, payload):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return payload

    def write(self, key: str, payload: bytes) -> None:
        """Keep an object under `key`, if the disk allows."""
        if self.directory is None or len(payload) > self.limit:
            return
        temporary = os.path.join(self.directory, f".{os.urandom(8).hex()}")
        try:
            os.makedirs(self.directory, mode=0o700, exist_ok=True)
            if not _is_trusted(self.directory):
                return
            _write_new(temporary, _digest(key, payload) + payload)
            os.replace(temporary, os.path.join(self.directory, key + _SUFFIX))
            self._track_size(self.directory, _DIGEST_SIZE + len(payload))
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)

    def _track_size(self, directory: str, written: int) -> None:
        """Look through the directory when this process first writes there, and when it may have
        reached the limit.
        """
        total = _seen.get(directory)
        if total is None or total + written > self.limit:
            self._evict_oldest(directory)
        else:
            _seen[directory] = total + written

    def _evict_oldest(self, directory: str) -> None:
        """If the limit is passed remove the files unused longest, a little more than needed, so
        that not every write has to look again.
        """
        files: list[tuple[int, int, str]] = []
        with os.scandir(directory) as entries:
            for entry in entries:
                # another process may remove a file while we look
                with contextlib.suppress(OSError):
                    info = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(info.st_mode) and (
                        entry.name.endswith(_SUFFIX) or entry.name.startswith(".")
                    ):
                        files.append((info.st_mtime_ns, info.st_size, entry.path))
        total = sum(size for _, size, _ in files)
        wanted = self.limit if total <= self.limit else int(self.limit * _EVICTION_TARGET)
        for _, size, path in sorted(files):
            if total <= wanted:
                break
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= size
        _seen[directory] = total


def _digest(key: str, payload: bytes) -> bytes:
    return new_digest(key.encode() + payload).digest()


def _write_new(path: str, data: bytes) -> None:
    """A new file that only its owner can read or write."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)


def _cache_directory() -> str | None:
    """Where objects are kept; None if nowhere."""
    named = os.environ.get("DALEMBERT_CACHE", "").strip()
    if named.lower() in _SWITCHED_OFF:
        return None
    home = os.path.expanduser("~")
    try:
        if named:
            return os.path.abspath(os.path.expanduser(named))
        if sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA", "")
        else:
            base = os.environ.get("XDG_CACHE_HOME", "")
    except OSError:
        return None
    # relative paths are to be ignored, says the XDG specification
    if os.path.isabs(base):
        return os.path.join(base, "dalembert")
    return None if home == "~" else os.path.join(home, ".cache", "dalembert")


def _is_trusted(directory: str) -> bool:
    """Whether only the owner, who is the user, can put code there."""
    if sys.platform == "win32":
        return True
    info = os.stat(directory)
    if info.st_uid == os.getuid() and not info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return True
    reason = (
        "belongs to somebody else" if info.st_uid != os.getuid() else "can be written by others"
    )
    warnings.warn(
        f"compiled code is not cached: {directory} {reason}; name another directory in "
        f"DALEMBERT_CACHE or remove their write permission",
        DalembertWarning,
        stacklevel=2,
    )
    return False


_BLOCK: Final = 2048


def tape_digest(tape: Tape, length: int) -> Any:
    """The running hash of the first `length` nodes; the caller's own, to be continued."""
    with COMPUTE_LOCK:
        known, written = tape.prefixes, tape.serialize()
        for k in range(len(known), length // _BLOCK):
            known.append(
                _extend_digest(
                    known[-1] if known else new_digest(),
                    written[3 * k * _BLOCK : 3 * (k + 1) * _BLOCK],
                )
            )
        whole = length // _BLOCK
        return _extend_digest(
            known[whole - 1] if whole else new_digest(),
            written[3 * whole * _BLOCK : 3 * length],
        )


def _extend_digest(before: Any, written: list[Any]) -> Any:
    # by columns: operations are few words, and lists of numbers are written fastest
    digest = before.copy()
    digest.update(" ".join(written[0::3]).encode())
    digest.update(marshal.dumps((written[1::3], written[2::3]), 2))
    return digest


_FORMAT: Final = b"symbols 1"
# nodes from which on a file is worth it
_LONG: Final = 16384


def cached_symbols(tape: Tape, outs: tuple[int, ...]) -> tuple[int, ...]:
    """The symbols that `outs` contain, in order of creation, as found now or by an earlier
    process.
    """
    length = 1 + max(outs, default=-1)
    if length < _LONG:
        return tuple(symbols_of(tape, outs))
    content = tape_digest(tape, length)
    content.update(marshal.dumps(outs, 2))
    key = new_digest(_FORMAT + content.digest()).hexdigest()
    cache = ObjectCache.from_environment()
    kept = cache.read(key)
    if kept is not None:
        return tuple(map(int, kept.split()))
    symbols = tuple(symbols_of(tape, outs))
    cache.write(key, " ".join(map(str, symbols)).encode())
    return symbols

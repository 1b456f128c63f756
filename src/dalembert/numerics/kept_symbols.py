"""Which symbols expressions contain, kept by the content of their tape: a walk through a long tape takes longer than its hash."""

from __future__ import annotations

import hashlib
import marshal
from typing import Final

from dalembert.algebra.folds import symbols_of
from dalembert.algebra.tape import Tape
from dalembert.numerics.cache import ObjectCache
from dalembert.numerics.digest import tape_digest

_FORMAT: Final = b"symbols 1"
# nodes from which on a file is worth it
_LONG: Final = 16384


def kept_symbols(tape: Tape, outs: tuple[int, ...]) -> tuple[int, ...]:
    """The symbols that `outs` contain, in order of creation, as found now or by an earlier process."""
    length = 1 + max(outs, default=-1)
    if length < _LONG:
        return tuple(symbols_of(tape, outs))
    content = tape_digest(tape, length)
    content.update(marshal.dumps(outs, 2))
    key = hashlib.sha256(_FORMAT + content.digest()).hexdigest()
    cache = ObjectCache.of_environment()
    kept = cache.read(key)
    if kept is not None:
        return tuple(map(int, kept.split()))
    found = tuple(symbols_of(tape, outs))
    cache.write(key, " ".join(map(str, found)).encode())
    return found

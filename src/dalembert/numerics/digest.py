"""A hash of the nodes of a tape, which only grows: what was hashed once is never hashed again, neither here nor on its forks."""

from __future__ import annotations

import hashlib
import marshal
from typing import Any, Final

from dalembert.algebra.tape import Tape
from dalembert.once import MAKING

_BLOCK: Final = 2048


def tape_digest(tape: Tape, length: int) -> Any:
    """The running hash of the first `length` nodes; the caller's own, to be continued."""
    with MAKING:
        known, written = tape.prefixes, tape.written
        for k in range(len(known), length // _BLOCK):
            known.append(_continued(known[-1] if known else hashlib.sha256(), written[3 * k * _BLOCK : 3 * (k + 1) * _BLOCK]))
        whole = length // _BLOCK
        return _continued(known[whole - 1] if whole else hashlib.sha256(), written[3 * whole * _BLOCK : 3 * length])


def _continued(before: Any, written: list[Any]) -> Any:
    # by columns: operations are few words, and numbers beside numbers are written fastest
    digest = before.copy()
    digest.update(" ".join(written[0::3]).encode())
    digest.update(marshal.dumps((written[1::3], written[2::3]), 2))
    return digest

"""A derivation that several chapters read: made once for a system, and kept as long as its kinematics."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.once import MadeOnce
from dalembert.principles.base import Derivation, Derive


@dataclass(frozen=True)
class Derived:
    """A derivation and the CPU seconds it took."""

    derivation: Derivation
    seconds: float


_DERIVED: Final = MadeOnce[Derived]()


def derived(derive: Derive, kin: Kinematics) -> Derivation:
    """derive(kin), the same for all who ask; to be read, not written on: native code, whose bits depend on the tape, derives its own."""
    return timed(derive, kin).derivation


def timed(derive: Derive, kin: Kinematics) -> Derived:
    """The same with what it cost when it was made."""
    return _DERIVED(kin, derive, lambda: _made(derive, kin))


def _made(derive: Derive, kin: Kinematics) -> Derived:
    start = time.process_time()
    derivation = derive(kin)
    return Derived(derivation, time.process_time() - start)

"""Modes of many contacts that interact, by the native form of Lemke's method (`lemke_ir`)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.contact.mode_enumeration import ContactCandidate, ContactMode, FeasibleMode
from dalembert.runtime.contact.native_transition import (
    TransitionMemory,
    allocate_arrays,
    solver_sizes,
    transition_library,
)
from dalembert.runtime.contact.transition_fields import NOT_CLOSED, NOT_STICKING
from dalembert.runtime.contact.transition_records import modes_of

_FUNCTION: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


def solve_by_pivoting(
    A: FloatArray, b: FloatArray, candidates: Sequence[ContactCandidate]
) -> FeasibleMode | None:
    """Modes and forces of one group in which everything holds; None where none is found."""
    library, memory = transition_library(), TransitionMemory(n_g=len(candidates), r=len(b))
    whole, numbers = solver_sizes(len(candidates), len(b))
    arrays = allocate_arrays(memory, whole, int) | allocate_arrays(memory, numbers, float)
    arrays["g_A"][:], arrays["g_b"][:] = A.ravel(), b
    for i, c in enumerate(candidates):
        arrays["g_c"][i], arrays["c_slip"][i], arrays["c_ended"][i] = i, c.slip, _end(c)
        arrays["g_n"][i] = -1 if c.n is None else c.n
        arrays["g_t"][i] = -1 if c.t is None else c.t
        for name in ("mu", "mu_static", "given"):
            arrays[f"c_{name}"][i] = getattr(c, name)
    if _FUNCTION(library.address("pivot_group"))(ctypes.addressof(memory)):
        return None
    modes = modes_of(arrays["choice"][: len(candidates)].tolist())
    return FeasibleMode(tuple(modes), np.array(arrays["g_lam"]), np.array(arrays["g_w"]))


def _end(c: ContactCandidate) -> int:
    """What it does no longer."""
    if c.n is not None and any(m.closed and not m.sticks for m in c.ended):
        return NOT_CLOSED
    return NOT_STICKING if ContactMode(sticks=True) in c.ended else 0

"""Modes of contacts that interact, by the native solver of one group (`mode_solver_ir`)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from dalembert.foundation.array_types import FloatArray
from dalembert.runtime.contact.mode_enumeration import (
    ContactCandidate,
    ContactMode,
    FeasibleMode,
    NextMode,
    select_mode,
)
from dalembert.runtime.contact.native_transition import (
    TransitionMemory,
    allocate_arrays,
    solver_sizes,
    transition_library,
)
from dalembert.runtime.contact.transition_fields import (
    IMPACT,
    MODE,
    NOT_CLOSED,
    NOT_STICKING,
)
from dalembert.runtime.contact.transition_records import modes_of

_FUNCTION: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)


def solve_natively(
    A: FloatArray, b: FloatArray, candidates: Sequence[ContactCandidate], *, impact: bool = False
) -> NextMode:
    """Modes and forces of one group in which everything holds, or why there are none."""
    library, memory = transition_library(), TransitionMemory(n_g=len(candidates), r=len(b))
    whole, numbers = solver_sizes(len(candidates), len(b))
    arrays = allocate_arrays(memory, whole, int) | allocate_arrays(memory, numbers, float)
    arrays["g_A"][:], arrays["g_b"][:], arrays["g_row"][: len(b)] = A.ravel(), b, range(len(b))
    for i, c in enumerate(candidates):
        arrays["g_c"][i], arrays["c_slip"][i], arrays["c_ended"][i] = i, c.slip, _end(c)
        arrays["g_n"][i] = -1 if c.n is None else c.n
        arrays["g_t"][i] = -1 if c.t is None else c.t
        for name in ("mu", "mu_static", "given"):
            arrays[f"c_{name}"][i] = getattr(c, name)
    purpose = IMPACT if impact else MODE
    if _FUNCTION(library.address("solve_group"))(ctypes.addressof(memory), purpose):
        several = _feasible_modes(memory.feasible, len(candidates), len(b), arrays)
        return select_mode(several, float(np.abs(b).max(initial=0.0)))
    lam = np.array(arrays["lam"])
    modes = modes_of(arrays["c_mode"][: len(candidates)].tolist())
    return NextMode(FeasibleMode(tuple(modes), lam, A @ lam + b))


def _feasible_modes(
    count: int, n: int, m: int, arrays: dict[str, np.ndarray[Any, Any]]
) -> list[FeasibleMode]:
    """All modes that hold, where they are several."""
    codes = arrays["f_choice"][: count * n].reshape(count, n).tolist()
    lam, w = (arrays[name][: count * m].reshape(count, m).copy() for name in ("f_lam", "f_w"))
    return [FeasibleMode(tuple(modes_of(codes[k])), lam[k], w[k]) for k in range(count)]


def _end(c: ContactCandidate) -> int:
    """What it does no longer."""
    if c.n is not None and any(m.closed and not m.sticks for m in c.ended):
        return NOT_CLOSED
    return NOT_STICKING if ContactMode(sticks=True) in c.ended else 0

"""A hash of equations of motion: two systems with the same one move alike."""

from __future__ import annotations

import hashlib

from dalembert.algebra.folds import needed
from dalembert.equations.form import ExplicitEquations
from dalembert.equations.saddle import SaddleEquations
from dalembert.kinematics.system_kinematics import Kinematics


def identity_of(kin: Kinematics, equations: ExplicitEquations | SaddleEquations) -> str:
    """Sixteen digits of the hash of everything the rates are made of, and of the declared values."""
    tape = equations.tape
    if isinstance(equations, ExplicitEquations):
        outs = [*equations.qdot, *equations.udot]
    else:
        rows = [*equations.M, *(row.A for row in equations.rows)]
        outs = [*equations.qdot, *equations.f, *(i for row in rows for i in row.values()), *(row.gamma for row in equations.rows)]
    place = {i: k for k, i in enumerate(needed(tape, outs))}
    digest = hashlib.sha256()
    for i in place:
        op, a, b = tape.nodes[i]
        names = [str(place.get(x, x) if op not in ("symbol", "const") else x) for x in (a, b)]
        digest.update(f"{op} {' '.join(names)}\n".encode())
    digest.update(str([place[i] for i in outs]).encode())
    values = sorted((s.name, repr(s.value)) for s in kin.system.symbols.values() if s.value is not None)
    digest.update(str(values).encode())
    return digest.hexdigest()[:16]

"""det WᵀMW ≢ 0: every independent speed must be resisted by some inertia."""

from __future__ import annotations

from dalembert.algebra.exact.field import PrimePoint, Trials, nullspace_mod
from dalembert.algebra.exact.quadratic import Element
from dalembert.equations.form import Equations
from dalembert.errors import IllPosed


def check_regular(equations: Equations) -> None:
    """Refuse equations whose mass matrix is singular in every state, naming the speeds that nothing resists."""
    t, n, rows = equations.tape, len(equations.u), equations.M

    def free_motion(point: PrimePoint) -> list[list[Element]]:
        return nullspace_mod([[point(row[s]) if s in row else 0 for s in range(n)] for row in rows], point.prime)

    free = Trials(t, 1).at(0, free_motion)
    if free:
        names = [str(t.nodes[u][1]) for u, x in zip(equations.u, free[0], strict=True) if x]
        what = f"the speed {names[0]}" if len(names) == 1 else f"a combination of the speeds {', '.join(names)}"
        remedy = "give the part it moves a mass, or remove the coordinate"
        msg = f"the mass matrix is singular in every state: no inertia resists {what}; {remedy}"
        raise IllPosed(msg)

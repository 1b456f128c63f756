"""M u̇ = f and q̇ = W u + X for SymPy, with the names and matrices that users of KanesMethod expect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dalembert.algebra.scalar import Scalar
from dalembert.equations.form import Equations
from dalembert.kinematics.system_kinematics import Kinematics
from dalembert.notebook import Shown

if TYPE_CHECKING:
    import sympy


@dataclass(frozen=True)
class SymPyEquations(Shown):
    """q and u as dynamicsymbols, constants as symbols: mass_matrix * u' = forcing, q' = rates."""

    q: sympy.Matrix
    u: sympy.Matrix
    mass_matrix: sympy.Matrix
    forcing: sympy.Matrix
    # q' in q and u
    rates: sympy.Matrix

    def __str__(self) -> str:
        return f"SymPy: mass_matrix * u' = forcing, q' = rates for q = {list(self.q)}, u = {list(self.u)}"

    @property
    def mass_matrix_full(self) -> Any:
        """diag(1, M), for the rates of (q, u)."""
        import sympy

        return sympy.diag(sympy.eye(len(self.q)), self.mass_matrix)

    @property
    def forcing_full(self) -> Any:
        """(q', f)"""
        return self.rates.col_join(self.forcing)


def sympy_equations(kin: Kinematics, equations: Equations) -> SymPyEquations:
    """The equations as SymPy matrices; theta' as a speed is theta_dot(t)."""
    import sympy
    from sympy.physics.mechanics import dynamicsymbols

    t = equations.tape
    moving = {s.name for s in kin.system.symbols.values() if s.kind != "constant"}

    def named(i: int) -> Any:
        return dynamicsymbols(_plain(kin.name(i)))

    replace = {sympy.Symbol(kin.name(i)): named(i) for i in (*kin.q, *kin.u)}
    replace[sympy.Symbol("t")] = dynamicsymbols._t  # noqa: SLF001 - SymPy's own name for the time

    def expression(i: int) -> Any:
        e = Scalar(t, i).sympy()
        others = {s: dynamicsymbols(_plain(s.name)) for s in e.free_symbols if s not in replace and s.name.rstrip("'") in moving}
        return e.xreplace({**replace, **others})

    n = len(equations.u)
    M = sympy.Matrix(n, n, lambda r, s: expression(equations.M[r].get(s, t.zero)))
    f = sympy.Matrix([expression(i) for i in equations.f])
    rates = sympy.Matrix([expression(i) for i in equations.qdot])
    return SymPyEquations(sympy.Matrix([named(i) for i in kin.q]), sympy.Matrix([named(i) for i in kin.u]), M, f, rates)


def _plain(name: str) -> str:
    """theta'' → theta_ddot"""
    return name.replace("''", "_ddot").replace("'", "_dot")
